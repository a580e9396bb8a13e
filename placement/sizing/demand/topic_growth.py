r"""
How topics grow, and the day on which that is too much for a broker.

A topic brings :math:`g_t(d) = \max(0, e^{c_t d} + a_t d)` times what it brings today
after ``d`` days; on disks :math:`s_t d` times today's bytes come on top. That is convex
in ``d``, and so is the load of every broker. A load that is within its limit today
therefore leaves it once at most, and halving an interval finds the day.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.model.cluster import BoolArray, ClusterState, RateArray
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
"""Ten years: beyond, no growth goes on as it did."""
MOST_POWER = 100.0
"""More is over any limit, and would be too large for a float."""
LIMITED = (Resource.DISK, Resource.IN, Resource.OUT, Resource.CPU)
COLUMNS = [RESOURCES.index(resource) for resource in LIMITED]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Growth:
    """
    How each topic grows.

    Parameters
    ----------
    compound_per_day
        ``(T,)`` ``c``: the logarithm of what a day multiplies everything by.
    linear_per_day
        ``(T,)`` ``a``: the fraction of today's load that every day adds.
    disk_per_day
        ``(T,)`` ``s``: the same for bytes on disk alone.
    """

    compound_per_day: RateArray
    linear_per_day: RateArray
    disk_per_day: RateArray

    @property
    def is_none(self) -> bool:
        """Whether nothing changes."""
        parts = (self.compound_per_day, self.linear_per_day, self.disk_per_day)
        return not any(part.any() for part in parts)

    def traffic(self, days: float) -> RateArray:
        """Return ``(T,)`` times what each topic brings today."""
        factor: RateArray = np.maximum(
            _power(self.compound_per_day, days) + self.linear_per_day * days, 0.0
        )
        return factor

    def disk(self, days: float) -> RateArray:
        """Return ``(T,)`` times the bytes of each topic today."""
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
    """Return growth that changes nothing."""
    return steady_growth(num_topics)


def steady_growth(
    num_topics: int,
    *,
    compound_per_day: float = 0.0,
    linear_per_day: float = 0.0,
) -> Growth:
    """Return growth that is the same for all topics."""
    return Growth(
        compound_per_day=np.full(num_topics, compound_per_day),
        linear_per_day=np.full(num_topics, linear_per_day),
        disk_per_day=np.zeros(num_topics),
    )


def growth_of_trends(
    state: ClusterState, disk_bytes_per_day: Mapping[str, float]
) -> Growth:
    """
    Return growth by trends that were measured.

    Parameters
    ----------
    state
        The cluster.
    disk_bytes_per_day
        By topic, bytes that one copy of all its partitions gains a day. Topics left
        out do not grow.
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
    The first limit that is passed.

    Parameters
    ----------
    days
        From now; 0 where it is passed already.
    broker_id, resource
        Where.
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
        The cluster, its replicas where they stay.
    growth
        How its topics grow.
    thresholds
        Fraction of each capacity that may be used.
    members
        ``(B,)`` brokers that count.
    weights
        What replicas weigh; as `weigh` defines unless others are given.

    Returns
    -------
    None for resources whose capacity is unknown, or that stay within their limits for
    `HORIZON_DAYS`.
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
    """What topics that grow alike bring to each broker."""

    def __init__(self, state: ClusterState, growth: Growth, weights: Weights) -> None:
        parts = (growth.compound_per_day, growth.linear_per_day, growth.disk_per_day)
        rows, of_topic = np.unique(np.stack(parts, axis=1), axis=0, return_inverse=True)
        self._rates = rows
        of = np.asarray(of_topic).reshape(-1)[state.partitions.topic_idx]
        self._by_class = _summed_by_class(state, weights, of, len(rows))
        leader = state.partitions.leader_idx
        whole = broker_loads(state, weights, leader)[:, COLUMNS]
        # What no partition brings stays what it is: stray files, indexes.
        self._fixed = np.maximum(whole - self._by_class.sum(axis=0), 0.0)

    def at(self, days: npt.NDArray[np.float64]) -> RateArray:
        """Return ``(B, Y)`` loads, each on its own day."""
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
    """Return ``(K, B, Y)`` what the partitions of each class bring to each broker."""
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
    """Return ``(B, Y)`` when each limit is passed; infinite after the horizon."""
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
    """Return the first crossing, `None` where there is none."""
    return found[0] if found else None
