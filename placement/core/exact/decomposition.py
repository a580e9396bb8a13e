r"""
Decomposition by node: one integer program per node (rack) of a separable level.

A level is separable if each of its nodes holds a fixed number of items of each group,
as three racks do at replication factor 3. Only the roles then link the nodes. With
these links relaxed each node is an independent problem. The sum of the optimal costs
:math:`c_n` of the nodes is a lower bound on the cost, and an optimal solution of each
node is optimal for all nodes together if the roles can be assigned within the bands.
A single model needs a proof for every combination of solutions of its nodes.

For each node, the linear relaxation is solved, a neighbourhood search follows
(`core.exact.induced`), and CP-SAT closes the remaining gap.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from placement.core.arrangement import Arrangement, loads
from placement.core.bounds import Bands
from placement.core.closing import closing, is_listened_to
from placement.core.exact.bands_model import BandsModel
from placement.core.exact.induced import InducedSearch
from placement.core.exact.node_relaxation import Relaxed, bound_of, solve_relaxation
from placement.core.exact.node_rows import NodeRows
from placement.core.exact.separable import NodeBins
from placement.core.exact.spread_rows import keep_spread
from placement.core.exact_places import Pair, Watch, places_in
from placement.core.problem import FloatArray, Problem
from placement.core.value import distances, evaluate

SEARCH = 0.4
"""Part of the work for all that comes ahead of the proofs of larger nodes."""
FEW_COLUMNS = 400
"""Pairs of group and bin of a node up to which CP-SAT needs no search ahead."""
AT_ONCE = 0.2
"""Part of the work for proofs of small nodes ahead of the search."""
PART = 0.5
"""Part of the remaining work available to the distance problem of one node."""
LEAST_WORK = 1e-3
"""Smallest limit of one solve, in deterministic seconds."""

Limits = tuple[float, Callable[[], float | None]]
"""Deterministic seconds, and a function that returns the seconds to the deadline."""


@dataclass(slots=True)
class NodeSolutions:
    """
    Incumbent and lower bounds of all nodes together.

    Parameters
    ----------
    places
        Pairs of group and bin that hold an item in the incumbent.
    known
        Cost of the first incumbent.
    spent
        Deterministic seconds of all solves.
    costs, spread_costs
        Lower bound on the cost of each node, in units of `Problem.cost`; and on that
        of solutions that keep the soft caps on collections.
    deviation
        Lower bound on the largest distance outside the bands, in targets.
    prices
        Duals of the bands by side (0: upper, 1: lower), bin and resource.
    """

    places: set[Pair]
    known: int
    spent: float = 0.0
    costs: list[int] = field(default_factory=list)
    spread_costs: list[int] = field(default_factory=list)
    deviation: float = 0.0
    prices: dict[tuple[int, int, int], float] = field(default_factory=dict)

    def take_prices(self, rows: NodeRows, prices: FloatArray) -> None:
        """Keep the prices of the bands of a node."""
        for row, price in zip(rows.rows, prices.tolist(), strict=True):
            if row.band is not None and price > 0:
                self.prices[row.band] = price

    def take_places(self, node: NodeBins, places: set[Pair]) -> None:
        """Replace the incumbent of a node."""
        inside = set(node.bins)
        others = {pair for pair in self.places if pair[1] not in inside}
        self.places = others | places


def cheapest_by_node(
    problem: Problem,
    nodes: Sequence[NodeBins],
    at: Arrangement,
    bands: Bands,
    limits: Limits,
    *,
    spread_from: Arrangement,
    closed: float = 0.0,
    has_roles: bool = False,
) -> NodeSolutions:
    """
    Minimize the cost of each node within the bands.

    Solutions keep the soft caps on collections, as far as `spread_from` does.

    Parameters
    ----------
    problem, nodes
        The problem and its separable nodes, from `separable_nodes`.
    at
        Feasible solution within the bands: the first incumbent.
    bands
        Bounds of the loads.
    limits
        Work and time limits of all nodes together.
    spread_from
        Arrangement whose counts of a collection per bin, or the soft caps if larger,
        are upper bounds.
    closed
        Relative gap at which a node counts as optimal.
    has_roles
        Whether each node gets the roles that it needs from its own items. Without,
        roles are left out, which is much faster, and may leave none for the bands.
    """
    found = NodeSolutions(places_in(problem, at), evaluate(problem, at).cost)
    parts = [
        _Node(problem, node, (at, spread_from), bands, closed, has_roles=has_roles)
        for node in nodes
    ]
    for part in parts:
        part.relax(found)
    if all(part.is_small for part in parts):
        _in_turn(_Node.prove, parts, found, limits[0] * AT_ONCE, limits[1])
    _in_turn(_Node.search, parts, found, limits[0] * SEARCH, limits[1])
    _in_turn(_Node.prove, sorted(parts, key=_Node.gap), found, *limits)
    for part in parts:
        part.give(found)
    return found


def _in_turn(
    step: Callable[["_Node", NodeSolutions, Limits], None],
    parts: Sequence["_Node"],
    found: NodeSolutions,
    work: float,
    left: Callable[[], float | None],
) -> None:
    """Take a step with each node; what one leaves of its work the next ones have."""
    for number, part in enumerate(parts):
        share = (work - found.spent) / (len(parts) - number)
        if share >= LEAST_WORK:
            others = sum(one.bound for one in parts if one is not part)
            part.watch(found.known, others)
            step(part, found, (share, left))
            part.report()


class _Node:
    """The places of one node: its linear relaxation, a search, and a proof."""

    def __init__(
        self,
        problem: Problem,
        node: NodeBins,
        known: tuple[Arrangement, Arrangement],
        bands: Bands,
        closed: float,
        *,
        has_roles: bool,
    ) -> None:
        self._problem, self._node, self._bands = problem, node, bands
        at, self._spread_from = known
        self._closed, self._has_roles = closed, has_roles
        self._rows = NodeRows(problem, bands, node, self._spread_from)
        self._columns = self._rows.columns_of(at)
        self._relaxed: Relaxed | None = None
        self.bound = self._spread_bound = 0
        self._report: Watch = lambda _: None

    def watch(self, cost: int, others: int) -> None:
        """Report from now on, with the cost of the answer and bounds of other nodes."""
        self._report = lambda bound: closing(cost, min(cost, others + bound))

    def report(self) -> None:
        """Report the bound."""
        self._report(self.bound)

    @property
    def is_small(self) -> bool:
        """Whether CP-SAT needs no better solution to start from."""
        return len(self._rows) <= FEW_COLUMNS

    def relax(self, found: NodeSolutions) -> None:
        """Solve the linear relaxation."""
        self._relaxed = solve_relaxation(self._rows)
        if self._relaxed is not None:
            self.bound = self._spread_bound = self._proven(self._relaxed, found)

    def search(self, found: NodeSolutions, limits: Limits) -> None:
        """Search around the linear relaxation."""
        rows, relaxed = self._rows, self._relaxed
        if relaxed is None or self._has_roles or not self._is_open(self.bound):
            return
        search = InducedSearch(
            rows,
            relaxed.columns,
            enough=float(relaxed.columns @ rows.cost) * (1 + self._closed),
            work=limits[0],
            left=limits[1],
        )
        self._columns = search.improved(self._columns)
        found.spent += search.spent

    def gap(self) -> float:
        """Return how far the solution is from its bound, relatively."""
        return self.cost() / self.bound if self.bound else float(self.cost())

    def give(self, found: NodeSolutions) -> None:
        """Add solution and bounds to those of all nodes."""
        found.take_places(self._node, self._rows.pairs(self._columns))
        found.costs.append(self.bound)
        found.spread_costs.append(self._spread_bound)

    def _proven(self, relaxed: Relaxed, found: NodeSolutions) -> int:
        """Return the cost that prices prove, whether collections stay spread or not."""
        rows = self._rows
        is_soft = np.array([row.band is None for row in rows.rows], dtype=np.bool_)
        if (relaxed.prices[is_soft] > 0).any():
            # Without soft caps other prices prove more.
            plain = NodeRows(self._problem, self._bands, self._node, None)
            without = solve_relaxation(plain)
            if without is not None:
                rows, relaxed = plain, without
        found.take_prices(rows, relaxed.prices)
        return bound_of(rows, relaxed.prices)

    def prove(self, found: NodeSolutions, limits: Limits) -> None:
        """Close the gap by CP-SAT, first without the soft caps on collections."""
        work, left = limits
        if not self._is_open(self.bound):
            return
        model = BandsModel(
            self._problem, self._bands, self._node, has_roles=self._has_roles
        )
        model.gap = self._closed
        if is_listened_to():
            model.watch = lambda units: self._report(units * model.unit)
        self.bound, is_best = self._by_cp_sat(model, self.bound, limits)
        self._spread_bound = max(self.bound, self._spread_bound)
        if is_best and self._is_open(self._spread_bound):
            # The soft caps on collections make solutions dearer, and bounds too.
            model.watch = None
            keep_spread(model, self._problem, self._spread_from)
            rest = (work - model.spent, left)
            self._spread_bound, _ = self._by_cp_sat(model, self._spread_bound, rest)
        found.spent += model.spent

    def _is_open(self, bound: int) -> bool:
        return self.cost() - bound > bound * self._closed

    def cost(self) -> int:
        """Return what the solution costs."""
        return self._rows.cost_of(self._columns)

    def _by_cp_sat(
        self, model: BandsModel, bound: int, limits: Limits
    ) -> tuple[int, bool]:
        """Return a lower bound on the cost, and whether the model was solved."""
        work, left = limits
        model.add_least_cost(self._node.bins, bound)
        model.suggest_places(self._rows.pairs(self._columns))
        before = model.spent
        solved = model.least_value(model.whole_cost(), max(work, LEAST_WORK), left())
        if solved is None:
            return bound, False
        self._take(model)
        units, is_best = solved
        bound = max(bound, units * model.unit)
        if not is_best or model.unit == 1 or not self._is_open(bound):
            return bound, is_best
        # Among solutions of as many units, those of the least rest of each.
        model.watch = None
        most = self.cost() // model.unit - units
        model.suggest_places(self._rows.pairs(self._columns))
        work = max(work - (model.spent - before), LEAST_WORK)
        rest = model.least_value(model.rest_of_cost(units, most), work, left())
        if rest is None:
            return bound, False
        self._take(model)
        return max(bound, units * model.unit + rest[0] // model.steps), rest[1]

    def _take(self, model: BandsModel) -> None:
        """Take the places of a model if they are cheaper, and keep every row."""
        columns = self._rows.columns_at(model.places(model.solver))
        is_cheaper = self._rows.cost_of(columns) < self.cost()
        if is_cheaper and self._rows.holds(columns):
            self._columns = columns


def nearest_by_node(
    problem: Problem, nodes: Sequence[NodeBins], at: Arrangement, limits: Limits
) -> NodeSolutions:
    """
    Minimize the distance of each node from its bands, in order of decreasing distance.

    The distance of a node is not reduced below the largest one of the nodes before it.

    Parameters
    ----------
    problem, nodes
        The problem and its separable nodes, from `separable_nodes`.
    at
        Current arrangement: the first incumbent.
    limits
        Work and time limits of all nodes together.
    """
    known = evaluate(problem, at).cost
    found, reached = NodeSolutions(places_in(problem, at), known), 0.0
    off = distances(problem, loads(problem, at)).max(axis=1)
    far = [float(off[list(inside.bins)].max(initial=0.0)) for inside in nodes]
    for node in sorted(range(len(nodes)), key=lambda node: -far[node]):
        # The largest distance of any node counts, so the rest cannot reduce it.
        if far[node] <= reached:
            break
        work = max((limits[0] - found.spent) * PART, LEAST_WORK)
        model = BandsModel(problem, None, nodes[node])
        model.suggest(at)
        objective = model.distance(far[node], reached)
        solved = model.least_value(objective, work, limits[1]())
        found.spent += model.spent
        if solved is None:
            reached = far[node]
            continue
        found.take_places(nodes[node], model.places(model.solver))
        least, value = (
            solved[0] / model.fineness,
            model.solver.objective_value / model.fineness,
        )
        if least > reached:
            found.deviation = max(found.deviation, least)
        reached = max(reached, value)
    return found
