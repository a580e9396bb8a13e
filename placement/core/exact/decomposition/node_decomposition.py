r"""
Decomposition by node: one integer program per node (rack) of a separable level.

A level is separable if each of its nodes holds a fixed number of items of each group,
as three racks do at replication factor 3. Only the roles then link the nodes. With
these links relaxed each node is an independent problem. The sum of the optimal costs
:math:`c_n` of the nodes is a lower bound on the cost, and an optimal solution of each
node is optimal for all nodes together if the roles can be assigned within the bands.
A single model needs a proof for every combination of solutions of its nodes.

For each node, the linear relaxation is solved, exchanges of a few items and an
enumeration of few moves follow, and an integer program closes the remaining gap
(`core.exact.one_node.node_search`).
CP-SAT solves small nodes, those with roles, and the last digits.
"""

from collections.abc import Callable, Sequence
from functools import partial

from placement.core.bounds.cover_bounds import Bands
from placement.core.exact.cp_sat.placement_variables import places_in
from placement.core.exact.decomposition.node_solutions import FAR_GAP, NodeSolutions
from placement.core.exact.decomposition.node_solver import NodeSolver
from placement.core.exact.separable_levels import NodeBins
from placement.core.exact.time_limits import LEAST_WORK, Limits
from placement.core.model.arrangement import Arrangement
from placement.core.model.objective import evaluate
from placement.core.model.problem import Problem

BRANCH = 0.3
"""Share of the work for branch and cut of small nodes before CP-SAT (0-1)."""
AT_ONCE = 0.2
"""Share of the work for proofs of small nodes before the search (0-1)."""


class Decomposition:
    """
    Minimiser of the cost of each node within the bands.

    Solutions keep the soft caps on collections as far as the second arrangement of
    `known` does.

    Parameters
    ----------
    problem, nodes
        Problem and its separable nodes, from `separable_nodes`.
    known
        Feasible solution within the bands: the first incumbent; and an arrangement
        whose counts of a collection per bin, or the soft caps if larger, are upper
        bounds.
    bands
        Bounds of the loads.
    closed
        Relative gap at which a node counts as optimal.
    has_roles
        Whether each node has role variables of its own items. Without them the solve is
        much faster, but the places may admit no roles within the bands.
    """

    def __init__(
        self,
        problem: Problem,
        nodes: Sequence[NodeBins],
        known: tuple[Arrangement, Arrangement],
        bands: Bands,
        closed: float = 0.0,
        *,
        has_roles: bool = False,
    ) -> None:
        at, _ = known
        self._closed, self._has_roles = closed, has_roles
        self._found = NodeSolutions(places_in(problem, at), evaluate(problem, at).cost)
        self._parts = [
            NodeSolver(problem, node, known, bands, closed, has_roles=has_roles)
            for node in nodes
        ]
        for part in self._parts:
            part.relax(self._found)

    def searched(self, limits: Limits) -> NodeSolutions:
        """Search for cheaper solutions; CP-SAT solves small nodes first."""
        if self._has_roles:
            return self._given()
        if self.are_small:
            self._in_turn(NodeSolver.prove, (limits[0] * AT_ONCE, limits[1]))
        self._in_turn(NodeSolver.search, limits)
        return self._given()

    def proven(self, limits: Limits) -> NodeSolutions:
        """Raise the bounds and return cheaper solutions found on the way."""
        self._found.spent = 0.0
        # Nodes near their bound leave work to the others.
        self._parts.sort(key=NodeSolver.gap)
        work, left = limits
        if self.are_small and self.are_far and not self._has_roles:
            self._in_turn(NodeSolver.prove_spread, limits, NodeSolver.is_spread_open)
            return self._given()
        if not self._has_roles:
            share = work * BRANCH if self.are_small else work
            self._in_turn(NodeSolver.branch, (share, left), _is_far)
        if self._has_roles or self.are_small or not self._closed:
            self._in_turn(NodeSolver.prove, limits)
        return self._given()

    def searched_again(self, limits: Limits, seed: int) -> NodeSolutions:
        """Search for cheaper solutions from the bounds now known, with another seed."""
        self._found.spent = 0.0
        step = partial(NodeSolver.search_again, seed=seed)
        self._in_turn(step, limits, NodeSolver.is_spread_open)
        return self._given()

    def gap(self) -> float:
        """Return the relative gap between all solutions and their bounds."""
        cost = sum(part.cost() for part in self._parts)
        bound = sum(part.spread_bound for part in self._parts)
        return cost / bound - 1 if bound else float(cost)

    @property
    def are_far(self) -> bool:
        """Whether solutions are far from their bounds: few items, heavy ones."""
        return self.gap() > FAR_GAP

    @property
    def are_small(self) -> bool:
        """Whether CP-SAT can start from the present solution of every node."""
        return all(part.is_small for part in self._parts)

    def _given(self) -> NodeSolutions:
        found = self._found
        found.costs, found.spread_costs = {}, {}
        for part in self._parts:
            part.give(found)
        return found

    def _in_turn(
        self,
        step: Callable[[NodeSolver, NodeSolutions, Limits], None],
        limits: Limits,
        is_wanted: Callable[[NodeSolver], bool] | None = None,
    ) -> None:
        """Apply a step to each node; unused work of a node goes to the next ones."""
        work, left = limits
        parts = list(filter(is_wanted or NodeSolver.is_open, self._parts))
        for number, part in enumerate(parts):
            share = (work - self._found.spent) / (len(parts) - number)
            if share < LEAST_WORK or self._is_closed():
                break
            others = sum(one.bound for one in self._parts if one is not part)
            part.watch(self._found.known, others)
            step(part, self._found, (share, left))
            part.report()

    def _is_closed(self) -> bool:
        """Return whether the solutions of all nodes together are optimal."""
        cost = sum(part.cost() for part in self._parts)
        bound = sum(part.bound for part in self._parts)
        return cost - bound <= bound * self._closed


def _is_far(part: NodeSolver) -> bool:
    return part.is_open() and not part.is_close()
