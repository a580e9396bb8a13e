"""Rows of indices of various lengths, and the order of many keys."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from placement.array_types import IndexArray, OffsetArray
from placement.model.columns import freeze

_SORTED_BY_DIGITS = 1 << 16


def order_by(
    keys: npt.NDArray[np.integer[Any]], num_keys: int
) -> npt.NDArray[np.integer[Any]]:
    """
    Return the rows in stable order by key.

    Parameters
    ----------
    keys
        ``(N,)`` key of each row, from 0 to `num_keys` - 1.
    num_keys
        Number of possible keys. Up to 65,536 keys use radix sort, which is faster.

    Examples
    --------
    >>> order_by(np.array([1, 0, 1, 0]), 2).tolist()
    [1, 3, 0, 2]
    """
    is_short = num_keys <= _SORTED_BY_DIGITS
    return np.argsort(keys.astype(np.uint16) if is_short else keys, kind="stable")


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """
    Lists of rows, one for each owner, in compressed sparse row form.

    Parameters
    ----------
    start
        ``(N + 1,)`` start of each list: owner ``n`` has ``idx[start[n]:start[n + 1]]``.
    idx
        ``(K,)`` listed rows.
    """

    start: OffsetArray
    idx: IndexArray

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        return len(self.start) - 1

    def __iter__(self) -> Iterator[IndexArray]:
        return (self.of(owner) for owner in range(len(self)))

    @property
    def counts(self) -> OffsetArray:
        """Length of each list, ``(N,)``."""
        return np.diff(self.start)

    @property
    def owner(self) -> IndexArray:
        """Owner of each listed row, ``(K,)``."""
        return np.repeat(np.arange(len(self), dtype=np.int32), self.counts)

    def of(self, owner: int) -> IndexArray:
        """Return the list of one owner."""
        return self.idx[self.start[owner] : self.start[owner + 1]]

    def transposed(self, num_rows: int) -> "Rows":
        """Return the owners that list each of `num_rows` rows, owners ascending."""
        start = np.zeros(num_rows + 1, dtype=np.int64)
        np.cumsum(np.bincount(self.idx, minlength=num_rows), out=start[1:])
        if self._are_same:
            everybody = np.arange(len(self), dtype=np.int32)
            return Rows(start, np.tile(everybody, len(self.of(0))))
        return Rows(start, self.owner[order_by(self.idx, num_rows)])

    @property
    def _are_same(self) -> bool:
        """Whether all lists are equal and have no duplicates, which saves sorting."""
        if not len(self) or len(self.idx) != len(self) * len(self.of(0)):
            return False
        first, counts = self.of(0), self.counts
        if (counts != counts[0]).any() or len(np.unique(first)) < len(first):
            return False
        return bool((self.idx.reshape(len(self), -1) == first).all())
