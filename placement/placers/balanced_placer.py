r"""
The planner's own placement of new partitions, based on the loads of the cluster.

*Goals.* Racks as even as for every plan; no broker over a capacity; each topic spread
over the brokers by their shares; among the remaining brokers, the one with the smallest
increase of :math:`\sum_r (x_r / T_r)^2` by the new load, with loads :math:`x` and
shares :math:`T` of every balanced resource.

*Constraints.* Only new replicas are placed. Brokers that are excluded, not live, or
without an open log dir receive none, and brokers that may not lead get no leader.

*Algorithm.* Partition by partition, replica by replica, the best broker by these goals
in lexicographic order, the first one on a broker that may lead. Then the leader is the
replica on the broker that leads the topic least, with the smallest increase of the sum.
Greedy choices are exact for one rack and equal partitions.

Example: brokers 0 to 2 hold 4, 4 and 0 replicas. Of a topic with three partitions of RF
1 each broker gets one, as in Kafka; a topic of one partition goes to broker 2.
"""

import numpy as np

from placement.array_types import BoolArray, IndexArray
from placement.draft.draft import Draft
from placement.model.load import (
    RESOURCES,
    Resource,
    WeightArray,
    broker_loads,
)
from placement.model.targets import Targets
from placement.rules.hard_levels import hard_capacities

FloatArray = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


class Placer:
    """
    Choose brokers for the replicas of new partitions.

    Parameters
    ----------
    draft
        The cluster with the new partitions on placeholder brokers, and the brokers that
        may be used.
    targets
        Shares of all resources in that cluster.
    balanced
        Resources to balance, besides replicas and leaders.
    is_new
        ``(P,)`` true for the new partitions.
    """

    def __init__(
        self,
        draft: Draft,
        targets: Targets,
        balanced: tuple[Resource, ...],
        is_new: BoolArray,
    ) -> None:
        state, weights = draft.state, draft.weights
        self.draft, self.state, self.weights, self.is_new = (
            draft,
            state,
            weights,
            is_new,
        )
        counts = {*balanced, Resource.REPLICAS, Resource.LEADERS}
        chosen = np.array([resource in counts for resource in RESOURCES])
        has_share = chosen & (targets.target > 0)
        self.unit = np.where(has_share, targets.target, np.inf)
        self.capacity = hard_capacities(draft)
        self.load = self._load_without_new()
        self.rack = state.brokers.rack_idx
        replicas = RESOURCES.index(Resource.REPLICAS)
        leaders = RESOURCES.index(Resource.LEADERS)
        self.share = _part(targets.target[:, replicas], draft.may_receive)
        self.led_share = _part(
            targets.target[:, leaders], draft.may_receive & draft.leads
        )

    def _load_without_new(self) -> WeightArray:
        state, weights = self.state, self.weights
        load = broker_loads(state, weights, state.partitions.leader_idx)
        of = state.replicas.partition_idx
        rows = np.nonzero(self.is_new[of])[0]
        np.subtract.at(load, state.replicas.broker_idx[rows], weights.replica[of[rows]])
        led = np.nonzero(self.is_new & (state.partitions.leader_idx >= 0))[0]
        np.subtract.at(load, state.partitions.leader_idx[led], weights.leader[led])
        return load

    def place(self) -> IndexArray:
        """
        Place all new partitions.

        Returns
        -------
        ``(R,)`` broker of each replica, the leader first in the rows of its partition;
        existing replicas stay on their brokers.
        """
        state = self.state
        broker_idx = state.replicas.broker_idx.copy()
        for topic in np.unique(state.partitions.topic_idx[self.is_new]):
            self._place_topic(int(topic), broker_idx)
        return broker_idx

    def _place_topic(self, topic: int, broker_idx: IndexArray) -> None:
        state = self.state
        is_topic = np.equal(state.partitions.topic_idx, topic)
        old = np.nonzero((is_topic & ~self.is_new)[state.replicas.partition_idx])[0]
        width = state.num_brokers
        held = np.bincount(state.replicas.broker_idx[old], minlength=width)
        leader = state.partitions.leader_idx[is_topic & ~self.is_new]
        led = np.bincount(leader[leader >= 0], minlength=width)
        start = state.replicas.start
        most, most_led = self.most_of_topic(topic)
        for p in np.nonzero(is_topic & self.is_new)[0].tolist():
            rows = slice(int(start[p]), int(start[p + 1]))
            chosen = self._choose(p, rows.stop - rows.start, held, most)
            first = self._choose_leader(p, chosen, led, most_led)
            chosen.insert(0, chosen.pop(first))
            broker_idx[rows] = chosen

    def most_of_topic(self, topic: int) -> tuple[FloatArray, FloatArray]:
        """Return ``(B,)`` shares of a topic's replicas and leaders, rounded up."""
        is_topic = np.equal(self.state.partitions.topic_idx, topic)
        total = int((np.diff(self.state.replicas.start) * is_topic).sum())
        most = np.ceil(self.share * total - 1e-9)
        return most, np.ceil(self.led_share * int(is_topic.sum()) - 1e-9)

    def _choose(
        self, p: int, factor: int, held: WeightArray, most: FloatArray
    ) -> list[int]:
        weight = self.weights.replica[p]
        chosen: list[int] = []
        for _ in range(factor):
            b = self._best(p, chosen, held, most)
            chosen.append(b)
            held[b] += 1
            self.load[b] += weight
        return chosen

    def _best(
        self, p: int, taken: list[int], held: WeightArray, most: FloatArray
    ) -> int:
        """Return the best broker for one more replica of a partition."""
        is_taken = np.zeros(self.state.num_brokers, dtype=np.bool_)
        is_taken[taken] = True
        in_rack = np.bincount(self.rack[taken], minlength=self.state.num_racks)
        after = self.load + self.weights.replica[p]
        keys = (
            self._hurt(after),
            np.maximum(held + 1 - most, 0),
            (after > self.capacity).any(axis=1),
            in_rack[self.rack],
            # The first replica of each partition ensures that one broker may lead.
            ~self.draft.leads & (not taken),
            ~self.draft.open_to(p),
            ~self.draft.may_receive,
            is_taken,
        )
        # np.lexsort sorts by the last key first; ties go to the lowest row.
        return int(np.lexsort(keys)[0])

    def _hurt(self, after: WeightArray) -> FloatArray:
        change: FloatArray = (after / self.unit) ** 2 - (self.load / self.unit) ** 2
        hurt: FloatArray = np.round(change.sum(axis=1), 12)
        return hurt

    def _choose_leader(
        self, p: int, chosen: list[int], led: WeightArray, most: FloatArray
    ) -> int:
        """Return the index of the chosen broker that leads, and count it as leader."""
        brokers = np.array(chosen)
        weight = self.weights.leader[p]
        after = self.load + weight
        keys = (
            self._hurt(after)[brokers],
            np.maximum(led + 1 - most, 0)[brokers],
            (after > self.capacity).any(axis=1)[brokers],
            ~self.draft.leads[brokers],
        )
        first = int(np.lexsort(keys)[0])
        self.load[brokers[first]] += weight
        led[brokers[first]] += 1
        return first


def _part(target: FloatArray, chosen: BoolArray) -> FloatArray:
    """Return ``(B,)`` the fraction of the total that each chosen broker should have."""
    part = np.where(chosen, np.maximum(target, 0.0), 0.0)
    if not part.sum():
        part = chosen.astype(np.float64)
    found: FloatArray = part / max(float(part.sum()), 1e-300)
    return found
