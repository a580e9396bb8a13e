"""Plans carried out on a real cluster: from the preview to the verified end."""

import json
from pathlib import Path
from typing import Any

import pytest

from integration.kafka.cluster import Cluster
from integration.planner import Outcome, run_here
from integration.shell import throttles
from integration.steps import create, replicas_of, verify

pytestmark = pytest.mark.kafka


def plan_folder(
    cluster: Cluster, folder: Path, topic: str, lists: dict[int, list[int]]
) -> Path:
    """Write the folder of a plan that gives partitions of a topic other lists."""
    path = folder / "plan"
    path.mkdir()
    before = replicas_of(cluster, topic)
    for name, rows in (
        ("rollback.json", {number: before[number] for number in lists}),
        ("reassignment.json", lists),
    ):
        entries = [
            {"topic": topic, "partition": number, "replicas": row}
            for number, row in rows.items()
        ]
        (path / name).write_text(json.dumps({"version": 1, "partitions": entries}))
    document = {
        "format": "kafka-planner/plan",
        "version": 1,
        "goal": "rebalance",
        "snapshot": {"cluster_id": cluster.cluster_id},
        "settings": {},
    }
    (path / "plan.json").write_text(json.dumps(document))
    return path


def apply(cluster: Cluster, plan: Path, *options: object) -> tuple[Outcome, list[Any]]:
    """Carry a plan out, and return the outcome and its events."""
    where = ("--bootstrap-server", cluster.bootstrap)
    preview = run_here("apply", plan, *where, "--format", "json", *options)
    assert preview.code == 0, preview.out + preview.err
    plan_id = preview.document["plan_id"]
    shown = ("--yes", "--plan-id", plan_id, "--max-age", "1h", "--format", "json")
    done = run_here("apply", plan, *where, *shown, *options)
    return done, [json.loads(line) for line in done.out.splitlines()]


def fresh(plan: Path) -> Path:
    """Date a plan now, as an unattended run needs it."""
    from datetime import UTC, datetime

    path = plan / "plan.json"
    document = json.loads(path.read_text())
    document["snapshot"]["taken_at"] = datetime.now(UTC).isoformat()
    path.write_text(json.dumps(document))
    return plan


def test_a_plan_is_carried_out_and_leaves_no_throttle(
    shared_cluster: Cluster, tmp_path
):
    create(shared_cluster, "apply-plain", [[1, 2], [2, 1], [1, 2], [2, 3]])
    shared_cluster.produce("apply-plain", num_records=3000, record_bytes=1000)
    lists = {0: [1, 3], 1: [3, 1], 2: [2, 1], 3: [2, 1]}
    plan = fresh(plan_folder(shared_cluster, tmp_path, "apply-plain", lists))
    before = throttles(shared_cluster)

    outcome, events = apply(shared_cluster, plan, "--throttle", "20MB/s")

    assert outcome.code == 0, outcome.out + outcome.err
    assert events[-1]["status"] == "completed", events
    assert replicas_of(shared_cluster, "apply-plain") == list(lists.values())
    assert throttles(shared_cluster) == before
    assert verify(shared_cluster, plan)[0] == 0
