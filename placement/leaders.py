"""
Follower order: who leads next, so that leaders stay even when brokers are lost.

*Goals.* When a broker dies, the second replica of each partition it led takes over.
The partitions that one broker leads shall have their second replicas spread over the
others as evenly as their replicas allow, and so shall those that one rack leads.
*Constraints.* Nothing is copied; the first replica stays; where a replica lies outside
the leader's rack, one such comes second, so that it serves when the whole rack is lost.
*Algorithm.* Racks are independent, since what a rack leads goes elsewhere. For each, a
flow of least cost from the partitions it leads through pairs (broker that is lost,
heir) to heirs: each further leader of an heir costs more than all pairs, each further
one of a pair more than all changes. So counts after the loss of a rack are as even as
can be, then those after the loss of one broker, then the fewest lists change.

Example: broker 1 leads [1,2,3], [1,2,3], [1,3,2] and [1,2,3]; with the second list
changed to [1,3,2] brokers 2 and 3 each take two of them over.
"""

from dataclasses import replace

import numpy as np

from placement.change import Reassignment
from placement.cluster import ABSENT, BoolArray, ClusterState
from placement.core.even_flow import MAX_COST, Arcs
from placement.core.problem import FloatArray, IntArray
from placement.load import first_live_replica, first_true
from placement.rules.draft import Draft
from placement.targets import Targets

PAIR_STEPS, HEIR_STEPS = 16, 32
"""Counts around the even one that have a price of their own."""


def spread_heirs(
    draft: Draft, reassignment: Reassignment, targets: Targets
) -> Reassignment:
    """
    Put behind each leader who shall lead next, nothing being copied.

    Parameters
    ----------
    draft
        Whether any list may be reordered, or only those that change anyway.
    reassignment
        Lists with the leaders in front.
    targets
        Shares of leaders.
    """
    state = draft.state
    leading = first_live_replica(reassignment.after())
    leading = np.where(leading < 0, ABSENT, reassignment.origin[leading])
    may = draft.orders_followers | reassignment.is_changed
    is_free = may & ~draft.is_left_alone & (leading >= 0)
    share = np.where(draft.leads, targets.target[:, -1], 0.0)
    heirs = choose_heirs(reassignment, leading, is_free, share)
    is_free &= heirs >= 0
    of = state.replicas.partition_idx
    origin = reassignment.origin
    place = np.arange(len(origin))
    rank = np.where(origin == leading[of], 0, np.where(origin == heirs[of], 1, 2))
    order = np.lexsort((place, np.where(is_free[of], rank, 0), of))
    return replace(
        reassignment,
        broker_idx=reassignment.broker_idx[order],
        origin=origin[order].astype(np.int64),
    )


def choose_heirs(
    reassignment: Reassignment,
    leading: IntArray,
    is_free: BoolArray,
    share: FloatArray,
) -> IntArray:
    """
    Choose the second replica of each partition.

    Parameters
    ----------
    reassignment
        Lists with the leaders in front, nothing copied.
    leading
        ``(P,)`` replica row of the cluster that leads, or `ABSENT`.
    is_free
        ``(P,)`` partitions whose order may change; the others keep theirs.
    share
        ``(B,)`` share of leaders that each broker should have; 0: none.

    Returns
    -------
    ``(P,)`` replica row that comes second, or `ABSENT` where there is none to choose.
    """
    state = reassignment.before
    replicas, brokers = state.replicas, state.brokers
    candidates = _candidates(state, leading, share)
    of = replicas.partition_idx.astype(np.int64)
    current = _first_listed(reassignment, candidates)
    heirs = current.copy()
    led = replicas.broker_idx_at(leading).astype(np.int64)
    rack = np.where(led == ABSENT, ABSENT, brokers.rack_idx[led])
    count = np.bincount(led[led >= 0], minlength=state.num_brokers)
    rows = np.nonzero(candidates & is_free[of])[0]
    bound = np.nonzero((current >= 0) & ~is_free)[0]
    asked_by = _split(rows, rack[of[rows]], state.num_racks)
    bound_by = _split(bound, rack[bound], state.num_racks)
    for asked, kept in zip(asked_by, bound_by, strict=True):
        if len(asked):
            taken_over = replicas.broker_idx[current[kept]]
            held = count + np.bincount(taken_over, minlength=state.num_brokers)
            flow = _RackFlow(led, current, held, share)
            chosen = flow.solve(
                asked, of[asked], replicas.broker_idx[asked].astype(np.int64)
            )
            heirs[of[chosen]] = chosen
    return heirs


def _split(rows: IntArray, keys: IntArray, count: int) -> list[IntArray]:
    """Return the rows of each key."""
    order = rows[np.argsort(keys, kind="stable")]
    ends = np.searchsorted(np.sort(keys, kind="stable"), np.arange(count + 1))
    return [order[ends[k] : ends[k + 1]] for k in range(count)]


def _candidates(state: ClusterState, leading: IntArray, share: FloatArray) -> BoolArray:
    """Return ``(R,)`` replicas that could come second: outside the rack, if any is."""
    replicas, brokers = state.replicas, state.brokers
    of = replicas.partition_idx
    rows = np.arange(len(replicas))
    may = (share > 0)[replicas.broker_idx] & (leading[of] >= 0) & (rows != leading[of])
    rack = brokers.rack_idx[replicas.broker_idx]
    outside = may & (rack != rack[np.maximum(leading, 0)][of])
    has_outside = np.zeros(state.num_partitions, dtype=np.bool_)
    has_outside[of[outside]] = True
    found: BoolArray = np.where(has_outside[of], outside, may)
    return found


def _first_listed(reassignment: Reassignment, flags: BoolArray) -> IntArray:
    """Return ``(P,)`` the flagged row that stands first in each list, or `ABSENT`."""
    origin = reassignment.origin
    first = first_true(flags[origin], reassignment.before.replicas.start)
    return np.where(first == ABSENT, ABSENT, origin[first])


class _RackFlow:
    """
    The partitions that one rack leads, and who takes each of them over.

    Parameters
    ----------
    led
        ``(P,)`` broker that leads each partition.
    current
        ``(P,)`` row that comes second now.
    held
        ``(B,)`` leaders of each broker, with those it is bound to take over.
    share
        ``(B,)`` share of leaders.
    """

    def __init__(
        self, led: IntArray, current: IntArray, held: IntArray, share: FloatArray
    ) -> None:
        self.led, self.current, self.held, self.share = led, current, held, share

    def solve(self, rows: IntArray, of: IntArray, heir: IntArray) -> IntArray:
        """Return the chosen rows, one of each partition."""
        partitions, tail = np.unique(of, return_inverse=True)
        width, count = len(self.share), len(partitions)
        pairs, pair = np.unique(self.led[of] * width + heir, return_inverse=True)
        heirs, to = np.unique(pairs % width, return_inverse=True)
        tail, pair, to = tail.ravel(), pair.ravel(), to.ravel()
        most = np.bincount(pair, minlength=len(pairs))
        low = self._even_part(partitions, pairs) - PAIR_STEPS // 2
        free = np.clip(low, 0, most)
        # A pair of one partition needs no node of its own.
        shared = np.nonzero(most > 1)[0]
        first_heir = count + len(shared)
        sink = first_heir + len(heirs)
        node = first_heir + to
        node[shared] = count + np.arange(len(shared))
        change = count + 1
        arcs = Arcs()
        price = np.where(most > 1, 0, change * (1 - free))
        price = price[pair] + np.not_equal(rows, self.current[of])
        chosen = arcs.add(tail, node[pair], 1, price)
        steps = np.broadcast_to(np.arange(1, PAIR_STEPS + 1), (len(shared), PAIR_STEPS))
        ends = (node[shared], first_heir + to[shared])
        _add_steps(arcs, ends, (free[shared], most[shared]), change * steps)
        held, share = self.held[heirs], self.share[heirs]
        level = (held.sum() + count) / share.sum()
        even = np.floor(share * level).astype(np.int64)
        low = np.maximum(even - HEIR_STEPS // 2, held)
        steps = low[:, None] + 1 + np.arange(HEIR_STEPS)
        rank = _ranks(steps / share[:, None])
        # A cycle that could improve the flow passes through each heir once: through
        # two of its pairs, each a step dearer or cheaper.
        unit = (2 * len(heirs) * (PAIR_STEPS + 2) + 1) * change
        price = _price(unit, rank, sink)
        ends = (first_heir + np.arange(len(heirs)), np.full(len(heirs), sink))
        room = low - held
        _add_steps(arcs, ends, (room, room + HEIR_STEPS + count), price)
        supplies = np.zeros(sink + 1, dtype=np.int64)
        supplies[:count], supplies[sink] = 1, -count
        flow = arcs.solve(supplies)
        assert flow is not None  # noqa: S101 - every partition has an heir
        found: IntArray = rows[flow[chosen] > 0]
        return found

    def _even_part(self, partitions: IntArray, pairs: IntArray) -> IntArray:
        """Return per pair what its heir would get if all heirs got the same."""
        width = len(self.share)
        led = np.bincount(self.led[partitions], minlength=width)
        heirs = np.bincount(pairs // width, minlength=width)
        even: IntArray = led[pairs // width] // heirs[pairs // width]
        return even


def _add_steps(
    arcs: Arcs,
    ends: tuple[IntArray, IntArray],
    room: tuple[IntArray, IntArray],
    prices: IntArray,
) -> None:
    """Add arcs: so many for nothing, some at a price each, the rest at a dearer one."""
    free, most = room
    tails, heads = ends
    width = prices.shape[1]
    _add_where(arcs, ends, free, 0)
    some = np.clip(most - free, 0, width)
    is_there = np.arange(width) < some[:, None]
    wide = np.broadcast_to(tails[:, None], prices.shape)
    to = np.broadcast_to(heads[:, None], prices.shape)
    arcs.add(wide[is_there], to[is_there], 1, prices[is_there])
    dearest = 2 * int(prices.max(initial=0)) - int(prices.min(initial=0)) + 1
    _add_where(arcs, ends, most - free - some, dearest)


def _add_where(
    arcs: Arcs, ends: tuple[IntArray, IntArray], room: IntArray, price: int
) -> None:
    """Add the arcs that have any room."""
    rows = np.nonzero(room > 0)[0]
    arcs.add(ends[0][rows], ends[1][rows], room[rows], price)


def _ranks(ratio: FloatArray) -> IntArray:
    rounded = np.unique(np.round(ratio, 9), return_inverse=True)[1]
    found: IntArray = rounded.reshape(ratio.shape) + 1
    return found


def _price(unit: int, rank: IntArray, nodes: int) -> IntArray:
    """Return ranks as prices; of very many the close ones count as equal."""
    most = MAX_COST // (4 * unit * (nodes + 2))
    highest = int(rank.max(initial=1))
    if highest > most:
        rank = rank * max(most, 1) // highest
    return rank * unit
