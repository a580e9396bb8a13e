r"""
Arrangement near the bands by rounding a linear relaxation, if bands are not kept.

The linear relaxation of the exact model bounds the distance:
:math:`d^* = \min d` such that no load is further than :math:`d` targets outside its
band; its duals are the proof (`core.verify.load_prices`). A second relaxation has

.. math::

    \min\; n d + \sum_{br} s_{br} + \varepsilon \sum_g c_g y_g \quad \text{s.t.} \quad
    d \ge d^*, \quad 0 \le s_{br} \le d

with the distance :math:`s_{br}` of each of :math:`n` loads, so that few bins are
outside and little is moved. In a vertex of it most groups are integral. The other
groups keep their present places, and a search repairs loads out of band. If the result
is not within `NEAR`, branch and bound decides the fractional groups and the integral
ones with the least reduced costs; the others are fixed (relaxation induced
neighbourhood, Danna, Rothberg and Le Pape 2005).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from placement.array_types import BoolArray, FloatArray
from placement.core.bounds.cover_bounds import Bands
from placement.core.exact.linear.lp_columns import Rows, Tables, duals_of, whole_prices
from placement.core.model.arrangement import Arrangement
from placement.core.model.problem import NO_LIMIT, Problem
from placement.core.model.solution import Proof
from placement.core.verify.load_prices import verify_distance

WHOLE = 1e-6
"""Largest distance from 0 and 1 of a column whose group counts as integral."""
MORE_OPEN = 40
"""Number of integral groups of least reduced cost that are decided again."""
PRICE_OF_ALL = 1e-3
"""Cost of moving everything, relative to one target outside a band."""
SCALE = 1e3
"""Factor of the second objective: the tolerances of the solver are 1e-7."""
NEAR = 1.02
"""Ratio to the proven distance up to which an answer is near enough."""
GAP = 5e-3
"""Relative gap of branch and bound."""


Repair = Callable[[Arrangement], tuple[Arrangement, float]]
"""Function that returns an arrangement nearer to the bands, and its distance."""


@dataclass(frozen=True, slots=True, eq=False)
class Nearest:
    """
    Result of the relaxation.

    Parameters
    ----------
    proof
        Prices that prove a distance, or `None` if none is proven.
    at
        Arrangement near the bands, or `None` if none was found.
    """

    proof: Proof | None = None
    at: Arrangement | None = None


class _Program(NamedTuple):
    """Linear program: costs, inequality and equality rows, and bounds."""

    cost: FloatArray
    at_most: tuple[Any, FloatArray]
    equal: tuple[Any, FloatArray]
    bounds: FloatArray

    def solved(self) -> Any:  # noqa: ANN401 - SciPy has no types
        """Return an optimal vertex, by interior point with crossover."""
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
        """Return columns by branch and bound; the others are rounded and fixed."""
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
    Bound the largest distance outside the bands, and search for an answer as near.

    Parameters
    ----------
    problem
        Problem to solve; `model_scaling.fits_prices` must hold.
    at
        Arrangement that fractional groups keep.
    reached
        Largest distance of that arrangement, in targets; branch and bound is skipped if
        it is near enough.
    repaired
        Function that brings an arrangement nearer to the bands; `None`: only the bound.
    max_nodes
        Node limit of branch and bound.
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
    """Linear relaxation with all of its columns."""

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
        """Return a program with more columns, which bring loads into their bands."""
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
        """Return the program that minimises the largest distance alone."""
        from scipy import sparse

        more = sparse.csr_array(np.full((len(self._limits), 1), -1.0))
        cost = np.zeros(len(self._rows) + 1)
        cost[-1] = 1.0
        return self._program(more, cost, 0.0)

    def _all_distances(self, least: float) -> _Program:
        """Return the program of the largest distance, all distances, and the cost."""
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
        """Return an arrangement about as near as the proven bound, if one is found."""
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
        """Return integral groups as in the vertex, and the others as in `at`."""
        group, sizes = self._rows.groups, np.diff(self._problem.group_start)
        is_split = np.zeros(len(sizes), dtype=np.bool_)
        is_split[group[np.abs(columns - np.round(columns)) >= WHOLE]] = True
        as_it_was = self._rows.columns_of(at)
        columns = np.where(is_split[group], as_it_was, np.round(columns))
        if (np.bincount(group, columns, minlength=len(sizes)) != sizes).any():
            # Items without a bin, or that must move, have no column at home.
            return None
        return self._rows.arrangement(columns)

    def _is_open(self, columns: FloatArray, reduced: FloatArray) -> BoolArray:
        """Return true for the columns of groups that are decided again."""
        num_groups, group = self._problem.num_groups, self._rows.groups
        is_open = np.zeros(num_groups, dtype=np.bool_)
        is_open[group[np.abs(columns - np.round(columns)) >= WHOLE]] = True
        # Least increase of the objective by another bin for a group.
        least = np.full(num_groups, np.inf)
        is_out = columns < WHOLE
        np.minimum.at(least, group[is_out], reduced[is_out])
        least[is_open] = np.inf
        is_open[np.argsort(least, kind="stable")[:MORE_OPEN]] = True
        chosen: BoolArray = is_open[group]
        return chosen
