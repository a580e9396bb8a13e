"""Changes whose answer is lost: exit 6, not 5, and the command to look with."""

import pytest

from integration.kafka.cluster import Cluster, wait_until
from integration.kafka_tool_output import printed_topics
from integration.lossy import (
    CREATE_PARTITIONS,
    CREATE_TOPICS,
    ELECT_LEADERS,
    OFFSET_COMMIT,
    LossyBroker,
)
from integration.planner import Outcome, run_here, take_snapshot
from integration.readers import commit, produce
from integration.steps import create

pytestmark = pytest.mark.kafka

ROOMY = ("--capacity-threshold", "disk=1")
QUICK = ("--timeout", 3)


@pytest.fixture(scope="module")
def one(libs, archive, tmp_path_factory):
    """One broker, so that every request goes through the lossy connection."""
    base = tmp_path_factory.mktemp("one") / "kafka"
    with Cluster(libs, base, num_brokers=1, archive=archive, apart=()) as cluster:
        yield cluster


def lossy(cluster: Cluster, api_key: int, loss: str) -> LossyBroker:
    return LossyBroker(cluster.ports[1], api_key, loss)


def assert_unknown(outcome: Outcome, what: str, look: str) -> None:
    assert outcome.code == 6, (outcome.out, outcome.err)
    document = outcome.document
    assert f"asked to {what}, but the answer is unknown" in document["error"]
    (problem,) = document["problems"]
    assert look in problem["remedy"]


@pytest.mark.parametrize("loss", ["request", "answer", "connection"])
def test_a_topic_may_have_been_made(one: Cluster, tmp_path, loss: str):
    snap, topic = tmp_path / "s.json", f"made-{loss}"
    take_snapshot(one.bootstrap, snap)
    words = ("plan", "new-topic", snap, "--topic", topic, "--partitions", 1)
    words = (*words, "--replication-factor", 1, *ROOMY, "--format", "json")

    with lossy(one, CREATE_TOPICS, loss) as broker:
        outcome = run_here(*words, *broker.options, *QUICK, "--apply", "--yes")

    look = f"--describe --topic {topic}"
    assert_unknown(outcome, f"create topic {topic}", look)
    assert broker.lost == 1  # asked again, it would seem to exist before
    is_made = topic in one.topics("--list").split()
    assert is_made is (loss != "request")


def test_partitions_may_have_been_added(one: Cluster, tmp_path):
    snap, topic = tmp_path / "s.json", "grown"
    create(one, topic, [[1]])
    take_snapshot(one.bootstrap, snap)
    words = ("plan", "add-partitions", snap, "--topic", topic, "--partitions", 3)

    with lossy(one, CREATE_PARTITIONS, "answer") as broker:
        options = (*broker.options, *QUICK, "--apply", "--yes", "--format", "json")
        outcome = run_here(*words, *ROOMY, *options)

    what = f"add partitions to topic {topic}"
    assert_unknown(outcome, what, f"--describe --topic {topic}")
    assert len(printed_topics(one.topics("--describe", "--topic", topic))) == 3


def test_offsets_may_have_been_set(one: Cluster):
    group = topic = "read"
    create(one, topic, [[1]])
    produce(one, topic, range(1), 5)
    commit(one, group, topic, [5])
    words = ("group", "offsets", group, "--topic", topic, "--to-earliest")

    with lossy(one, OFFSET_COMMIT, "answer") as broker:
        options = (*broker.options, *QUICK, "--execute", "--yes", "--format", "json")
        outcome = run_here(*words, *options)

    assert_unknown(
        outcome, f"set offsets of group {group}", f"group offsets {group} --boot"
    )
    seen = run_here(
        "group",
        "offsets",
        group,
        "--bootstrap-server",
        one.bootstrap,
        "--format",
        "json",
    )
    assert [row["current"] for row in seen.document["offsets"]] == [0]


def test_an_election_may_have_been_held(new_cluster):
    cluster: Cluster = new_cluster(num_brokers=2)
    create(cluster, "t", [[1, 2]])
    cluster.stop_node(1)
    cluster.start_node(1)

    def is_in_sync() -> bool:
        (found,) = printed_topics(cluster.topics("--describe", "--topic", "t")).values()
        return set(found["isr"]) == {1, 2}

    wait_until(is_in_sync, "broker 1 to be in sync")
    words = ("elect", "--election-type", "preferred", "--topic", "t", "--partition", 0)

    with (
        LossyBroker(cluster.ports[1], ELECT_LEADERS, "request") as first,
        LossyBroker(cluster.ports[2], ELECT_LEADERS, "request") as second,
    ):
        options = (*first.options, "--resolve", second.options[-1], "--yes")
        outcome = run_here(*words, *options, *QUICK, "--format", "json")

    look = "kafka-planner elect --election-type preferred"
    assert_unknown(outcome, "elect leaders", look)
