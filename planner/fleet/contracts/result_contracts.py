"""Contracts of the tables of results: scores, plans, trends, changes, overviews."""

from collections.abc import Mapping

import pyarrow as pa

from planner.fleet import (
    cluster_overview,
    cluster_plans,
    cluster_scenarios,
    cluster_trends,
    snapshot_changes,
)
from planner.fleet.contracts.result_columns import RESULT_COLUMNS
from planner.fleet.contracts.result_schemas import BALANCE, DONE, PROBLEM, PROBLEMS
from planner.fleet.contracts.table_contract import TIME, TableContract
from planner.score.score_tables import SCHEMA as SCORES

SNAPSHOT = ("cluster_id", "taken_at")
PLACE = ("rack", "broker", "log_dir", "topic")
OVERVIEW = pa.schema(
    [
        *cluster_overview.SCHEMA,
        *((name, pa.float64()) for name in cluster_overview.FORECAST),
        (cluster_overview.MOVED[0], pa.int64()),
        (cluster_overview.MOVED[1], TIME),
    ]
)
RESULTS: Mapping[str, TableContract] = {
    each.name: each
    for each in (
        TableContract(
            name="scores",
            meanings=RESULT_COLUMNS["scores"],
            columns=SCORES,
            keys=(*SNAPSHOT, "level", "resource", *PLACE),
        ),
        TableContract(
            name="problems",
            meanings=RESULT_COLUMNS["problems"],
            columns=PROBLEMS,
            keys=(*SNAPSHOT, *PROBLEM),
        ),
        TableContract(
            name="done", meanings=RESULT_COLUMNS["done"], columns=DONE, keys=SNAPSHOT
        ),
        TableContract(
            name="trends",
            meanings=RESULT_COLUMNS["trends"],
            columns=cluster_trends.SCHEMA,
            keys=("cluster_id", "level", "resource", *PLACE),
            is_by_day=False,
        ),
        TableContract(
            name="balance",
            meanings=RESULT_COLUMNS["balance"],
            columns=BALANCE,
            keys=(*SNAPSHOT, "resource"),
            is_by_day=False,
        ),
        TableContract(
            name="changes",
            meanings=RESULT_COLUMNS["changes"],
            columns=snapshot_changes.SCHEMA,
            keys=(*SNAPSHOT, "before", "topic", "partition"),
        ),
        TableContract(
            name="drift",
            meanings=RESULT_COLUMNS["drift"],
            columns=snapshot_changes.DRIFT_SCHEMA,
            keys=(*SNAPSHOT, "planned_at", "request", "request_hash"),
        ),
        TableContract(
            name="overview",
            meanings=RESULT_COLUMNS["overview"],
            columns=OVERVIEW,
            keys=("cluster_id",),
            is_by_day=False,
        ),
        TableContract(
            name="plans",
            meanings=RESULT_COLUMNS["plans"],
            columns=cluster_plans.SCHEMA,
            keys=(*SNAPSHOT, "request", "request_hash"),
        ),
        TableContract(
            name="scenarios",
            meanings=RESULT_COLUMNS["scenarios"],
            columns=cluster_scenarios.SCHEMA,
            keys=(*SNAPSHOT, "request", "request_hash"),
        ),
    )
}
"""Contracts by the table's name."""
