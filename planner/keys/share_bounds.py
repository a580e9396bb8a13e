"""
Bounds of shares that are estimated from the last records of each partition.

References
----------
.. [1] Cochran, W. G. (1977). Sampling Techniques, 3rd edition. Wiley. Chapters 5 and 6.
.. [2] Agresti, A. and Coull, B. A. (1998). Approximate Is Better than "Exact" for
       Interval Estimation of Binomial Proportions. The American Statistician 52(2):
       119-126. https://doi.org/10.1080/00031305.1998.10480550
.. [3] Dunn, O. J. (1961). Multiple Comparisons among Means. Journal of the American
       Statistical Association 56(293): 52-64.
       https://doi.org/10.1080/01621459.1961.10482090
"""

from dataclasses import dataclass

import numpy as np

from placement.array_types import FloatArray, IndexArray, RowArray
from planner.keys.key_sample import KeySample, PlacedSample

CONFIDENCE_95 = 1.959964
"""Standard deviations of a normal number on each side of an interval of 95 %."""
_MISSED = 0.05


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SkewBounds:
    """
    Bounds of an estimated skew at 95 %.

    Parameters
    ----------
    shares
        ``(P, 2)`` bounds of the share of records of each partition.
    byte_shares
        ``(P, 2)`` bounds of the share of bytes of each partition.
    max_over_mean, bytes_max_over_mean
        Busiest partition over the mean, by records and by bytes.
    """

    shares: FloatArray
    byte_shares: FloatArray
    max_over_mean: tuple[float, float]
    bytes_max_over_mean: tuple[float, float]


@dataclass(frozen=True, slots=True, eq=False)
class _Shares:
    """``(C,)`` estimated shares, and their standard errors."""

    values: FloatArray
    errors: FloatArray

    def bounds(self, deviations: float = CONFIDENCE_95) -> FloatArray:
        """Return ``(C, 2)`` bounds of each share."""
        half = deviations * self.errors
        both = np.stack([self.values - half, self.values + half], axis=1)
        bounds: FloatArray = np.clip(both, 0, 1)
        return bounds

    def max_over_mean(self) -> tuple[float, float]:
        """
        Return bounds of the largest share over the mean.

        Notes
        -----
        Bounds that hold for all shares at once, by Bonferroni's inequality [3]_: then
        the largest share is at least the largest lower bound, and at most the largest
        upper one, whichever partition is the busiest.
        """
        from scipy.special import ndtri

        count = len(self.values)
        bounds = self.bounds(float(ndtri(1 - _MISSED / (2 * count))))
        low, high = (float(count * bounds[:, side].max()) for side in (0, 1))
        return max(low, 1.0), max(high, 1.0)


def skew_bounds(sample: KeySample, placed: PlacedSample) -> SkewBounds | None:
    """Return the bounds of a skew over partitions, if it is estimated."""
    if sample.weights is None or sample.partitions is None:
        return None
    on = placed.record_partitions
    on = placed.key_partitions[sample.key_idx] if on is None else on
    count = len(placed.records)
    records = _record_shares(sample, on, count)
    sizes = _byte_shares(sample, on, count)
    return SkewBounds(
        shares=records.bounds(),
        byte_shares=sizes.bounds(),
        max_over_mean=records.max_over_mean(),
        bytes_max_over_mean=sizes.max_over_mean(),
    )


def key_bounds(sample: KeySample, rows: RowArray) -> FloatArray | None:
    """Return ``(H, 2)`` bounds of the shares of some keys, if they are estimates."""
    if sample.weights is None or sample.partitions is None:
        return None
    cell_of = np.full(len(sample.keys), len(rows), np.int32)
    cell_of[rows] = np.arange(len(rows))
    found = _record_shares(sample, cell_of[sample.key_idx], len(rows) + 1)
    return found.bounds()[:-1]


def _record_shares(sample: KeySample, cells: IndexArray, num_cells: int) -> _Shares:
    """
    Return the shares of records.

    Parameters
    ----------
    sample
        Its records are a sample of each partition, which is a stratum.
    cells
        ``(R,)`` what each record counts for.
    num_cells
        `C`, number of cells.

    Notes
    -----
    The variance is the sum over the strata, each with its weight squared [1]_, and 0
    for those that are read whole. In each one record of a cell and one of the others
    are added [2]_, as none in a small sample does not mean that there is none.
    """
    strata = _Strata.of(sample, cells, num_cells)
    counted = strata.sums(np.ones(len(cells)))
    part = (counted + 1) / (strata.read + 2)
    each = part * (1 - part) / (strata.read + 2)
    total = strata.sizes.sum()
    variance = (strata.sizes**2 * strata.unread * each).sum(axis=0) / total**2
    shares = np.bincount(cells, sample.weights, num_cells) / total
    return _Shares(shares, np.sqrt(variance))


def _byte_shares(sample: KeySample, cells: IndexArray, num_cells: int) -> _Shares:
    """
    Return the shares of bytes; arguments as in `_record_shares`.

    Notes
    -----
    A share is a ratio of two estimates, the bytes of a cell and all bytes. Its error is
    that of the combined ratio estimator of a stratified sample [1]_: of the bytes of
    each record in the cell less its part of all bytes. In each stratum a record of its
    mean size in the cell, and one outside, are added as in `_record_shares`.
    """
    strata = _Strata.of(sample, cells, num_cells)
    size = sample.sizes.astype(np.float64)
    weighted = size * np.asarray(sample.weights)
    total = float(weighted.sum())
    if not total:
        return _Shares(np.zeros(num_cells), np.zeros(num_cells))
    shares = np.bincount(cells, weighted, num_cells) / total
    inside, squares = strata.sums(size), strata.sums(size * size)
    all_inside = inside.sum(axis=1, keepdims=True)
    all_squares = squares.sum(axis=1, keepdims=True)
    mean = all_inside / np.maximum(strata.read, 1)
    # Sums over the records of a stratum of the difference and of its square.
    sums = inside - shares * all_inside + mean * (1 - 2 * shares)
    of_squares = squares * (1 - 2 * shares) + shares**2 * all_squares
    of_squares += mean**2 * ((1 - shares) ** 2 + shares**2)
    read = strata.read + 2
    spread = np.maximum(of_squares - sums**2 / read, 0) / (read - 1)
    variance = (strata.sizes**2 * strata.unread * spread / read).sum(axis=0)
    return _Shares(shares, np.sqrt(variance) / total)


@dataclass(frozen=True, slots=True, eq=False)
class _Strata:
    """
    Partitions of the topic, each of which is sampled by itself.

    Parameters
    ----------
    rows
        ``(R,)`` stratum and cell of each record, as one number.
    shape
        Number of strata, and of cells.
    read, sizes, unread
        ``(S, 1)`` records read, records of the topic, and the fraction not read.
    """

    rows: RowArray
    shape: tuple[int, int]
    read: FloatArray
    sizes: FloatArray
    unread: FloatArray

    @classmethod
    def of(cls, sample: KeySample, cells: IndexArray, num_cells: int) -> "_Strata":
        """Return the strata of a weighted sample with known partitions."""
        partitions = np.asarray(sample.partitions, np.int64)
        count = int(partitions.max()) + 1
        read = np.bincount(partitions, minlength=count)[:, None].astype(np.float64)
        sizes = _sums(partitions, sample.weights, count)[:, None]
        unread = np.clip(1 - read / np.maximum(sizes, 1), 0, 1)
        rows = partitions * num_cells + cells
        return cls(rows, (count, num_cells), read, sizes, unread)

    def sums(self, values: FloatArray) -> FloatArray:
        """Return ``(S, C)`` the sum of the values of the records in each cell."""
        count = self.shape[0] * self.shape[1]
        return _sums(self.rows, values, count).reshape(self.shape)


def _sums(rows: RowArray, values: FloatArray | None, count: int) -> FloatArray:
    """Return ``(count,)`` the sum of the values of each row number."""
    found: FloatArray = np.bincount(rows, values, count).astype(np.float64)
    return found
