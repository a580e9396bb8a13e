"""
The application: snapshots, plans, the command line, live clusters.

From Python, the main job::

    import planner

    snapshot = planner.read_snapshot("now.json")
    plan = planner.rebalance(snapshot, band=0.05)
    plan.write("plan")

The names below come from `planner.api` and are loaded on first use, so that importing
`planner` is fast.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planner.api import *

__all__ = [
    "CheckResult",
    "FailuresResult",
    "KeysResult",
    "LossResult",
    "NewPartitionsResult",
    "PartitionsAuditResult",
    "PartitionsSizeResult",
    "PlanOptions",
    "PlanResult",
    "ScoreResult",
    "SizeResult",
    "StatusResult",
    "Table",
    "WhatIfResult",
    "add_brokers",
    "add_partitions",
    "apply",
    "apply_plan",
    "cancel",
    "check_plan",
    "cluster_status",
    "demote",
    "fix",
    "keys_grow",
    "keys_skew",
    "leaders",
    "log_dirs",
    "lose",
    "new_topic",
    "partitions_audit",
    "partitions_size",
    "plan_operation",
    "play_scenarios",
    "preview_plan",
    "propose_assignment",
    "read_snapshot",
    "rebalance",
    "remove_brokers",
    "replace_broker",
    "rollback",
    "score_cluster",
    "set_replication_factor",
    "size_cluster",
    "take_snapshot",
    "try_failures",
    "verify_plan",
    "write_snapshot",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever has the name
    if name not in __all__:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    from planner import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
