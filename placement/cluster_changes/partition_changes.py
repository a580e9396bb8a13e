"""Additional partitions, merged in order with the existing ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray
from placement.cluster_changes.factor_changes import chosen_replicas
from placement.cluster_changes.load_changes import scaled_sizes
from placement.cluster_changes.replica_filling import (
    Filler,
    leader_weights,
    open_brokers,
)
from placement.cluster_changes.variant import Data, Variant
from placement.model.cluster import ABSENT, UNKNOWN, ClusterState, Partitions
from placement.model.load import Weights, weigh


def set_partitions(variant: Variant, counts: Mapping[int, int]) -> Variant:
    """
    Add partitions to topics, with the replication factor of the first partition.

    Parameters
    ----------
    variant
        Cluster to change.
    counts
        New number of partitions by topic row; not fewer than now.

    Notes
    -----
    The total load of a topic stays the same. The load of each existing partition
    shrinks by the ratio of the old to the new number of partitions, and each new
    partition has the mean load of these, as after the old data is deleted.
    """
    state = variant.state
    of = state.partitions.topic_idx
    now = np.bincount(of, minlength=len(state.topics))
    scaled = np.ones(len(state.topics))
    more = {t: n - int(now[t]) for t, n in counts.items() if n > now[t]}
    for t in more:
        scaled[t] = now[t] / counts[t]
    ratio = scaled[of]
    columns = {
        name: getattr(state.partitions, name) * ratio
        for name in (
            *("in_bytes_per_s", "out_bytes_per_s"),
            *("leader_cpu_cores", "follower_cpu_cores"),
        )
    }
    thinner = replace(state, partitions=replace(state.partitions, **columns))
    thinner = scaled_sizes(thinner, ratio)
    added = [
        part
        for t, count in sorted(more.items())
        for part in _more_of(thinner, t, count)
    ]
    return with_partitions(variant.weighing(thinner), added)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPartition:
    """Partition that does not exist yet."""

    topic_idx: int
    partition: int
    factor: int
    columns: Mapping[str, float]


MEASURED = (
    "size_bytes",
    "remote_bytes",
    "in_bytes_per_s",
    "out_bytes_per_s",
    "leader_cpu_cores",
    "follower_cpu_cores",
)


def _more_of(state: ClusterState, topic: int, count: int) -> list[NewPartition]:
    """Return new partitions with the mean load of their topic's partitions."""
    partitions = state.partitions
    rows = np.nonzero(np.equal(partitions.topic_idx, topic))[0]
    means = {name: float(np.mean(getattr(partitions, name)[rows])) for name in MEASURED}
    for name in ("size_bytes", "remote_bytes"):
        if (getattr(partitions, name)[rows] == UNKNOWN).any():
            means[name] = UNKNOWN
    first = int(partitions.partition[rows].max()) + 1
    return [
        NewPartition(
            topic_idx=topic,
            partition=number,
            factor=int(state.replication_factor[rows[0]]),
            columns=means,
        )
        for number in range(first, first + count)
    ]


def with_partitions(variant: Variant, added: Sequence[NewPartition]) -> Variant:
    """Add partitions, and choose the brokers of their replicas."""
    if not added:
        return variant
    state = variant.state
    open_ = open_brokers(state, variant.leaving)
    filler = Filler(state, open_)
    grown = _partition_columns(state, added)
    weights = weigh(_with_stand_ins(state, grown, added, open_))
    lists = [
        _places(filler, weights, len(state.partitions) + n, each.factor)
        for n, each in enumerate(added)
    ]
    short = sum(len(row) < each.factor for row, each in zip(lists, added, strict=True))
    if short:
        variant = variant.noting(
            f"{short} new partitions find fewer brokers than their replication factor"
        )
    return _joined(variant, grown, lists)


def _partition_columns(
    state: ClusterState, added: Sequence[NewPartition]
) -> Partitions:
    """Return the partitions, old ones first, then new ones."""
    old = state.partitions

    def grown(name: str, values: Sequence[float]) -> npt.NDArray[Any]:
        column = getattr(old, name)
        more = np.array(values)
        if column.dtype.kind == "i":
            more = np.rint(more)
        return np.concatenate([column, more.astype(column.dtype)])

    columns = {
        name: grown(name, [each.columns[name] for each in added]) for name in MEASURED
    }
    return Partitions(
        topic_idx=grown("topic_idx", [each.topic_idx for each in added]),
        partition=grown("partition", [each.partition for each in added]),
        leader_idx=grown("leader_idx", [ABSENT] * len(added)),
        **columns,
    )


def _with_stand_ins(
    state: ClusterState,
    partitions: Partitions,
    added: Sequence[NewPartition],
    open_: BoolArray,
) -> ClusterState:
    """Return a cluster with provisional replicas, to weigh new partitions by."""
    rows = np.nonzero(open_)[0]
    lists = [rows[: max(min(each.factor, len(rows)), 1)] for each in added]
    return _raw(state, partitions, [row.tolist() for row in lists])


def _places(filler: Filler, weights: Weights, p: int, factor: int) -> list[int]:
    held: list[int] = []
    for n in range(factor):
        weight = weights.replica[p] if n else leader_weights(weights, p)
        row = filler.place(np.array(held, dtype=np.int32), weight)
        if row < 0:
            break
        held.append(row)
    return held


def _raw(
    state: ClusterState, partitions: Partitions, lists: Sequence[Sequence[int]]
) -> ClusterState:
    """Return the cluster with the new partitions merged in order."""
    count, old_count = len(partitions), len(state.partitions)
    order = np.lexsort((partitions.partition, partitions.topic_idx))
    columns = {
        name: getattr(partitions, name)[order]
        for name in ("topic_idx", "partition", "leader_idx", *MEASURED)
    }
    of = np.concatenate(
        [
            state.replicas.partition_idx,
            np.repeat(np.arange(old_count, count), [len(row) for row in lists]),
        ]
    )
    new = [b for row in lists for b in row]
    source = np.concatenate([np.arange(len(state.replicas)), np.full(len(new), ABSENT)])
    lies = np.concatenate([state.replicas.broker_idx, np.array(new, dtype=np.int32)])
    place = np.argsort(order, kind="stable")[of]
    rows = np.argsort(place, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(place, minlength=count))])
    replicas = chosen_replicas(state, source[rows], start.astype(np.int64), lies[rows])
    return replace(state, partitions=Partitions(**columns), replicas=replicas)


def _joined(
    variant: Variant, partitions: Partitions, lists: Sequence[Sequence[int]]
) -> Variant:
    state, old_count = variant.state, len(variant.state.partitions)
    leader = partitions.leader_idx.copy()
    leader[old_count:] = [row[0] if row else ABSENT for row in lists]
    changed = _raw(state, replace(partitions, leader_idx=leader), lists)
    # Rows of old replicas keep their order, so their data codes fit.
    is_new = np.zeros(len(partitions), dtype=np.bool_)
    is_new[old_count:] = True
    order = np.lexsort((partitions.partition, partitions.topic_idx))
    data = np.full(len(changed.replicas), Data.EMPTY, dtype=np.int8)
    data[~is_new[order][changed.replicas.partition_idx]] = variant.data
    return replace(variant, data=data).weighing(changed)
