"""
Our assignors as plug-ins for consumers of kafka-python.

::

    KafkaConsumer(..., partition_assignment_strategy=[BalancedAssignor(rack="a")])

Give each consumer an assignor of its own, because an assignor remembers the partitions
of its consumer.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from kafka.coordinator.assignors.abstract import (
    AbstractPartitionAssignor,
    RebalanceProtocol,
)
from kafka.structs import TopicPartition

from assignment.assignors import Assignor, CooperativeSticky, Range, RoundRobin, Sticky
from assignment.balanced.balanced_assignor import Balanced
from assignment.check import check
from assignment.group import ABSENT, NOT_SENT, Group
from assignment.make_group import MemberSpec, TopicSpec, make_group
from placement.array_types import IndexArray
from placement.kafka_java.java_orders import hash_map_order
from planner.kafka.consumer import assignor_protocol as data

log = logging.getLogger(__name__)

Weigh = Callable[[TopicPartition], float]


@dataclass(frozen=True, slots=True)
class Memory:
    """Last assignment of a member, and its generation."""

    owned: Mapping[str, Sequence[int]]
    generation: int


class PlannerAssignor(AbstractPartitionAssignor):  # type: ignore[misc]  # untyped
    """
    Adapter of an assignor of `assignment` to the interface of a consumer.

    The group leader assigns the partitions of all members, so every member of a group
    must offer the same assignor. Each assignment is checked, and violations are logged.

    Parameters
    ----------
    rack
        Rack of the consumer, its ``client.rack``.
    """

    assignor: Assignor
    protocol = RebalanceProtocol.EAGER

    def __init__(self, rack: str | None = None) -> None:
        self.rack = rack
        self.memory: Memory | None = None

    @property
    def name(self) -> str:
        """Protocol name common to the members, Kafka's name for Kafka's assignors."""
        return self.assignor.name

    def supported_protocols(self) -> list[RebalanceProtocol]:
        """Return the rebalance protocol: eager or cooperative."""
        return [self.protocol]

    def metadata(self, topics: Sequence[str]) -> Any:  # noqa: ANN401 - no types
        """Return the subscription of the member."""
        return data.subscription(topics, rack=self.rack)

    def on_assignment(self, assignment: Any, generation: int) -> None:  # noqa: ANN401 - no types
        """Remember the assignment of the member."""
        owned: dict[str, list[int]] = {}
        for topic, number in assignment.partitions():
            owned.setdefault(topic, []).append(number)
        self.memory = Memory(owned, generation)

    def assign(self, cluster: Any, members: Sequence[Any]) -> dict[str, Any]:  # noqa: ANN401 - no types
        """Return the assignment of each member."""
        group = self.group(cluster, members)
        member_idx = self.answer(group)
        is_cooperative = self.protocol is RebalanceProtocol.COOPERATIVE
        for finding in check(group, member_idx, is_cooperative=is_cooperative):
            # Kafka's own assignors can break a rule. An error would stop the group.
            log.error("%s breaks a rule: %s", self.name, finding.message)
        return {
            member: data.assignment(owned)
            for member, owned in _by_member(group, member_idx).items()
        }

    def answer(self, group: Group) -> IndexArray:
        """Return ``(P,)`` the member of each partition."""
        return self.assignor.assign(group).member_idx

    def spec(self, member: Any) -> MemberSpec:  # noqa: ANN401 - no types
        """Return the description of a member for the columns of the group."""
        sent = member.metadata
        owned = _owned_field(sent)
        generation = getattr(sent, "generation_id", None)
        return MemberSpec(
            member_id=member.member_id,
            instance_id=member.group_instance_id,
            rack=getattr(sent, "rack_id", None) or None,
            topics=list(dict.fromkeys(sent.topics)),
            owned=owned,
            generation=NOT_SENT if generation is None else generation,
        )

    def group(self, cluster: Any, members: Sequence[Any]) -> Group:  # noqa: ANN401 - no types
        """Return the columns of the group; members have the order of Java's HashMap."""
        specs = [self.spec(member) for member in members]
        specs = [specs[at] for at in hash_map_order([s.member_id for s in specs])]
        has_racks = any(spec.rack is not None for spec in specs)
        names = sorted({topic for spec in specs for topic in spec.topics})
        topics = [_topic(cluster, name, has_racks=has_racks) for name in names]
        return make_group(self.weighed(topics, members), specs)

    def weighed(
        self, topics: Sequence[TopicSpec], members: Sequence[Any]
    ) -> Sequence[TopicSpec]:
        """Return the topics, with weights if the members send them."""
        del members
        return topics


def _owned_field(sent: Any) -> dict[str, list[int]]:  # noqa: ANN401 - no types
    """Return the owned partitions of a subscription, each once."""
    owned: dict[str, list[int]] = {}
    for each in getattr(sent, "owned_partitions", None) or ():
        owned.setdefault(each.topic, []).extend(each.partitions)
    return {topic: list(dict.fromkeys(numbers)) for topic, numbers in owned.items()}


def _topic(cluster: Any, name: str, *, has_racks: bool) -> TopicSpec:  # noqa: ANN401 - no types
    """Return a topic from the leader's metadata; 0 partitions if it is unknown."""
    known = cluster.partitions_for_topic(name) or ()
    size = max(known, default=-1) + 1
    racks = [_racks(cluster, name, n) for n in range(size)] if has_racks else None
    return TopicSpec(name=name, num_partitions=size, racks=racks)


def _racks(cluster: Any, topic: str, number: int) -> list[str]:  # noqa: ANN401 - no types
    """Return the racks of a partition's replicas."""
    at = TopicPartition(topic, number)
    return sorted(
        {
            broker.rack
            for broker in cluster.brokers()
            if broker.rack and cluster.is_replica_node(at, broker.node_id)
        }
    )


def _by_member(group: Group, member_idx: IndexArray) -> dict[str, dict[str, list[int]]]:
    named: dict[str, dict[str, list[int]]] = {m: {} for m in group.members.ids}
    numbers = group.number.tolist()
    for row, member in enumerate(member_idx.tolist()):
        if member != ABSENT:
            topic = group.topics.names[group.partitions.topic_idx[row]]
            owned = named[group.members.ids[member]]
            owned.setdefault(topic, []).append(numbers[row])
    return named


class RangeAssignor(PlannerAssignor):
    """Java's ``RangeAssignor``, racks included; may share a group with it."""

    assignor = Range()


class RoundRobinAssignor(PlannerAssignor):
    """Java's ``RoundRobinAssignor``; may share a group with it."""

    assignor = RoundRobin()


class StickyAssignor(PlannerAssignor):
    """Java's ``StickyAssignor``, its user data included; may share a group with it."""

    assignor = Sticky()

    def metadata(self, topics: Sequence[str]) -> Any:  # noqa: ANN401 - no types
        """Return the subscription of the member, with its previous partitions."""
        if self.memory is None:
            return data.subscription(topics, rack=self.rack)
        owned, generation = self.memory.owned, self.memory.generation
        return data.subscription(
            topics,
            user_data=data.sticky_user_data(owned, generation),
            generation=generation,
            rack=self.rack,
        )

    def spec(self, member: Any) -> MemberSpec:  # noqa: ANN401 - no types
        """Return the description of a member, with data from its sticky assignor."""
        sent = member.metadata
        owned, generation = data.read_sticky_user_data(sent.user_data)
        subscribed = getattr(sent, "generation_id", None)
        return MemberSpec(
            member_id=member.member_id,
            instance_id=member.group_instance_id,
            rack=getattr(sent, "rack_id", None) or None,
            topics=list(dict.fromkeys(sent.topics)),
            owned={topic: list(dict.fromkeys(each)) for topic, each in owned.items()},
            generation=generation,
            subscription_generation=NOT_SENT if subscribed is None else subscribed,
        )


class CooperativeStickyAssignor(PlannerAssignor):
    """Java's ``CooperativeStickyAssignor``; may share a group with it."""

    assignor = CooperativeSticky()
    protocol = RebalanceProtocol.COOPERATIVE

    def metadata(self, topics: Sequence[str]) -> Any:  # noqa: ANN401 - no types
        """Return the subscription of the member, with its current partitions."""
        memory = self.memory or Memory({}, data.NO_GENERATION)
        return data.subscription(
            topics,
            user_data=data.cooperative_user_data(memory.generation),
            owned=memory.owned,
            generation=memory.generation,
            rack=self.rack,
        )


class BalancedAssignor(PlannerAssignor):
    """
    Assignor `balanced`: as even as the subscriptions allow, then fewest moves.

    Members send versioned user data: rack, capacity, owned partitions with their
    generation, and the weight of each of these partitions. A partition without a weight
    gets the mean weight of the others.

    Parameters
    ----------
    rack
        Rack of the consumer.
    capacity
        Capacity of the consumer, relative to the others. Positive.
    weigh
        Function that returns the weight of an owned partition, in any unit, such as its
        lag or bytes/s. Called whenever the member joins; `None`: equal weights.
    is_eager
        Whether all members revoke all partitions in each rebalance. By default, only
        partitions that change owner are revoked, in a round of their own (KIP-429).

    Raises
    ------
    ValueError
        If the capacity is not positive.
    """

    assignor = Balanced()

    def __init__(
        self,
        rack: str | None = None,
        *,
        capacity: float = 1.0,
        weigh: Weigh | None = None,
        is_eager: bool = False,
    ) -> None:
        if not 0 < capacity < float("inf"):
            msg = f"capacity must be positive, got {capacity}"
            raise ValueError(msg)
        super().__init__(rack)
        self.capacity, self.weigh = capacity, weigh
        self.weights: dict[TopicPartition, float] = {}
        kinds = RebalanceProtocol
        self.protocol = kinds.EAGER if is_eager else kinds.COOPERATIVE

    @property
    def name(self) -> str:
        """Protocol name, different for eager and cooperative members."""
        is_eager = self.protocol is RebalanceProtocol.EAGER
        return "balanced-eager" if is_eager else "balanced"

    def metadata(self, topics: Sequence[str]) -> Any:  # noqa: ANN401 - no types
        """Return the subscription of the member, with its user data."""
        memory = self.memory or Memory({}, data.NO_GENERATION)
        user_data = data.OurData(
            generation=memory.generation,
            owned=memory.owned,
            weights=self._weights(memory.owned),
            rack=self.rack,
            capacity=self.capacity,
        )
        is_eager = self.protocol is RebalanceProtocol.EAGER
        return data.subscription(
            topics,
            user_data=user_data.encode(),
            owned={} if is_eager else memory.owned,
            generation=memory.generation,
            rack=self.rack,
        )

    def _weights(self, owned: data.Owned) -> dict[str, dict[int, float]]:
        """
        Return the weights of the member's partitions.

        Weights of partitions revoked since the last join are sent once more, because no
        other member knows them in the round that reassigns these partitions.
        """
        if self.weigh is None:
            return {}
        had = [TopicPartition(topic, n) for topic in owned for n in owned[topic]]
        weights = {at: float(self.weigh(at)) for at in had}
        by_topic: dict[str, dict[int, float]] = {}
        for (topic, number), weight in (self.weights | weights).items():
            by_topic.setdefault(topic, {})[number] = weight
        self.weights = weights
        return by_topic

    def spec(self, member: Any) -> MemberSpec:  # noqa: ANN401 - no types
        """Return the description of a member, with its user data."""
        sent = data.read_our_data(member.metadata.user_data)
        return MemberSpec(
            member_id=member.member_id,
            instance_id=member.group_instance_id,
            rack=sent.rack,
            capacity=sent.capacity,
            topics=list(dict.fromkeys(member.metadata.topics)),
            owned=sent.owned,
            generation=sent.generation,
        )

    def group(self, cluster: Any, members: Sequence[Any]) -> Group:  # noqa: ANN401 - no types
        """Return the group, without claims from older generations."""
        group = super().group(cluster, members)
        return _newest_claims(group)

    def weighed(
        self, topics: Sequence[TopicSpec], members: Sequence[Any]
    ) -> Sequence[TopicSpec]:
        """Return the topics, with weights from their readers."""
        weights = data.sent_weights(
            [data.read_our_data(member.metadata.user_data) for member in members]
        )
        if not weights:
            return topics
        mean = sum(weights.values()) / len(weights)
        return [_with_weights(topic, weights, mean) for topic in topics]

    def answer(self, group: Group) -> IndexArray:
        """Return the members; if cooperative, moving partitions skip one round."""
        member_idx = super().answer(group)
        if self.protocol is RebalanceProtocol.EAGER:
            return member_idx
        withheld = member_idx.copy()
        rows, owners = group.owned.idx, group.owned.owner
        withheld[rows[member_idx[rows] != owners]] = ABSENT
        return withheld


def _with_weights(
    topic: TopicSpec, weights: Mapping[tuple[str, int], float], mean: float
) -> TopicSpec:
    return TopicSpec(
        name=topic.name,
        num_partitions=topic.num_partitions,
        weights=[
            weights.get((topic.name, n), mean) for n in range(topic.num_partitions)
        ],
        racks=topic.racks,
    )


def _newest_claims(group: Group) -> Group:
    """
    Return the group without claims of members that missed a generation.

    Such members have lost the claimed partitions, or lose them when they learn of this
    generation. Waiting for their revocation might never end.
    """
    generation = group.members.generation
    is_newest = generation == generation.max(initial=NOT_SENT)
    is_kept = is_newest[group.owned.owner]
    if is_kept.all():
        return group
    counts = np.where(is_newest, group.owned.counts, 0)
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    owned = replace(group.owned, start=start, idx=group.owned.idx[is_kept])
    return replace(group, owned=owned)
