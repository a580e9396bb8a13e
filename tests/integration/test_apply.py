"""Plans carried out on a real cluster: from the preview to the verified end."""

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

import planner
from integration.kafka.cluster import Cluster, wait_until
from integration.planner import (
    COMMAND,
    Outcome,
    partitions_of,
    run_here,
    take_snapshot,
)
from integration.runs import fresh, plan_folder
from integration.shell import throttles
from integration.steps import create, replicas_of, verify

pytestmark = pytest.mark.kafka


def apply(cluster: Cluster, plan: Path, *options: object) -> tuple[Outcome, list[Any]]:
    """Carry a plan out, and return the outcome and its events."""
    where = ("--bootstrap-server", cluster.bootstrap)
    preview = run_here("apply", plan, *where, "--format", "json", *options)
    assert preview.code == 0, preview.out + preview.err
    plan_id = preview.document["plan_id"]
    shown = ("--yes", "--plan-id", plan_id, "--max-age", "1h", "--format", "json")
    done = run_here("apply", plan, *where, *shown, *options)
    return done, [json.loads(line) for line in done.out.splitlines()]


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
    assert throttles(shared_cluster, until=before) == before
    assert verify(shared_cluster, plan)[0] == 0


SLOW = ("--throttle", "60KB/s")


def start_in_background(cluster: Cluster, plan: Path, *options: str) -> Any:
    """Start `apply` as a process of its own, and wait until its copies run."""
    command = [
        str(COMMAND), "apply", str(plan), "--bootstrap-server", cluster.bootstrap,
        "--yes", "--plan-id", preview_id(cluster, plan, *options), *options,
        "--format", "json",
    ]  # fmt: skip
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line)["event"] == "admitted":
            break
    return process


def preview_id(cluster: Cluster, plan: Path, *options: str) -> str:
    where = ("--bootstrap-server", cluster.bootstrap)
    outcome = run_here("apply", plan, *where, *options, "--format", "json")
    assert outcome.code == 0, outcome.out
    return outcome.document["plan_id"]


def test_a_run_is_paused_quickened_interrupted_and_gone_on_with(
    shared_cluster: Cluster, tmp_path
):
    create(shared_cluster, "apply-slow", [[1, 2]] * 4)
    shared_cluster.produce("apply-slow", num_records=8000, record_bytes=1000)
    lists = {n: [1, 3] for n in range(4)}
    plan = fresh(plan_folder(shared_cluster, tmp_path, "apply-slow", lists))
    before = throttles(shared_cluster)
    process = start_in_background(shared_cluster, plan, *SLOW)

    # Another run of the plan is refused, and names this one.
    where = ("--bootstrap-server", shared_cluster.bootstrap)
    yes = ("--yes", "--plan-id", "any")
    second = run_here("apply", plan, *where, *yes)
    assert second.code == 2
    assert f"process {process.pid}" in second.err

    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "of the plan go on inside Kafka, with their throttles" in said
    assert f"to stop:    kafka-planner cancel {plan} --bootstrap-server" in said
    assert throttles(shared_cluster) != before

    # The throttle is too low for some patience: it is raised while copies run.
    process = start_again(shared_cluster, plan)
    assert run_here("apply", plan, "--set", "throttle=50MB/s").code == 0
    out, _ = process.communicate(timeout=120)
    events = [json.loads(line) for line in out.splitlines()]
    assert process.returncode == 0, events[-1]
    assert events[0]["is_resumed"]
    assert "throttle" in [event["event"] for event in events]
    assert replicas_of(shared_cluster, "apply-slow") == [[1, 3]] * 4
    assert throttles(shared_cluster, until=before) == before


def start_again(cluster: Cluster, plan: Path) -> Any:
    """Go on with a run by the plan id that it began with."""
    lines = (plan / "journal.jsonl").read_text().splitlines()
    (first,) = [line for line in map(json.loads, lines) if line["event"] == "started"]
    command = [
        str(COMMAND), "apply", str(plan), "--bootstrap-server", cluster.bootstrap,
        "--yes", "--plan-id", first["plan_id"], *SLOW, "--format", "json",
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    journal = plan / "journal.jsonl"
    wait_until(
        lambda: journal.read_text().count('"event": "started"') == 2,
        "the second run to start",
    )
    return process


def test_cancel_takes_back_what_runs_and_verify_takes_throttles_off(
    shared_cluster: Cluster, tmp_path
):
    create(shared_cluster, "apply-back", [[1, 2]] * 2)
    shared_cluster.produce("apply-back", num_records=8000, record_bytes=1000)
    lists = {n: [3, 1] for n in range(2)}
    plan = fresh(plan_folder(shared_cluster, tmp_path, "apply-back", lists))
    before = throttles(shared_cluster)
    process = start_in_background(shared_cluster, plan, *SLOW)
    where = ("--bootstrap-server", shared_cluster.bootstrap)

    shown = run_here("cancel", plan, *where)
    assert shown.code == 0
    assert "apply-back-0" in shown.out
    done = run_here("cancel", plan, *where, "--yes", "--format", "json")

    # The run gives way, says so, and leaves the rest to the cancel.
    process.communicate(timeout=60)
    assert process.returncode == 3
    assert done.code == 0, done.out + done.err
    last = json.loads(done.out.splitlines()[-1])
    assert (last["status"], last["still_running"]) == ("cancelled", 0)
    assert (
        sorted(map(sorted, replicas_of(shared_cluster, "apply-back"))) == [[1, 2]] * 2
    )
    assert throttles(shared_cluster, until=before) == before

    # A throttle that somebody has left is named, and taken off on demand alone.
    shared_cluster.configs(
        "--alter", "--entity-type", "brokers", "--entity-name", "2",
        "--add-config", "leader.replication.throttled.rate=1000000",
    )  # fmt: skip
    named = run_here("verify", plan, *where, "--clear-throttles")
    assert "would be taken off" in named.err
    assert throttles(shared_cluster) != before
    run_here("verify", plan, *where, "--clear-throttles", "--yes")
    assert throttles(shared_cluster, until=before) == before


def test_a_plan_is_carried_out_from_python(shared_cluster: Cluster, tmp_path):
    create(shared_cluster, "apply-python", [[1, 2]])
    plan = plan_folder(shared_cluster, tmp_path, "apply-python", {0: [1, 3]})

    events = list(planner.apply(plan, shared_cluster.bootstrap, sample_seconds=0))

    assert events[-1].event == "done"
    assert events[-1].status == "completed"
    assert replicas_of(shared_cluster, "apply-python") == [[1, 3]]


def test_log_dirs_are_reached_inside_a_broker(shared_cluster: Cluster, tmp_path):
    create(shared_cluster, "apply-dirs", [[1, 2], [2, 1]])
    shared_cluster.produce("apply-dirs", num_records=2000, record_bytes=1000)
    snapshot = take_snapshot(shared_cluster.bootstrap, tmp_path / "s.json")
    now = [one["log_dirs"] for one in partitions_of(snapshot, "apply-dirs")]
    paths = [str(path) for path in shared_cluster.log_dirs(1)]
    other = next(path for path in paths if path != now[0][0])
    lists = {0: [1, 2], 1: [2, 3]}
    plan = fresh(plan_folder(shared_cluster, tmp_path, "apply-dirs", lists))
    third = [str(path) for path in shared_cluster.log_dirs(3)][1]
    for name, rows in (
        ("reassignment.json", [[other, "any"], ["any", third]]),
        ("rollback.json", now),
    ):
        document = json.loads((plan / name).read_text())
        for entry, dirs in zip(document["partitions"], rows, strict=True):
            entry["log_dirs"] = dirs
        (plan / name).write_text(json.dumps(document))

    outcome, events = apply(shared_cluster, plan)

    assert outcome.code == 0, events[-1]
    after = take_snapshot(shared_cluster.bootstrap, tmp_path / "after.json")
    found = [one["log_dirs"] for one in partitions_of(after, "apply-dirs")]
    assert (found[0][0], found[1][1]) == (other, third)


def test_a_rollback_brings_lists_order_and_leaders_back(
    shared_cluster: Cluster, tmp_path
):
    start = [[1, 2], [2, 1], [1, 2], [2, 1]]
    create(shared_cluster, "apply-undo", start)
    shared_cluster.produce("apply-undo", num_records=4000, record_bytes=1000)
    lists = {0: [3, 2], 1: [1, 2], 2: [1, 3], 3: [2, 3]}
    plan = fresh(plan_folder(shared_cluster, tmp_path, "apply-undo", lists))
    before = throttles(shared_cluster)
    process = start_in_background(shared_cluster, plan, *SLOW)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    where = ("--bootstrap-server", shared_cluster.bootstrap)

    shown = run_here("rollback", plan, *where)
    assert shown.code == 0, shown.out + shown.err
    assert "nothing has been changed" in shown.out
    done = run_here("rollback", plan, *where, "--yes", "--format", "json")

    assert done.code == 0, done.out + done.err
    assert json.loads(done.out.splitlines()[-1])["status"] == "rolled-back"
    assert replicas_of(shared_cluster, "apply-undo") == start
    assert throttles(shared_cluster, until=before) == before
    after = take_snapshot(shared_cluster.bootstrap, tmp_path / "after.json")
    leaders = [one["leader"] for one in partitions_of(after, "apply-undo")]
    assert leaders == [row[0] for row in start]
