"""Capacity rule of log dirs."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from placement.array_types import BoolArray, IntArray
from placement.check.case.broker_loads import explained_bytes, replica_bytes
from placement.check.case.finding import Finding, Where
from placement.check.case.placed_replicas import Placed
from placement.check.case.plan_case import Case
from placement.check.rules.broker_dirs import has_known_load, may_choose
from placement.check.rules.capacity_rules import SLACK, amount
from placement.model.cluster import ABSENT, UNKNOWN, LogDirState

NO_LIMIT = 2**62
"""Free bytes of a log dir without a limit."""


def log_dir_capacity(case: Case) -> Iterator[Finding]:
    """
    Yield the log dirs that serve and exceed the threshold of their disk.

    A violation is existing if the bytes in the log dir do not grow. Copies without a
    named log dir count in each log dir that the broker may choose, in the order that
    fills it most. Such a finding is soft where the plan was asked to leave the choice
    to brokers.
    """
    dirs = case.state.log_dirs
    before, after = log_dir_loads(case)
    limit = dirs.size_bytes * case.settings.threshold_of("disk") * (1 + SLACK)
    is_judged = np.not_equal(dirs.size_bytes, UNKNOWN)
    is_judged &= np.not_equal(dirs.state, LogDirState.OFFLINE)
    is_judged &= case.state.brokers.is_live[dirs.broker_idx]
    serves = np.equal(dirs.state, LogDirState.ONLINE)
    is_over = is_judged & serves & (after > limit)
    room = np.where(
        is_judged & has_known_load(case), np.floor(limit) - after, NO_LIMIT
    ).astype(np.int64)
    chosen = may_choose(case, ends_in(case, case.after), room)
    for row in sorted({*np.flatnonzero(is_over).tolist(), *chosen}):
        now, was = int(after[row]), int(before[row])
        if is_over[row] and now > was:
            yield _over(case, row, was, now, f"{amount('disk', now)}")
            continue
        more = chosen.get(row)
        most = now if more is None else now + more.size_bytes
        if more is not None and most > limit[row] and most > was:
            text = (
                f"up to {amount('disk', most)}, with {more.copies} copies that name no "
                "log dir and that the broker may put there: it has the fewest "
                "partitions then"
            )
            is_soft = case.settings.leaves_log_dirs_to_brokers
            yield replace(_over(case, row, was, most, text), soft=is_soft)
        elif is_over[row]:
            yield _over(case, row, was, now, f"{amount('disk', now)}")


def _over(case: Case, row: int, was: int, now: int, text: str) -> Finding:
    """Return the finding on one log dir; `text` describes its bytes."""
    dirs = case.state.log_dirs
    broker, path = case.broker_id(int(dirs.broker_idx[row])), dirs.paths[row]
    threshold = case.settings.threshold_of("disk")
    limit = amount("disk", float(dirs.size_bytes[row]) * threshold)
    return Finding(
        rule="log-dir-capacity",
        where=Where(broker=broker, log_dir=path, resource="disk"),
        message=f"log dir {path} of broker {broker}: {text} (before: "
        f"{amount('disk', was)}) is over {limit}, {threshold:.4g} of its file system",
        existing=now <= was,
    )


def log_dir_loads(case: Case) -> tuple[IntArray, IntArray]:
    """
    Return ``(D,)`` bytes on each log dir without and with the plan.

    Bytes of a file system that no known replica accounts for stay. Replicas in an
    unknown log dir may be part of them: the bytes of those that leave are subtracted
    in every log dir of their broker, which gives a lower bound.
    """
    state, dirs = case.state, case.state.log_dirs
    is_measured = np.not_equal(dirs.size_bytes, UNKNOWN)
    is_measured &= np.not_equal(dirs.usable_bytes, UNKNOWN)
    is_measured &= np.not_equal(dirs.state, LogDirState.OFFLINE)
    explained, _ = explained_bytes(state)
    unexplained = np.maximum(dirs.size_bytes - dirs.usable_bytes - explained, 0)
    fixed = np.where(is_measured, unexplained, 0)
    left = np.maximum(fixed - _homeless_gone(case)[dirs.broker_idx], 0)
    return fixed + _located(case, case.before), left + _located(case, case.after)


def _located(case: Case, placed: Placed) -> IntArray:
    """Return ``(D,)`` bytes of the replicas known to end in each log dir."""
    place = ends_in(case, placed)
    size = replica_bytes(case.state, placed)
    is_known = np.not_equal(place, ABSENT)
    located = np.zeros(len(case.state.log_dirs), dtype=np.int64)
    np.add.at(located, place[is_known], size[is_known])
    return located


def ends_in(case: Case, placed: Placed) -> IntArray:
    """Return ``(R,)`` final log dir of each replica; ongoing moves complete."""
    replicas = case.state.replicas
    lay_in = np.append(replicas.log_dir_idx, ABSENT)[placed.from_idx]
    going_to = np.append(replicas.future_log_dir_idx, ABSENT)[placed.from_idx]
    # A log dir named by the plan overrides an ongoing move; "any" keeps the move.
    is_named = np.not_equal(placed.log_dir_idx, lay_in)
    arrives = ~is_named & np.not_equal(going_to, ABSENT)
    return np.where(arrives, going_to, placed.log_dir_idx).astype(np.int64)


def _homeless_gone(case: Case) -> IntArray:
    """Return ``(B,)`` bytes of the replicas that leave an unknown log dir."""
    before, after = case.before, case.after
    is_homeless = np.equal(ends_in(case, before), ABSENT)
    stays: BoolArray = np.zeros(len(is_homeless) + 1, dtype=np.bool_)
    stays[after.from_idx[np.equal(ends_in(case, after), ABSENT)]] = True
    is_gone = is_homeless & ~stays[:-1]
    gone = np.zeros(case.state.num_brokers, dtype=np.int64)
    size = replica_bytes(case.state, before)
    np.add.at(gone, before.broker_idx[is_gone], size[is_gone])
    return gone
