"""Violations on the screen of a plan: thresholds, racks, leaders, dead brokers."""

from collections.abc import Iterator, Sequence

import numpy as np

from placement.array_types import BoolArray
from placement.model.cluster import ABSENT, BrokerState, ClusterState, LogDirState
from placement.model.disk_bytes import used_bytes
from placement.model.load import RESOURCES, Resource
from placement.score import Score
from planner.plan.documents.plan_document import Plan
from planner.plan.screen.broker_table import over_threshold
from planner.plan.screen.plan_claims import VIOLATIONS
from planner.text.format import brokers_text, percent_text, plural

MOST_DIRS = 3
"""Largest number of log dirs named one by one."""


def wrong_text(plan: Plan) -> str:
    """Return what is wrong with the placement before the plan, as text."""
    offline = plan.before.violations["offline_replicas"]
    full = _full_dirs(plan, plan.state)
    problems = [*_wrong(plan, plan.before, full), *_idle_brokers(plan)]
    if offline:
        problems.insert(0, f"{plural(offline, 'replica')} offline")
    fine = [] if plan.before.violations["rack"] else ["racks ok"]
    if not offline:
        fine.append("0 offline")
    ending = f" {', '.join(fine).capitalize()}." if fine else ""
    return f"{'; '.join(problems) or 'nothing'}.{ending}"


def _wrong(plan: Plan, score: Score, full: Sequence[int]) -> Iterator[str]:
    """Yield the violations that operators care about, `full` log dirs among them."""
    thresholds = plan.placed.draft.settings.capacity_thresholds
    for r, resource in enumerate(RESOURCES):
        over = over_threshold(plan, score, r)
        if over.any():
            limit = percent_text(thresholds[resource])
            yield f"{named_brokers(plan, over)} over the {limit} {resource} threshold"
    if text := _full_dirs_text(plan, score, full):
        yield text
    crowded = _crowded(plan, score)
    if crowded.any():
        yield f"{named_brokers(plan, crowded)} over max_replicas"
    for rule, words in VIOLATIONS.items():
        count = score.violations[rule]
        if count:
            yield f"{plural(count, 'partition')} {words[count > 1]}"


def _crowded(plan: Plan, score: Score) -> BoolArray:
    """Return ``(B,)`` true for brokers that stay and hold too many replicas."""
    brokers, draft = plan.state.brokers, plan.placed.draft
    replicas = score.load[:, RESOURCES.index(Resource.REPLICAS)]
    stays = brokers.is_live & ~draft.leaves
    crowded: BoolArray = (
        stays & (brokers.max_replicas >= 0) & (replicas > brokers.max_replicas)
    )
    return crowded


def wrong_after(plan: Plan) -> tuple[str, str]:
    """Return what is wrong after the plan, as texts: new violations, and old ones."""
    was = _full_dirs(plan, plan.state)
    now = _full_dirs(plan, plan.placed.reassignment.after())
    before = {*_wrong(plan, plan.before, was)}
    if {*now} <= {*was}:
        # On a broker that was over its threshold they were not named.
        before.add(_full_dirs_text(plan, plan.after, now))
    problems = [*_wrong(plan, plan.after, now)]
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
    if not (dirs.size_bytes > 0).any():
        return []
    used = used_bytes(state)
    is_full = (dirs.size_bytes > 0) & (used > threshold * dirs.size_bytes)
    is_full &= np.not_equal(dirs.state, LogDirState.OFFLINE)
    if state is not plan.state:
        choosing = replicas.broker_idx[np.equal(replicas.log_dir_idx, ABSENT)]
        is_full &= ~np.isin(dirs.broker_idx, choosing)
    return [int(row) for row in np.flatnonzero(is_full)]


def _full_dirs_text(plan: Plan, score: Score, full: Sequence[int]) -> str:
    """Return those of the full log dirs on brokers that are not over, or ""."""
    dirs = plan.state.log_dirs
    over = over_threshold(plan, score, RESOURCES.index(Resource.DISK))
    rows = [row for row in full if not over[dirs.broker_idx[row]]]
    if not rows:
        return ""
    ids = plan.state.brokers.ids[dirs.broker_idx]
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
    # Where no broker has two replicas, and racks are kept, none is left for others.
    is_wrong = replicas.max(initial=0) > 1 or plan.before.violations["rack"]
    if empty and is_wrong:
        yield f"{plural(empty, 'broker')} empty"
    dead = np.equal(brokers.state, BrokerState.DEAD)
    if dead.any():
        yield f"{named_brokers(plan, dead)} dead"
