r"""
Even distribution of roles at given places, by the fewest changes, with a proof.

Items stay; only the role holder of each group may change. The k-th role of a bin with
share :math:`t_b` has the key :math:`k / t_b` and, for ties, :math:`(k - 1) / t_b`. The
answer minimises the largest key of all roles held (the relative count of the fullest
bin), then the second largest, and so on; among such answers it has the fewest changes.

The count vectors that role changes can reach are the integral bases of a polymatroid.
For these, a greedy choice by ascending key is optimal for every separable convex cost
whose marginals ascend in the same order [1]_. So the price of the k-th role of a bin is
the *rank* of its key, times a factor above the number of changes of any cycle: a
least-cost flow that is exact in both parts.

For many groups, a flow over all of them is solved if the shares alone determine the
counts (`role_shares`). Otherwise only the promising groups take part at first. Shortest
distances in the residual network of *all* groups then prove the answer or add groups.
These distances are the dual prices that `core.verify.role_claims` verifies.

References
----------
.. [1] Fujishige, S. (1980). Lexicographically Optimal Base of a Polymatroid with
       Respect to a Weight Vector. *Mathematics of Operations Research* 5(2): 186-196.
       https://doi.org/10.1287/moor.5.2.186
"""

from dataclasses import dataclass

import numpy as np

from placement.array_types import BoolArray, FloatArray, IndexArray, IntArray
from placement.core.flow.equitable_flow import Arcs
from placement.core.model.arrangement import rows_by_bin
from placement.core.roles.role_shares import Places, hand_within
from placement.core.roles.role_steps import Steps, step_prices

FIRST_WINDOW = 4
"""Initial number of counts on either side of an even share with separate prices."""
FEW_GROUPS = 20_000
"""Number of groups up to which all take part at once."""
BASE_GROUPS, PER_ROLE = 10, 1.5
"""Number of promising groups per bin, and more per role above or below its share."""
PER_BIN = 10
"""Number of groups added from and to each bin, if those taking part are too few."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RoleTables:
    """
    Candidates for the roles of the groups, and shares of the bins.

    Parameters
    ----------
    group_start
        ``(G + 1,)`` items of group ``g`` are rows ``group_start[g]:group_start[g+1]``.
    bin_of
        ``(I,)`` bin of each item.
    holder
        ``(G,)`` item that holds the role now, or -1.
    may_hold
        ``(I,)`` whether the item may hold the role. A group without such an item keeps
        its holder.
    share
        ``(N,)`` share of each bin in the counts; 0: the bin does not take part.
    """

    group_start: IntArray
    bin_of: IndexArray
    holder: IntArray
    may_hold: BoolArray
    share: FloatArray

    @property
    def num_bins(self) -> int:
        """Number of bins, ``N``."""
        return len(self.share)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EvenRoles:
    """
    Optimal even distribution of roles.

    Parameters
    ----------
    role_of
        ``(G,)`` item that holds the role.
    prices
        ``(N,)`` dual prices of the bins, the witness of optimality; see
        `core.verify.role_claims`.
    """

    role_of: IntArray
    prices: IntArray


class _Choices:
    """Candidates of the groups with at least one, as columns."""

    def __init__(self, tables: RoleTables) -> None:
        counts = np.diff(tables.group_start)
        group_of = np.repeat(np.arange(len(counts)), counts)
        self.item = np.nonzero(tables.may_hold)[0]
        self.group = group_of[self.item]
        self.bin = tables.bin_of[self.item].astype(np.int64)
        self.is_asking = np.zeros(len(counts), dtype=np.bool_)
        self.is_asking[self.group] = True
        self.asking = np.nonzero(self.is_asking)[0]
        self.is_change = np.not_equal(self.item, tables.holder[self.group])
        self.is_forced = np.ones(len(counts), dtype=np.bool_)
        self.is_forced[self.group[~self.is_change]] = False
        self.start = tables.holder.copy()
        """``(G,)`` initial holder if it may stay, else the first candidate."""
        first = np.searchsorted(self.group, self.asking)
        forced = self.is_forced[self.asking]
        self.start[self.asking[forced]] = self.item[first[forced]]
        # A role without candidates counts in its present bin.
        kept = tables.holder[~self.is_asking]
        held = tables.bin_of[kept[kept >= 0]]
        self.held = np.bincount(held, minlength=tables.num_bins)
        degree = np.bincount(self.bin, minlength=tables.num_bins)
        self.most = self.held + degree

    def steps(self, tables: RoleTables, width: int) -> Steps:
        """Return the costs of the next roles of the bins."""
        roles = len(self.asking)
        return Steps(tables.share, self.held, self.most, roles, width)

    def places(self) -> Places:
        """Return the candidates of each role that may change hands."""
        return Places(
            item=self.item,
            bin=self.bin,
            group=self.group,
            is_change=self.is_change,
            start=self.start[self.asking],
        )


def even_roles(tables: RoleTables) -> EvenRoles:
    """
    Distribute roles as evenly as possible, by the fewest changes.

    Notes
    -----
    A million items on a thousand bins take about half a second of processor time.
    """
    choices = _Choices(tables)
    if not len(choices.asking):
        prices = np.zeros(tables.num_bins, dtype=np.int64)
        return EvenRoles(role_of=choices.start, prices=prices)
    role_of, prices = _solve(tables, choices)
    return EvenRoles(role_of=role_of, prices=prices)


def _solve(tables: RoleTables, choices: _Choices) -> tuple[IntArray, IntArray]:
    """Solve within the counts given by shares alone, else by prices of counts."""
    if len(choices.asking) > FEW_GROUPS:
        found = _within_shares(tables, choices)
        if found is not None:
            return found
    return _by_prices(tables, choices)


def _within_shares(
    tables: RoleTables, choices: _Choices
) -> tuple[IntArray, IntArray] | None:
    """Solve over all groups within the counts given by shares, if feasible."""
    steps = choices.steps(tables, FIRST_WINDOW)
    bounds = steps.bounds(len(choices.asking))
    if bounds is None:
        return None
    counts = _counts(tables, choices.start)
    least, most = counts.copy(), counts.copy()
    least[steps.sharing], most[steps.sharing] = bounds
    found = hand_within(choices.places(), counts, least, most)
    if found is None:
        return None
    role_of = choices.start.copy()
    role_of[choices.asking], distance = found
    # Price of one more role among bins of equal key of which only some have it.
    counts = _counts(tables, role_of)
    up, down = step_prices(tables.share, counts, len(role_of))
    some = np.nonzero(most > least)[0][0]
    price = up[some] if counts[some] < most[some] else down[some]
    prices = distance[:-1] - distance[-1] - price
    # A bin that holds all roles it can hold has no price of one more role.
    is_full = (counts == choices.most) & (tables.share > 0)
    return role_of, np.where(is_full, np.maximum(prices, -up), prices)


def _by_prices(tables: RoleTables, choices: _Choices) -> tuple[IntArray, IntArray]:
    """Solve over some groups, until the window and the proof hold for all groups."""
    width = FIRST_WINDOW
    some = _promising(tables, choices, _gains(tables, choices))
    while True:
        steps = choices.steps(tables, width)
        role_of = _flow(tables, choices, steps, some)
        if not steps.is_inside(_counts(tables, role_of)):
            width *= 4
            continue
        prices, missed = _prices(tables, choices, role_of, some)
        if not len(missed):
            return role_of, prices
        some = np.union1d(some, missed)


def _gains(tables: RoleTables, choices: _Choices) -> FloatArray:
    """Return ``(N,)`` number of roles of each bin above its share."""
    share = np.where(tables.share > 0, tables.share, 1.0)
    counts = _counts(tables, choices.start)
    level = counts.sum() / max(float(tables.share.sum()), 1e-300)
    gains: FloatArray = counts - share * level
    return gains


def _promising(tables: RoleTables, choices: _Choices, gain: FloatArray) -> IntArray:
    """
    Return the groups whose role is most likely to change hands.

    For every bin, take the roles that can go from it to the emptiest bins and those
    that can come to it from the fullest. Their number grows with the bin's distance
    from its share.
    """
    if len(choices.asking) <= FEW_GROUPS:
        return choices.asking
    tail = tables.bin_of[choices.start[choices.group]]
    rows = np.nonzero(np.not_equal(tail, choices.bin))[0]
    worth = gain[tail[rows]] - gain[choices.bin[rows]]
    chosen = np.zeros(len(choices.start), dtype=np.bool_)
    by_worth = np.argsort(-worth, kind="stable")
    for end, off in ((tail[rows], gain), (choices.bin[rows], -gain)):
        order = by_worth[rows_by_bin(end[by_worth], tables.num_bins)]
        first = np.searchsorted(end[order], np.arange(tables.num_bins))
        place = np.arange(len(order)) - first[end[order]]
        most = BASE_GROUPS + PER_ROLE * np.ceil(np.maximum(off, 0))
        chosen[choices.group[rows[order[place < most[end[order]]]]]] = True
    chosen[choices.is_forced & choices.is_asking] = True
    return np.nonzero(chosen)[0]


def _counts(tables: RoleTables, role_of: IntArray) -> IntArray:
    held = role_of[role_of >= 0]
    return np.bincount(tables.bin_of[held], minlength=tables.num_bins)


def _flow(
    tables: RoleTables, choices: _Choices, steps: Steps, some: IntArray
) -> IntArray:
    """
    Solve over some groups and all bins; the other groups keep their initial holders.

    Roles flow from their initial bin to their final bin, through a node of the group if
    the bin changes. Only roles that change hands flow, which are few.
    """
    count, width = len(some), tables.num_bins
    place = np.full(len(choices.start), -1, dtype=np.int64)
    place[some] = np.arange(count)
    is_other = np.not_equal(choices.item, choices.start[choices.group])
    rows = np.nonzero((place[choices.group] >= 0) & is_other)[0]
    tails = place[choices.group[rows]]
    starts = tables.bin_of[choices.start].astype(np.int64)
    arcs = Arcs()
    arcs.add(count + starts[some], np.arange(count), 1, 0)
    # If the holder may not stay, the initial candidate is a change, too.
    cost = np.where(choices.is_forced[choices.group[rows]], 0, 1)
    chosen = arcs.add(tails, count + choices.bin[rows], 1, cost)
    # An improving cycle passes through each bin at most once, and through one group
    # between two bins, so it has at most as many changes as there are bins.
    steps.add_to(arcs, count, count + width, width + 1)
    supplies = np.zeros(count + width + 1, dtype=np.int64)
    supplies[count:-1] = np.bincount(starts[choices.asking], minlength=width)
    supplies[-1] = -len(choices.asking)
    flow = arcs.solve(supplies)
    assert flow is not None  # noqa: S101 - the initial holders are a flow
    role_of = choices.start.copy()
    taken = rows[flow[chosen] > 0]
    role_of[choices.group[taken]] = choices.item[taken]
    return role_of


def _prices(
    tables: RoleTables, choices: _Choices, role_of: IntArray, some: IntArray
) -> tuple[IntArray, IntArray]:
    """
    Return ``(N,)`` prices of the bins, and groups that may improve the answer.

    Prices are shortest distances in the residual network of some groups (Bellman and
    Ford). That network has no negative cycle, because the answer is optimal for these
    groups. An arc of another group shorter than the distance between its ends may be
    part of a negative cycle. Without such an arc the answer is optimal for all groups.
    """
    network = _residual(tables, choices, role_of)
    is_some = np.zeros(len(role_of) + 1, dtype=np.bool_)
    is_some[some] = is_some[-1] = True
    distance = _distances(network.of(is_some[network.groups]), tables.num_bins + 1)
    return distance[:-1] - distance[-1], network.missed(distance)


def _distances(network: "_Residual", num_nodes: int) -> IntArray:
    """Return the shortest distance of each node from any node."""
    distance = np.zeros(num_nodes, dtype=np.int64)
    network = network.of(np.argsort(network.heads, kind="stable"))
    first = np.nonzero(np.diff(network.heads, prepend=-1))[0]
    ends = network.heads[first]
    for _ in range(num_nodes):
        lengths = distance[network.tails] + network.costs
        better = np.minimum(distance[ends], np.minimum.reduceat(lengths, first))
        if np.array_equal(better, distance[ends]):
            break
        distance[ends] = better
    return distance


@dataclass(frozen=True, slots=True, eq=False)
class _Residual:
    """Residual network of role changes, as arcs between bins and a sink."""

    tails: IntArray
    heads: IntArray
    costs: IntArray
    groups: IntArray
    """Group of each arc; -1 for the arcs from and to the sink."""

    def of(self, rows: IntArray | BoolArray) -> "_Residual":
        """Return a subset of the arcs."""
        columns = (self.tails, self.heads, self.costs, self.groups)
        return _Residual(*(column[rows] for column in columns))

    def missed(self, distance: IntArray) -> IntArray:
        """Return groups with arcs of negative reduced cost, the best per bin."""
        excess = self.costs - (distance[self.heads] - distance[self.tails])
        rows = np.nonzero(excess < 0)[0]
        chosen = np.zeros(len(rows), dtype=np.bool_)
        for ends in (self.tails[rows], self.heads[rows]):
            order = np.lexsort((excess[rows], ends))
            ordered = ends[order]
            place = np.arange(len(rows)) - np.searchsorted(ordered, ordered)
            chosen[order[place < PER_BIN]] = True
        return np.unique(self.groups[rows[chosen]])


def _residual(tables: RoleTables, choices: _Choices, role_of: IntArray) -> _Residual:
    width, counts = tables.num_bins, _counts(tables, role_of)
    chosen = role_of[choices.group]
    other = np.not_equal(choices.item, chosen)
    cost = choices.is_change.astype(np.int64)
    paid = np.zeros(len(role_of), dtype=np.int64)
    paid[choices.group[~other]] = cost[~other]
    up, down = step_prices(tables.share, counts, len(role_of))
    sharing = np.nonzero(tables.share > 0)[0]
    may_lose = sharing[counts[sharing] > choices.held[sharing]]
    sink = np.full(len(sharing), width)
    tails = tables.bin_of[chosen[other]].astype(np.int64)
    change = cost[other] - paid[choices.group[other]]
    none = np.full(len(sharing) + len(may_lose), -1)
    return _Residual(
        np.concatenate([tails, sharing, sink[: len(may_lose)]]),
        np.concatenate([choices.bin[other], sink, may_lose]),
        np.concatenate([change, up[sharing], -down[may_lose]]),
        np.concatenate([choices.group[other], none]),
    )
