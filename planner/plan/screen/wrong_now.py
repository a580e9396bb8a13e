"""Violations on the screen of a plan: thresholds, racks, leaders, dead brokers."""

from collections.abc import Iterator

import numpy as np

from placement.array_types import BoolArray
from placement.model.cluster import BrokerState
from placement.model.load import RESOURCES, Resource
from placement.score import Score
from planner.plan.documents.plan_document import Plan
from planner.plan.screen.broker_table import over_threshold
from planner.text.format import brokers_text, percent_text, plural


def wrong_text(plan: Plan) -> str:
    """Return what is wrong with the placement before the plan, as text."""
    offline = plan.before.violations["offline_replicas"]
    problems = [*wrong(plan, plan.before), *_idle_brokers(plan)]
    if offline:
        problems.insert(0, f"{plural(offline, 'replica')} offline")
    fine = [] if plan.before.violations["rack"] else ["racks ok"]
    if not offline:
        fine.append("0 offline")
    ending = f" {', '.join(fine).capitalize()}." if fine else ""
    return f"{'; '.join(problems) or 'nothing'}.{ending}"


def wrong(plan: Plan, score: Score) -> Iterator[str]:
    """Yield the violations of a placement that operators care about."""
    thresholds = plan.placed.draft.settings.capacity_thresholds
    for r, resource in enumerate(RESOURCES):
        over = over_threshold(plan, score, r)
        if over.any():
            limit = percent_text(thresholds[resource])
            yield f"{named_brokers(plan, over)} over the {limit} {resource} threshold"
    names = {
        "rack": ("breaks the rack rule", "break the rack rule"),
        "offline_partitions": ("has no leader", "have no leader"),
        "under_min_isr": ("is under min ISR", "are under min ISR"),
    }
    for rule, words in names.items():
        count = score.violations[rule]
        if count:
            yield f"{plural(count, 'partition')} {words[count > 1]}"


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
