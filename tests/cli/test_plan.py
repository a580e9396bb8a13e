"""`plan …` as a shell sees it, and what other commands make of its folders."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from placement.check import Finding, Where
from planner.plan.documents.check_records import CheckRecord, VerifyRecord
from planner.plan.documents.plan_records import ErrorRecord, PlanRecord
from planner.plan.run import make_plan
from support.commands import run
from support.plans import (
    contents,
    lists_in,
    lists_of_document,
    skewed_document,
    write_document,
)
from support.profile import sampled

GOALS = [
    pytest.param(["rebalance"], id="rebalance"),
    pytest.param(["add-brokers"], id="add-brokers"),
    pytest.param(["remove-brokers", "--broker-list", "1"], id="remove-brokers"),
    pytest.param(["rebalance", "--with-log-dirs"], id="rebalance-with-log-dirs"),
    pytest.param(
        ["remove-brokers", "--broker-list", "1", "--with-log-dirs"],
        id="remove-brokers-with-log-dirs",
    ),
    pytest.param(
        ["set-replication-factor", "--replication-factor", "3", "--with-log-dirs"],
        id="set-replication-factor-with-log-dirs",
    ),
    pytest.param(["leaders"], id="leaders"),
    pytest.param(["log-dirs", "--band", "0.02", "--empty", "1:/d1"], id="log-dirs"),
    pytest.param(["leaders", "--order-followers"], id="leaders-and-followers"),
]


@pytest.fixture(autouse=True)
def effort(request, monkeypatch):
    """Plan quickly, except where a whole way is gone: there as users do."""
    if "goal" not in request.fixturenames:
        monkeypatch.setenv("PLANNER_EFFORT", "quick")


@pytest.fixture
def document():
    return skewed_document()


@pytest.fixture
def snap(document, tmp_path):
    return write_document(document, tmp_path / "s.json")


@pytest.mark.slow
@pytest.mark.parametrize("goal", sampled(GOALS))
def test_the_whole_way(goal, document, snap, tmp_path, capsys):
    plan, after, again = tmp_path / "p", tmp_path / "after.json", tmp_path / "p2"

    made = run(capsys, "plan", goal[0], snap, *goal[1:], "-o", plan)
    checked = run(capsys, "check", plan, "--snapshot", snap, "--format", "json")
    early = run(capsys, "verify", plan, "--snapshot", snap, "--format", "json")
    run(capsys, "snapshot", "apply", plan, snap, "-o", after)
    done = run(capsys, "verify", plan, "--snapshot", after, "--format", "json")
    second = run(capsys, "plan", goal[0], after, *goal[1:], "-o", again, "--quiet")

    assert (made.code, made.err) == (0, "")
    assert (checked.code, CheckRecord.model_validate(checked.document).ok) == (0, True)
    # Where a list stays, its log dirs are still to come.
    assert (early.code, early.document["status"]) == (3, "not-started")
    assert (done.code, done.document["status"]) == (0, "completed")
    VerifyRecord.model_validate_json(done.out)
    assert second.code == 0
    said = json.loads((again / "plan.json").read_text())
    assert said["status"] == "nothing-to-do"
    assert lists_in(again / "reassignment.json") == {}
    assert json.loads((again / "preferred-election.json").read_text()) == {
        "partitions": []
    }


def _placed(document):
    """Lists and log dirs of every partition."""
    return [
        (topic["name"], one["partition"], one["replicas"], one.get("log_dirs"))
        for topic in document["topics"]
        for one in topic["partitions"]
    ]


@pytest.mark.slow
@pytest.mark.parametrize("goal", GOALS)
def test_rollback_is_the_way_back(goal, document, snap, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("PLANNER_EFFORT", "quick")
    plan, after, back = tmp_path / "p", tmp_path / "after.json", tmp_path / "back.json"
    run(capsys, "plan", goal[0], snap, *goal[1:], "-o", plan)
    run(capsys, "snapshot", "apply", plan, snap, "-o", after)
    assert _placed(json.loads(after.read_text())) != (_placed(document))

    run(capsys, "snapshot", "apply", plan / "rollback.json", after, "-o", back)

    assert _placed(json.loads(back.read_text())) == (_placed(document))


def test_stdout_is_plan_json_and_what_was_measured(snap, tmp_path, capsys):
    found = run(
        capsys, "plan", "rebalance", snap, "-o", tmp_path / "p", "--format", "json"
    )

    document = found.document
    PlanRecord.model_validate(document)
    seconds, peak = document.pop("seconds"), document.pop("peak_memory_bytes")
    assert (found.code, found.err) == (0, "")
    assert document == json.loads((tmp_path / "p" / "plan.json").read_text())
    assert set(seconds) == {"read", "solve", "bound", "write", "total"}
    assert 0 < max(seconds.values()) == seconds["total"]
    assert peak > 10_000_000


@pytest.mark.parametrize("format_", ["text", "json"])
def test_nothing_is_written_without_an_output(
    format_, snap, tmp_path, capsys, monkeypatch
):
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    before = sorted(tmp_path.rglob("*"))

    found = run(capsys, "plan", "rebalance", snap, "--format", format_)

    assert found.code == 0
    assert sorted(tmp_path.rglob("*")) == before
    assert ("nothing written" in found.err) == (format_ == "text")


def test_quiet_says_no_words(snap, capsys):
    assert run(capsys, "plan", "rebalance", snap, "--quiet").err == ""


BAD_OPTIONS = {
    "--band": ["0.1x", "disk=-1", "nan", "colour=0.1"],
    "--capacity-threshold": ["0.7", "disk=0", "replicas=0.5", "cpu=1.1"],
    "--resources": ["disk,colour"],
    "--topic": ["nope"],
    "--topics": ["("],
    "--exclude-topics": ["["],
    "--destination-broker-list": ["77"],
    "--exclude-brokers-for-replicas": ["1-"],
    "--exclude-brokers-for-leaders": ["3-1"],
    "--broker-list": ["1,1"],
}


def test_every_bad_option_is_named_at_once(snap, tmp_path, capsys):
    given = [w for o, values in BAD_OPTIONS.items() for v in values for w in (o, v)]

    found = run(
        capsys, "plan", "remove-brokers", snap, *given, "-o", tmp_path / "p",
        "--format", "json",
    )  # fmt: skip

    ErrorRecord.model_validate(found.document)
    named = {
        (problem["place"], problem["value"]) for problem in found.document["problems"]
    }
    wrong = {(option, v) for option, values in BAD_OPTIONS.items() for v in values}
    # Of these only the part that is wrong is shown.
    wrong -= {("--band", "colour=0.1"), ("--resources", "disk,colour")}
    wrong |= {("--band", "colour"), ("--resources", "colour")}
    assert found.code == 2
    assert named == wrong
    assert all(problem["remedy"] for problem in found.document["problems"])
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        pytest.param(["remove-brokers"], "--broker-list", id="nobody-leaves"),
        pytest.param(
            ["add-brokers", "--broker-list", "2,5"], "--broker-list", id="a-dead-one"
        ),
        pytest.param(["add-brokers"], "--broker-list", id="none-is-new"),
    ],
)
def test_brokers_an_operation_cannot_use(arguments, place, document, tmp_path, capsys):
    document["brokers"][4]["state"] = "dead"
    document["brokers"][5]["state"] = "alive"
    snap = write_document(document, tmp_path / "s.json")

    found = run(capsys, "plan", arguments[0], snap, *arguments[1:], "--format", "json")

    assert found.code == 2
    assert [problem["place"] for problem in found.document["problems"]] == [place]


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["plan", "rebalance"], id="no-snapshot"),
        pytest.param(["plan", "rebalance", "nowhere.json"], id="no-such-file"),
        pytest.param(["plan", "rebalance", "s.json", "--colour", "red"], id="unknown"),
        pytest.param(["plan", "rebalance", "s.json", "--effort", "most"], id="effort"),
    ],
)
def test_misuse_is_one_document(arguments, snap, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)

    found = run(capsys, *arguments, "--format", "json")

    assert found.code == 2
    assert found.err == ""
    assert ErrorRecord.model_validate(found.document).problems


@pytest.mark.parametrize("format_", ["text", "json"])
def test_an_output_that_is_no_plan_is_refused(format_, snap, tmp_path, capsys):
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "mine").write_text("mine")

    found = run(
        capsys, "plan", "rebalance", snap, "-o", tmp_path / "p", "--format", format_
    )

    assert found.code == 2
    assert contents(tmp_path / "p") == {"mine": b"mine"}
    assert (found.out == "") == (format_ == "text")


def test_a_plan_is_replaced(snap, tmp_path, capsys):
    for goal in ("rebalance", "add-brokers"):
        run(capsys, "plan", goal, snap, "-o", tmp_path / "p")
        (tmp_path / "p" / "stale").write_text("")

    run(capsys, "plan", "rebalance", snap, "-o", tmp_path / "p")

    assert json.loads((tmp_path / "p" / "plan.json").read_text())["goal"] == "rebalance"
    assert "stale" not in contents(tmp_path / "p")


def test_options_come_from_the_environment(snap, tmp_path, capsys, monkeypatch):
    for name, value in {
        "FORMAT": "json",
        "OUTPUT": str(tmp_path / "p"),
        "BAND": "0.3 disk=0.2",
        "BROKER_LIST": "1-2",
        "SEED": "7",
        "EXCLUDE_TOPICS": "b.*",
        "RESOURCES": "disk,replicas",
    }.items():
        monkeypatch.setenv(f"PLANNER_{name}", value)

    found = run(capsys, "plan", "remove-brokers", snap)

    settings = found.document["settings"]
    assert settings["band"]["disk"] == 0.2
    assert settings["band"]["in"] == 0.3
    assert settings["broker_list"] == [1, 2]
    assert settings["seed"] == 7
    assert settings["exclude_topics"] == "b.*"
    assert settings["resources"] == ["disk", "replicas"]
    assert (tmp_path / "p" / "plan.json").exists()


def test_a_band_for_one_resource_wins_wherever_it_stands(snap, capsys):
    found = run(
        capsys, "plan", "rebalance", snap, "--band", "disk=0.2", "--band", "0.3",
        "--format", "json",
    )  # fmt: skip

    bands = found.document["settings"]["band"]
    assert (bands.pop("disk"), set(bands.values())) == (0.2, {0.3})


@pytest.mark.parametrize("option", ["--topic", "--topics"])
def test_only_chosen_topics_move(option, snap, tmp_path, capsys):
    run(capsys, "plan", "rebalance", snap, option, "a", "-o", tmp_path / "p")

    moved = lists_in(tmp_path / "p" / "reassignment.json")
    assert {topic for topic, _ in moved} == {"a"}


def test_excluded_topics_and_brokers_stay_out(snap, document, tmp_path, capsys):
    before = lists_of_document(document)
    checked = run(
        capsys, "plan", "rebalance", snap, "--exclude-topics", "b",
        "--destination-broker-list", "3-6", "--exclude-brokers-for-replicas", "6",
        "--exclude-brokers-for-leaders", "3", "-o", tmp_path / "p",
    )  # fmt: skip

    moved = lists_in(tmp_path / "p" / "reassignment.json")
    added = {
        b for key, brokers in moved.items() for b in set(brokers) - set(before[key])
    }
    assert checked.code == 0
    assert moved
    assert {topic for topic, _ in moved} == {"a"}
    assert added <= {3, 4, 5}
    assert all(now[0] == before[key][0] for key, now in moved.items() if now[0] == 3)
    assert run(capsys, "check", tmp_path / "p", "--snapshot", snap).code == 0


def test_too_few_brokers_are_a_result(document, snap, tmp_path, capsys):
    found = run(
        capsys, "plan", "remove-brokers", snap, "--broker-list", "1-4",
        "-o", tmp_path / "p", "--format", "json",
    )  # fmt: skip

    missing = found.document["shortfalls"]
    wide = {
        key for key, brokers in lists_of_document(document).items() if len(brokers) > 2
    }
    assert (found.code, found.document["status"]) == (4, "infeasible")
    assert {(m["where"]["topic"], m["where"]["partition"]) for m in missing} >= wide
    assert {(m["what"], m["have"], m["need"]) for m in missing} == {("brokers", 2, 3)}
    PlanRecord.model_validate(found.document)
    reason = found.document["reason"]
    assert (reason["rules"], reason["is_proven"]) == ([], True)
    assert (
        json.loads((tmp_path / "p" / "plan.json").read_text())["status"] == "infeasible"
    )
    assert lists_in(tmp_path / "p" / "reassignment.json")


def test_too_few_brokers_on_the_screen(snap, capsys):
    found = run(capsys, "plan", "remove-brokers", snap, "--broker-list", "1-4")

    assert found.code == 4
    assert "remove-brokers 1-4, band 10 %: infeasible" in found.out
    assert "needs 3 places on brokers, 2 can be had" in found.out


def test_the_next_command_runs_as_it_stands(document, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = Path("a folder of some length, with spaces")
    folder.mkdir()
    write_document(document, folder / "snap.json")

    found = run(capsys, "plan", "rebalance", folder / "snap.json", "-o", folder / "p")

    lines = found.out.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("Next"))
    shell = "\n".join(lines[start:]).removeprefix("Next").strip()
    words = subprocess.run(
        ["sh", "-c", f"printf '%s\n' {shell}"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert words == ["cat", str(folder / "p" / "RUNBOOK.md")]
    assert Path(words[1]).read_text().startswith("# Runbook")


def test_an_objection_of_the_checker_is_a_finding(snap, tmp_path, capsys, monkeypatch):
    finding = Finding(rule="rack", where=Where(), message="too close")
    monkeypatch.setattr(make_plan, "check", lambda *_: (finding,))

    found = run(capsys, "plan", "rebalance", snap, "-o", tmp_path / "p")

    assert found.code == 3
    assert "by separate code: not ok, 1 finding; first: too close" in found.out


def test_a_topic_made_anew_makes_a_plan_stale(document, snap, tmp_path, capsys):
    run(capsys, "plan", "rebalance", snap, "-o", tmp_path / "p")
    document["topics"][1]["topic_id"] = "another"
    now = write_document(document, tmp_path / "now.json")

    found = run(capsys, "check", tmp_path / "p", "--snapshot", now, "--format", "json")

    stale = [f for f in found.document["findings"] if f["rule"] == "stale"]
    assert found.code == 3
    assert {finding["where"]["topic"] for finding in stale} == {"b"}


def test_a_refused_snapshot_writes_nothing(document, tmp_path, capsys):
    document["topics"][0]["partitions"][0]["replicas"] = [1, 1]
    snap = write_document(document, tmp_path / "s.json")

    found = run(capsys, "plan", "rebalance", snap, "-o", tmp_path / "p")

    assert found.code == 2
    assert not (tmp_path / "p").exists()


def test_parquet_is_planned_like_json(snap, tmp_path, capsys):
    run(capsys, "snapshot", "convert", snap, "-o", tmp_path / "s")
    shutil.copy(snap, tmp_path / "copy.json")

    for name in ("s", "copy.json"):
        run(capsys, "plan", "rebalance", tmp_path / name, "-o", tmp_path / f"p-{name}")

    assert contents(tmp_path / "p-s") == contents(tmp_path / "p-copy.json")


def test_leaders_are_even_and_that_is_proven(snap, capsys):
    made = run(capsys, "plan", "leaders", snap, "--format", "json")

    document = PlanRecord.model_validate(made.document)
    assert made.code == 0
    assert document.moves.replicas == document.moves.bytes == 0
    counts = [row.leaders.load for row in document.after.by_broker if row.replicas.load]
    assert max(counts) - min(counts) <= 1
    assert document.certificate.most_led.gap == 0
    proof = document.certificate.leaders.proof
    assert (proof.kind, len(proof.model_extra["brokers"])) == ("flow-dual", len(counts))


def test_order_decides_nothing_on_disks(snap, capsys):
    refused = run(
        capsys, "plan", "leaders", snap, "--resources", "disk,out", "--format", "json"
    )

    problem = ErrorRecord.model_validate(refused.document).problems[0]
    assert refused.code == 2
    assert (problem.place, problem.value) == ("--resources", "disk")


def test_log_dirs_are_named_where_replicas_move(snap, tmp_path, capsys):
    plan = tmp_path / "p"

    made = run(
        capsys,
        *("plan", "log-dirs", snap, "--empty", "1-2:/d2", "-o", plan),
        *("--format", "json"),
    )

    document = PlanRecord.model_validate(made.document)
    assert (made.code, document.moves.replicas, document.moves.bytes) == (0, 0, 0)
    entries = json.loads((plan / "reassignment.json").read_text())["partitions"]
    goes = [
        (broker, path)
        for entry in entries
        for broker, path in zip(entry["replicas"], entry["log_dirs"], strict=True)
        if path != "any"
    ]
    assert len(goes) == document.moves.log_dirs > 0
    assert {path for broker, path in goes if broker in {1, 2}} == {"/d1"}
    rows = (plan / "log-dirs.csv").read_text().splitlines()
    assert len(rows) == 1 + len(goes)
    assert document.certificate.log_dir_bytes.value == document.moves.log_dir_bytes
    after = {(row.broker, row.log_dir): row.after for row in document.log_dirs}
    assert (after[1, "/d2"], after[2, "/d2"]) == (0, 0)
    back = json.loads((plan / "rollback.json").read_text())["partitions"]
    assert all("any" not in entry["log_dirs"] for entry in back)


@pytest.mark.parametrize(
    ("options", "places"),
    [
        pytest.param(["--empty", "1:/d9"], ["--empty"], id="no-such-dir"),
        pytest.param(["--empty", "/d1"], ["--empty"], id="no-broker"),
        pytest.param(["--empty", "1:d1"], ["--empty"], id="no-absolute-path"),
        pytest.param(["--empty", "x:/d1"], ["--empty"], id="no-broker-id"),
        pytest.param(
            ["--waves", "--resources", "in", "--empty", "77:/d1"],
            ["--resources", "--empty"],
            id="all-at-once",
        ),
    ],
)
def test_log_dirs_that_are_not_there(options, places, snap, capsys):
    refused = run(capsys, "plan", "log-dirs", snap, *options, "--format", "json")

    problems = ErrorRecord.model_validate(refused.document).problems
    assert refused.code == 2
    assert [problem.place for problem in problems] == places
