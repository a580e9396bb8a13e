"""The operations from the command line and from Python."""

import json
from pathlib import Path

import pytest

import planner
from planner.plan.plan_documents import PlanRecord
from planner.snapshot import Snapshot
from support.commands import run
from support.plans import lists_in, skewed_document, write_document

ROOMY = ("--capacity-threshold", "disk=1", "--capacity-threshold", "out=1")

REFUSED = [
    pytest.param(["replace-broker"], ["--broker"], id="replace-nothing"),
    pytest.param(
        ["replace-broker", "--broker", "1"], ["--broker"], id="replace-by-nothing"
    ),
    pytest.param(
        ["replace-broker", "--broker", "1", "--with", "77"], ["--with"], id="no-such"
    ),
    pytest.param(
        ["replace-broker", "--broker", "1,2", "--with", "2,3"],
        ["--broker"],
        id="old-and-new",
    ),
    pytest.param(
        ["replace-broker", "--broker", "x", "--with", "y", "--band", "z"],
        ["--band", "--broker", "--with"],
        id="every-problem-at-once",
    ),
    pytest.param(["demote"], ["--broker-list"], id="demote-nothing"),
    pytest.param(["demote", "--log-dirs", "1:d1"], ["--log-dirs"], id="relative-path"),
    pytest.param(["demote", "--log-dirs", "1:/d9"], ["--log-dirs"], id="no-such-dir"),
    pytest.param(["demote", "--log-dirs", "2-1:/d1"], ["--log-dirs"], id="bad-range"),
]


@pytest.fixture
def snapshot(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_document(skewed_document(), tmp_path / "s.json").name


@pytest.mark.parametrize(("arguments", "places"), REFUSED)
def test_bad_options_are_refused_with_every_problem(
    capsys, snapshot, arguments, places
):
    goal, *options = arguments

    outcome = run(
        capsys, "plan", goal, snapshot, *options, "-o", "p", "--format", "json"
    )

    assert outcome.code == 2
    problems = outcome.document["problems"]
    assert sorted(problem["place"] for problem in problems) == sorted(places)
    assert run(capsys, "check", "p", "--snapshot", snapshot).code == 2


def test_a_dead_broker_takes_nothing(capsys, snapshot):
    document = skewed_document()
    document["brokers"][3]["state"] = "dead"
    write_document(document, Path(snapshot))

    pair = ("--broker", 1, "--with", 4)
    outcome = run(capsys, "plan", "replace-broker", snapshot, *pair)

    assert outcome.code == 2
    assert "must be live" in outcome.err


def test_a_replacement_is_planned_checked_and_applied(capsys, snapshot):
    pair = ("--broker", 1, "--with", 4, *ROOMY)

    made = run(capsys, "plan", "replace-broker", snapshot, *pair, "-o", "p")

    assert made.code == 0, made.err
    assert "replace-broker 1 by 4" in made.out
    assert max(map(len, made.out.splitlines())) <= 80
    assert run(capsys, "check", "p", "--snapshot", snapshot).code == 0
    document = json.loads(Path("p/plan.json").read_text())
    PlanRecord.model_validate(document)
    assert document["settings"]["broker"] == [1]
    assert document["settings"]["with_broker"] == [4]
    assert run(capsys, "snapshot", "apply", "p", snapshot, "-o", "after.json").code == 0
    again = run(capsys, "plan", "replace-broker", "after.json", *pair, "-o", "q")
    assert (again.code, lists_in(Path("q/reassignment.json"))) == (0, {})


def test_a_demotion_is_planned_and_elects_what_kafka_would_not(capsys, snapshot):
    what = ("--broker-list", 1, "--log-dirs", "4:/d1", *ROOMY)

    made = run(capsys, "plan", "demote", snapshot, *what, "-o", "p")

    assert made.code == 0, made.err
    assert "demote 1, 4:/d1" in made.out
    assert run(capsys, "check", "p", "--snapshot", snapshot).code == 0
    document = json.loads(Path("p/plan.json").read_text())
    PlanRecord.model_validate(document)
    assert document["moves"]["replicas"] == 0
    assert document["settings"]["log_dirs"] == ["4:/d1"]
    assert json.loads(Path("p/preferred-election.json").read_text())["partitions"]


def test_python_plans_the_same():
    cluster = Snapshot.from_document(skewed_document())
    room = {"disk": 1.0, "out": 1.0}

    swap = planner.replace_broker(cluster, {1: 4}, capacity_threshold=room)
    calm = planner.demote(cluster, [1], log_dirs=["2:/d1"], capacity_threshold=room)

    assert (swap.is_ok, calm.is_ok) == (True, True)
    assert {
        row["from"] for row in swap.moves.to_rows() if row["kind"] == "replica"
    } == {1}
    assert not calm.counts["replicas"]
