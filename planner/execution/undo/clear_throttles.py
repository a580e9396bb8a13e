"""Throttles that no copy needs any more, taken off on demand."""

from dataclasses import dataclass
from pathlib import Path

from planner.execution.cluster.running_cluster import RunningCluster
from planner.execution.run.journal import Journal, read_journal
from planner.execution.run.run_lock import run_lock
from planner.execution.run.run_throttles import OwnThrottles, RunThrottles
from planner.kafka.actions.config_changes import ConfigAction, Place
from planner.plan.input.plan_input import PlanInput
from planner.status.throttles_in_force import throttles_in
from planner.throttles import Throttle
from planner.verify.leftover_throttles import throttles_left
from planner.verify.state_rows import entries_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleared:
    """
    Outcome of taking throttles off.

    Parameters
    ----------
    removed
        Throttles that are off now; those of runs of the plan got their old values.
    left
        Places where that is not possible now, with the reason.
    """

    removed: tuple[Throttle, ...]
    left: tuple[str, ...]


def find_unneeded(plan: PlanInput, cluster: RunningCluster) -> list[Throttle]:
    """Return the throttles that no running copy needs; see `throttles_left`."""
    now = cluster.snapshot()
    topics = {entry.key[0] for entry in entries_of(plan.reassignment)}
    return throttles_left(now.to_state(), topics, throttles_in(now))


def clear_throttles(plan: PlanInput, journal: Path, cluster: RunningCluster) -> Cleared:
    """
    Take off every throttle that no running copy needs.

    Those that runs of the plan have set get the value of before; others are removed.

    Parameters
    ----------
    plan
        The plan, whose topics count.
    journal
        Path of the journal of its runs; it may not exist.
    cluster
        The cluster.

    Raises
    ------
    BadInputError
        If a run of the plan is under way: it needs its throttles.
    ClusterUnavailableError, AnswerUnknownError
        If the cluster does not answer.
    """
    with run_lock(journal), Journal(journal) as lines:
        before = find_unneeded(plan, cluster)
        if not before:
            return Cleared(removed=(), left=())
        left: list[str] = []
        own = OwnThrottles.from_journal(read_journal(journal))
        if not cluster.reassignments():
            left += RunThrottles(cluster, lines, own, None).clean()
        kept = {(place, key) for place, keys in own.before.items() for key in keys}
        others = [
            one
            for one in find_unneeded(plan, cluster)
            if (Place(one.scope, one.name), one.key) not in kept
        ]
        left += _remove(others, cluster, lines)
        still = {one[:3] for one in find_unneeded(plan, cluster)}
        return Cleared(
            removed=tuple(one for one in before if one[:3] not in still),
            left=tuple(left),
        )


def _remove(
    throttles: list[Throttle], cluster: RunningCluster, journal: Journal
) -> list[str]:
    """Remove throttles, and return those that could not be removed."""
    changes: dict[Place, dict[str, tuple[ConfigAction, str]]] = {}
    left = [
        f"{one.place}: {one.removal()}" for one in throttles if one.scope == "cluster"
    ]
    for one in throttles:
        if one.scope != "cluster":
            changes.setdefault(Place(one.scope, one.name), {})[one.key] = "DELETE", ""
    if changes:
        named = [[*place, sorted(keys)] for place, keys in changes.items()]
        journal.write("request", kind="throttles", removed=named)
        refused = cluster.set_configs(changes)
        left += [f"{scope} {name}: {why}" for (scope, name), why in refused.items()]
    return left
