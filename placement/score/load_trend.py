"""Trends of loads over time: growth rate, and days until a limit."""

from dataclasses import dataclass

import numpy as np

from placement.array_types import RateArray
from placement.model.load import WeightArray

MOST_POINTS = 150
"""Maximum points of a series; longer ones are thinned evenly, as pairs are many."""
NORMAL_975 = 1.959963984540054
"""Quantile of the normal distribution for an interval of 95 %."""
_PAIRS_AT_A_TIME = 4_000_000


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Growth:
    """
    Growth rates of ``S`` series.

    Parameters
    ----------
    points
        ``(S,)`` number of points of each series.
    per_day
        ``(S,)`` units a day. NaN with fewer than two points.
    low, high
        ``(S,)`` units a day. Ends of the 95 % interval; infinite with too few points,
        that is, fewer than four.
    """

    points: WeightArray
    per_day: RateArray
    low: RateArray
    high: RateArray


def growth_of(days: RateArray, values: RateArray) -> Growth:
    r"""
    Return the Theil-Sen slope of series, with a distribution-free interval.

    The slope is the median of the slopes of all pairs of points [1]_, so up to 29 % of
    the points may be outliers, such as a burst or a failed measurement. The ends of the
    interval are the slopes of ranks :math:`(N \mp C) / 2`, with :math:`N` pairs and
    :math:`C = z \sqrt{n (n - 1) (2 n + 5) / 18}`, from the variance of Kendall's
    statistic [2]_; ranks are rounded outwards.

    Parameters
    ----------
    days
        ``(N,)`` days. Distinct times of the values, ascending.
    values
        ``(N, S)`` units. Values of the series; NaN where a series has none.

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
    """Return the rows to keep: evenly spaced, first and last included."""
    if count <= MOST_POINTS:
        return np.arange(count, dtype=np.int64)
    return np.round(np.linspace(0, count - 1, MOST_POINTS)).astype(np.int64)


def _growth(
    days: RateArray, values: RateArray, first: WeightArray, second: WeightArray
) -> Growth:
    apart = (days[second] - days[first])[:, None]
    # NaN (a missing value) sorts last.
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
    """Return the slope of a rank, clipped, in each series; NaN without slopes."""
    if not len(slopes):
        return np.full(slopes.shape[1], np.nan)
    inside = np.clip(rank, 0, len(slopes) - 1)
    found: RateArray = slopes[inside, np.arange(slopes.shape[1])]
    return found


def days_until(value: RateArray, limit: RateArray, per_day: RateArray) -> RateArray:
    """
    Return the number of days until values reach their limits.

    Parameters
    ----------
    value, limit
        ``(S,)`` units. Current values, and their limits; NaN: unknown limit.
    per_day
        ``(S,)`` units a day. Growth rate; NaN: unknown.

    Returns
    -------
    ``(S,)`` days: 0 where the limit is reached, infinite without growth, NaN where the
    limit or the growth is unknown.

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
