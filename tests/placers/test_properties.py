"""What holds for every placement by Kafka's placers, and for Java's random numbers."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placement.errors import KafkaRefusalError
from placement.kafka_java.java_maps import hash_order, string_hash
from placement.kafka_java.java_random import JavaRandom
from placement.placers.classic_placer import place_classic
from placement.placers.striped_placer import place_striped
from placement.placers.usable_brokers import PlacerBrokers

NOT_FENCED = st.just(False)
THREE_RACKS = st.sampled_from("abc")


@st.composite
def brokers(draw, *, is_fenced=NOT_FENCED, racks=THREE_RACKS):
    ids = draw(st.lists(st.integers(0, 50), min_size=1, max_size=12, unique=True))
    one_each = {"min_size": len(ids), "max_size": len(ids)}
    return PlacerBrokers(
        ids=tuple(ids),
        racks=tuple(draw(st.lists(racks, **one_each))),
        is_fenced=tuple(draw(st.lists(is_fenced, **one_each))),
    )


def racks_of(table: PlacerBrokers) -> dict[int, str | None]:
    return dict(zip(table.ids, table.racks, strict=True))


@given(brokers(), st.integers(1, 40), st.data())
def test_classic_spreads_racks_and_leaders(table, num_partitions, data):
    factor = data.draw(st.integers(1, len(table)))
    seed = data.draw(st.integers(0, 2**40))

    placed = place_classic(
        table, num_partitions, factor, random=JavaRandom(seed)
    ).tolist()

    rack_of = racks_of(table)
    for listed in placed:
        assert len(set(listed)) == factor
        racks = {rack_of[broker] for broker in listed}
        assert len(racks) == min(factor, len(set(table.racks)))
    led = Counter(listed[0] for listed in placed)
    counts = [led[broker] for broker in table.ids]
    assert max(counts) - min(counts) <= 1


@given(brokers(racks=st.none()), st.integers(1, 60), st.data())
def test_classic_without_racks_is_even_once_it_has_come_round(table, rounds, data):
    count = len(table)
    factor = data.draw(st.integers(1, count))

    placed = place_classic(
        table, count * rounds, factor, random=JavaRandom(data.draw(st.integers()))
    )

    held = Counter(placed.ravel().tolist())
    assert set(held.values()) == {rounds * factor}


@given(
    brokers(is_fenced=st.booleans(), racks=st.sampled_from(["a", "b", "c", None])),
    st.integers(0, 40),
    st.data(),
)
def test_striped_never_lets_a_fenced_broker_lead(table, num_partitions, data):
    factor = data.draw(st.integers(-1, len(table) + 1))
    random = JavaRandom(data.draw(st.integers(0, 2**40)))
    could = 0 < factor <= len(table) and not all(table.is_fenced)
    if not could:
        with pytest.raises(KafkaRefusalError):
            place_striped(table, num_partitions, factor, random=random)
        return

    placed = place_striped(table, num_partitions, factor, random=random).tolist()

    fenced = dict(zip(table.ids, table.is_fenced, strict=True))
    assert len(placed) == num_partitions
    for listed in placed:
        assert len(set(listed)) == factor
        assert set(listed) <= set(table.ids)
        assert not fenced[listed[0]]


@given(brokers(is_fenced=st.booleans()), st.data())
def test_striped_does_not_depend_on_the_order_of_the_brokers(table, data):
    if all(table.is_fenced):
        return
    rows = list(zip(table.ids, table.racks, table.is_fenced, strict=True))
    ids, racks, fenced = zip(*data.draw(st.permutations(rows)), strict=True)
    other = PlacerBrokers(ids=ids, racks=racks, is_fenced=fenced)
    # The racks' own order is that of a hash map, and may depend on it.
    order = hash_order(table.racks)

    one, two = (
        place_striped(t, 20, 1, random=JavaRandom(3), rack_order=order)
        for t in (table, other)
    )

    assert one.tolist() == two.tolist()


@given(st.integers(), st.integers(1, 2**31 - 1))
def test_java_draws_below_the_bound(seed, bound):
    random = JavaRandom(seed)

    assert all(0 <= random.next_int(bound) < bound for _ in range(20))


@pytest.mark.parametrize(
    ("seed", "bound", "expected"),
    [
        # From Java: new Random(seed), then nextInt(bound) again and again.
        pytest.param(42, 10, [0, 3, 8, 4, 0], id="small-bound"),
        pytest.param(0, 100, [60, 48, 29, 47, 15], id="seed-zero"),
    ],
)
def test_java_draws_what_java_draws(seed, bound, expected):
    random = JavaRandom(seed)

    assert [random.next_int(bound) for _ in expected] == expected


def test_java_draws_again_what_would_favour_small_numbers():
    # Of 2^31 numbers, those from 2^30 + 1 on are an incomplete run.
    bound = 2**30 + 1
    kept = JavaRandom(8)
    plain = JavaRandom(8)

    got = [kept.next_int(bound) for _ in range(50)]

    raw = (plain._next(31) for _ in range(1000))
    accepted = (number for number in raw if number < bound)
    assert got == [next(accepted) for _ in range(50)]


def test_java_refuses_a_bound_that_is_not_positive():
    with pytest.raises(ValueError, match="bound must be positive, got 0"):
        JavaRandom(1).next_int(0)


@given(st.lists(st.integers()), st.integers())
def test_a_shuffle_keeps_what_it_shuffles(values, seed):
    shuffled = list(values)

    JavaRandom(seed).shuffle(shuffled)

    assert Counter(shuffled) == Counter(values)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", 0, id="empty"),
        pytest.param("a", 97, id="one-letter"),
        pytest.param("hello", 99162322, id="short"),
        pytest.param("polygenelubricants", -(2**31), id="least-of-all"),
        # Two UTF-16 units for one character.
        pytest.param("\N{GRINNING FACE}", 0xD83D * 31 + 0xDE00, id="surrogates"),
    ],
)
def test_strings_hash_as_in_java(text, expected):
    assert string_hash(text) == expected


@given(st.lists(st.text(max_size=3) | st.none(), unique=True, max_size=60))
def test_hash_order_is_that_of_a_map_that_grows_as_it_is_filled(names):
    # The map as Java fills it, bucket by bucket, doubled when three quarters full.
    table: list[list[str | None]] = [[] for _ in range(16)]

    def bucket(name):
        value = string_hash(name or "") & 0xFFFFFFFF
        return (value ^ value >> 16) % len(table)

    for size, name in enumerate(names, start=1):
        table[bucket(name)].append(name)
        if size > len(table) * 3 // 4:
            kept = [name for chain in table for name in chain]
            table = [[] for _ in range(2 * len(table))]
            for old in kept:
                table[bucket(old)].append(old)

    assert hash_order(names) == [name for chain in table for name in chain]


def test_a_broker_may_be_listed_once():
    with pytest.raises(ValueError, match="listed once"):
        PlacerBrokers(ids=(1, 1), racks=(None, None))


def test_every_broker_has_a_rack_or_none():
    with pytest.raises(ValueError, match="as many racks"):
        PlacerBrokers(ids=(1, 2), racks=(None,))
