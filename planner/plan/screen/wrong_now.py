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
    if text := _full_dirs_text(plan, score, state):
        yield text
    for rule, words in VIOLATIONS.items():
        count = score.violations[rule]
        if count:
            yield f"{plural(count, 'partition')} {words[count > 1]}"


def wrong_after(plan: Plan) -> tuple[str, str]:
    """Return what is wrong after the plan, as texts: new violations, and old ones."""
    after = plan.placed.reassignment.after()
    before = set(wrong(plan, plan.before, plan.state))
    if {*_full_dirs(plan, after)} <= {*_full_dirs(plan, plan.state)}:
        # On a broker that was over its threshold they were not named.
        before.add(_full_dirs_text(plan, plan.after, after))
    problems = list(wrong(plan, plan.after, after))
    new = (one for one in problems if one not in before)
    return "; ".join(new), "; ".join(one for one in problems if one in before)


def _full_dirs(plan: Plan, state: ClusterState) -> list[int]:
    """
    Return the rows of the log dirs over their threshold.

    After the plan, brokers that choose the log dir of a copy themselves are left out.
    """
    threshold = plan.placed.draft.settings.capacity_thresholds.get(Resource.DISK)
    if threshold is None:
        return []
    dirs, replicas = state.log_dirs, state.replicas
    load = log_dir_loads(state, weigh(state), state.partitions.leader_idx)
    used = load[:, RESOURCES.index(Resource.DISK)]
    is_full = (dirs.size_bytes > 0) & (used > threshold * dirs.size_bytes)
    is_full &= np.not_equal(dirs.state, LogDirState.OFFLINE)
    if state is not plan.state:
        choosing = replicas.broker_idx[np.equal(replicas.log_dir_idx, ABSENT)]
        is_full &= ~np.isin(dirs.broker_idx, choosing)
    return np.flatnonzero(is_full).tolist()


def _full_dirs_text(plan: Plan, score: Score, state: ClusterState) -> str:
    """Return the log dirs over their threshold on brokers that are not, or ""."""
    dirs = state.log_dirs
    over = over_threshold(plan, score, RESOURCES.index(Resource.DISK))
    rows = [row for row in _full_dirs(plan, state) if not over[dirs.broker_idx[row]]]
    if not rows:
        return ""
    ids = state.brokers.ids[dirs.broker_idx]
    named = ", ".join(f"{ids[row]}:{dirs.paths[row]}" for row in rows)
    noun = f"log dir{'s' * (len(rows) > 1)} {named}"
    which = noun if len(rows) <= MOST_DIRS else plural(len(rows), "log dir")
    threshold = plan.placed.draft.settings.capacity_thresholds[Resource.DISK]
    return f"{which} over the {percent_text(threshold)} disk threshold"


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
