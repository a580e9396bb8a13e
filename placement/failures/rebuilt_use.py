"""
Replicas that are rebuilt after a failure, and how full the fullest survivor is then.

A lost replica is rebuilt if another one is left to copy from and a broker without one
is left to hold it: three replicas on three brokers stay two once a broker is lost.
"""

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray, CountArray, IndexArray, RateArray
from placement.failures.controller_decision import is_usable
from placement.failures.failure_domains import Domains
from placement.failures.failure_outlook import Outlook, Parts
from placement.failures.survivor_loads import HELD_COLUMNS, even_levels
from placement.model.cluster import ABSENT, ClusterState, LogDirState, sum_rows


def brokers_left(
    given: Outlook, parts: Parts, pairs: tuple[IndexArray, IndexArray]
) -> CountArray:
    """Return ``(X,)`` number of brokers that survive each failure."""
    is_live, of_broker = given.state.brokers.is_live, parts.domains.of_broker
    whole = of_broker[is_live & (of_broker != ABSENT)]
    taken = np.append(np.bincount(whole, minlength=len(parts.domains)), 0)
    first, second = pairs
    left: CountArray = int(is_live.sum()) - taken[first] - taken[second]
    return left


def unplaced(
    given: Outlook, parts: Parts, pairs: tuple[IndexArray, IndexArray]
) -> tuple[CountArray, CountArray]:
    """
    Return the lost replicas that have a source, but no broker left to hold them.

    Parameters
    ----------
    given, parts
        Inputs of all failures of the cluster, and of those of one kind.
    pairs
        ``(X,)`` first and second lost domain; `ABSENT` for none.

    Returns
    -------
    ``(X,)`` number of such replicas, and ``(X, 2)`` their disk and in load.
    """
    table, left = parts.table, brokers_left(given, parts, pairs)
    counts = np.zeros(len(left), dtype=np.int64)
    loads = np.zeros((len(left), len(HELD_COLUMNS)), dtype=np.int64)
    short = np.nonzero(left < table.num_serving.max(initial=0))[0]
    if not len(short):
        return counts, loads
    chosen = np.nonzero(table.num_serving > left[short].min())[0]
    rows = np.nonzero(np.isin(table.partition_idx, chosen))[0]
    at = np.searchsorted(chosen, table.partition_idx[rows])
    weight = given.weights.replica[chosen][:, HELD_COLUMNS]
    for x in short.tolist():
        is_lost = np.isin(table.domain[rows], [pairs[0][x], pairs[1][x]])
        gone = np.zeros(len(chosen), dtype=np.int64)
        np.add.at(gone, at[is_lost], table.electable[rows[is_lost]])
        # Survivors hold no two replicas of a partition: with the lost ones there are
        # as many too many as brokers are missing.
        more = np.maximum(table.num_serving[chosen] - left[x], 0)
        more *= gone < table.num_electable[chosen]
        counts[x], loads[x] = more.sum(), (more[:, None] * weight).sum(axis=0)
    return counts, loads


def is_rebuilt(before: ClusterState, after: ClusterState) -> BoolArray:
    """
    Return ``(R,)`` true for replicas lost in between that can be rebuilt.

    Parameters
    ----------
    before, after
        Cluster before and after a loss.
    """
    is_gone = is_usable(before) & ~is_usable(after)
    of, start = before.replicas.partition_idx, before.replicas.start
    room = int(after.brokers.is_live.sum()) - sum_rows(is_usable(after), start)
    number = np.cumsum(is_gone)
    earlier = np.append(0, number)[start[:-1]]
    found: BoolArray = (
        is_gone & after.has_source[of] & (number - earlier[of] <= room[of])
    )
    return found


def fullest_levels(
    given: Outlook,
    parts: Parts,
    pairs: tuple[IndexArray, IndexArray],
    rebuilt: npt.NDArray[np.int64],
) -> tuple[RateArray, RateArray]:
    """
    Return lower bounds on the load of the fullest survivor of each failure.

    Parameters
    ----------
    given, parts
        Inputs of all failures of the cluster, and of those of one kind.
    pairs
        ``(X,)`` first and second lost domain; `ABSENT` for none.
    rebuilt
        ``(X, 2)`` disk and in load that is rebuilt.

    Returns
    -------
    ``(X, 2)`` disk and in load, on the scale: bounds from all survivors, and bounds
    from the rebuilt total alone. NaN without survivors; the latter also where nothing
    is rebuilt.
    """
    first, second = pairs
    live, pools = given.state.brokers.is_live, given.pools
    levels = np.full((len(first), len(HELD_COLUMNS)), np.nan)
    even = levels.copy()
    brokers_in = _left_in_racks(given, parts, first, second, live.astype(np.int64))
    for y, r in enumerate(HELD_COLUMNS):
        base = np.where(live, given.load[:, r] / given.scale.unit[:, r], -np.inf)
        capacity = np.where(live, given.scale.unit[:, r], 0.0)
        capacity_in = _left_in_racks(given, parts, first, second, capacity)
        kept = float(given.load[live, r].sum()) - _over(parts.lost[:, y], pairs)
        total = kept + rebuilt[:, y]
        left = brokers_in.astype(np.int64)
        even[:, y] = even_levels(pools, left, capacity_in, total, y)
        fullest = _fullest_left(base, parts.domains, first, second)
        levels[:, y] = np.maximum(even[:, y], fullest)
    # What is full before a loss is not filled by it.
    return levels, np.where(rebuilt > 0, even, np.nan)


def _over(
    values: npt.NDArray[np.int64], pairs: tuple[IndexArray, IndexArray]
) -> RateArray:
    both = np.append(values, 0)[np.stack(pairs)]
    total: RateArray = both.sum(axis=0).astype(np.float64)
    return total


def _left_in_racks(
    given: Outlook,
    parts: Parts,
    first: IndexArray,
    second: IndexArray,
    amount: npt.NDArray[np.int64] | RateArray,
) -> RateArray:
    """Return ``(X, K)`` sum of an amount over the surviving brokers of each rack."""
    pools, of_broker = given.pools, parts.domains.of_broker
    whole = np.bincount(pools.of_broker, weights=amount, minlength=pools.num)
    lost = np.zeros((len(parts.domains) + 1, pools.num))
    gone = np.nonzero(of_broker != ABSENT)[0]
    np.add.at(lost, (of_broker[gone], pools.of_broker[gone]), amount[gone])
    left: RateArray = whole - lost[first] - lost[second]
    return left


def _fullest_left(
    base: RateArray, domains: Domains, first: IndexArray, second: IndexArray
) -> RateArray:
    """Return ``(X,)`` load of the fullest broker that loses nothing."""
    found = np.full(len(first), -np.inf)
    is_open = np.ones(len(first), dtype=np.bool_)
    for b in np.argsort(-base, kind="stable"):
        if not is_open.any() or base[b] == -np.inf:
            break
        domain = domains.of_broker[b]
        stays = is_open.copy()
        if domain != ABSENT:
            stays &= (first != domain) & (second != domain)
        # A broker that loses one of several log dirs holds less than before.
        owned = np.append(domains.part_of == b, False)
        stays &= ~owned[first] & ~owned[second]
        found[stays] = base[b]
        is_open &= ~stays
    return found


def levels_after(given: Outlook, after: ClusterState) -> RateArray:
    """
    Return lower bounds on the load of the fullest survivor of one given loss.

    Parameters
    ----------
    given
        Inputs of all failures of the cluster before the loss.
    after
        Cluster after the loss, as `lose` returns it.

    Returns
    -------
    ``(2,)`` disk and in load, as a row of `fullest_levels`.
    """
    live, pools = after.brokers.is_live, given.pools
    unit, rooms = given.scale.unit, np.zeros((2, pools.num))
    left = np.bincount(pools.of_broker[live], minlength=pools.num)
    totals, is_measure = _held_after(given, after), _untouched(given.state, after)
    levels = np.full(len(HELD_COLUMNS), np.nan)
    for y, r in enumerate(HELD_COLUMNS):
        np.add.at(rooms[y], pools.of_broker[live], unit[live, r])
        total = totals[y : y + 1].astype(np.float64)
        even = even_levels(pools, left[None], rooms[y : y + 1], total, y)[0]
        now = given.load[is_measure, r] / unit[is_measure, r]
        levels[y] = np.maximum(even, now.max(initial=-np.inf))
    return levels


def _held_after(given: Outlook, after: ClusterState) -> npt.NDArray[np.int64]:
    """Return ``(2,)`` disk and in load of all survivors after the rebuild."""
    before, columns = given.state, list(HELD_COLUMNS)
    of, on = before.replicas.partition_idx, before.replicas.broker_idx
    live, is_gone = after.brokers.is_live, is_usable(before) & ~is_usable(after)
    is_copied = is_rebuilt(before, after)
    weight = given.weights.replica[:, columns]
    held = given.load[live][:, columns].sum(axis=0)
    less = weight[of[is_gone & live[on]]].sum(axis=0)
    total: npt.NDArray[np.int64] = held - less + weight[of[is_copied]].sum(axis=0)
    return total


def _untouched(before: ClusterState, after: ClusterState) -> npt.NDArray[np.bool_]:
    """Return ``(B,)`` true for live brokers that lose no log dir."""
    is_lost = np.equal(after.log_dirs.state, LogDirState.OFFLINE)
    is_lost &= np.not_equal(before.log_dirs.state, LogDirState.OFFLINE)
    untouched = after.brokers.is_live.copy()
    untouched[after.log_dirs.broker_idx[is_lost]] = False
    return untouched
