"""
Few pairs of group and bin among which good answers are: the kernel of a problem.

The linear relaxation uses some pairs, and the reduced cost of another is what its use
costs at least. The kernel has the pairs used, and as many of the cheapest others as
asked for.

References
----------
Angelelli, E., Mansini, R., Speranza, M. G. (2010), Kernel search: a general heuristic
for the multi-dimensional knapsack problem, Computers & Operations Research 37 (11).
https://doi.org/10.1016/j.cor.2010.02.002
"""

from dataclasses import dataclass

import numpy as np

from placement.array_types import BoolArray, FloatArray, IntArray
from placement.core.bounds.cover_bounds import Bands
from placement.core.exact.linear.lp_columns import HALF, Rows, Tables, duals_of
from placement.core.exact.linear.node_lp import FORCE, LeafProgram
from placement.core.model.arrangement import Arrangement
from placement.core.model.problem import Problem

OUTSIDE = 1e-6
"""Largest distance outside the bands of a feasible relaxation, in targets."""
USED = 1e-9
"""Smallest value of a column that the relaxation uses."""


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """
    Columns of the linear relaxation in the order in which they are worth a try.

    Parameters
    ----------
    problem, rows
        Problem, and its columns.
    columns
        ``(columns,)`` values between 0 and 1.
    order
        ``(columns,)`` those that the relaxation uses, then others by reduced cost.
    num_used
        Number of columns that it uses.
    prices
        Duals of the bands by side (0: upper, 1: lower), bin and resource.
    """

    problem: Problem
    rows: Rows
    columns: FloatArray
    order: IntArray
    num_used: int
    prices: dict[tuple[int, int, int], float]

    @classmethod
    def of(
        cls, problem: Problem, bands: Bands, seconds: float | None = None
    ) -> "Kernel | None":
        """
        Return the kernel for some bands.

        Parameters
        ----------
        problem, bands
            Problem, and bands that arrangements keep.
        seconds
            Seconds to a deadline; `None`: no deadline.

        Returns
        -------
        Kernel; `None` if no arrangement keeps the bands, or the time was too short.
        """
        tables = Tables.of(problem)
        rows = Rows(problem, tables, tables.may)
        target = problem.bins.target
        unit: FloatArray = np.where(target > 0, target, 1.0)
        scale = max(float(problem.cost.max(initial=1)), 1.0)
        costs = rows.costs() / scale
        program = LeafProgram(rows, bands, unit, costs, FORCE, is_solved_once=True)
        if seconds is not None:
            program.limit(seconds)
        vertex = program.solved(())
        if vertex is None or vertex.outside > OUTSIDE:
            return None
        is_used = vertex.columns > USED
        order = np.argsort(np.where(is_used, -1.0, vertex.reduced_costs), kind="stable")
        found = duals_of(vertex.marginals * scale, program.place, unit)
        prices = {
            (side, int(b), int(r)): float(of_side[b, r])
            for side, of_side in enumerate(found)
            for b, r in np.argwhere(of_side > 0)
        }
        return cls(problem, rows, vertex.columns, order, int(is_used.sum()), prices)

    def rounded(self) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
        """Return pairs of group and bin of the rounded relaxation, and of its roles."""
        rows, shape = self.rows, (self.problem.num_groups, self.problem.num_bins)
        places, roles = np.zeros(shape), np.zeros(shape)
        np.add.at(places, (rows.groups, rows.bins), self.columns)
        led = rows.leads
        np.add.at(roles, (rows.groups[led], rows.bins[led]), self.columns[led])
        found = (np.argwhere(table > HALF).tolist() for table in (places, roles))
        of_items, of_roles = ({(group, b) for group, b in rows} for rows in found)
        return of_items, of_roles

    def pairs(
        self, extra: int, at: Arrangement | None = None
    ) -> tuple[BoolArray, BoolArray]:
        """
        Return ``(G, N)`` pairs for items and for roles.

        Parameters
        ----------
        extra
            Number of columns besides those that the relaxation uses.
        at
            Arrangement whose pairs belong to the kernel as well; `None`: none.
        """
        rows, chosen = self.rows, np.zeros(len(self.rows), dtype=np.bool_)
        chosen[self.order[: min(self.num_used + extra, len(rows))]] = True
        if at is not None:
            chosen |= rows.columns_of(at) > 0
        places = np.zeros((self.problem.num_groups, self.problem.num_bins), np.bool_)
        roles = places.copy()
        places[rows.groups[chosen], rows.bins[chosen]] = True
        led = chosen & rows.leads
        roles[rows.groups[led], rows.bins[led]] = True
        # Roles that stay cost nothing.
        holder = self.problem.home[np.maximum(self.problem.role_home, 0)]
        held = np.nonzero((self.problem.role_home >= 0) & (holder >= 0))[0]
        roles[held, holder[held]] = True
        return places, roles & places
