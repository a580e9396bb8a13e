"""
Who takes over what one rack leads: three goals, one exactly before the next.

Groups are the partitions that the rack leads, items the replicas that could come
second. First the heirs' counts are made as even as can be: a flow of least cost
through heirs alone, where each further leader costs its rank. Prices of the heirs
(shortest distances in its residual network) then tell all flows that are as even: those
that use no item, and no count, which is dearer than need be (complementary slackness).
Among these a second flow makes each further partition of a pair (broker that is lost,
heir) dearer than all changes, and each list that changes dearer than none. So no cost
has to be larger than all that comes after it, which is what such flows take long for.

Where a partition has two heirs to choose from, it is one arc from the one to the other.
"""

from dataclasses import dataclass

import numpy as np

from placement.core.flow.equitable_flow import Arcs
from placement.core.model.problem import BoolArray, FloatArray, IntArray

FIRST_WINDOW = 16
"""Counts around an even share that are told apart at first."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Asked:
    """
    The partitions that one rack leads, and who could take each of them over.

    Parameters
    ----------
    group_start
        ``(G + 1,)`` items of partition ``g`` are ``group_start[g]:group_start[g + 1]``,
        one at least.
    lost, heir
        ``(I,)`` broker that leads the item's partition, and that of the item.
    is_now
        ``(I,)`` the item that comes second now, one of each partition.
    held
        ``(B,)`` leaders of each broker, with those it is bound to take over.
    share
        ``(B,)`` share of leaders; positive for every heir.
    """

    group_start: IntArray
    lost: IntArray
    heir: IntArray
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
        """Return ``(B,)`` how many of some items each broker has."""
        return np.bincount(self.heir[items], minlength=self.num_brokers)

    def of(self, is_open: BoolArray) -> "Asked":
        """Return the same partitions with some of their items, `is_now` among any."""
        size = np.bincount(self.group()[is_open], minlength=self.num_groups)
        return Asked(
            group_start=np.append(0, np.cumsum(size)),
            lost=self.lost[is_open],
            heir=self.heir[is_open],
            is_now=self.is_now[is_open],
            held=self.held,
            share=self.share,
        )


def even_heirs(asked: Asked) -> IntArray:
    """
    Choose who comes second.

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
    One choice whose counts are as even as can be, and what tells all others.

    Parameters
    ----------
    chosen
        ``(G,)`` the item of each partition.
    prices
        ``(B,)`` of an heir: a partition never goes to a cheaper one than it could.
    low, high
        ``(B,)`` the least and the most partitions that each heir takes over.
    """

    chosen: IntArray
    prices: IntArray
    low: IntArray
    high: IntArray

    def is_open(self, asked: Asked) -> BoolArray:
        """Return ``(I,)`` items that some choice as even has."""
        price = self.prices[asked.heir]
        best = np.maximum.reduceat(price, asked.group_start[:-1])
        found: BoolArray = price == best[asked.group()]
        return found


def _even_counts(asked: Asked) -> _EvenCounts:
    """Make counts as even as can be, whatever pairs and changes are."""
    start, width = np.nonzero(asked.is_now)[0], FIRST_WINDOW
    while True:
        steps, arcs = _Steps(asked, width), Arcs()
        choices = _Choices(asked, start, asked.heir, asked.num_brokers + 1)
        choices.add_to(arcs, np.zeros(len(asked.heir), dtype=np.int64))
        steps.add_to(arcs, asked.num_brokers)
        supplies = choices.supplies(asked.num_brokers)
        supplies[asked.num_brokers] = -asked.num_groups
        chosen = choices.solve(arcs, supplies)
        if steps.is_inside(asked.counts(chosen)):
            return _told_apart(asked, steps, chosen)
        width *= 4


def _told_apart(asked: Asked, steps: "_Steps", chosen: IntArray) -> _EvenCounts:
    """Return the prices of heirs that an even choice has, and what these allow."""
    size = asked.num_brokers
    other = np.ones(len(asked.heir), dtype=np.bool_)
    other[chosen] = False
    tails = asked.heir[chosen[asked.group()[other]]]
    ends = np.unique(tails * (size + 1) + asked.heir[other])
    tails, heads, costs = steps.residual(asked.counts(chosen), size)
    tails = np.concatenate([ends // (size + 1), tails])
    heads = np.concatenate([ends % (size + 1), heads])
    costs = np.concatenate([np.zeros(len(ends), dtype=np.int64), costs])
    prices = np.zeros(size + 1, dtype=np.int64)
    while True:
        # Bellman and Ford: an optimal flow leaves no negative cycle.
        nearer = prices.copy()
        np.minimum.at(nearer, heads, prices[tails] + costs)
        if np.array_equal(nearer, prices):
            break
        prices = nearer
    low, high = steps.bounds(prices[-1] - prices[:-1])
    return _EvenCounts(chosen=chosen, prices=prices[:-1], low=low, high=high)


class _Steps:
    """What one more leader of an heir costs: the rank of its count among all."""

    def __init__(self, asked: Asked, width: int) -> None:
        most = asked.counts(np.arange(len(asked.heir)))
        self.heirs = heirs = np.nonzero(most)[0]
        self.most, self.size = most[heirs], asked.num_brokers
        held, share = asked.held[heirs], asked.share[heirs]
        level = (held.sum() + asked.num_groups) / share.sum()
        even = np.floor(share * level).astype(np.int64) - held
        self.low = np.clip(even - width, 0, self.most)
        self.high = np.clip(even + width, 0, self.most)
        window = self.high - self.low
        self.of = np.repeat(np.arange(len(heirs)), window)
        step = np.arange(len(self.of)) - np.repeat(np.cumsum(window) - window, window)
        self.count = self.low[self.of] + step + 1
        worth = (held[self.of] + self.count) / share[self.of]
        # Equal ones alike but for the noise of floats.
        rank = np.unique(np.round(worth, 9), return_inverse=True)[1]
        self.rank: IntArray = rank.ravel() + 1

    def add_to(self, arcs: Arcs, sink: int) -> None:
        """Add arcs from heirs to a sink."""
        none = np.zeros(len(self.heirs), dtype=np.int64)
        dearest = none + int(self.rank.max(initial=0)) + 1
        tails = np.concatenate([self.heirs, self.heirs[self.of], self.heirs])
        ones = np.ones(len(self.of), dtype=np.int64)
        room = np.concatenate([self.low, ones, self.most - self.high])
        price = np.concatenate([none, self.rank, dearest])
        some = np.nonzero(room)[0]
        arcs.add(tails[some], np.full(len(some), sink), room[some], price[some])

    def is_inside(self, counts: IntArray) -> bool:
        """Return whether the steps on either side of every count are told apart."""
        found = counts[self.heirs]
        above = (found > self.low) | (self.low == 0)
        below = (found < self.high) | (self.high == self.most)
        return bool((above & below).all())

    def residual(
        self, counts: IntArray, sink: int
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Return the arcs of a next step to the sink, and of a last one from it."""
        found = counts[self.heirs][self.of]
        heirs = self.heirs[self.of]
        ends = np.full(len(heirs), sink)
        up, down = self.count == found + 1, self.count == found
        return (
            np.concatenate([heirs[up], ends[down]]),
            np.concatenate([ends[up], heirs[down]]),
            np.concatenate([self.rank[up], -self.rank[down]]),
        )

    def bounds(self, worth: IntArray) -> tuple[IntArray, IntArray]:
        """Return ``(B,)`` the least and the most steps that cost no more than this."""
        low, high = np.zeros((2, self.size), dtype=np.int64)
        low[self.heirs], high[self.heirs] = self.low, self.low
        asked = worth[self.heirs[self.of]]
        np.add.at(low, self.heirs[self.of], self.rank < asked)
        np.add.at(high, self.heirs[self.of], self.rank <= asked)
        return low, high


class _Choices:
    """
    What partitions could have instead of what they start with, as arcs of a network.

    Parameters
    ----------
    asked
        The partitions.
    start
        ``(G,)`` item that each has at first.
    node
        ``(I,)`` the node at which each item's partition flows in.
    first_own
        Number of the first node that no other arc has.
    """

    def __init__(
        self, asked: Asked, start: IntArray, node: IntArray, first_own: int
    ) -> None:
        self.start, self.node = start, node
        is_other = np.ones(len(asked.heir), dtype=np.bool_)
        is_other[start] = False
        self.rows = np.nonzero(is_other)[0]
        self.group = asked.group()[self.rows]
        # Of several others one node makes sure that only one is taken.
        self.several = np.nonzero(np.diff(asked.group_start) > 2)[0]
        self.first_own = first_own

    def add_to(self, arcs: Arcs, price: IntArray) -> None:
        """Add the arcs; ``(I,)`` prices of the items."""
        own = self.first_own + np.arange(len(self.several))
        arcs.add(self.node[self.start[self.several]], own, 1, 0)
        tails = self.node[self.start]
        tails[self.several] = own
        change = price[self.rows] - price[self.start[self.group]]
        self.place = arcs.add(tails[self.group], self.node[self.rows], 1, change)

    def supplies(self, sink: int) -> IntArray:
        """Return what flows in at each node; `sink` comes before the first own one."""
        size = sink + 1 + len(self.several)
        return np.bincount(self.node[self.start], minlength=size)

    def solve(self, arcs: Arcs, supplies: IntArray) -> IntArray:
        """Return the item of each partition in a flow of least cost."""
        flow = arcs.solve(supplies)
        assert flow is not None  # noqa: S101 - what they start with is a flow
        taken = flow[self.place] > 0
        chosen = self.start.copy()
        chosen[self.group[taken]] = self.rows[taken]
        return chosen


def _even_pairs(asked: Asked, start: IntArray, even: _EvenCounts) -> IntArray:
    """Even out pairs by the fewest changes, with counts between their bounds."""
    width = asked.num_brokers
    pairs, pair = np.unique(asked.lost * width + asked.heir, return_inverse=True)
    most = np.bincount(pair, minlength=len(pairs))
    # A pair of one partition needs no node of its own.
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
