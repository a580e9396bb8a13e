"""Partitioners of clients: keys, empty and null keys, batches, round robin, users."""

import zlib
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignment.errors import UserPartitionerError
from assignment.partitioners import NAMES, find_partitioner, keyless, place_records
from assignment.partitioners.built_in import SlowBrokers, draw_weights
from assignment.partitioners.java_clients import JavaDefault, RoundRobinPartitioner
from assignment.partitioners.key_column import KeyColumn
from assignment.partitioners.partitioner import KEYLESS
from assignment.partitioners.user_partitioner import UserPartitioner
from keys.test_hashes import naive_fnv1a, naive_murmur2

KEYS = st.lists(st.binary(max_size=12) | st.none(), max_size=15)


def go_remainder(value, count):
    """Return Go's remainder of a signed number, which has the sign of the number."""
    signed = value - 2**32 if value >= 2**31 else value
    return abs(abs(signed) % count * (1 if signed >= 0 else -1))


def positive(key):
    return naive_murmur2(key) & 0x7FFFFFFF


ORACLES = {
    "default": lambda key, n: KEYLESS if key is None else positive(key) % n,
    "default-sticky": lambda key, n: KEYLESS if key is None else positive(key) % n,
    "uniform-sticky": lambda key, n: KEYLESS,
    "builtin": lambda key, n: KEYLESS,
    "roundrobin": lambda key, n: KEYLESS,
    "roundrobin-skips": lambda key, n: KEYLESS,
    "random": lambda key, n: KEYLESS,
    "consistent": lambda key, n: zlib.crc32(key or b"") % n,
    "consistent-random": lambda key, n: zlib.crc32(key) % n if key else KEYLESS,
    "murmur2": lambda key, n: positive(key or b"") % n,
    "murmur2-random": lambda key, n: KEYLESS if key is None else positive(key) % n,
    "fnv1a": lambda key, n: go_remainder(naive_fnv1a(key or b""), n),
    "fnv1a-random": lambda key, n: (
        KEYLESS if key is None else go_remainder(naive_fnv1a(key), n)
    ),
    "sarama": lambda key, n: (
        KEYLESS if key is None else go_remainder(naive_fnv1a(key), n)
    ),
    "sarama-reference": lambda key, n: (
        KEYLESS if key is None else (naive_fnv1a(key) & 0x7FFFFFFF) % n
    ),
    "kafka-python": lambda key, n: KEYLESS if key is None else positive(key) % n,
}


def test_every_partitioner_has_an_oracle():
    assert set(ORACLES) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
@given(keys=KEYS, count=st.integers(1, 200))
def test_keys_are_placed_as_the_client_places_them(name, keys, count):
    place = find_partitioner(name).partitions_for(KeyColumn.of(keys))

    assert place(count).tolist() == [ORACLES[name](key, count) for key in keys]


@pytest.mark.parametrize("name", NAMES)
@given(keys=KEYS, count=st.integers(1, 9), data=st.data())
def test_an_explicit_partition_comes_first(name, keys, count, data):
    numbers = st.integers(KEYLESS, count - 1)
    explicit = data.draw(st.lists(numbers, min_size=len(keys), max_size=len(keys)))

    placed = place_records(
        find_partitioner(name),
        KeyColumn.of(keys),
        count,
        explicit=np.array(explicit, np.int32),
    ).tolist()

    for key, named, found in zip(keys, explicit, placed, strict=True):
        by_key = ORACLES[name](key, count)
        assert 0 <= found < count
        assert named in {KEYLESS, found}
        assert named != KEYLESS or by_key in {KEYLESS, found}


def test_names_of_librdkafka_may_have_underscores():
    assert find_partitioner("consistent_random") == find_partitioner(
        "consistent-random"
    )


@pytest.mark.parametrize("explicit", [[6, -1], [-2, 0]])
def test_an_explicit_partition_that_is_not_of_the_topic_is_refused(explicit):
    with pytest.raises(ValueError, match="explicit partition"):
        place_records(
            find_partitioner("default"),
            KeyColumn.of([b"a", b"b"]),
            6,
            explicit=np.array(explicit, np.int32),
        )


def test_a_topic_without_partitions_is_refused():
    with pytest.raises(ValueError, match="at least 1"):
        place_records(find_partitioner("default"), KeyColumn.of([b"a"]), 0)


def keyless_counts(partitioner, sizes, count, seed=3):
    placed = place_records(
        partitioner,
        KeyColumn.of([None] * len(sizes)),
        count,
        sizes=np.array(sizes, np.int64),
        seed=seed,
    )
    return placed.tolist()


def runs(placed):
    """Return partition and length of each run of equal partitions."""
    found: list[list[int]] = []
    for partition in placed:
        if found and found[-1][0] == partition:
            found[-1][1] += 1
        else:
            found.append([partition, 1])
    return found


@pytest.mark.parametrize("plain", [0, 10**9], ids=["compiled", "plain"])
@given(sizes=st.lists(st.integers(1, 90), min_size=1), count=st.integers(2, 5))
def test_sticky_batches_hold_what_fits_and_move_to_another_partition(
    sizes, count, plain
):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keyless, "PLAIN_RECORDS", plain)
        patch.setattr(keyless, "is_running", lambda _: False)
        partitioner = find_partitioner("uniform-sticky", batch_bytes=100)
        placed = keyless_counts(partitioner, sizes, count)

    at = 0
    for _, length in runs(placed):
        batch = sizes[at : at + length]
        at += length
        assert sum(batch) <= 100
        assert at == len(sizes) or sum(batch) + sizes[at] > 100


@pytest.mark.parametrize("plain", [0, 10**9], ids=["compiled", "plain"])
@given(sizes=st.lists(st.integers(1, 90), min_size=1), count=st.integers(2, 5))
def test_the_built_in_partitioner_switches_after_batch_size_bytes(sizes, count, plain):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keyless, "PLAIN_RECORDS", plain)
        patch.setattr(keyless, "is_running", lambda _: False)
        partitioner = find_partitioner("builtin", batch_bytes=100)
        placed = keyless_counts(partitioner, sizes, count)

    filled = 0
    for row, size in enumerate(sizes[:-1]):
        filled += size
        if filled >= 100:
            filled = 0
        else:
            assert placed[row] == placed[row + 1]


def test_large_records_skew_the_sticky_partitioner_but_not_the_built_in_one():
    # Every 10th record needs half a batch; KIP-794's reason: slow brokers aside, equal
    # bytes, not equal batches, make shares even.
    sizes = [8_000 if row % 10 == 0 else 100 for row in range(40_000)]

    for name in ("uniform-sticky", "builtin"):
        placed = keyless_counts(find_partitioner(name), sizes, 4)
        total = np.bincount(placed, sizes, minlength=4)
        assert total.max() / total.mean() < 1.1


def test_weights_are_the_inverse_of_queues():
    everyone = np.ones(3, bool)

    assert draw_weights(np.array([0.0, 3, 1]), everyone).tolist() == [4, 1, 3]
    assert draw_weights(np.zeros(3), everyone).tolist() == [1, 1, 1]
    without = draw_weights(np.array([5.0, 1, 0]), np.array([False, True, True]))
    assert without.tolist() == [0, 1, 2]
    unavailable = draw_weights(np.array([5.0, 1, 0]), np.zeros(3, bool))
    assert unavailable.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("is_adaptive", "stalled", "low", "high"),
    [
        pytest.param(False, 0, 0.30, 0.37, id="not-adaptive"),
        pytest.param(True, 0, 0.0, 0.10, id="adaptive"),
        pytest.param(True, 10, 0.0, 0.02, id="unavailable"),
    ],
)
def test_a_broker_that_takes_nothing_gets_fewer_records(
    is_adaptive, stalled, low, high
):
    slow = SlowBrokers(np.array([1.0, 1.0, 0.0]), stalled_batches=stalled)
    partitioner = JavaDefault(batch_bytes=10, slow=slow, is_adaptive=is_adaptive)

    placed = keyless_counts(partitioner, [10] * 3_000, 3)

    assert low <= placed.count(2) / len(placed) <= high


def test_slow_brokers_of_another_topic_are_refused():
    partitioner = JavaDefault(slow=SlowBrokers(np.ones(2)))

    with pytest.raises(ValueError, match="2 entries for 3 partitions"):
        keyless_counts(partitioner, [1], 3)


def test_round_robin_deals_in_turn():
    placed = keyless_counts(find_partitioner("roundrobin"), [1] * 7, 3)

    assert placed == [0, 1, 2, 0, 1, 2, 0]


@pytest.mark.parametrize(
    ("count", "used"), [(6, {1, 3, 5}), (5, {0, 1, 2, 3, 4}), (2, {1}), (1, {0})]
)
def test_round_robin_with_skips_uses_half_of_an_even_number(count, used):
    """Every record begins a batch: KAFKA-9965."""
    partitioner = RoundRobinPartitioner(skips=True, batch_bytes=10)

    assert set(keyless_counts(partitioner, [10] * 60, count)) == used


def naive_skips(sizes, count, batch):
    """Call ``partition()`` as the producer does: again after an aborted append."""
    queues = dict.fromkeys(range(count))
    turn, placed = 0, []
    for size in sizes:
        for is_second in (False, True):
            partition, turn = turn % count, turn + 1
            room = queues[partition]
            if room is not None and room >= size:
                queues[partition] = room - size
                break
            if is_second:
                queues[partition] = batch - size
        placed.append(partition)
    return placed


@given(st.lists(st.integers(1, 10), max_size=60), st.integers(1, 7))
def test_round_robin_with_skips_is_that_of_the_producers_calls(sizes, count):
    partitioner = RoundRobinPartitioner(skips=True, batch_bytes=10)

    assert keyless_counts(partitioner, sizes, count) == naive_skips(sizes, count, 10)


def test_random_shares_are_even():
    placed = Counter(keyless_counts(find_partitioner("random"), [1] * 60_000, 6))

    assert all(9_500 < placed[p] < 10_500 for p in range(6))


def test_a_users_function_decides():
    partitioner = UserPartitioner(
        "mine:f", lambda key, n: len(key) % n if key else None
    )

    placed = place_records(partitioner, KeyColumn.of([b"a", b"bcd", None]), 3)

    assert placed.tolist()[:2] == [1, 0]
    assert 0 <= placed[2] < 3


@pytest.mark.parametrize(
    ("function", "message"),
    [
        pytest.param(lambda key, n: n, "returned 3 .* from 0 to 2", id="too-large"),
        pytest.param(lambda key, n: "1", "returned '1'", id="text"),
        pytest.param(lambda key, n: 1 // 0, "raised ZeroDivisionError", id="raises"),
    ],
)
def test_a_users_function_that_breaks_the_rule_is_named(function, message):
    partitioner = UserPartitioner("mine:f", function)

    with pytest.raises(UserPartitionerError, match=message):
        place_records(partitioner, KeyColumn.of([b"a"]), 3)
