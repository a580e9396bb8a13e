"""New topics and more partitions on a real Kafka: tried, made, verified."""

import json

import pytest

from integration.kafka.cluster import Cluster
from integration.planner import run_here, take_snapshot
from integration.steps import create, replicas_of, verify

pytestmark = pytest.mark.kafka

ROOMY = ("--capacity-threshold", "disk=1", "--format", "json")


@pytest.fixture(scope="module")
def three(libs, archive, tmp_path_factory):
    """Three brokers on racks of their own."""
    base = tmp_path_factory.mktemp("new") / "kafka"
    with Cluster(libs, base, archive=archive, apart=()) as cluster:
        yield cluster


def test_a_topic_is_tried_and_made(three: Cluster, tmp_path):
    snap, plan = tmp_path / "s.json", tmp_path / "plan"
    create(three, "crowded", [[1, 2]] * 4)
    take_snapshot(three.bootstrap, snap)
    words = ("plan", "new-topic", snap, "--topic", "fresh", "--partitions", 3)
    words = (*words, "--replication-factor", 2, *ROOMY)
    words = (*words, "--topic-config", "min.insync.replicas=2")
    words = (*words, "--topic-config", "cleanup.policy=compact,delete")
    server = ("--bootstrap-server", three.bootstrap)

    tried = run_here(*words, *server, "--validate-only")
    shown = run_here(*words, *server, "--apply")
    still = three.topics("--list").split()
    made = run_here(*words, *server, "--apply", "--yes", "-o", plan)
    again = run_here(*words, *server, "--apply", "--yes")

    assert (tried.code, shown.code, made.code) == (0, 0, 0), made.err
    assert "nothing was changed" in tried.document["done"]
    assert "add --yes to do it" in shown.document["done"]
    assert "fresh" not in still
    entries = json.loads((plan / "reassignment.json").read_text())["partitions"]
    assert replicas_of(three, "fresh") == [one["replicas"] for one in entries]
    described = three.topics("--describe", "--topic", "fresh")
    assert "min.insync.replicas=2" in described
    assert "cleanup.policy=compact,delete" in described
    # What is empty leads and holds the most of it.
    assert sum(3 in row for row in replicas_of(three, "fresh")) >= 2
    code, done = verify(three, plan)
    assert (code, done["status"]) == (0, "completed")
    assert again.code == 2
    assert "already exists" in again.document["problems"][0]["rule"]


def test_partitions_are_added_by_kafkas_own_tool_and_by_us(three: Cluster, tmp_path):
    create(three, "growing", [[1, 2], [2, 3]])
    snap, plan = tmp_path / "s.json", tmp_path / "plan"
    take_snapshot(three.bootstrap, snap)
    words = ("plan", "add-partitions", snap, "--topic", "growing")

    made = run_here(*words, "--partitions", 4, *ROOMY, "-o", plan)
    text = (plan / "replica-assignment.txt").read_text().strip()
    told = ("--alter", "--topic", "growing", "--partitions", "4")
    three.topics(*told, "--replica-assignment", text)

    assert made.code == 0, made.err
    entries = json.loads((plan / "reassignment.json").read_text())["partitions"]
    added = [one["replicas"] for one in entries]
    assert replicas_of(three, "growing") == [[1, 2], [2, 3], *added]
    assert verify(three, plan)[0] == 0

    take_snapshot(three.bootstrap, snap)
    server = ("--bootstrap-server", three.bootstrap, "--apply", "--yes")
    more = run_here(*words, "--partitions", 6, *ROOMY, *server)
    fewer = run_here(*words, "--partitions", 2, *ROOMY, *server)

    assert more.code == 0, more.err
    assert len(replicas_of(three, "growing")) == 6
    assert fewer.code == 2
    assert "would not be an increase" in fewer.document["problems"][0]["rule"]
