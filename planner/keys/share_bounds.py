"""
Bounds of shares that are estimated from the last records of each partition.

References
----------
.. [1] Cochran, W. G. (1977). Sampling Techniques, 3rd edition. Wiley. Chapter 5.
.. [2] Agresti, A. and Coull, B. A. (1998). Approximate Is Better than "Exact" for
       Interval Estimation of Binomial Proportions. The American Statistician 52(2):
       119-126. https://doi.org/10.1080/00031305.1998.10480550
"""

import numpy as np

from placement.array_types import FloatArray, IndexArray, RowArray
from planner.keys.key_sample import KeySample, PlacedSample

CONFIDENCE_95 = 1.959964
"""Standard deviations of a normal number on each side of an interval of 95 %."""


def partition_bounds(sample: KeySample, placed: PlacedSample) -> FloatArray | None:
    """Return ``(P, 2)`` bounds of the shares of partitions, if they are estimates."""
    if sample.weights is None:
        return None
    on = placed.record_partitions
    on = placed.key_partitions[sample.key_idx] if on is None else on
    return share_bounds(sample, on, len(placed.records))


def key_bounds(sample: KeySample, rows: RowArray) -> FloatArray | None:
    """Return ``(H, 2)`` bounds of the shares of some keys, if they are estimates."""
    if sample.weights is None:
        return None
    cell_of = np.full(len(sample.keys), len(rows), np.int32)
    cell_of[rows] = np.arange(len(rows))
    bounds = share_bounds(sample, cell_of[sample.key_idx], len(rows) + 1)
    return None if bounds is None else bounds[:-1]


def share_bounds(
    sample: KeySample, cells: IndexArray, num_cells: int
) -> FloatArray | None:
    """
    Return bounds of the shares of records at 95 %.

    Parameters
    ----------
    sample
        Its records are a sample of each partition, which is a stratum.
    cells
        ``(R,)`` what each record counts for.
    num_cells
        `C`, number of cells.

    Returns
    -------
    FloatArray | None
        ``(C, 2)`` bounds from 0 to 1; `None` if all records of the topic are there.

    Notes
    -----
    The variance is the sum over the strata, each with its weight squared [1]_, and 0
    for those that are read whole. In each one record of a cell and one of the others
    are added [2]_, as none in a small sample does not mean that there is none.
    """
    if sample.weights is None or sample.partitions is None:
        return None
    num_strata = int(sample.partitions.max()) + 1
    counted = np.bincount(
        sample.partitions * num_cells + cells, minlength=num_strata * num_cells
    ).reshape(num_strata, num_cells)
    read = counted.sum(axis=1, keepdims=True)
    sizes = np.bincount(sample.partitions, sample.weights, num_strata)[:, None]
    part = (counted + 1) / (read + 2)
    unread = np.clip(1 - read / np.maximum(sizes, 1), 0, 1)
    weights = sizes / sizes.sum()
    variance = (weights**2 * unread * part * (1 - part) / (read + 2)).sum(axis=0)
    shares = np.bincount(cells, sample.weights, num_cells) / sample.weights.sum()
    half = CONFIDENCE_95 * np.sqrt(variance)
    bounds: FloatArray = np.clip(np.stack([shares - half, shares + half], axis=1), 0, 1)
    return bounds
