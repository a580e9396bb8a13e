"""`partitions size` and `audit` on a running cluster answer as on its snapshot."""

from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaProducer

from integration.kafka.cluster import Cluster
from integration.planner import run_here, take_snapshot
from integration.readers import create

pytestmark = pytest.mark.kafka

TIMES = {"taken_at", "data_age_s"}
RATES = ("--throughput", "30MB/s", "--producer-rate", "10MB/s", "--consumer-rate")


def without_times(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key not in TIMES}


@pytest.fixture(scope="module")
def snapshot(shared_cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a snapshot of the cluster with two topics, one of them half empty."""
    create(shared_cluster, "sized", 4)
    create(shared_cluster, "unused", 7)
    servers = shared_cluster.bootstrap.split(",")
    producer = KafkaProducer(bootstrap_servers=servers)
    for partition in (0, 1):
        producer.send("sized", b"v" * 1000, partition=partition).get(30)
    producer.close()
    path = tmp_path_factory.mktemp("partitions") / "s.json"
    take_snapshot(shared_cluster.bootstrap, path)
    return path


def test_size_answers_for_a_running_topic(
    shared_cluster: Cluster, snapshot: Path
) -> None:
    words = ("--topic", "sized", *RATES, "5MB/s", "--format", "json")
    server = ("--bootstrap-server", shared_cluster.bootstrap)

    live = run_here("partitions", "size", *server, *words)
    from_file = run_here("partitions", "size", snapshot, *words)

    assert live.code == 0, live.err
    assert without_times(live.document) == without_times(from_file.document)
    # Keyed, so with headroom: 2 x 30 MB/s at 5 MB/s, and a multiple of three brokers.
    assert live.document["recommended"] == 12


def test_audit_finds_the_same_on_a_running_cluster(
    shared_cluster: Cluster, snapshot: Path
) -> None:
    server = ("--bootstrap-server", shared_cluster.bootstrap)

    live = run_here("partitions", "audit", *server, "--format", "json")
    from_file = run_here("partitions", "audit", snapshot, "--format", "json")
    screen = run_here("partitions", "audit", *server)

    assert (live.code, from_file.code, screen.code) == (3, 3, 3), live.err
    assert without_times(live.document) == without_times(from_file.document)
    found = {(each["topic"], each["kind"]) for each in live.document["findings"]}
    assert ("unused", "empty") in found
    joined = " ".join(screen.out.replace("\\\n", " ").split())
    assert f"partitions size --bootstrap-server {shared_cluster.bootstrap}" in joined


@pytest.mark.parametrize("command", ["size", "audit"])
def test_a_topic_or_cluster_that_is_not_there_is_named(
    shared_cluster: Cluster, command: str
) -> None:
    both = ("--bootstrap-server", shared_cluster.bootstrap)

    neither = run_here("partitions", "audit")
    nowhere = run_here(
        *("partitions", command, "--bootstrap-server", "127.0.0.1:1", "--timeout", 1)
    )
    unknown = run_here("partitions", "size", *both, "--topic", "no-such")

    assert (neither.code, nowhere.code, unknown.code) == (2, 5, 2)
    assert "--bootstrap-server" in neither.err
    assert "127.0.0.1:1" in nowhere.err
    assert "no-such" in unknown.err
