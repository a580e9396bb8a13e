"""Contracts of the tables of a fleet in a catalog: snapshots, and ingested dumps."""

from collections.abc import Mapping

import pyarrow as pa

from planner.fleet.arrow_tables import CLUSTER_SCHEMA, KEY_FIELDS
from planner.fleet.contracts.snapshot_columns import SNAPSHOTS
from planner.fleet.contracts.table_contract import TIME, TableContract
from planner.fleet.dumps.dump_rejects import SCHEMA as REJECTS
from planner.snapshot.tables.snapshot_columns import ROW_KEYS, TABLES

SNAPSHOT = tuple(name for name, _ in KEY_FIELDS)
COMMITS = pa.schema([*KEY_FIELDS, ("content", pa.string())])
INGESTED = pa.schema(
    [
        ("dump", pa.string()),
        ("signature", pa.string()),
        ("cluster_id", pa.string()),
        ("taken_at", TIME),
        ("content", pa.string()),
        ("rejects", pa.int64()),
    ]
)
ROWS: Mapping[str, TableContract] = {
    each.name: TableContract(
        name=each.name,
        meanings=SNAPSHOTS[each.name],
        columns=pa.schema([*KEY_FIELDS, *each.schema]),
        keys=(*SNAPSHOT, *ROW_KEYS[each.name]),
    )
    for each in TABLES
}
"""Contracts of the tables of snapshots except `clusters`, by name; brokers first."""
FLEETS: Mapping[str, TableContract] = {
    "clusters": TableContract(
        name="clusters",
        meanings=SNAPSHOTS["clusters"],
        columns=CLUSTER_SCHEMA,
        keys=SNAPSHOT,
    ),
    **ROWS,
    "commits": TableContract(
        name="commits", meanings=SNAPSHOTS["commits"], columns=COMMITS, keys=SNAPSHOT
    ),
    "rejects": TableContract(
        name="rejects",
        meanings=SNAPSHOTS["rejects"],
        columns=REJECTS,
        keys=("dump", "scope", "file", "place", "value", "reason"),
        is_by_day=False,
    ),
    "ingested": TableContract(
        name="ingested",
        meanings=SNAPSHOTS["ingested"],
        columns=INGESTED,
        keys=("dump",),
        is_by_day=False,
    ),
}
"""Contracts by the table's name."""
