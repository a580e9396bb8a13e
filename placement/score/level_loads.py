"""Loads by rack, log dir and topic."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray, CountArray, RateArray
from placement.model.cluster import ABSENT, ClusterState, LogDirState, sum_rows
from placement.model.disk_bytes import used_bytes
from placement.model.load import (
    LEADING,
    RESOURCES,
    UNITS,
    Resource,
    WeightArray,
    Weights,
    as_units,
)
from placement.score.balance_statistics import Spread, gini_rows, spread_rows
from placement.score.placement_score import Measured

DISK = RESOURCES.index(Resource.DISK)
_BY_SIZE = (Resource.DISK, Resource.REPLICAS, Resource.LEADERS)
"""Resources shared among log dirs by size; the others are shared equally."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Level:
    """
    Loads and shares of ``N`` racks or log dirs.

    Parameters
    ----------
    load, capacity, target
        ``(N, R)`` in display units.
    deviation
        ``(N, R)`` load / target - 1; 0 where the target is 0.
    """

    load: RateArray
    capacity: RateArray
    target: RateArray
    deviation: RateArray

    @property
    def use(self) -> RateArray:
        """``(N, R)`` load over capacity; 0 without a capacity."""
        has_capacity = self.capacity > 0
        return np.where(
            has_capacity, self.load / np.where(has_capacity, self.capacity, 1.0), 0.0
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RackLevel:
    """
    Loads of racks, and balance of the brokers inside each rack.

    Parameters
    ----------
    level
        Sums over the brokers of each rack that count.
    brokers
        ``(K, R)`` number of such brokers.
    out_of_band, over_threshold
        ``(K, R)`` number of such brokers out of their band, and over their threshold.
    spread
        Balance statistics of the use of such brokers, per resource.
    gini, max_deviation
        ``(K, R)`` Gini coefficient and largest absolute deviation of such brokers.
    """

    level: Level
    brokers: CountArray
    out_of_band: CountArray
    over_threshold: CountArray
    spread: tuple[Spread, ...]
    gini: RateArray
    max_deviation: RateArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TopicLevel:
    """
    Loads of topics, and balance of the partitions inside each topic (its skew).

    Parameters
    ----------
    partitions, replicas
        ``(T,)`` number of partitions, and of replicas.
    spread
        Balance statistics of the partitions' loads, per resource, in display units. The
        load of a partition is the sum over its replicas on any broker.
    known_fraction
        ``(T, R)`` fraction of partitions with a known load; 1 for an empty topic.
    broken
        ``(T,)`` violations by rule, for all rules but `over_capacity`.
    """

    partitions: CountArray
    replicas: CountArray
    spread: tuple[Spread, ...]
    known_fraction: RateArray
    broken: Mapping[str, CountArray]


def rack_level(measured: Measured) -> RackLevel:
    """Return loads by rack, and the balance of the brokers that count inside each."""
    racks, num_racks = measured.state.brokers.rack_idx, measured.state.num_racks
    load, targets = as_units(measured.load), measured.targets
    target = as_units(targets.target)
    capacity = as_units(measured.shares.capacity)
    member = np.stack(
        [measured.shares.members.of(r) for r in range(len(RESOURCES))], axis=1
    )
    out = targets.is_out(measured.load) & member
    off = np.abs(targets.deviation(measured.load)) * member
    furthest = np.zeros((num_racks, len(RESOURCES)))
    for r in range(len(RESOURCES)):
        np.maximum.at(furthest[:, r], racks, off[:, r])

    def summed(values: npt.NDArray[np.generic]) -> RateArray:
        own = np.where(member, values, 0).T
        return np.stack([np.bincount(racks, one, num_racks) for one in own], axis=1)

    spreads, ginis = _rack_spreads(load, capacity, member, racks, num_racks)
    return RackLevel(
        level=level_of(summed(load), summed(capacity), summed(target)),
        brokers=summed(member).astype(np.int64),
        out_of_band=summed(out).astype(np.int64),
        over_threshold=summed(measured.is_over).astype(np.int64),
        spread=spreads,
        gini=ginis,
        max_deviation=furthest,
    )


def _rack_spreads(
    load: RateArray,
    capacity: RateArray,
    member: BoolArray,
    racks: npt.NDArray[np.int32],
    num_racks: int,
) -> tuple[tuple[Spread, ...], RateArray]:
    """Return the balance per resource, and ``(K, R)`` Gini coefficients of racks."""
    resource, row = np.nonzero(member.T)
    group = resource * num_racks + racks[row]
    order = np.argsort(group, kind="stable")
    resource, row = resource[order], row[order]
    start = np.searchsorted(group[order], np.arange(len(RESOURCES) * num_racks + 1))
    given = capacity[row, resource]
    use = load[row, resource] / np.where(given > 0, given, 1.0)
    whole, ginis = spread_rows(use, start), gini_rows(use, start)
    lows = [r * num_racks for r in range(len(RESOURCES))]
    spreads = tuple(whole.of(slice(low, low + num_racks)) for low in lows)
    return spreads, ginis.reshape(len(RESOURCES), num_racks).T


def level_of(load: RateArray, capacity: RateArray, target: RateArray) -> Level:
    """Return a level with the deviations of loads from targets."""
    has_target = target > 0
    unit = np.where(has_target, target, 1.0)
    return Level(
        load=load,
        capacity=capacity,
        target=target,
        deviation=np.where(has_target, load / unit - 1, 0.0),
    )


def log_dir_level(measured: Measured) -> Level:
    """
    Return loads and shares of log dirs.

    A broker's serving log dirs share their total load. Disk, replicas and leaders are
    shared by size where the sizes of all are known; otherwise, and for the other
    resources, equally. The disk load is the used space of the file system where known,
    stray files included. Replicas in an unknown log dir are in none.
    """
    state = measured.state
    load = log_dir_loads(state, measured.weights, measured.leader_idx)
    return level_of_log_dirs(state, load)


def level_of_log_dirs(state: ClusterState, loads: WeightArray) -> Level:
    """Return shares and deviations of log dirs, from their ``(D, R)`` integer loads."""
    dirs, load = state.log_dirs, as_units(loads)
    serves = np.not_equal(dirs.state, LogDirState.OFFLINE)
    capacity = np.where(serves[:, None], _dir_capacities(state, serves), 0.0)
    of, count = dirs.broker_idx, state.num_brokers
    target = np.zeros(load.shape)
    for r in range(len(RESOURCES)):
        shared = np.bincount(of, weights=load[:, r] * serves, minlength=count)
        whole = np.bincount(of, weights=capacity[:, r], minlength=count)
        level = np.where(whole > 0, shared / np.where(whole > 0, whole, 1.0), 0.0)
        target[:, r] = capacity[:, r] * level[of]
    return level_of(load, capacity, target)


def log_dir_loads(
    state: ClusterState, weights: Weights, leader_idx: npt.NDArray[np.int32]
) -> WeightArray:
    """Return ``(D, R)`` integer loads of log dirs."""
    dirs, replicas = state.log_dirs, state.replicas
    load = np.zeros((len(dirs), len(RESOURCES)), dtype=np.int64)
    if not len(dirs):
        return load
    rows = np.nonzero(np.not_equal(replicas.log_dir_idx, ABSENT))[0]
    place, of = replicas.log_dir_idx[rows], replicas.partition_idx[rows]
    leads = np.nonzero(np.equal(replicas.broker_idx[rows], leader_idx[of]))[0]
    for r in range(1, len(RESOURCES)):
        each, extra = weights.replica[:, r], weights.leader[:, r]
        if each.any():
            np.add.at(load[:, r], place, each[of])
        if extra.any():
            np.add.at(load[:, r], place[leads], extra[of[leads]])
    load[:, DISK] = used_bytes(state)
    return load


def _dir_capacities(state: ClusterState, serves: BoolArray) -> RateArray:
    """Return ``(D, R)`` sizes if all log dirs of a broker have one, else ones."""
    dirs = state.log_dirs
    unsized = np.bincount(
        dirs.broker_idx,
        weights=serves & (dirs.size_bytes <= 0),
        minlength=state.num_brokers,
    )
    by_size = np.where(unsized[dirs.broker_idx] == 0, dirs.size_bytes, 1.0)
    capacity = np.ones((len(dirs), len(RESOURCES)))
    for r, resource in enumerate(RESOURCES):
        if resource in _BY_SIZE:
            capacity[:, r] = by_size
    return capacity


def topic_level(measured: Measured) -> TopicLevel:
    """Return loads by topic, and the balance of the partitions inside each."""
    state, count = measured.state, len(measured.state.topics)
    of = state.partitions.topic_idx
    start = np.searchsorted(of, np.arange(count + 1))
    partitions = np.diff(start)
    return TopicLevel(
        partitions=partitions,
        replicas=sum_rows(state.num_replicas, start),
        spread=tuple(
            spread_rows(partition_loads(measured, r), start)
            for r in range(len(RESOURCES))
        ),
        known_fraction=_known_fractions(measured.weights.is_known, start),
        broken={
            rule: sum_rows(counts, start) for rule, counts in measured.broken.items()
        },
    )


def partition_loads(measured: Measured, r: int) -> RateArray:
    """Return ``(P,)`` load of all replicas of each partition, in display units."""
    state, weights = measured.state, measured.weights
    load = np.zeros(state.num_partitions, dtype=np.int64)
    if not LEADING[r]:
        load += weights.replica[:, r] * state.num_replicas
    if r == DISK and len(weights.own):
        load += sum_rows(weights.own, state.replicas.start)
    load += weights.leader[:, r] * np.not_equal(measured.leader_idx, ABSENT)
    return load / UNITS[RESOURCES[r]]


def _known_fractions(is_known: BoolArray, start: npt.NDArray[np.int64]) -> RateArray:
    count = np.diff(start)
    known = np.stack(
        [sum_rows(is_known[:, r], start) for r in range(len(RESOURCES))], axis=1
    )
    unit = np.maximum(count, 1)[:, None]
    return np.where(count[:, None] > 0, known / unit, 1.0)
