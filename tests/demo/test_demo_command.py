"""`demo`: what a newcomer meets first."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from placement.check import Finding, Where
from planner.demo import SNAPSHOT_FILE
from planner.plan.documents.plan_records import DemoRecord
from planner.plan.run import make_plan
from support.commands import run
from support.plans import contents

COMMAND = Path(sys.executable).with_name("kafka-planner")
FILES = {
    "RUNBOOK.md",
    "moves.csv",
    "plan.json",
    "preferred-election.json",
    "reassignment.json",
    "rollback.json",
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.not_quick
def test_screen_tells_the_story(here, capsys):
    found = run(capsys, "demo")

    text = " ".join(found.out.split())
    assert (found.code, found.err) == (0, "")
    assert max(map(len, found.out.splitlines())) <= 80
    for words in (
        'Demo "orders-eu": 12 brokers, 3 racks, 312 partitions RF 3, 5.4 TB.',
        "No Kafka is touched.",
        "1-9 104 34-35 47-81 % !b4",
        "10-12 new 0 0 0 %",
        "broker 4 over the 80 % disk threshold; 3 brokers empty. Racks ok, 0 offline.",
        "Plan add-brokers 10-12",
        "Survives any broker: yes. Any rack: yes",
        "Checked by separate code: 17 rules: ok",
        "Files demo-plan/: RUNBOOK.md moves.csv plan.json",
        "kafka-planner snapshot live --bootstrap-server H:9092 -o s.json",
    ):
        assert words in text
    said = json.loads((here / "demo-plan" / "plan.json").read_text())
    moves = said["moves"]
    assert f"copies {moves['replicas']} replicas, 1." in text
    assert re.search(
        r"proven: no plan can move under 1\.\d{4} TB \(gap under [\d.]+ %\)", text
    )
    assert f"leaders {moves['leaders']} change, after all copies" in text
    assert f"Verified as if it had run: {moves['partitions']} completed" in text


@pytest.mark.not_quick
def test_plan_is_good(here, capsys):
    run(capsys, "demo", "--quiet")

    said = json.loads((here / "demo-plan" / "plan.json").read_text())

    assert set(contents(here / "demo-plan")) == FILES
    assert said["before"]["resources"]["disk"]["brokers_over_threshold"] == 1
    assert said["after"]["resources"]["disk"]["brokers_over_threshold"] == 0
    assert said["after"]["violations"]["rack"] == 0
    assert said["certificate"]["bytes"]["gap"] < 0.01
    assert {row["broker"] for row in said["after"]["by_broker"]} == set(range(1, 13))


def test_one_document_as_json(here, capsys):
    found = run(capsys, "demo", "--format", "json")

    document = found.document
    DemoRecord.model_validate_json(found.out)
    assert (found.code, found.err) == (0, "")
    assert document["check"] == {"ok": True, "findings": []}
    assert document["verify"]["status"] == "completed"
    assert (
        document["verify"]["partitions"]["completed"]
        == (document["moves"]["partitions"])
    )
    for load in document["verify"]["loads"]:
        assert load["measured"] == pytest.approx(load["predicted"])
    del document["check"], document["verify"]
    assert document == json.loads((here / "demo-plan" / "plan.json").read_text())


@pytest.mark.not_quick
def test_again_gives_the_same_folder(here, capsys):
    run(capsys, "demo")
    first = contents(here / "demo-plan")
    (here / "demo-plan" / "stale").write_text("")

    assert run(capsys, "demo").code == 0

    assert contents(here / "demo-plan") == first


def test_elsewhere(here, capsys):
    assert run(capsys, "demo", "-o", here / "a" / "b").code == 0

    assert [path.name for path in here.iterdir()] == ["a"]
    assert set(contents(here / "a" / "b")) == FILES


@pytest.mark.parametrize("quiet", [False, True])
def test_what_stands_in_the_way_is_left_alone(quiet, here, capsys):
    (here / "demo-plan").write_text("mine")

    found = run(capsys, "demo", *(["--quiet"] if quiet else []))

    assert found.code == 0
    assert "Files" not in found.out
    note = "note: will not write demo-plan: the output exists and is not a plan folder"
    assert found.err == ("" if quiet else f"{note}\n")
    assert (here / "demo-plan").read_text() == "mine"


@pytest.mark.not_quick
def test_the_way_of_the_readme_on_the_bundled_snapshot(here, capsys):
    run(capsys, "demo")

    checked = run(capsys, "check", "demo-plan", "--snapshot", SNAPSHOT_FILE)
    verified = run(capsys, "verify", "demo-plan", "--snapshot", SNAPSHOT_FILE)

    assert checked.code == 0
    assert (verified.code, verified.out.split(":")[0]) == (3, "not-started")


@pytest.mark.not_quick
def test_an_objection_of_the_checker_is_heard(here, capsys, monkeypatch):
    def object_to(*_):
        return (Finding(rule="rack", where=Where(), message="too close"),)

    monkeypatch.setattr(make_plan, "check", object_to)

    found = run(capsys, "demo")

    assert found.code == 3
    assert "by separate code: not ok, 1 finding; first: too close" in found.out


def run_bare(code, cwd, **environment):
    keep = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=cwd,
        env=keep | environment,
        capture_output=True,
        text=True,
        check=False,
    )


LOADED = """
import sys
from planner.cli.main import _run
code = _run(["demo"], as_json=False)
heavy = {"numba", "pyspark", "pulp", "networkx", "polars", "kafka", "rich"}
print(code, sorted(heavy & set(sys.modules)), file=sys.stderr)
"""


@pytest.mark.slow
def test_nothing_heavy_is_loaded_but_the_solvers_of_the_proof(here):
    done = run_bare(LOADED, here)

    assert done.stderr == "0 []\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "environment"),
    [
        pytest.param(".", {}, id="no-home"),
        pytest.param(".", {"HOME": "/proc/nowhere"}, id="unwritable-home"),
        pytest.param("/proc/self", {"HOME": "/proc/nowhere"}, id="read-only-folder"),
    ],
)
def test_runs_where_nothing_can_be_written(folder, environment, here):
    code = (
        "from planner.cli.main import run; import sys; sys.argv[1:] = ['demo']; run()"
    )

    done = run_bare(code, folder, **environment)

    assert done.returncode == 0, done.stderr
    assert "17 rules: ok" in done.stdout
    is_noted = "note: will not write demo-plan" in done.stderr
    assert is_noted == (folder != ".")
