r"""
Prices of load that prove a bound on cost: the Lagrangian dual of the exact model.

Theory T5: any prices prove a bound, the duals of the linear relaxation the best one.
That relaxation has a column for each pair of group and bin; almost none of them matter.
So it is solved with the columns of what moved, its duals price all others, those worth
it come in, and so on (sifting). What the prices prove is worked out by `verify_prices`
alone, in integers.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from placement.core.arrangement import Arrangement
from placement.core.bounds import Bands
from placement.core.problem import (
    NO_LIMIT,
    NOWHERE,
    BoolArray,
    FloatArray,
    IntArray,
    Movability,
    Problem,
)
from placement.core.solution import Proof
from placement.core.verify_prices import verify_prices

ROUNDS = 8
"""How often columns come in at most."""
NEW_COLUMNS = 3000
"""Columns that come in at once, at most."""
BITS = 60
"""Of what one group may cost, in the units of the multipliers."""
CLOSE = 1 - 1e-6
"""Part of what the relaxation costs at which a bound is as good as it."""
WORTH_IT = -1e-7
"""Reduced cost, in parts of the dearest copy, below which a column comes in."""


def priced_bound(
    problem: Problem, at: Arrangement, bands: Bands, enough: int
) -> tuple[int, Proof | None]:
    """
    Return a lower bound on the cost of moving, and the prices that prove it.

    Parameters
    ----------
    problem
        What was solved; `fits_prices` must hold.
    at
        A known arrangement within the bands: its moves are the first columns.
    bands
        The bands for which the bound holds.
    enough
        The cost of that arrangement: once a bound reaches it no better one is sought.
    """
    best, proof = 0, None
    relaxed = _Relaxation(problem, bands)
    columns = relaxed.first_columns(at)
    for _ in range(ROUNDS):
        found = relaxed.solved(columns)
        if found is None:
            break
        prices, most = found
        witness = _witness(problem, *prices)
        value = verify_prices(problem, bands.lower, bands.upper, witness)
        if value > best:
            best, proof = value, Proof(kind="lambda", witness=witness)
        new = relaxed.worth_adding(prices, columns)
        # More columns only lower what the relaxation costs, and no prices prove more.
        if best >= min(enough, most * CLOSE) or not new.any():
            break
        columns |= new
    return best, proof


def _witness(problem: Problem, above: FloatArray, below: FloatArray) -> dict[str, Any]:
    """Round prices to fractions of one denominator."""
    heaviest = problem.weight.max(axis=0, initial=0).astype(np.float64)
    heaviest += np.abs(problem.role_weight).max(axis=0, initial=0)
    if len(problem.extra):
        heaviest += np.abs(problem.extra).max(axis=0, initial=0)
    steepest = np.maximum(above, below).max(axis=0, initial=0.0)
    largest = float(problem.cost.max(initial=0)) * problem.least_price
    largest += float((steepest * heaviest).sum())
    largest *= float(np.diff(problem.group_start).max(initial=0)) + 2
    bits = max(0, BITS - int(np.ceil(np.log2(max(largest, 1.0)))))
    return {
        "denominator": 1 << bits,
        "above": _rows(above, bits),
        "below": _rows(below, bits),
    }


def _rows(price: FloatArray, bits: int) -> list[list[int]]:
    numerator = np.floor(price * 2.0**bits).astype(np.int64)
    return [
        [b, r, int(numerator[b, r])] for b, r in np.argwhere(numerator > 0).tolist()
    ]


@dataclass(frozen=True, slots=True, eq=False)
class _Tables:
    """
    What each pair of group and bin may do, ``(G, N)``.

    Parameters
    ----------
    may, may_lead
        Whether an item, and a role, of the group may be there.
    is_home, is_kept
        Whether one is there now, and whether it has to stay.
    """

    may: BoolArray
    may_lead: BoolArray
    is_home: BoolArray
    is_kept: BoolArray

    @classmethod
    def of(cls, problem: Problem) -> "_Tables":
        """Read them off a problem."""
        shape = (problem.num_groups, problem.num_bins)
        group, home = problem.group_of, problem.home
        may = problem.is_eligible[problem.group_class][:, problem.bin_class]
        may = may & problem.may_receive
        is_home, is_kept = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
        must = np.equal(problem.movability, Movability.MUST)
        never = np.equal(problem.movability, Movability.NEVER)
        may[group[must], home[must]] = False
        may[group[~must], home[~must]] = True
        is_home[group[~must], home[~must]] = True
        is_kept[group[never], home[never]] = True
        held = np.nonzero(problem.role_home != NOWHERE)[0]
        may_lead = np.zeros(shape, np.bool_)
        may_lead[held] = problem.may_hold_role
        may_lead[held, home[problem.role_home[held]]] = True
        return cls(may, may_lead & may, is_home, is_kept)


class _Relaxation:
    """The linear relaxation of the exact model, with some of its columns."""

    def __init__(self, problem: Problem, bands: Bands) -> None:
        self._problem = problem
        self._bands = bands
        self._tables = _Tables.of(problem)
        target = problem.bins.target
        self._unit = np.where(target > 0, target, 1.0)
        self._scale = max(float(problem.cost.max(initial=1)), 1.0)

    def first_columns(self, at: Arrangement) -> BoolArray:
        """Return ``(G, N)`` the bins that groups are in now, or in a known answer."""
        columns = self._tables.is_home.copy()
        columns[self._problem.group_of, at.bin_of] = True
        return columns

    def solved(
        self, columns: BoolArray
    ) -> tuple[tuple[FloatArray, FloatArray], float] | None:
        """Return ``(N, R)`` prices above and below the bands, and the cost."""
        from scipy.optimize import linprog

        rows = _Rows(self._problem, self._tables, columns)
        loads, limits, place = self._load_rows(rows)
        matrix = rows.stacked([rows.links(), *rows.caps(), loads])
        right = np.concatenate([rows.right(), limits])
        # The simplex method ends in a vertex, the same one anywhere.
        found = linprog(
            rows.costs() / self._scale,
            A_ub=matrix,
            b_ub=right,
            A_eq=rows.sizes(),
            b_eq=rows.counts(),
            bounds=rows.bounds(),
            method="highs-ds",
        )
        if found.x is None:
            return None
        duals = -found.ineqlin.marginals[len(right) - len(limits) :] * self._scale
        above, below = np.zeros_like(self._unit), np.zeros_like(self._unit)
        for side, table in enumerate((above, below)):
            chosen = place[:, 0] == side
            b, r = place[chosen, 1], place[chosen, 2]
            table[b, r] = np.maximum(duals[chosen], 0.0) / self._unit[b, r]
        return (above, below), float(found.fun) * self._scale

    def _load_rows(self, rows: "_Rows") -> tuple[Any, FloatArray, IntArray]:
        """Return rows for the loads, their limits, and which side, bin, resource."""
        from scipy import sparse

        bins, bands = self._problem.bins, self._bands
        parts, limits, place = [], [], []
        for r in range(self._problem.num_resources):
            load = sparse.diags_array(1 / self._unit[:, r]) @ rows.load(r)
            fixed = bins.fixed[:, r] / self._unit[:, r]
            for side, limit, counts in (
                (0, bands.upper[:, r], bands.upper[:, r] < NO_LIMIT),
                (1, bands.lower[:, r], bands.lower[:, r] > 0),
            ):
                sign, b = 1 - 2 * side, np.nonzero(counts)[0]
                parts.append(sign * load[b])
                limits.append(sign * (limit[b] / self._unit[b, r] - fixed[b]))
                place.append(np.stack([0 * b + side, b, 0 * b + r], axis=1))
        return sparse.vstack(parts), np.concatenate(limits), np.concatenate(place)

    def _dearest(self, price: FloatArray) -> FloatArray:
        """Return ``(G,)`` the dearest of the bins that each group takes at a price."""
        problem = self._problem
        size = np.diff(problem.group_start)
        for level in problem.levels[1:]:
            if level.group_cap is None:
                continue
            cap = np.where(level.group_cap > 0, level.group_cap, problem.num_bins)
            for node in range(level.num_nodes):
                inside = np.nonzero(level.node_of_bin == node)[0]
                rank = price[:, inside].argsort(axis=1, kind="stable").argsort(axis=1)
                price[:, inside] = np.where(
                    rank < cap[:, None], price[:, inside], np.inf
                )
        rows = np.arange(len(size))
        last: FloatArray = np.sort(price, axis=1)[rows, np.maximum(size - 1, 0)]
        return last

    def worth_adding(
        self, prices: tuple[FloatArray, FloatArray], columns: BoolArray
    ) -> BoolArray:
        """Return ``(G, N)`` the columns that the prices make worth their while."""
        problem, tables = self._problem, self._tables
        net = prices[0] - prices[1]
        copy = problem.cost[:, None] * problem.least_price * ~tables.is_home
        price = np.where(tables.may, copy + problem.weight @ net.T, np.inf)
        last = self._dearest(np.where(columns, price, np.inf))
        lead = np.where(tables.may_lead, problem.role_weight @ net.T, 0.0)
        # A new bin may also be taken for the sake of the role.
        best_lead = np.where(columns & tables.may_lead, lead, np.inf).min(axis=1)
        gain = np.minimum(lead - np.where(best_lead < np.inf, best_lead, 0)[:, None], 0)
        reduced = (price - last[:, None] + gain) / self._scale
        reduced[columns | ~tables.may] = 0.0
        worth = reduced < WORTH_IT
        if int(worth.sum()) > NEW_COLUMNS:
            worth &= reduced <= np.partition(reduced.ravel(), NEW_COLUMNS)[NEW_COLUMNS]
        found: BoolArray = worth
        return found


class _Rows:
    """Rows and columns of the relaxation: items first, then roles."""

    def __init__(self, problem: Problem, tables: _Tables, columns: BoolArray) -> None:
        self._problem, self._tables = problem, tables
        self._groups, self._bins = np.nonzero(columns)
        self._led, self._lead_bins = np.nonzero(columns & tables.may_lead)
        self._row_of = np.zeros(columns.shape, dtype=np.int64)
        self._row_of[columns] = np.arange(len(self._groups))

    @property
    def _num_items(self) -> int:
        return len(self._groups)

    @property
    def _width(self) -> int:
        return len(self._groups) + len(self._led)

    def _table(self, row: IntArray, column: IntArray, value: Any, height: int) -> Any:  # noqa: ANN401
        from scipy import sparse

        values = np.broadcast_to(np.asarray(value, dtype=np.float64), row.shape)
        return sparse.csr_array((values, (row, column)), shape=(height, self._width))

    @staticmethod
    def stacked(parts: list[Any]) -> Any:  # noqa: ANN401 - sparse
        """Return rows on top of each other."""
        from scipy import sparse

        return sparse.vstack(parts).tocsr()

    def costs(self) -> FloatArray:
        """Return what a column costs."""
        cost = self._problem.cost[self._groups] * self._problem.least_price
        paid = cost * ~self._tables.is_home[self._groups, self._bins]
        return np.concatenate([paid, np.zeros(len(self._led))]).astype(np.float64)

    def load(self, r: int) -> Any:  # noqa: ANN401 - sparse
        """Return ``(N, columns)`` what columns bring to the bins."""
        weights = [
            self._problem.weight[self._groups, r],
            self._problem.role_weight[self._led, r],
        ]
        bins = np.concatenate([self._bins, self._lead_bins])
        every = np.arange(self._width)
        height = self._problem.num_bins
        return self._table(bins, every, np.concatenate(weights), height)

    def sizes(self) -> Any:  # noqa: ANN401 - sparse
        """Return rows that sum the items, and the roles, of each group."""
        groups, items = self._problem.num_groups, np.arange(self._num_items)
        roles = self._num_items + np.arange(len(self._led))
        return self.stacked(
            [
                self._table(self._groups, items, 1, groups),
                self._table(self._led, roles, 1, groups),
            ]
        )

    def counts(self) -> FloatArray:
        """Return what these sums have to be."""
        led = np.zeros(self._problem.num_groups)
        led[self._led] = 1
        return np.concatenate([np.diff(self._problem.group_start), led])

    def links(self) -> Any:  # noqa: ANN401 - sparse
        """Return rows by which a role is only where an item is."""
        rows = np.arange(len(self._led))
        at = self._row_of[self._led, self._lead_bins]
        role = self._table(rows, self._num_items + rows, 1, len(rows))
        return role - self._table(rows, at, 1, len(rows))

    def _levels(self) -> list[tuple[IntArray, IntArray, IntArray]]:
        """Return for each level with caps: column, its row, and the caps by row."""
        found = []
        for level in self._problem.levels[1:]:
            if level.group_cap is None:
                continue
            node = level.node_of_bin[self._bins]
            cap = level.group_cap[self._groups]
            item = np.nonzero((node >= 0) & (cap > 0))[0]
            key = self._groups[item] * level.num_nodes + node[item]
            _, first, row = np.unique(key, return_index=True, return_inverse=True)
            found.append((item, row.reshape(-1), cap[item][first].astype(np.int64)))
        return found

    def caps(self) -> list[Any]:
        """Return rows that sum the items of a group in a node."""
        return [
            self._table(row, item, 1, len(cap)) for item, row, cap in self._levels()
        ]

    def right(self) -> FloatArray:
        """Return the right sides of `links` and `caps`."""
        caps = [cap for _, _, cap in self._levels()]
        return np.concatenate([np.zeros(len(self._led)), *caps]).astype(np.float64)

    def bounds(self) -> FloatArray:
        """Return ``(columns, 2)`` the least and the most of each column."""
        kept = self._tables.is_kept[self._groups, self._bins]
        least = np.concatenate([kept, np.zeros(len(self._led))])
        return np.stack([least, np.ones(self._width)], axis=1)
