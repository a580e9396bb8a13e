"""Snapshots as the Arrow tables of a fleet, without Spark."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from planner.errors import raise_problems
from planner.io.json_reader import parse_json
from planner.io.problems import problem
from planner.snapshot.parquet_folder import HEADER_FILE
from planner.snapshot.tables.snapshot_columns import TABLES, ArrowTable
from planner.snapshot.tables.snapshot_problems import refuse

if TYPE_CHECKING:
    from planner.snapshot import Snapshot

KEY_FIELDS = (("cluster_id", pa.string()), ("taken_at", pa.timestamp("us", tz="UTC")))
CLUSTER_FIELDS = (
    *KEY_FIELDS,
    ("kafka_version", pa.string()),
    ("configs", pa.map_(pa.string(), pa.string())),
    ("features", pa.map_(pa.string(), pa.int64())),
    (
        "rates",
        pa.struct(
            [
                ("source", pa.string()),
                ("window_s", pa.float64()),
                ("quantile", pa.float64()),
                ("split", pa.string()),
            ]
        ),
    ),
    (
        "controllers",
        pa.list_(
            pa.struct(
                [
                    ("id", pa.int32()),
                    ("rack", pa.string()),
                    ("voter", pa.bool_()),
                    ("combined", pa.bool_()),
                ]
            )
        ),
    ),
)
CLUSTER_SCHEMA = pa.schema(list(CLUSTER_FIELDS))
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""Time of a snapshot without `taken_at`."""


def snapshot_tables(snapshot: "Snapshot", *, name: str) -> dict[str, ArrowTable]:
    """Return one snapshot as tables of a fleet, by name."""
    clusters = header_table(snapshot.header(), name=name)
    key = {column: clusters.column(column)[0] for column in ("cluster_id", "taken_at")}
    tables = {"clusters": clusters}
    for columns in TABLES:
        table = snapshot.tables()[columns.name]
        for position, (column, value) in enumerate(key.items()):
            keys = pa.repeat(value, len(table))
            table = table.add_column(position, column, keys)
        tables[columns.name] = table
    return tables


def header_table(header: Mapping[str, Any], *, name: str) -> ArrowTable:
    """Return the header of a snapshot as one row of `clusters`."""
    taken_at = header.get("taken_at")
    moment = EPOCH if taken_at is None else datetime.fromisoformat(str(taken_at))
    row = {
        **{field.name: header.get(field.name) for field in CLUSTER_SCHEMA},
        "cluster_id": header.get("cluster_id") or name,
        "taken_at": moment.astimezone(UTC),
        "configs": list((header.get("configs") or {}).items()),
        "features": list((header.get("features") or {}).items()),
    }
    return pa.Table.from_pylist([row], schema=CLUSTER_SCHEMA)


def read_header(folder: Path) -> dict[str, Any]:
    """
    Read the header of a snapshot in a folder.

    Raises
    ------
    BadInputError
        If the folder has no valid header.
    """
    from planner.snapshot.formats.json_columns import validate_header

    path = folder / HEADER_FILE
    try:
        document = parse_json(path.read_bytes())
    except (OSError, ValueError) as error:
        rule = f"a snapshot folder must contain {HEADER_FILE}: {error}"
        raise refuse(str(folder), [problem(str(folder), "", None, rule)]) from error
    header, problems = validate_header(document, file=str(path))
    raise_problems(f"{folder} is not a snapshot", problems)
    return header
