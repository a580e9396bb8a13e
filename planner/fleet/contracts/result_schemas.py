"""Arrow schemas of the tables of results that no other module defines."""

import pyarrow as pa

from planner.fleet.contracts.table_contract import TIME

FIGURES = ("max_use", "max_deviation", "max_over_mean", "cv", "gini", "jain")
"""Figures of a cluster whose changes the table `balance` has."""
PROBLEM = ("table", "place", "value", "rule", "severity")
PROBLEMS = pa.schema(
    [
        ("cluster_id", pa.string()),
        ("taken_at", TIME),
        *((name, pa.string()) for name in PROBLEM),
    ]
)
DONE = pa.schema(
    [("cluster_id", pa.string()), ("taken_at", TIME), ("content", pa.string())]
)
BALANCE = pa.schema(
    [
        ("cluster_id", pa.string()),
        ("taken_at", TIME),
        ("resource", pa.string()),
        ("before", TIME),
        *((name, pa.float64()) for name in FIGURES),
        *((f"{name}_before", pa.float64()) for name in FIGURES),
        *((f"{name}_change", pa.float64()) for name in FIGURES),
    ]
)
