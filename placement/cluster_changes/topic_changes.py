"""Additions and deletions of topics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from placement.array_types import BoolArray
from placement.cluster_changes.factor_changes import chosen_replicas
from placement.cluster_changes.partition_changes import (
    MEASURED,
    NewPartition,
    with_partitions,
)
from placement.cluster_changes.variant import Variant
from placement.model.cluster import UNKNOWN, Partitions, Storage, Topics


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTopic:
    """
    New topic, with its loads once it is full.

    Parameters
    ----------
    name
        Name of the topic, which no topic has.
    partitions, replication_factor
        Number of partitions, and of replicas of each. At least 1.
    in_bytes_per_s, out_bytes_per_s
        Bytes/s of the whole topic, or NaN: unknown.
    size_bytes
        Bytes of one copy of the whole topic, or `UNKNOWN`.
    leader_cpu_cores, follower_cpu_cores
        Cores of all leaders, and of one follower of every partition, or NaN: unknown.
    configs
        Configs that differ from the default.
    """

    name: str
    partitions: int
    replication_factor: int
    in_bytes_per_s: float = np.nan
    out_bytes_per_s: float = np.nan
    size_bytes: int = UNKNOWN
    leader_cpu_cores: float = np.nan
    follower_cpu_cores: float = np.nan
    min_insync_replicas: int = 1
    configs: Mapping[str, str] | None = None


def add_topics(variant: Variant, topics: Sequence[NewTopic]) -> Variant:
    """Add topics, each with its load spread evenly over its partitions."""
    state = variant.state
    names = sorted([*state.topics.names, *(topic.name for topic in topics)])
    row_of = {name: row for row, name in enumerate(names)}
    old_row = np.array([row_of[name] for name in state.topics.names], dtype=np.int32)
    known = {topic.name: topic for topic in topics}
    columns = _topic_columns(state.topics, names, known)
    of = old_row[state.partitions.topic_idx] if len(old_row) else old_row
    moved = replace(
        state,
        topics=columns,
        partitions=replace(state.partitions, topic_idx=of),
    )
    added = [
        NewPartition(
            topic_idx=row_of[topic.name],
            partition=number,
            factor=topic.replication_factor,
            columns=_even_part(topic),
        )
        for topic in sorted(topics, key=lambda each: each.name)
        for number in range(topic.partitions)
    ]
    return with_partitions(replace(variant, state=moved), added)


def _even_part(topic: NewTopic) -> dict[str, float]:
    parts = {
        name: getattr(topic, name) / topic.partitions
        for name in MEASURED
        if name not in {"size_bytes", "remote_bytes"}
    }
    size = topic.size_bytes
    parts["size_bytes"] = size if size == UNKNOWN else size / topic.partitions
    parts["remote_bytes"] = UNKNOWN
    return parts


def _topic_columns(
    old: Topics, names: Sequence[str], added: Mapping[str, NewTopic]
) -> Topics:
    row_of = {name: row for row, name in enumerate(old.names)}

    def pick(values: Sequence[Any], name: str, fresh: Any) -> Any:  # noqa: ANN401
        return fresh if name in added else values[row_of[name]]

    return Topics(
        names=tuple(names),
        topic_ids=tuple(pick(old.topic_ids, name, None) for name in names),
        storage=np.array(
            [pick(old.storage.tolist(), name, Storage.LOCAL) for name in names], np.int8
        ),
        min_insync_replicas=np.array(
            [
                pick(
                    old.min_insync_replicas.tolist(),
                    name,
                    added[name].min_insync_replicas if name in added else 1,
                )
                for name in names
            ],
            np.int32,
        ),
        configs=tuple(
            pick(
                old.configs,
                name,
                dict(added[name].configs or {}) if name in added else {},
            )
            for name in names
        ),
    )


def remove_topics(variant: Variant, chosen: BoolArray) -> Variant:
    """Delete the chosen topics, ``(T,)``, with their partitions."""
    state = variant.state
    keeps = ~chosen
    stays = keeps[state.partitions.topic_idx]
    rows = np.nonzero(stays[state.replicas.partition_idx])[0]
    counts = np.diff(state.replicas.start)[stays]
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    new_row = np.cumsum(keeps) - 1
    columns = {
        name: getattr(state.partitions, name)[stays]
        for name in ("partition", "leader_idx", *MEASURED)
    }
    kept = np.nonzero(keeps)[0].tolist()
    topics = Topics(
        names=tuple(state.topics.names[t] for t in kept),
        topic_ids=tuple(state.topics.topic_ids[t] for t in kept),
        storage=state.topics.storage[keeps],
        min_insync_replicas=state.topics.min_insync_replicas[keeps],
        configs=tuple(state.topics.configs[t] for t in kept),
    )
    changed = replace(
        state,
        topics=topics,
        partitions=Partitions(
            topic_idx=new_row[state.partitions.topic_idx[stays]].astype(np.int32),
            **columns,
        ),
        replicas=chosen_replicas(state, rows, start, state.replicas.broker_idx[rows]),
    )
    return replace(variant, data=variant.data[rows]).weighing(changed)
