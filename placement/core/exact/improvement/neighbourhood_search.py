"""
Large-neighbourhood search: a few bins and groups at a time, solved by CP-SAT.

An integer program of some hundred variables finds exchanges of several items between
full bins, which no single step of the local search does, in a few hundredths of a
second. Neighbourhoods alternate between the bins of one node (a rack) and some bins of
every node. The groups that may move are those that have moved, and a random sample.

References
----------
Shaw, P. (1998), Using constraint programming and local search methods to solve vehicle
routing problems, CP 1998. https://doi.org/10.1007/3-540-49481-2_30
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from placement.array_types import IntArray
from placement.core.bounds.cover_bounds import Bands, furthest_bands, reached_bands
from placement.core.exact.cp_sat.bands_model import BandsModel
from placement.core.exact.cp_sat.distances_model import DistancesModel
from placement.core.exact.cp_sat.spread_rows import keep_spread
from placement.core.exact.milp.spread_check import crowds, is_free_to_spread
from placement.core.exact.milp.subproblem import Part
from placement.core.model.arrangement import Arrangement, loads, settled
from placement.core.model.objective import (
    distances,
    evaluate,
    misplaced_roles,
    refills,
)
from placement.core.model.problem import NOWHERE, Movability, Problem

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import LinearExprT

MOST_BINS = 6
"""Largest number of bins of one sub-problem."""
MOST_GROUPS = 60
"""Largest number of groups that may move in one sub-problem."""
PART_WORK = 0.05
"""Work limit of one sub-problem, in deterministic seconds."""
OVERHEAD = 0.01
"""Work for building one sub-problem, in deterministic seconds."""
STALLED = 40
"""Number of sub-problems without a gain after which the search ends."""


def improve_by_neighbourhoods(
    problem: Problem,
    at: Arrangement,
    *,
    enough: int = 0,
    work: float,
    seed: int = 1,
    is_over: Callable[[], bool] = lambda: False,
    is_for_distance: bool = False,
) -> tuple[Arrangement, float]:
    """
    Lower the cost of an answer within its bands, or at the distances that it reaches.

    Outside the bands, neither the largest distance nor the sum of all may grow; single
    loads may come further outside.

    Parameters
    ----------
    problem
        Problem to solve; `large_neighbourhood.fits_sub_problems` must hold.
    at
        Answer that keeps the hard rules.
    enough
        Lower bound on the cost, at which the search ends.
    work
        Work limit of all sub-problems, in deterministic seconds.
    seed
        Seed of the random numbers.
    is_over
        Function that returns whether to end now.
    is_for_distance
        Whether to lower the sum of all distances outside the bands instead.

    Returns
    -------
    at
        Best arrangement.
    spent
        Work done, in deterministic seconds.
    """
    rng = np.random.default_rng(seed)
    bands, value = _kept_bands(problem, at), evaluate(problem, at)
    turn = idle = 0
    spent = 0.0
    while spent < work and idle < STALLED and value.cost > enough and not is_over():
        bins = _bins(problem, turn, rng)
        groups = _groups(problem, at, bins, rng)
        turn, idle = turn + 1, idle + 1
        if len(bins) < 2 or not len(groups):
            spent += OVERHEAD
            continue
        part = Part.of(problem, at, bins, groups)
        found, used = _solved(part, bands, is_for_distance=is_for_distance)
        spent += used + OVERHEAD
        if found is not None and (worth := evaluate(problem, found)) < value:
            at, value, idle = found, worth, 0
            bands = _kept_bands(problem, at) if value.is_outside else bands
    return at, spent


def _kept_bands(problem: Problem, at: Arrangement) -> Bands:
    """Return the bands of an answer, widened as far as its furthest load is outside."""
    bands = reached_bands if evaluate(problem, at).is_in_band else furthest_bands
    return bands(problem, at)


def _bins(problem: Problem, turn: int, rng: np.random.Generator) -> IntArray:
    """Return the bins of one node, or some of each node, in alternation."""
    capped = [level for level in problem.levels[1:] if level.group_cap is not None]
    node_of = capped[0].node_of_bin if capped else np.zeros(problem.num_bins, np.int32)
    nodes = np.unique(node_of)
    if turn % 2 and len(nodes) > 1:
        each = max(MOST_BINS // len(nodes), 1)
        chosen = rng.permutation(nodes)[:MOST_BINS]
        drawn = [rng.permutation(np.nonzero(node_of == n)[0])[:each] for n in chosen]
        return np.sort(np.concatenate(drawn))
    inside = np.nonzero(node_of == nodes[turn // 2 % len(nodes)])[0]
    return np.sort(rng.permutation(inside)[:MOST_BINS])


def _groups(
    problem: Problem, at: Arrangement, bins: IntArray, rng: np.random.Generator
) -> IntArray:
    """Return the groups that may move: moved ones first, then a random sample."""
    inside = np.isin(at.bin_of, bins) & np.equal(problem.movability, Movability.MAY)
    stays = np.isin(at.bin_of, bins) & ~inside
    away = inside & np.not_equal(at.bin_of, problem.home)
    kept = np.unique(problem.group_of[stays])
    moved = np.setdiff1d(problem.group_of[away], kept)
    rest = np.setdiff1d(problem.group_of[inside], np.concatenate([kept, moved]))
    drawn = np.concatenate([rng.permutation(moved), rng.permutation(rest)])
    groups = np.sort(drawn[:MOST_GROUPS]).astype(np.int64)
    return groups[is_free_to_spread(problem, at, groups, bins)]


def _solved(
    part: Part, bands: Bands, *, is_for_distance: bool
) -> tuple[Arrangement | None, float]:
    """Solve one sub-problem; return the whole arrangement, and the work done."""
    problem, at, bins = part.whole, part.at, part.bins
    own = Bands(bands.lower[bins], bands.upper[bins])
    model, objective = _model(part, own, is_for_distance=is_for_distance)
    keep_spread(model, problem, at, part)
    model.suggest(_own(part))
    found = model.least(objective, PART_WORK, None).at
    if found is None:
        return None, model.spent
    whole = settled(problem, part.whole_with(found))
    load = loads(problem, whole)[bins]
    # Rows admit loads outside the bands by less than their units.
    is_out = (load < bands.lower[bins]).any() or (load > bands.upper[bins]).any()
    is_wrong = misplaced_roles(problem, whole).any() or refills(problem, whole).any()
    if is_out or is_wrong or crowds(problem, at, whole):
        return None, model.spent
    return whole, model.spent


def _model(
    part: Part, bands: Bands, *, is_for_distance: bool
) -> tuple[BandsModel, "LinearExprT"]:
    """Return the model of a part, in which no sum of distances grows, and its goal."""
    off = distances(part.whole, loads(part.whole, part.at))
    if not off.any():
        model = BandsModel(part.problem, bands)
        return model, model.moves_cost()
    apart = DistancesModel(part.problem, float(off.max()), bands)
    apart.limit_total(float(off[part.bins].sum()))
    return apart, apart.total if is_for_distance else apart.moves_cost()


def _own(part: Part) -> Arrangement:
    """Return the present arrangement of a part, in terms of its own problem."""
    bin_of = np.searchsorted(part.bins, part.at.bin_of[part.items]).astype(np.int32)
    role_of = part.problem.role_home.copy()
    held = np.nonzero(role_of != NOWHERE)[0]
    holder = part.at.role_of[part.groups[held]]
    place = np.minimum(np.searchsorted(part.items, holder), len(part.items) - 1)
    is_inside = np.equal(part.items[place], holder)
    role_of[held[is_inside]] = place[is_inside]
    return Arrangement(bin_of, role_of)
