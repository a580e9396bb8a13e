"""Notes on what a plan leaves: faults, mixed factors, leaders out of band."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from placement.draft.draft import Note, Settings
from placement.model.load import RESOURCES, Resource, loads_of
from placement.operations.descriptor import describe
from placement.operations.leaders import USUAL, Leaders
from placement.planning.outcome.result import PlannedPlacement
from placement.planning.plan import plan as plan_placement
from planner.plan.documents.plan_figures import counted_out
from planner.plan.documents.scored_plan import Plan
from planner.plan.documents.topic_patches import (
    factor_patch_notes,
    factor_patches,
)
from planner.plan.run.mixed_factor_notes import factor_notes
from planner.plan.run.prior_violations import existing_notes
from planner.text.format import plural

MOST_REPLICAS = 100_000
"""Largest number of replicas for which a plan of leaders is computed for comparison."""


def with_outcome_notes(plan: Plan) -> Plan:
    """Return a plan with notes on the conditions that it leaves."""
    placed = plan.placed
    more = (
        *existing_notes(plan),
        *factor_notes(placed.reassignment.after()),
        *_leaders_notes(plan),
        *factor_patch_notes(factor_patches(placed.reassignment, plan.resources)),
        *_voter_notes(plan),
    )
    if not more:
        return plan
    return replace(plan, placed=replace(placed, notes=(*placed.notes, *more)))


def _voter_notes(plan: Plan) -> Iterator[Note]:
    """Yield a note for each emptied broker whose process votes in the quorum."""
    brokers = plan.state.brokers
    emptied = brokers.ids[plan.placed.draft.to_empty].tolist()
    live = set(brokers.ids[brokers.is_live].tolist())
    voting = [voter.broker_id for voter in plan.voters]
    majority = len(voting) // 2 + 1
    for broker in sorted(set(emptied) & set(voting)):
        when = "before it is stopped" if broker in live else "if it does not return"
        yield Note(
            what="controller",
            message=f"broker {broker} is also one of {plural(len(voting), 'voter')} of "
            f"the controllers' quorum (majority {majority}): the plan moves replicas "
            f"alone; let another controller vote in its place {when}",
            where={"broker": broker},
        )


def _leaders_notes(plan: Plan) -> Iterator[Note]:
    """Yield a note if `plan leaders` would bring brokers into their bands."""
    placed, settings = plan.placed, plan.placed.draft.settings
    columns = [RESOURCES.index(r) for r in USUAL if r in placed.balanced]
    is_minimal = describe(plan.goal).is_minimal
    if not is_minimal or settings.frees_the_rest or not columns:
        return
    if placed.is_nothing or not counted_out(plan)[:, columns].any():
        return
    after = placed.reassignment.after()
    if len(after.replicas) > MOST_REPLICAS:
        return
    found = plan_placement(after, Leaders(), _as_leaders(settings))
    was, now = (_num_out(found, load) for load in (loads_of(after)[0], _load(found)))
    if now < was:
        changes = int(found.reassignment.is_led_anew.sum())
        yield Note(
            what="leaders",
            message=f"{plural(was, 'broker')} will be out of the band of out or "
            f"leaders; plan leaders would leave {now}, by "
            f"{plural(changes, 'leader change')} and no copies",
            have=float(was),
            need=float(now),
        )


def _as_leaders(settings: Settings) -> Settings:
    """Return the settings of a plan of leaders alone."""
    return Settings(
        bands=settings.bands,
        capacity_thresholds=settings.capacity_thresholds,
        excluded_for_leaders=settings.excluded_for_leaders,
        excluded_topics=settings.excluded_topics,
        effort="quick",
        seed=settings.seed,
    )


def _load(found: PlannedPlacement) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return loads_of(found.reassignment.after())[0]


def _num_out(
    found: PlannedPlacement, load: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
) -> int:
    """Return the number of brokers out of a band that the plan of leaders balances."""
    columns = [RESOURCES.index(Resource(r)) for r in found.balanced]
    outside = found.targets.outside(load)[:, columns] > 0
    return int((outside & found.draft.leads[:, None]).any(axis=1).sum())
