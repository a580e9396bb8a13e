"""
Copies without a named log dir, and the log dirs that brokers may choose for them.

A broker chooses the log dir with the fewest partitions, counting current and future
replicas of any size. It never chooses an offline log dir, and a cordoned one only if
no other is live. Neither the order in which the copies are created nor the tie-break
is known, so each log dir is judged by the order that fills it most.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heapreplace

import numpy as np

from placement.array_types import BoolArray, IndexArray, IntArray
from placement.check.case.broker_loads import replica_bytes
from placement.check.case.placed_replicas import Placed
from placement.check.case.plan_case import Case
from placement.model.cluster import ABSENT, UNKNOWN, LogDirState


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Largest number of copies, and their bytes, that a broker may put in a log dir."""

    copies: int
    size_bytes: int


def may_choose(case: Case, after: IntArray, room: IntArray) -> dict[int, Chosen]:
    """
    Return the most that brokers may put into log dirs without enough room for all.

    Parameters
    ----------
    case
        Plan under check.
    after
        ``(R,)`` log dir of each replica after the plan, `ABSENT` where unknown.
    room
        ``(D,)`` bytes free in each log dir for copies without a named log dir. The
        result leaves out log dirs with room for all such copies.
    """
    dirs, placed = case.state.log_dirs, case.after
    low, high = _counts(case, after)
    size = replica_bytes(case.state, placed)
    comes = case.is_new & np.equal(after, ABSENT)
    found: dict[int, Chosen] = {}
    for broker in np.unique(placed.broker_idx[comes]).tolist():
        rows = np.flatnonzero(np.equal(dirs.broker_idx, broker)).tolist()
        if len(rows) < 2 or not case.state.brokers.is_live[broker]:
            continue
        copies = np.flatnonzero(comes & np.equal(placed.broker_idx, broker))
        sizes = sorted(size[copies].tolist(), reverse=True)
        live = open_dirs([int(dirs.state[row]) for row in rows])
        for place in live:
            if sum(sizes) <= room[rows[place]]:
                continue
            others = [int(high[rows[other]]) for other in live if other != place]
            count = most_of(int(low[rows[place]]), others, len(sizes))
            if dirs.state[rows[place]] == LogDirState.CORDONED:
                # All are cordoned: one of them, not known which, takes every copy.
                count = len(sizes)
            if count:
                found[rows[place]] = Chosen(
                    copies=count, size_bytes=int(sum(sizes[:count]))
                )
    return found


def open_dirs(states: Sequence[int]) -> list[int]:
    """
    Return the log dirs that one broker may choose, as indices of the list.

    Parameters
    ----------
    states
        `LogDirState` of each log dir of the broker.
    """
    live = [n for n, state in enumerate(states) if state != LogDirState.OFFLINE]
    is_open = [n for n in live if states[n] != LogDirState.CORDONED]
    return live if len(live) == 1 or not is_open else is_open


def most_of(low: int, others: Sequence[int], num_copies: int) -> int:
    """
    Return the largest number of copies that one log dir gets, created one by one.

    Parameters
    ----------
    low
        Lower bound on the partitions in the log dir.
    others
        Upper bound on the partitions in each other log dir that the broker may choose.
    num_copies
        Number of copies that the broker gets.

    Examples
    --------
    >>> most_of(1, [10], 4), most_of(10, [1], 4), most_of(3, [3, 4], 4)
    (4, 0, 2)
    """
    if not others:
        return num_copies
    fewest = list(others)
    heapify(fewest)
    own = 0
    for _ in range(num_copies):
        if low + own <= fewest[0]:
            own += 1
        else:
            heapreplace(fewest, fewest[0] + 1)
    return own


def has_known_load(case: Case) -> BoolArray:
    """Return ``(D,)`` true where replicas in unknown log dirs add no unknown bytes."""
    replicas, dirs = case.state.replicas, case.state.log_dirs
    has_lost: BoolArray = np.zeros(case.state.num_brokers, dtype=np.bool_)
    # A replica that failed with its log dir is in no log dir that serves.
    is_lost = np.equal(replicas.log_dir_idx, ABSENT) & ~replicas.is_failed
    has_lost[replicas.broker_idx[is_lost]] = True
    is_known: BoolArray = np.not_equal(dirs.usable_bytes, UNKNOWN)
    return is_known | ~has_lost[dirs.broker_idx]


def _counts(case: Case, after: IntArray) -> tuple[IntArray, IntArray]:
    """Return ``(D,)`` bounds on partitions per log dir, without unnamed copies."""
    replicas, dirs = case.state.replicas, case.state.log_dirs
    current, future = replicas.log_dir_idx, replicas.future_log_dir_idx
    lies = np.where(np.equal(future, ABSENT), current, future)
    was = np.append(lies, ABSENT)[case.after.from_idx]
    stays = np.equal(was, after)
    low = _tally(case, after[stays])
    high = _tally(case, current) + _tally(case, future) + _tally(case, after[~stays])
    lost = _lost(case, case.before)
    return low, high + lost[dirs.broker_idx]


def _tally(case: Case, rows: IntArray | IndexArray) -> IntArray:
    count = len(case.state.log_dirs)
    known = rows[np.not_equal(rows, ABSENT)]
    counts: IntArray = np.bincount(known, minlength=count)[:count].astype(np.int64)
    return counts


def _lost(case: Case, before: Placed) -> IntArray:
    """Return ``(B,)`` number of replicas in an unknown log dir."""
    is_lost = np.equal(before.log_dir_idx, ABSENT) & ~case.state.replicas.is_failed
    counts = np.bincount(before.broker_idx[is_lost], minlength=case.state.num_brokers)
    return counts.astype(np.int64)
