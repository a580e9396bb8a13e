r"""
Nearest to the bands, where no arrangement is known that keeps to all of them.

The linear relaxation of the exact model says how near anything can come:
:math:`d^* = \min d` such that no load is further than :math:`d` targets outside its
band; its duals prove it (`core.verify.load_prices`). A second one has

.. math::

    \min\; n d + \sum_{br} s_{br} + \varepsilon \sum_g c_g y_g \quad \text{s.t.} \quad
    d \ge d^*, \quad 0 \le s_{br} \le d

with the distance :math:`s_{br}` of each of :math:`n` loads, so that few bins are out
and little is moved. In a vertex of it most groups are whole. The others are laid as
they were, and a search repairs what that puts out of band. Where it comes no nearer
than `NEAR`, whole groups stay but for those to which it matters least, and branch and
bound decides about the others (relaxation induced neighbourhood, Danna, Rothberg and Le
Pape 2005).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from placement.core.bounds.cover_bounds import Bands
from placement.core.exact.linear.lp_columns import Rows, Tables, duals_of, whole_prices
from placement.core.model.arrangement import Arrangement
from placement.core.model.problem import (
    NO_LIMIT,
    BoolArray,
    FloatArray,
    Problem,
)
from placement.core.model.solution import Proof
from placement.core.verify.load_prices import verify_distance

WHOLE = 1e-6
"""How far from 0 and 1 a column may be for its group to count as whole."""
MORE_OPEN = 40
"""Whole groups, those to which it matters least, that are decided about again."""
PRICE_OF_ALL = 1e-3
"""What moving everything costs beside one target outside a band."""
SCALE = 1e3
"""Of the second objective: the solver's tolerances are 1e-7."""
NEAR = 1.02
"""Times the distance that is proven which is near enough."""
GAP = 5e-3
"""Part of the objective by which what branch and bound finds may be bettered."""


Repair = Callable[[Arrangement], tuple[Arrangement, float]]
"""Brings an arrangement nearer to the bands; returns it, and how far off it is."""


@dataclass(frozen=True, slots=True, eq=False)
class Nearest:
    """
    What the relaxation tells.

    Parameters
    ----------
    proof
        Prices that prove a distance, or `None` where none is proven.
    at
        An arrangement that is near, or `None` where none was found.
    """

    proof: Proof | None = None
    at: Arrangement | None = None


class _Program(NamedTuple):
    """A linear program: costs, rows at most and equal to something, bounds."""

    cost: FloatArray
    at_most: tuple[Any, FloatArray]
    equal: tuple[Any, FloatArray]
    bounds: FloatArray

    def solved(self) -> Any:  # noqa: ANN401 - SciPy has no types
        """Return a vertex that is optimal: interior points, then crossover."""
        from scipy.optimize import linprog

        return linprog(
            self.cost,
            *self.at_most,
            *self.equal,
            bounds=self.bounds,
            method="highs-ipm",
        )

    def branched(
        self, columns: FloatArray, is_open: BoolArray, is_whole: BoolArray, nodes: int
    ) -> FloatArray | None:
        """Return columns, those that are not open rounded, by branch and bound."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        found = np.where(is_open, 0.0, np.round(columns))
        (rows, most), (sums, right) = self.at_most, self.equal
        lower, upper = self.bounds[is_open].T
        answer = milp(
            self.cost[is_open],
            integrality=is_whole[is_open],
            bounds=Bounds(lower, upper),
            constraints=[
                LinearConstraint(rows[:, is_open], ub=most - rows @ found),
                _equal(sums[:, is_open], right - sums @ found),
            ],
            options={"node_limit": nodes, "mip_rel_gap": GAP},
        )
        if answer.x is None:
            return None
        found[is_open] = answer.x
        return found


def _equal(rows: Any, right: FloatArray) -> Any:  # noqa: ANN401 - SciPy has no types
    from scipy.optimize import LinearConstraint

    used = np.diff(rows.indptr) > 0
    return LinearConstraint(rows[used], lb=right[used], ub=right[used])


def nearest(
    problem: Problem,
    at: Arrangement,
    *,
    reached: float = np.inf,
    repaired: Repair | None = None,
    max_nodes: int = 0,
) -> Nearest:
    """
    Prove how far out of its band some bin has to be, and look for what is as near.

    Parameters
    ----------
    problem
        `exact_fit.fits_prices` must hold.
    at
        How groups are laid of which the relaxation says nothing.
    reached
        How far out of its band some bin is there: branch and bound is not asked where
        that is near enough.
    repaired
        Brings what is out of band nearer; `None`: no arrangement is looked for.
    max_nodes
        That branch and bound may open.
    """
    relaxed = _Relaxed(problem)
    if not len(relaxed.place):
        return Nearest()
    found = relaxed.furthest().solved()
    if found.x is None:
        return Nearest()
    marginals = found.ineqlin.marginals[-len(relaxed.place) :]
    prices = duals_of(marginals, relaxed.place, relaxed.unit)
    witness = whole_prices(problem, prices, copy=0)
    is_proof = verify_distance(problem, witness) > 0
    proof = Proof(kind="lambda", witness=witness) if is_proof else None
    if repaired is None:
        return Nearest(proof)
    least = float(found.fun)
    is_near = reached <= NEAR * least
    nodes = 0 if is_near else max_nodes
    return Nearest(proof, relaxed.arranged(least, at, repaired, nodes))


class _Relaxed:
    """The relaxation with all of its columns."""

    def __init__(self, problem: Problem) -> None:
        bins = problem.bins
        has_band = bins.target > 0
        tables = Tables.of(problem)
        self._problem, self._rows = problem, Rows(problem, tables, tables.may)
        self.unit = np.where(has_band, bins.target, 1.0)
        lower = np.where(has_band, bins.lower, 0)
        upper = np.where(has_band, bins.upper, NO_LIMIT)
        banded = self._rows.banded(Bands(lower, upper), self.unit)
        self._loads, self._limits, self.place = banded

    def _program(self, more: Any, cost: FloatArray, least: float) -> _Program:  # noqa: ANN401
        """Return a program with more columns, which take loads into their bands."""
        from scipy import sparse

        rows, most = self._rows.at_most()
        sums, right = self._rows.equal()
        num, width = len(self._rows), more.shape[1]
        tied = more.shape[0] - len(self._limits)
        loads = sparse.vstack([sparse.csr_array((tied, num)), self._loads])
        bounds = np.tile([0.0, np.inf], (num + width, 1))
        bounds[:num], bounds[num, 0] = self._rows.bounds(), least
        parts = [[rows, None], [loads, more]]
        limits = np.concatenate([most, np.zeros(tied), self._limits])
        wide = sparse.hstack([sums, sparse.csr_array((len(right), width))])
        at_most = (sparse.block_array(parts).tocsr(), limits)
        return _Program(cost, at_most, (wide.tocsr(), right), bounds)

    def furthest(self) -> _Program:
        """Return the program for the largest distance alone."""
        from scipy import sparse

        more = sparse.csr_array(np.full((len(self._limits), 1), -1.0))
        cost = np.zeros(len(self._rows) + 1)
        cost[-1] = 1.0
        return self._program(more, cost, 0.0)

    def _all_distances(self, least: float) -> _Program:
        """Return the program for the largest distance, all of them, and the cost."""
        from scipy import sparse

        _, b, r = self.place.T
        key, own = np.unique(b * self._problem.num_resources + r, return_inverse=True)
        num, rows = len(key), len(self._limits)
        ones = np.ones(rows)
        own_distance = sparse.csr_array(
            (-ones, (np.arange(rows), own.reshape(-1))), shape=(rows, num)
        )
        more = sparse.block_array(
            [
                [np.full((num, 1), -1.0), sparse.eye_array(num)],
                [sparse.csr_array((rows, 1)), own_distance],
            ]
        ).tocsr()
        copies = self._rows.costs() / max(1, int(self._problem.cost.sum()))
        cost = np.concatenate([PRICE_OF_ALL * copies, [num], np.ones(num)])
        return self._program(more, SCALE * cost, least)

    def arranged(
        self, least: float, at: Arrangement, repaired: Repair, max_nodes: int
    ) -> Arrangement | None:
        """Look for what is no further than what is proven, or little."""
        program = self._all_distances(least)
        found = program.solved()
        if found.x is None:
            return None
        num = len(self._rows)
        near, rounded = None, self._rounded(found.x[:num], at)
        if rounded is not None:
            near, distance = repaired(rounded)
            if distance <= NEAR * least:
                return near
        if not max_nodes:
            return near
        reduced = np.abs(found.lower.marginals) + np.abs(found.upper.marginals)
        is_open = np.ones(len(found.x), dtype=np.bool_)
        is_open[:num] = self._is_open(found.x[:num], reduced[:num])
        is_whole = np.arange(len(found.x)) < num
        columns = program.branched(found.x, is_open, is_whole, max_nodes)
        return near if columns is None else self._rows.arrangement(columns[:num])

    def _rounded(self, columns: FloatArray, at: Arrangement) -> Arrangement | None:
        """Return the groups that are whole so, and the others as they were."""
        group, sizes = self._rows.groups, np.diff(self._problem.group_start)
        is_split = np.zeros(len(sizes), dtype=np.bool_)
        is_split[group[np.abs(columns - np.round(columns)) >= WHOLE]] = True
        as_it_was = self._rows.columns_of(at)
        columns = np.where(is_split[group], as_it_was, np.round(columns))
        if (np.bincount(group, columns, minlength=len(sizes)) != sizes).any():
            # What lay nowhere, or must move, is no column.
            return None
        return self._rows.arrangement(columns)

    def _is_open(self, columns: FloatArray, reduced: FloatArray) -> BoolArray:
        """Return the columns of groups that are decided about again."""
        num_groups, group = self._problem.num_groups, self._rows.groups
        is_open = np.zeros(num_groups, dtype=np.bool_)
        is_open[group[np.abs(columns - np.round(columns)) >= WHOLE]] = True
        # What a group would lose by its next best bin.
        least = np.full(num_groups, np.inf)
        is_out = columns < WHOLE
        np.minimum.at(least, group[is_out], reduced[is_out])
        least[is_open] = np.inf
        is_open[np.argsort(least, kind="stable")[:MORE_OPEN]] = True
        chosen: BoolArray = is_open[group]
        return chosen
