"""Broker, log dir and leadership of every replica, without and with the plan."""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray, IntArray
from placement.check.case.target_placement import Target
from placement.model.cluster import ABSENT, BrokerState, ClusterState, LogDirState


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False, kw_only=True)
class Placed:
    """
    One placement of all partitions, as compressed rows.

    Parameters
    ----------
    start
        ``(P + 1,)`` index of the first replica of each partition.
    partition_idx, broker_idx
        ``(R,)`` partition and broker of each replica.
    from_idx
        ``(R,)`` index of the same replica before the plan; `ABSENT`: a new copy.
    log_dir_idx
        ``(R,)`` log dir of each replica; `ABSENT` where unknown.
    is_leader
        ``(R,)`` true for the first live replica of each partition.
    replication_factor
        ``(P,)`` number of replicas of each partition, without those still being added.
    """

    start: IntArray
    partition_idx: IntArray
    broker_idx: IntArray
    from_idx: IntArray
    log_dir_idx: IntArray
    is_leader: BoolArray
    replication_factor: IntArray


_before: WeakKeyDictionary[ClusterState, Placed] = WeakKeyDictionary()


def placed_before(state: ClusterState) -> Placed:
    """
    Return the placement before the plan, led by the first live replica as after it.

    The result is cached per cluster.
    """
    if state not in _before:
        _before[state] = _placed_now(state)
    return _before[state]


def _placed_now(state: ClusterState) -> Placed:
    start = state.replicas.start
    broker_idx = state.replicas.broker_idx.astype(np.int64)
    return Placed(
        start=start,
        partition_idx=_partition_of(start),
        broker_idx=broker_idx,
        from_idx=np.arange(len(broker_idx)),
        log_dir_idx=state.replicas.log_dir_idx.astype(np.int64),
        is_leader=_first(serves(state), start),
        replication_factor=state.replication_factor,
    )


def placed_after(
    state: ClusterState,
    target: Target,
    entry_of: IntArray,
    slot_broker: IntArray,
    slot_dir: IntArray,
) -> Placed:
    """
    Return the placement after the plan.

    Parameters
    ----------
    entry_of
        ``(P,)`` entry of `target` that applies to each partition, or `ABSENT`.
    slot_broker, slot_dir
        ``(M,)`` row of the broker and of the log dir of each replica in `target`;
        `ABSENT` where none has that name, or any log dir is allowed.
    """
    num_before = len(state.replicas)
    is_touched = np.not_equal(entry_of, ABSENT)
    counts = np.where(
        is_touched, _lengths(target.start, entry_of), np.diff(state.replicas.start)
    )
    start = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=start[1:])
    # First row of each list in the rows of the cluster followed by those of the target.
    first = np.where(
        is_touched,
        num_before + target.start[np.maximum(entry_of, 0)],
        state.replicas.start[:-1],
    )
    row = np.repeat(first - start[:-1], counts) + np.arange(start[-1])
    partition_idx = _partition_of(start)
    broker_idx = np.concatenate([state.replicas.broker_idx, slot_broker])[row]
    from_idx = _find_before(state, partition_idx, broker_idx)
    stays_in = _take(state.replicas.log_dir_idx, from_idx)
    named = np.concatenate([np.full(num_before, ABSENT), slot_dir])[row]
    is_live = state.brokers.is_live[broker_idx]
    stays_offline = np.append(~serves(state), False)[from_idx]
    return Placed(
        start=start,
        partition_idx=partition_idx,
        broker_idx=broker_idx,
        from_idx=from_idx,
        log_dir_idx=np.where(np.equal(named, ABSENT), stays_in, named),
        is_leader=_first(is_live & ~stays_offline, start),
        replication_factor=np.where(is_touched, counts, state.replication_factor),
    )


def _partition_of(start: IntArray) -> IntArray:
    return np.repeat(np.arange(len(start) - 1), np.diff(start))


def _lengths(start: IntArray, entry_of: IntArray) -> IntArray:
    # The extra last row gives ABSENT (index -1) the length 0.
    lengths = np.append(np.diff(start), 0)
    found: IntArray = lengths[entry_of]
    return found


def _take(column: npt.NDArray[np.int32], rows: IntArray) -> IntArray:
    taken: IntArray = np.append(column, ABSENT).astype(np.int64)[rows]
    return taken


def _find_before(
    state: ClusterState, partition_idx: IntArray, broker_idx: IntArray
) -> IntArray:
    """Return the replica of the same partition and broker before, or `ABSENT`."""
    if not len(state.replicas):
        return np.full(len(partition_idx), ABSENT, dtype=np.int64)
    width = state.num_brokers
    before = _partition_of(state.replicas.start) * width + state.replicas.broker_idx
    order = np.argsort(before, kind="stable")
    wanted = partition_idx * width + broker_idx
    spot = np.searchsorted(before[order], wanted)
    row = order[np.minimum(spot, len(order) - 1)]
    return np.where(np.equal(before[row], wanted), row, ABSENT)


def serves(state: ClusterState) -> BoolArray:
    """Return ``(R,)`` true for replicas that serve: live broker, no failed log dir."""
    live = (BrokerState.ALIVE, BrokerState.NEW, BrokerState.DEMOTED)
    on_live = np.isin(state.brokers.state, live)[state.replicas.broker_idx]
    failed = np.append(np.equal(state.log_dirs.state, LogDirState.OFFLINE), False)
    in_failed = failed[state.replicas.log_dir_idx] & np.not_equal(
        state.replicas.log_dir_idx, ABSENT
    )
    found: BoolArray = on_live & ~in_failed & ~state.replicas.is_failed
    return found


def _first(is_able: BoolArray, start: IntArray) -> BoolArray:
    """Return ``(R,)`` true for the first replica of each partition able to lead."""
    rows = np.flatnonzero(is_able)
    partition = _partition_of(start)[rows]
    is_first = np.append(True, np.not_equal(partition[1:], partition[:-1]))
    is_leader = np.zeros(len(is_able), dtype=np.bool_)
    is_leader[rows[is_first[: len(rows)]]] = True
    return is_leader
