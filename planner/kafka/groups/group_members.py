# ruff: noqa: ANN401 - kafka-python is not typed
"""Conversion of coordinators' descriptions of groups to records of a group file."""

import base64
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from planner.group.group_problems import pattern_error
from planner.io.json_reader import JsonTextError, parse_json
from planner.kafka.consumer.assignor_protocol import (
    OurData,
    read_our_data,
    sent_weights,
)

OURS = ("balanced", "balanced-eager")
"""Protocol names of our assignor, whose user data is readable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """
    Description of a group by its coordinator.

    Parameters
    ----------
    assignor
        Name of the assignor in Kafka.
    state
        State at the time of the answer.
    members
        Members as records of a group file.
    weights
        Weights of partitions, by topic and number, where members send them.
    notes
        Notes on unreadable parts, and other remarks for the user.
    """

    assignor: str | None
    state: str
    members: Sequence[dict[str, Any]] = ()
    weights: dict[tuple[str, int], float] = field(default_factory=dict)
    notes: Sequence[str] = ()


def _filled(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values that are known."""
    return {key: value for key, value in values.items() if value not in (None, "")}


# -- classic groups ----------------------------------------------------------


def classic(answer: Any) -> Described:
    """
    Return the description of a classic group.

    Parameters
    ----------
    answer
        Group in kafka-python's ``DescribeGroupsResponse``.

    Notes
    -----
    A member owns the partitions assigned in the last completed rebalance, in the same
    generation for all members. The member's own metadata precede that rebalance and
    have the previous generation.
    """
    subscriptions = [_subscription(one.member_metadata) for one in answer.members]
    generation = _generation(subscriptions)
    members = [
        _classic_member(one, subscription, generation, answer.protocol_data)
        for one, subscription in zip(answer.members, subscriptions, strict=True)
    ]
    ours: list[OurData] = []
    if answer.protocol_data in OURS:
        ours = [read_our_data(_user_data(each)) for each in subscriptions]
        for member, each in zip(members, ours, strict=True):
            member.update(_filled({"rack": each.rack, "capacity": each.capacity}))
    return Described(
        assignor=answer.protocol_data or None,
        state=answer.group_state,
        members=members,
        weights=sent_weights(ours),
        notes=_classic_notes(answer, subscriptions),
    )


def _subscription(data: bytes) -> Any:
    """Return the subscription of a member; `None` if it is unreadable."""
    from kafka.protocol.consumer.metadata import ConsumerProtocolSubscription

    return _decoded(ConsumerProtocolSubscription, data)


def _decoded(kind: Any, data: bytes) -> Any:
    if not data:
        return None
    try:
        return kind.decode(data)
    except (struct.error, ValueError, IndexError):  # another kind of client
        return None


def _user_data(subscription: Any) -> bytes | None:
    return None if subscription is None else subscription.user_data


def _generation(subscriptions: Iterable[Any]) -> int | None:
    """Return the generation of the group, if the members' metadata have one."""
    sent = [getattr(each, "generation_id", None) for each in subscriptions]
    known = [each for each in sent if each is not None and each >= 0]
    return max(known) + 1 if known else None


def _classic_member(
    member: Any, subscription: Any, generation: int | None, assignor: str
) -> dict[str, Any]:
    owned = _assigned(member.member_assignment)
    found: dict[str, Any] = {
        "member_id": member.member_id,
        "group_instance_id": member.group_instance_id,
        "client_id": member.client_id,
        "host": member.client_host,
        "rack": getattr(subscription, "rack_id", None),
        "generation": generation,
        "user_data": None
        if assignor in OURS
        else json_user_data(_user_data(subscription)),
    }
    topics = (
        list(dict.fromkeys(subscription.topics)) if subscription is not None else []
    )
    return {**_filled(found), "topics": topics, "owned": owned}


def _assigned(data: bytes) -> dict[str, list[int]]:
    """Return the assigned partitions of a member."""
    from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment

    assignment = _decoded(ConsumerProtocolAssignment, data)
    if assignment is None:
        return {}
    owned: dict[str, list[int]] = {}
    for each in assignment.assigned_partitions:
        owned.setdefault(each.topic, []).extend(each.partitions)
    return {topic: list(dict.fromkeys(numbers)) for topic, numbers in owned.items()}


def json_user_data(data: bytes | None) -> Any:
    """
    Return user data as a JSON value.

    JSON is parsed, other text becomes a string, other bytes ``{"base64": …}``.
    """
    if not data:
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}
    try:
        return parse_json(text)
    except JsonTextError:
        if text.isprintable():
            return text
        return {"base64": base64.b64encode(data).decode()}


def _classic_notes(answer: Any, subscriptions: Sequence[Any]) -> list[str]:
    notes = []
    if answer.protocol_type not in {"", "consumer"}:
        notes.append(
            f"its members are of the kind {answer.protocol_type!r}: they do not share "
            "partitions, and what they do cannot be read"
        )
    elif any(each is None for each in subscriptions):
        # The coordinator returns metadata of stable groups only.
        notes.append(
            f"the group is {answer.group_state}: what its members read, and have, is "
            "known once it is Stable; ask again"
        )
    return notes


# -- groups of the consumer protocol, and share groups -----------------------


def consumer(answer: Any) -> Described:
    """
    Return the description of a group of the consumer protocol.

    Parameters
    ----------
    answer
        Group in a `ConsumerGroupDescribeResponse`.
    """
    members = [_epoch_member(one) for one in answer.members]
    notes = []
    moving = sum(map(_num_moving, answer.members))
    if moving:
        notes.append(
            f"{moving} partitions are on their way to another member: owned is what "
            "members have now, not what they are to get"
        )
    for member in members:
        pattern = member.get("pattern")
        if pattern is not None and pattern_error(pattern):
            del member["pattern"]
            member["topics"] = sorted({*member["topics"], *member["owned"]})
            notes.append(
                f"{member['member_id']} subscribes by {pattern!r}, which only the "
                "broker can read: taken are the topics that it has now"
            )
    return Described(
        assignor=answer.assignor_name or None,
        state=answer.group_state,
        members=members,
        notes=notes,
    )


def share(answer: Any) -> Described:
    """
    Return the description of a share group.

    Parameters
    ----------
    answer
        Group in a `ShareGroupDescribeResponse`.
    """
    return Described(
        assignor=answer.assignor_name or None,
        state=answer.group_state,
        members=[_epoch_member(one) for one in answer.members],
        notes=["offsets are those from which the group still has to read"],
    )


def _epoch_member(member: Any) -> dict[str, Any]:
    found: dict[str, Any] = {
        "member_id": member.member_id,
        "group_instance_id": getattr(member, "instance_id", None),
        "client_id": member.client_id,
        "host": member.client_host,
        "rack": member.rack_id,
        "pattern": getattr(member, "subscribed_topic_regex", None),
        # A member that is about to leave has a negative epoch.
        "generation": member.member_epoch if member.member_epoch >= 0 else None,
    }
    topics = list(dict.fromkeys(member.subscribed_topic_names))
    return {**_filled(found), "topics": topics, "owned": _held(member.assignment)}


def _held(assignment: Any) -> dict[str, list[int]]:
    return {
        each.topic_name: sorted(each.partitions) for each in assignment.topic_partitions
    }


def _num_moving(member: Any) -> int:
    """Return the number of target partitions that a member does not have yet."""
    has, to_get = _held(member.assignment), _held(member.target_assignment)
    return sum(
        len(set(numbers) - set(has.get(topic, ()))) for topic, numbers in to_get.items()
    )
