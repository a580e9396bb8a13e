"""What no log dir may hold."""

from collections.abc import Iterator

import numpy as np

from placement.check.capacity_rules import SLACK, amount
from placement.check.case import Case
from placement.check.finding import Finding, Where
from placement.check.loads import explained_bytes, replica_bytes
from placement.check.placed import BoolArray, Placed
from placement.check.target import Int64Array
from placement.cluster import ABSENT, UNKNOWN, LogDirState


def log_dir_capacity(case: Case) -> Iterator[Finding]:
    """
    Find log dirs that serve and hold more than the threshold of their disk.

    One that was over before and gets nothing more is existing. Copies whose log dir
    the broker picks weigh nothing here, so that what is over is over for certain.
    """
    dirs = case.state.log_dirs
    before, after = log_dir_loads(case)
    limit = dirs.size_bytes * case.settings.threshold_of("disk")
    is_judged = np.not_equal(dirs.size_bytes, UNKNOWN)
    is_judged &= np.equal(dirs.state, LogDirState.ONLINE)
    is_judged &= case.state.brokers.is_live[dirs.broker_idx]
    is_over = is_judged & (after > limit * (1 + SLACK))
    for row in np.flatnonzero(is_over).tolist():
        broker, path = case.broker_id(int(dirs.broker_idx[row])), dirs.paths[row]
        yield Finding(
            rule="log-dir-capacity",
            where=Where(broker=broker, log_dir=path, resource="disk"),
            message=f"log dir {path} of broker {broker}: "
            f"{amount('disk', after[row])} (before: {amount('disk', before[row])}) "
            f"is over {amount('disk', limit[row])}, "
            f"{case.settings.threshold_of('disk'):.4g} of its file system",
            existing=bool(after[row] <= before[row]),
        )


def log_dir_loads(case: Case) -> tuple[Int64Array, Int64Array]:
    """
    Return ``(D,)`` bytes on each log dir without and with the plan.

    What a file system holds besides replicas stays. Replicas whose log dir is not known
    may be what nothing else explains: those that leave are taken off it everywhere on
    their broker, which leaves the least that can be there.
    """
    state, dirs = case.state, case.state.log_dirs
    is_told = np.not_equal(dirs.size_bytes, UNKNOWN)
    is_told &= np.not_equal(dirs.usable_bytes, UNKNOWN)
    is_told &= np.not_equal(dirs.state, LogDirState.OFFLINE)
    explained, _ = explained_bytes(state)
    unexplained = np.maximum(dirs.size_bytes - dirs.usable_bytes - explained, 0)
    fixed = np.where(is_told, unexplained, 0)
    left = np.maximum(fixed - _homeless_gone(case)[dirs.broker_idx], 0)
    return fixed + _located(case, case.before), left + _located(case, case.after)


def _located(case: Case, placed: Placed) -> Int64Array:
    """Return ``(D,)`` bytes of the replicas that are known to end in each log dir."""
    place = ends_in(case, placed)
    size = replica_bytes(case.state, placed)
    is_known = np.not_equal(place, ABSENT)
    located = np.zeros(len(case.state.log_dirs), dtype=np.int64)
    np.add.at(located, place[is_known], size[is_known])
    return located


def ends_in(case: Case, placed: Placed) -> Int64Array:
    """Return ``(R,)`` the log dir each replica ends in; one under way arrives."""
    replicas = case.state.replicas
    lay_in = np.append(replicas.log_dir_idx, ABSENT)[placed.from_idx]
    going_to = np.append(replicas.future_log_dir_idx, ABSENT)[placed.from_idx]
    # A plan that names another log dir has its way; "any" leaves it as it is.
    is_told = np.not_equal(placed.log_dir_idx, lay_in)
    arrives = ~is_told & np.not_equal(going_to, ABSENT)
    return np.where(arrives, going_to, placed.log_dir_idx).astype(np.int64)


def _homeless_gone(case: Case) -> Int64Array:
    """Return ``(B,)`` bytes of replicas in an unknown place that leave it."""
    before, after = case.before, case.after
    is_homeless = np.equal(ends_in(case, before), ABSENT)
    stays: BoolArray = np.zeros(len(is_homeless) + 1, dtype=np.bool_)
    stays[after.from_idx[np.equal(ends_in(case, after), ABSENT)]] = True
    is_gone = is_homeless & ~stays[:-1]
    gone = np.zeros(case.state.num_brokers, dtype=np.int64)
    size = replica_bytes(case.state, before)
    np.add.at(gone, before.broker_idx[is_gone], size[is_gone])
    return gone
