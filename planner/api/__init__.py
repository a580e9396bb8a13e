"""The planner from Python: the commands as functions, with results as tables."""

from planner.api.checks import (
    CheckResult,
    apply_plan,
    check_plan,
    preview_plan,
    verify_plan,
)
from planner.api.failures import (
    FailuresResult,
    LossResult,
    lose,
    try_failures,
)
from planner.api.keys import KeysResult, keys_grow, keys_skew
from planner.api.new_partitions import (
    NewPartitionsResult,
    add_partitions,
    new_topic,
)
from planner.api.operations import (
    add_brokers,
    demote,
    fix,
    leaders,
    log_dirs,
    rebalance,
    remove_brokers,
    replace_broker,
    set_replication_factor,
)
from planner.api.plans import PlanOptions, plan_operation
from planner.api.present_state import (
    ScoreResult,
    StatusResult,
    cluster_status,
    score_cluster,
)
from planner.api.proposals import propose_assignment
from planner.api.result import PlanResult
from planner.api.runs import apply, cancel, rollback
from planner.api.scenarios import WhatIfResult, play_scenarios
from planner.api.sizing import (
    PartitionsAuditResult,
    PartitionsSizeResult,
    SizeResult,
    partitions_audit,
    partitions_size,
    size_cluster,
)
from planner.api.snapshots import read_snapshot, take_snapshot, write_snapshot
from planner.api.table import Table

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
