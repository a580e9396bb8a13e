"""Lists of brokers of many partitions as columns, and how copies change them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from placement.model.cluster import ABSENT
from placement.model.reassignment import Reassignment
from placement.waves.wave_cut import Cut

RowArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Lists(Mapping[int, list[int]]):
    """
    Rows of the brokers of some partitions, by row of the partition.

    Parameters
    ----------
    partition_idx
        ``(N,)`` ascending.
    start
        ``(N + 1,)`` where the list of each starts.
    broker_idx
        ``(M,)`` the lists, one after the other.
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
        """Yield each partition with its list, quicker than one by one."""
        start, broker = self.start.tolist(), self.broker_idx.tolist()
        for n, partition in enumerate(self.partition_idx.tolist()):
            yield partition, broker[start[n] : start[n + 1]]

    @property
    def counts(self) -> RowArray:
        """``(N,)`` brokers in each list."""
        return np.diff(self.start)

    @property
    def first(self) -> RowArray:
        """``(N,)`` the broker that stands first; no list is empty."""
        return self.broker_idx[self.start[:-1]]

    def part(self, begin: int, end: int) -> Self:
        """Return neighbouring lists."""
        low, high = self.start[begin], self.start[end]
        return type(self)(
            self.partition_idx[begin:end],
            self.start[begin : end + 1] - low,
            self.broker_idx[low:high],
        )

    def of(self, rows: RowArray) -> Self:
        """Return some of the lists, in the order of `rows`."""
        counts = self.counts[rows]
        start = starts_of(counts)
        places = ragged(self.start[:-1][rows], counts)
        return type(self)(self.partition_idx[rows], start, self.broker_idx[places])

    def slots_of(self, rows: RowArray, broker_idx: RowArray) -> RowArray:
        """
        Return ``(K,)`` where a broker stands in a list, `ABSENT` where it does not.

        Parameters
        ----------
        rows
            ``(K,)`` the list that is looked through, by row.
        broker_idx
            ``(K,)`` the broker that is looked for.
        """
        found = np.full(len(rows), ABSENT, dtype=np.int64)
        left = np.arange(len(rows))
        # As many looks as the longest list has places; those found drop out.
        for slot in range(int(self.counts.max(initial=0))):
            left = left[self.counts[rows[left]] > slot]
            hit = self.broker_idx[self.start[rows[left]] + slot] == broker_idx[left]
            found[left[hit]] = slot
            left = left[~hit]
        return found


def starts_of(counts: RowArray) -> RowArray:
    """Return ``(N + 1,)`` where each of ``N`` lists of such lengths starts."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def ragged(begin: RowArray, counts: RowArray) -> RowArray:
    """Return the places `begin`, `begin` + 1, … of lists of such lengths, in a row."""
    start = starts_of(counts)
    shift = np.repeat(begin - start[:-1], counts)
    return np.arange(start[-1], dtype=np.int64) + shift


def changed_lists(found: Cut) -> tuple[Lists, Lists]:
    """Return the lists of the partitions that change, before and after all waves."""
    return lists_of_change(found.reassignment)


def lists_of_change(reassignment: Reassignment) -> tuple[Lists, Lists]:
    """Return the lists of the partitions that change, before and after."""
    replicas = reassignment.before.replicas
    rows = np.nonzero(reassignment.is_changed)[0]
    return (
        _lists_of(rows, replicas.start, replicas.broker_idx),
        _lists_of(rows, reassignment.start, reassignment.broker_idx),
    )


def _lists_of(rows: RowArray, start: RowArray, broker: npt.NDArray[np.int32]) -> Lists:
    counts = start[rows + 1] - start[rows]
    places = ragged(start[rows].astype(np.int64), counts)
    return Lists(rows, starts_of(counts), broker[places].astype(np.int64))
