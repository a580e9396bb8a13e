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
from placement.model.cluster import ClusterState
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
    """

    days: float
    broker_id: int
    resource: Resource


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
    limits for `HORIZON_DAYS`.
    """
    if growth.is_none:
        growth = no_growth(len(state.topics))
    loads = _ClassLoads(state, growth, weights or weigh(state))
    limit = threshold_limits(state, thresholds)[:, COLUMNS] * UNIT_ROW[COLUMNS]
    limit = np.where(members[:, None], limit, np.inf)
    days = first_days(loads, limit)
    found = []
    for y, resource in enumerate(LIMITED):
        if np.isfinite(days[:, y]).any():
            b = int(days[:, y].argmin())
            broker_id = int(state.brokers.ids[b])
            found.append(Crossing(float(days[b, y]), broker_id, resource))
    return sorted(found, key=lambda each: each.days)


class _ClassLoads:
    """Load of each broker by class of topics with equal growth."""

    def __init__(self, state: ClusterState, growth: Growth, weights: Weights) -> None:
        parts = (growth.compound_per_day, growth.linear_per_day, growth.disk_per_day)
        rows, of_topic = np.unique(np.stack(parts, axis=1), axis=0, return_inverse=True)
        self._rates = rows
        of = np.asarray(of_topic).reshape(-1)[state.partitions.topic_idx]
        self._by_class = _summed_by_class(state, weights, of, len(rows))
        leader = state.partitions.leader_idx
        whole = broker_loads(state, weights, leader)[:, COLUMNS]
        # Load of no partition, such as stray files and indexes, does not grow.
        self._fixed = np.maximum(whole - self._by_class.sum(axis=0), 0.0)

    def at(self, days: npt.NDArray[np.float64]) -> RateArray:
        """Return ``(B, Y)`` loads, each at its own number of days."""
        total: RateArray = self._fixed.copy()
        is_disk = np.zeros(len(COLUMNS))
        is_disk[0] = 1.0
        for (compound, linear, disk), load in zip(
            self._rates, self._by_class, strict=True
        ):
            slope = linear + disk * is_disk
            power = np.exp(np.minimum(compound * days, MOST_POWER))
            total += load * np.maximum(power + slope * days, 0.0)
        return total


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
