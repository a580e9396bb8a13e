"""The operations from the command line and from Python."""

import json
from pathlib import Path

import pytest

import planner
from planner.plan.documents.plan_records import PlanRecord
from planner.snapshot import Snapshot
from support.commands import run
from support.plans import lists_in, moves_in, skewed_document, write_document

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
    pytest.param(["fix", "--only", "racks,disks"], ["--only"], id="no-such-defect"),
    pytest.param(["set-replication-factor"], ["--replication-factor"], id="no-factor"),
    pytest.param(
        ["set-replication-factor", "--replication-factor", "0"],
        ["--replication-factor"],
        id="factor-0",
    ),
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


BAD_FILES = [
    pytest.param("f.toml", "3 = [", [""], id="not-toml"),
    pytest.param("f.json", "[1]", [""], id="no-object"),
    pytest.param("f.toml", "", [""], id="empty"),
    pytest.param(
        "f.toml", '0 = "a"\nx = "b"\n2 = 7\n1 = "("', ["0", "x", "2", "1"], id="all"
    ),
    pytest.param("f.toml", '2 = "a"\n3 = ["b", "[ab]"]', ["a"], id="two-factors"),
]


@pytest.mark.parametrize(("name", "text", "places"), BAD_FILES)
def test_a_bad_file_of_factors_is_refused(capsys, snapshot, name, text, places):
    Path(name).write_text(text)

    outcome = run(
        capsys, "plan", "set-replication-factor", snapshot,
        "--replication-factors", name, "--format", "json",
    )  # fmt: skip

    assert outcome.code == 2
    assert [problem["place"] for problem in outcome.document["problems"]] == places


def test_factors_below_min_isr_need_the_topic_by_name(capsys, snapshot):
    document = skewed_document()
    document["topics"][0]["configs"] = {"min.insync.replicas": "2"}
    write_document(document, Path(snapshot))
    command = ("plan", "set-replication-factor", snapshot, "--replication-factor", 1)

    refused = run(capsys, *command)
    named = run(capsys, *command, "--topic", "a", "--format", "json")

    assert refused.code == 2
    assert "min.insync.replicas 2" in refused.err
    # It is planned, and the checker says what it means.
    assert (named.code, named.document["status"]) == (3, "optimal")


@pytest.mark.parametrize(("name", "text"), [
    pytest.param("f.toml", '3 = "a"\n1 = ["b", "nothing"]', id="toml"),
    pytest.param("f.json", '{"3": "a", "1": ["b", "nothing"]}', id="json"),
])  # fmt: skip
def test_factors_by_topic_are_planned_checked_and_applied(capsys, snapshot, name, text):
    Path(name).write_text(text)
    what = ("set-replication-factor", "--replication-factors", name, *ROOMY)

    made = run(capsys, "plan", what[0], snapshot, *what[1:], "-o", "p")

    assert made.code == 0, made.err
    assert "'nothing' (1) matches no topic" in made.out
    document = json.loads(Path("p/plan.json").read_text())
    PlanRecord.model_validate(document)
    lists = lists_in(Path("p/reassignment.json"))
    assert {(t, len(row)) for (t, _), row in lists.items()} == {("a", 3), ("b", 1)}
    rows = moves_in(Path("p/moves.csv"))
    assert {row["kind"] for row in rows if row["topic"] == "b"} <= {"drop", "leader"}
    assert {row["from"] for row in rows if row["topic"] == "a"} == {""}
    assert run(capsys, "check", "p", "--snapshot", snapshot).code == 0
    assert run(capsys, "explain", "p").code == 0
    assert run(capsys, "snapshot", "apply", "p", snapshot, "-o", "after.json").code == 0
    assert run(capsys, "verify", "p", "--snapshot", "after.json").code == 0
    again = run(capsys, "plan", what[0], "after.json", *what[1:], "--format", "json")
    assert again.document["status"] == "nothing-to-do"


def test_kafkas_tool_may_not_have_the_same_file_for_another_operation(capsys, snapshot):
    what = ("set-replication-factor", snapshot, "--replication-factor", 3, *ROOMY)
    run(capsys, "plan", *what, "-o", "p")

    by_itself = run(capsys, "check", "p/reassignment.json", "--snapshot", snapshot)

    assert by_itself.code == 3
    assert "replication-factor" in by_itself.out


def test_python_sets_replication_factors():
    cluster = Snapshot.from_document(skewed_document())

    plan = planner.set_replication_factor(cluster, 1, topics="a")

    assert plan.status == "optimal"
    assert {row["topic"] for row in plan.moves.to_rows()} == {"a"}
    after = planner.apply_plan(plan, cluster)
    assert planner.set_replication_factor(after, 1, topics="a").status == (
        "nothing-to-do"
    )


def broken_document():
    """Return a cluster with a dead broker, a dead log dir and a factor of its own."""
    document = skewed_document()
    document["brokers"][0]["state"] = "dead"
    document["brokers"][1]["log_dirs"][0]["state"] = "offline"
    for topic in document["topics"]:
        for partition in topic["partitions"]:
            partition["leader"] = next(b for b in partition["replicas"] if b != 1)
    return document


def test_a_broken_cluster_is_repaired(capsys, snapshot):
    write_document(broken_document(), Path(snapshot))

    made = run(capsys, "plan", "fix", snapshot, *ROOMY, "-o", "p")

    assert made.code == 0, made.err + made.out
    document = json.loads(Path("p/plan.json").read_text())
    PlanRecord.model_validate(document)
    assert document["before"]["violations"]["offline_replicas"] > 0
    assert document["after"]["violations"]["offline_replicas"] == 0
    lists = lists_in(Path("p/reassignment.json"))
    assert all(1 not in replicas for replicas in lists.values())
    assert run(capsys, "check", "p", "--snapshot", snapshot).code == 0
    assert run(capsys, "snapshot", "apply", "p", snapshot, "-o", "after.json").code == 0
    again = run(capsys, "plan", "fix", "after.json", *ROOMY, "--format", "json")
    assert again.document["moves"]["replicas"] == 0


def test_a_repair_is_cut_into_waves(capsys, snapshot):
    document = broken_document()
    document["brokers"][0]["state"] = "alive"
    write_document(document, Path(snapshot))
    what = ("--only", "log-dirs", "--waves", *ROOMY, "-o", "p")

    made = run(capsys, "plan", "fix", snapshot, *what)

    assert made.code == 0, made.out
    assert run(capsys, "check", "p", "--snapshot", snapshot).code == 0


def test_what_has_two_defects_is_not_repaired_by_half(capsys, snapshot):
    write_document(broken_document(), Path(snapshot))

    made = run(capsys, "plan", "fix", snapshot, "--only", "offline", *ROOMY)

    # Some partitions have lost a log dir as well: these are named, and wait.
    assert made.code == 4
    assert "left alone, see the notes" in " ".join(made.out.split())


@pytest.mark.parametrize("defect", ["offline", "log-dirs", "racks"])
def test_one_kind_of_defect_is_repaired_alone(capsys, snapshot, defect):
    write_document(broken_document(), Path(snapshot))

    made = run(
        capsys, "plan", "fix", snapshot, "--only", defect, *ROOMY, "--format", "json"
    )

    assert made.document["settings"]["only"] == [defect]
    assert bool(made.document["moves"]["replicas"]) == (defect != "racks")


def test_python_repairs():
    cluster = Snapshot.from_document(broken_document())

    plan = planner.fix(cluster, only=["offline"], capacity_threshold={"disk": 1.0})

    assert {
        row["from"] for row in plan.moves.to_rows() if row["kind"] == "replica"
    } == {1}
