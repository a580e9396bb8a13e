import pytest

from placement.kafka_java.java_maps import bucket, compare_key, table_size
from placement.kafka_java.java_orders import (
    HashSet,
    hash_map_order,
    unsigned_partition_hash,
    unsigned_string_hash,
)
from support.golden import golden_lines


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("", 0, id="empty"),
        pytest.param("a", 97, id="one-letter"),
        pytest.param("Aa", 2112, id="collides-1"),
        pytest.param("BB", 2112, id="collides-2"),
        pytest.param("polygenelubricants", 0x80000000, id="smallest-int"),
        pytest.param("😀", 0xD83D * 31 + 0xDE00, id="two-units"),
    ],
)
def test_hash_of_a_string(text, code):
    assert unsigned_string_hash(text) == code


def test_hash_of_a_partition_adds_number_and_topic():
    assert unsigned_partition_hash("Aa", 3) == 31 * 34 + 2112


def test_strings_compare_by_their_units():
    assert compare_key("😀") < compare_key("\ufffd")


@pytest.mark.parametrize(("entries", "size"), [(0, 16), (12, 16), (13, 32), (25, 64)])
def test_tables_double_above_three_quarters(entries, size):
    assert table_size(entries) == size


@pytest.mark.parametrize("file", ["client_sticky", "client_range"])
def test_members_of_the_vectors_stand_in_the_order_of_a_hash_map(file):
    groups = [
        [m["id"] for m in line["input"]["members"]] for line in golden_lines(file)
    ]

    assert all(hash_map_order(ids) == list(range(len(ids))) for ids in groups)
    assert max(map(len, groups)) > 24


def test_a_set_gives_the_first_of_its_lowest_bucket():
    entries = HashSet([17, 33, 16].__getitem__)
    for entry in (0, 1, 2):
        entries.add(entry)
    assert [bucket(code, 16) for code in (17, 33, 16)] == [1, 1, 0]

    firsts = []
    for _ in range(3):
        firsts.append(entries.first())
        entries.remove(firsts[-1])

    assert firsts == [2, 0, 1]
    assert not entries


def test_a_set_that_grew_stays_wide():
    codes = [16, *range(1, 14)]
    entries = HashSet(codes.__getitem__)
    for entry in range(14):
        entries.add(entry)
    for entry in range(2, 14):
        entries.remove(entry)

    # In 16 buckets 16 would come first; in 32 it is behind 1.
    assert entries.first() == 1
