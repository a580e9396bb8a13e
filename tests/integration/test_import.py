"""What Kafka's own tools print of a cluster makes the snapshot that is taken of it."""

import json
from typing import Any

import pytest
from kafka import KafkaAdminClient, TopicPartition

from integration.kafka.cluster import Cluster, wait_until
from integration.planner import run_planner, take_snapshot

pytestmark = pytest.mark.kafka

# What tools do not print: sizes of log dirs, what a topic has by default only, and what
# is said once.
_BROKER = ("id", "rack", "host", "state")
_PARTITION = (
    "partition",
    "replicas",
    "leader",
    "isr",
    "elr",
    "last_known_elr",
    "log_dirs",
    "size_bytes",
    "replica_bytes",
)


def told(document: dict[str, Any]) -> dict[str, Any]:
    """What of a snapshot the tools tell, too."""
    return {
        "brokers": [
            {key: broker.get(key) for key in _BROKER}
            | {"log_dirs": [(d["path"], d["state"]) for d in broker["log_dirs"]]}
            for broker in document["brokers"]
        ],
        "topics": [
            {
                "name": topic["name"],
                "topic_id": topic["topic_id"],
                "storage": topic["storage"],
                "partitions": [
                    {key: one.get(key) for key in _PARTITION}
                    for one in topic["partitions"]
                ],
            }
            for topic in document["topics"]
        ],
    }


def test_printed_text_makes_the_snapshot_of_the_cluster(
    shared_cluster: Cluster, tmp_path
):
    with KafkaAdminClient(bootstrap_servers=shared_cluster.bootstrap) as admin:
        topics = {
            "im.port-1": {"num_partitions": 4, "replication_factor": 2},
            "import_2": {
                "assignments": {0: [3, 1], 1: [2, 3]},
                "configs": {"cleanup.policy": "compact,delete"},
            },
        }
        admin.create_topics(topics, wait_for_metadata=True)
        admin.alter_partition_reassignments({TopicPartition("import_2", 1): [2]})
        wait_until(lambda: not admin.list_partition_reassignments(), "one copy less")
    shared_cluster.produce("im.port-1", num_records=500, record_bytes=100)
    printed = {
        "--topics": shared_cluster.topics("--describe"),
        "--log-dirs": shared_cluster.describe_log_dirs(),
        "--list-endpoints": shared_cluster.endpoints(),
    }
    options = []
    for option, text in printed.items():
        (tmp_path / option).write_text(text)
        options += [option, tmp_path / option]

    outcome = run_planner("snapshot", "import", *options, "-o", tmp_path / "s.json")

    assert outcome.code == 0, outcome.err
    live = take_snapshot(shared_cluster.bootstrap, tmp_path / "live.json")
    imported = json.loads((tmp_path / "s.json").read_text())
    assert told(imported) == told(live)
    (topic,) = [one for one in imported["topics"] if one["name"] == "import_2"]
    assert topic["configs"]["cleanup.policy"] == "compact,delete"
