"""Log dir and size of each replica: outputs on log dirs joined to partitions."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from placement.array_types import BoolArray, IntArray
from planner.errors import InputProblem
from planner.snapshot.importers.inputs.import_source import ReplicaColumns, Source
from planner.snapshot.importers.merging.ledger import (
    Origin,
    PartitionLedger,
    contradiction,
)

_NONE = -1
_WIDTH = np.int64(1) << 31
Paths = npt.NDArray[np.object_]


@dataclass(slots=True)
class StrayReplicas:
    """
    Contents of log dirs that belong to no replica.

    Parameters
    ----------
    unknown_names
        ``topic-partition`` of partitions that no metadata lists.
    num_stray, stray_bytes
        Number and bytes of copies on brokers that hold no replica of the partition.
    """

    unknown_partitions: list[str] = field(default_factory=list)
    num_stray: int = 0
    stray_bytes: int = 0


class ReplicaDirs:
    """
    Log dir and bytes of every replica, by slot of the lists of partitions.

    Parameters
    ----------
    ledger
        The partitions; their replicas are final.
    """

    def __init__(self, ledger: PartitionLedger) -> None:
        self.ledger = ledger
        lists = ledger.column("replicas")
        lengths = np.array([len(ids) for ids in lists], dtype=np.int64)
        self.start: IntArray = np.concatenate([[0], np.cumsum(lengths)])
        flat = [broker for ids in lists for broker in ids]
        self.broker: IntArray = np.array(flat, dtype=np.int64)
        self.row: IntArray = np.repeat(np.arange(len(lists)), lengths)
        self.paths: Paths = np.full(len(flat), None, dtype=object)
        self.future_paths: Paths = np.full(len(flat), None, dtype=object)
        self.size_bytes: IntArray = np.full(len(flat), _NONE, dtype=np.int64)
        self.problems: list[InputProblem] = []
        self.strays = StrayReplicas()
        key = self.row * _WIDTH + self.broker
        self._order = np.argsort(key, kind="stable")
        self._key = key[self._order]
        self._sources: list[Source] = []
        self._source_idx: IntArray = np.full(len(flat), _NONE, dtype=np.int64)
        self._set_listed_paths()

    def _set_listed_paths(self) -> None:
        """Set the log dirs that placement files name themselves."""
        for row, paths in enumerate(self.ledger.columns.get("log_dirs", ())):
            low, high = int(self.start[row]), int(self.start[row + 1])
            if paths is not None and len(paths) == high - low:
                self.paths[low:high] = paths

    def add(self, source: Source, replicas: ReplicaColumns) -> None:
        """Add the log dirs of replicas from a source."""
        self._sources.append(source)
        row = self._rows_of(replicas.names)
        broker = np.array(replicas.brokers, dtype=np.int64)
        slot = self._slots_of(row, broker)
        size = np.array(replicas.size_bytes, dtype=np.int64)
        is_future = np.array(replicas.is_future, dtype=bool)
        is_left = np.less(slot, 0) & (row >= 0)
        self.strays.num_stray += int(is_left.sum())
        self.strays.stray_bytes += int(size[is_left].sum())
        self._refuse_duplicates(source, replicas, slot, is_future)
        self._set_paths(replicas, slot, ~is_future, self.paths)
        self._set_paths(replicas, slot, is_future, self.future_paths)
        is_current = (slot >= 0) & ~is_future
        self.size_bytes[slot[is_current]] = size[is_current]

    def _rows_of(self, names: Sequence[str]) -> IntArray:
        """Return the partition of each replica; each distinct name is parsed once."""
        encoded = pa.array(names, pa.string()).dictionary_encode()
        rows = []
        for name in encoded.dictionary.to_pylist():
            # A topic may hold hyphens too.
            topic, _, partition = name.rpartition("-")
            row = self.ledger.row_of.get((topic, int(partition)), _NONE)
            if row == _NONE:
                self.strays.unknown_partitions.append(name)
            rows.append(row)
        codes = encoded.indices.to_numpy(zero_copy_only=False)
        found: IntArray = np.array([*rows, _NONE], dtype=np.int64)[codes]
        return found

    def _slots_of(self, row: IntArray, broker: IntArray) -> IntArray:
        if not len(self._key):
            return np.full(len(row), _NONE, dtype=np.int64)
        key = row * _WIDTH + broker
        at = np.minimum(np.searchsorted(self._key, key), len(self._key) - 1)
        slot: IntArray = np.where(
            np.equal(self._key[at], key) & (row >= 0), self._order[at], _NONE
        )
        return slot

    def _refuse_duplicates(
        self,
        source: Source,
        replicas: ReplicaColumns,
        slot: IntArray,
        is_future: BoolArray,
    ) -> None:
        rows = np.flatnonzero((slot >= 0) & ~is_future)
        if not np.any(np.bincount(slot[rows]) > 1):
            return
        _, first = np.unique(slot[rows], return_index=True)
        for at in np.setdiff1d(np.arange(len(rows)), first).tolist():
            name, broker = replicas.names[rows[at]], replicas.brokers[rows[at]]
            rule = f"{name} must be in one log dir of broker {broker}, not in two"
            self.problems.append(
                InputProblem(
                    file=source.file,
                    place=f"broker {broker}",
                    value="",
                    rule=rule,
                    remedy="two outputs were joined: take the output again",
                )
            )

    def _set_paths(
        self, replicas: ReplicaColumns, slot: IntArray, mask: BoolArray, paths: Paths
    ) -> None:
        rows = np.flatnonzero((slot >= 0) & mask)
        here = slot[rows]
        listed = np.array(replicas.paths, dtype=object)[rows]
        is_known = np.not_equal(paths[here], np.array(None, dtype=object))
        for at in np.flatnonzero(is_known & (paths[here] != listed)).tolist():
            self._add_contradiction(replicas, int(rows[at]), int(here[at]))
        paths[here] = np.where(is_known, paths[here], listed)
        self._source_idx[here[~is_known]] = len(self._sources) - 1

    def _add_contradiction(self, replicas: ReplicaColumns, row: int, slot: int) -> None:
        place = f"broker {replicas.brokers[row]}"
        source_idx = int(self._source_idx[slot])
        first = (
            self.ledger.origin(int(self.row[slot]), "log_dirs")
            if source_idx == _NONE
            else Origin(self._sources[source_idx].file, place)
        )
        second = Origin(self._sources[-1].file, place)
        what = f"log dir of {replicas.names[row]}"
        self.problems.append(contradiction(first, second, what, None, None))

    def path_lists(self, paths: Paths) -> list[list[str | None] | None]:
        """Return log dirs by partition; `None` for one without any known."""
        flat = paths.tolist()
        if not any(flat):
            return [None] * len(self.ledger)
        lists = [flat[low:high] for low, high in pairwise(self.start.tolist())]
        return [each if any(each) else None for each in lists]

    def sizes(self) -> tuple[list[int | None], list[list[int | None] | None]]:
        """
        Return the bytes of a copy of each partition, and own bytes of its replicas.

        Returns
        -------
        The leader's bytes, else the largest of a replica, `None` if no size is known;
        and the bytes of each replica if one of them differs from it.
        """
        num_rows = len(self.ledger)
        size: IntArray = np.full(num_rows, _NONE, dtype=np.int64)
        np.maximum.at(size, self.row, self.size_bytes)
        is_of_leader = np.equal(self.broker, self._leaders()[self.row])
        is_of_leader &= self.size_bytes >= 0
        size[self.row[is_of_leader]] = self.size_bytes[is_of_leader]
        is_other = (self.size_bytes >= 0) & (self.size_bytes != size[self.row])
        return [None if b < 0 else b for b in size.tolist()], self._own(is_other)

    def _own(self, is_other: BoolArray) -> list[list[int | None] | None]:
        """Return the bytes of all replicas of partitions in which one differs."""
        own: list[list[int | None] | None] = [None] * len(self.ledger)
        differs = np.zeros(len(self.ledger), dtype=bool)
        differs[self.row[is_other]] = True
        flat, start = self.size_bytes.tolist(), self.start.tolist()
        for row in np.flatnonzero(differs).tolist():
            sizes = flat[start[row] : start[row + 1]]
            own[row] = [None if size < 0 else size for size in sizes]
        return own

    def _leaders(self) -> IntArray:
        """Return ``(P,)`` the id of the leader; if unknown, of the first replica."""
        leaders, replicas = self.ledger.column("leader"), self.ledger.column("replicas")
        return np.array(
            [
                (ids[0] if ids else _NONE) if leader is None else leader
                for leader, ids in zip(leaders, replicas, strict=True)
            ],
            dtype=np.int64,
        )
