"""Lists of brokers of many partitions as columns, and how copies change them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from placement.waves.cut import Cut

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

    def has(self, broker: RowArray) -> npt.NDArray[np.bool_]:
        """Return ``(N,)`` true where a list has the broker that is asked of it."""
        if not len(self):
            return np.zeros(0, dtype=np.bool_)
        hit = np.equal(self.broker_idx, np.repeat(broker, self.counts))
        return np.logical_or.reduceat(hit, self.start[:-1])


def starts_of(counts: RowArray) -> RowArray:
    """Return ``(N + 1,)`` where each of ``N`` lists of such lengths starts."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def ragged(begin: RowArray, counts: RowArray) -> RowArray:
    """Return the places `begin`, `begin` + 1, … of lists of such lengths, in a row."""
    start = starts_of(counts)
    shift = np.repeat(begin - start[:-1], counts)
    return np.arange(start[-1], dtype=np.int64) + shift


def lists_before(found: Cut) -> Lists:
    """Return the lists of the partitions that change, as they are at first."""
    replicas = found.reassignment.before.replicas
    return _changed(found, replicas.start, replicas.broker_idx)


def lists_after(found: Cut) -> Lists:
    """Return the lists that the partitions are to end with."""
    reassignment = found.reassignment
    return _changed(found, reassignment.start, reassignment.broker_idx)


def _changed(found: Cut, start: RowArray, broker: npt.NDArray[np.int32]) -> Lists:
    rows = np.nonzero(found.reassignment.is_changed)[0]
    counts = np.diff(start)[rows]
    places = ragged(start[:-1][rows].astype(np.int64), counts)
    return Lists(rows, starts_of(counts), broker[places].astype(np.int64))
