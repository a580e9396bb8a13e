"""The snapshot of a running cluster says what Kafka's own tools say."""

import json
import threading

import pytest
from kafka import KafkaAdminClient, KafkaProducer, TopicPartition

from integration.kafka.cluster import Cluster, wait_until
from integration.kafka_tool_output import (
    printed_brokers,
    printed_replicas,
    printed_topic_ids,
    printed_topics,
)
from integration.planner import brokers_of, partitions_of, run_planner, take_snapshot

pytestmark = pytest.mark.kafka
THROTTLE = "replica.alter.log.dirs.io.max.bytes.per.second"

TOPICS = {
    "plain": {"num_partitions": 5, "replication_factor": 2},
    "by-hand": {"assignments": {0: [3, 1], 1: [2, 3], 2: [1, 3]}},
    "com.pact_ed": {
        "num_partitions": 1,
        "replication_factor": 3,
        "configs": {"cleanup.policy": "compact,delete", "min.insync.replicas": "2"},
    },
}


@pytest.fixture(scope="module")
def filled(shared_cluster: Cluster) -> Cluster:
    with KafkaAdminClient(bootstrap_servers=shared_cluster.bootstrap) as admin:
        admin.create_topics(TOPICS, wait_for_metadata=True)
        # Kafka creates topics of one replication factor only.
        admin.alter_partition_reassignments({TopicPartition("by-hand", 1): [2]})
        wait_until(lambda: not admin.list_partition_reassignments(), "one copy less")
    shared_cluster.produce("plain", num_records=2000, record_bytes=100)
    return shared_cluster


@pytest.fixture(scope="module")
def document(filled: Cluster, tmp_path_factory) -> dict:
    return take_snapshot(filled.bootstrap, tmp_path_factory.mktemp("live") / "s.json")


def test_partitions_are_as_kafka_topics_tells(filled: Cluster, document: dict):
    text = filled.topics("--describe")

    keys = ("replicas", "leader", "isr", "elr", "last_known_elr")
    keys += ("adding_replicas", "removing_replicas")
    found = {
        (topic["name"], one["partition"]): {key: one.get(key, []) for key in keys}
        for topic in document["topics"]
        for one in topic["partitions"]
    }
    printed = printed_topics(text)
    assert found.keys() >= {("by-hand", 0), ("plain", 4), ("com.pact_ed", 0)}
    assert found == printed
    ids = {topic["name"]: topic["topic_id"] for topic in document["topics"]}
    assert ids == printed_topic_ids(text)


def _without_growing(replicas: dict) -> dict:
    """Return the log dir and size of each replica, but for what Kafka still writes."""
    return {
        place: (log_dir, size_bytes if not place[1].startswith("__") else None)
        for place, (log_dir, size_bytes) in replicas.items()
    }


def test_replicas_lie_where_kafka_log_dirs_tells(filled: Cluster, document: dict):
    printed = printed_replicas(filled.describe_log_dirs())

    found = {
        (broker_id, topic["name"], one["partition"]): (
            one["log_dirs"][slot],
            one.get("replica_bytes", [one["size_bytes"]] * len(one["replicas"]))[slot],
        )
        for topic in document["topics"]
        for one in topic["partitions"]
        for slot, broker_id in enumerate(one["replicas"])
    }
    assert _without_growing(found) == _without_growing(printed)
    assert sum(size for _, size in found.values()) > 2 * 2000 * 100


def test_brokers_and_racks_are_as_kafka_cluster_tells(filled: Cluster, document: dict):
    printed = printed_brokers(filled.endpoints())

    states = {"alive": "unfenced", "fenced": "fenced"}
    found = {
        broker_id: (one["rack"], states[one["state"]])
        for broker_id, one in brokers_of(document).items()
    }
    assert found == printed
    paths = {
        broker_id: {log_dir["path"] for log_dir in one["log_dirs"]}
        for broker_id, one in brokers_of(document).items()
    }
    assert paths == {b: set(map(str, filled.log_dirs(b))) for b in filled.brokers}


def test_only_configs_that_are_not_defaults_are_kept(document: dict):
    configs = {topic["name"]: topic["configs"] for topic in document["topics"]}

    assert configs["plain"] == {}
    assert configs["com.pact_ed"] == {
        "cleanup.policy": "compact,delete",
        "min.insync.replicas": "2",
    }
    assert document["configs"]["min.insync.replicas"] == "1"


def test_the_quorum_and_the_features_are_reported(filled: Cluster, document: dict):
    assert document["cluster_id"] == filled.cluster_id
    [controller] = document["controllers"]
    # The leader's own time is that of its answer.
    assert controller == {
        "id": 100, "rack": None, "voter": True, "combined": False, "leader": True,
        "fetch_age_ms": 0,
    }  # fmt: skip
    assert document["features"]["eligible.leader.replicas.version"] == 1
    assert "kafka_version" not in document or document["kafka_version"] is None


def test_rates_are_known_of_what_is_written_and_zero_of_what_is_not(
    filled: Cluster, tmp_path
):
    path = tmp_path / "rates.json"
    is_over = threading.Event()

    def write() -> None:
        with KafkaProducer(bootstrap_servers=filled.bootstrap) as producer:
            while not is_over.wait(0.01):
                producer.send("by-hand", b"x" * 10_000, partition=0)
                producer.flush()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        where = ("--bootstrap-server", filled.bootstrap, "-o", path)
        options = ("--sample-seconds", 2, "--format", "json")
        outcome = run_planner("snapshot", "live", *where, *options)
    finally:
        is_over.set()
        writer.join()

    assert outcome.code == 0, outcome.err
    assert outcome.document["rates"]["source"] == "live-sample"
    found = json.loads(path.read_text())
    rates = [one.get("in_bytes_per_s") for one in partitions_of(found, "by-hand")]
    assert rates[0] > 10_000
    assert rates[1:] == [0, 0]
    assert found["rates"]["window_s"] >= 2
    assert "estimate" in run_planner("snapshot", "live", "--help").out


def test_a_copy_between_log_dirs_is_seen(
    filled: Cluster, admin: KafkaAdminClient, tmp_path
):
    admin.create_topics({"wide": {"assignments": {0: [1]}}}, wait_for_metadata=True)
    filled.produce("wide", num_records=3000, record_bytes=10_000)
    before = take_snapshot(filled.bootstrap, tmp_path / "before.json")
    (current,) = partitions_of(before, "wide")[0]["log_dirs"]
    (other,) = {str(path) for path in filled.log_dirs(1)} - {current}
    moves = tmp_path / "moves.json"
    move = {"topic": "wide", "partition": 0, "replicas": [1], "log_dirs": [other]}
    moves.write_text(json.dumps({"version": 1, "partitions": [move]}))

    named = ("--reassignment-json-file", str(moves))
    slow = ("--replica-alter-log-dirs-throttle", "1000000")
    filled.reassign("--execute", *named, *slow)
    during = take_snapshot(filled.bootstrap, tmp_path / "during.json")
    of_broker = ("--entity-type", "brokers", "--entity-name", "1")
    filled.configs("--alter", *of_broker, "--delete-config", THROTTLE)
    wait_until(
        lambda: "in progress" not in filled.reassign("--verify", *named),
        "the copy to end",
    )
    after = take_snapshot(filled.bootstrap, tmp_path / "after.json")

    (moving,) = partitions_of(during, "wide")
    assert moving["log_dirs"] == [current]
    assert moving["future_log_dirs"] == [other]
    assert brokers_of(during)[1]["configs"] == {THROTTLE: "1000000"}
    assert partitions_of(after, "wide")[0]["log_dirs"] == [other]
    assert brokers_of(after)[1]["configs"] == {}
