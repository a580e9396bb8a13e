"""Changes of the replication factor, and replicas selected from others."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray, IndexArray, RowArray
from placement.cluster_changes.replica_filling import Filler, open_brokers
from placement.cluster_changes.variant import Data, Variant
from placement.model.cluster import ABSENT, UNKNOWN, ClusterState, Replicas
from placement.model.load import weigh


def chosen_replicas(
    state: ClusterState, rows: RowArray, start: RowArray, broker_idx: IndexArray
) -> Replicas:
    """
    Return replicas selected from the present ones by row; `ABSENT` rows are new.

    New replicas are in sync, as the result is the cluster after they have caught up.
    """
    old, is_new = state.replicas, np.equal(rows, ABSENT)

    def taken(column: npt.NDArray[Any], default: object) -> npt.NDArray[Any]:
        values = np.append(column, np.array([default], dtype=column.dtype))
        return values[rows]

    return Replicas(
        start=start,
        broker_idx=broker_idx.astype(np.int32),
        is_in_sync=taken(old.is_in_sync, False) | is_new,
        is_adding=taken(old.is_adding, False),
        is_removing=taken(old.is_removing, False),
        is_eligible=taken(old.is_eligible, False),
        is_last_known_eligible=taken(old.is_last_known_eligible, False),
        is_failed=taken(old.is_failed, False),
        log_dir_idx=taken(old.log_dir_idx, ABSENT),
        future_log_dir_idx=taken(old.future_log_dir_idx, ABSENT),
        own_bytes=taken(old.own_bytes, UNKNOWN),
    )


def set_replication_factor(variant: Variant, chosen: BoolArray, factor: int) -> Variant:
    """
    Change the replication factor of topics.

    Parameters
    ----------
    variant
        Cluster to change.
    chosen
        ``(T,)`` true for the topics to change.
    factor
        New replication factor. Partitions under reassignment keep their replicas, which
        a note states.

    Notes
    -----
    Replicas are removed in the order: on brokers that are not live, out of sync, in the
    fullest rack, last in the list. The leader is never removed; without a leader, the
    first replica is not. Replicas are added by
    `placement.cluster_changes.replica_filling`.
    """
    state = variant.state
    of_topic = chosen[state.partitions.topic_idx]
    changes = of_topic & ~state.is_reassigning
    if (of_topic & state.is_reassigning).any():
        count = int((of_topic & state.is_reassigning).sum())
        variant = variant.noting(
            f"{count} partitions are being reassigned and keep their replicas"
        )
    fewer = _with_fewer(variant, changes, factor)
    return _with_more(fewer, changes, factor)


def _with_fewer(variant: Variant, changes: BoolArray, factor: int) -> Variant:
    state = variant.state
    count = np.diff(state.replicas.start)
    drops = np.nonzero(changes & (count > factor))[0]
    if not len(drops):
        return variant
    keep = np.ones(len(state.replicas), dtype=np.bool_)
    for p in drops.tolist():
        keep[_dropped(state, p, factor)] = False
    rows = np.nonzero(keep)[0]
    kept = np.add.reduceat(keep, state.replicas.start[:-1])
    start = np.concatenate([[0], np.cumsum(kept)]).astype(np.int64)
    replicas = chosen_replicas(state, rows, start, state.replicas.broker_idx[rows])
    changed = replace(variant, data=variant.data[rows])
    return changed.weighing(replace(state, replicas=replicas))


def _dropped(state: ClusterState, p: int, factor: int) -> list[int]:
    """Return the replica rows to remove, so that racks stay as even as possible."""
    start, stop = state.replicas.start[p : p + 2].tolist()
    broker, leader = state.replicas.broker_idx, int(state.partitions.leader_idx[p])
    is_live, racks = state.brokers.is_live, state.brokers.rack_idx
    left, gone = list(range(start, stop)), []
    first = start if leader == ABSENT else ABSENT
    while len(left) > factor:
        in_rack = np.bincount(racks[broker[left]], minlength=state.num_racks)
        row = max(
            (r for r in left if broker[r] != leader and r != first),
            key=lambda r: (
                not is_live[broker[r]],
                not state.replicas.is_in_sync[r],
                int(in_rack[racks[broker[r]]]),
                r,
            ),
        )
        left.remove(row)
        gone.append(row)
    return gone


def _with_more(variant: Variant, changes: BoolArray, factor: int) -> Variant:
    state = variant.state
    grown = replace(variant, state=state)
    need = np.where(changes, np.maximum(factor - np.diff(state.replicas.start), 0), 0)
    if not need.any():
        return grown
    filler = Filler(state, open_brokers(state, variant.leaving))
    weights = weigh(state)
    rows, broker, short = [], [], 0
    start = state.replicas.start.tolist()
    lists = state.replicas.broker_idx
    ends = np.cumsum(np.diff(state.replicas.start) + need)
    for p in np.nonzero(need)[0].tolist():
        held = lists[start[p] : start[p + 1]]
        for _ in range(int(need[p])):
            row = filler.place(held, weights.replica[p])
            if row < 0:
                short += 1
                break
            held = np.append(held, row).astype(np.int32)
            rows.append(p)
            broker.append(row)
    return _appended(
        grown, np.array(rows, np.int64), np.array(broker, np.int32), short, len(ends)
    )


def _appended(
    variant: Variant, of: RowArray, broker: IndexArray, short: int, count: int
) -> Variant:
    """Append new replicas to the lists of their partitions."""
    state = variant.state
    old = np.repeat(np.arange(count), np.diff(state.replicas.start))
    all_of = np.concatenate([old, of])
    source = np.concatenate([np.arange(len(old)), np.full(len(of), ABSENT)])
    lies = np.concatenate([state.replicas.broker_idx, broker])
    order = np.argsort(all_of, kind="stable")
    sizes = np.bincount(all_of, minlength=count)
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    replicas = chosen_replicas(state, source[order], start, lies[order])
    data = np.append(variant.data, np.int8(Data.COPIED))[source[order]]
    changed = replace(variant, data=data.astype(np.int8))
    if short:
        changed = changed.noting(
            f"{short} partitions find no broker for one more replica"
        )
    return changed.weighing(replace(state, replicas=replicas))
