"""
Loads of survivors: by leadership, and by the replicas rebuilt on them.

The loads of leadership are exact for each broker. A plan chooses the brokers of rebuilt
replicas, so the bounds here hold for every choice: the fullest survivor is at least as
full as with loads spread as evenly as racks allow, and at least as full as before.
"""

from dataclasses import dataclass

import numpy as np

from placement.array_types import BoolArray, CountArray, IndexArray, RateArray
from placement.failures.failover import CARRIED_COLUMNS, ON_RETURN
from placement.failures.failure_domains import Domains
from placement.failures.load_gains import Gains
from placement.model.cluster import ABSENT, UNKNOWN, ClusterState
from placement.model.disk_bytes import fixed_disk_bytes
from placement.model.load import RESOURCES, UNIT_ROW, Resource, Weights

NO_LIMIT = np.inf
MOST_RACKS = 64
"""Number of racks above which racks are ignored, as they limit almost nothing."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Scale:
    """
    Units of the loads of brokers.

    Parameters
    ----------
    unit
        ``(B, R)`` integer load that counts as 1: the capacity, or one display unit
        where capacities are unknown.
    is_use
        ``(R,)`` true where 1 is a full capacity.
    most
        ``(R,)`` usable fraction of a capacity; infinite where unknown.
    """

    unit: RateArray
    is_use: BoolArray
    most: RateArray


def scale_of(state: ClusterState, thresholds: dict[Resource, float]) -> Scale:
    """Return the scale: fractions where all live brokers have a known capacity."""
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
    Busiest survivor of each failure, and number of survivors pushed over a limit.

    Parameters
    ----------
    value
        ``(X, 4)`` load on the scale, by `CARRIED_COLUMNS`.
    broker_idx
        ``(X, 4)`` row of the broker; `ABSENT` without survivors.
    num_over
        ``(X,)`` number of survivors that gain load and exceed a threshold during the
        loss.
    num_over_on_return
        ``(X,)`` number of such survivors once all followers fetch again.
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
    """Return the first row with the largest value of each group; groups ascend."""
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
    Survivors whose load a failure does not change.

    Parameters
    ----------
    domains, gains
        Failure domains, and the changes of the survivors' loads.
    is_live
        ``(B,)`` true for brokers that are live now.
    """

    def __init__(self, domains: Domains, gains: Gains, is_live: BoolArray) -> None:
        self._domains, self._is_live = domains, is_live
        order = np.argsort(gains.broker_idx, kind="stable")
        self._failure = gains.failure[order]
        brokers = np.arange(len(is_live) + 1)
        self._start = np.searchsorted(gains.broker_idx[order], brokers)

    def busiest(self, base: RateArray) -> tuple[RateArray, IndexArray]:
        """Return the highest load per failure, and its broker; lowest on ties."""
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
    Racks as pools of disk and network capacity, which failures reduce.

    Parameters
    ----------
    of_broker
        ``(B,)`` pool of each broker.
    num
        Number of pools, ``K``.
    factors
        ``(F,)`` distinct replication factors.
    weight
        ``(F, Y)`` load of one replica of every partition of that factor; columns disk
        and in.
    fixed
        ``(K,)`` bytes on disks that belong to no replica.
    """

    of_broker: IndexArray
    num: int
    factors: CountArray
    weight: RateArray
    fixed: RateArray


HELD_COLUMNS = (RESOURCES.index(Resource.DISK), RESOURCES.index(Resource.IN))


def pools_of(state: ClusterState, weights: Weights) -> Pools:
    """Return the racks as pools; one pool for all above `MOST_RACKS` racks."""
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
    Return a lower bound on the level of the fullest survivor after the rebuild.

    Parameters
    ----------
    pools
        Racks as pools of capacity.
    brokers_in, capacity_in
        ``(X, K)`` number of survivors in each rack, and their total capacity.
    total
        ``(X,)`` total load of the survivors.
    y
        Column of `HELD_COLUMNS`.

    Returns
    -------
    ``(X,)`` the :math:`u` of :math:`\sum_k \min(u C_k, L_k) = W`, where a rack holds at
    most :math:`L_k = \sum_p w_p \min(\kappa_p, n_k)`. No placement that keeps the rack
    rule fills every survivor less than :math:`u`. NaN without survivors.
    """
    most = np.zeros(brokers_in.shape)
    for f, factor in enumerate(pools.factors):
        spread = _per_rack(brokers_in, int(factor))
        most += pools.weight[f, y] * np.minimum(spread[:, None], brokers_in)
    if not len(pools.factors):
        most = np.full(brokers_in.shape, NO_LIMIT)
    if HELD_COLUMNS[y] == RESOURCES.index(Resource.DISK):
        most = most + pools.fixed
    # Rounding must not leave a remainder that fits in no rack.
    most = np.maximum(most, 0) * (1 + 1e-9)
    short = np.maximum(total - np.where(capacity_in > 0, most, 0).sum(axis=1), 0)
    most = most + np.where(np.isfinite(short), short, 0)[:, None]
    return _poured(capacity_in, most, total)


def _per_rack(brokers_in: CountArray, factor: int) -> CountArray:
    """Return ``(X,)`` maximum replicas of a partition in a rack."""
    spread = np.ones(len(brokers_in), dtype=np.int64)
    largest = brokers_in.max(axis=1, initial=0)
    while True:
        room = np.minimum(spread[:, None], brokers_in).sum(axis=1)
        is_short = (room < factor) & (spread < largest)
        if not is_short.any():
            return spread
        spread += is_short


def _poured(capacity: RateArray, most: RateArray, total: RateArray) -> RateArray:
    """Return the level of each row, by racks in the order in which they fill up."""
    if not capacity.shape[1]:
        return np.full(len(capacity), np.nan)
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
