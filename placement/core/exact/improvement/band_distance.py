"""Distance outside the bands by CP-SAT: its minimum, and the least cost at it."""

from collections.abc import Sequence
from dataclasses import replace

from placement.core.bounds.cover_bounds import furthest_bands
from placement.core.exact.cp_sat.bands_model import BandsModel
from placement.core.exact.cp_sat.distances_model import DistancesModel
from placement.core.exact.cp_sat.spread_rows import keep_spread
from placement.core.exact.decomposition.nearest_nodes import nearest_by_node
from placement.core.exact.improvement.improved_answer import Improved, better
from placement.core.exact.improvement.neighbourhood_search import (
    improve_by_neighbourhoods,
)
from placement.core.exact.milp.large_neighbourhood import fits_sub_problems
from placement.core.exact.separable_levels import NodeBins
from placement.core.exact.time_limits import LEAST_WORK, Limits
from placement.core.model.objective import evaluate
from placement.core.model.problem import Problem

NEARER = 0.995
"""Ratio of distances below which a nearer answer may cost more."""
SUM = 0.25
"""Share of the work for the sum of all distances (0-1)."""
PARTS = 0.65
"""Share of the work for the cost in some bins at a time (0-1)."""
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
    found, spent, least = known, 0.0, 0.0
    work, left = limits
    if nodes:
        apart = nearest_by_node(problem, nodes, known.at, limits)
        spent, least = apart.spent, apart.deviation
        model = BandsModel(problem, None)
        model.fix_places(apart.places)
        objective = model.distance(known.value.deviation, least)
        half = max((work - spent) / 2, LEAST_WORK)
        outcome = model.least(objective, half, left())
        spent += model.spent
        found = better(problem, known, outcome.at)
    if found.value.deviation > least * (1 + SAME):
        model = BandsModel(problem, None)
        objective = model.distance(found.value.deviation, least)
        model.suggest(found.at)
        outcome = model.least(objective, max(work - spent, LEAST_WORK), left())
        spent += model.spent
        found = better(problem, found, outcome.at)
        least = max(least, (outcome.bound or 0) / model.fineness)
    is_hardly = found.value.deviation > NEARER * known.value.deviation
    if is_hardly and found.value.cost > known.value.cost:
        found = known
    if found.value.outside > known.value.outside:
        # A minimum of the largest distance leaves the others as far outside.
        found, used = _in_parts(
            problem, found, (work * SUM, left), is_for_distance=True
        )
        spent += used
    if problem.has_caps or not least:
        return found, spent
    return replace(found, deviation_bound=least), spent


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
    work, left = limits
    found, spent = _in_parts(problem, known, (work * PARTS, left))
    if problem.num_groups * problem.num_bins > MOST_CELLS:
        return found, spent
    found, more = _cheaper_as_whole(problem, found, (work - spent, left))
    return found, spent + more


def _cheaper_as_whole(
    problem: Problem, known: Improved, limits: Limits
) -> tuple[Improved, float]:
    """Lower the cost at the distances reached by one model of all bins."""
    (work, left), value = limits, known.value
    model = DistancesModel(problem, value.deviation, furthest_bands(problem, known.at))
    model.limit_total(value.outside)
    keep_spread(model, problem, known.spread_from)
    model.suggest(known.at)
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
