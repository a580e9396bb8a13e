"""Network of `core.flow.transport`: classes, capped nodes, bins, and the sink."""

from typing import Any, NamedTuple

import numpy as np

from placement.array_types import BoolArray, IndexArray, IntArray
from placement.core.bounds.cover_bounds import Bands
from placement.core.flow.equitable_flow import MAX_COST, Arcs
from placement.core.model.arrangement import Arrangement
from placement.core.model.objective import open_bins
from placement.core.model.problem import NOWHERE, Movability, Problem
from placement.core.presolve.symmetry import classes_of, dealt, pairs_of

NO_KEY = 1 << 62
"""Key larger than all other keys."""
TIES = 1 << 12
"""Largest factor of costs, so that fewer moves break ties."""


class _Passages(NamedTuple):
    """Pairs of class and node, with the bounds on the items that pass."""

    classes: IntArray
    nodes: IntArray
    least: IntArray
    most: IntArray


class _Hubs(NamedTuple):
    """
    Hubs: shared entries to a node for classes with one place in it.

    No other constraint depends on the bin that such an item takes in the node, so these
    classes need no arc to every bin.

    Parameters
    ----------
    classes, hubs
        Pairs of class and hub, ascending by hub.
    exit_hubs, exit_bins, exit_collections
        Hub, bin and collection of each exit, ascending by hub.
    """

    classes: IntArray
    hubs: IntArray
    exit_hubs: IntArray
    exit_bins: IntArray
    exit_collections: IndexArray


class _Gates(NamedTuple):
    """
    Gates: entries of a collection to a bin, limited by the free part of its cap.

    `keys` are ``collection * N + bin``, ascending; `room` is the capacity of each gate.
    """

    keys: IntArray
    room: IntArray


class Network:
    """
    Network of one problem.

    Parameters
    ----------
    problem
        Problem in which no bin holds two items of a group.
    resource
        Resource in which all items weigh the same.
    bands
        Bands of this resource, enforced.
    cost
        ``(G,)`` cost of moving one item of a group.
    takes_all
        Whether bins that are full now may take items, too.
    minds_spread
        Whether caps on collections are enforced, beside the items in a bin now.
    """

    def __init__(
        self,
        problem: Problem,
        resource: int,
        bands: Bands,
        cost: IntArray,
        *,
        takes_all: bool,
        minds_spread: bool,
    ) -> None:
        self._problem, self._resource = problem, resource
        capped = (one for one in problem.levels[1:] if one.group_cap is not None)
        self._level = next(capped, None)
        collection = np.full(problem.num_groups, NOWHERE, dtype=np.int32)
        collection = problem.collection_of if minds_spread else collection
        self._classes = classes_of(problem, cost, collection, self._level)
        self._collection = collection[self._classes.first]
        self._cost = cost[self._classes.first]
        self._pairs = pairs_of(problem, self._classes.first)
        self._low, self._high = self._limits(bands)
        stays = self._pairs.is_home & ~self._pairs.is_kept
        self._takes = (self._classes.size @ stays < self._high) | takes_all
        comes = self._pairs.may_come & self._takes
        by_hub = comes & self._fits_hubs()
        self._direct = np.nonzero(stays | (comes & ~by_hub))
        self._hubs = self._found_hubs(by_hub)
        self._passages = self._found_passages()
        self._first_bin = len(self._cost)
        self._sink = self._first_bin + problem.num_bins
        self._first_hub = self._sink + 1 + len(self._passages.classes)
        self._gates = self._found_gates()
        self._arcs = Arcs()

    @property
    def _node(self) -> IndexArray:
        """``(N,)`` node of each bin at the capped level."""
        if self._level is None:
            return np.full(self._problem.num_bins, NOWHERE, dtype=np.int32)
        return self._level.node_of_bin

    @property
    def _num_nodes(self) -> int:
        return 0 if self._level is None else self._level.num_nodes

    @property
    def _cap(self) -> IndexArray:
        """``(K,)`` most items of a group in a node; 0: no cap."""
        if self._level is None or self._level.group_cap is None:
            return np.zeros(len(self._classes.size), dtype=np.int32)
        return self._level.group_cap[self._classes.first]

    def _limits(self, bands: Bands) -> tuple[IntArray, IntArray]:
        """Return ``(N,)`` bounds on the number of movable items in each bin."""
        problem, r = self._problem, self._resource
        unit = int(problem.weight[0, r])
        stays = np.equal(problem.movability, Movability.NEVER)
        kept = np.bincount(problem.home[stays], minlength=problem.num_bins)
        fixed = problem.bins.fixed[:, r] + unit * kept
        least = np.maximum(-((fixed - bands.lower[:, r]) // unit), 0)
        most = (bands.upper[:, r] - fixed) // unit
        return least, np.minimum(most, int(np.count_nonzero(~stays)))

    def _by_node(self, table: BoolArray) -> BoolArray:
        """Return ``(K, M)`` whether a table is true for any bin of a node."""
        found = np.zeros((len(table), self._num_nodes), dtype=np.bool_)
        for node in range(self._num_nodes):
            found[:, node] = table[:, self._node == node].any(axis=1)
        return found

    def _exits(self, kinds: IndexArray) -> BoolArray:
        """Return ``(kinds, N)`` true for bins of nodes that take items of a kind."""
        may = self._problem.is_eligible[kinds][:, self._problem.bin_class]
        exits: BoolArray = may & self._problem.may_receive & self._takes
        return exits & (self._node >= 0)

    def _fits_hubs(self) -> BoolArray:
        """Return ``(K, N)`` true for bins interchangeable within their node."""
        pairs = self._pairs
        exits = self._exits(self._problem.group_class[self._classes.first])
        must_not = self._by_node(exits & ~pairs.may_come & ~pairs.is_home)
        fits = np.equal(self._cap, 1)[:, None] & ~must_not
        outside = np.zeros((len(fits), 1), dtype=np.bool_)
        return np.concatenate([fits, outside], axis=1)[:, self._node]

    def _found_hubs(self, by_hub: BoolArray) -> _Hubs:
        """Return a hub for each pair of node and kind of group that is used."""
        group_class = self._problem.group_class[self._classes.first]
        # A kind is a pair of group class and collection.
        both = np.stack([group_class, self._collection])
        kinds, kind = np.unique(both, axis=1, return_inverse=True)
        kind = kind.reshape(-1)
        k, node = np.nonzero(self._by_node(by_hub))
        hub = kind[k] * self._num_nodes + node
        order = np.argsort(hub, kind="stable")
        exit_kind, exit_bin = np.nonzero(self._exits(kinds[0]))
        exit_hub = exit_kind * self._num_nodes + self._node[exit_bin]
        is_used = np.isin(exit_hub, hub)
        exits = np.argsort(exit_hub[is_used], kind="stable")
        return _Hubs(
            k[order],
            hub[order],
            exit_hub[is_used][exits],
            exit_bin[is_used][exits],
            kinds[1][exit_kind[is_used][exits]],
        )

    def _found_gates(self) -> _Gates:
        """Return the gates that arrivals come through."""
        keys = np.unique(np.concatenate([self._direct_gates(), self._exit_gates()]))
        keys, problem = keys[keys >= 0], self._problem
        if not len(keys):
            return _Gates(keys, keys)
        stays = np.not_equal(problem.movability, Movability.MUST)
        of, home = problem.collection_of[problem.group_of[stays]], problem.home[stays]
        lies = self._key(of, home)
        fixed = self._key(*problem.collection_fixed)
        there, count = np.unique(np.concatenate([lies, fixed]), return_counts=True)
        # Add a sentinel: if everything must leave, no place is occupied.
        there, count = np.append(there, NO_KEY), np.append(count, 0)
        place = np.searchsorted(there, keys)
        held = np.where(there[place] == keys, count[place], 0)
        cap = problem.collection_cap[keys // problem.num_bins]
        return _Gates(keys, np.maximum(cap - held, 0))

    def _key(self, collection: IndexArray, b: IndexArray | IntArray) -> IntArray:
        return collection.astype(np.int64) * self._problem.num_bins + b

    def _direct_gates(self) -> IntArray:
        """Return the gate of each direct choice; negative where there is none."""
        k, b = self._direct
        of = np.where(self._pairs.is_home[k, b], NOWHERE, self._collection[k])
        return self._key(of, b)

    def _exit_gates(self) -> IntArray:
        """Return the gate of each exit of a hub; negative where there is none."""
        return self._key(self._hubs.exit_collections, self._hubs.exit_bins)

    def _heads(self, b: IntArray, gates: IntArray) -> IntArray:
        """Return the network nodes that items for bins enter: bins, or their gates."""
        first = self._first_hub + self._num_hubs
        place = first + np.searchsorted(self._gates.keys, gates)
        return np.where(gates < 0, self._first_bin + b, place)

    @property
    def _num_hubs(self) -> int:
        return int(self._hubs.hubs.max(initial=-1)) + 1

    def _found_passages(self) -> _Passages:
        """Return the pairs of class and node, each with its bounds."""
        k, b = self._direct
        enters = np.zeros((len(self._classes.size), self._num_nodes), dtype=np.bool_)
        inside = (self._node[b] >= 0) & (self._cap[k] > 0)
        enters[k[inside], self._node[b[inside]]] = True
        enters[self._hubs.classes, self._hubs.hubs % max(self._num_nodes, 1)] = True
        of, node = np.nonzero(enters)
        most = self._cap[of].astype(np.int64)
        least = np.zeros_like(most)
        if self._level is not None and self._level.is_even:
            least = np.minimum(most - 1, open_bins(self._level)[node])
        kept = np.zeros(enters.shape, dtype=np.int64)
        held, place = np.nonzero(self._pairs.is_kept & (self._node >= 0))
        np.add.at(kept, (held, self._node[place]), 1)
        size = self._classes.size[of]
        least, most = (np.maximum(end - kept[of, node], 0) for end in (least, most))
        return _Passages(of, node, least * size, most * size)

    @property
    def _scale(self) -> int:
        """Factor of costs that leaves room for tie-breaking; 0: costs too large."""
        dearest = int(self._cost.max(initial=0)) + 1
        nodes = self._first_hub + self._num_hubs + len(self._gates.keys)
        return min(TIES, MAX_COST // (dearest * (nodes + 1)))

    def solved(self, most_choices: int) -> IntArray | None:
        """
        Return the flow of each arc, or `None`.

        `None` means that the network is too large or no flow keeps caps and bands.
        """
        choices = len(self._direct[0]) + len(self._hubs.classes)
        if choices > most_choices or not self._scale or (self._low > self._high).any():
            return None
        self._add_choices()
        passages, bins = self._passages, np.arange(self._first_bin, self._sink)
        entries = self._sink + 1 + np.arange(len(passages.classes))
        span = passages.most - passages.least
        self._arcs.add(passages.classes, entries, span, 0)
        self._arcs.add(bins, self._sink, self._high - self._low, 0)
        sizes = np.diff(self._problem.group_start)[self._classes.first]
        given = self._classes.size * (sizes - self._pairs.is_kept.sum(axis=1))
        # Supply the lower bound of an arc at its head and subtract it at its tail.
        np.subtract.at(given, passages.classes, passages.least)
        others = np.zeros(self._num_hubs + len(self._gates.keys), dtype=np.int64)
        supplies = np.concatenate([given, -self._low, [0], passages.least, others])
        supplies[self._sink] = -supplies.sum()
        return self._arcs.solve(supplies) if supplies[self._sink] <= 0 else None

    def _add_choices(self) -> None:
        """Add the arcs from classes to bins, through nodes, hubs and gates."""
        (k, b), hubs, size = self._direct, self._hubs, self._classes.size
        entry = np.full((len(size), self._num_nodes + 1), -1, dtype=np.int64)
        passages = self._passages
        numbers = self._sink + 1 + np.arange(len(passages.classes))
        entry[passages.classes, passages.nodes] = numbers
        tails = np.where(entry[k, self._node[b]] < 0, k, entry[k, self._node[b]])
        moved = self._cost * self._scale + (self._scale > 1)
        costs = np.where(self._pairs.is_home[k, b], 0, moved[k])
        heads = self._heads(b, self._direct_gates())
        self._arcs.add(tails, heads, size[k], costs)
        tails = entry[hubs.classes, hubs.hubs % max(self._num_nodes, 1)]
        heads = self._first_hub + hubs.hubs
        self._arcs.add(tails, heads, size[hubs.classes], moved[hubs.classes])
        exits = self._heads(hubs.exit_bins, self._exit_gates())
        room = np.maximum(self._high[hubs.exit_bins], 0)
        self._arcs.add(self._first_hub + hubs.exit_hubs, exits, room, 0)
        gates = self._first_hub + self._num_hubs + np.arange(len(self._gates.keys))
        into = self._first_bin + self._gates.keys % self._problem.num_bins
        self._arcs.add(gates, into, self._gates.room, 0)

    def arrangement(self, flow: IntArray) -> Arrangement:
        """Return the placement of a flow: items stay if their bin is used again."""
        problem, (k, b, amount) = self._problem, self._placed(flow)
        order = np.lexsort((b, self._node[b], k))
        flown = (k[order], b[order], amount[order])
        taken = dealt(self._classes, flown, problem.num_bins)
        free = np.not_equal(problem.movability, Movability.NEVER)
        free &= np.isin(problem.group_of, self._classes.groups)
        items = np.nonzero(free)[0]
        here = problem.group_of[items].astype(np.int64) * problem.num_bins
        here += problem.home[items]
        # The remaining items and bins are both in group order.
        left = ~np.isin(taken, here)
        bin_of = problem.home.copy()
        bin_of[items[~np.isin(here, taken)]] = (taken % problem.num_bins)[left]
        return Arrangement(bin_of, problem.role_home.copy())

    def _placed(self, flow: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Return class, bin and amount of the flow, through hubs or direct."""
        (k, b), hubs = self._direct, self._hubs
        first, last = len(k), len(k) + len(hubs.classes)
        into, out = flow[first:last], flow[last : last + len(hubs.exit_bins)]
        come = np.repeat(hubs.classes, into)
        bins = np.repeat(hubs.exit_bins, out)
        num_bins = self._problem.num_bins
        key = np.concatenate(
            [np.repeat(k * num_bins + b, flow[:first]), come * num_bins + bins]
        )
        placed, amount = np.unique(key, return_counts=True)
        return placed // num_bins, placed % num_bins, amount

    def prices(self, flow: IntArray) -> dict[str, Any]:
        """Return the price of a place in each bin: a witness for `verify_prices`."""
        potential = self._arcs.potentials(flow)
        worth = potential[self._sink] - potential[self._first_bin : self._sink]
        r = self._resource
        price = [(b, int(worth[b])) for b in np.nonzero(worth)[0].tolist()]
        return {
            "denominator": self._scale * int(self._problem.weight[0, r]),
            "above": [[b, r, each] for b, each in price if each > 0],
            "below": [[b, r, -each] for b, each in price if each < 0],
        }
