"""What Kafka's own tools print of a cluster makes the snapshot that is taken of it."""

import json
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaAdminClient, TopicPartition

from integration.kafka.cluster import Cluster, wait_until
from integration.kafka_tool_output import printed_brokers, printed_topics
from integration.planner import run_here, take_snapshot
from integration.steps import create, write_plan

pytestmark = pytest.mark.kafka

# What tools do not print: sizes of log dirs, and when they were run.
_BROKER = ("id", "rack", "host", "state")
_PARTITION = (
    "partition",
    "replicas",
    "isr",
    "elr",
    "last_known_elr",
    "adding_replicas",
    "removing_replicas",
    "log_dirs",
    "future_log_dirs",
)
_SIZES = ("size_bytes", "replica_bytes")
_HEADER = ("cluster_id", "configs", "features")
LOOKS = 30
"""How often a cluster is looked at until nothing changes meanwhile."""


def told(document: dict[str, Any], *, with_sizes: bool = True) -> dict[str, Any]:
    """What of a snapshot the tools tell, too."""
    return {
        **{key: document[key] for key in _HEADER},
        "controllers": [
            {**known(one), "fetch_age_ms": None} for one in document["controllers"]
        ],
        "brokers": [
            {key: broker.get(key) for key in _BROKER}
            | {"configs": broker.get("configs") or {}}
            | {
                "log_dirs": [
                    (d["path"], d["state"]) for d in broker.get("log_dirs") or ()
                ]
            }
            for broker in document["brokers"]
        ],
        "topics": [
            {
                "name": topic["name"],
                "topic_id": topic["topic_id"],
                "storage": topic["storage"],
                "configs": own_configs(topic, document),
                "partitions": [
                    known({key: one.get(key) or None for key in _PARTITION})
                    # None is said of a partition without a leader.
                    | {"leader": one.get("leader", "absent")}
                    | {key: one.get(key) for key in _SIZES if with_sizes and is_ours}
                    for one in topic["partitions"]
                ],
            }
            # Kafka itself may write into its own topics between two looks.
            for topic in document["topics"]
            for is_ours in [not topic["name"].startswith("__")]
        ],
    }


def known(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if value is not None}


def own_configs(topic: dict[str, Any], document: dict[str, Any]) -> dict[str, str]:
    """A topic's settings without the cluster's, which `kafka-topics` prints, too."""
    return dict(topic["configs"].items() - document["configs"].items())


def print_all(cluster: Cluster, folder: Path) -> list[object]:
    """Run the tools; returns the options that read what they printed."""
    # Of all settings those that a snapshot keeps, also where nobody set them.
    brokers = ("--describe", "--all", "--entity-type", "brokers")
    printed = [
        ("--topics", cluster.topics("--describe")),
        ("--log-dirs", cluster.describe_log_dirs()),
        ("--list-endpoints", cluster.endpoints()),
        ("--configs", cluster.configs("--describe", "--entity-type", "topics")),
        ("--configs", cluster.configs(*brokers)),
        ("--features", cluster.features()),
        ("--quorum", cluster.quorum("--status")),
    ]
    folder.mkdir()
    return [
        one
        for number, (option, text) in enumerate(printed)
        for one in (option, write(folder / f"{number}.txt", text))
    ]


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def both(
    cluster: Cluster, folder: Path, *more: object
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Import what the tools print, and take a snapshot: both documents."""
    folder.mkdir()
    files, live = while_nothing_changes(cluster, folder)
    path = folder / "s.json"
    outcome = run_here("snapshot", "import", *files, *more, "-o", path)
    assert outcome.code == 0, outcome.err
    return json.loads(path.read_text()), live


def while_nothing_changes(
    cluster: Cluster, folder: Path
) -> tuple[list[object], dict[str, Any]]:
    """
    Print all between two snapshots that tell the same; return it, and the second one.

    A replica that copies or has lost its disk may leave an ISR between two looks.
    """
    looks = 0

    def look() -> dict[str, Any]:
        nonlocal looks
        looks += 1
        assert looks <= LOOKS, "the cluster does not come to rest"
        return take_snapshot(cluster.bootstrap, folder / f"{looks}.json")

    before, now = look(), look()
    while True:
        if told(before, with_sizes=False) == told(now, with_sizes=False):
            files = print_all(cluster, folder / f"{looks}")
            before, now = now, look()
            if told(before, with_sizes=False) == told(now, with_sizes=False):
                return files, now
        before, now = now, look()


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

    set_ones = shared_cluster.configs("--describe", "--entity-type", "brokers")
    nodes = shared_cluster.quorum("--replication")
    more = (
        *("--configs", write(tmp_path / "set.txt", set_ones)),
        *("--quorum", write(tmp_path / "nodes.txt", nodes)),
    )

    imported, live = both(shared_cluster, tmp_path / "printed", *more)

    assert told(imported) == told(live)
    (topic,) = [one for one in imported["topics"] if one["name"] == "import_2"]
    assert topic["configs"]["cleanup.policy"] == "compact,delete"
    assert [one["id"] for one in imported["controllers"]] == [100]
    assert imported["features"]["metadata.version"] > 20
    assert len(imported["configs"]) > 1


def test_the_states_that_the_samples_show_are_imported_as_they_are_read_live(
    new_cluster, tmp_path
):
    cluster = new_cluster(num_brokers=4, apart=(1,))
    create(cluster, "big", [[1, 2], [2, 1]])
    create(cluster, "safe", [[3, 1, 2], [4, 3, 1]])
    create(cluster, "alone", [[1]])
    # A throttle lets a fetch of 1 MB pass every eleven seconds, however low it is: of
    # much more a copy does not come to its end while the tools are run.
    cluster.produce("big", num_records=3000, record_bytes=10_000)
    plan = write_plan(tmp_path / "plan.json", "big", {0: [3, 4], 1: [2, 3]})
    throttle = ("--throttle", "1000")

    cluster.reassign("--execute", "--reassignment-json-file", str(plan), *throttle)
    moving = both(cluster, tmp_path / "moving")
    cluster.reassign("--cancel", "--reassignment-json-file", str(plan))
    disk = cluster.log_dirs(4)[1]
    disk.rename(disk.with_name("gone"))
    disk.touch()
    wait_until(lambda: "KafkaStorageException" in cluster.describe_log_dirs(), "a loss")
    cluster.kill(1)
    wait_until(
        lambda: printed_brokers(cluster.endpoints())[1][1] == "fenced", "broker 1 to go"
    )
    wait_until(
        lambda: all(
            one["leader"] is None if name == ("alone", 0) else 1 not in one["isr"]
            for name, one in printed_topics(cluster.topics("--describe")).items()
        ),
        "broker 1 to leave every ISR",
    )
    broken = both(cluster, tmp_path / "broken")

    for imported, live in (moving, broken):
        # What is being copied grows from one answer to the next.
        assert told(imported, with_sizes=False) == told(live, with_sizes=False)
    partitions = {
        (topic["name"], one["partition"]): one
        for topic in moving[0]["topics"]
        for one in topic["partitions"]
    }
    assert partitions["big", 0]["adding_replicas"] == [3, 4]
    configs = {one["id"]: one.get("configs") for one in moving[0]["brokers"]}
    assert configs[3]["follower.replication.throttled.rate"] == "1000"
    states = [d["state"] for d in broken[0]["brokers"][3]["log_dirs"]]
    assert sorted(states) == ["offline", "online"]
    (alone,) = [one for one in broken[0]["topics"] if one["name"] == "alone"]
    assert alone["partitions"][0]["leader"] is None
    assert broken[0]["brokers"][0]["state"] == "fenced"
