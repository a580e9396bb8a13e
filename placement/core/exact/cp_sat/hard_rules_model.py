"""
Exact model of the hard rules alone (OR-Tools CP-SAT), in integers.

All hard rules are constraints on the variables of
`core.exact.cp_sat.placement_variables`; bands are not. CP-SAT computes in integers
throughout, so its statement of infeasibility is a proof, unlike that of HiGHS, which
has tolerances. One worker, a fixed seed and a limit in deterministic time give the same
answer on any machine.

With `is_lenient`, the model counts failures instead: an item stays in a bin it must
leave, or has no bin, and a group breaks its caps no worse than before.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import product

import numpy as np
from ortools.sat.python import cp_model

from placement.array_types import IntArray
from placement.core.bounds.cover_bounds import Bands
from placement.core.exact.cp_sat.limited_solver import SEED
from placement.core.exact.cp_sat.placement_variables import Pair, Pairs, PlacesModel
from placement.core.exact.model_scaling import LARGEST, Found, caps_of
from placement.core.exact.separable_levels import NodeBins
from placement.core.exact.work_limit import ExactWork
from placement.core.model.arrangement import Arrangement
from placement.core.model.node_limits import limited_levels, usable_in_nodes
from placement.core.model.objective import usable_capacity
from placement.core.model.problem import NO_LIMIT, NOWHERE, Problem

BITS = 28
"""Bits of a coefficient: CP-SAT 9.15 errs if products of two coefficients overflow."""
OTHER_SEED = 7
BRIEF = 0.05
"""Part of the work limit after which a question is asked with another seed."""


class RulesModel(PlacesModel):
    """
    Variables and constraints of the hard rules.

    Parameters
    ----------
    problem
        Problem to model; `fits_rules` must hold.
    capacity
        ``(N, R)`` capacities of the bins; `None`: those of the problem.
    is_lenient, inside, has_roles, only
        As for `PlacesModel`.
    """

    def __init__(
        self,
        problem: Problem,
        capacity: IntArray | None = None,
        *,
        is_lenient: bool = False,
        inside: NodeBins | None = None,
        has_roles: bool = True,
        only: Pairs | None = None,
    ) -> None:
        super().__init__(
            problem,
            is_lenient=is_lenient,
            inside=inside,
            has_roles=has_roles,
            only=only,
        )
        self.capacity = usable_capacity(problem) if capacity is None else capacity
        self._add_capacities()
        self._add_nodes()
        self._add_move_caps()

    def decide(self, work: float) -> tuple[cp_model.CpSolverStatus, float]:
        """
        Ask whether there is any arrangement; return the answer and the work done.

        A proof that takes very long with one seed often takes hardly any work with
        another (heavy tails: Gomes, Selman, Kautz, AAAI 1998), so the question is asked
        briefly at first, and then anew.

        Parameters
        ----------
        work
            Work limit in deterministic seconds.
        """
        status, spent = cp_model.UNKNOWN, 0.0
        for seed, part in ((SEED, BRIEF), (OTHER_SEED, 2 * BRIEF), (SEED, 1.0)):
            status = self.run(min(part * work, work - spent), seed=seed)
            spent += self.solver.response_proto.deterministic_time
            if status != cp_model.UNKNOWN or spent >= work:
                break
        return status, spent

    def solve(
        self, work: ExactWork, objective: cp_model.LinearExprT | None = None
    ) -> tuple[Found, Arrangement | None, bool]:
        """
        Return the outcome, an arrangement, and whether it is proven optimal.

        Parameters
        ----------
        work
            Work limit; reduced by the work done.
        objective
            Objective to minimise; `None`: any feasible arrangement.
        """
        if work.rules <= 0:
            return Found.UNKNOWN, None, False
        self.model.clear_objective()  # type: ignore[no-untyped-call]
        if objective is None:
            status, spent = self.decide(work.rules)
        else:
            self.model.minimize(objective)
            status = self.run(work.rules)
            spent = self.solver.response_proto.deterministic_time
        work.rules -= spent
        if status == cp_model.INFEASIBLE:
            return Found.NONE, None, True
        if status in {cp_model.OPTIMAL, cp_model.FEASIBLE}:
            at = self._arrangement(self.solver)
            return Found.SOME, at, status == cp_model.OPTIMAL
        return Found.UNKNOWN, None, False

    def add_at_most(
        self, terms: Sequence[cp_model.IntVar], weights: Sequence[int], most: int
    ) -> None:
        """Add an upper bound on a weighted sum; rounding only relaxes it."""
        unit = max(max(map(abs, weights), default=0) >> BITS, 1)
        total = cp_model.LinearExpr.weighted_sum(terms, [w // unit for w in weights])
        self.add_row(total <= most // unit)

    def add_bands(self, bands: Bands) -> None:
        """Add the bands that every load keeps; rounding only relaxes them."""
        for b, r in product(self.bins, range(self.problem.num_resources)):
            lower, upper = int(bands.lower[b, r]), int(bands.upper[b, r])
            terms, weights = self._load_terms(b, r)
            fixed = int(self.problem.bins.fixed[b, r])
            if upper < NO_LIMIT:
                self.add_at_most(terms, weights, upper - fixed)
            if lower > fixed:
                terms, weights = self._load_terms(b, r, is_lower=True)
                self._add_at_least(terms, weights, lower - fixed)

    def _add_at_least(
        self, terms: Sequence[cp_model.IntVar], weights: Sequence[int], least: int
    ) -> None:
        unit = max(max(weights, default=0) >> BITS, 1)
        total = cp_model.LinearExpr.weighted_sum(
            terms, [-(-w // unit) for w in weights]
        )
        self.add_row(total >= -(-least // unit))

    def add_row(self, row: cp_model.BoundedLinearExpression | bool) -> None:
        """Add a constraint that is always enforced."""
        self.model.add(row)

    def under(self, what: str, of: str, level: str = "") -> None:
        """Set the kind of rule of the next rows; here all rows are always enforced."""

    def excess(
        self, over: Sequence[Pair], terms: Sequence[tuple[int, int, int]]
    ) -> list[cp_model.LinearExprT]:
        """
        Return the largest of weighted excesses over capacities, and their sum.

        Parameters
        ----------
        over
            Pairs of bin and resource.
        terms
            Capacity, largest excess and weight of each pair.
        """
        parts: list[cp_model.LinearExprT] = []
        largest = max((most * weight for _, most, weight in terms), default=0)
        peak = self.model.new_int_var(0, largest, "")
        for (b, r), (capacity, most, weight) in zip(over, terms, strict=True):
            beyond = self.model.new_int_var(0, most, "")
            self.model.add(self.load(b, r) - capacity <= beyond)
            self.model.add(beyond * weight <= peak)
            parts.append(beyond * weight)
        return [1 * peak, cp_model.LinearExpr.sum(parts)]

    def load(self, b: int, r: int) -> cp_model.LinearExprT:
        """Return the final load of a bin."""
        terms, weights = self._load_terms(b, r)
        fixed = int(self.problem.bins.fixed[b, r])
        return cp_model.LinearExpr.weighted_sum(terms, weights) + fixed

    def cost(self) -> cp_model.LinearExprT:
        """Return the cost of all moves, with a small extra cost per move."""
        problem = self.problem
        unit = max(int(problem.cost.max(initial=0)) >> 20, 1)
        most = problem.num_items + 1
        terms, weights = [], []
        for pair, here in self.at.items():
            if pair not in self.home:
                terms.append(here)
                price = int(problem.cost[pair[0]]) + problem.price_per_move
                weights.append(price // unit * most + 1)
        return cp_model.LinearExpr.weighted_sum(terms, weights)

    def _load_terms(
        self, b: int, r: int, *, is_lower: bool = False
    ) -> tuple[list[cp_model.IntVar], list[int]]:
        """Return the terms of a load; without roles, those of a bound on it."""
        problem, (groups, items) = self.problem, self._held[b]
        weight, role = problem.weight[groups, r], problem.role_weight[groups, r]
        if len(problem.extra) and len(items):
            weight = weight + np.where(items >= 0, problem.extra[items, r], 0)
        if not self.has_roles:
            weight = weight + (np.maximum if is_lower else np.minimum)(role, 0)
        chosen = np.nonzero(weight)[0]
        terms = [self.at[group, b] for group in groups[chosen].tolist()]
        weights = weight[chosen].tolist()
        leads = [g for g in groups[role != 0].tolist() if (g, b) in self.role]
        terms += [self.role[group, b] for group in leads]
        weights += problem.role_weight[leads, r].tolist()
        return terms, weights

    @cached_property
    def _held(self) -> dict[int, tuple[IntArray, IntArray]]:
        """Groups with a variable in each bin, and their items at home there."""
        groups: dict[int, list[int]] = {b: [] for b in self.bins}
        for group, b in self.at:
            groups[b].append(group)
        return {
            b: (
                np.array(own, dtype=np.int64),
                np.array([self.home.get((g, b), NOWHERE) for g in own], dtype=np.int64),
            )
            for b, own in groups.items()
        }

    def _add_capacities(self) -> None:
        problem = self.problem
        for b, r in product(self.bins, range(self.problem.num_resources)):
            most = int(self.capacity[b, r])
            if most >= NO_LIMIT:
                continue
            terms, weights = self._load_terms(b, r)
            most -= int(problem.bins.fixed[b, r])
            if problem.is_transient[r]:
                terms, weights, stays = self._while_copying(b, r)
                most -= stays
            if most < LARGEST:
                self.under("capacity", problem.resources[r])
                self.add_at_most(terms, weights, most)

    def _while_copying(
        self, b: int, r: int
    ) -> tuple[list[cp_model.IntVar], list[int], int]:
        """Return the terms of arrivals in a bin, and the load there during copying."""
        problem, stays = self.problem, 0
        terms, weights = [], []
        for group in range(problem.num_groups):
            item, weight = self.home.get((group, b)), int(problem.weight[group, r])
            if not self.has_roles:
                weight += min(int(problem.role_weight[group, r]), 0)
            if item is not None:
                stays += weight
                stays += int(problem.extra[item, r]) if len(problem.extra) else 0
            elif (group, b) in self.at:
                terms.append(self.at[group, b])
                weights.append(weight)
            if (group, b) in self.role:
                terms.append(self.role[group, b])
                weights.append(int(problem.role_weight[group, r]))
        return terms, weights, stays

    def _add_nodes(self) -> None:
        """Add the capacities of nodes: limits on the summed loads of their bins."""
        for level, limits in limited_levels(self.problem):
            usable = usable_in_nodes(self.problem, level, limits)
            for node, r in np.ndindex(*usable.shape):
                most = int(usable[node, r])
                if most >= NO_LIMIT:
                    continue
                terms, weights = [], []
                for b in np.nonzero(level.node_of_bin == node)[0].tolist():
                    more, heavy = self._load_terms(b, r)
                    terms += more
                    weights += heavy
                self.under("node", self.problem.resources[r], level.name)
                self.add_at_most(terms, weights, most - int(limits.fixed[node, r]))

    def _add_move_caps(self) -> None:
        """Add the caps on the number, the cost and the zone crossings of moves."""
        for what, most in caps_of(self.problem).items():
            if most < NO_LIMIT:
                prices = self.spent_of(what)
                self.under("cap", what)
                terms = [self.at[pair] for pair in prices]
                self.add_at_most(terms, list(prices.values()), int(most))

    def spent_of(self, what: str) -> dict[Pair, int]:
        """Return the use of a cap by each possible move."""
        problem = self.problem
        moves = [pair for pair in self.at if pair not in self.home]
        if what == "moves":
            return dict.fromkeys(moves, 1)
        if what == "cost":
            return {p: int(problem.cost[p[0]]) * problem.price_across for p in moves}
        return {pair: self._crossing(*pair) for pair in moves}

    def _crossing(self, group: int, b: int) -> int:
        """Return the crossing cost of a move to a bin; 0 inside the source zone."""
        if not len(self.problem.source_zone):
            return 0
        source = int(self.problem.source_zone[group])
        crosses = source >= 0 and source != self.problem.zone_of_bin[b]
        return int(self.problem.cost[group]) if crosses else 0
