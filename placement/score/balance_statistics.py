r"""
Balance statistics of the brokers of a cluster, and of many groups at once.

With :math:`u_i` the use of the ``n`` members that share a load: `cv` is the population
standard deviation over the mean; `gini` is
:math:`\sum_{ij} |u_i - u_j| / (2 n \sum u)`; `jain` is
:math:`(\sum u)^2 / (n \sum u^2)`; `max_over_mean` is the maximum over the mean. Where
:math:`\sum u = 0`, all are 0, and `jain` is 1.
"""

from dataclasses import dataclass, fields

import numpy as np

from placement.array_types import OffsetArray, RateArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ResourceScore:
    """
    Balance of one resource over the brokers that count.

    `total` is in display units; `use` figures are loads over capacities. Formulas:
    docs/theory.md, "Measures of balance".
    """

    total: float
    mean_use: float
    max_use: float
    min_use: float
    max_deviation: float
    max_over_mean: float
    cv: float
    gini: float
    jain: float
    brokers_out_of_band: int
    brokers_over_threshold: int
    known_fraction: float


def gini(use: RateArray) -> float:
    """Return the Gini coefficient, by ranks instead of all pairs."""
    return float(gini_rows(use, np.array([0, len(use)]))[0])


def jain(use: RateArray) -> float:
    """Return Jain's fairness index."""
    largest = float(use.max(initial=0.0))
    if largest <= 0:
        return 1.0
    # Scaled by the largest: squares of very large or small numbers are not finite.
    part = use / largest
    return float(part.sum()) ** 2 / (len(part) * float((part * part).sum()))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Spread:
    """
    Balance statistics of each of ``G`` groups.

    Every array is ``(G,)``; an empty group has 0 everywhere, and `jain` 1.
    """

    total: RateArray
    mean: RateArray
    max: RateArray
    min: RateArray
    max_over_mean: RateArray
    cv: RateArray
    jain: RateArray

    def of(self, groups: slice) -> "Spread":
        """Return the statistics of some groups."""
        names = (each.name for each in fields(self))
        return Spread(**{name: getattr(self, name)[groups] for name in names})


def spread_rows(use: RateArray, start: OffsetArray) -> Spread:
    """
    Compute the balance statistics of each compressed row.

    Parameters
    ----------
    use
        ``(N,)`` use of each member. Not negative.
    start
        ``(G + 1,)`` first member of each group ``g``: ``use[start[g]:start[g + 1]]``.
    """
    count = np.diff(start)
    total = _reduced(np.add, use, start)
    squares = _reduced(np.add, use * use, start)
    mean = total / np.maximum(count, 1)
    off = use - np.repeat(mean, count)
    deviation = np.sqrt(_reduced(np.add, off * off, start) / np.maximum(count, 1))
    is_loaded = total > 0
    unit = np.where(is_loaded, mean, 1.0)
    largest = _reduced(np.maximum, use, start)
    has_squares = squares > 0
    crowd = np.where(has_squares, count * squares, 1.0)
    return Spread(
        total=total,
        mean=mean,
        max=largest,
        min=_reduced(np.minimum, use, start),
        max_over_mean=np.where(is_loaded, largest / unit, 0.0),
        cv=np.where(is_loaded, deviation / unit, 0.0),
        jain=np.where(has_squares, total * total / crowd, 1.0),
    )


def gini_rows(use: RateArray, start: OffsetArray) -> RateArray:
    """Return ``(G,)`` Gini coefficient of each compressed row; 0 for an empty row."""
    count = np.diff(start)
    found = np.zeros(len(count))
    # Rows of one length at a time, so that each sum has the same order as alone.
    for length in np.unique(count[count > 0]).tolist():
        rows = np.flatnonzero(count == length)
        found[rows] = _ginis(use[start[rows, None] + np.arange(length)])
    return found


def _ginis(use: RateArray) -> RateArray:
    """Return the Gini coefficient of each row of ``(G, N)`` uses."""
    total, count = use.sum(axis=1), use.shape[1]
    ranks = 2 * np.arange(1, count + 1) - count - 1
    weighted = (ranks * np.sort(use, axis=1)).sum(axis=1)
    is_loaded = total > 0
    unit = count * np.where(is_loaded, total, 1.0)
    found: RateArray = np.where(is_loaded, weighted / unit, 0.0)
    # Rounding takes equal uses below 0, which the screen shows as -0.00.
    return np.maximum(found, 0.0)


def _reduced(operation: np.ufunc, values: RateArray, start: OffsetArray) -> RateArray:
    """Return the reduction of each compressed row; 0 for an empty row."""
    reduced = np.zeros(len(start) - 1)
    filled = np.nonzero(np.diff(start))[0]
    if len(filled):
        reduced[filled] = operation.reduceat(values, start[filled])
    return reduced
