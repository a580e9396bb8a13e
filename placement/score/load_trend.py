"""Trends of loads over time: how fast they grow, and when a limit is reached."""

from dataclasses import dataclass

import numpy as np

from placement.model.cluster import RateArray
from placement.model.load import WeightArray

MOST_POINTS = 150
"""Longer series are thinned evenly: pairs grow with the square of their number."""
NORMAL_975 = 1.959963984540054
"""Quantile of the normal distribution for an interval of 95 %."""
_PAIRS_AT_A_TIME = 4_000_000


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Growth:
    """
    How fast series grow.

    Parameters
    ----------
    points
        ``(S,)`` points that each rests on.
    per_day
        ``(S,)`` units a day. NaN with fewer than two points.
    low, high
        ``(S,)`` units a day. Interval of 95 %; infinite where there are too few points
        to tell, which is below four.
    """

    points: WeightArray
    per_day: RateArray
    low: RateArray
    high: RateArray


def growth_of(days: RateArray, values: RateArray) -> Growth:
    r"""
    Return the Theil-Sen slope of series, with an interval that needs no assumption.

    The slope is the median of the slopes of all pairs of points [1]_, so that up to
    29 % of them may be anything: a burst, a failed measurement. The interval takes the
    slopes of ranks :math:`(N \mp C) / 2`, with :math:`N` pairs and
    :math:`C = z \sqrt{n (n - 1) (2 n + 5) / 18}`, from the variance of Kendall's
    statistic [2]_; ranks are rounded outwards.

    Parameters
    ----------
    days
        ``(N,)`` days. When the values were taken, ascending, each once.
    values
        ``(N, S)`` units. The series; NaN where one has no value.

    References
    ----------
    .. [1] Theil, H. (1950). A rank-invariant method of linear and polynomial regression
           analysis. *Indagationes Mathematicae* 12: 85-91.
    .. [2] Sen, P. K. (1968). Estimates of the Regression Coefficient Based on Kendall's
           Tau. *Journal of the American Statistical Association* 63(324): 1379-1389.
           https://doi.org/10.1080/01621459.1968.10480934

    Examples
    --------
    >>> import numpy as np
    >>> days, values = np.arange(5.0), np.array([[1.0], [3.0], [5.0], [900.0], [9.0]])
    >>> growth_of(days, values).per_day.tolist()
    [2.0]
    """
    kept = _thinned(len(days))
    days, values = days[kept], values[kept]
    first, second = (rows.astype(np.int64) for rows in np.triu_indices(len(days), 1))
    width = max(_PAIRS_AT_A_TIME // max(len(first), 1), 1)
    parts = [
        _growth(days, values[:, start : start + width], first, second)
        for start in range(0, max(values.shape[1], 1), width)
    ]
    return Growth(
        points=np.concatenate([part.points for part in parts]),
        per_day=np.concatenate([part.per_day for part in parts]),
        low=np.concatenate([part.low for part in parts]),
        high=np.concatenate([part.high for part in parts]),
    )


def _thinned(count: int) -> WeightArray:
    """Return the rows that stay, evenly spaced, the first and the last among them."""
    if count <= MOST_POINTS:
        return np.arange(count, dtype=np.int64)
    return np.round(np.linspace(0, count - 1, MOST_POINTS)).astype(np.int64)


def _growth(
    days: RateArray, values: RateArray, first: WeightArray, second: WeightArray
) -> Growth:
    apart = (days[second] - days[first])[:, None]
    # What is not there sorts last.
    slopes = np.sort((values[second] - values[first]) / apart, axis=0)
    points = np.count_nonzero(~np.isnan(values), axis=0)
    pairs = points * (points - 1) // 2
    middle = (_ranked(slopes, (pairs - 1) // 2) + _ranked(slopes, pairs // 2)) / 2
    spread = NORMAL_975 * np.sqrt(points * (points - 1) * (2 * points + 5) / 18)
    low = np.floor((pairs - spread) / 2).astype(np.int64) - 1
    high = np.ceil((pairs + spread) / 2).astype(np.int64)
    return Growth(
        points=points,
        per_day=np.where(pairs > 0, middle, np.nan),
        low=np.where(low >= 0, _ranked(slopes, low), -np.inf),
        high=np.where(high < pairs, _ranked(slopes, high), np.inf),
    )


def _ranked(slopes: RateArray, rank: WeightArray) -> RateArray:
    """Return the slope of a rank in each series; what has no such rank is NaN."""
    if not len(slopes):
        return np.full(slopes.shape[1], np.nan)
    inside = np.clip(rank, 0, len(slopes) - 1)
    found: RateArray = slopes[inside, np.arange(slopes.shape[1])]
    return found


def days_until(value: RateArray, limit: RateArray, per_day: RateArray) -> RateArray:
    """
    Return in how many days values reach their limits.

    Parameters
    ----------
    value, limit
        ``(S,)`` units. What there is, and how much there may be; a NaN limit is none.
    per_day
        ``(S,)`` units a day.

    Returns
    -------
    ``(S,)`` days: 0 where the limit is reached, infinite where nothing grows, NaN where
    nobody can tell.

    Examples
    --------
    >>> import numpy as np
    >>> value, limit = np.array([80.0, 80.0, 120.0]), np.array([100.0, 100.0, 100.0])
    >>> days_until(value, limit, np.array([4.0, -1.0, 4.0])).tolist()
    [5.0, inf, 0.0]
    """
    grows = per_day > 0
    left = (limit - value) / np.where(grows, per_day, 1.0)
    days = np.where(grows, left, np.inf)
    days = np.where(np.isnan(per_day) | np.isnan(limit), np.nan, days)
    reached: RateArray = np.where(value >= limit, 0.0, days)
    return reached
