"""
Lower bound on the distance outside the bands for any choice of role holders.

Items stay, so the load of a set of bins is bounded from both sides: roles of groups
without an item elsewhere are in the set, and roles of groups without an item in the set
are not. A minimum cut gives the worst set; the bound is that of divisible roles. The
number of maximum flows is the number of changes of the set (Newton's method on the cut
[1]_). Each set is a witness that `core.verify.role_claims` verifies.

References
----------
.. [1] Radzik, T. (1992). Newton's Method for Fractional Combinatorial Optimization.
       *FOCS 1992*: 659-669. https://doi.org/10.1109/SFCS.1992.267784
"""

import numpy as np

from placement.array_types import BoolArray, IntArray
from placement.core.model.arrangement import home_loads
from placement.core.model.problem import NO_LIMIT, Problem
from placement.core.model.solution import Bounded, Proof
from placement.core.verify.role_claims import may_take_role, proven_distance

MOST_ARCS = 300_000
"""Largest number of arcs of a maximum flow; beyond it, only single bins are sets."""
MOST_CUTS = 20
LEAST_STEP = 1e-9


def distance_bound(problem: Problem, value: float) -> Bounded:
    """Return a distance outside the bands with its proven lower bound."""
    if value <= 0:
        return Bounded(value=value, lower_bound=0.0)
    found = [
        _worst_set(problem, column, is_upper=is_upper)
        for column in range(problem.num_resources)
        if (problem.bins.target[:, column] > 0).any()
        for is_upper in (True, False)
    ]
    bound, proof = max(found, key=lambda one: one[0], default=(0.0, None))
    return Bounded(value=value, lower_bound=min(bound, value), proof=proof)


def _worst_set(
    problem: Problem, column: int, *, is_upper: bool
) -> tuple[float, Proof | None]:
    """Return the largest distance that a set of bins proves, with the set."""
    bins = np.nonzero(problem.bins.target[:, column] > 0)[0]
    distance, chosen = 0.0, None
    for b in bins:
        alone = proven_distance(problem, column, np.array([b]), is_upper=is_upper)
        if alone > distance:
            distance, chosen = alone, np.array([b])
    for _ in range(MOST_CUTS):
        cut = _cut(problem, column, distance, is_upper=is_upper)
        if cut is None or not len(cut):
            break
        found = proven_distance(problem, column, cut, is_upper=is_upper)
        if found <= distance + LEAST_STEP:
            break
        distance, chosen = found, cut
    if chosen is None:
        return 0.0, None
    witness = {
        "side": "over" if is_upper else "under",
        "column": column,
        "set": chosen.tolist(),
    }
    return distance, Proof(kind="flow-dual", witness=witness)


def _cut(
    problem: Problem, column: int, distance: float, *, is_upper: bool
) -> IntArray | None:
    """Return the bins of a minimum cut that proves a distance infeasible."""
    from ortools.graph.python import max_flow

    may = may_take_role(problem)
    items = np.nonzero(may)[0]
    if len(items) > MOST_ARCS:
        return None
    room = _room(problem, column, distance, is_upper=is_upper, may=may)
    groups, tails = np.unique(problem.group_of[items], return_inverse=True)
    weight = problem.role_weight[groups, column]
    count, width = len(groups), problem.num_bins
    source, sink = count + width, count + width + 1
    solver = max_flow.SimpleMaxFlow()
    arcs: list[tuple[IntArray, IntArray, IntArray]] = [
        (np.full(count, source), np.arange(count), weight),
        (
            tails.ravel(),
            count + problem.home[items].astype(np.int64),
            weight[tails.ravel()],
        ),
        (count + np.arange(width), np.full(width, sink), room),
    ]
    for tail, head, capacity in arcs:
        solver.add_arcs_with_capacity(
            tail.astype(np.int32), head.astype(np.int32), capacity.astype(np.int64)
        )
    if solver.solve(source, sink) != solver.OPTIMAL:
        return None
    reached = np.zeros(count + width + 2, dtype=np.bool_)
    reached[solver.get_source_side_min_cut()] = True
    # Upper side: the reached bins are full. Lower side: the other bins lack load.
    side = reached if is_upper else ~reached
    has_target = problem.bins.target[:, column] > 0
    return np.nonzero(side[count : count + width] & has_target)[0]


def _room(
    problem: Problem, column: int, distance: float, *, is_upper: bool, may: BoolArray
) -> IntArray:
    """Return ``(N,)`` load of open roles that each bin may, or must, take."""
    bins = problem.bins
    target = bins.target[:, column]
    fixed = _fixed(problem, column, may)
    if is_upper:
        upper = np.minimum(bins.upper[:, column], NO_LIMIT // 4)
        room = np.floor(upper + distance * target) - fixed
        room = np.where(target > 0, room, float(NO_LIMIT // 4))
    else:
        room = np.ceil(bins.lower[:, column] - distance * target) - fixed
        room = np.where(target > 0, room, 0.0)
    clipped: IntArray = np.clip(room, 0, NO_LIMIT // 4).astype(np.int64)
    return clipped


def _fixed(problem: Problem, column: int, may: BoolArray) -> IntArray:
    """Return ``(N,)`` load of each bin without the open roles."""
    load = home_loads(problem)[:, column].copy()
    asked = np.bincount(problem.group_of[may], minlength=problem.num_groups) > 0
    held = np.nonzero((problem.role_home >= 0) & asked)[0]
    place = problem.home[problem.role_home[held]]
    np.subtract.at(load, place, problem.role_weight[held, column])
    return load
