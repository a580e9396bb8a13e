r"""
Log dirs that brokers choose for copies without a named log dir.

Kafka puts a new replica into the log dir with the fewest partitions, whatever their
size (`LogManager.nextLogDirs`). Current and future replicas count, and offline and
cordoned log dirs are left out. A broker with one live log dir uses that one, and a
broker whose live log dirs are all cordoned uses the first of them. Ties are broken by
the order of `log.dirs`, which no snapshot has.

The sequence of log dirs depends on the counts alone, never on the order of the copies.
Log dir ``d`` therefore gets its ``k``-th copy only after every other log dir ``o``
holds at least as many partitions, which takes

.. math:: k + \sum_{o \ne d} \max(0, low_d + k - 1 - high_o) \le n

of the ``n`` copies that come to the broker. The largest such ``k`` bounds the copies of
``d`` for every order of creation, every tie-break and every removal meanwhile, where
``low`` counts the partitions that stay and ``high`` those present at any time. Any
``k`` of the copies may enter ``d``, so the largest ``k`` copies bound their bytes.
"""

from dataclasses import dataclass

import numpy as np

from placement.array_types import BoolArray, RowArray
from placement.model.cluster import ABSENT, ClusterState, LogDirs, LogDirState


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DirCounts:
    """
    Number of partitions in the log dirs of a cluster while copies arrive.

    Parameters
    ----------
    low, high
        ``(D,)`` least and greatest number of partitions in each log dir, without copies
        that name no log dir.
    is_candidate
        ``(D,)`` log dirs that a broker may choose.
    """

    low: RowArray
    high: RowArray
    is_candidate: BoolArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DirChoice:
    """
    Bounds on the copies without a named log dir that may enter each log dir.

    Parameters
    ----------
    most
        ``(D,)`` maximum number of copies.
    most_bytes
        ``(D,)`` maximum bytes: the sum of the largest copies of the broker.
    certain_dir
        ``(C,)`` row of the log dir that each copy enters in every order; `ABSENT` if
        that depends on the order.
    """

    most: RowArray
    most_bytes: RowArray
    certain_dir: RowArray


def candidates(state: ClusterState) -> BoolArray:
    """
    Return ``(D,)`` log dirs that brokers may choose for a new replica.

    Parameters
    ----------
    state
        The cluster.
    """
    dirs = state.log_dirs
    is_live = np.not_equal(dirs.state, LogDirState.OFFLINE)
    is_live &= state.brokers.is_live[dirs.broker_idx]
    is_open = is_live & np.not_equal(dirs.state, LogDirState.CORDONED)
    has_open = _per_broker(dirs, is_open, state.num_brokers) > 0
    is_single = _per_broker(dirs, is_live, state.num_brokers) == 1
    takes_any_live = (is_single | ~has_open)[dirs.broker_idx]
    found: BoolArray = is_open | (is_live & takes_any_live)
    return found


def choose_dirs(
    state: ClusterState, counts: DirCounts, broker_idx: RowArray, size: RowArray
) -> DirChoice:
    """
    Bound the copies, and their bytes, that each log dir may get.

    Parameters
    ----------
    state
        The cluster.
    counts
        Number of partitions in its log dirs.
    broker_idx, size
        ``(C,)`` broker and bytes of each copy without a named log dir.
    """
    num_dirs = len(state.log_dirs)
    most, most_bytes = (np.zeros(num_dirs, dtype=np.int64) for _ in range(2))
    certain = np.full(len(broker_idx), ABSENT, dtype=np.int64)
    order = np.lexsort((-size, broker_idx))
    ends = np.searchsorted(broker_idx[order], np.arange(state.num_brokers + 1))
    rows_of = _rows_by_broker(state.log_dirs, counts.is_candidate, state.num_brokers)
    for broker in np.unique(broker_idx).tolist():
        copies, dirs = order[ends[broker] : ends[broker + 1]], rows_of[broker]
        is_forced = bool((state.log_dirs.state[dirs] == LogDirState.CORDONED).any())
        low, high = counts.low[dirs], counts.high[dirs]
        arrivals = (
            np.full(len(dirs), len(copies), dtype=np.int64)
            if is_forced
            else most_arrivals(low, high, len(copies))
        )
        most[dirs] = arrivals
        total = np.concatenate([[0], np.cumsum(size[copies])]).astype(np.int64)
        most_bytes[dirs] = total[arrivals]
        taken = np.nonzero(arrivals)[0]
        if len(taken) == 1:
            certain[copies] = dirs[taken[0]]
    return DirChoice(most=most, most_bytes=most_bytes, certain_dir=certain)


def most_arrivals(low: RowArray, high: RowArray, num_copies: int) -> RowArray:
    """
    Return ``(N,)`` the maximum number of copies that each log dir may get.

    Parameters
    ----------
    low, high
        ``(N,)`` least and greatest number of partitions in each log dir of one broker.
    num_copies
        Number of copies that come to the broker.

    Examples
    --------
    >>> most_arrivals(np.array([1, 10]), np.array([1, 10]), 4).tolist()
    [4, 0]
    """
    others = np.where(np.eye(len(low), dtype=np.bool_), np.int64(2**62), high[None, :])
    least, most = np.zeros(len(low), np.int64), np.full(len(low), num_copies, np.int64)
    while (least < most).any():
        tried = (least + most + 1) // 2
        level = (low + tried - 1)[:, None]
        needed = tried + np.maximum(level - others, 0).sum(axis=1)
        fits = needed <= num_copies
        least, most = np.where(fits, tried, least), np.where(fits, most, tried - 1)
    return least


def _per_broker(dirs: LogDirs, chosen: BoolArray, count: int) -> RowArray:
    """Return ``(B,)`` number of chosen log dirs of each broker."""
    return np.bincount(dirs.broker_idx[chosen], minlength=count).astype(np.int64)


def _rows_by_broker(dirs: LogDirs, chosen: BoolArray, count: int) -> list[RowArray]:
    """Return the chosen log dirs of each broker."""
    rows = np.nonzero(chosen)[0]
    rows = rows[np.argsort(dirs.broker_idx[rows], kind="stable")]
    ends = np.searchsorted(dirs.broker_idx[rows], np.arange(count + 1))
    return [rows[ends[b] : ends[b + 1]] for b in range(count)]
