"""The moves of a planned placement, explained."""

from dataclasses import replace

from placement.draft.draft import Draft
from placement.draft.evacuated_load import evacuated_load
from placement.draft.leading_replicas import leading_replicas
from placement.explain.move_reasons import Explained, Standing, explain_moves
from placement.explain.move_table import Moves, list_moves
from placement.model.load import (
    Resource,
    loads_led,
    loads_of,
    weigh,
)
from placement.model.reassignment import Reassignment
from placement.model.targets import Shares, find_targets
from placement.planning.outcome.result import PlannedPlacement
from placement.rules.hard_levels import hard_capacities


def explain_planned(placed: PlannedPlacement) -> tuple[Moves, Explained]:
    """Return the moves of a plan, with their reasons."""
    return explain_reassignment(
        placed.draft, placed.reassignment, placed.shares, placed.balanced
    )


def explain_reassignment(
    draft: Draft,
    reassignment: Reassignment,
    shares: Shares,
    balanced: tuple[Resource, ...],
) -> tuple[Moves, Explained]:
    """
    Return the moves of a reassignment, with the reasons of an operation for them.

    Parameters
    ----------
    draft
        Draft with the moves that the operation allows and forces.
    reassignment
        Replica lists before and after, from any source.
    shares
        Fair shares, from which targets are computed.
    balanced
        Resources whose bands count.
    """
    if draft.decided is not None:
        # The decisions of the operation are moves to be explained too.
        draft = replace(
            draft, state=reassignment.before, weights=weigh(reassignment.before)
        )
    moves = list_moves(reassignment, draft.weights)
    load, heaviest = loads_of(reassignment.after())
    after = Standing(load=load, targets=find_targets(shares, load, heaviest))
    explained = explain_moves(
        draft,
        reassignment,
        moves,
        before=_standing_before(draft, shares),
        after=after,
        capacity=hard_capacities(draft),
        balanced=balanced,
    )
    return moves, explained


def _standing_before(draft: Draft, shares: Shares) -> Standing:
    """Return the brokers at the start of planning: the first live replicas lead."""
    state, weights = draft.state, draft.weights
    leader = state.replicas.broker_idx_at(leading_replicas(draft))
    load, heaviest = loads_led(state, weights, leader)
    incoming = None if draft.decided is not None else evacuated_load(draft, leader)
    targets = find_targets(shares, load, heaviest, incoming)
    return Standing(load=load, targets=targets)
