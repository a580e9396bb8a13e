"""Distance outside the bands by CP-SAT: its minimum, and the least cost at it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from placement.core.bounds.cover_bounds import furthest_bands
from placement.core.exact.cp_sat.bands_model import BandsModel
from placement.core.exact.cp_sat.distances_model import DistancesModel
from placement.core.exact.cp_sat.spread_rows import keep_spread
from placement.core.exact.decomposition.nearest_nodes import nearest_by_node
from placement.core.exact.improvement.improved_answer import (
    Improved,
    better,
    is_hardly_nearer,
)
from placement.core.exact.improvement.neighbourhood_search import (
    improve_by_neighbourhoods,
)
from placement.core.exact.milp.large_neighbourhood import fits_sub_problems
from placement.core.exact.milp.spread_check import crowds
from placement.core.exact.separable_levels import NodeBins
from placement.core.exact.time_limits import LEAST_WORK, Limits
from placement.core.model.objective import evaluate
from placement.core.model.problem import Problem

SUM = 0.25
"""Share of the work for the sum of all distances (0-1)."""
MOST_CELLS = 1_000
"""Largest number of (group, bin) pairs for a model of all bins with distances."""
SAME = 1e-6
"""Relative error of a distance measured in parts of a target."""


def nearer(
    problem: Problem,
    known: Improved,
    limits: Limits,
    nodes: Sequence[NodeBins],
) -> tuple[Improved, float]:
    """Return an answer nearer to the bands, if one is found, and the work done."""
    work, left = limits
    near = _nearest(problem, known, limits, nodes, is_spread=False)
    found, spent = near.found, near.spent
    if near.is_crowded and found.value.deviation > near.least * (1 + SAME):
        # The bound without the soft caps on collections holds with them as well.
        again = _nearest(problem, found, limits, nodes, is_spread=True)
        found, spent = again.found, spent + again.spent
    if is_hardly_nearer(found.value, known.value):
        found = known
    if found.value.outside > known.value.outside:
        # A minimum of the largest distance leaves the others as far outside.
        found, used = _in_parts(
            problem, found, (work * SUM, left), is_for_distance=True
        )
        spent += used
    if problem.has_caps or not near.least:
        return found, spent
    return replace(found, deviation_bound=near.least), spent


class _Near(NamedTuple):
    """
    Answer with a smaller largest distance, if one is found.

    Parameters
    ----------
    found
        The answer.
    least
        Lower bound on the largest distance, in targets.
    spent
        Deterministic seconds.
    is_crowded
        Whether an answer was refused for its counts of collections.
    """

    found: Improved
    least: float
    spent: float
    is_crowded: bool


def _nearest(
    problem: Problem,
    known: Improved,
    limits: Limits,
    nodes: Sequence[NodeBins],
    *,
    is_spread: bool,
) -> _Near:
    """Minimise the largest distance, by node and as a whole, with soft caps or not."""
    (work, left), spread_from = limits, known.spread_from
    near = _Near(known, 0.0, 0.0, is_crowded=False)

    def asked(model: BandsModel, part: float) -> _Near:
        objective = model.distance(near.found.value.deviation, near.least)
        if is_spread:
            keep_spread(model, problem, spread_from)
        outcome = model.least(objective, max(part, LEAST_WORK), left())
        is_crowded = outcome.at is not None and crowds(problem, spread_from, outcome.at)
        return _Near(
            better(problem, near.found, outcome.at),
            max(near.least, (outcome.bound or 0) / model.fineness),
            near.spent + model.spent,
            near.is_crowded or is_crowded,
        )

    if nodes:
        apart = nearest_by_node(
            problem, nodes, known.at, limits, spread_from if is_spread else None
        )
        near = near._replace(spent=apart.spent, least=apart.deviation)
        model = BandsModel(problem, None)
        model.fix_places(apart.places)
        # Its bound holds for these places alone.
        near = asked(model, (work - near.spent) / 2)._replace(least=near.least)
    if near.found.value.deviation > near.least * (1 + SAME):
        model = BandsModel(problem, None)
        model.suggest(near.found.at)
        near = asked(model, work - near.spent)
    return near


def _in_parts(
    problem: Problem, known: Improved, limits: Limits, *, is_for_distance: bool = False
) -> tuple[Improved, float]:
    """Lower the cost, or the sum of all distances, some bins at a time."""
    work, left = limits
    if not fits_sub_problems(problem):
        return known, 0.0
    at, spent = improve_by_neighbourhoods(
        problem,
        known.at,
        work=work,
        is_over=lambda: left() == 0.0,
        is_for_distance=is_for_distance,
    )
    return better(problem, known, at), spent


def cheaper_as_near(
    problem: Problem, known: Improved, limits: Limits
) -> tuple[Improved, float]:
    """
    Return an answer that costs less at the distances reached, and the work done.

    Neither the largest distance nor the sum of all grows, but single loads may come
    further outside: bands of the distance that each load reached may leave a node no
    other solution.
    """
    if problem.num_groups * problem.num_bins > MOST_CELLS:
        return _in_parts(problem, known, limits)
    return _cheaper_as_whole(problem, known, limits)


def _cheaper_as_whole(
    problem: Problem, known: Improved, limits: Limits
) -> tuple[Improved, float]:
    """Lower the cost at the distances reached by one model of all bins."""
    (work, left), value = limits, known.value
    model = DistancesModel(problem, value.deviation, furthest_bands(problem, known.at))
    model.limit_total(value.outside)
    keep_spread(model, problem, known.spread_from)
    model.suggest(known.at)
    # No bound is asked for, and neighbourhoods lead further than a tree does.
    model.is_local = True
    outcome = model.least(model.moves_cost(), max(work, LEAST_WORK), left())
    found = better(problem, known, outcome.at)
    if outcome.at is None or found is not known:
        return found, model.spent
    more = evaluate(problem, outcome.at).outside - value.outside
    if more > 0 and work - model.spent >= LEAST_WORK:
        # Rounding has admitted a larger sum.
        model.limit_total(value.outside - 2 * more)
        outcome = model.least(model.moves_cost(), work - model.spent, left())
        found = better(problem, known, outcome.at)
    return found, model.spent
