"""
Successors of the leaders in one rack: three lexicographic goals.

Groups are the partitions that the rack leads, items the replicas that could come
second. First the successors' counts are made as even as possible: a least-cost flow
through successors alone, where each further leader costs its rank. The potentials of
the successors (shortest distances in the residual network) then characterise all flows
that are as even: those that use no item, and no count, with a positive reduced cost
(complementary slackness). Among these flows, a second flow makes each further partition
of a pair (lost broker, successor) cost more than all changes, and each changed list
cost more than none. No cost therefore has to exceed the sum of all lower goals, which
would make such flows slow.

A partition with two possible successors is one arc from one to the other.
"""

from dataclasses import dataclass

import numpy as np

from placement.array_types import BoolArray, FloatArray, IntArray
from placement.core.flow.equitable_flow import Arcs

FIRST_WINDOW = 16
"""Initial number of counts on each side of an even share with costs of their own."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Asked:
    """
    The partitions that one rack leads, with the possible successors of each.

    Parameters
    ----------
    group_start
        ``(G + 1,)`` items of partition ``g`` are ``group_start[g]:group_start[g + 1]``,
        at least one.
    lost, `successor`
        ``(I,)`` broker that leads the item's partition, and broker of the item.
    is_now
        ``(I,)`` true for the item that comes second now, one of each partition.
    held
        ``(B,)`` number of leaders of each broker, fixed successors included.
    share
        ``(B,)`` share of leaders; positive for every successor.
    """

    group_start: IntArray
    lost: IntArray
    successor: IntArray
    is_now: BoolArray
    held: IntArray
    share: FloatArray

    @property
    def num_groups(self) -> int:
        """Number of partitions, ``G``."""
        return len(self.group_start) - 1

    @property
    def num_brokers(self) -> int:
        """Number of brokers, ``B``."""
        return len(self.share)

    def group(self) -> IntArray:
        """Return ``(I,)`` the partition of each item."""
        size = np.diff(self.group_start)
        return np.repeat(np.arange(self.num_groups), size)

    def counts(self, items: IntArray) -> IntArray:
        """Return ``(B,)`` number of the given items on each broker."""
        return np.bincount(self.successor[items], minlength=self.num_brokers)

    def of(self, is_open: BoolArray) -> "Asked":
        """Return the same partitions with some of their items, perhaps not `is_now`."""
        size = np.bincount(self.group()[is_open], minlength=self.num_groups)
        return Asked(
            group_start=np.append(0, np.cumsum(size)),
            lost=self.lost[is_open],
            successor=self.successor[is_open],
            is_now=self.is_now[is_open],
            held=self.held,
            share=self.share,
        )


def even_successors(asked: Asked) -> IntArray:
    """
    Choose the second replica of each partition.

    Returns
    -------
    ``(G,)`` the item of each partition.

    Notes
    -----
    33,000 partitions of three replicas take about 0.3 s of a processor.
    """
    even = _even_counts(asked)
    is_open = even.is_open(asked)
    rows = np.nonzero(is_open)[0]
    start = np.searchsorted(rows, even.chosen)
    return rows[_even_pairs(asked.of(is_open), start, even)]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _EvenCounts:
    """
    One choice with the most even counts, and the data that characterise all others.

    Parameters
    ----------
    chosen
        ``(G,)`` the item of each partition.
    prices
        ``(B,)`` price of each successor: a partition always uses one of its successors
        with the highest price.
    low, high
        ``(B,)`` least and greatest number of partitions that each successor takes over.
    """

    chosen: IntArray
    prices: IntArray
    low: IntArray
    high: IntArray

    def is_open(self, asked: Asked) -> BoolArray:
        """Return ``(I,)`` true for items of some equally even choice."""
        price = self.prices[asked.successor]
        best = np.maximum.reduceat(price, asked.group_start[:-1])
        found: BoolArray = price == best[asked.group()]
        return found


def _even_counts(asked: Asked) -> _EvenCounts:
    """Make counts as even as possible, without regard to pairs and changes."""
    start, width = np.nonzero(asked.is_now)[0], FIRST_WINDOW
    while True:
        steps, arcs = _Steps(asked, width), Arcs()
        choices = _Choices(asked, start, asked.successor, asked.num_brokers + 1)
        choices.add_to(arcs, np.zeros(len(asked.successor), dtype=np.int64))
        steps.add_to(arcs, asked.num_brokers)
        supplies = choices.supplies(asked.num_brokers)
        supplies[asked.num_brokers] = -asked.num_groups
        chosen = choices.solve(arcs, supplies)
        if steps.is_inside(asked.counts(chosen)):
            return _prices_of(asked, steps, chosen)
        width *= 4


def _prices_of(asked: Asked, steps: "_Steps", chosen: IntArray) -> _EvenCounts:
    """Return the prices of an even choice's successors, and the counts they allow."""
    size = asked.num_brokers
    other = np.ones(len(asked.successor), dtype=np.bool_)
    other[chosen] = False
    tails = asked.successor[chosen[asked.group()[other]]]
    ends = np.unique(tails * (size + 1) + asked.successor[other])
    tails, heads, costs = steps.residual(asked.counts(chosen), size)
    tails = np.concatenate([ends // (size + 1), tails])
    heads = np.concatenate([ends % (size + 1), heads])
    costs = np.concatenate([np.zeros(len(ends), dtype=np.int64), costs])
    prices = np.zeros(size + 1, dtype=np.int64)
    while True:
        # Bellman-Ford: an optimal flow leaves no negative cycle.
        nearer = prices.copy()
        np.minimum.at(nearer, heads, prices[tails] + costs)
        if np.array_equal(nearer, prices):
            break
        prices = nearer
    low, high = steps.bounds(prices[-1] - prices[:-1])
    return _EvenCounts(chosen=chosen, prices=prices[:-1], low=low, high=high)


class _Steps:
    """Cost of one more leader of a successor: the rank of its count among all."""

    def __init__(self, asked: Asked, width: int) -> None:
        most = asked.counts(np.arange(len(asked.successor)))
        self.successors = successors = np.nonzero(most)[0]
        self.most, self.size = most[successors], asked.num_brokers
        held, share = asked.held[successors], asked.share[successors]
        level = (held.sum() + asked.num_groups) / share.sum()
        even = np.floor(share * level).astype(np.int64) - held
        self.low = np.clip(even - width, 0, self.most)
        self.high = np.clip(even + width, 0, self.most)
        window = self.high - self.low
        self.of = np.repeat(np.arange(len(successors)), window)
        step = np.arange(len(self.of)) - np.repeat(np.cumsum(window) - window, window)
        self.count = self.low[self.of] + step + 1
        worth = (held[self.of] + self.count) / share[self.of]
        # Rounding makes equal values equal despite floating-point errors.
        rank = np.unique(np.round(worth, 9), return_inverse=True)[1]
        self.rank: IntArray = rank.ravel() + 1

    def add_to(self, arcs: Arcs, sink: int) -> None:
        """Add arcs from successors to a sink."""
        none = np.zeros(len(self.successors), dtype=np.int64)
        dearest = none + int(self.rank.max(initial=0)) + 1
        tails = np.concatenate(
            [self.successors, self.successors[self.of], self.successors]
        )
        ones = np.ones(len(self.of), dtype=np.int64)
        room = np.concatenate([self.low, ones, self.most - self.high])
        price = np.concatenate([none, self.rank, dearest])
        some = np.nonzero(room)[0]
        arcs.add(tails[some], np.full(len(some), sink), room[some], price[some])

    def is_inside(self, counts: IntArray) -> bool:
        """Return whether the steps around every count have their own costs."""
        found = counts[self.successors]
        above = (found > self.low) | (self.low == 0)
        below = (found < self.high) | (self.high == self.most)
        return bool((above & below).all())

    def residual(
        self, counts: IntArray, sink: int
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Return the arcs of a next step to the sink, and of a last step from it."""
        found = counts[self.successors][self.of]
        successors = self.successors[self.of]
        ends = np.full(len(successors), sink)
        up, down = self.count == found + 1, self.count == found
        return (
            np.concatenate([successors[up], ends[down]]),
            np.concatenate([ends[up], successors[down]]),
            np.concatenate([self.rank[up], -self.rank[down]]),
        )

    def bounds(self, worth: IntArray) -> tuple[IntArray, IntArray]:
        """Return ``(B,)`` least and greatest number of steps within the given costs."""
        low, high = np.zeros((2, self.size), dtype=np.int64)
        low[self.successors], high[self.successors] = self.low, self.low
        asked = worth[self.successors[self.of]]
        np.add.at(low, self.successors[self.of], self.rank < asked)
        np.add.at(high, self.successors[self.of], self.rank <= asked)
        return low, high


class _Choices:
    """
    Alternatives of partitions to their initial items, as arcs of a network.

    Parameters
    ----------
    asked
        The partitions.
    start
        ``(G,)`` initial item of each partition.
    node
        ``(I,)`` node at which the partition of each item enters the network.
    first_own
        Number of the first node without other arcs.
    """

    def __init__(
        self, asked: Asked, start: IntArray, node: IntArray, first_own: int
    ) -> None:
        self.start, self.node = start, node
        is_other = np.ones(len(asked.successor), dtype=np.bool_)
        is_other[start] = False
        self.rows = np.nonzero(is_other)[0]
        self.group = asked.group()[self.rows]
        # With several alternatives, an extra node ensures that only one is used.
        self.several = np.nonzero(np.diff(asked.group_start) > 2)[0]
        self.first_own = first_own

    def add_to(self, arcs: Arcs, price: IntArray) -> None:
        """Add the arcs, with ``(I,)`` prices of the items."""
        own = self.first_own + np.arange(len(self.several))
        arcs.add(self.node[self.start[self.several]], own, 1, 0)
        tails = self.node[self.start]
        tails[self.several] = own
        change = price[self.rows] - price[self.start[self.group]]
        self.place = arcs.add(tails[self.group], self.node[self.rows], 1, change)

    def supplies(self, sink: int) -> IntArray:
        """Return the supply of each node; `sink` comes right before extra nodes."""
        size = sink + 1 + len(self.several)
        return np.bincount(self.node[self.start], minlength=size)

    def solve(self, arcs: Arcs, supplies: IntArray) -> IntArray:
        """Return the item of each partition in a least-cost flow."""
        flow = arcs.solve(supplies)
        assert flow is not None  # noqa: S101 - what they start with is a flow
        taken = flow[self.place] > 0
        chosen = self.start.copy()
        chosen[self.group[taken]] = self.rows[taken]
        return chosen


def _even_pairs(asked: Asked, start: IntArray, even: _EvenCounts) -> IntArray:
    """Even out pairs by the fewest changes, with counts between their bounds."""
    width = asked.num_brokers
    pairs, pair = np.unique(asked.lost * width + asked.successor, return_inverse=True)
    most = np.bincount(pair, minlength=len(pairs))
    # A pair with one partition needs no node of its own.
    shared = np.nonzero(most > 1)[0]
    sink = width + len(shared)
    node = pairs % width
    node[shared] = width + np.arange(len(shared))
    change = asked.num_groups + 1
    arcs = Arcs()
    choices = _Choices(asked, start, node[pair], sink + 1)
    choices.add_to(arcs, np.where(most > 1, 0, change)[pair] + ~asked.is_now)
    size = most[shared]
    step = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size) + 1
    heads = np.repeat(pairs[shared] % width, size)
    arcs.add(np.repeat(node[shared], size), heads, 1, change * step)
    brokers = np.arange(width)
    arcs.add(brokers, np.full(width, sink), even.high - even.low, 0)
    supplies = choices.supplies(sink)
    supplies[:width] -= even.low
    supplies[sink] = even.low.sum() - asked.num_groups
    return choices.solve(arcs, supplies)
