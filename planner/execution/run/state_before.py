"""State before a run, for its journal: lists, log dirs, leaders and throttles."""

from collections.abc import Iterator

from planner.execution.run.journal import Line, parts_of
from planner.plan.input.plan_input import PlanInput
from planner.snapshot import Snapshot
from planner.status.throttles_in_force import throttles_in
from planner.verify.state_rows import ClusterRows, entries_of

_PER_LINE = 1000


def state_before(plan: PlanInput, now: Snapshot) -> Iterator[Line]:
    """Yield the state of the partitions of a plan, and every throttle in force."""
    rows = ClusterRows(now.to_state())
    throttles = [list(one) for one in throttles_in(now)]
    yield {"cluster_id": now.cluster_id, "throttles": throttles}
    keys = [one.key for one in entries_of(plan.reassignment) if one.key in rows.row_of]
    for some in parts_of(keys, _PER_LINE):
        yield {"partitions": [_partition(rows, key, rows.row_of[key]) for key in some]}


def _partition(rows: ClusterRows, key: tuple[str, int], row: int) -> Line:
    replicas = rows.replicas(row)
    return {
        "topic": key[0],
        "partition": key[1],
        "replicas": replicas,
        "log_dirs": [rows.log_dir(row, slot) for slot in range(len(replicas))],
        "leader": rows.leaders[row],
    }
