"""kafka-python's own sticky assignor, given a group of ours."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
from kafka.coordinator.assignors.sticky.sticky_assignor import (
    StickyAssignorUserData,
    StickyPartitionAssignor,
)

from assignment.group import ABSENT, Group


class _Cluster:
    """The metadata that the assignor asks for."""

    def __init__(self, group: Group) -> None:
        sizes = group.topics.num_partitions.tolist()
        self._numbers = {
            name: set(range(size))
            for name, size in zip(group.topics.names, sizes, strict=True)
        }

    def topics(self) -> set[str]:
        """Return the names of all topics."""
        return set(self._numbers)

    def partitions_for_topic(self, topic: str) -> set[int]:
        """Return the partitions of a topic."""
        return self._numbers[topic]


def as_asked(group: Group) -> tuple[Any, list[Any]]:
    """Return what a leader's assignor gets: the cluster, and the members."""
    names = group.topics.names
    members = [
        SimpleNamespace(
            member_id=name,
            group_instance_id=None,
            metadata=SimpleNamespace(
                topics=[names[topic] for topic in group.subscribed.of(row).tolist()],
                user_data=_user_data(group, row),
            ),
        )
        for row, name in enumerate(group.members.ids)
    ]
    return _Cluster(group), members


def _user_data(group: Group, member: int) -> bytes | None:
    """Return what the member's assignor remembers; nothing if it had nothing."""
    owned: dict[str, list[int]] = {}
    numbers = group.number
    for row in group.owned.of(member).tolist():
        name = group.topics.names[group.partitions.topic_idx[row]]
        owned.setdefault(name, []).append(int(numbers[row]))
    if not owned:
        return None
    pair = StickyAssignorUserData.TopicPartition
    told = StickyAssignorUserData(
        version=1,
        previous_assignment=[pair(topic=t, partitions=n) for t, n in owned.items()],
        generation=1,
    )
    data: bytes = told.encode()
    return data


def assign(asked: tuple[Any, list[Any]]) -> dict[str, Any]:
    """Return what the assignor answers."""
    found: dict[str, Any] = StickyPartitionAssignor().assign(*asked)
    return found


def as_rows(group: Group, answer: dict[str, Any]) -> npt.NDArray[np.int32]:
    """Return ``(P,)`` who reads what."""
    start = dict(zip(group.topics.names, group.topics.start.tolist(), strict=False))
    member_idx = np.full(group.num_partitions, ABSENT, dtype=np.int32)
    for member, name in enumerate(group.members.ids):
        for each in answer[name].partitions():
            member_idx[start[each.topic] + each.partition] = member
    return member_idx
