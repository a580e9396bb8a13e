"""
Large-neighbourhood search: two to four bins at a time, solved exactly.

A step of the local search moves one item first, so it cannot exchange several items of
full bins at once. An exact model of a few bins can (as in Jaśkowski, Szubert and
Gawron, "A hybrid MIP-based large neighborhood search heuristic for solving the machine
reassignment problem", Annals of Operations Research 242, 2016). A neighbourhood has the
bins with most cost moved between them, or bins around the one furthest out of band.
"""

from collections.abc import Callable, Iterator

import numpy as np

from placement.array_types import BoolArray, IntArray
from placement.core.bounds.cover_bounds import reached_bands
from placement.core.exact.milp.spread_check import crowds, is_free_to_spread
from placement.core.exact.milp.subproblem import Part
from placement.core.model.arrangement import Arrangement, loads, settled, sum_rows_into
from placement.core.model.objective import (
    Value,
    distances,
    evaluate,
    misplaced_roles,
    refills,
)
from placement.core.model.problem import Movability, Problem

MOST_BINS = 4
MOST_GROUPS = 100
"""Largest number of groups that may move in one model; the others stay."""

IsOver = Callable[[], bool]


def fits_sub_problems(problem: Problem) -> bool:
    """Return whether parts of a problem fit an exact model."""
    cap = problem.levels[0].group_cap
    return (
        cap is not None
        and bool((cap == 1).all())
        and all(level.limits is None for level in problem.levels[1:])
        and all(level.price == problem.price_across for level in problem.levels)
        and bool((problem.home >= 0).all())
        and not problem.is_transient.any()
        and not problem.has_caps
        and problem.num_bins > 1
    )


def improve_by_parts(
    problem: Problem,
    known: tuple[Arrangement, Value],
    *,
    most: int,
    max_nodes: int,
    is_over: IsOver = lambda: False,
) -> tuple[Arrangement, Value]:
    """
    Solve some sub-problems exactly, and keep improvements.

    Parameters
    ----------
    problem
        Problem to solve; `fits_sub_problems` must hold.
    known
        Incumbent arrangement and its value.
    most
        Largest number of sub-problems.
    max_nodes
        Node limit of each branch and bound.
    is_over
        Function that returns whether to end now.
    """
    at, value = known
    for chosen in _bin_sets(problem, at, value, most):
        # Minimise the distance outside the bands first, then the cost.
        for objective in ("deviation", "cost") if value.deviation > 0 else ("cost",):
            if is_over():
                return at, value
            found = _solved(problem, at, chosen, (objective, max_nodes))
            worth = value if found is None else evaluate(problem, found)
            if found is not None and worth < value:
                at, value = found, worth
    return at, value


def _solved(
    problem: Problem, at: Arrangement, bins: IntArray, how: tuple[str, int]
) -> Arrangement | None:
    """Solve some bins exactly; `None` if no feasible arrangement is found."""
    groups = _candidates(problem, at, bins)
    if not len(groups):
        return None
    part = Part.of(problem, at, bins, groups)
    found = part.solved(reached_bands(problem, at), *how)
    if found is None or crowds(problem, at, found):
        return None
    found = settled(problem, found)
    return found if _is_sound(problem, found) else None


def _bin_sets(
    problem: Problem, at: Arrangement, value: Value, most: int
) -> Iterator[IntArray]:
    """Yield disjoint sets of two to four bins."""
    flow = _flow_between(problem, at)
    if value.deviation > 0:
        flow = flow + _pull(problem, at)
    is_free = np.ones(problem.num_bins, dtype=np.bool_)
    for _ in range(most):
        chosen = _strongest(flow, is_free)
        if len(chosen) < 2:
            return
        is_free[chosen] = False
        yield np.sort(chosen)


def _flow_between(problem: Problem, at: Arrangement) -> IntArray:
    """Return ``(N, N)`` the cost of moves between two bins, in both directions."""
    moved = np.not_equal(at.bin_of, problem.home)
    moved &= np.equal(problem.movability, Movability.MAY)
    rows = np.nonzero(moved)[0]
    pair = problem.home[rows].astype(np.int64) * problem.num_bins + at.bin_of[rows]
    cost = problem.cost[problem.group_of[rows]] + problem.price_per_move
    total = sum_rows_into(pair, cost[:, None], problem.num_bins**2)
    flow = total.reshape(problem.num_bins, problem.num_bins)
    return flow + flow.T


def _pull(problem: Problem, at: Arrangement) -> IntArray:
    """Return ``(N, N)`` possible gain of the furthest bin from each other bin."""
    load, bins = loads(problem, at), problem.bins
    distance = distances(problem, load)
    b, r = np.unravel_index(int(np.argmax(distance)), distance.shape)
    unit = np.where(bins.target[:, r] > 0, bins.target[:, r], np.inf)
    use = load[:, r] / unit
    gap = use[b] - use if load[b, r] > bins.upper[b, r] else use - use[b]
    pull = np.zeros((problem.num_bins, problem.num_bins), dtype=np.int64)
    # Scale the gains above all costs of moves.
    scale = np.maximum(gap, 0.0) * 2.0**40 / max(float(gap.max()), 1e-9)
    pull[b] = np.where(bins.target[:, r] > 0, scale, 0).astype(np.int64) << 20
    return pull + pull.T


def _strongest(flow: IntArray, is_free: BoolArray) -> IntArray:
    """Return the two free bins with the largest flow, and those tied most to them."""
    rows = np.nonzero(is_free)[0]
    between = flow[np.ix_(rows, rows)]
    if between.max(initial=0) <= 0:
        return rows[:0]
    first, second = np.unravel_index(int(np.argmax(between)), between.shape)
    chosen = [int(first), int(second)]
    while len(chosen) < min(MOST_BINS, len(rows)):
        drawn = between[chosen].sum(axis=0)
        drawn[chosen] = 0
        if drawn.max(initial=0) <= 0:
            break
        chosen.append(int(np.argmax(drawn)))
    return rows[chosen]


def _candidates(problem: Problem, at: Arrangement, bins: IntArray) -> IntArray:
    """Return the groups that may move: moved ones first, then some of each cost."""
    inside = np.isin(at.bin_of, bins)
    may = inside & np.equal(problem.movability, Movability.MAY)
    away = inside & np.not_equal(at.bin_of, problem.home)
    returns = away & np.isin(problem.home, bins)
    fixed = np.unique(problem.group_of[inside & ~may & ~away])
    kept: list[int] = []
    for rows in (returns, away, may):
        groups = np.setdiff1d(problem.group_of[rows], [*fixed, *kept])
        groups = groups[is_free_to_spread(problem, at, groups, bins)]
        order = groups[np.argsort(-problem.cost[groups], kind="stable")]
        room = MOST_GROUPS - len(kept)
        if len(order) > room:
            # Take some of each cost: the item that fills a gap is seldom the largest.
            order = order[np.linspace(0, len(order) - 1, room).astype(np.int64)]
        kept.extend(order.tolist())
    return np.unique(np.array(kept, dtype=np.int64))


def _is_sound(problem: Problem, at: Arrangement) -> bool:
    """Return whether all roles are allowed and no item returned that must leave."""
    is_wrong = misplaced_roles(problem, at).any() or refills(problem, at).any()
    return not is_wrong
