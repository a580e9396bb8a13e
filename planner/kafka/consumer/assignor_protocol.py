"""Messages between members of a classic group, byte for byte as Java clients."""

import json
import logging
import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kafka.protocol.consumer.metadata import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)

log = logging.getLogger(__name__)

PROTOCOL_VERSION = 3
"""Version of the consumer protocol with owned partitions, generation and rack."""
OUR_VERSION = 1
"""Version of our own user data. A new version may add keys, and never changes one."""
NO_GENERATION = -1

Owned = Mapping[str, Sequence[int]]


def subscription(
    topics: Sequence[str],
    *,
    user_data: bytes | None = None,
    owned: Owned | None = None,
    generation: int = NO_GENERATION,
    rack: str | None = None,
) -> Any:  # noqa: ANN401 - kafka-python has no types
    """Return a member's subscription in the form sent to the coordinator."""
    pair = ConsumerProtocolSubscription.TopicPartition
    return ConsumerProtocolSubscription(
        version=PROTOCOL_VERSION,
        topics=sorted(topics),
        user_data=user_data,
        owned_partitions=[
            pair(topic=topic, partitions=sorted(numbers))
            for topic, numbers in sorted((owned or {}).items())
        ],
        generation_id=generation,
        rack_id=rack,
    )


def assignment(partitions: Owned) -> Any:  # noqa: ANN401 - kafka-python has no types
    """Return a member's assignment in the form sent to the coordinator."""
    pair = ConsumerProtocolAssignment.TopicPartition
    return ConsumerProtocolAssignment(
        version=PROTOCOL_VERSION,
        assigned_partitions=[
            pair(topic=topic, partitions=list(numbers))
            for topic, numbers in partitions.items()
        ],
        user_data=None,
    )


def sticky_user_data(owned: Owned, generation: int) -> bytes:
    """Return the user data of Java's sticky assignor: partitions and generation."""
    parts = [struct.pack(">i", len(owned))]
    for topic, numbers in owned.items():
        name = topic.encode()
        parts.append(struct.pack(">h", len(name)) + name)
        parts.append(struct.pack(f">i{len(numbers)}i", len(numbers), *numbers))
    return b"".join([*parts, struct.pack(">i", generation)])


def read_sticky_user_data(data: bytes | None) -> tuple[dict[str, list[int]], int]:
    """
    Return the partitions and the generation in a sticky assignor's user data.

    Unreadable data count as empty, as in Java, so that the group goes on. Members
    before Kafka 2.3 send no generation.
    """
    if not data:
        return {}, NO_GENERATION
    try:
        owned, at = _read_owned(data)
        if at == len(data):
            return owned, NO_GENERATION
        return owned, int(struct.unpack_from(">i", data, at)[0])
    except (struct.error, UnicodeDecodeError) as error:
        log.warning("user data of %d bytes cannot be read: %s", len(data), error)
        return {}, NO_GENERATION


def _read_owned(data: bytes) -> tuple[dict[str, list[int]], int]:
    """Return the partitions, and the position behind them."""
    owned: dict[str, list[int]] = {}
    (num_topics,), at = struct.unpack_from(">i", data), 4
    for _ in range(num_topics):
        (size,) = struct.unpack_from(">h", data, at)
        (name,) = struct.unpack_from(f">{size}s", data, at + 2)
        at += 2 + size
        (count,) = struct.unpack_from(">i", data, at)
        owned[name.decode()] = list(struct.unpack_from(f">{count}i", data, at + 4))
        at += 4 + 4 * count
    return owned, at


def cooperative_user_data(generation: int) -> bytes:
    """Return the user data of Java's cooperative sticky assignor: the generation."""
    return struct.pack(">i", generation)


def read_cooperative_user_data(data: bytes | None) -> int:
    """Return the generation in a cooperative sticky assignor's user data."""
    if data is None or len(data) != struct.calcsize(">i"):
        return NO_GENERATION
    generation: int = struct.unpack(">i", data)[0]
    return generation


@dataclass(frozen=True, slots=True, kw_only=True)
class OurData:
    """
    User data of `balanced`, sent by each member.

    Parameters
    ----------
    generation
        Generation in which the member got its partitions.
    owned
        Owned partitions, by topic.
    weights
        Weights of owned and just revoked partitions, by topic and number, where the
        member sends them.
    rack
        Rack of the member.
    capacity
        Capacity of the member, relative to the others. Positive.
    """

    generation: int = NO_GENERATION
    owned: Mapping[str, Sequence[int]] = field(default_factory=dict)
    weights: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    rack: str | None = None
    capacity: float = 1.0

    def encode(self) -> bytes:
        """Return two bytes of version, followed by JSON."""
        document = {
            "generation": self.generation,
            "owned": {topic: list(numbers) for topic, numbers in self.owned.items()},
            "weights": {topic: list(w.items()) for topic, w in self.weights.items()},
            "rack": self.rack,
            "capacity": self.capacity,
        }
        text = json.dumps(document, separators=(",", ":"), allow_nan=False)
        return struct.pack(">h", OUR_VERSION) + text.encode()


def read_our_data(data: bytes | None) -> OurData:
    """
    Return the user data of another member.

    Only the known keys are read from a newer version. Unreadable data count as empty,
    so that one faulty member does not stop a group.
    """
    if not data:
        return OurData()
    try:
        (version,) = struct.unpack(">h", data[:2])
        document = json.loads(data[2:]) if version >= 1 else None
        return _known(document)
    except (ValueError, TypeError, LookupError, AttributeError, struct.error) as error:
        log.warning("user data of %d bytes cannot be read: %s", len(data), error)
        return OurData()


def _known(document: Any) -> OurData:  # noqa: ANN401 - any JSON value
    owned = {str(topic): _numbers(each) for topic, each in document["owned"].items()}
    weights = {
        str(topic): {int(number): float(weight) for number, weight in pairs}
        for topic, pairs in document["weights"].items()
    }
    flat = [weight for each in weights.values() for weight in each.values()]
    capacity = float(document["capacity"])
    if not all(0 <= w < math.inf for w in flat) or not 0 < capacity < math.inf:
        msg = "weights and capacities must be finite, and not negative"
        raise ValueError(msg)
    rack = document["rack"]
    return OurData(
        generation=int(document["generation"]),
        owned=owned,
        weights=weights,
        rack=None if rack is None else str(rack),
        capacity=capacity,
    )


def _numbers(values: Sequence[Any]) -> list[int]:
    """Return partition numbers, each once."""
    return list(dict.fromkeys(int(value) for value in values))


def sent_weights(sent: Iterable[OurData]) -> dict[tuple[str, int], float]:
    """
    Return the weights of partitions by topic and number, as sent by members.

    The current owner's weight takes precedence, then that of the newest generation.
    """
    oldest_first = sorted(sent, key=lambda each: each.generation)
    weights = _flat(each.weights for each in oldest_first)
    return weights | _flat(_of_owned(each) for each in oldest_first)


def _of_owned(sent: OurData) -> dict[str, dict[int, float]]:
    """Return the weights of what a member owns."""
    return {
        topic: {n: of_topic[n] for n in sent.owned.get(topic, ()) if n in of_topic}
        for topic, of_topic in sent.weights.items()
    }


def _flat(
    weights_of_members: Iterable[Mapping[str, Mapping[int, float]]],
) -> dict[tuple[str, int], float]:
    return {
        (topic, number): weight
        for weights in weights_of_members
        for topic, of_topic in weights.items()
        for number, weight in of_topic.items()
    }
