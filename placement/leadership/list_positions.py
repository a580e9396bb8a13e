r"""
Even list positions: each broker is first, second, third, … about equally often.

*Goal.* Among the partitions of one replication factor :math:`r`, a broker with
:math:`d` replicas is at each of the :math:`r` positions in :math:`\lfloor d / r
\rfloor` or :math:`\lceil d / r \rceil` of them. If counts of replicas differ by at most
one, so do the counts of every position.
*Constraints.* Nothing is copied. Brokers that may not lead are not put first.
*Algorithm.* For each position, a least-cost flow from partitions through their replicas
to brokers. The number due to a broker is the number of its remaining replicas divided
by the remaining positions, rounded down or up. The unrounded numbers are a flow, so an
integer flow exists (an equitable edge colouring of a bipartite graph [1]_), and for the
next position the same holds for the remaining replicas. Among all such orders, the
first position changes the fewest leaders, and further positions keep as many replicas
as they can.

Example: brokers 1 and 2 hold [1,2] four times; two lists become [2,1].

References
----------
.. [1] de Werra, D. (1971). Equitable colorations of graphs. *Revue française
   d'informatique et de recherche opérationnelle* 5(R3): 3-8.
"""

from dataclasses import dataclass, replace

import numpy as np

from placement.array_types import BoolArray, FloatArray, IntArray
from placement.core.flow.equitable_flow import Arcs
from placement.core.model.arrangement import Arrangement
from placement.core.model.objective import evaluate
from placement.core.model.problem import Problem
from placement.core.model.solution import Solution
from placement.draft.draft import Draft
from placement.model.cluster import ABSENT
from placement.model.load import first_true
from placement.model.reassignment import Reassignment

ROUNDING = 1e-9
"""Rounding error of sums of fractions that are integers."""


def spread_positions(
    draft: Draft, reassignment: Reassignment, *, keeps_leaders: bool
) -> Reassignment:
    """
    Reorder lists so that each broker is equally often at every position.

    Parameters
    ----------
    draft
        Draft with the partitions that may change and the brokers that may lead.
    reassignment
        Lists with the leaders first.
    keeps_leaders
        Whether the first replica of every list stays first.
    """
    of = reassignment.partition_idx
    is_free = ~draft.is_left_alone & ~_has(reassignment, ~draft.state.brokers.is_live)
    is_bound = _has(reassignment, ~draft.leads) | ~draft.may_lead_anew | keeps_leaders
    slots = _Slots(
        of=of.astype(np.int64),
        broker=reassignment.broker_idx.astype(np.int64),
        slot=np.arange(len(of)) - reassignment.start[of],
        length=np.diff(reassignment.start),
        is_bound=is_bound,
    )
    place = slots.places(is_free)
    order = np.lexsort((place, of))
    return replace(
        reassignment,
        broker_idx=reassignment.broker_idx[order],
        origin=reassignment.origin[order],
    )


def with_even_positions(
    draft: Draft, problem: Problem, reassignment: Reassignment, solution: Solution
) -> tuple[Reassignment, Solution]:
    """
    Return lists with even positions, and the solution with their leaders.

    New leaders must not break a rule, and must not bring a broker further out of its
    bands than the solution. Otherwise the leaders stay, and only followers change
    places.
    """
    if draft.decided is None and not draft.is_order_only:
        ordered = spread_positions(draft, reassignment, keeps_leaders=False)
        best = solution.best
        first = ordered.origin[ordered.start[:-1]]
        is_new = np.not_equal(first, reassignment.origin[reassignment.start[:-1]])
        led_anew = Arrangement(best.bin_of, np.where(is_new, first, best.role_of))
        was, value = evaluate(problem, best), evaluate(problem, led_anew)
        if value.key[:2] <= was.key[:2]:
            return ordered, _led_by(solution, led_anew, value.deviation)
    return spread_positions(draft, reassignment, keeps_leaders=True), solution


def _led_by(solution: Solution, at: Arrangement, deviation: float) -> Solution:
    """Return the solution with other leaders, and their deviation."""
    proven = solution.certificate
    bound = min(proven.deviation.lower_bound, deviation)
    return replace(
        solution,
        best=at,
        certificate=replace(
            proven,
            deviation=replace(proven.deviation, value=deviation, lower_bound=bound),
        ),
    )


def uneven_positions(draft: Draft, reassignment: Reassignment) -> IntArray:
    """
    Return ``(B,)`` sum of the deviations of each broker's counts from even counts.

    Excluded partitions are not counted, nor are partitions with a replica on a broker
    that may not lead.
    """
    of = reassignment.partition_idx
    length = np.diff(reassignment.start)
    counted = ~_has(reassignment, ~draft.leads)
    excluded = draft.settings.excluded_topics
    if excluded is not None and len(excluded):
        counted &= ~excluded[draft.state.partitions.topic_idx]
    slot = np.arange(len(of)) - reassignment.start[of]
    off = np.zeros(draft.state.num_brokers, dtype=np.int64)
    for size in np.unique(length[counted]).tolist():
        chosen = (counted & np.equal(length, size))[of]
        key = reassignment.broker_idx[chosen].astype(np.int64) * size + slot[chosen]
        held = np.bincount(key, minlength=len(off) * size).reshape(-1, size)
        total = held.sum(axis=1)[:, None]
        off += np.maximum(held - -(-total // size), 0).sum(axis=1)
        off += np.maximum(total // size - held, 0).sum(axis=1)
    return off


def _has(reassignment: Reassignment, brokers: BoolArray) -> BoolArray:
    """Return ``(P,)`` true for lists that contain one of some brokers."""
    found = first_true(brokers[reassignment.broker_idx], reassignment.start)
    return np.not_equal(found, ABSENT)


@dataclass(frozen=True, slots=True, eq=False)
class _Slots:
    """
    Places in the replica lists.

    Parameters
    ----------
    of, broker, slot
        ``(M,)`` partition, broker and position of each place.
    length, is_bound
        ``(P,)`` number of replicas of each partition, and whether its first one stays.
    """

    of: IntArray
    broker: IntArray
    slot: IntArray
    length: IntArray
    is_bound: BoolArray

    def places(self, is_free: BoolArray) -> IntArray:
        """Return ``(M,)`` the position of each place, new in free partitions."""
        found = self.slot.copy()
        is_left = is_free[self.of] & (~self.is_bound[self.of] | (self.slot > 0))
        found[is_left] = ABSENT
        for position in range(int(self.length[is_free].max(initial=0))):
            asked = np.nonzero(is_left)[0]
            asked = asked[(self.length > position)[self.of[asked]]]
            if not position:
                asked = asked[~self.is_bound[self.of[asked]]]
            if len(asked):
                chosen = self._chosen(asked, position)
                found[chosen] = position
                is_left[chosen] = False
        return found

    def _chosen(self, asked: IntArray, position: int) -> IntArray:
        """Return the places that get a position, one of each partition."""
        partitions, tail = np.unique(self.of[asked], return_inverse=True)
        kind = self.length * 2 + self.is_bound
        width = int(self.broker.max()) + 1
        pairs, pair = np.unique(
            kind[self.of[asked]] * width + self.broker[asked], return_inverse=True
        )
        brokers, to = np.unique(pairs % width, return_inverse=True)
        due = np.bincount(pair) / (pairs // width // 2 - position)
        first_pair, first_broker = len(partitions), len(partitions) + len(pairs)
        sink = first_broker + len(brokers)
        arcs = Arcs()
        is_change = np.not_equal(self.slot[asked], position)
        choices = arcs.add(tail, first_pair + pair, 1, is_change)
        supplies = np.zeros(sink + 1, dtype=np.int64)
        supplies[: len(partitions)], supplies[sink] = 1, -len(partitions)
        ends = first_pair + np.arange(len(pairs)), first_broker + to
        _add_within(arcs, supplies, ends, due)
        ends = first_broker + np.arange(len(brokers)), np.full(len(brokers), sink)
        _add_within(
            arcs, supplies, ends, np.bincount(to, weights=due).astype(np.float64)
        )
        flow = arcs.solve(supplies)
        assert flow is not None  # noqa: S101 - the parts that are due are one
        found: IntArray = asked[flow[choices] > 0]
        return found


def _add_within(
    arcs: Arcs, supplies: IntArray, ends: tuple[IntArray, IntArray], due: FloatArray
) -> None:
    """Add arcs that carry the number due, rounded down or up."""
    low = np.floor(due + ROUNDING).astype(np.int64)
    high = np.ceil(due - ROUNDING).astype(np.int64)
    # The lower bound is sent in advance, as supply and demand of the ends.
    arcs.add(*ends, np.maximum(high - low, 0), 0)
    np.subtract.at(supplies, ends[0], low)
    np.add.at(supplies, ends[1], low)
