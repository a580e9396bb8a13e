"""Refusals of Kafka's tool, in its words."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from placement.errors import (
    AdminCommandFailedError,
    AdminOperationError,
    KafkaRefusalError,
    UnknownTopicOrPartitionError,
)
from placement.kafka_java.java_maps import hash_order, map_order
from placement.model.cluster import ClusterState
from placement.placers.generate_proposal import proposed_factors
from placement.placers.striped_placer import check_replication_factor
from planner.generate.generate_request import (
    GenerateRequest,
    current_lists,
    placer_brokers,
)

Value = TypeVar("Value", int, str)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """
    A reason for which Kafka's tool would refuse a request.

    Parameters
    ----------
    place
        Option or topic.
    error
        Error of the tool, with its message.
    remedy
        Change of the request that avoids the refusal.
    """

    place: str
    error: KafkaRefusalError
    remedy: str


def find_refusals(state: ClusterState, request: GenerateRequest) -> list[Refusal]:
    """Return the refusals of Kafka's tool, in the order of the tool's checks."""
    return [
        *_argument_refusals(request),
        *_topic_refusals(state, request),
        *_broker_refusals(state, request),
    ]


def _argument_refusals(request: GenerateRequest) -> Iterator[Refusal]:
    twice = map_order(_duplicates(request.broker_ids), int)
    if twice:
        listed = f"[{', '.join(map(str, twice))}]"
        yield Refusal(
            place="--broker-list",
            error=AdminCommandFailedError(
                f"Broker list contains duplicate entries: {listed}"
            ),
            remedy="name each broker once",
        )
    topics = hash_order(_duplicates(request.topics))
    if topics:
        listed = f"[{', '.join(map(str, topics))}]"
        yield Refusal(
            place="topics",
            error=AdminCommandFailedError(
                f"List of topics to reassign contains duplicate entries: {listed}"
            ),
            remedy="name each topic once",
        )


def _duplicates(values: Iterable[Value]) -> list[Value]:
    return [value for value, count in Counter(values).items() if count > 1]


def _topic_refusals(state: ClusterState, request: GenerateRequest) -> Iterator[Refusal]:
    known = set(state.topics.names)
    for topic in dict.fromkeys(request.topics):
        if topic not in known:
            yield Refusal(
                place=topic,
                error=UnknownTopicOrPartitionError(f"Topic {topic} not found."),
                remedy="check the name",
            )


def _broker_refusals(
    state: ClusterState, request: GenerateRequest
) -> Iterator[Refusal]:
    brokers = placer_brokers(state, request)
    num_without = brokers.racks.count(None)
    if request.is_rack_aware and 0 < num_without < len(brokers):
        yield Refusal(
            place="--broker-list",
            error=AdminOperationError(
                "Not all brokers have rack information. Add --disable-rack-aware in "
                "command line to make replica assignment without rack information."
            ),
            remedy="give every broker a rack, or add --disable-rack-aware",
        )
    for topic, factor in _factors(state, request).items():
        try:
            check_replication_factor(brokers, factor)
        except KafkaRefusalError as error:
            yield Refusal(place=topic, error=error, remedy="list more live brokers")


def _factors(state: ClusterState, request: GenerateRequest) -> dict[str, int]:
    """Return the largest replication factor of each topic in the proposal."""
    current = current_lists(state, request)
    if request.is_from_scratch:
        return proposed_factors(current)
    return {topic: max(map(len, lists)) for topic, lists in current.items() if lists}
