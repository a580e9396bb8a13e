r"""
Growth of topics, and the day on which a broker reaches its limit.

After ``d`` days, the load of a topic is :math:`g_t(d) = \max(0, e^{c_t d} + a_t d)`
times its present load; on disks, :math:`s_t d` is added to the factor. The factor is
convex in ``d``, and so is the load of every broker. A load within its limit now
therefore crosses the limit at most once, and bisection finds the day.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray, RateArray
from placement.model.cluster import ABSENT, ClusterState
from placement.model.disk_bytes import (
    certain_bytes,
    disk_weights,
    has_several_log_dirs,
)
from placement.model.load import (
    RESOURCES,
    UNIT_ROW,
    Resource,
    Weights,
    broker_loads,
    weigh,
)
from placement.score.placement_score import threshold_limits

DAYS_PER_MONTH = 365.2425 / 12
HORIZON_DAYS = 3653.0
"""Forecast horizon of ten years, beyond which growth rates do not hold."""
MOST_POWER = 100.0
"""Maximum exponent: the load is over any limit, and still a finite float."""
LIMITED = (Resource.DISK, Resource.IN, Resource.OUT, Resource.CPU)
COLUMNS = [RESOURCES.index(resource) for resource in LIMITED]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Growth:
    """
    Growth of each topic.

    Parameters
    ----------
    compound_per_day
        ``(T,)`` ``c``: natural logarithm of the daily growth factor of all loads.
    linear_per_day
        ``(T,)`` ``a``: fraction of the present load added every day.
    disk_per_day
        ``(T,)`` ``s``: fraction of the present bytes added every day on disk alone.
    """

    compound_per_day: RateArray
    linear_per_day: RateArray
    disk_per_day: RateArray

    @property
    def is_none(self) -> bool:
        """Whether there is no growth."""
        parts = (self.compound_per_day, self.linear_per_day, self.disk_per_day)
        return not any(part.any() for part in parts)

    def traffic(self, days: float) -> RateArray:
        """Return ``(T,)`` factor of each topic's present traffic after some days."""
        factor: RateArray = np.maximum(
            _power(self.compound_per_day, days) + self.linear_per_day * days, 0.0
        )
        return factor

    def disk(self, days: float) -> RateArray:
        """Return ``(T,)`` factor of each topic's present bytes after some days."""
        factor: RateArray = np.maximum(
            _power(self.compound_per_day, days)
            + (self.linear_per_day + self.disk_per_day) * days,
            0.0,
        )
        return factor


def _power(compound_per_day: RateArray, days: float) -> RateArray:
    power: RateArray = np.exp(np.minimum(compound_per_day * days, MOST_POWER))
    return power


def no_growth(num_topics: int) -> Growth:
    """Return a growth of zero."""
    return steady_growth(num_topics)


def steady_growth(
    num_topics: int,
    *,
    compound_per_day: float = 0.0,
    linear_per_day: float = 0.0,
) -> Growth:
    """Return equal growth for all topics."""
    return Growth(
        compound_per_day=np.full(num_topics, compound_per_day),
        linear_per_day=np.full(num_topics, linear_per_day),
        disk_per_day=np.zeros(num_topics),
    )


def growth_of_trends(
    state: ClusterState, disk_bytes_per_day: Mapping[str, float]
) -> Growth:
    """
    Return growth by measured trends.

    Parameters
    ----------
    state
        Cluster with the present sizes.
    disk_bytes_per_day
        Bytes a day that one copy of all partitions gains, by topic name. Other topics
        do not grow.
    """
    size = np.zeros(len(state.topics))
    known = np.maximum(state.partitions.size_bytes, 0)
    np.add.at(size, state.partitions.topic_idx, known)
    gains = np.array([disk_bytes_per_day.get(name, 0.0) for name in state.topics.names])
    slope = np.where(size > 0, gains / np.where(size > 0, size, 1.0), 0.0)
    nothing = np.zeros(len(size))
    return Growth(
        compound_per_day=nothing, linear_per_day=nothing.copy(), disk_per_day=slope
    )


@dataclass(frozen=True, slots=True)
class Crossing:
    """
    First crossing of a limit.

    Parameters
    ----------
    days
        Days from now; 0 where the limit is exceeded already.
    broker_id, resource
        Id of the broker, and resource of the limit.
    log_dir
        Path of the log dir whose limit it is; `None`: that of the whole broker.
    """

    days: float
    broker_id: int
    resource: Resource
    log_dir: str | None = None


def crossings(
    state: ClusterState,
    growth: Growth,
    thresholds: Mapping[Resource, float],
    members: BoolArray,
    *,
    weights: Weights | None = None,
) -> list[Crossing]:
    """
    Return the first crossing of each resource, soonest first.

    Parameters
    ----------
    state
        Cluster whose replicas stay on their brokers.
    growth
        Growth of the topics.
    thresholds
        Usable fraction of each capacity.
    members
        ``(B,)`` true for brokers that count.
    weights
        Loads of replicas; `None`: those of `weigh`.

    Returns
    -------
    Crossings, without resources whose capacity is unknown, or that stay within their
    limits for `HORIZON_DAYS`. A disk is full with the first log dir of its broker.
    """
    if growth.is_none:
        growth = no_growth(len(state.topics))
    loads = _loads_of_brokers(state, growth, weights or weigh(state))
    limit = threshold_limits(state, thresholds)[:, COLUMNS] * UNIT_ROW[COLUMNS]
    limit = np.where(members[:, None], limit, np.inf)
    days = first_days(loads, limit)
    found = []
    for y, resource in enumerate(LIMITED):
        if np.isfinite(days[:, y]).any():
            b = int(days[:, y].argmin())
            broker_id = int(state.brokers.ids[b])
            found.append(Crossing(float(days[b, y]), broker_id, resource))
    dirs = _log_dir_crossing(state, growth, thresholds, members)
    disk = next((one for one in found if one.resource is Resource.DISK), None)
    if dirs is not None and (disk is None or dirs.days < disk.days):
        found = [dirs, *(one for one in found if one is not disk)]
    return sorted(found, key=lambda each: each.days)


def _log_dir_crossing(
    state: ClusterState,
    growth: Growth,
    thresholds: Mapping[Resource, float],
    members: BoolArray,
) -> Crossing | None:
    """Return the first crossing of a log dir, of brokers with more than one."""
    dirs, threshold = state.log_dirs, thresholds.get(Resource.DISK)
    counts = has_several_log_dirs(state) & members[dirs.broker_idx]
    if threshold is None or not counts.any():
        return None
    limit = np.where(counts, threshold * dirs.size_bytes * (1 + 1e-9), np.inf)
    days = first_days(_loads_of_log_dirs(state, growth), limit[:, None])[:, 0]
    first = int(days.argmin())
    if not np.isfinite(days[first]):
        return None
    broker_id = int(state.brokers.ids[dirs.broker_idx[first]])
    return Crossing(float(days[first]), broker_id, Resource.DISK, dirs.paths[first])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _ClassLoads:
    """
    Load of each broker, or log dir, by class of topics with equal growth.

    Parameters
    ----------
    rates
        ``(K, 3)`` growth of each class: compound, linear, and on disks alone.
    by_class
        ``(K, N, Y)`` present load of each class; the first column is that of disks.
    fixed
        ``(N, Y)`` load of no partition, such as stray files and indexes: does not grow.
    """

    rates: RateArray
    by_class: RateArray
    fixed: RateArray

    def at(self, days: npt.NDArray[np.float64]) -> RateArray:
        """Return ``(N, Y)`` loads, each at its own number of days."""
        total: RateArray = self.fixed.copy()
        is_disk = np.zeros(self.fixed.shape[1])
        is_disk[0] = 1.0
        for (compound, linear, disk), load in zip(
            self.rates, self.by_class, strict=True
        ):
            slope = linear + disk * is_disk
            power = np.exp(np.minimum(compound * days, MOST_POWER))
            total += load * np.maximum(power + slope * days, 0.0)
        return total


def _classes(
    state: ClusterState, growth: Growth
) -> tuple[RateArray, npt.NDArray[np.int64]]:
    """Return the growth of each class, and the class of each partition."""
    parts = (growth.compound_per_day, growth.linear_per_day, growth.disk_per_day)
    rows, of_topic = np.unique(np.stack(parts, axis=1), axis=0, return_inverse=True)
    return rows, np.asarray(of_topic).reshape(-1)[state.partitions.topic_idx]


def _loads_of_brokers(
    state: ClusterState, growth: Growth, weights: Weights
) -> _ClassLoads:
    rates, of = _classes(state, growth)
    by_class = _summed_by_class(state, weights, of, len(rates))
    leader = state.partitions.leader_idx
    whole = broker_loads(state, weights, leader)[:, COLUMNS]
    fixed = np.maximum(whole - by_class.sum(axis=0), 0.0)
    return _ClassLoads(rates=rates, by_class=by_class, fixed=fixed)


def _loads_of_log_dirs(state: ClusterState, growth: Growth) -> _ClassLoads:
    rates, of = _classes(state, growth)
    num_dirs = len(state.log_dirs)
    size, own = disk_weights(state)
    replicas = state.replicas
    each = size[replicas.partition_idx] + (own if len(own) else 0)
    found = np.zeros((len(rates), num_dirs, 1))
    for rows in (replicas.log_dir_idx, replicas.future_log_dir_idx):
        at = np.nonzero(rows != ABSENT)[0]
        key = of[replicas.partition_idx[at]] * num_dirs + rows[at]
        sums = np.bincount(key, weights=each[at], minlength=len(rates) * num_dirs)
        found += sums.reshape(found.shape)
    certain = certain_bytes(state).astype(np.float64)[:, None]
    fixed = np.maximum(certain - found.sum(axis=0), 0.0)
    return _ClassLoads(rates=rates, by_class=found, fixed=fixed)


def _summed_by_class(
    state: ClusterState, weights: Weights, of: npt.NDArray[np.int64], count: int
) -> RateArray:
    """Return ``(K, B, Y)`` load of the partitions of each class on each broker."""
    replicas = state.replicas
    size, partition = count * state.num_brokers, replicas.partition_idx
    key = of[partition] * state.num_brokers + replicas.broker_idx
    led = np.nonzero(state.partitions.leader_idx >= 0)[0]
    led_key = of[led] * state.num_brokers + state.partitions.leader_idx[led]
    found = np.zeros((count, state.num_brokers, len(COLUMNS)))
    for y, r in enumerate(COLUMNS):
        each = weights.replica[partition, r].astype(np.float64)
        if y == 0 and len(weights.own):
            each = each + weights.own
        total = np.bincount(key, weights=each, minlength=size)
        total += np.bincount(led_key, weights=weights.leader[led, r], minlength=size)
        found[:, :, y] = total.reshape(count, state.num_brokers)
    return found


def first_days(loads: _ClassLoads, limit: RateArray) -> RateArray:
    """Return ``(B, Y)`` days until each limit; infinite beyond the horizon."""
    low, high = np.zeros(limit.shape), np.full(limit.shape, HORIZON_DAYS)
    passed_now = loads.at(low) > limit
    passes = loads.at(high) > limit
    for _ in range(60):
        middle = (low + high) / 2
        is_over = loads.at(middle) > limit
        high = np.where(is_over, middle, high)
        low = np.where(is_over, low, middle)
    days = np.where(passes, high, np.inf)
    return np.where(passed_now, 0.0, days)


def earliest(found: Sequence[Crossing]) -> Crossing | None:
    """Return the first crossing, or `None`."""
    return found[0] if found else None
