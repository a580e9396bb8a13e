# ruff: noqa: ANN401 - kafka-python is not typed
"""Groups of a running cluster: listing, search and description."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from planner.errors import BadInputError, InputProblem
from planner.kafka.client.admin_client import ClusterClient
from planner.kafka.client.broker_requests import ask_brokers, live_ids, read_cluster
from planner.kafka.client.cluster_errors import not_authorised
from planner.kafka.read.authorization_gaps import INVISIBLE, is_bound, lacks

_TRIES = 25
_PAUSE_S = 0.2
_NAMES_SHOWN = 5

# Kafka's error codes: the coordinator is loading, unknown, or another broker.
_MOVED = frozenset({14, 15, 16})
_NONE = 0

_NEEDS_GROUPS = (
    "Describe on Cluster, or on Group '*' (no group is visible: there is none, or the "
    "user may describe none, which brokers do not tell apart)"
)
_HIDDEN_GROUPS = (
    "groups that this user may not describe are invisible, if there are any: all are "
    "visible with Describe on Cluster"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedGroup:
    """
    Group as listed by a broker.

    Parameters
    ----------
    group_id
        Kafka's ``group.id``.
    kind
        Type: ``classic``, ``consumer``, ``share`` or ``streams``. Brokers before Kafka
        4.0 do not list the type, and all groups count as classic.
    protocol_type
        ``consumer`` if members share partitions; other clients have other types.
    state
        State by Kafka's name, such as ``Stable`` or ``Empty``.
    coordinator
        Id of the group's coordinator, the broker that lists the group.
    """

    group_id: str
    kind: str
    protocol_type: str
    state: str | None
    coordinator: int

    def to_dict(self) -> dict[str, Any]:
        """Return the group in the form of `--format json`."""
        return {
            "group_id": self.group_id,
            "type": self.kind,
            "protocol_type": self.protocol_type,
            "state": self.state,
            "coordinator": self.coordinator,
        }


def list_groups(client: ClusterClient) -> list[ListedGroup]:
    """
    Return the groups that the user may describe, by id.

    Raises
    ------
    ClusterUnavailableError
        If the cluster cannot be reached.
    """

    def ask(admin: Any, broker_id: int) -> Any:
        return admin.list_groups(broker_ids=[broker_id])

    live = live_ids(read_cluster(client))
    answers = ask_brokers(client, live, ask, needs="Describe on Cluster or Group")
    found = [
        ListedGroup(
            group_id=one["group_id"],
            kind=(one.get("group_type") or "classic").lower(),
            protocol_type=one.get("protocol_type") or "",
            state=one.get("group_state") or None,
            coordinator=broker_id,
        )
        for broker_id, groups in answers.items()
        for one in groups
    ]
    # A group that moved between two answers is listed twice.
    return list({one.group_id: one for one in _by_id(found)}.values())


def list_visible(client: ClusterClient) -> tuple[list[ListedGroup], list[str]]:
    """
    Return the groups that the user may describe, and notes on hidden ones.

    Raises
    ------
    NotAuthorisedError
        If no group is visible to a user who may not describe all groups. Brokers do not
        distinguish hidden groups from none.
    ClusterUnavailableError
        If the cluster cannot be reached.
    """
    cluster = read_cluster(client)
    groups = list_groups(client)
    if not lacks(cluster, "DESCRIBE"):
        return groups, [INVISIBLE] if is_bound(cluster) else []
    if not groups:
        raise not_authorised(client.servers, _NEEDS_GROUPS)
    return groups, [_HIDDEN_GROUPS, INVISIBLE]


def _by_id(groups: Sequence[ListedGroup]) -> list[ListedGroup]:
    return sorted(groups, key=lambda one: one.group_id)


def find_group(client: ClusterClient, group_id: str) -> ListedGroup | None:
    """
    Return the group of a name; `None` if there is none.

    Raises
    ------
    NotAuthorisedError
        If the user may not describe the group.
    ClusterUnavailableError
        If the cluster cannot be reached.
    """
    found = _listed(client, group_id)
    if found is not None:
        return found
    # A list excludes hidden groups, and groups that a broker has not loaded yet after
    # another broker failed. A request for the group itself fails then, or waits.
    client.call(
        lambda admin: admin.list_group_offsets({group_id: None}),
        needs=f"Describe on Group {group_id}",
    )
    return _listed(client, group_id)


def _listed(client: ClusterClient, group_id: str) -> ListedGroup | None:
    found = [one for one in list_groups(client) if one.group_id == group_id]
    return found[0] if found else None


def must_find(client: ClusterClient, group_id: str) -> ListedGroup:
    """
    Return the group of a name.

    Raises
    ------
    BadInputError
        If there is no group of that name; the message lists some groups.
    ClusterUnavailableError
        If the cluster cannot be reached, or the user may not describe the group.
    """
    found = find_group(client, group_id)
    if found is not None:
        return found
    names = [one.group_id for one in list_groups(client)]
    shown = ", ".join(names[:_NAMES_SHOWN]) or "none"
    more = " …" if len(names) > _NAMES_SHOWN else ""
    problem = InputProblem(
        file=client.servers,
        place="group",
        value=group_id,
        rule=f"must be a group of the cluster; there are: {shown}{more}",
        remedy="'group show --bootstrap-server H:P' lists them; a file needs none",
    )
    msg = f"no group {group_id}"
    raise BadInputError(msg, [problem])


class _MovedError(Exception):
    """Error for a group whose coordinator is changing or has changed."""


def describe(client: ClusterClient, group: ListedGroup) -> tuple[ListedGroup, Any]:
    """
    Return the current listing of a group, and its description by the coordinator.

    Parameters
    ----------
    client
        Client of the cluster.
    group
        Group of any type except streams, of which only listing and offsets are read.

    Raises
    ------
    BadInputError
        If the group was deleted meanwhile.
    ClusterUnavailableError
        If no coordinator answers, or the user may not describe the group.
    """
    needs = f"Describe on Group {group.group_id}, and on its topics"
    for _ in range(_TRIES):
        try:
            return group, client.call(partial(_ask, group=group), needs=needs)
        except _MovedError:
            threading.Event().wait(_PAUSE_S)
            group = must_find(client, group.group_id)
    last = partial(_ask, group=group, is_last=True)
    return group, client.call(last, needs=needs)


def _ask(admin: Any, group: ListedGroup, *, is_last: bool = False) -> Any:
    from kafka.errors import for_code

    from planner.kafka.groups.group_messages import send

    response = send(admin, _request(group), group.coordinator)
    (answer,) = response.groups
    if answer.error_code in _MOVED and not is_last:
        raise _MovedError
    if answer.error_code != _NONE:
        raise for_code(answer.error_code)
    return answer


def _request(group: ListedGroup) -> Any:
    """Return the request that describes a group of its type."""
    from kafka.protocol.admin import DescribeGroupsRequest

    from planner.kafka.groups import group_messages

    if group.kind == "classic":
        return DescribeGroupsRequest(
            groups=[group.group_id], include_authorized_operations=False
        )
    requests = {
        "consumer": group_messages.ConsumerGroupDescribeRequest,
        "share": group_messages.ShareGroupDescribeRequest,
    }
    return requests[group.kind](
        group_ids=[group.group_id], include_authorized_operations=False
    )
