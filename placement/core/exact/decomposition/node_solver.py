"""Places of one separable node: relaxation, search, branch and cut, and proof."""

from functools import cached_property

import numpy as np

from placement.array_types import BoolArray
from placement.core.bounds.cover_bounds import Bands
from placement.core.exact.cp_sat.bands_model import BandsModel
from placement.core.exact.cp_sat.placement_variables import Watch
from placement.core.exact.cp_sat.spread_rows import keep_spread
from placement.core.exact.decomposition.node_solutions import NodeSolutions
from placement.core.exact.one_node.move_enumeration import enumerate_moves
from placement.core.exact.one_node.node_program import NEAR, SEED, solve_program
from placement.core.exact.one_node.node_relaxation import (
    Relaxed,
    bound_of,
    solve_relaxation,
)
from placement.core.exact.one_node.node_rows import NodeRows
from placement.core.exact.one_node.node_search import (
    ENUMERATION,
    PROGRAM,
    NodeSearch,
)
from placement.core.exact.separable_levels import NodeBins
from placement.core.exact.solver_names import highs
from placement.core.exact.time_limits import LEAST_WORK, Limits
from placement.core.model.arrangement import Arrangement
from placement.core.model.gap_report import closing, is_listened_to
from placement.core.model.problem import Problem

FEW_COLUMNS = 400
"""Number of (group, bin) pairs of a node up to which CP-SAT needs no search first."""
FIRST = 0.3
"""Share of the work of a search for exchanges before the enumeration (0-1)."""
AGAIN = 0.3
"""Share of the work of another search for the enumeration (0-1)."""
SEARCH = 0.5
"""Share of its remaining work for exchanges before branch and cut (0-1)."""
CLOSE = 1e-4
"""Gap to the linear relaxation up to which branch and cut seldom proves more."""
MOST_CLOSE = 0.4
"""Upper limit of its work there, in deterministic seconds."""
FAR = 0.01
"""Gap above which soft caps on collections are part of branch and cut."""


class NodeSolver:
    """Places of one node, with relaxation, search and proof."""

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
        self._relaxed_plain: Relaxed | None = None
        self._is_plain_solved = False
        self.bound = self.spread_bound = 0
        self._report: Watch = lambda _: None

    @cached_property
    def _plain(self) -> NodeRows:
        """Constraints without soft caps on collections; `_rows` if there are none."""
        plain = NodeRows(self._problem, self._bands, self._node, None)
        return plain if len(plain.rows) < len(self._rows.rows) else self._rows

    def watch(self, cost: int, others: int) -> None:
        """Set the report of bounds, with the known cost and bounds of other nodes."""
        self._report = lambda bound: closing(cost, min(cost, others + bound))

    def report(self) -> None:
        """Report the bound."""
        self._report(self.bound)

    @property
    def is_small(self) -> bool:
        """Whether CP-SAT can start from the present solution."""
        return len(self._rows) <= FEW_COLUMNS

    def relax(self, found: NodeSolutions) -> None:
        """Solve the linear relaxation."""
        self._relaxed = solve_relaxation(self._rows)
        if self._relaxed is not None:
            self.bound = self.spread_bound = self._proven(self._relaxed, found)

    def search(self, found: NodeSolutions, limits: Limits) -> None:
        """Exchange a few items at once, or enumerate all moves where these are few."""
        if self._relaxed is None:
            return
        first, end = limits[0] * FIRST, found.spent + limits[0]
        search = NodeSearch(self._rows, self._relaxed, self._closed)
        bound = self.spread_bound
        self._columns, spent = search.exchanged(self._columns, first, bound)
        found.spent += spent
        self._enumerate(found, (end - found.spent) * ENUMERATION)
        if spent >= first and self._is_open(self.spread_bound):
            work = end - found.spent
            self._columns, spent = search.exchanged(self._columns, work, bound)
            found.spent += spent

    def _enumerate(self, found: NodeSolutions, work: float) -> None:
        """Enumerate all moves, first without the soft caps on collections."""
        end = found.spent + work
        for rows in dict.fromkeys([self._plain, self._rows]):
            relaxed = self._relaxation(rows)
            if relaxed is None or not self._is_open(self.spread_bound):
                return
            bound = self.bound if rows is self._plain else self.spread_bound
            few = enumerate_moves(
                rows, relaxed, self._columns, end - found.spent, bound
            )
            found.spent += few.spent
            if few.is_best:
                self._take_bound(rows, found, rows.cost_of(few.columns))
            self._take_columns(few.columns)

    def branch(self, found: NodeSolutions, limits: Limits, *, seed: int = SEED) -> None:
        """
        Close the gap by branch and cut.

        Without the soft caps on collections, the bound holds for all solutions. Far
        from the bound, such a solution seldom keeps the caps.
        """
        work, left = limits
        end = found.spent + work
        is_far = self.gap() > 1 + FAR
        is_alone = is_far or self._is_plain_solved
        in_turn = [self._rows] if is_alone else [self._plain, self._rows]
        for rows in dict.fromkeys(in_turn):
            share = (end - found.spent) * PROGRAM
            if self._is_open(self.spread_bound) and share >= LEAST_WORK:
                self._solve(rows, found, (share, left), seed)
        if self._is_open(self.spread_bound) and end - found.spent >= LEAST_WORK:
            self.search(found, (end - found.spent, left))

    def is_close(self) -> bool:
        """
        Return whether the cost is close to that of the linear relaxation.

        Then a cheaper solution is missing more often than a higher bound.
        """
        if self._relaxed is None:
            return False
        relaxed = float(self._relaxed.columns @ self._rows.cost)
        return self.cost() <= relaxed * (1 + CLOSE)

    def search_again(self, found: NodeSolutions, limits: Limits, *, seed: int) -> None:
        """Search for cheaper solutions from the bounds now known, and for bounds."""
        work, left = limits
        end = found.spent + work
        self._enumerate(found, work * AGAIN)
        if self.is_close():
            self._branch_if_open(found, (min(MOST_CLOSE, work), left), seed)
            self._exchange(found, end - found.spent)
            return
        self._exchange(found, (end - found.spent) * SEARCH)
        self._branch_if_open(found, (end - found.spent, left), seed)

    def _exchange(self, found: NodeSolutions, work: float) -> None:
        """Exchange a few items at once, if the gap is open."""
        if self._relaxed is None or not self._is_open(self.spread_bound):
            return
        search = NodeSearch(self._rows, self._relaxed, self._closed)
        bound = self.spread_bound
        self._columns, spent = search.exchanged(self._columns, work, bound)
        found.spent += spent

    def _branch_if_open(self, found: NodeSolutions, limits: Limits, seed: int) -> None:
        if self._is_open(self.spread_bound) and limits[0] >= LEAST_WORK:
            self.branch(found, limits, seed=seed)

    def _solve(
        self, rows: NodeRows, found: NodeSolutions, limits: Limits, seed: int
    ) -> None:
        """Solve with given rows; without soft caps the bound holds for any solution."""
        relaxed = self._relaxation(rows)
        if relaxed is None:
            return
        work, left = limits
        solved = solve_program(
            rows,
            relaxed,
            self._columns,
            closed=self._closed,
            work=work,
            seconds=left(),
            seed=seed,
            near=NEAR if seed == SEED else 0.0,
        )
        found.spent += solved.spent
        self._take_bound(rows, found, solved.bound)
        self._is_plain_solved |= rows is self._plain and solved.is_best
        if solved.columns is not None:
            self._take_columns(solved.columns)

    def _relaxation(self, rows: NodeRows) -> Relaxed | None:
        """Return a solution of the relaxation of given rows; `None`: infeasible."""
        if rows is self._rows:
            return self._relaxed
        if self._relaxed_plain is None:
            self._relaxed_plain = solve_relaxation(rows)
        return self._relaxed_plain

    def _take_bound(self, rows: NodeRows, found: NodeSolutions, bound: int) -> None:
        """Adopt a bound for given rows, if it is larger."""
        if rows is self._plain and bound > self.bound:
            self.bound, found.solver = bound, highs()
        if max(self.bound, bound) > self.spread_bound:
            self.spread_bound, found.solver = max(self.bound, bound), highs()

    def _take_columns(self, columns: BoolArray) -> None:
        """Adopt columns that are cheaper and keep every row."""
        is_cheaper = self._rows.cost_of(columns) < self.cost()
        if is_cheaper and self._rows.holds(columns):
            self._columns = columns

    def gap(self) -> float:
        """Return the ratio of the cost to its bound."""
        return self.cost() / self.bound if self.bound else float(self.cost())

    def give(self, found: NodeSolutions) -> None:
        """Add the solution and bounds to those of all nodes."""
        found.take_places(self._node, self._rows.pairs(self._columns))
        found.costs[self._node.bins] = self.bound
        found.spread_costs[self._node.bins] = self.spread_bound

    def _proven(self, relaxed: Relaxed, found: NodeSolutions) -> int:
        """Return the bound that prices prove without the soft caps on collections."""
        rows = self._rows
        is_soft = np.array([row.band is None for row in rows.rows], dtype=np.bool_)
        if (relaxed.prices[is_soft] > 0).any():
            # Without soft caps, other prices prove more.
            without = self._relaxation(self._plain)
            if without is not None:
                rows, relaxed = self._plain, without
        found.take_prices(rows, relaxed.prices)
        return bound_of(rows, relaxed.prices)

    def prove(self, found: NodeSolutions, limits: Limits) -> None:
        """Close the gap by CP-SAT, first without the soft caps on collections."""
        work, left = limits
        model = BandsModel(
            self._problem, self._bands, self._node, has_roles=self._has_roles
        )
        model.gap = self._closed
        if is_listened_to():
            model.watch = lambda units: self._report(units * model.unit)
        self.bound, is_best = self._by_cp_sat(model, self.bound, limits)
        self.spread_bound = max(self.bound, self.spread_bound)
        if is_best and self._is_open(self.spread_bound):
            # The soft caps on collections raise costs and bounds.
            model.watch = None
            keep_spread(model, self._problem, self._spread_from)
            rest = (work - model.spent, left)
            self.spread_bound, _ = self._by_cp_sat(model, self.spread_bound, rest)
        found.spent += model.spent

    def prove_spread(self, found: NodeSolutions, limits: Limits) -> None:
        """Close the gap by CP-SAT among solutions that keep the soft caps."""
        model = BandsModel(self._problem, self._bands, self._node, has_roles=False)
        model.gap = self._closed
        keep_spread(model, self._problem, self._spread_from)
        self.spread_bound, _ = self._by_cp_sat(model, self.spread_bound, limits)
        if self._plain is self._rows:
            self.bound = self.spread_bound
        found.spent += model.spent

    def is_open(self) -> bool:
        """Return whether the gap exceeds that at which a node counts as optimal."""
        return self._is_open(self.bound)

    def is_spread_open(self) -> bool:
        """Return whether the gap to the bound with soft caps exceeds it."""
        return self._is_open(self.spread_bound)

    def _is_open(self, bound: int) -> bool:
        return self.cost() - bound > bound * self._closed

    def cost(self) -> int:
        """Return the cost of the solution."""
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
        # Among solutions of equal units, minimise the remainders.
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
        """Adopt the places of a model if they are cheaper and keep every row."""
        self._take_columns(self._rows.columns_at(model.places(model.solver)))
