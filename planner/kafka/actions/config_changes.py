# ruff: noqa: ANN401 - kafka-python is not typed
"""Dynamic configs of brokers and topics: read, and changed key by key."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal, NamedTuple

from planner.kafka.client.admin_client import ClusterClient
from planner.kafka.client.broker_requests import ask_brokers, live_ids, read_cluster
from planner.kafka.client.cluster_errors import not_authorised
from planner.throttles import TOPIC_THROTTLES, Scope

BROKER: Scope = "broker"
TOPIC: Scope = "topic"
_NEEDS = {BROKER: "AlterConfigs on Cluster", TOPIC: "AlterConfigs on Topic"}
DOWN = "the broker is down"
NO_TOPIC = "UnknownTopicOrPartitionError"
"""Part of every refusal of a topic that does not exist."""
_NOT_AUTHORISED = "AuthorizationFailedError"


class Place(NamedTuple):
    """
    Owner of configs: a broker or a topic.

    Parameters
    ----------
    scope
        ``broker`` or ``topic``.
    name
        Broker id or topic name.
    """

    scope: Scope
    name: str


ConfigAction = Literal["SET", "DELETE", "APPEND", "SUBTRACT"]
ConfigChanges = Mapping[str, tuple[ConfigAction, str]]
"""Action and value by config key; APPEND and SUBTRACT change a list of values."""


def read_configs(
    client: ClusterClient, places: Collection[Place], keys: Collection[str]
) -> dict[Place, dict[str, str]]:
    """
    Return some configs that are set on brokers and topics themselves.

    Parameters
    ----------
    client
        Client of the cluster.
    places
        Brokers and topics. Brokers that are down, and topics that do not exist, lack
        in the result.
    keys
        Names of the configs.

    Raises
    ------
    ClusterUnavailableError
        If the cluster does not answer; `NotAuthorisedError` if a permission is missing.
    """
    brokers, topics = _split(client, places)
    found: dict[Place, dict[str, str]] = {}
    if topics:
        answer = client.call(
            lambda admin: admin.describe_configs(
                [_resource(TOPIC, name, list(keys)) for name in topics],
                config_filter="modified",
            ),
            needs="DescribeConfigs on Topic",
        )
        found |= _set_values(TOPIC, answer)

    def ask(admin: Any, broker: int) -> Any:
        # Brokers list the configs of throttles only while they are set.
        return admin.describe_configs(
            [_resource(BROKER, str(broker), list(keys))], config_filter="modified"
        )

    needs = "DescribeConfigs on Cluster"
    for answer in ask_brokers(client, brokers, ask, needs=needs).values():
        found |= _set_values(BROKER, answer)
    return found


def change_configs(
    client: ClusterClient, changes: Mapping[Place, ConfigChanges]
) -> dict[Place, str]:
    """
    Change configs, key by key.

    Parameters
    ----------
    client
        Client of the cluster.
    changes
        By place: action (``SET``, ``DELETE``, ``APPEND``, ``SUBTRACT``) and value of
        each key. APPEND and SUBTRACT change lists, and leave the other values.

    Returns
    -------
    dict
        Reason of each refusal; a broker that is down answers nothing.

    Raises
    ------
    ClusterUnavailableError
        If nothing was sent; `NotAuthorisedError` if a permission is missing.
    AnswerUnknownError
        If a request was sent and not answered.
    """
    brokers, topics = _split(client, changes)
    is_left = {Place(BROKER, str(broker)) for broker in brokers}
    found = {
        place: DOWN for place in changes if place[0] == BROKER and place not in is_left
    }
    if topics:
        found |= _changed(client, TOPIC, {n: changes[Place(TOPIC, n)] for n in topics})
    for broker in map(str, brokers):
        found |= _changed(client, BROKER, {broker: changes[Place(BROKER, broker)]})
    return found


def refused_topics(client: ClusterClient, topics: Collection[str]) -> list[str]:
    """
    Return the topics whose configs the user may not change; nothing is changed.

    Raises
    ------
    ClusterUnavailableError
        If the cluster does not answer.
    """
    wanted = dict.fromkeys(TOPIC_THROTTLES, ("APPEND", "0:0"))

    def ask(admin: Any) -> Any:
        resources = [_resource(TOPIC, name, dict(wanted)) for name in sorted(topics)]
        return admin.alter_configs(
            resources, validate_only=True, raise_on_unknown=False
        )

    answer = client.call(ask, needs=_NEEDS[TOPIC]) if topics else {}
    found = answer.get(TOPIC, {}).items()
    return sorted(name for name, text in found if _NOT_AUTHORISED in str(text))


def _split(
    client: ClusterClient, places: Iterable[Place]
) -> tuple[list[int], list[str]]:
    """Return the live brokers and the topics among some places."""
    wanted = list(places)
    topics = sorted({name for scope, name in wanted if scope == TOPIC})
    named = {int(name) for scope, name in wanted if scope == BROKER}
    live = live_ids(read_cluster(client)) if named else []
    return sorted(named & set(live)), topics


def _changed(
    client: ClusterClient, scope: Scope, changes: Mapping[str, ConfigChanges]
) -> dict[Place, str]:
    def ask(admin: Any) -> Any:
        resources = [_resource(scope, n, dict(some)) for n, some in changes.items()]
        return admin.alter_configs(resources, raise_on_unknown=False)

    answer = client.change(
        ask,
        what=f"change configs of {scope}s",
        needs=_NEEDS[scope],
        look=f"kafka-configs.sh --bootstrap-server {client.servers} --describe "
        f"--entity-type {scope}s",
        is_repeatable=True,
    )
    refused = {
        Place(scope, name): str(text)
        for name, text in answer.get(scope, {}).items()
        if str(text) != "OK"
    }
    if any(_NOT_AUTHORISED in text for text in refused.values()):
        raise not_authorised(client.servers, _NEEDS[scope])
    return refused


def _resource(scope: Scope, name: str, configs: Any) -> Any:
    from kafka.admin import ConfigResource

    return ConfigResource(scope, name, configs)


def _set_values(scope: Scope, answer: Mapping[str, Any]) -> dict[Place, dict[str, str]]:
    """Return the values that are set on each place itself, not inherited."""
    return {
        Place(scope, name): {
            key: one["value"] for key, one in values.items() if one["value"] is not None
        }
        for name, values in answer.get(scope, {}).items()
    }
