"""
Trends of one cluster, computed from the rows of its scores, with or without Spark.

A series is the load of one resource at one place (cluster, rack, broker, log dir or
topic) at all times of scores.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from placement.array_types import RateArray
from placement.draft.draft import DEFAULT_THRESHOLDS
from placement.score.load_trend import days_until, growth_of
from planner.snapshot.tables.snapshot_columns import ArrowTable

PLACE = ("level", "rack", "broker", "log_dir", "topic", "resource")
NEEDED = ("cluster_id", "taken_at", *PLACE, "brokers", "load", "capacity", "total")
MICROS_PER_DAY = 86_400_000_000
_TIME = pa.timestamp("us", tz="UTC")
DAYS = ("days_until_threshold", "days_until_full")
_ENDS = ("", "_low", "_high")
SCHEMA = pa.schema(
    [
        ("cluster_id", pa.string()),
        ("taken_at", _TIME),
        ("level", pa.string()),
        ("rack", pa.string()),
        ("broker", pa.int32()),
        ("log_dir", pa.string()),
        ("topic", pa.string()),
        ("resource", pa.string()),
        ("since", _TIME),
        ("points", pa.int64()),
        ("value", pa.float64()),
        ("growth_per_day", pa.float64()),
        ("growth_low", pa.float64()),
        ("growth_high", pa.float64()),
        ("capacity", pa.float64()),
        *((f"{name}{end}", pa.float64()) for name in DAYS for end in _ENDS),
    ]
)
"""The columns of a table of trends."""


def trend_table(scores: ArrowTable) -> ArrowTable:
    """
    Return the trends of one cluster.

    Parameters
    ----------
    scores
        Rows of `planner.score.score_tables`, the columns `NEEDED`, in any order.

    Returns
    -------
    A row per place and resource of the last snapshot, in the columns of `SCHEMA`. Null
    means unknown; a null number of days means unknown or never.
    """
    rows = scores.select(list(NEEDED)).sort_by("taken_at").combine_chunks()
    micros, row_of_time = _times(rows)
    series, place_rows = _series(rows)
    values = np.full((len(micros), len(place_rows)), np.nan)
    values[row_of_time, series] = _values(rows)
    is_there = ~np.isnan(values[-1]) if len(micros) else np.zeros(0, dtype=bool)
    kept = np.nonzero(is_there)[0]
    places = rows.take(pa.array(place_rows[kept]))
    return _table(places, micros, values[:, kept])


def _times(rows: ArrowTable) -> tuple[Any, Any]:
    micros = rows.column("taken_at").cast(_TIME).cast(pa.int64()).to_numpy()
    return np.unique(micros, return_inverse=True)


def _series(rows: ArrowTable) -> tuple[Any, Any]:
    """Return the series of each row, and the last row of each series."""
    keys = [
        pc.fill_null(rows.column(name).cast(pa.string()), "\x00").combine_chunks()
        for name in PLACE
    ]
    joined = pc.binary_join_element_wise(*keys, "\x1f")
    series = joined.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    last = np.zeros(int(series.max(initial=-1)) + 1, dtype=np.int64)
    # Rows are in order of time, so the last assignment is the latest row.
    last[series] = np.arange(len(series))
    return series, last


def _values(rows: ArrowTable) -> RateArray:
    """Return the load of brokers and racks, the total of clusters and topics."""
    load = rows.column("load").cast(pa.float64())
    both = pc.coalesce(load, rows.column("total").cast(pa.float64()))
    values: RateArray = both.to_numpy().astype(np.float64)
    return values


def _table(places: ArrowTable, micros: Any, values: RateArray) -> ArrowTable:  # noqa: ANN401 - (N,) ints
    growth = growth_of(micros / MICROS_PER_DAY, values)
    now = values[-1] if len(values) else np.zeros(0)
    first = np.argmax(~np.isnan(values), axis=0) if len(values) else np.zeros(0, int)
    capacity = _capacities(places)
    columns: dict[str, Any] = {
        **{name: places.column(name) for name in ("cluster_id", *PLACE, "taken_at")},
        "since": pa.array(micros[first], pa.int64()).cast(_TIME),
        "points": growth.points,
        "value": now,
        "growth_per_day": growth.per_day,
        "growth_low": growth.low,
        "growth_high": growth.high,
        "capacity": capacity,
    }
    limits = (capacity * _thresholds(places), capacity)
    for name, limit in zip(DAYS, limits, strict=True):
        columns[name] = days = days_until(now, limit, growth.per_day)
        # The upper bound of growth gives the lower bound of days.
        for end, bound in (("_low", growth.high), ("_high", growth.low)):
            is_known = np.isfinite(bound) | (days == 0)
            found = days_until(now, limit, bound)
            columns[f"{name}{end}"] = np.where(is_known, found, np.nan)
    arrays = [_array(columns[field.name], field.type) for field in SCHEMA]
    return pa.Table.from_arrays(arrays, schema=SCHEMA)


def _array(values: Any, kind: Any) -> Any:  # noqa: ANN401 - Arrow has no types
    if isinstance(values, np.ndarray) and kind == pa.float64():
        return pa.array(values, kind, mask=~np.isfinite(values))
    return pa.array(values, kind) if isinstance(values, np.ndarray) else values


def _capacities(places: ArrowTable) -> RateArray:
    """Return capacities; NaN if unknown, which scores store as 1 per broker."""
    capacity = (
        pc.fill_null(places.column("capacity"), 0.0).to_numpy().astype(np.float64)
    )
    brokers = pc.fill_null(places.column("brokers"), 1).to_numpy()
    measured = pc.is_in(
        places.column("resource"), value_set=pa.array(["disk", "in", "out", "cpu"])
    ).to_numpy(zero_copy_only=False)
    known: RateArray = np.where(measured & (capacity > brokers), capacity, np.nan)
    return known


def _thresholds(places: ArrowTable) -> RateArray:
    by_name = {str(resource): most for resource, most in DEFAULT_THRESHOLDS.items()}
    names = places.column("resource").to_pylist()
    return np.array([by_name.get(name, 1.0) for name in names])
