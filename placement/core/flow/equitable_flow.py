"""
Equitable flows: networks whose last stage is bins with even counts.

A least-cost flow over arcs stored as columns, into bins that get their even share:
within bounds if feasible, else by prices that grow with each item in a bin.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np

from placement.array_types import IntArray

MAX_COST = 2**61
"""Limit above which costs times nodes of a flow would exceed 64 bits."""

MAX_SWEEPS = 300
"""Largest number of sweeps over all arcs for potentials; a dozen is usual."""


class Arcs:
    """Arcs of a network, stored as columns."""

    def __init__(self) -> None:
        self.columns: list[tuple[IntArray, IntArray, IntArray, IntArray]] = []
        self.count = 0

    def add(
        self,
        tails: IntArray,
        heads: IntArray | int,
        capacities: IntArray | int,
        costs: IntArray | int,
    ) -> slice:
        """Add arcs; return their slice among all arcs."""
        columns = np.broadcast_arrays(tails, heads, capacities, costs)
        tail, head, capacity, cost = (c.ravel().astype(np.int64) for c in columns)
        self.columns.append((tail, head, capacity, cost))
        first, self.count = self.count, self.count + len(tail)
        return slice(first, self.count)

    def solve(self, supplies: IntArray) -> IntArray | None:
        """Return the flow of each arc of least cost; `None` if infeasible."""
        from ortools.graph.python import min_cost_flow

        tails, heads, capacities, costs = map(
            np.concatenate, zip(*self.columns, strict=True)
        )
        solver = min_cost_flow.SimpleMinCostFlow()
        solver.add_arcs_with_capacity_and_unit_cost(
            tails.astype(np.int32), heads.astype(np.int32), capacities, costs
        )
        nodes = np.arange(len(supplies), dtype=np.int32)
        solver.set_nodes_supplies(nodes, supplies)
        if solver.solve() != solver.OPTIMAL:
            return None
        flow: IntArray = solver.flows(np.arange(len(tails)))
        return flow

    def potentials(self, flow: IntArray) -> IntArray:
        """
        Return the potential of each node, which prove that a flow has least cost.

        The potential of a head exceeds that of its tail by at most the cost of an arc
        with free capacity, and by at least the cost of an arc with flow. Potentials are
        shortest distances in the residual network from any node (Bellman and Ford).
        """
        tails, heads, capacities, costs = map(
            np.concatenate, zip(*self.columns, strict=True)
        )
        has_room, carries = flow < capacities, flow > 0
        start = np.concatenate([tails[has_room], heads[carries]])
        end = np.concatenate([heads[has_room], tails[carries]])
        length = np.concatenate([costs[has_room], -costs[carries]])
        order = np.argsort(end, kind="stable")
        start, end, length = start[order], end[order], length[order]
        ends, first = np.unique(end, return_index=True)
        potential = np.zeros(int(max(tails.max(), heads.max())) + 1, dtype=np.int64)
        for _ in range(MAX_SWEEPS if len(ends) else 0):
            nearest = np.minimum.reduceat(potential[start] + length, first)
            if (nearest >= potential[ends]).all():
                break
            potential[ends] = np.minimum(potential[ends], nearest)
        return potential

    def extended(self) -> "Arcs":
        """Return a copy to which other arcs can be added."""
        copy = Arcs()
        copy.columns, copy.count = list(self.columns), self.count
        return copy


class EvenSinks:
    """
    Bins whose counts are to be even: the last stage of a network.

    Parameters
    ----------
    held
        ``(n,)`` number of items that each bin holds already.
    num_items
        Number of items that the network brings.
    first_bin
        Index of the first bin's node; the sink follows the last bin.
    pools
        Joint limits of several bins; `None`: one pool of all bins without limits.
    """

    def __init__(
        self,
        held: IntArray,
        num_items: int,
        first_bin: int,
        pools: "Pools | None" = None,
    ) -> None:
        self.held = held
        self.num_items = num_items
        self.shares = (pools or Pools.one(len(held))).shares(held, num_items)
        self.nodes = first_bin + np.arange(len(held), dtype=np.int64)
        self.sink = first_bin + len(held)

    def fits(self, dearest: int) -> bool:
        """Return whether the costs of a network stay within 64 bits."""
        return dearest * (self.sink + 2) < MAX_COST

    def solve_within_bounds(
        self, arcs: Arcs, supplies: IntArray, total: int
    ) -> IntArray | None:
        """
        Solve with every count equal to its even share, rounded down or up.

        Parameters
        ----------
        arcs, supplies
            Network up to the bins.
        total
            Upper bound on the cost of all its arcs together.

        Returns
        -------
        Flow of each arc; `None` if no flow keeps the bounds or costs are too large.
        """
        shares = self.shares
        least = np.maximum(shares.low - self.held, 0)
        most = shares.high - self.held
        if (most < 0).any() or not self.fits(total):
            return None
        # The sink of a share takes the joint amount of its bins.
        num_shares = len(shares.amount)
        ends = self.sink + np.arange(num_shares, dtype=np.int64)
        wanted = shares.amount - shares.sum_of(self.held) - shares.sum_of(least)
        if (wanted < 0).any():
            return None
        supplies = np.concatenate([supplies[: self.sink], -wanted])
        supplies[self.nodes] -= least
        bounded = arcs.extended()
        bounded.add(self.nodes, ends[shares.of_bin], most - least, 0)
        return bounded.solve(supplies)

    def solve_by_slopes(
        self, arcs: Arcs, supplies: IntArray, total: int
    ) -> IntArray | None:
        """
        Solve with a price of each further item in a bin above that of all moves.

        Parameters and results are as in `solve_within_bounds`.
        """
        supplies = supplies.copy()
        supplies[self.sink] = -self.num_items
        width = 1
        while True:
            steps = self._steps(width)
            if not self.fits(total * (int(np.ptp(steps)) + 1)):
                return None
            sloped = arcs.extended()
            used = self._add_slopes(sloped, steps, total)
            flow = sloped.solve(supplies)
            if flow is None or self._is_inside(flow[used], steps):
                return flow
            # Prices grow only inside the window, so a result outside is not exact.
            width *= 4

    def _steps(self, width: int) -> IntArray:
        """Return ``(n, W)`` counts whose next item has a separate price."""
        low, high = self.shares.low, self.shares.high
        most = int((high - low).max(initial=0))
        steps: IntArray = (low - width)[:, None] + np.arange(2 * width + most + 1)
        return steps

    def _add_slopes(self, arcs: Arcs, steps: IntArray, price: int) -> slice:
        """Add an arc to the sink per bin and step, and one for all further items."""
        capacity = np.clip(steps + 1 - self.held[:, None], 0, 1)
        capacity[:, 0] = np.clip(steps[:, 0] + 1 - self.held, 0, self.num_items)
        capacity[:, -1] = self.num_items
        tails = np.broadcast_to(self.nodes[:, None], capacity.shape)
        heads = np.full(capacity.shape, self.sink)
        return arcs.add(tails, heads, capacity, price * (steps - steps.min()))

    def _is_inside(self, flow: IntArray, steps: IntArray) -> bool:
        total = self.held + flow.reshape(steps.shape).sum(axis=1)
        above = total >= np.maximum(steps[:, 0], 0)
        return bool(above.all() and (total <= steps[:, -1]).all())


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Pools:
    """
    Joint limits on the items that groups of bins take.

    Parameters
    ----------
    of_bin
        ``(n,)`` pool of each bin.
    least, most
        ``(M,)`` bounds on the items that come to the bins of each pool.
    """

    of_bin: IntArray
    least: IntArray
    most: IntArray

    @classmethod
    def one(cls, num_bins: int) -> Self:
        """Return one pool of all bins without limits."""
        return cls(
            of_bin=np.zeros(num_bins, dtype=np.int64),
            least=np.zeros(1, dtype=np.int64),
            most=np.full(1, np.iinfo(np.int64).max // 4),
        )

    def shares(self, held: IntArray, num_items: int) -> "Shares":
        """
        Return the shares of the bins that are as even as the pools allow.

        Pools below their lower or above their upper limit at a common level get that
        limit; the other pools divide the rest at the level. Counts within the limits of
        the pools have the least sum of squares if and only if they have these shares: a
        move to a bin of another share breaks a limit or makes counts less even.
        """
        size = np.bincount(self.of_bin, minlength=len(self.least))
        has = np.bincount(self.of_bin, weights=held, minlength=len(size))
        has = has.astype(np.int64)
        least, most = has + self.least, np.minimum(self.most, num_items) + has
        total = int(held.sum()) + num_items
        level = _level(size, least, most, total)
        at_level = [level * count for count in size.tolist()]
        at_least = np.array([x < y for x, y in zip(at_level, least, strict=True)])
        at_most = np.array([x > y for x, y in zip(at_level, most, strict=True)])
        limited = np.where(at_least, least, np.where(at_most, most, 0))
        # All pools without a binding limit form one share, the last.
        is_free = ~(at_least | at_most)
        share = np.where(is_free, is_free.size - is_free.sum(), np.cumsum(~is_free) - 1)
        amount = np.append(limited[~is_free], total - int(limited.sum()))
        return Shares.of(share[self.of_bin], amount)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Shares:
    """
    Target counts of bins, by share.

    Parameters
    ----------
    of_bin
        ``(n,)`` share of each bin.
    amount
        ``(S,)`` total count of the bins of each share.
    low, high
        ``(n,)`` even part of the total, rounded down and rounded up.
    """

    of_bin: IntArray
    amount: IntArray
    low: IntArray
    high: IntArray

    @classmethod
    def of(cls, of_bin: IntArray, amount: IntArray) -> Self:
        """
        Divide each share evenly among its bins, and join shares of equal counts.

        A move between bins with equal low and high counts leaves counts as even, so
        their shares are joined whatever the limits of their pools.
        """
        size = np.maximum(np.bincount(of_bin, minlength=len(amount)), 1)
        ends = np.stack([amount // size, -(-amount // size)], axis=1)
        found, joined = np.unique(ends, axis=0, return_inverse=True)
        of_bin = joined.ravel()[of_bin]
        together = np.zeros(len(found), dtype=np.int64)
        np.add.at(together, joined.ravel(), amount)
        low, high = found[of_bin, 0], found[of_bin, 1]
        return cls(of_bin=of_bin, amount=together, low=low, high=high)

    def sum_of(self, values: IntArray) -> IntArray:
        """Return ``(S,)`` the sum of ``(n,)`` values over the bins of each share."""
        total = np.zeros(len(self.amount), dtype=np.int64)
        np.add.at(total, self.of_bin, values)
        return total


def _level(size: IntArray, least: IntArray, most: IntArray, total: int) -> Fraction:
    """Return the level at which pools hold `total`, each within its limits."""
    ends = {
        Fraction(int(limit), int(n))
        for limits in (least, most)
        for limit, n in zip(limits, size, strict=True)
        if n
    }
    level = Fraction(0)
    for end in sorted(ends):
        if _held_at(end, size, least, most) > total:
            break
        level = end
    rising = [
        int(n)
        for n, low, high in zip(size, least, most, strict=True)
        if n and low <= level * int(n) < high
    ]
    missing = total - _held_at(level, size, least, most)
    return level + Fraction(missing, sum(rising)) if rising else level


def _held_at(
    level: Fraction, size: IntArray, least: IntArray, most: IntArray
) -> Fraction:
    rows = zip(size.tolist(), least.tolist(), most.tolist(), strict=True)
    return sum((min(max(level * n, low), high) for n, low, high in rows), Fraction(0))
