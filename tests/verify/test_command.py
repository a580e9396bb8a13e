"""`kafka-planner verify` as a person or a script calls it, on snapshots."""

import json
from pathlib import Path

import pytest

from planner.plan.documents.check_records import ReassignmentRecord, VerifyRecord
from planner.snapshot import read_snapshot
from planner.status.throttles_in_force import throttles_in
from support.commands import run


def snapshot(
    folder: Path, *partitions: dict, broker_configs=None, topic_configs=None
) -> Path:
    brokers = [{"id": b, "configs": broker_configs or {}} for b in (1, 2, 3)]
    listed = [{"partition": n, **p} for n, p in enumerate(partitions)]
    topic = {"name": "t", "configs": topic_configs or {}, "partitions": listed}
    document = {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "brokers": brokers,
        "topics": [topic],
    }
    path = folder / "snapshot.json"
    path.write_text(json.dumps(document))
    return path


def reassignment(path: Path, *lists: list[int]) -> Path:
    entries = [
        {"topic": "t", "partition": number, "replicas": replicas}
        for number, replicas in enumerate(lists)
    ]
    document = {"version": 1, "partitions": entries}
    assert len(ReassignmentRecord(**document).partitions) == len(lists)
    path.write_text(json.dumps(document))
    return path


DONE = ["completed: 1 completed", "Left       nothing"]


def test_a_completed_plan_is_exit_0(tmp_path: Path, capsys):
    plan = reassignment(tmp_path / "r.json", [1, 2])
    after = snapshot(tmp_path, {"replicas": [1, 2]})

    outcome = run(capsys, "verify", plan, "--snapshot", after)

    assert (outcome.code, outcome.out.splitlines()) == (0, DONE)


def test_a_plan_of_nothing_is_completed(tmp_path: Path, capsys):
    plan = reassignment(tmp_path / "r.json")

    outcome = run(capsys, "verify", plan, "--snapshot", snapshot(tmp_path))

    assert outcome.code == 0
    assert outcome.out.splitlines()[0] == "completed: the plan moves nothing"


def test_half_done_is_in_progress_and_exit_3(tmp_path: Path, capsys):
    plan = reassignment(tmp_path / "r.json", [1, 2], [2, 3])
    moving = {"replicas": [2, 3, 1], "adding_replicas": [2], "removing_replicas": [1]}
    after = snapshot(tmp_path, {"replicas": [1, 2]}, moving)

    outcome = run(capsys, "verify", plan, "--snapshot", after, "--format", "json")

    assert outcome.code == 3
    record = VerifyRecord.model_validate_json(outcome.out)
    assert record.model_dump(mode="json") == outcome.document
    assert outcome.document["status"] == "in-progress"
    assert outcome.document["findings"][0]["message"] == "t-1: adding 2; removing 1"


def test_a_plan_folder_knows_what_is_not_started(tmp_path: Path, capsys):
    plan = tmp_path / "plan"
    plan.mkdir()
    reassignment(plan / "reassignment.json", [1, 2])
    reassignment(plan / "rollback.json", [1, 3])
    before = snapshot(tmp_path, {"replicas": [1, 3]})

    outcome = run(capsys, "verify", plan, "--snapshot", before)

    assert outcome.code == 3
    assert outcome.out.startswith("not-started: 1 not_started\n")


def test_loads_are_compared_where_the_plan_foretold_them(tmp_path: Path, capsys):
    plan = tmp_path / "plan"
    plan.mkdir()
    reassignment(plan / "reassignment.json", [1, 2])
    foretold = {"by_broker": [{"broker": 1, "rack": None, "replicas": {"load": 3}}]}
    document = {"format": "kafka-planner/plan", "version": 1, "after": foretold}
    (plan / "plan.json").write_text(json.dumps(document))
    after = snapshot(tmp_path, {"replicas": [1, 2]})

    outcome = run(capsys, "verify", plan, "--snapshot", after)

    assert outcome.code == 0
    assert "replicas: 1 measured, 3 predicted; furthest off: broker 1" in outcome.out


RATE = "leader.replication.throttled.rate"
LIST = "leader.replication.throttled.replicas"


def test_throttles_of_a_snapshot_are_seen(tmp_path: Path, capsys):
    plan = reassignment(tmp_path / "r.json", [1, 2])
    after = snapshot(
        tmp_path,
        {"replicas": [1, 2]},
        broker_configs={RATE: "1000", "num.io.threads": "8"},
        topic_configs={LIST: "0:1"},
    )

    outcome = run(capsys, "verify", plan, "--snapshot", after)

    assert outcome.code == 3
    assert outcome.out.splitlines()[0] == "completed: 1 completed"
    # One cause, and a command for each place.
    assert outcome.out.count("throttle-left") == 1
    assert outcome.out.count("kafka-configs.sh") == 4


def test_an_empty_list_of_throttled_replicas_is_none(tmp_path: Path):
    after = snapshot(tmp_path, topic_configs={LIST: ""})

    assert throttles_in(read_snapshot(after)) == []


@pytest.mark.parametrize(
    "options",
    [
        pytest.param([], id="neither"),
        pytest.param(["--snapshot", "s.json", "--bootstrap-server", "k:1"], id="both"),
        pytest.param(
            ["--snapshot", "s.json", "--command-config", "c.properties"],
            id="config-too",
        ),
    ],
)
def test_one_place_to_look_is_needed(tmp_path: Path, capsys, options: list[str]):
    plan = reassignment(tmp_path / "r.json", [1, 2])

    outcome = run(capsys, "verify", plan, *options, "--format", "json")

    assert outcome.code == 2
    first = outcome.document["problems"][0]
    assert first["place"] == "--snapshot, --bootstrap-server"


def test_an_unreachable_cluster_is_exit_5(tmp_path: Path, capsys):
    plan = reassignment(tmp_path / "r.json", [1, 2])

    outcome = run(
        capsys,
        "verify",
        plan,
        "--bootstrap-server",
        "127.0.0.1:1",
        "--timeout",
        "0.5",
        "--format=json",
    )

    assert outcome.code == 5
    assert "127.0.0.1:1" in outcome.document["error"]


def test_a_thousand_findings_of_one_cause_are_one(tmp_path: Path, capsys):
    plan = reassignment(tmp_path / "r.json", *[[1, 2]] * 1000)

    outcome = run(capsys, "verify", plan, "--snapshot", snapshot(tmp_path))

    assert outcome.code == 3
    assert outcome.out.count("differs  ") == 1
    assert "1000 partitions do not exist: t-0, t-1, t-2 …" in outcome.out
