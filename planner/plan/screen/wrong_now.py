"""Violations on the screen of a plan: thresholds, racks, leaders, dead brokers."""

from collections.abc import Iterator

import numpy as np

from placement.array_types import BoolArray
from placement.model.cluster import ABSENT, BrokerState, ClusterState, LogDirState
from placement.model.load import RESOURCES, Resource, weigh
from placement.score import Score
from placement.score.level_loads import log_dir_loads
from planner.plan.documents.plan_document import Plan
from planner.plan.screen.broker_table import over_threshold
from planner.plan.screen.plan_claims import VIOLATIONS
from planner.text.format import brokers_text, percent_text, plural

MOST_DIRS = 3
"""Largest number of log dirs named one by one."""


def wrong_text(plan: Plan) -> str:
    """Return what is wrong with the placement before the plan, as text."""
    offline = plan.before.violations["offline_replicas"]
    problems = [*wrong(plan, plan.before, plan.state), *_idle_brokers(plan)]
    if offline:
        problems.insert(0, f"{plural(offline, 'replica')} offline")
    fine = [] if plan.before.violations["rack"] else ["racks ok"]
    if not offline:
        fine.append("0 offline")
    ending = f" {', '.join(fine).capitalize()}." if fine else ""
    return f"{'; '.join(problems) or 'nothing'}.{ending}"


def wrong(plan: Plan, score: Score, state: ClusterState) -> Iterator[str]:
    """Yield the violations of a placement, `state`, that operators care about."""
    thresholds = plan.placed.draft.settings.capacity_thresholds
    for r, resource in enumerate(RESOURCES):
        over = over_threshold(plan, score, r)
        if over.any():
            limit = percent_text(thresholds[resource])
            yield f"{named_brokers(plan, over)} over the {limit} {resource} threshold"
        if resource is Resource.DISK and resource in thresholds:
            left_out = over if state is plan.state else over | _is_unnamed(state)
            yield from _full_dirs(state, left_out, thresholds[resource])
    for rule, words in VIOLATIONS.items():
        count = score.violations[rule]
        if count:
            yield f"{plural(count, 'partition')} {words[count > 1]}"


def _is_unnamed(state: ClusterState) -> BoolArray:
    """Return ``(B,)`` brokers that choose the log dir of a copy themselves."""
    replicas = state.replicas
    chosen = replicas.broker_idx[np.equal(replicas.log_dir_idx, ABSENT)]
    return np.isin(np.arange(state.num_brokers), chosen)


def _full_dirs(
    state: ClusterState, left_out: BoolArray, threshold: float
) -> Iterator[str]:
    """Yield the log dirs over their threshold, except on brokers left out, ``(B,)``."""
    dirs = state.log_dirs
    load = log_dir_loads(state, weigh(state), state.partitions.leader_idx)
    used = load[:, RESOURCES.index(Resource.DISK)]
    is_full = (dirs.size_bytes > 0) & (used > threshold * dirs.size_bytes)
    is_full &= (
        np.not_equal(dirs.state, LogDirState.OFFLINE) & ~left_out[dirs.broker_idx]
    )
    rows = np.flatnonzero(is_full).tolist()
    if not rows:
        return
    ids = state.brokers.ids[dirs.broker_idx]
    named = ", ".join(f"{ids[row]}:{dirs.paths[row]}" for row in rows)
    noun = f"log dir{'s' * (len(rows) > 1)} {named}"
    which = noun if len(rows) <= MOST_DIRS else plural(len(rows), "log dir")
    yield f"{which} over the {percent_text(threshold)} disk threshold"


def named_brokers(plan: Plan, chosen: BoolArray) -> str:
    """Return the ids of the flagged brokers, ``(B,)``, as text."""
    return brokers_text(plan.state.brokers.ids[chosen].tolist())


def _idle_brokers(plan: Plan) -> Iterator[str]:
    brokers, draft = plan.state.brokers, plan.placed.draft
    replicas = plan.before.load[:, RESOURCES.index(Resource.REPLICAS)]
    empty = int((brokers.is_live & ~draft.leaves & (replicas == 0)).sum())
    if empty:
        yield f"{plural(empty, 'broker')} empty"
    dead = np.equal(brokers.state, BrokerState.DEAD)
    if dead.any():
        yield f"{named_brokers(plan, dead)} dead"
