"""
How loaded the survivors are: by leading, and by holding what is rebuilt on them.

Leading is known to the broker. Where lost replicas are rebuilt is for a plan to choose;
what is said here holds for every choice: the fullest survivor is at least as full as
when everything is spread as evenly as racks allow, and as it is without anything.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.failures.failover import CARRIED_COLUMNS, ON_RETURN
from placement.failures.failure_domains import Domains
from placement.failures.load_gains import Gains
from placement.model.cluster import (
    ABSENT,
    UNKNOWN,
    BoolArray,
    ClusterState,
    IndexArray,
    RateArray,
)
from placement.model.load import (
    RESOURCES,
    UNIT_ROW,
    Resource,
    Weights,
    fixed_disk_bytes,
)

CountArray = npt.NDArray[np.int64]
NO_LIMIT = np.inf
MOST_RACKS = 64
"""With more, each broker mostly is a rack of its own, and they limit nothing."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Scale:
    """
    In what the load of brokers is told.

    Parameters
    ----------
    unit
        ``(B, R)`` integer load that makes 1: a capacity, or one of the unit people
        read where capacities are not known.
    is_use
        ``(R,)`` true where 1 is a full capacity.
    most
        ``(R,)`` fraction of a capacity that may be used; infinite where unknown.
    """

    unit: RateArray
    is_use: BoolArray
    most: RateArray


def scale_of(state: ClusterState, thresholds: dict[Resource, float]) -> Scale:
    """Return the scale of each resource: fractions where every live broker has one."""
    brokers = state.brokers
    given = {
        Resource.DISK: np.where(brokers.disk_bytes != UNKNOWN, brokers.disk_bytes, 0),
        Resource.IN: brokers.in_bytes_per_s,
        Resource.OUT: brokers.out_bytes_per_s,
        Resource.CPU: brokers.cpu_cores,
    }
    unit = np.ones((state.num_brokers, len(RESOURCES)))
    is_use = np.zeros(len(RESOURCES), dtype=np.bool_)
    for r, resource in enumerate(RESOURCES):
        capacity = np.nan_to_num(np.asarray(given.get(resource, unit[:, r] * 0), float))
        is_use[r] = bool(
            brokers.is_live.any() and (capacity[brokers.is_live] > 0).all()
        )
        unit[:, r] = np.where(capacity > 0, capacity, 1.0) if is_use[r] else 1.0
    most = [thresholds.get(resource, NO_LIMIT) for resource in RESOURCES]
    return Scale(
        unit=unit * UNIT_ROW,
        is_use=is_use,
        most=np.where(is_use, most, NO_LIMIT),
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Peaks:
    """
    The busiest survivor of each failure, and how many are pushed over their limit.

    Parameters
    ----------
    value
        ``(X, 4)`` load on the scale, by `CARRIED_COLUMNS`.
    broker_idx
        ``(X, 4)`` the broker; `ABSENT` where nobody survives.
    num_over
        ``(X,)`` survivors that gain load and end over a threshold while what is lost is
        gone.
    num_over_on_return
        ``(X,)`` the same once all followers fetch again.
    """

    value: RateArray
    broker_idx: IndexArray
    num_over: CountArray
    num_over_on_return: CountArray


def peaks_of_singles(
    carried: CountArray,
    gains: Gains,
    domains: Domains,
    scale: Scale,
    is_live: BoolArray,
) -> Peaks:
    """Return the busiest survivor after the loss of each domain."""
    value = np.full((len(domains), len(CARRIED_COLUMNS)), -np.inf)
    broker = np.full(value.shape, ABSENT, dtype=np.int32)
    survives = domains.of_broker[gains.broker_idx] != gains.failure
    rows = np.nonzero(survives & is_live[gains.broker_idx])[0]
    failure, of = gains.failure[rows], gains.broker_idx[rows]
    is_over = np.zeros((len(rows), len(CARRIED_COLUMNS)), dtype=np.bool_)
    untouched = Untouched(domains, gains, is_live)
    for y, r in enumerate(CARRIED_COLUMNS):
        value[:, y], broker[:, y] = untouched.busiest(carried[:, y] / scale.unit[:, r])
        more = gains.load[rows, y]
        now = (carried[of, y] + more) / scale.unit[of, r]
        is_over[:, y] = (more > 0) & (now > scale.most[r])
        best = _first_of_largest(failure, now)
        lost, by, found = failure[best], of[best], now[best]
        ties = np.equal(found, value[lost, y]) & (by < broker[lost, y])
        is_higher = (found > value[lost, y]) | ties
        value[lost[is_higher], y] = found[is_higher]
        broker[lost[is_higher], y] = by[is_higher]
    return Peaks(
        value=value,
        broker_idx=broker,
        num_over=_counted(failure, is_over[:, :ON_RETURN], len(domains)),
        num_over_on_return=_counted(failure, is_over[:, 1:], len(domains)),
    )


def _first_of_largest(group: CountArray, values: RateArray) -> CountArray:
    """Return the first row of the largest value of each group; groups ascend."""
    if not len(group):
        return np.zeros(0, dtype=np.int64)
    start = np.nonzero(np.append(True, group[1:] != group[:-1]))[0]
    size = np.diff(np.append(start, len(group)))
    largest = np.repeat(np.maximum.reduceat(values, start), size)
    rows = np.nonzero(np.equal(values, largest))[0]
    first: CountArray = rows[np.searchsorted(rows, start)]
    return first


def _counted(failure: CountArray, is_over: BoolArray, count: int) -> CountArray:
    return np.bincount(failure[is_over.any(axis=1)], minlength=count)


class Untouched:
    """
    Survivors whose load a failure leaves as it is.

    Parameters
    ----------
    domains, gains
        What can fail, and how that changes the load of whom.
    is_live
        ``(B,)`` brokers that are live today.
    """

    def __init__(self, domains: Domains, gains: Gains, is_live: BoolArray) -> None:
        self._domains, self._is_live = domains, is_live
        order = np.argsort(gains.broker_idx, kind="stable")
        self._failure = gains.failure[order]
        brokers = np.arange(len(is_live) + 1)
        self._start = np.searchsorted(gains.broker_idx[order], brokers)

    def busiest(self, base: RateArray) -> tuple[RateArray, IndexArray]:
        """Return for each failure the highest load, and its broker, lowest first."""
        value = np.full(len(self._domains), -np.inf)
        broker = np.full(len(self._domains), ABSENT, dtype=np.int32)
        is_open = np.ones(len(self._domains), dtype=np.bool_)
        for b in np.argsort(-base, kind="stable"):
            if not is_open.any():
                break
            if self._is_live[b]:
                found = is_open.copy()
                found[self._failure[self._start[b] : self._start[b + 1]]] = False
                if self._domains.of_broker[b] != ABSENT:
                    found[self._domains.of_broker[b]] = False
                value[found], broker[found] = base[b], b
                is_open &= ~found
        return value, broker


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Pools:
    """
    Racks as pools of disk or network, from which failures take brokers away.

    Parameters
    ----------
    of_broker
        ``(B,)`` pool of each broker.
    num
        Number of pools, ``K``.
    factors
        ``(F,)`` the replication factors there are.
    weight
        ``(F, Y)`` load of one replica of every partition of that factor; columns disk
        and in.
    fixed
        ``(K,)`` bytes on disks that are no replica.
    """

    of_broker: IndexArray
    num: int
    factors: CountArray
    weight: RateArray
    fixed: RateArray


HELD_COLUMNS = (RESOURCES.index(Resource.DISK), RESOURCES.index(Resource.IN))


def pools_of(state: ClusterState, weights: Weights) -> Pools:
    """Return the racks as pools; one for all where there are too many to matter."""
    has_racks = state.num_racks <= MOST_RACKS
    of_broker = state.brokers.rack_idx if has_racks else state.brokers.rack_idx * 0
    factors, at = np.unique(state.replication_factor, return_inverse=True)
    weight = np.zeros((len(factors), len(HELD_COLUMNS)))
    np.add.at(weight, at, weights.replica[:, HELD_COLUMNS])
    num = state.num_racks if has_racks else 1
    fixed = np.bincount(of_broker, weights=fixed_disk_bytes(state), minlength=num)
    return Pools(
        of_broker=of_broker.astype(np.int32),
        num=num,
        factors=factors if has_racks else np.zeros(0, dtype=np.int64),
        weight=weight,
        fixed=fixed.astype(np.float64),
    )


def even_levels(
    pools: Pools,
    brokers_in: CountArray,
    capacity_in: RateArray,
    total: RateArray,
    y: int,
) -> RateArray:
    r"""
    Return how full the fuller survivors are at least once all is rebuilt.

    Parameters
    ----------
    pools
        The racks.
    brokers_in, capacity_in
        ``(X, K)`` survivors in each rack, and their capacity together.
    total
        ``(X,)`` load that they hold together.
    y
        Column of `HELD_COLUMNS`.

    Returns
    -------
    ``(X,)`` the :math:`u` of :math:`\sum_k \min(u C_k, L_k) = W`, where a rack holds at
    most :math:`L_k = \sum_p w_p \min(\kappa_p, n_k)`; no placement that keeps the rack
    rule fills every survivor less than :math:`u`. NaN where nobody survives.
    """
    most = np.zeros(brokers_in.shape)
    for f, factor in enumerate(pools.factors):
        spread = _per_rack(brokers_in, int(factor))
        most += pools.weight[f, y] * np.minimum(spread[:, None], brokers_in)
    if not len(pools.factors):
        most = np.full(brokers_in.shape, NO_LIMIT)
    if HELD_COLUMNS[y] == RESOURCES.index(Resource.DISK):
        most = most + pools.fixed
    # Float noise must not leave a rest that fits nowhere.
    most = np.maximum(most, 0) * (1 + 1e-9)
    short = np.maximum(total - np.where(capacity_in > 0, most, 0).sum(axis=1), 0)
    most = most + np.where(np.isfinite(short), short, 0)[:, None]
    return _poured(capacity_in, most, total)


def _per_rack(brokers_in: CountArray, factor: int) -> CountArray:
    """Return ``(X,)`` the most replicas of a partition that a rack may hold."""
    spread = np.ones(len(brokers_in), dtype=np.int64)
    largest = brokers_in.max(axis=1, initial=0)
    while True:
        room = np.minimum(spread[:, None], brokers_in).sum(axis=1)
        is_short = (room < factor) & (spread < largest)
        if not is_short.any():
            return spread
        spread += is_short


def _poured(capacity: RateArray, most: RateArray, total: RateArray) -> RateArray:
    """Solve for the level, all rows at once: racks that fill first come first."""
    width = np.where(capacity > 0, capacity, 1.0)
    full_at = np.where(capacity > 0, most / width, np.inf)
    order = np.argsort(full_at, axis=1, kind="stable")
    size = np.take_along_axis(capacity, order, axis=1)
    held = np.take_along_axis(np.where(capacity > 0, most, 0.0), order, axis=1)
    held = np.where(np.isfinite(held), held, 0.0)
    before = np.cumsum(held, axis=1) - held
    left = np.cumsum(size[:, ::-1], axis=1)[:, ::-1]
    level = np.full(size.shape, np.inf)
    np.divide(total[:, None] - before, left, out=level, where=left > 0)
    ends = level <= np.take_along_axis(full_at, order, axis=1) * (1 + 1e-12)
    first = np.argmax(ends, axis=1)
    found: RateArray = level[np.arange(len(level)), first]
    return np.where(capacity.sum(axis=1) > 0, found, np.nan)
