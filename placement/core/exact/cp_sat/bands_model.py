r"""
Integer program of the hard rules and bands of a problem (OR-Tools CP-SAT).

Coefficients are kept small: CP-SAT 9.15 adds multiples of rows before its search, and
with coefficients of about :math:`2^{37}` in two rows it has reported wrong optima. So
loads and costs are in units, rounded such that no arrangement is cut off: the model is
a relaxation, and its bounds hold for the problem. The evaluation of an answer in exact
integers decides whether the answer keeps all constraints.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from ortools.sat.python import cp_model

from placement.array_types import IntArray
from placement.core.bounds.cover_bounds import Bands
from placement.core.exact.cp_sat.hard_rules_model import BITS, RulesModel
from placement.core.exact.cp_sat.placement_variables import Pair, Pairs, with_roles_kept
from placement.core.exact.separable_levels import NodeBins
from placement.core.model.arrangement import Arrangement
from placement.core.model.objective import Value, usable_capacity
from placement.core.model.problem import NO_LIMIT, NOWHERE, Problem

COST_BITS, FINE_BITS = 20, 27
"""Bits of the cost of a move: in a model of all bins, and in a model of one node."""
FINENESS = 2.0**20
"""Number of parts of a target that distances are measured in."""
MOST_PARTS = 2.0**22
"""Upper limit of a distance in parts; the part is enlarged for longer distances."""


class Outcome(NamedTuple):
    """
    Result of CP-SAT for one objective.

    Parameters
    ----------
    at
        Best arrangement found, if any.
    bound
        Lower bound on the objective; `None` if CP-SAT found no solution.
    is_best
        Whether the arrangement is proven optimal.
    """

    at: Arrangement | None
    bound: int | None
    is_best: bool


NOTHING = Outcome(None, None, is_best=False)


class BandsModel(RulesModel):
    """
    Model of the hard rules, with bands as constraints.

    Parameters
    ----------
    problem
        Problem to model; `fits_bands` must hold.
    bands
        Bands that every load keeps; `None`: `distance` measures loads instead.
    inside
        Subset of the bins, a relaxation of the whole problem; `None`: all bins.
    has_roles
        Whether the model has variables of roles. Without them, the load of a role
        counts wherever that relaxes a constraint: a relaxation as well.
    only
        Pairs that have variables; `None`: all. The optimum is then no bound.
    """

    def __init__(
        self,
        problem: Problem,
        bands: Bands | None,
        inside: NodeBins | None = None,
        *,
        has_roles: bool = True,
        only: Pairs | None = None,
    ) -> None:
        capacity = None if bands is None else _of_copies(problem)
        super().__init__(
            problem, capacity, inside=inside, has_roles=has_roles, only=only
        )
        self.spent, self.fineness = 0.0, FINENESS
        self.steps = problem.num_items + 1
        self._pairs = [pair for pair in self.at if pair not in self.home]
        self._moves = [self.at[pair] for pair in self._pairs]
        costs = problem.cost * problem.price_across + problem.price_per_move
        self._costs = [int(costs[group]) for group, _ in self._pairs]
        bits = COST_BITS if inside is None else FINE_BITS
        self.unit = max(int(costs.max(initial=0)) >> bits, 1)
        if bands is not None:
            self.add_bands(bands)

    def tighten(self, over: IntArray, bands: Bands) -> None:
        """
        Add rows that exclude every load outside some bands, and possibly some within.

        Parameters
        ----------
        over
            ``(n, 2)`` bins and resources.
        bands
            Bands that loads must keep.
        """
        for b, r in over.tolist():
            terms, weights = self._load_terms(b, r)
            fixed = int(self.problem.bins.fixed[b, r])
            lower, upper = int(bands.lower[b, r]), int(bands.upper[b, r])
            unit = max(max(weights, default=0) >> BITS, 1)
            if upper < NO_LIMIT:
                most = [-(-w // unit) for w in weights]
                total = cp_model.LinearExpr.weighted_sum(terms, most)
                self.model.add(total <= (upper - fixed) // unit)
            if lower > fixed:
                least = [w // unit for w in weights]
                total = cp_model.LinearExpr.weighted_sum(terms, least)
                self.model.add(total >= -(-(lower - fixed) // unit))

    def distance(self, most: float, least: float = 0.0) -> cp_model.LinearExprT:
        """
        Return the largest distance outside the bands, in parts of `fineness`.

        Parameters
        ----------
        most
            Upper limit of all distances, in targets.
        least
            Distance below which no reduction counts, in targets.
        """
        bins = self.problem.bins
        self.fineness = min(FINENESS, MOST_PARTS / max(most, 1.0))
        highest = math.ceil(most * self.fineness) + 1
        lowest = min(math.floor(least * self.fineness), highest)
        peak = self.model.new_int_var(lowest, highest, "")
        for b, r in np.argwhere(bins.target > 0).tolist():
            if b not in self.bins:
                continue
            part = self.fineness / float(bins.target[b, r])
            terms, weights = self._load_terms(b, r)
            fixed = int(bins.fixed[b, r])
            down = [math.floor(w * part) for w in weights]
            up = [math.ceil(w * part) for w in weights]
            if bins.upper[b, r] < NO_LIMIT:
                upper = math.ceil((int(bins.upper[b, r]) - fixed) * part)
                load = cp_model.LinearExpr.weighted_sum(terms, down)
                self.model.add(load - upper <= peak)
            lower = math.floor((int(bins.lower[b, r]) - fixed) * part)
            if lower > 0:
                load = cp_model.LinearExpr.weighted_sum(terms, up)
                self.model.add(lower - load <= peak)
        return 1 * peak

    def moves_cost(self) -> cp_model.LinearExprT:
        """
        Return the cost of all moves in whole units, times `steps`, and their number.

        The number of moves is less than one step.
        """
        prices = [cost // self.unit * self.steps + 1 for cost in self._costs]
        return cp_model.LinearExpr.weighted_sum(self._moves, prices)

    def whole_cost(self) -> cp_model.LinearExprT:
        """Return the cost of all moves in whole units of each."""
        whole = [cost // self.unit for cost in self._costs]
        return cp_model.LinearExpr.weighted_sum(self._moves, whole)

    def cost_of(self, places: set[Pair]) -> int:
        """Return the cost of the moves to pairs of group and bin."""
        pairs = zip(self._pairs, self._costs, strict=True)
        return sum(cost for pair, cost in pairs if pair in places)

    def rest_of_cost(self, units: int, most: int) -> cp_model.LinearExprT:
        """
        Return the cost beyond a number of whole units, times `steps`, plus the moves.

        Parameters
        ----------
        units
            Lower bound on the cost of moves, in whole units of each move.
        most
            Largest number of further units.
        """
        whole = [cost // self.unit for cost in self._costs]
        over = self.model.new_int_var(0, most, "")
        self.model.add(
            cp_model.LinearExpr.weighted_sum(self._moves, whole) == units + over
        )
        rest = [cost % self.unit * self.steps + 1 for cost in self._costs]
        total = cp_model.LinearExpr.weighted_sum(self._moves, rest)
        return total + over * (self.unit * self.steps)

    def num_moves(self) -> cp_model.LinearExprT:
        """Return the number of moves."""
        return cp_model.LinearExpr.sum(self._moves)

    def role_changes(self) -> cp_model.LinearExprT:
        """Return the number of groups whose role another item holds in the end."""
        problem, changes = self.problem, []
        for group in np.nonzero(problem.role_home != NOWHERE)[0].tolist():
            home = int(problem.home[problem.role_home[group]])
            leads = {b: var for (g, b), var in self.role.items() if g == group}
            # An item that moves may bring its role to a bin without items of its group.
            taken = [v for b, v in leads.items() if (group, b) not in self.home]
            others = [
                v for b, v in leads.items() if b != home and (group, b) in self.home
            ]
            is_changed = self.model.new_bool_var("")
            self.model.add(cp_model.LinearExpr.sum(others) <= is_changed)
            if (stays := self.at.get((group, home))) is not None:
                moved_on = cp_model.LinearExpr.sum(taken)
                self.model.add(moved_on + stays - 1 <= is_changed)
            changes.append(is_changed)
        return cp_model.LinearExpr.sum(changes)

    def add_least_cost(self, bins: Sequence[int], least: int) -> None:
        """Add a lower bound on the cost of moves into some bins."""
        inside = [
            (self.at[pair], cost // self.unit)
            for pair, cost in zip(self._pairs, self._costs, strict=True)
            if pair[1] in bins
        ]
        total = cp_model.LinearExpr.weighted_sum(
            [here for here, _ in inside], [cost for _, cost in inside]
        )
        # Each move is rounded down by less than a unit.
        self.model.add(total >= least // self.unit - len(inside))

    def keep_moves(self, known: Value) -> None:
        """Limit cost and number of moves to those of a known answer."""
        whole = [cost // self.unit for cost in self._costs]
        rest = [cost % self.unit for cost in self._costs]
        units = self.model.new_int_var(0, known.cost // self.unit, "")
        total = cp_model.LinearExpr.weighted_sum(self._moves, whole)
        self.model.add(total == units)
        below = cp_model.LinearExpr.weighted_sum(self._moves, rest)
        least = known.cost // self.unit - units
        self.model.add(below - known.cost % self.unit <= least * self.unit)
        self.model.add(self.num_moves() <= known.moves)

    def fix_places(self, places: set[Pair]) -> None:
        """Fix the placement variables to pairs of group and bin."""
        for pair, here in self.at.items():
            self.model.add(here == int(pair in places))

    def least(
        self, objective: cp_model.LinearExprT, work: float, seconds: float | None
    ) -> Outcome:
        """
        Minimise an objective.

        Parameters
        ----------
        objective
            Sum of variables, in integers.
        work
            Work limit in deterministic seconds.
        seconds
            Seconds to a deadline; `None`: no deadline.
        """
        solved = self.least_value(objective, work, seconds)
        if solved is None:
            return NOTHING
        at = with_roles_kept(self.problem, self._arrangement(self.solver))
        return Outcome(at, *solved)

    def least_value(
        self, objective: cp_model.LinearExprT, work: float, seconds: float | None
    ) -> tuple[int, bool] | None:
        """Return the lower bound and whether it is attained; `None` if unsolved."""
        self.model.clear_objective()  # type: ignore[no-untyped-call]
        self.model.minimize(objective)
        status = self.run(work, seconds)
        self.spent += self.solver.response_proto.deterministic_time
        if status not in {cp_model.OPTIMAL, cp_model.FEASIBLE}:
            return None
        is_best = status == cp_model.OPTIMAL
        value = int(self.solver.value(objective))
        bound = _whole(self.solver.best_objective_bound)
        return value if is_best else min(value, bound), is_best


def _of_copies(problem: Problem) -> IntArray:
    """Return the capacities that bands do not imply: those of transient resources."""
    capacity = usable_capacity(problem)
    return np.where(problem.is_transient, capacity, NO_LIMIT)


def _whole(bound: float) -> int:
    """Return a bound that CP-SAT reports as a float, rounded down."""
    return math.floor(np.nextafter(bound, -np.inf)) if bound > 0 else 0
