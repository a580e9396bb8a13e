"""Broker lists of many partitions as columns, before and after a reassignment."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from placement.array_types import RowArray
from placement.model.cluster import ABSENT
from placement.model.columns import starts_of
from placement.model.reassignment import Reassignment
from placement.waves.wave_cut import Cut


@dataclass(frozen=True, slots=True, eq=False)
class Lists(Mapping[int, list[int]]):
    """
    Mapping from partition rows to lists of broker rows.

    Parameters
    ----------
    partition_idx
        ``(N,)`` partition rows, ascending.
    start
        ``(N + 1,)`` index of the first broker of each list.
    broker_idx
        ``(M,)`` broker rows of the lists, concatenated.
    """

    partition_idx: RowArray
    start: RowArray
    broker_idx: RowArray

    def __len__(self) -> int:
        return len(self.partition_idx)

    def __iter__(self) -> Iterator[int]:
        yield from self.partition_idx.tolist()

    def __getitem__(self, partition: int) -> list[int]:
        n = int(np.searchsorted(self.partition_idx, partition))
        if n == len(self) or self.partition_idx[n] != partition:
            raise KeyError(partition)
        found: list[int] = self.broker_idx[self.start[n] : self.start[n + 1]].tolist()
        return found

    def rows(self) -> Iterator[tuple[int, list[int]]]:
        """Yield each partition with its list, faster than by item access."""
        start, broker = self.start.tolist(), self.broker_idx.tolist()
        for n, partition in enumerate(self.partition_idx.tolist()):
            yield partition, broker[start[n] : start[n + 1]]

    @property
    def counts(self) -> RowArray:
        """``(N,)`` number of brokers in each list."""
        return np.diff(self.start)

    @property
    def first(self) -> RowArray:
        """``(N,)`` first broker of each list; no list is empty."""
        return self.broker_idx[self.start[:-1]]

    def part(self, begin: int, end: int) -> Self:
        """Return the lists from index `begin` up to `end`, exclusive."""
        low, high = self.start[begin], self.start[end]
        return type(self)(
            self.partition_idx[begin:end],
            self.start[begin : end + 1] - low,
            self.broker_idx[low:high],
        )

    def of(self, rows: RowArray) -> Self:
        """Return the lists at indices `rows`, in that order."""
        counts = self.counts[rows]
        start = starts_of(counts)
        places = ragged(self.start[:-1][rows], counts)
        return type(self)(self.partition_idx[rows], start, self.broker_idx[places])

    def slots_of(self, rows: RowArray, broker_idx: RowArray) -> RowArray:
        """
        Return ``(K,)`` positions of brokers in lists; `ABSENT` where not in the list.

        Parameters
        ----------
        rows
            ``(K,)`` index of the list to search.
        broker_idx
            ``(K,)`` row of the broker to find.
        """
        found = np.full(len(rows), ABSENT, dtype=np.int64)
        left = np.arange(len(rows))
        # One pass per position of the longest list, without the pairs found already.
        for slot in range(int(self.counts.max(initial=0))):
            left = left[self.counts[rows[left]] > slot]
            hit = self.broker_idx[self.start[rows[left]] + slot] == broker_idx[left]
            found[left[hit]] = slot
            left = left[~hit]
        return found


def ragged(begin: RowArray, counts: RowArray) -> RowArray:
    """Return indices `begin`, `begin` + 1, … of lists of given lengths, as one row."""
    start = starts_of(counts)
    shift = np.repeat(begin - start[:-1], counts)
    return np.arange(start[-1], dtype=np.int64) + shift


def changed_lists(found: Cut) -> tuple[Lists, Lists]:
    """Return the lists of changed partitions before and after all waves."""
    return lists_of_change(found.reassignment)


def lists_of_change(reassignment: Reassignment) -> tuple[Lists, Lists]:
    """Return the lists of changed partitions before and after a reassignment."""
    return lists_of_rows(reassignment, np.nonzero(reassignment.is_changed)[0])


def lists_of_rows(reassignment: Reassignment, rows: RowArray) -> tuple[Lists, Lists]:
    """Return the lists of some partitions before and after a reassignment."""
    replicas = reassignment.before.replicas
    return (
        _lists_of(rows, replicas.start, replicas.broker_idx),
        _lists_of(rows, reassignment.start, reassignment.broker_idx),
    )


def _lists_of(rows: RowArray, start: RowArray, broker: npt.NDArray[np.int32]) -> Lists:
    counts = start[rows + 1] - start[rows]
    places = ragged(start[rows].astype(np.int64), counts)
    return Lists(rows, starts_of(counts), broker[places].astype(np.int64))
