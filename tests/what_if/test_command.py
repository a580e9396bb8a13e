"""The command: its table, its document, its folders, and its exit codes."""

from pathlib import Path
from typing import Any

import pytest

from planner.demo import SNAPSHOT_FILE
from planner.snapshot import read_snapshot
from planner.text.format import SCREEN_WIDTH
from planner.what_if.what_if_records import WhatIfRecord
from support.commands import run
from support.plans import skewed_document, write_document

FAST = ("--jobs", "1", "--effort", "quick")
SCENARIOS = """
[[growth]]
per_month = 0.05

[[scenarios]]
name = "more traffic on everything there is, and a longer name"
changes = [{change = "traffic", factor = 1.2}]

[[scenarios]]
name = "rack b is lost"
then = "nothing"
changes = [{change = "lose", racks = ["b"]}]

[[sweeps]]
name = "how far"
traffic = {from = 1.0, to = 1.5, step = 0.5}
brokers = "12-13"
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    monkeypatch.chdir(tmp_path)
    Path("demo.json.gz").write_bytes(SNAPSHOT_FILE.read_bytes())
    Path("s.toml").write_text(SCENARIOS)
    return "demo.json.gz", "s.toml"


def test_the_screen_fits_and_says_what_holds(capsys, files):
    outcome = run(capsys, "what-if", *files, *FAST)

    lines = outcome.out.splitlines()
    assert max(map(len, lines)) <= SCREEN_WIDTH
    assert outcome.code == 3
    table = [line for line in lines if line.startswith(("!", " "))]
    assert any(line.startswith("!rack b is lost") for line in table)
    assert any("more traffic on …" in line for line in table)
    assert "how far: most traffic that holds: 12 brokers:" in outcome.out
    assert "does not hold; " in outcome.out


def test_unknown_values_are_not_zero(capsys, tmp_path: Path):
    document = skewed_document()
    for topic in document["topics"]:
        for partition in topic["partitions"]:
            del partition["size_bytes"]
    path = write_document(document, tmp_path / "s.json")
    scenarios = tmp_path / "s.toml"
    scenarios.write_text(
        "[prices]\ncross_rack_gb = 0.01\n[[scenarios]]\nname = 'one fewer'\n"
        "changes = [{change = 'remove-brokers', brokers = '6'}]\n"
    )

    screen = run(capsys, "what-if", path, scenarios, *FAST)
    told = run(capsys, "what-if", path, scenarios, *FAST, "--format", "json")

    starts = (" one fewer ", "!one fewer ")
    line = next(row for row in screen.out.splitlines() if row.startswith(starts))
    assert line.split()[-5:-2] == ["0", "?", "?"]
    WhatIfRecord.model_validate(told.document)
    (row,) = told.document["scenarios"]
    assert row["copies"]["replicas"] > 0
    figures = ("bytes", "seconds", "least_bytes", "cross_rack_bytes")
    assert {row["copies"][name] for name in figures} == {None}
    assert row["price"]["copying"] is None


def test_an_unknown_use_has_a_reason(capsys, files):
    Path("n.toml").write_text(
        "[[scenarios]]\nname = 'blind'\nthen = 'nothing'\n"
        "changes = [{change = 'new-topic', name = 'x', partitions = 400, "
        "writes = '1MB/s'}]\n"
    )

    outcome = run(capsys, "what-if", files[0], "n.toml", *FAST)

    said = " ".join(outcome.out.split())
    why = "is known for 44 % of the partitions, too few to tell its use"
    assert f"blind: disk {why}" in said
    assert f"blind: out {why}" in said
    assert f"in {why}" not in said


def test_the_document_has_its_shape(capsys, files):
    outcome = run(capsys, "what-if", *files, *FAST, "--format", "json")

    found = WhatIfRecord.model_validate(outcome.document)
    assert [row.name for row in found.scenarios][:2] == [
        "more traffic on everything there is, and a longer name",
        "rack b is lost",
    ]
    assert found.today.full is not None
    assert found.scenarios[1].survives.rack.survives is False
    planned = found.scenarios[0]
    assert planned.is_checked is True
    assert planned.copies.least_bytes is not None
    assert planned.copies.bytes >= planned.copies.least_bytes


def test_each_scenario_gets_a_plan_that_checks(capsys, files, tmp_path):
    run(capsys, "what-if", *files, *FAST, "-o", "out")

    folders = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert folders == [
        "how-far-traffic-1-12-brokers",
        "how-far-traffic-1-13-brokers",
        "how-far-traffic-1.5-12-brokers",
        "how-far-traffic-1.5-13-brokers",
        "more-traffic-on-everything-there-is-and-a-longer-name",
    ]
    for name in folders:
        folder = tmp_path / "out" / name
        cluster = folder / "cluster.json.gz"
        outcome = run(capsys, "check", folder / "plan", "--snapshot", cluster)
        assert outcome.code == 0, outcome.out


def test_the_plan_is_what_planning_the_written_cluster_says(capsys, files, tmp_path):
    name = "more traffic on everything there is, and a longer name"
    run(capsys, "what-if", *files, *FAST, "--scenario", name, "-o", "out")
    (folder,) = (tmp_path / "out").iterdir()

    words = ("plan", "rebalance", folder / "cluster.json.gz", "--effort", "quick")
    run(capsys, *words, "-o", "again")

    # Features, versions, configs and the quorum are those of today.
    today, written = read_snapshot(Path(files[0])), folder / "cluster.json.gz"
    assert read_snapshot(written).header() == today.header()
    told = (folder / "plan" / "reassignment.json").read_text()
    assert (tmp_path / "again" / "reassignment.json").read_text() == told
    assert '"partitions"' in told


def test_nothing_is_written_over_what_is_no_plan(capsys, files, tmp_path):
    other = tmp_path / "out" / "how-far-traffic-1-12-brokers" / "plan"
    other.mkdir(parents=True)
    (other / "mine").touch()

    outcome = run(capsys, "what-if", *files, "-o", "out")

    assert outcome.code == 2
    assert [path.name for path in (tmp_path / "out").iterdir()] == [other.parent.name]


@pytest.mark.not_quick
@pytest.mark.parametrize(
    ("changes", "code"),
    [
        pytest.param('{change = "traffic", factor = 1.0}', 0, id="holds"),
        pytest.param('{change = "traffic", factor = 99.0}', 4, id="no-plan-can"),
    ],
)
def test_exit_codes(capsys, tmp_path, changes: str, code: int):
    snapshot = write_document(skewed_document(), tmp_path / "s.json")
    path = tmp_path / "s.toml"
    path.write_text(f'[[scenarios]]\nname = "s"\nchanges = [{changes}]\n')

    assert run(capsys, "what-if", snapshot, path, *FAST).code == code


@pytest.mark.parametrize(
    "option",
    [
        ("--effort", "much"),
        ("--growth", "fast"),
        ("--bandwidth", "0"),
        ("--bandwidth", "x"),
        ("--band", "x=1"),
    ],
    ids=" ".join,
)
def test_bad_options_are_refused(capsys, files, option: tuple[str, str]):
    outcome: Any = run(capsys, "what-if", *files, *option)

    assert outcome.code == 2
    assert option[0] in outcome.err
