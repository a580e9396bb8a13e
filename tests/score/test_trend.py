"""Slopes that outliers do not move, their intervals, and days until a limit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.score.load_trend import MOST_POINTS, days_until, growth_of

VALUES = st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=12)


def naive_slopes(days, values):
    known = [(d, v) for d, v in zip(days, values, strict=True) if not np.isnan(v)]
    return sorted(
        (v2 - v1) / (d2 - d1)
        for i, (d1, v1) in enumerate(known)
        for d2, v2 in known[i + 1 :]
    )


@settings(max_examples=60)
@given(st.data())
def test_slopes_and_intervals_are_those_of_the_definition(data):
    count = data.draw(st.integers(1, 10))
    days = np.cumsum(
        data.draw(st.lists(st.integers(1, 9), min_size=count, max_size=count))
    )
    cells = st.none() | st.integers(-(10**6), 10**6)
    series = [
        data.draw(st.lists(cells, min_size=count, max_size=count)) for _ in range(3)
    ]
    values = np.array(series, dtype=float).T

    found = growth_of(days.astype(float), values)

    for s in range(3):
        slopes = naive_slopes(days, values[:, s])
        n, pairs = found.points[s], len(slopes)
        assert n == np.count_nonzero(~np.isnan(values[:, s]))
        if not slopes:
            assert np.isnan(found.per_day[s])
            continue
        assert found.per_day[s] == pytest.approx(np.median(slopes))
        half = 1.959963984540054 * np.sqrt(n * (n - 1) * (2 * n + 5) / 18) / 2
        low, high = int(np.floor(pairs / 2 - half)), int(np.ceil(pairs / 2 + half)) + 1
        assert found.low[s] == (slopes[low - 1] if low >= 1 else -np.inf)
        assert found.high[s] == (slopes[high - 1] if high <= pairs else np.inf)
        assert found.low[s] <= found.per_day[s] <= found.high[s]


@settings(max_examples=40)
@given(VALUES.filter(lambda values: len(values) > 1))
def test_the_slope_is_scipys(values):
    # Which takes a second to import, and so not in each process that collects tests.
    from scipy.stats import theilslopes

    days = np.arange(len(values), dtype=float)

    found = growth_of(days, np.array(values, dtype=float)[:, None])

    assert found.per_day[0] == pytest.approx(theilslopes(values, days).slope)


@settings(max_examples=40)
@given(VALUES)
def test_what_shrinks_is_what_grows_turned_over(values):
    days = np.arange(len(values), dtype=float)
    column = np.array(values, dtype=float)[:, None]

    up, down = growth_of(days, column), growth_of(days, -column)

    assert down.per_day == pytest.approx(-up.per_day, nan_ok=True)
    assert (down.low, down.high) == (-up.high, -up.low)


def test_a_quarter_of_nonsense_changes_nothing():
    days = np.arange(40.0)
    values = 100 + 5 * days
    values[::4] = 10**9

    found = growth_of(days, values[:, None])

    assert found.per_day[0] == 5
    assert found.low[0] <= 5 <= found.high[0] < 10**6


def test_long_series_are_thinned_and_wide_tables_cut(monkeypatch):
    monkeypatch.setattr("placement.score.load_trend._PAIRS_AT_A_TIME", 30_000)
    days = np.arange(3.0 * MOST_POINTS)
    values = np.outer(days, np.arange(7.0)) + 3

    found = growth_of(days, values)

    assert found.per_day == pytest.approx(np.arange(7.0))
    assert set(found.points) == {MOST_POINTS}


def test_no_series_and_no_points():
    assert growth_of(np.zeros(0), np.zeros((0, 2))).points.tolist() == [0, 0]
    assert growth_of(np.zeros(3), np.zeros((3, 0))).per_day.tolist() == []


@pytest.mark.parametrize(
    ("value", "limit", "per_day", "days"),
    [
        pytest.param(50, 100, 10, 5, id="grows"),
        pytest.param(100, 100, -1, 0, id="there"),
        pytest.param(50, 100, 0, np.inf, id="still"),
        pytest.param(50, np.nan, 1, np.nan, id="no-limit"),
        pytest.param(50, 100, np.nan, np.nan, id="no-slope"),
        pytest.param(50, 100, np.inf, 0, id="unbounded"),
    ],
)
def test_days_until_a_limit(value, limit, per_day, days):
    found = days_until(*(np.array([float(each)]) for each in (value, limit, per_day)))

    assert found.tolist() == pytest.approx([days], nan_ok=True)
