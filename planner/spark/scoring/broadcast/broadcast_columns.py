"""Columns of brokers, log dirs and clusters that are broadcast, and their casts."""

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from planner.fleet.arrow_tables import CLUSTER_FIELDS, KEY_FIELDS
from planner.kafka_releases import caps_min_isr
from planner.snapshot.tables.snapshot_columns import (
    BROKERS,
    LOG_DIRS,
    MAX_INT32,
    STRING_MAP,
    ArrowTable,
    Column,
    TableColumns,
)
from planner.snapshot.tables.table_facts import MIN_ISR
from planner.spark.common.cell_casts import Cells, cast_cells
from planner.spark.common.problem_rows import Row
from planner.spark.common.snapshot_headers import header_of, header_rows
from planner.spark.io.fleet_files import KEY, TIME

_HEADER = TableColumns(
    "clusters", (Column("kafka_version", pa.string()), Column("configs", STRING_MAP))
)
_TABLES = {"clusters": _HEADER, "brokers": BROKERS, "log_dirs": LOG_DIRS}
CHECKED = {"brokers": ("configs", "tags")}
"""Columns that are checked and then dropped."""
GROUND_COLUMNS = {
    "clusters": tuple(name for name, _ in CLUSTER_FIELDS[len(KEY_FIELDS) :]),
    "brokers": tuple(BROKERS.schema.names),
    "log_dirs": tuple(LOG_DIRS.schema.names),
}
"""Columns that are read of each table, besides the key."""
_KEY_TYPES = [(KEY[0], pa.string()), (KEY[1], TIME)]
_KEPT = {
    "clusters": [("min_isr", pa.int32()), ("caps_min_isr", pa.bool_())],
    **{
        columns.name: [
            (column.name, column.type)
            for column in columns.columns
            if column.name not in CHECKED.get(columns.name, ())
        ]
        for columns in (BROKERS, LOG_DIRS)
    },
}
EMPTY = {
    name: pa.schema([*kept, *_KEY_TYPES]).empty_table() for name, kept in _KEPT.items()
}
"""Empty tables with the columns that are kept."""
ORDER = {"brokers": "id", "log_dirs": "path"}
"""Column by which the rows of a snapshot are sorted."""


def cast_ground(name: str, rows: ArrowTable) -> Cells:
    """
    Cast a table of clusters, brokers or log dirs.

    Parameters
    ----------
    name
        Name of the table.
    rows
        The columns `GROUND_COLUMNS` and `KEY`, of any snapshots.

    Returns
    -------
    Rows in the columns of `EMPTY`, and the problems of their cells.
    """
    cast, found = cast_cells(rows, _TABLES[name].columns, name)
    cast = with_keys(cast)
    if name == "clusters":
        least, capped, more = _headers(rows)
        cast = cast.append_column("min_isr", pa.array(least, pa.int32()))
        cast = cast.append_column("caps_min_isr", pa.array(capped, pa.bool_()))
        found += more
    return cast.select(EMPTY[name].column_names), found


def with_keys(table: ArrowTable) -> ArrowTable:
    """Return a table with its key in the types of `KEY`."""
    for name, kind in _KEY_TYPES:
        at = table.schema.get_field_index(name)
        table = table.set_column(at, name, table.column(name).cast(kind))
    return table


def _headers(rows: ArrowTable) -> tuple[list[int | None], list[bool], list[Row]]:
    """Return the min ISR of each row, whether it is capped, and header problems."""
    least: list[int | None] = []
    capped: list[bool] = []
    found: list[Row] = []
    known: dict[str, list[Row]] = {}
    for row in rows.select(list(GROUND_COLUMNS["clusters"])).to_pylist():
        header = header_of(row, "", 0)
        least.append(_min_isr(header.get("configs")))
        capped.append(_caps_min_isr(header))
        # Most snapshots of one cluster have equal headers.
        text = json.dumps(header, default=repr)
        if text not in known:
            known[text] = list(header_rows(header))
        found += known[text]
    return least, capped, found


def _caps_min_isr(header: Mapping[str, Any]) -> bool:
    """Return whether brokers cap the min ISR; values of other types prove nothing."""
    version, features = header.get("kafka_version"), header.get("features")
    levels = features if isinstance(features, Mapping) else {}
    return caps_min_isr(
        version if isinstance(version, str) else None,
        {name: level for name, level in levels.items() if isinstance(level, int)},
    )


def _min_isr(configs: Any) -> int | None:  # noqa: ANN401 - whatever the column holds
    text = configs.get(MIN_ISR) if isinstance(configs, Mapping) else None
    if not isinstance(text, str) or not text.strip().isdecimal():
        return None
    return int(text) if int(text) <= MAX_INT32 else None
