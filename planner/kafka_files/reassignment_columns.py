"""
Lists of many partitions as columns: a reassignment may have a hundred thousand.

`planner.kafka_files.reassignment_file` has them as entries, for files that are
read.
"""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from placement.array_types import RowArray
from placement.check.case.target_placement import Target
from placement.model.cluster import ABSENT, ClusterState
from planner.kafka_files.reassignment_file import ANY, LogDirs, ReassignmentFile
from planner.text.text_columns import (
    Column,
    lists_joined,
    numerals,
    picked,
    side_by_side,
    taken,
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Listing:
    """
    Replica lists of ``N`` partitions, ``M`` replicas in all.

    Parameters
    ----------
    topics
        Names of all topics of the cluster.
    topic_idx, partitions
        ``(N,)`` topic row of each entry, and Kafka's partition number.
    start
        ``(N + 1,)`` replicas of entry ``e`` are rows ``start[e]:start[e + 1]``.
    broker_ids
        ``(M,)`` broker ids, preferred leader first.
    paths
        Log dirs of the cluster.
    log_dir_idx
        ``(M,)`` row of `paths`, -1: any; `None`: no entry names one.
    """

    topics: tuple[str, ...]
    topic_idx: RowArray
    partitions: RowArray
    start: RowArray
    broker_ids: RowArray
    paths: tuple[str, ...]
    log_dir_idx: RowArray | None

    def __len__(self) -> int:
        return len(self.partitions)

    def texts(self) -> Column:
        """Return the JSON text of each entry, sorted by topic and number."""
        heads = [f'{{"topic":{_quoted(name)},"partition":' for name in self.topics]
        texts = side_by_side(
            picked(heads, self.topic_idx),
            numerals(self.partitions),
            ',"replicas":[',
            lists_joined(self.start, numerals(self.broker_ids)),
            '],"log_dirs":[',
            lists_joined(self.start, self._dir_texts()),
            "]}",
        )
        return taken(texts, self._order())

    def _order(self) -> RowArray:
        names = sorted(range(len(self.topics)), key=self.topics.__getitem__)
        rank = np.empty(len(names), dtype=np.int64)
        rank[names] = np.arange(len(names))
        return np.lexsort((self.partitions, rank[self.topic_idx]))

    def _dir_texts(self) -> Column:
        # Row -1 means any, which is the last text.
        texts = [_quoted(path) for path in (*self.paths, ANY)]
        anywhere = np.full(len(self.broker_ids), ABSENT)
        rows = anywhere if self.log_dir_idx is None else self.log_dir_idx
        return picked(texts, rows)

    def to_file(self) -> ReassignmentFile:
        """Return the lists as entries."""
        spans = [*map(slice, self.start[:-1].tolist(), self.start[1:].tolist())]
        ids, names = self.broker_ids.tolist(), self.topics
        return ReassignmentFile(
            topics=tuple([names[topic] for topic in self.topic_idx.tolist()]),
            partitions=tuple(self.partitions.tolist()),
            replicas=tuple([tuple(ids[span]) for span in spans]),
            log_dirs=self._dirs_by_entry(spans),
        )

    def _dirs_by_entry(self, spans: list[slice]) -> tuple[LogDirs | None, ...]:
        if self.log_dir_idx is None:
            return (None,) * len(self)
        paths = (*self.paths, None)
        named = [paths[d] for d in self.log_dir_idx.tolist()]
        return tuple([tuple(named[span]) for span in spans])

    def to_target(self) -> Target:
        """Return the lists in the form of the checker."""
        paths, names = (*self.paths, None), self.topics
        rows = self.log_dir_idx
        return Target(
            topics=tuple([names[topic] for topic in self.topic_idx.tolist()]),
            partitions=self.partitions,
            start=self.start,
            broker_ids=self.broker_ids,
            log_dirs=None
            if rows is None or np.all(rows == ABSENT)
            else tuple([paths[d] for d in rows.tolist()]),
        )


def listing(
    state: ClusterState,
    chosen: RowArray,
    broker_idx: npt.NDArray[np.int32],
    *,
    start: RowArray,
    log_dir_idx: npt.NDArray[Any] | None = None,
) -> Listing:
    """
    Return the lists of the chosen partitions.

    Parameters
    ----------
    state
        The cluster.
    chosen
        Rows of the partitions.
    broker_idx, log_dir_idx
        Broker row and log dir row in each slot of the lists; `None`: no log dirs.
    start
        ``(P + 1,)`` start of each list.
    """
    sizes = (start[1:] - start[:-1])[chosen]
    starts = np.concatenate(([0], np.cumsum(sizes)))
    # Slots of a list are consecutive: its first slot plus the offset within it.
    slots = np.repeat(start[:-1][chosen] - starts[:-1], sizes) + np.arange(starts[-1])
    return Listing(
        topics=state.topics.names,
        topic_idx=state.partitions.topic_idx[chosen].astype(np.int64),
        partitions=state.partitions.partition[chosen].astype(np.int64),
        start=starts,
        broker_ids=state.brokers.ids[broker_idx[slots]].astype(np.int64),
        paths=state.log_dirs.paths,
        log_dir_idx=None if log_dir_idx is None else log_dir_idx[slots],
    )


def listing_now(state: ClusterState, chosen: RowArray) -> Listing:
    """Return the lists of the chosen partitions as they are, with their log dirs."""
    replicas = state.replicas
    return listing(
        state,
        chosen,
        replicas.broker_idx,
        start=replicas.start,
        log_dir_idx=replicas.log_dir_idx,
    )


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
