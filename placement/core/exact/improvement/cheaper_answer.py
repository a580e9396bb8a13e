"""
Minimum of the cost within the bands that an answer reaches, by CP-SAT and HiGHS.

Racks that do not depend on each other are solved one by one; other problems as a whole,
and in the kernel of their linear relaxation (`core.exact.linear.kernel`).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from placement.array_types import IntArray
from placement.core.bounds.cover_bounds import reached_bands
from placement.core.exact.decomposition.node_solutions import FAR_GAP
from placement.core.exact.improvement import cost_work
from placement.core.exact.improvement.improved_answer import Improved, better
from placement.core.exact.milp.spread_check import crowds
from placement.core.exact.separable_levels import NodeBins
from placement.core.exact.solver_names import cp_sat
from placement.core.exact.time_limits import LEAST_WORK, Left
from placement.core.model.arrangement import Arrangement, home_arrangement, loads
from placement.core.model.gap_report import closing, is_listened_to
from placement.core.model.problem import Problem

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import LinearExprT

    from placement.core.exact.cp_sat.bands_model import BandsModel, Outcome
    from placement.core.exact.cp_sat.placement_variables import Pair, Watch
    from placement.core.exact.decomposition.node_decomposition import Decomposition
    from placement.core.exact.decomposition.node_solutions import NodeSolutions


class CheaperAnswer:
    """
    Minimiser of cost within the bands an answer reaches, then moves, then role changes.

    Parameters
    ----------
    problem, known
        Problem and answer.
    least
        Lower bound on the cost of moves.
    limits
        Deterministic seconds, a function that returns the seconds to a deadline, and
        the relative gap at which an answer counts as optimal.
    nodes
        Separable nodes, if any.
    """

    def __init__(
        self,
        problem: Problem,
        known: Improved,
        least: int,
        limits: tuple[float, Left, float],
        nodes: Sequence[NodeBins],
    ) -> None:
        self._problem, self._found, self._least = problem, known, least
        self._enough = least
        self.work, self._left, self._closed = limits
        self.more = 0.0
        self._again = min(self.work * cost_work.AGAIN, cost_work.MOST_AGAIN)
        self._far_work = min(self.work * cost_work.FAR, cost_work.MOST_FAR)
        self._in_kernel_work = min(self.work * cost_work.KERNEL, cost_work.MOST_KERNEL)
        self._bands = reached_bands(problem, known.at)
        self._nodes = nodes
        self._is_spread, self._by_nodes = False, cp_sat()

    def improved(self) -> Improved:
        """Return the answer after all solves that the work allows."""
        if self.work < LEAST_WORK:
            return self._found
        solutions = self._by_node()
        self._prove(self._least)
        is_done = self._is_closed(self._enough)
        is_far = self._found.value.cost > self._enough * (1 + FAR_GAP)
        if solutions is not None and self._closed and not is_far:
            # A model of all nodes is no easier than node by node.
            is_done = is_done or self._has_taken(solutions)
        return self._proven() if is_done else self._of_all(solutions)

    def _proven(self) -> Improved:
        """Return the answer with the bound, and with the fewest role changes if due."""
        self._is_spread = self._enough > self._least
        self._prove(self._enough)
        if not self._closed:
            self._fewer_roles(is_free=True)
        return self._found

    def _of_all(self, solutions: "NodeSolutions | None") -> Improved:
        """Solve a model of all pairs, and search the kernel before if it is large."""
        from placement.core.exact.cp_sat.bands_model import BandsModel

        model = BandsModel(self._problem, self._bands)
        model.gap = self._closed
        model.watch = self._watch(model) if is_listened_to() else None
        if solutions is not None:
            for bins, least in solutions.costs.items():
                model.add_least_cost(bins, least)
        if self._problem.num_groups * self._problem.num_bins <= cost_work.FEW_CELLS:
            self._in_turns_with_kernel(model)
        else:
            self.in_kernel()
            self.work *= cost_work.PROVEN
        if self._is_closed(self._enough):
            return self._proven()
        self._of_the_whole(model)
        return self._found

    def _in_turns_with_kernel(self, model: "BandsModel") -> None:
        """Solve a small model of all pairs briefly from each answer of the kernel."""

        def is_best() -> bool:
            return self._asked(model, model.moves_cost(), cost_work.BRIEF).is_best

        if is_best():
            return
        self.in_kernel(is_best)
        self._add_work(self._again)
        if self._found.value.cost > self._enough * (1 + FAR_GAP):
            # Where the linear relaxation proves little, a search without may do more.
            model.is_relaxed = False
            outcome = self._asked(model, model.moves_cost(), cost_work.UNRELAXED)
            model.is_relaxed = not outcome.is_best

    def _watch(self, model: "BandsModel") -> "Watch":
        """Return a function that reports the bound of a model of all bins."""

        def watch(bound: float) -> None:
            known, least = self._found.value.cost, bound // model.steps * model.unit
            closing(known, max(self._least, min(least, known)))

        return watch

    def _is_closed(self, bound: int) -> bool:
        """Return whether a lower bound proves the answer optimal within the gap."""
        return self._found.value.cost - bound <= bound * self._closed

    def _has_taken(self, solutions: "NodeSolutions") -> bool:
        """Return whether the answer has the places of the nodes' solutions."""
        from placement.core.exact.cp_sat.placement_variables import places_in

        return places_in(self._problem, self._found.at) == solutions.places

    def in_kernel(self, is_best: Callable[[], bool] | None = None) -> Improved:
        """
        Search among pairs that the linear relaxation favours, more each time.

        `is_best` is asked after each better answer, and ends the search.
        """
        from placement.core.exact.improvement import kernel_search

        limits = self._found.spread_from, self._left()
        search = kernel_search.KernelSearch.of(self._problem, self._bands, *limits)
        if search is None:
            return self._found
        if not self._found.prices:
            self._found = replace(self._found, prices=search.prices)
        self._least = max(self._least, search.least)
        self._enough = max(self._enough, search.least)
        whole, schedule = self.work, kernel_search.Schedule(self._in_kernel_work)
        for step, work in schedule:
            if self._is_closed(self._enough) or self._left() == 0.0:
                break
            before, self.work = self._found.at, work
            model, rounded = search.model(step, before)
            is_all = self._asked(model, model.moves_cost(), 1.0, rounded).is_best
            is_same = self._found.at is before
            is_searched = is_all and rounded is None and is_same
            schedule.record(work - self.work, is_searched=is_searched)
            if is_best is not None and not is_same:
                self.work = whole
                if is_best():
                    break
                whole = self.work
        self.work = whole
        self.more += self._in_kernel_work - schedule.left
        return self._found

    def _of_the_whole(self, model: "BandsModel") -> None:
        """Minimise the cost with one model of all bins."""
        from placement.core.exact.cp_sat.spread_rows import keep_spread

        cost = model.moves_cost()
        outcome = self._asked(model, cost, cost_work.FIRST)
        if outcome.bound is None:
            return
        # The number of moves is less than one step: the quotient is units of cost.
        units = outcome.bound // model.steps
        self._prove(units * model.unit)
        if self._is_crowded(outcome.at):
            # The answer exceeds the soft caps: minimise again with the caps enforced.
            model.watch = None
            keep_spread(model, self._problem, self._found.spread_from)
            self._is_spread = True
            outcome = self._asked(model, cost, cost_work.FIRST)
            units = max(units, (outcome.bound or 0) // model.steps)
            self._prove(units * model.unit)
        if outcome.is_best and model.unit == 1:
            self._prove(self._found.value.cost)
        elif outcome.is_best and not self._is_closed(units * model.unit):
            outcome = self._last_digits(model, units)
        self._fewer_roles(is_free=outcome.is_best)

    def _by_node(self) -> "NodeSolutions | None":
        """Minimise the cost node by node if a level is separable."""
        if not self._nodes:
            return None
        parts = self._decomposed(has_roles=False)
        solutions = self._taken(
            parts.searched((self.work * cost_work.SEARCH, self._left))
        )
        self._found = replace(self._found, prices=dict(solutions.prices))
        if self._assign_roles(solutions):
            if self._is_closed(self._enough):
                return solutions
            places = set(solutions.places)
            if parts.are_far:
                self._add_work(max(self._far_work - self.work, 0.0))
            solutions = self._taken(
                parts.proven((self.work * cost_work.NODES, self._left))
            )
            solutions = self._tried_again(parts, solutions)
            if solutions.places == places or self._assign_roles(solutions):
                return solutions
        # No roles were found for these places: add role variables to each node.
        self._found = replace(self._found, needs_roles=True)
        if not parts.are_small:
            self._in_turns()
            if not self._is_closed(self._enough):
                self._taken(parts.proven((self.work * cost_work.NODES, self._left)))
        parts = self._decomposed(has_roles=True)
        solutions = self._taken(parts.proven((self.work * cost_work.NODES, self._left)))
        self._assign_roles(solutions)
        return solutions

    def _add_work(self, more: float) -> None:
        self.work += more
        self.more += more

    def _tried_again(
        self, parts: "Decomposition", solutions: "NodeSolutions"
    ) -> "NodeSolutions":
        """Search again, from the bounds now known; far from these, branch again."""
        if parts.are_small and parts.gap() > cost_work.NEAR[0][0]:
            self._add_work(self._again)
            solutions = self._taken(parts.proven((self._again, self._left)))
        for most, seed in cost_work.NEAR:
            if not self._closed < parts.gap() <= most:
                break
            self._add_work(self._again)
            again = parts.searched_again((self._again, self._left), seed)
            solutions = self._taken(again)
        return solutions

    def _in_turns(self) -> None:
        """Search places and roles in alternation."""
        from placement.core.exact.decomposition.fixed_role_search import FixedRoles

        spread_from = self._found.spread_from
        search = FixedRoles(
            self._problem, self._nodes, self._bands, spread_from, self._closed
        )
        at = search.improved(self._found.at, (self.work * cost_work.TURNS, self._left))
        self.work -= search.spent
        if not len(self._outside(at)):
            self._found = better(self._problem, self._found, at)
        self._report()

    def _decomposed(self, *, has_roles: bool) -> "Decomposition":
        """Return the decomposition by node, starting from the answer."""
        from placement.core.exact.decomposition.node_decomposition import Decomposition

        return Decomposition(
            self._problem,
            self._nodes,
            (self._found.at, self._found.spread_from),
            self._bands,
            self._closed,
            has_roles=has_roles,
        )

    def _taken(self, solutions: "NodeSolutions") -> "NodeSolutions":
        """Adopt the bounds of the nodes."""
        self.work -= solutions.spent
        self._by_nodes = solutions.solver or self._by_nodes
        self._least = max(self._least, sum(solutions.costs.values()))
        self._enough = max(self._least, sum(solutions.spread_costs.values()))
        self._report()
        return solutions

    def _assign_roles(self, solutions: "NodeSolutions") -> bool:
        """Assign the roles at the places of the nodes; return whether it succeeds."""
        from placement.core.exact.cp_sat.placement_variables import arranged
        from placement.core.exact.cp_sat.roles_model import roles_within

        work = max(self.work * cost_work.PLACED, LEAST_WORK)
        placed = arranged(self._problem, solutions.places, set())
        spread_from = self._found.spread_from
        found, spent = roles_within(
            self._problem, placed, self._bands, spread_from, work, self._left()
        )
        self.work -= spent
        if found is None or len(self._outside(found)):
            return False
        self._found = better(self._problem, self._found, found)
        return True

    def _last_digits(self, model: "BandsModel", units: int) -> "Outcome":
        """Minimise the cost below one unit, where the number of units is known."""
        model.watch = None
        beyond = (self._found.value.cost - 1) // model.unit - units
        rest = model.rest_of_cost(units, max(beyond, 0))
        outcome = self._asked(model, rest, cost_work.FIRST)
        if outcome.bound is not None:
            self._prove(units * model.unit + outcome.bound // model.steps)
        return outcome

    def _fewer_roles(self, *, is_free: bool) -> None:
        """Minimise role changes; `is_free`: places may change at no extra cost."""
        from placement.core.exact.cp_sat.bands_model import BandsModel
        from placement.core.exact.cp_sat.placement_variables import places_in

        model = BandsModel(self._problem, self._bands)
        if is_free:
            model.keep_moves(self._found.value)
        else:
            model.fix_places(places_in(self._problem, self._found.at))
        self._asked(model, model.role_changes(), cost_work.ROLES)

    def _asked(
        self,
        model: "BandsModel",
        objective: "LinearExprT",
        part: float,
        rounded: "tuple[set[Pair], set[Pair]] | None" = None,
    ) -> "Outcome":
        """Minimise an objective from the answer or a rounded one; keep a better."""
        outcome = self._solved(model, objective, part, rounded)
        over = self._outside(outcome.at)
        if len(over):
            # Rows admit loads outside the bands by less than their units.
            model.tighten(over, self._bands)
            tight = self._solved(model, objective, part, rounded)
            outcome = outcome._replace(at=tight.at, is_best=False)
        self._found = better(self._problem, self._found, outcome.at)
        self._report()
        return outcome

    def _report(self) -> None:
        closing(self._found.value.cost, max(self._least, self._found.cost_bound or 0))

    def _outside(self, at: Arrangement | None) -> IntArray:
        """Return bins and resources of loads outside the bands."""
        if at is None:
            return np.zeros((0, 2), dtype=np.int64)
        load = loads(self._problem, at)
        return np.argwhere((load < self._bands.lower) | (load > self._bands.upper))

    def _solved(
        self,
        model: "BandsModel",
        objective: "LinearExprT",
        part: float,
        rounded: "tuple[set[Pair], set[Pair]] | None" = None,
    ) -> "Outcome":
        if rounded is None:
            model.suggest(self._found.at)
        else:
            model.suggest_places(*rounded)
        before = model.spent
        outcome = model.least(
            objective, max(self.work * part, LEAST_WORK), self._left()
        )
        self.work -= model.spent - before
        return outcome

    def _is_crowded(self, at: Arrangement | None) -> bool:
        """Return whether an answer exceeds the soft caps on collections."""
        return at is not None and crowds(self._problem, self._found.spread_from, at)

    def _prove(self, cost: int) -> None:
        """Record a lower bound on the cost, of all answers or of spread ones."""
        found, bound = self._found, max(cost, self._least)
        home = home_arrangement(self._problem)
        if self._is_spread and crowds(self._problem, found.spread_from, home):
            # A spread answer may have as many of a collection in a bin as home has.
            return
        if (found.cost_bound or -1) < bound <= found.value.cost:
            is_of_nodes = bound in {self._least, self._enough}
            solver = self._by_nodes if is_of_nodes else cp_sat()
            self._found = replace(
                found, cost_bound=bound, is_spread=self._is_spread, solver=solver
            )
