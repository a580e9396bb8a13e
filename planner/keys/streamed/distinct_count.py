"""
Number of distinct keys of a stream, in bounded memory.

References
----------
.. [1] Beyer, K., Haas, P. J., Reinwald, B., Sismanis, Y. and Gemulla, R. (2007). On
       Synopses for Distinct-Value Estimation Under Multiset Operations. SIGMOD 2007:
       199-210. https://doi.org/10.1145/1247480.1247504
"""

import numpy as np
import numpy.typing as npt

from assignment.partitioners.key_column import KeyColumn
from assignment.partitioners.key_hashes import fnv1a, murmur2

HashArray = npt.NDArray[np.uint64]
KEPT = 4096
"""Smallest hashes kept: the standard error is one over the root of it, 1.6 %."""


class DistinctCount:
    """
    Number of distinct hashes, by the smallest ones [1]_.

    Notes
    -----
    Of `n` hashes at random the k-th smallest is near k/n of their range: (k − 1) over
    it, as a fraction, is an unbiased estimate of `n`. Up to `KEPT` hashes are counted
    exactly.
    """

    def __init__(self) -> None:
        self._smallest = np.zeros(0, np.uint64)

    def add(self, hashes: HashArray) -> None:
        """Add hashes, each as often as it occurs."""
        if len(self._smallest) == KEPT:
            hashes = hashes[hashes < self._smallest[-1]]
        self._smallest = np.union1d(self._smallest, hashes)[:KEPT]

    @property
    def is_exact(self) -> bool:
        """Whether all hashes are kept."""
        return len(self._smallest) < KEPT

    def count(self) -> int:
        """Return the number of distinct hashes."""
        if self.is_exact:
            return len(self._smallest)
        return round((KEPT - 1) / (float(self._smallest[-1]) / 2.0**64))


def hashes_of(keys: KeyColumn) -> HashArray:
    """Return ``(K,)`` hashes of 64 bits: two of 32 bits, mixed as by SplitMix64."""
    high, low = (each(keys).astype(np.uint64) for each in (murmur2, fnv1a))
    mixed: HashArray = (high << np.uint64(32)) | low
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))
