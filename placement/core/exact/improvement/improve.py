"""
Improvement of an answer by CP-SAT, with lower bounds.

The order is: distance outside the bands, cost within the bands reached, moves, role
changes. The bounds of CP-SAT cannot be verified here, so they are stated beside the
verified bounds and never replace them.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from placement.core.exact.improvement.cheaper_answer import CheaperAnswer
from placement.core.exact.improvement.improved_answer import Improved, improved_from
from placement.core.exact.separable_levels import NodeBins, separable_nodes
from placement.core.exact.time_limits import Left, no_deadline
from placement.core.model.arrangement import Arrangement
from placement.core.model.problem import Problem

if TYPE_CHECKING:
    pass

DISTANCE = 0.5
"""Share of the work for the distance outside the bands (0-1)."""
COST = 1.0
"""Further work for the cost at the distances reached, in multiples of all work."""
MOST_COST = 4.0
"""Upper limit of that work, in deterministic seconds."""
PROOF = 0.25
"""Share of the work for the cost within the distance that each load reached (0-1)."""


def improve(
    problem: Problem,
    at: Arrangement,
    *,
    known: int,
    work: float,
    left: Left = no_deadline,
    closed: float = 0.0,
    nodes: Sequence[NodeBins] | None = None,
    is_stalled: bool = False,
) -> Improved:
    """
    Improve an answer that keeps the hard rules.

    Parameters
    ----------
    problem
        Problem to solve; `model_scaling.fits_bands` must hold.
    at
        Answer from which the solver starts.
    known
        Lower bound on the cost of moves, for the bands that the answer reaches.
    work
        Work limit of all solves, in deterministic seconds.
    left
        Function that returns the seconds to a deadline; `None`: no deadline.
    closed
        Relative gap at which an answer counts as optimal.
    nodes
        Separable nodes of the problem; `None`: they are determined here.
    is_stalled
        Whether to keep the distance outside the bands, which was reduced before.
    """
    found = improved_from(problem, at)
    nodes = separable_nodes(problem) if nodes is None else nodes
    spent = extra = 0.0
    if found.value.is_outside:
        from placement.core.exact.improvement.band_distance import (
            cheaper_as_near,
            nearer,
        )

        if not is_stalled:
            found, spent = nearer(problem, found, (work * DISTANCE, left), nodes)
        known = 0
        if found.value.is_outside:
            share = min(work * COST, MOST_COST)
            found, extra = cheaper_as_near(problem, found, (share, left))
            spent = max(spent, work * (1 - PROOF))
    cheaper = CheaperAnswer(problem, found, known, (work - spent, left, closed), nodes)
    at_best = cheaper.improved()
    return replace(at_best, spent=work + extra + cheaper.more - cheaper.work)
