"""What Kafka's own tool proposed, proposed again."""

import json
from typing import Any

import pytest

from placement.errors import KafkaRefusalError
from placement.kafka_java.java_maps import hash_order
from placement.kafka_java.java_random import JavaRandom
from placement.model.cluster import BrokerState, ClusterState
from placement.placers.generate_proposal import classic, propose_from_scratch
from placement.placers.usable_brokers import PlacerBrokers
from planner.generate import (
    GenerateRequest,
    find_refusals,
    generate,
    read_topics_to_move,
)
from planner.options.declared.broker_lists import read_broker_ids
from support.clusters import make_state
from support.golden import golden_lines


def cases(name: str) -> list[Any]:
    return [pytest.param(line, id=line["case"]) for line in golden_lines(name)]


def state_of(given: dict[str, Any]) -> ClusterState:
    """The cluster that the tool saw: its nodes, and dead ones that hold replicas."""
    racks = {node["id"]: node["rack"] for node in given["nodes"]}
    lists = dict(sorted(given["current"].items()))
    held = {b for rows in lists.values() for row in rows for b in row}
    ids = sorted(held | set(racks))
    return make_state(
        lists,
        ids=ids,
        racks=[racks.get(b) for b in ids],
        states=dict.fromkeys(held - set(racks), BrokerState.DEAD),
    )


def request_of(given: dict[str, Any], tmp_path) -> GenerateRequest:
    file = tmp_path / "topics.json"
    file.write_text(given["topics_json"])
    return GenerateRequest(
        topics=read_topics_to_move(file),
        broker_ids=read_broker_ids(given["broker_list"]),
        is_rack_aware=given["rack_aware"],
        is_from_scratch=True,
        seed=given["seed"],
    )


def by_topic(file) -> dict[str, list[list[int]]]:
    lists: dict[str, list[list[int]]] = {}
    for topic, replicas in zip(file.topics, file.replicas, strict=True):
        lists.setdefault(topic, []).append(list(replicas))
    return lists


def told(error: KafkaRefusalError) -> dict[str, str]:
    name = type(error).__name__.removesuffix("Error") + "Exception"
    return {"class": name, "message": str(error)}


@pytest.mark.parametrize("line", cases("generate_striped"))
def test_from_scratch_is_what_kafkas_tool_proposes(line, tmp_path):
    given = line["input"]
    state, request = state_of(given), request_of(given, tmp_path)

    refusals = find_refusals(state, request)

    assert (
        [told(refusals[0].error)]
        if refusals
        else ([line["error"]] if "error" in line else []) == []
    )
    if not refusals:
        proposal = generate(state, request)
        assert by_topic(proposal.proposed) == line["output"]["proposed"]
        assert by_topic(proposal.current) == given["current"]


@pytest.mark.parametrize("line", cases("generate_striped"))
def test_topics_and_racks_come_in_the_order_of_javas_hash_map(line):
    given = line["input"]
    listed = set(read_broker_ids(given["broker_list"]))
    topics = [entry["topic"] for entry in json.loads(given["topics_json"])["topics"]]

    assert hash_order(topics) == given["topic_order"]
    if "rack_hash_order" in given:
        racks = [
            node["rack"] if given["rack_aware"] else None
            for node in given["nodes"]
            if node["id"] in listed
        ]
        assert hash_order(racks) == given["rack_hash_order"]


@pytest.mark.parametrize("line", cases("generate_classic"))
def test_classic_proposals_are_those_of_the_older_tool(line, tmp_path):
    given = line["input"]
    listed = set(read_broker_ids(given["broker_list"]))
    nodes = [node for node in given["nodes"] if node["id"] in listed]
    brokers = PlacerBrokers(
        ids=tuple(node["id"] for node in nodes),
        racks=tuple(node["rack"] if given["rack_aware"] else None for node in nodes),
    )
    # The two tools differ in what they say to a replication factor alone.
    before = [
        told(one.error)
        for one in find_refusals(state_of(given), request_of(given, tmp_path))
        if "replication factor" not in str(one.error)
    ]

    try:
        answered = before[0] if before else None
        proposed = (
            {}
            if before
            else propose_from_scratch(
                given["current"], brokers, JavaRandom(given["seed"]), classic
            )
        )
    except KafkaRefusalError as error:
        answered, proposed = told(error), {}

    assert answered == line.get("error")
    assert proposed == line.get("output", {}).get("proposed", {})
