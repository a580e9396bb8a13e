"""Minimisation of the distance outside the bands by CP-SAT, with a lower bound."""

from collections.abc import Sequence
from dataclasses import replace

from placement.core.exact.cp_sat.bands_model import BandsModel
from placement.core.exact.decomposition.node_decomposition import nearest_by_node
from placement.core.exact.improvement.improved_answer import Improved, better
from placement.core.exact.separable_levels import NodeBins
from placement.core.exact.time_limits import LEAST_WORK, Limits
from placement.core.model.problem import Problem

NEARER = 0.995
"""Ratio of distances below which a nearer answer may cost more."""
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
    if problem.has_caps or not least:
        return found, spent
    return replace(found, deviation_bound=least), spent
