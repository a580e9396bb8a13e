"""
Counts of the most frequent keys of a stream, in bounded memory, with their errors.

References
----------
.. [1] Metwally, A., Agrawal, D. and El Abbadi, A. (2005). Efficient Computation of
       Frequent and Top-k Elements in Data Streams. ICDT 2005, LNCS 3363: 398-412.
       https://doi.org/10.1007/978-3-540-30570-5_27
.. [2] Agarwal, P. K., Cormode, G., Huang, Z., Phillips, J. M., Wei, Z. and Yi, K.
       (2013). Mergeable Summaries. ACM Transactions on Database Systems 38(4): 26.
       https://doi.org/10.1145/2500128
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from placement.array_types import CountArray, RowArray


@dataclass(frozen=True, slots=True)
class CountedKey:
    """
    A key with its count.

    Parameters
    ----------
    key
        The key.
    count
        At least the true count, which is at least `count` - `error`.
    error
        Largest excess of `count`; 0 if the count is exact.
    """

    key: bytes
    count: int
    error: int


class SpaceSaving:
    """
    SpaceSaving [1]_, for batches of counts.

    Parameters
    ----------
    most
        Number of counters, at least 1.

    Notes
    -----
    A key without a counter starts with the largest count that it may have had before,
    `threshold`, as its count and its error. If there are more keys than counters, the
    largest counts are kept, and the largest of the others is the new threshold. Less
    the threshold, the counts are those of a Misra-Gries summary merged with exact
    counts [2]_, so that the threshold is at most the sum of all counts over
    ``most + 1``: each key with more than that has a counter.

    Examples
    --------
    >>> sketch = SpaceSaving(2)
    >>> sketch.add(pa.array([b"a", b"b"], pa.large_binary()), np.array([5, 1]))
    >>> sketch.add(pa.array([b"c"], pa.large_binary()), np.array([3]))
    >>> [(each.key, each.count, each.error) for each in sketch.hottest(2)]
    [(b'a', 5, 0), (b'c', 3, 0)]
    >>> sketch.add(pa.array([b"b"], pa.large_binary()), np.array([4]))
    >>> sketch.hottest(2)[0]
    CountedKey(key=b'a', count=5, error=0)
    >>> sketch.hottest(2)[1]
    CountedKey(key=b'b', count=5, error=1)
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._keys = pa.array([], pa.large_binary())
        self._counts = np.zeros(0, np.int64)
        self._errors = np.zeros(0, np.int64)
        self._threshold = 0
        self._pending: list[tuple[Any, CountArray]] = []
        self._num_pending = 0

    def add(self, keys: Any, counts: CountArray) -> None:  # noqa: ANN401 - an Arrow column
        """
        Add a batch.

        Parameters
        ----------
        keys
            ``(K,)`` large_binary, no null, no key twice.
        counts
            ``(K,)`` count of each, at least 1.
        """
        self._pending.append((keys, counts))
        self._num_pending += len(keys)
        # A merge takes as long as there are counters, so that it has to be worth it.
        if self._num_pending > self.most:
            self._merge()

    @property
    def threshold(self) -> int:
        """Largest count that a key without a counter may have; 0 if all are exact."""
        self._merge()
        return self._threshold

    @property
    def num_keys(self) -> int:
        """Number of counters in use."""
        self._merge()
        return len(self._counts)

    def certain(self) -> tuple[Any, CountArray]:
        """Return the keys with a counter, and records that each certainly has."""
        self._merge()
        return self._keys, self._counts - self._errors

    def hottest(self, count: int) -> list[CountedKey]:
        """Return the keys with the largest counts; ties by the key."""
        self._merge()
        order = np.argsort(-self._counts, kind="stable")
        least = self._counts[order[count - 1]] if 0 < count < len(order) else 0
        rows = order[self._counts[order] >= least] if count else order[:0]
        listed = [
            CountedKey(
                self._keys[r].as_py(), int(self._counts[r]), int(self._errors[r])
            )
            for r in rows.tolist()
        ]
        return sorted(listed, key=lambda each: (-each.count, each.key))[:count]

    def _merge(self) -> None:
        """Add the pending batches to the counters, and keep the largest."""
        if not self._pending:
            return
        held = len(self._keys)
        parts = [self._keys, *(keys for keys, _ in self._pending)]
        encoded = pa.concat_arrays(parts).dictionary_encode()
        rows = encoded.indices.to_numpy()[held:]
        added = np.concatenate([counts for _, counts in self._pending])
        counts = np.full(len(encoded.dictionary), self._threshold, np.int64)
        errors = counts.copy()
        counts[:held], errors[:held] = self._counts, self._errors
        np.add.at(counts, rows, added)
        self._pending, self._num_pending = [], 0
        kept = self._kept(counts)
        self._keys = encoded.dictionary.take(pa.array(kept))
        self._counts, self._errors = counts[kept], errors[kept]

    def _kept(self, counts: CountArray) -> RowArray:
        """Return the rows of the largest counts, and raise the threshold."""
        if len(counts) <= self.most:
            return np.arange(len(counts))
        order = np.argsort(-counts, kind="stable")
        self._threshold = int(counts[order[self.most]])
        kept: RowArray = np.sort(order[: self.most])
        return kept
