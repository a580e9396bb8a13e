"""Plans of operations, judged by the checker that shares nothing with them."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np

from placement.check import CheckSettings, Finding, Target, check
from placement.draft.draft import Settings
from placement.model.cluster import ClusterState
from placement.operations.operation import Operation
from placement.planning.outcome.result import PlannedPlacement
from placement.planning.plan import plan

Lists = list[list[int]]
Dirs = list[list[str | None] | None]


def lists_of(state: ClusterState) -> Lists:
    """Return broker ids per partition."""
    return [state.brokers_of(p) for p in range(state.num_partitions)]


def lists_after(found: PlannedPlacement) -> Lists:
    return lists_of(found.reassignment.after())


def planned(state: ClusterState, operation: Operation, **options: Any) -> Lists:
    """Plan, hold the plan against the checker, and return the lists after it."""
    return lists_after(plan_checked(state, operation, Settings(**options)))


def plan_checked(
    state: ClusterState,
    operation: Operation,
    settings: Settings | None = None,
    *,
    rules: CheckSettings | None = None,
) -> PlannedPlacement:
    """
    Plan, and hold the plan against the checker.

    What the checker objects to must have been so before, and the plan must not say
    that all rules are met where one is broken anew. Of log dirs whose sizes are not all
    known the plan must say that their broker may overfill them.
    """
    found = plan(state, operation, settings)
    caused = newly_wrong(found, rules)
    if found.draft.settings.frees_the_rest and not found.has_met_rules:
        # The search weighs one rule against another where it cannot keep all.
        caused = [f for f in caused if f.rule not in {"capacity", "log-dir-capacity"}]
    warned = {
        (note.where["broker"], note.where["log_dir"])
        for note in found.notes
        if note.what == "log-dir-overfull" and note.where
    }
    caused = [f for f in caused if (f.where.broker, f.where.log_dir) not in warned]
    assert not caused, caused
    assert found.solution.certificate.moves.value == found.reassignment.is_copied.sum()
    size = found.draft.weights.copy_bytes
    of = found.reassignment.partition_idx[found.reassignment.is_copied]
    assert found.solution.certificate.cost.value == size[of].sum()
    for bounded in (found.solution.certificate.cost, found.solution.certificate.moves):
        assert 0 <= bounded.lower_bound <= bounded.value
    assert bool(found.solution.shortfalls) != found.has_met_rules
    return found


def newly_wrong(
    found: PlannedPlacement, rules: CheckSettings | None = None
) -> list[Finding]:
    """Return what the checker finds and would not find had nothing changed."""
    state = found.reassignment.before
    changed = np.nonzero(found.reassignment.is_changed)[0].tolist()
    resizes = bool(found.reassignment.is_resized.any())
    leaving = state.brokers.ids[found.draft.leaves].tolist()
    rules = replace(
        rules or CheckSettings(),
        leaving_brokers=frozenset(leaving),
        allow_replication_factor_change=resizes,
    )
    after, dirs = lists_after(found), dirs_after(found)
    is_wrong = check(state, _target(state, changed, after, dirs), rules)
    was_wrong = check(state, _target(state, changed, lists_of(state)), rules)
    known = {_key(finding) for finding in was_wrong}
    return [f for f in is_wrong if not f.existing and _key(f) not in known]


def dirs_after(found: PlannedPlacement) -> Dirs:
    """Return the log dirs that a plan names for its replicas, per partition."""
    reassignment, state = found.reassignment, found.reassignment.before
    start = reassignment.start.tolist()
    if reassignment.log_dir_idx is None:
        return [None] * (len(start) - 1)
    paths = [*state.log_dirs.paths, None]
    named = [paths[d] for d in reassignment.log_dir_idx.tolist()]
    return [named[a:b] for a, b in itertools.pairwise(start)]


def _target(
    state: ClusterState, chosen: list[int], lists: Lists, dirs: Dirs | None = None
) -> Target:
    names = [state.topics.names[t] for t in state.partitions.topic_idx[chosen]]
    numbers = state.partitions.partition[chosen].tolist()
    named = None if dirs is None else [dirs[p] for p in chosen]
    return Target.from_lists(names, numbers, [lists[p] for p in chosen], named)


def _key(finding: Finding) -> tuple[object, ...]:
    where = finding.where
    return (
        finding.rule,
        where.topic,
        where.partition,
        where.broker,
        where.rack,
        where.resource,
    )
