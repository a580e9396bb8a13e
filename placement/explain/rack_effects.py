"""The rack rule before a move, and with the move undone."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray, CountArray, IndexArray, RowArray
from placement.draft.draft import Draft
from placement.explain.move_table import Moves
from placement.model.reassignment import Reassignment
from placement.model.targets import rack_limit

CHUNK = 16_384
"""Number of moves processed together: a row of counts each, a column per rack."""
MANY = np.iinfo(np.int64).max - 2
"""Number above the replicas of any rack."""


class RackCounts:
    """
    Replicas per rack of the partitions that move.

    Parameters
    ----------
    draft
        Draft of the plan; brokers that do not stay count for no rack.
    reassignment, moves
        Replica lists before and after, and the moves between them.
    """

    def __init__(self, draft: Draft, reassignment: Reassignment, moves: Moves) -> None:
        state = reassignment.before
        self._moves, self._holds = moves, draft.holds
        self._rack = state.brokers.rack_idx
        self._old = (state.replicas.broker_idx, state.replicas.start)
        self._new = (reassignment.broker_idx, reassignment.start)
        self._open = np.bincount(self._rack[draft.holds], minlength=state.num_racks)
        factor = np.diff(reassignment.start)
        unchanged = ~reassignment.is_resized
        factor[unchanged] = state.replication_factor[unchanged]
        self._limit = rack_limit(factor, self._open)

    def is_mended(self) -> BoolArray:
        """Return ``(M,)`` true if a move leaves a rack that held too many replicas."""
        return self._by_chunk(self._is_mended)

    def is_broken_undone(self) -> BoolArray:
        """Return ``(M,)`` true if undoing a move breaks the rack rule."""
        return self._by_chunk(self._is_broken_undone)

    def _by_chunk(self, work: Callable[[RowArray], BoolArray]) -> BoolArray:
        found = np.zeros(len(self._moves), dtype=np.bool_)
        for start in range(0, len(found), CHUNK):
            rows = np.arange(start, min(start + CHUNK, len(found)))
            found[rows] = work(rows)
        return found

    def _is_mended(self, rows: RowArray) -> BoolArray:
        counts = self._counts(self._old, rows)
        from_rack, to_rack = self._ends(rows)
        here = np.arange(len(rows))
        limit = self._limit[self._moves.partition_idx[rows]]
        crowded = counts[here, from_rack] > limit
        uneven = counts[here, from_rack] >= counts[here, to_rack] + 2
        stays = self._holds[self._moves.source[rows]]
        return (crowded | uneven) & np.not_equal(from_rack, to_rack) & stays

    def _is_broken_undone(self, rows: RowArray) -> BoolArray:
        counts = self._counts(self._new, rows)
        limit = self._limit[self._moves.partition_idx[rows]]
        was_broken = self._is_broken(counts, limit)
        from_rack, to_rack = self._ends(rows)
        here = np.arange(len(rows))
        counts[here, to_rack] -= 1
        counts[here, from_rack] += self._holds[self._moves.source[rows]]
        return self._is_broken(counts, limit) & ~was_broken

    def _ends(self, rows: RowArray) -> tuple[IndexArray, IndexArray]:
        moves = self._moves
        return self._rack[moves.source[rows]], self._rack[moves.target[rows]]

    def _counts(self, lists: tuple[IndexArray, RowArray], rows: RowArray) -> CountArray:
        """Return ``(rows, K)`` replicas per rack of each move's partition."""
        broker_idx, start = lists
        partition = self._moves.partition_idx[rows]
        length = start[partition + 1] - start[partition]
        of = np.repeat(np.arange(len(rows)), length)
        offset = np.arange(len(of)) - np.repeat(np.cumsum(length) - length, length)
        broker = broker_idx[np.repeat(start[partition], length) + offset]
        kept = self._holds[broker]
        width = len(self._open)
        cell = of[kept] * width + self._rack[broker[kept]]
        counts = np.bincount(cell, minlength=len(rows) * width)
        return counts.reshape(len(rows), width)

    def _is_broken(self, counts: CountArray, limit: npt.NDArray[np.int64]) -> BoolArray:
        """Return true if a rack holds too many, or two more than a rack with room."""
        most = counts.max(axis=1, initial=0)
        with_room = np.where(counts < self._open, counts, MANY)
        least = with_room.min(axis=1, initial=MANY)
        broken: BoolArray = (most > limit) | (most >= least + 2)
        return broken
