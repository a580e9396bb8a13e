"""What any plan must keep, whatever it was wished for."""

from collections.abc import Iterable

import numpy as np

from fuzz.drawn import Drawn
from placement.check import Finding, Target, check
from placement.cluster import ClusterState
from planner.errors import BadInputError
from planner.plan.make import Planned, make, rules_of
from planner.plan.request import read_request

MET = {"optimal", "feasible", "nothing-to-do"}
SHAPE = {
    "unknown-broker", "dead-broker", "duplicate-broker", "unknown-topic",
    "unknown-partition", "duplicate-partition", "empty-replicas", "excluded",
    "replication-factor", "stale",
}  # fmt: skip
"""What no plan may have wrong, met or not."""
Key = tuple[object, ...]


def judge(case: Drawn) -> str:
    """
    Plan a case, and hold the plan against all that must be so.

    Returns
    -------
    The status of the plan; ``refused`` where the wish makes no sense for the cluster.

    Raises
    ------
    AssertionError
        With what is wrong.
    """
    try:
        made = make(case.state, case.request)
    except BadInputError as error:
        if not error.problems:
            raise
        return "refused"
    caused = newly_wrong(case, made)
    status = made.plan.status
    assert not {key for key in caused if key[0] in SHAPE}, caused
    assert not {key for key in caused if str(key[0]).startswith("wave-")}, caused
    assert status not in MET or not caused, caused
    judge_certificate(made)
    if status in MET:
        judge_emptied(case, made)
        judge_again(case, made)
    return status


def newly_wrong(case: Drawn, made: Planned) -> set[Key]:
    """Return what the checker finds and would not find had no list changed."""
    placed = made.plan.placed.reassignment
    rules = rules_of(made.plan, read_request(case.request, case.state))
    same = as_it_was(placed.before, np.nonzero(placed.is_changed)[0].tolist())
    return keys(made.findings) - keys(check(placed.before, same, rules))


def keys(findings: Iterable[Finding]) -> set[Key]:
    """Return rules and places of what is not said to have been so before."""
    return {
        (f.rule, f.where.topic, f.where.partition, f.where.broker, f.where.resource)
        for f in findings
        if not f.existing
    }


def as_it_was(state: ClusterState, rows: list[int]) -> Target:
    """Return the lists of some partitions as they are."""
    names = [state.topics.names[t] for t in state.partitions.topic_idx[rows]]
    numbers = state.partitions.partition[rows].tolist()
    return Target.from_lists(names, numbers, [state.brokers_of(p) for p in rows])


def judge_certificate(made: Planned) -> None:
    """No bound is above what it bounds."""
    proven = made.plan.placed.solution.certificate
    for bounded in (proven.cost, proven.moves, proven.deviation):
        assert 0 <= bounded.lower_bound <= bounded.value, bounded


def judge_emptied(case: Drawn, made: Planned) -> None:
    """What was to be emptied is empty, or left alone and said so."""
    if case.request.goal not in {"remove-brokers", "demote"}:
        return
    after = made.plan.placed.reassignment.after()
    named = [int(broker) for broker in (case.request.broker_list or "").split(",")]
    rows = after.brokers.rows_of(named)
    lies = np.isin(after.replicas.broker_idx, rows)
    of = after.replicas.partition_idx[lies]
    if case.request.goal == "demote":
        of = np.nonzero(np.isin(after.partitions.leader_idx, rows))[0]
    assert not len(of) or made.plan.placed.notes, f"{named} keep partitions {set(of)}"


def judge_again(case: Drawn, made: Planned) -> None:
    """What was planned and done is not planned again."""
    if case.request.max_moves is not None:
        return
    after = made.plan.placed.reassignment.after()
    again = make(after, case.request)
    moved = again.plan.placed.reassignment.is_copied
    assert not moved.any(), f"{int(moved.sum())} copies the second time"
