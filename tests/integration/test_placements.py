"""Placement by hand and Kafka's own proposals, on a real Kafka and beside its tools."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from integration.kafka.cluster import TOOLS, Cluster, wait_until
from integration.kafka_tool_output import printed_brokers, printed_topics
from integration.planner import partitions_of, run_here, take_snapshot
from integration.steps import execute, replicas_of, wait_until_there
from placement.placers.manual_placement import (
    ManualAssignment,
    check_added_partitions,
    check_new_topic,
    read_replica_assignment,
)
from placement.placers.usable_brokers import PlacerBrokers

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module")
def three(libs, archive, tmp_path_factory):
    """Brokers 0, 1 and 2 on racks of their own."""
    base = tmp_path_factory.mktemp("three") / "kafka"
    options = {"num_brokers": 3, "first_broker": 0, "archive": archive, "apart": ()}
    with Cluster(libs, base, **options) as cluster:
        yield cluster


def place(cluster: Cluster, topic: str, text: str) -> None:
    """Create a topic by hand, as Kafka's tool does, once nothing speaks against it."""
    lists = check_new_topic(read_replica_assignment(text), registered(cluster))
    assert lists.checked()
    cluster.topics("--create", "--topic", topic, "--replica-assignment", text)
    wait_until_there(cluster, topic, sum(map(len, lists.checked())))


def registered(cluster: Cluster) -> PlacerBrokers:
    printed = printed_brokers(cluster.endpoints())
    ids = sorted(printed)
    return PlacerBrokers(
        ids=tuple(ids),
        racks=tuple(printed[b][0] for b in ids),
        is_fenced=tuple(printed[b][1] == "fenced" for b in ids),
    )


def leaders(cluster: Cluster, topic: str) -> list[tuple[int | None, list[int]]]:
    """The leader and the ISR of each partition."""
    printed = printed_topics(cluster.topics("--describe", "--topic", topic))
    return [(one["leader"], sorted(one["isr"])) for _, one in sorted(printed.items())]


def test_tp_demo_03(new_cluster: Callable[..., Cluster], tmp_path: Path):
    cluster = new_cluster(num_brokers=2, num_racks=2, first_broker=0, apart=(0,))
    server = ("--bootstrap-server", cluster.bootstrap, "--format", "json")
    take_snapshot(cluster.bootstrap, tmp_path / "empty.json")
    made = run_here(
        *("plan", "new-topic", tmp_path / "empty.json", "--topic", "tp_demo_03"),
        *("--replica-assignment", "0:1,1:0,0:1", "--capacity-threshold", "disk=1"),
        *(*server, "--apply", "--yes"),
    )
    assert made.code == 0, made.err
    assert replicas_of(cluster, "tp_demo_03") == [[0, 1], [1, 0], [0, 1]]
    assert leaders(cluster, "tp_demo_03") == [(0, [0, 1]), (1, [0, 1]), (0, [0, 1])]

    cluster.kill(0)
    wait_until(
        lambda: leaders(cluster, "tp_demo_03") == [(1, [1])] * 3, "broker 1 to lead"
    )
    lone = take_snapshot(cluster.bootstrap, tmp_path / "lone.json")
    cluster.start_node(0)
    wait_until(
        lambda: leaders(cluster, "tp_demo_03") == [(1, [0, 1])] * 3,
        "broker 0 to catch up",
    )
    back = take_snapshot(cluster.bootstrap, tmp_path / "back.json")
    everything = ("--election-type", "preferred", "--all-topic-partitions")
    preview = run_here("elect", *everything, *server)
    still = [leader for leader, _ in leaders(cluster, "tp_demo_03")]
    held = run_here("elect", *everything, *server, "--yes")

    assert [one["outcome"] for one in preview.document["partitions"]] == [
        "to-elect",
        "already-preferred",
        "to-elect",
    ]
    assert still == [1, 1, 1]
    assert held.code == 0, held.err
    assert [one["outcome"] for one in held.document["partitions"]] == [
        "elected",
        "already-preferred",
        "elected",
    ]
    assert [p["leader"] for p in partitions_of(lone, "tp_demo_03")] == [1, 1, 1]
    assert [p["isr"] for p in partitions_of(lone, "tp_demo_03")] == [[1]] * 3
    assert [p["leader"] for p in partitions_of(back, "tp_demo_03")] == [1, 1, 1]
    assert [leader for leader, _ in leaders(cluster, "tp_demo_03")] == [0, 1, 0]


def said_by_tool(cluster: Cluster, *arguments: str) -> str:
    """What `kafka-topics` says when it fails, its exception's name left out."""
    servers = ("--bootstrap-server", cluster.bootstrap)
    printed = cluster.run(
        f"{TOOLS}.TopicCommand", *servers, *arguments, is_checked=False
    )
    lines = [line for line in printed.splitlines() if line.startswith("Error while")]
    assert len(lines) == 1, printed
    return lines[0].partition(" : ")[2]


def first_refusal(assignment: ManualAssignment) -> str:
    return str(assignment.refusals[0].error)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("0:0,1:0", id="a-broker-twice"),
        pytest.param("0:1,2", id="other-factor"),
        pytest.param("0:1,1:9", id="unknown-broker"),
        pytest.param("0,x", id="no-broker-id"),
    ],
)
def test_what_kafka_refuses_to_create_we_refuse_in_its_words(three: Cluster, text):
    assignment = check_new_topic(read_replica_assignment(text), registered(three))

    printed = said_by_tool(
        three, "--create", "--topic", "refused", "--replica-assignment", text
    )

    assert first_refusal(assignment) == printed


@pytest.mark.parametrize(
    ("num_partitions", "text"),
    [
        pytest.param(2, "0:1,1:2", id="as-many"),
        pytest.param(1, "0:1", id="fewer"),
        pytest.param(4, "0:1,1:2,2:0", id="too-few-lists"),
        pytest.param(3, "0,1,2", id="other-factor"),
        pytest.param(3, "0:1,1:2,0:7", id="unknown-broker"),
    ],
)
def test_what_kafka_refuses_to_add_we_refuse_in_its_words(
    three: Cluster, num_partitions, text
):
    if "grows" not in three.topics("--list").split():
        place(three, "grows", "0:1,1:2")
    assignment = check_added_partitions(
        read_replica_assignment(text),
        registered(three),
        topic="grows",
        current=[2, 2],
        num_partitions=num_partitions,
    )

    printed = said_by_tool(
        three,
        *("--alter", "--topic", "grows", "--partitions", str(num_partitions)),
        *("--replica-assignment", text),
    )

    assert first_refusal(assignment) == printed


def test_added_partitions_lie_where_they_are_written(three: Cluster):
    place(three, "grown", "0:1,1:2")
    text = "0:1,1:2,2:0,1:0"

    added = check_added_partitions(
        read_replica_assignment(text),
        registered(three),
        topic="grown",
        current=[2, 2],
        num_partitions=4,
    )
    three.topics(
        *("--alter", "--topic", "grown", "--partitions", "4"),
        *("--replica-assignment", text),
    )

    assert replicas_of(three, "grown")[2:] == [list(row) for row in added.checked()]


def both(text: str) -> tuple[str, str]:
    """The two JSON lines that `--generate` prints, between the very same headings."""
    lines = text.split("\n")
    assert lines[0] == "Current partition replica assignment"
    assert lines[2:4] == ["", "Proposed partition reassignment configuration"]
    return lines[1], lines[4]


def test_generate_prints_what_kafkas_tool_prints(three: Cluster, tmp_path: Path):
    place(three, "crowded", "0:1,0:1,1:0,1:0")
    topics = tmp_path / "topics.json"
    topics.write_text('{"topics":[{"topic":"crowded"}],"version":1}')
    asked = ("--topics-to-move-json-file", str(topics), "--broker-list", "0,1,2,9")

    printed = three.reassign("--generate", *asked)
    ours = run_here("generate", *asked, "--bootstrap-server", three.bootstrap)
    blank = run_here(
        "generate", *asked, "--from-scratch", "--bootstrap-server", three.bootstrap
    )

    assert (ours.code, blank.code) == (0, 0), ours.err + blank.err
    assert both(ours.out)[0] == both(blank.out)[0] == both(printed)[0]
    assert "note: broker 9 is not in the cluster: left out" in ours.err
    ids = json.loads(both(printed)[1])["partitions"]
    assert [one["partition"] for one in ids] == [0, 1, 2, 3]
    held = [
        b
        for one in json.loads(both(ours.out)[1])["partitions"]
        for b in one["replicas"]
    ]
    assert sorted(map(held.count, range(3))) == [2, 3, 3]

    proposed = tmp_path / "proposed.json"
    proposed.write_text(both(ours.out)[1])
    execute(three, proposed)
    again = run_here("generate", *asked, "--bootstrap-server", three.bootstrap)

    assert replicas_of(three, "crowded") == [
        one["replicas"] for one in json.loads(proposed.read_text())["partitions"]
    ]
    document = run_here(
        "generate",
        *asked,
        *("--bootstrap-server", three.bootstrap, "--format", "json", "--quiet"),
    ).document
    assert document["moves"]["partitions"] == 0
    assert again.code == 0


@pytest.mark.parametrize(
    ("topics", "broker_list"),
    [
        pytest.param(["refusing", "refusing"], "0,1", id="topic-twice"),
        pytest.param(["refusing"], "0,1,0", id="broker-twice"),
        pytest.param(["nosuch"], "0,1", id="unknown-topic"),
        pytest.param(["refusing"], "0", id="too-few-brokers"),
        pytest.param(["refusing"], "7", id="no-broker"),
    ],
)
def test_what_generate_refuses_it_says_in_kafkas_words(
    three: Cluster, tmp_path: Path, topics, broker_list
):
    if "refusing" not in three.topics("--list").split():
        place(three, "refusing", "0:1,1:2")
    file = tmp_path / "topics.json"
    file.write_text(json.dumps({"topics": [{"topic": name} for name in topics]}))
    asked = ("--topics-to-move-json-file", str(file), "--broker-list", broker_list)

    printed = three.reassign("--generate", *asked, is_checked=False)
    for how in ((), ("--from-scratch",)):
        ours = run_here(
            *("generate", *asked, *how, "--format", "json"),
            *("--bootstrap-server", three.bootstrap),
        )

        assert ours.code == 2
        assert ours.document["problems"][0]["rule"] in printed
