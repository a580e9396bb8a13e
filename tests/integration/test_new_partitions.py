"""New topics and more partitions on a real Kafka: tried, made, verified."""

import json
from pathlib import Path
from typing import Any

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
    assert made.document["done"] == f"done: topic created, as {plan}/journal.jsonl says"
    journal = (plan / "journal.jsonl").read_text()
    assert journal.count('"kind": "creation"') == 1
    resumed = run_here("apply", plan, *server)
    assert resumed.code == 0, resumed.out
    assert "3 partitions as planned, 0 being moved" in resumed.out
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


def applied(cluster: Cluster, plan: Path) -> list[Any]:
    """Carry a plan out by its preview, and return the events."""
    where = ("--bootstrap-server", cluster.bootstrap, "--format", "json")
    preview = run_here("apply", plan, *where)
    assert preview.code == 0, preview.out + preview.err
    assert [one["kind"] for one in preview.document["stages"]] == ["creation"]
    seen = ("--yes", "--plan-id", preview.document["plan_id"])
    done = run_here("apply", plan, *where, *seen)
    assert done.code == 0, done.out + done.err
    return [json.loads(line) for line in done.out.splitlines()]


def test_a_new_topic_is_carried_out_by_apply_and_nothing_twice(
    three: Cluster, tmp_path
):
    snap, plan = tmp_path / "s.json", tmp_path / "plan"
    take_snapshot(three.bootstrap, snap)
    words = ("plan", "new-topic", snap, "--topic", "applied", "--partitions", 3)
    words = (*words, "--replication-factor", 2, *ROOMY, "-o", plan)
    words = (*words, "--topic-config", "min.insync.replicas=2")
    assert run_here(*words).code == 0
    where = ("--bootstrap-server", three.bootstrap)
    before = run_here("rollback", plan, *where)

    events = applied(three, plan)
    again = run_here("apply", plan, *where, "--yes", "--plan-id", events[0]["plan_id"])
    cancelled = run_here("cancel", plan, *where, "--yes")
    back = run_here("rollback", plan, *where, "--yes")

    assert events[-1]["status"] == "completed"
    entries = json.loads((plan / "reassignment.json").read_text())["partitions"]
    assert replicas_of(three, "applied") == [one["replicas"] for one in entries]
    described = three.topics("--describe", "--topic", "applied")
    assert "min.insync.replicas=2" in described
    assert verify(three, plan)[0] == 0
    assert (again.code, cancelled.code) == (0, 0), again.out + again.err
    assert before.code == 0, before.out
    assert back.code == 3
    assert f"--bootstrap-server {three.bootstrap} --delete --topic applied" in back.out
    journal = (plan / "journal.jsonl").read_text()
    assert journal.count('"kind": "creation"') == 1


def test_partitions_are_added_by_apply_unless_the_topic_has_grown(
    three: Cluster, tmp_path
):
    create(three, "more", [[1, 2], [2, 3]])
    snap, plan = tmp_path / "s.json", tmp_path / "plan"
    take_snapshot(three.bootstrap, snap)
    words = ("plan", "add-partitions", snap, "--topic", "more", "--partitions", 4)
    assert run_here(*words, *ROOMY, "-o", plan).code == 0

    events = applied(three, plan)
    back = run_here("rollback", plan, "--bootstrap-server", three.bootstrap, "--yes")
    late = run_here(*words, *ROOMY, "-o", tmp_path / "late")
    three.topics("--alter", "--topic", "more", "--partitions", "5")
    where = ("--bootstrap-server", three.bootstrap)
    drifted = run_here("apply", plan, *where, "--format", "json")

    assert events[-1]["status"] == "completed"
    assert len(replicas_of(three, "more")) == 5
    assert back.code == 3
    assert "Kafka removes no partitions" in back.out
    assert late.code == 0
    assert drifted.code == 3
    assert [one["rule"] for one in drifted.document["blockers"]] == ["drifted"]
