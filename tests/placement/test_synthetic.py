"""Synthetic clusters are what their families say, again and again."""

import functools

import numpy as np
import pytest

from placement.model.cluster import BrokerState, ClusterState
from placement.model.load import broker_loads, weigh
from placement.operations.add_brokers import AddBrokers
from placement.operations.rebalance import Rebalance
from placement.operations.remove_brokers import RemoveBrokers
from placement.placers.classic_placer import arrange_by_rack, place_classic
from placement.placers.usable_brokers import PlacerBrokers
from placement.synthetic import (
    FAMILIES,
    SIZES,
    Instance,
    Size,
    make_instance,
    most_of_a_share,
)
from placement.synthetic.drawn_partitions import place
from support.states import differences

BAND = 0.05
RAW = ["a'", "c", "d", "e", "f", "g"]
"""Families that no plan is made for, so that any size takes no time."""


@functools.cache
def instance(family: str, size: str = "S", seed: int = 1) -> Instance:
    return make_instance(family, SIZES[size], seed, BAND)


def _disks_out(state: ClusterState) -> float:
    """Return how far the disk of any broker is from the mean, as a fraction."""
    load = broker_loads(state, weigh(state), state.partitions.leader_idx)[:, 0]
    return float(np.abs(load / load.mean() - 1).max())


@pytest.mark.parametrize("family", FAMILIES)
def test_the_same_seed_gives_the_same_cluster(family):
    one = instance(family)
    again = make_instance(family, SIZES["S"], 1, BAND)

    assert not differences(one.state, again.state)
    assert one.operation == again.operation


@pytest.mark.parametrize("family", RAW)
def test_another_seed_gives_another_cluster(family):
    found = differences(instance(family, seed=1).state, instance(family, seed=2).state)

    assert {"partitions.size_bytes", "replicas.broker_idx"} <= set(found)


@pytest.mark.parametrize("size", ["XS", "S", "M"])
@pytest.mark.parametrize("family", RAW)
def test_sizes_are_kept(family, size):
    wanted, state = SIZES[size], instance(family, size).state

    new = np.equal(state.brokers.state, BrokerState.NEW)
    partitions = np.bincount(state.partitions.topic_idx)
    # Halving a rack rounds to whole brokers.
    rounding = wanted.racks if family == "e" else 0
    assert abs((~new).sum() - wanted.brokers) <= rounding
    assert state.num_racks == wanted.racks
    assert state.num_partitions == wanted.replicas // 3
    assert len(state.replicas) == 3 * state.num_partitions
    assert 1 <= partitions.min() <= partitions.max() <= wanted.most_partitions
    assert list(state.topics.names) == sorted(state.topics.names)
    if family != "g":
        assert state.partitions.size_bytes.mean() == pytest.approx(5e9)


@pytest.mark.parametrize("size", ["XS", "S", "M"])
@pytest.mark.parametrize("family", ["a'", "c", "d", "e", "f"])
def test_no_replica_takes_more_than_its_part_of_a_share(family, size):
    state = instance(family, size).state
    weights = weigh(state)

    heaviest = (weights.replica + weights.leader).max(axis=0)
    total = (3 * weights.replica + weights.leader).sum(axis=0)
    old = np.not_equal(state.brokers.state, BrokerState.NEW).sum()
    parts = heaviest * old / total
    most = most_of_a_share(int(old), state.num_partitions)
    assert parts[:4].max() <= most * (1 + 1e-6)
    assert size == "XS" or most == 0.05


@pytest.mark.parametrize("family", RAW)
def test_the_start_keeps_racks_apart(family):
    state = instance(family, "M").state

    racks = state.brokers.rack_idx[state.replicas.broker_idx].reshape(-1, 3)
    assert (np.diff(np.sort(racks, axis=1), axis=1) > 0).all()


class _Drawn:
    """Random numbers that are known beforehand."""

    def __init__(self, *numbers: int) -> None:
        self._numbers = iter(numbers)

    def next_int(self, bound: int) -> int:
        return next(self._numbers) % bound


@pytest.mark.parametrize(
    "rack_of",
    [
        pytest.param(np.arange(12) % 3, id="even"),
        pytest.param(np.array([0, 1, 2, 1, 2, 1, 2]), id="one-rack-smaller"),
        pytest.param(np.arange(5), id="rack-per-broker"),
        pytest.param(np.arange(3), id="as-few-as-can-be"),
    ],
)
def test_the_start_is_where_kafka_places_replicas(rack_of):
    counts = np.array([1, 40, 7])
    topic_idx = np.repeat(np.arange(3), counts)
    partition = np.concatenate([np.arange(count) for count in counts])
    draws = np.random.default_rng(7)
    begins, shifts = (draws.integers(0, len(rack_of), size=3) for _ in range(2))
    racks = tuple(f"r{rack}" for rack in rack_of)
    brokers = PlacerBrokers(ids=tuple(range(len(rack_of))), racks=racks)

    _, placed = place(topic_idx, partition, rack_of, np.random.default_rng(7))

    assert arrange_by_rack(brokers) == brokers
    for topic, count in enumerate(counts):
        turn = _Drawn(int(begins[topic]), int(shifts[topic]))
        wanted = place_classic(brokers, int(count), 3, random=turn)
        rows = placed.reshape(-1, 3)[np.equal(topic_idx, topic)]
        assert rows.tolist() == wanted.tolist()


def test_a_adds_empty_brokers_to_a_balanced_cluster():
    found = instance("a")
    state = found.state

    load = broker_loads(state, weigh(state), state.partitions.leader_idx)
    is_new = np.equal(state.brokers.state, BrokerState.NEW)
    assert found.operation == AddBrokers()
    assert is_new.tolist() == [False] * 12 + [True]
    assert not load[is_new].any()
    assert _is_balanced(load[~is_new], 0.8 * BAND)


def _is_balanced(load: np.ndarray, band: float) -> bool:
    """Tell whether all loads are near their mean; counts may be rounded either way."""
    mean = load.mean(axis=0)
    low, high = mean * (1 - band), mean * (1 + band)
    low[4:] = np.minimum(low[4:], np.floor(mean[4:]))
    high[4:] = np.maximum(high[4:], np.ceil(mean[4:]))
    return bool(((low <= load) & (load <= high)).all())


def test_a_raw_adds_empty_brokers_where_kafka_left_things():
    found = instance("a'")

    assert found.operation == AddBrokers()
    assert found.state.num_brokers == 13
    assert _disks_out(found.state) == 1.0


def test_b_removes_brokers_of_a_balanced_cluster():
    found = instance("b")
    state = found.state

    load = broker_loads(state, weigh(state), state.partitions.leader_idx)
    assert isinstance(found.operation, RemoveBrokers)
    assert len(found.operation.broker_ids) == 1
    assert set(found.operation.broker_ids) <= set(state.brokers.ids.tolist())
    assert _is_balanced(load, 0.8 * BAND)


def test_c_is_skewed():
    found = instance("c", "M")

    assert found.operation == Rebalance()
    assert _disks_out(found.state) > 2 * BAND
    assert _sigma_of_topics(found.state) > 1.3 > _sigma_of_topics(instance("d").state)


def _sigma_of_topics(state: ClusterState) -> float:
    """Return the spread of what a partition takes in, between topics."""
    topic_idx = state.partitions.topic_idx
    rate = np.bincount(topic_idx, weights=state.partitions.in_bytes_per_s)
    return float(np.log(rate / np.bincount(topic_idx)).std())


@pytest.mark.parametrize(
    "column", ["disk_bytes", "in_bytes_per_s", "out_bytes_per_s", "cpu_cores"]
)
def test_d_has_three_capacities(column):
    found = instance("d", "M")

    capacity = getattr(found.state.brokers, column)
    sizes, counts = np.unique(capacity, return_counts=True)
    assert found.operation == Rebalance()
    assert sizes / sizes[0] == pytest.approx([1, 1.5, 2])
    assert counts.min() >= 10


def test_e_has_one_rack_of_half_as_many_brokers():
    found = instance("e", "M")

    assert found.operation == Rebalance()
    assert np.bincount(found.state.brokers.rack_idx).tolist() == [11, 22, 22, 22, 22]


def test_f_has_lost_a_rack():
    found = instance("f", "M")
    state = found.state

    is_dead = np.equal(state.brokers.state, BrokerState.DEAD)
    assert found.operation == Rebalance()
    assert is_dead.tolist() == np.equal(state.brokers.rack_idx, 0).tolist()
    assert not state.replicas.is_in_sync[is_dead[state.replicas.broker_idx]].any()
    assert not is_dead[state.partitions.leader_idx].any()


@pytest.mark.parametrize("size", ["XS", "S", "M"])
@pytest.mark.parametrize("family", RAW)
def test_the_disks_are_large_enough_for_what_racks_force(family, size):
    state = instance(family, size).state
    brokers = state.brokers

    per_rack = np.bincount(brokers.rack_idx[brokers.is_live])
    live_racks = (per_rack > 0).sum()
    bytes_ = 3 * state.partitions.size_bytes.sum()
    disk = np.bincount(
        brokers.rack_idx, weights=np.where(brokers.is_live, brokers.disk_bytes, 0)
    )
    assert bytes_ < 0.6 * disk.sum()
    if live_racks == 3:
        assert (bytes_ / 3 < 0.6 * disk).all()


def test_g_has_a_few_giants():
    found = instance("g", "M")
    size = found.state.partitions.size_bytes
    share = 3 * size.sum() / 100

    assert found.operation == Rebalance()
    assert 2 <= (size > 0.08 * share).sum() <= 5


@pytest.mark.parametrize(
    ("family", "size", "message"),
    [
        pytest.param("z", SIZES["XS"], "no family 'z'", id="family"),
        pytest.param("a", Size(6, 2, 300), "too few racks", id="racks"),
        pytest.param("a", Size(3, 4, 300), "too few racks or brokers", id="brokers"),
    ],
)
def test_what_cannot_be_made_is_refused(family, size, message):
    with pytest.raises(ValueError, match=message):
        make_instance(family, size, 1)
