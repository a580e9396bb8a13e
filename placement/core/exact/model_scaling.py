"""
Size limits of the exact models, and units of their objectives.

Separate from `small_model`, so that a problem without an exact model loads no solver.
"""

from dataclasses import dataclass
from enum import Enum

import numpy as np

from placement.core.model.node_limits import limited_levels
from placement.core.model.problem import NO_LIMIT, Movability, Problem

CAP_FIELDS = {"moves": "max_moves", "cost": "max_cost", "crossing": "max_crossing"}
"""Fields of `Problem` with the caps on all moves, by quantity."""
LARGEST = 2**61
"""Largest sum of weights for the integers of CP-SAT."""
LARGEST_COSTS = 2**58
"""Largest sum of costs times the number of items for these integers."""


class Found(Enum):
    """Outcome of an exact model of the hard rules."""

    SOME = 1
    NONE = 2
    UNKNOWN = 3


def fits_model(problem: Problem, max_cells: int) -> bool:
    """Return whether `small_model` covers a problem and its size."""
    cap = problem.levels[0].group_cap
    may = np.not_equal(problem.movability, Movability.NEVER)
    movable = np.zeros(problem.num_groups, dtype=np.bool_)
    movable[problem.group_of[may]] = True
    return (
        int(movable.sum()) * problem.num_bins <= max_cells
        and cap is not None
        and bool((cap == 1).all())
        and not any((limits.target > 0).any() for _, limits in limited_levels(problem))
        and all(level.price == problem.price_across for level in problem.levels)
        and (_has_homes(problem) or not problem.bins.target.any())
        and not problem.is_transient.any()
    )


def fits_rules(problem: Problem, most_cells: int) -> bool:
    """Return whether the model of the hard rules covers a problem and its size."""
    cap = problem.levels[0].group_cap
    cells = problem.num_groups * problem.num_bins
    heaviest = float(problem.weight.max(initial=0)) + float(
        problem.role_weight.max(initial=0)
    )
    has_nodes = next(limited_levels(problem), None) is not None
    is_uniform = all(level.price == problem.price_across for level in problem.levels)
    return (
        0 < cells <= most_cells
        and cap is not None
        and bool((cap == 1).all())
        and heaviest * problem.num_items < LARGEST
        and not (has_nodes and problem.is_transient.any())
        and (is_uniform or problem.max_cost >= NO_LIMIT)
        and _is_one_home_each(problem)
    )


def fits_bands(problem: Problem, most_cells: int) -> bool:
    """Return whether the model of rules and bands covers a problem and its size."""
    is_banded = any((limits.target > 0).any() for _, limits in limited_levels(problem))
    is_uniform = all(level.price == problem.price_across for level in problem.levels)
    costs = float(problem.cost.max(initial=0)) * problem.price_across
    steps = (costs + problem.price_per_move) * (problem.num_items + 1)
    return (
        not is_banded
        and is_uniform
        and steps * problem.num_items < LARGEST_COSTS
        and fits_rules(problem, most_cells)
    )


def _is_one_home_each(problem: Problem) -> bool:
    """Return whether no bin has two items of a group before any move."""
    at_home = problem.home >= 0
    key = problem.group_of[at_home].astype(np.int64) * problem.num_bins
    key = key + problem.home[at_home]
    return len(np.unique(key)) == len(key)


def fits_prices(problem: Problem, most_cells: int) -> bool:
    """Return whether the linear relaxation covers a problem and its size."""
    cap = problem.levels[0].group_cap
    return (
        0 < problem.num_groups * problem.num_bins <= most_cells
        and cap is not None
        and bool((cap == 1).all())
        and _has_homes(problem)
    )


def _has_homes(problem: Problem) -> bool:
    return bool((problem.home >= 0).all())


@dataclass(frozen=True, slots=True)
class Scale:
    """
    Units of the model's objective.

    Parameters
    ----------
    cost
        Cost per unit of the objective.
    move, role
        Prices of a move and of a role change that break ties.
    slack
        Largest sum of these prices.
    """

    cost: float
    move: float
    role: float
    slack: float

    def of(self, cost: int) -> float:
        """Return a cost in the units of the objective."""
        return cost / self.cost


def scale_of(problem: Problem) -> Scale:
    """Return units in which the tolerances of HiGHS do not affect the answer."""
    largest = float(problem.cost.max(initial=0) + problem.price_per_move)
    cost = largest if largest > 1000 else 1.0
    move = 1.0 / (2 * problem.num_items + 2) if cost == 1.0 else 1e-5
    role = move / (2 * problem.num_groups + 2)
    slack = move * problem.num_items + role * problem.num_groups
    return Scale(cost, move, role, slack)


def caps_of(problem: Problem) -> dict[str, int]:
    """Return the caps on all moves by quantity."""
    return {what: getattr(problem, name) for what, name in CAP_FIELDS.items()}


def cap_unit(most: int) -> float:
    """Return the unit of a cap in the model of HiGHS."""
    return max(float(most), 1.0)
