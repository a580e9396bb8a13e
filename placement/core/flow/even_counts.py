r"""
Even counts by the fewest moves, solved exactly as a least-cost flow.

Items of a group go to different bins, spread over nodes (racks) as evenly as the nodes
have bins. With :math:`x_b` items in bin :math:`b`, the answer minimises in this order:
:math:`\sum_b x_b^2` (no bin has two items more than another that could take one),
moves, items beyond an even spread of their kind, the cost of the moves in coarse steps,
and moved items that lead their group. Groups supply their items; an arc from a group,
or its node, to a bin is free if the group has an item in the bin. A flow with integer
capacities has an integer optimum (docs/theory.md, "Even counts").

Usually every bin can have its even share, rounded down or up; these are then bounds. If
nodes do not allow that, each further item in a bin costs more than the one before. Both
formulations are exact.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from placement.array_types import BoolArray, IndexArray, IntArray
from placement.core.flow.equitable_flow import Arcs, EvenSinks, Pools

MAX_ARCS = 4_000_000
"""Largest number of arcs, about twenty seconds; larger problems are split."""
COST_STEPS = 1000
"""Number of steps that the costs of groups are rounded to."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EvenCounts:
    """
    Problem of an even spread of items over bins.

    Parameters
    ----------
    group_start
        ``(G + 1,)`` items of group ``g`` are rows ``group_start[g]:group_start[g+1]``.
        No group may have more items than there are open bins.
    home
        ``(I,)`` present bin of each item.
    kind_of_group
        ``(G,)`` kind of each group; kinds are spread evenly if that takes no further
        move.
    cost
        ``(G,)`` cost of moving an item, compared in `COST_STEPS` steps.
    is_open
        ``(N,)`` whether the bin may hold items.
    leads
        ``(I,)`` whether the item leads its group; among equally good answers, the one
        that moves the fewest leading items is chosen.
    node_of_bin
        ``(N,)`` node of each bin. A node holds at most κ items of a group, the least
        number for which all items find room, and at least κ − 1 if it has the bins.
    """

    group_start: IntArray
    home: IndexArray
    kind_of_group: IndexArray
    cost: IntArray
    leads: BoolArray
    is_open: BoolArray
    node_of_bin: IndexArray

    @property
    def num_groups(self) -> int:
        """Number of groups, ``G``."""
        return len(self.group_start) - 1

    @property
    def sizes(self) -> IntArray:
        """``(G,)`` number of items of each group."""
        return np.diff(self.group_start)

    def part(self, first: int, last: int) -> "EvenCounts":
        """Return the groups from `first` up to, not including, `last`."""
        start, stop = self.group_start[first], self.group_start[last]
        return replace(
            self,
            group_start=self.group_start[first : last + 1] - start,
            home=self.home[start:stop],
            kind_of_group=self.kind_of_group[first:last],
            cost=self.cost[first:last],
            leads=self.leads[start:stop],
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Spread:
    """
    Even spread of the items.

    Parameters
    ----------
    bin_of
        ``(I,)`` bin of each item; items stay where possible.
    is_least
        Whether no other spread as even takes fewer moves; false only if the problem was
        so large that it was solved in pieces.
    """

    bin_of: IndexArray
    is_least: bool


def spread_evenly(problem: EvenCounts) -> Spread:
    """
    Spread the items evenly over the open bins by the fewest moves.

    Raises
    ------
    ValueError
        If a group has more items than there are open bins, or the problem is so large
        that its costs exceed 64 bits.
    """
    num_open = int(problem.is_open.sum())
    if problem.num_groups and int(problem.sizes.max(initial=0)) > num_open:
        msg = f"a group has more items than the {num_open} open bins."
        raise ValueError(msg)
    held = np.zeros(num_open, dtype=np.int64)
    per_piece = max(1, MAX_ARCS // max(num_open, 1))
    pieces = []
    for first in range(0, problem.num_groups, per_piece):
        piece = problem.part(first, min(first + per_piece, problem.num_groups))
        network = _Network(piece, held)
        chosen = network.chosen()
        held = held + chosen.sum(axis=0)
        pieces.append(network.bins_of_items(chosen))
    bin_of = np.concatenate(pieces) if pieces else problem.home.copy()
    return Spread(bin_of=bin_of, is_least=len(pieces) <= 1)


def node_bounds(sizes: IntArray, open_bins: IntArray) -> tuple[IntArray, IntArray]:
    r"""
    Return the fewest and the most items of each group in each node.

    Parameters
    ----------
    sizes
        ``(G,)`` number of items of each group.
    open_bins
        ``(M,)`` number of open bins of each node.

    Returns
    -------
    Two ``(G, M)`` arrays: the fewest, and the most.

    Notes
    -----
    κ is the least number with :math:`\sum_k \min(\kappa, n_k) \ge r`. Some node then
    holds κ items, so every node with a free bin must hold at least κ − 1.

    Examples
    --------
    >>> least, most = node_bounds(np.array([3]), np.array([1, 4]))
    >>> least.tolist(), most.tolist()
    ([[1, 1]], [[1, 2]])
    """
    found, row = np.unique(sizes, return_inverse=True)
    kappa = np.array([_kappa(int(size), open_bins) for size in found], dtype=np.int64)
    most = np.minimum(kappa[:, None], open_bins[None, :])
    least = np.minimum(kappa[:, None] - 1, open_bins[None, :])
    return np.maximum(least, 0)[row], most[row]


def _kappa(size: int, open_bins: IntArray) -> int:
    kappa = 0
    while int(np.minimum(kappa, open_bins).sum()) < size:
        kappa += 1
    return kappa


@dataclass(frozen=True, slots=True)
class _Prices:
    """
    Arc costs of a lexicographic objective.

    One move outweighs any number of items beyond the even share of their kind, one such
    item any number of cost steps, and one step any number of moved leads. `total` is an
    upper bound on the cost of all moves.
    """

    move: int
    kind: int
    step: int
    lead: int
    total: int

    @classmethod
    def ladder(cls, num_items: int, num_kinds: int) -> "Iterator[_Prices]":
        """Yield prices from fine to coarse, for use where numbers grow too large."""
        shapes = [(1, 0), (0, 0)] if num_kinds <= 1 else [(1, 1), (0, 1), (0, 0)]
        for lead, (is_stepped, has_kind) in ((1, shapes[0]), *((0, s) for s in shapes)):
            step = is_stepped * (num_items + 1 if lead else 1)
            below = step * COST_STEPS * num_items + lead * num_items + 1
            move = below * (2 * num_items + 1) if has_kind else below
            yield cls(
                move=move,
                kind=below * has_kind,
                step=step,
                lead=lead,
                total=(move + step * COST_STEPS + lead) * (num_items + 1),
            )


class _Network:
    """Network of groups, their nodes, kinds in bins, and bins."""

    def __init__(self, problem: EvenCounts, held: IntArray) -> None:
        self.problem = problem
        self.held = held
        self.bins = np.nonzero(problem.is_open)[0]
        self.is_home, self.is_lead = self._homes()
        nodes, self.node_of = np.unique(
            problem.node_of_bin[self.bins], return_inverse=True
        )
        self.num_nodes = len(nodes)
        groups, num_bins = problem.num_groups, len(self.bins)
        # One bin per node, or one node for all bins: node limits add nothing.
        self.has_nodes = 1 < self.num_nodes < num_bins
        kinds, self.kind_of = np.unique(problem.kind_of_group, return_inverse=True)
        self.num_kinds = len(kinds)
        self.first_node = groups
        self.first_kind = groups + (groups * self.num_nodes if self.has_nodes else 0)
        self.first_bin = self.first_kind + self.num_kinds * num_bins
        self.num_items = int(problem.group_start[-1])

    def _homes(self) -> tuple[BoolArray, BoolArray]:
        """Return ``(G, n)`` whether a group has an item, and its lead, in a bin."""
        problem = self.problem
        place = np.full(len(problem.is_open), -1, dtype=np.int64)
        place[self.bins] = np.arange(len(self.bins))
        at = place[problem.home]
        group = np.repeat(np.arange(problem.num_groups), problem.sizes)
        shape = (problem.num_groups, len(self.bins))
        homes, leads = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
        homes[group[at >= 0], at[at >= 0]] = True
        is_lead = problem.leads & (at >= 0)
        leads[group[is_lead], at[is_lead]] = True
        return homes, leads

    def chosen(self) -> BoolArray:
        """Return ``(G, n)`` true where a group gets an item."""
        sinks = EvenSinks(self.held, self.num_items, self.first_bin, self._pools())
        ladder = list(_Prices.ladder(self.num_items, self.num_kinds))
        finest = next((p for p in ladder if sinks.fits(p.total)), ladder[-1])
        flow = sinks.solve_within_bounds(*self._network(finest), finest.total)
        for prices in ladder:
            if flow is None:
                flow = sinks.solve_by_slopes(*self._network(prices), prices.total)
        # Groups have no more items than there are open bins, so a spread exists.
        if flow is None:
            msg = "the problem is too large to be spread evenly"
            raise ValueError(msg)
        # The arcs from groups to bins come first.
        chosen: BoolArray = flow[: self.is_home.size].reshape(self.is_home.shape) > 0
        return chosen

    def _pools(self) -> Pools:
        """Return the joint limits of the bins of each node, summed over groups."""
        if not self.has_nodes:
            return Pools.one(len(self.bins))
        least, most = self._node_bounds()
        return Pools(
            of_bin=self.node_of.astype(np.int64),
            least=least.sum(axis=0),
            most=most.sum(axis=0),
        )

    def _node_bounds(self) -> tuple[IntArray, IntArray]:
        open_bins = np.bincount(self.node_of, minlength=self.num_nodes)
        return node_bounds(self.problem.sizes, open_bins)

    def _network(self, prices: _Prices) -> tuple[Arcs, IntArray]:
        """Return the arcs up to the bins, and the supply of each node."""
        arcs = Arcs()
        self._add_choices(arcs, prices)
        supplies = np.zeros(self.first_bin + len(self.bins) + 1, dtype=np.int64)
        supplies[: self.problem.num_groups] = self.problem.sizes
        if self.has_nodes:
            self._add_nodes(arcs, supplies)
        if prices.kind:
            self._add_kinds(arcs, prices.kind)
        return arcs, supplies

    def _add_choices(self, arcs: Arcs, prices: _Prices) -> None:
        groups, num_bins = self.is_home.shape
        group = np.arange(groups, dtype=np.int64)[:, None]
        place = np.arange(num_bins, dtype=np.int64)[None, :]
        tails = group + 0 * place
        if self.has_nodes:
            tails = self.first_node + group * self.num_nodes + self.node_of[None, :]
        heads = self.first_bin + place + 0 * group
        if prices.kind:
            heads = self.first_kind + self.kind_of[:, None] * num_bins + place
        cost = prices.move + prices.step * self._steps()[:, None]
        stays = np.where(self.is_lead, 0, prices.lead)
        arcs.add(tails, heads, 1, np.where(self.is_home, stays, cost))

    def _steps(self) -> IntArray:
        """Return ``(G,)`` costs in steps from 0 to `COST_STEPS` − 1."""
        cost = np.maximum(self.problem.cost, 0).astype(np.float64)
        dearest = cost.max(initial=0.0)
        if dearest <= 0:
            return np.zeros(len(cost), dtype=np.int64)
        steps: IntArray = np.floor(cost / dearest * (COST_STEPS - 1)).astype(np.int64)
        return steps

    def _add_nodes(self, arcs: Arcs, supplies: IntArray) -> None:
        least, most = self._node_bounds()
        groups = self.problem.num_groups
        group = np.arange(groups, dtype=np.int64)[:, None]
        node = self.first_node + np.arange(groups * self.num_nodes, dtype=np.int64)
        arcs.add(group, node.reshape(least.shape), most - least, 0)
        # Supply the lower bound of a node directly at the node.
        supplies[:groups] -= least.sum(axis=1)
        supplies[node] += least.ravel()

    def _add_kinds(self, arcs: Arcs, price: int) -> None:
        """Add costs for items of a kind above or below its even share in a bin."""
        num_bins = len(self.bins)
        total = np.bincount(
            self.kind_of, weights=self.problem.sizes, minlength=self.num_kinds
        ).astype(np.int64)[:, None]
        low = total // num_bins
        kind = np.arange(self.num_kinds, dtype=np.int64)[:, None]
        place = np.arange(num_bins, dtype=np.int64)[None, :]
        tails = self.first_kind + kind * num_bins + place
        heads = self.first_bin + place + 0 * kind
        arcs.add(tails, heads, low, -price)
        arcs.add(tails, heads, np.minimum(total - low * num_bins, 1), 0)
        arcs.add(tails, heads, total, price)

    def bins_of_items(self, chosen: BoolArray) -> IndexArray:
        """Return ``(I,)`` bins: items stay if chosen, others take the free places."""
        problem = self.problem
        group = np.repeat(np.arange(problem.num_groups), problem.sizes)
        place = np.full(len(problem.is_open), 0, dtype=np.int64)
        place[self.bins] = np.arange(len(self.bins))
        stays = problem.is_open[problem.home] & chosen[group, place[problem.home]]
        # Both sides are in group order: a group has as many leaving items as new bins.
        _, to = np.nonzero(chosen & ~self.is_home)
        bin_of = problem.home.copy()
        bin_of[~stays] = self.bins[to]
        return bin_of
