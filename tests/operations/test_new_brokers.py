"""Plans that count on brokers which do not exist yet."""

import json
from pathlib import Path

import pytest

import planner
from planner.plan.documents.cluster_fingerprint import fingerprint
from planner.plan.documents.plan_records import PlanRecord
from planner.snapshot import Snapshot
from support.commands import run
from support.plans import lists_in, skewed_document, write_document

ROOMY = (
    *("--capacity-threshold", "disk=1", "--capacity-threshold", "out=1"),
    *("--effort", "quick"),
)


@pytest.fixture
def snapshot(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_document(skewed_document(), tmp_path / "s.json").name


def grown_document(broker_id=7, rack="c", like=3):
    """Return the cluster once that broker has been started, empty."""
    document = skewed_document()
    (model,) = [one for one in document["brokers"] if one["id"] == like]
    came = json.loads(json.dumps(model))
    document["brokers"].append(came | {"id": broker_id, "rack": rack, "state": "new"})
    return document


def test_the_plan_is_the_one_that_the_real_broker_gets(capsys, snapshot):
    write_document(grown_document(), Path("grown.json"))

    promised = run(
        capsys, "plan", "add-brokers", snapshot,
        "--new-broker", "id=7,rack=c,like=3", *ROOMY, "-o", "p",
    )  # fmt: skip
    started = run(capsys, "plan", "add-brokers", "grown.json", *ROOMY, "-o", "q")

    assert (promised.code, started.code) == (0, 0), promised.err
    lists = lists_in(Path("p/reassignment.json"))
    assert lists == lists_in(Path("q/reassignment.json"))
    assert any(7 in replicas for replicas in lists.values())
    assert "broker 7 does not exist yet" in promised.out.replace("\n           ", " ")
    assert run(capsys, "check", "p", "--snapshot", "grown.json").code == 0


def test_until_it_is_there_the_broker_is_unknown(capsys, snapshot):
    run(
        capsys, "plan", "add-brokers", snapshot,
        "--new-broker", "id=7,rack=c,like=3", *ROOMY, "-o", "p",
    )  # fmt: skip

    checked = run(capsys, "check", "p", "--snapshot", snapshot, "--format", "json")

    assert checked.code == 3
    rules = {f["rule"] for f in checked.document["findings"] if not f["existing"]}
    assert rules == {"unknown-broker"}
    document = json.loads(Path("p/plan.json").read_text())
    PlanRecord.model_validate(document)
    known = Snapshot.from_document(skewed_document()).to_state()
    assert document["snapshot"]["fingerprint"] == fingerprint(known)
    assert document["settings"]["new_broker"] == ["id=7,rack=c,like=3"]
    assert [n["where"] for n in document["notes"] if n["what"] == "broker-to-come"] == [
        {"broker": 7}
    ]


def test_a_broker_that_is_to_come_replaces_another(capsys, snapshot):
    made = run(
        capsys, "plan", "replace-broker", snapshot, "--broker", 1, "--with", 9,
        "--new-broker", "id=9,like=1", *ROOMY, "-o", "p",
    )  # fmt: skip

    assert made.code == 0, made.err
    held = {
        (t["name"], p["partition"])
        for t in skewed_document()["topics"]
        for p in t["partitions"]
        if 1 in p["replicas"]
    }
    lists = lists_in(Path("p/reassignment.json"))
    assert set(lists) == held
    assert all(9 in replicas and 1 not in replicas for replicas in lists.values())


def test_named_brokers_and_those_to_come_are_filled_together():
    cluster = Snapshot.from_document(skewed_document())

    plan = planner.add_brokers(
        cluster,
        [6],
        new_brokers=["id=7,rack=c,like=3"],
        capacity_threshold={"disk": 1},
        effort="quick",
    )

    copies = [row for row in plan.moves.to_rows() if row["kind"] == "replica"]
    assert {row["to"] for row in copies} == {6, 7}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("id=1", id="taken"),
        pytest.param("rack=c", id="no-id"),
        pytest.param("id=1-3", id="several"),
        pytest.param("id=9,like=77", id="no-such-model"),
        pytest.param("id=9,disk=1", id="no-such-part"),
        pytest.param("id=9,id=10", id="twice"),
        pytest.param("9", id="no-pair"),
    ],
)
def test_a_bad_broker_to_come_is_refused(capsys, snapshot, text):
    outcome = run(
        capsys, "plan", "add-brokers", snapshot,
        "--new-broker", text, "--band", "x", "--format", "json",
    )  # fmt: skip

    assert outcome.code == 2
    places = sorted(problem["place"] for problem in outcome.document["problems"])
    assert places == ["--band", "--new-broker"]
