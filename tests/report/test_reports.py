"""Reports: what is in them, by whom it is worded, and what is refused."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec

import pytest

from placement.operations.descriptor import OPERATIONS
from planner import extras
from planner.demo import SNAPSHOT_FILE
from planner.kafka_files.reassignment_file import ReassignmentFile
from planner.plan.documents.plan_records import PlanRecord, ProofKind
from planner.plan.folder.moves_file import MoveRow
from planner.report.charts.load_pictures import Levels, Limits, load_pictures
from planner.report.charts.vega_charts import svg_of
from planner.report.html_page import html_of
from planner.report.pages.blocks import Page, Section
from planner.report.pages.certificate_words import PROOFS
from planner.report.pages.move_blocks import (
    MOST_MOVES,
    browsed_moves,
    matrix_picture,
    move_blocks,
)
from planner.report.pages.plan_folder_facts import read_facts
from planner.report.pages.plan_page import MEANINGS, plan_page
from planner.report.plan_estimates import estimate_lines
from planner.snapshot import read_snapshot
from planner.text.format import bytes_text, percent_text
from support.commands import run
from support.report_pages import Tags, check_page, facts


@pytest.fixture(scope="module")
def plan_folder(tmp_path_factory):
    """Return a plan of the demo in waves, with its report."""
    from planner.cli.main import _run

    folder = tmp_path_factory.mktemp("report") / "plan"
    words = ["plan", "rebalance", str(SNAPSHOT_FILE), "--waves", "--report"]
    assert _run([*words, "-o", str(folder)], as_json=False) == 0
    return folder


@pytest.fixture(scope="module")
def page(plan_folder):
    return (plan_folder / "report.html").read_text(encoding="utf-8")


def test_a_page_runs_its_own_style_and_script_and_loads_nothing(page):
    check_page(page)


@pytest.mark.not_quick
def test_a_report_has_the_words_of_the_screen(capsys, page):
    screen = run(capsys, "plan", "rebalance", SNAPSHOT_FILE, "--waves").out
    joined = " ".join(screen.split())

    found = facts(page)

    for label in ("copies", "leaders", "time", "waves", "Survives"):
        assert f"{label} {found[label.lower()]}" in joined
    assert f"Checked {found['checked']}" in joined
    assert f"Wrong {found['wrong before']}" in joined
    assert "; 3 brokers empty. " in found["wrong before"]
    assert "rebalance, band 10 %: optimal" in joined
    assert "rebalance, band 10 %: optimal. " in page


@pytest.mark.not_quick
def test_a_report_of_the_folder_and_its_snapshot_is_the_one_in_the_folder(
    capsys, plan_folder, page, tmp_path
):
    again = tmp_path / "again.html"

    options = ["--snapshot", SNAPSHOT_FILE, "-o", again]
    outcome = run(capsys, "report", plan_folder, *options)

    assert outcome.code == 0
    assert again.read_text(encoding="utf-8") == page


@pytest.mark.not_quick
def test_a_plan_that_was_not_checked_is_not_said_to_be(capsys, plan_folder, tmp_path):
    written = tmp_path / "plan.html"

    run(capsys, "report", plan_folder, "-o", written)

    found = facts(written.read_text(encoding="utf-8"))
    assert found["checked"].startswith("not for this report")
    for name in ("time", "survives"):
        assert found[name] == "unknown for this report; give --snapshot SNAP"


def test_the_charts_have_the_numbers_of_the_document(plan_folder):
    document = json.loads((plan_folder / "plan.json").read_text())
    pictures = {each.name: each for each in plan_page(read_facts(plan_folder)).pictures}

    disk = pictures["brokers-disk"]

    for number, (before, after) in enumerate(
        zip(*(document[side]["by_broker"] for side in ("before", "after")), strict=True)
    ):
        cell = after["disk"]
        assert disk.now[number] == round(100 * cell["use"], 3)
        assert disk.before[number] == round(100 * before["disk"]["use"], 3)
        target = 100 * cell["target"] / cell["capacity"]
        assert disk.target[number] == pytest.approx(target, abs=1e-3)
        assert disk.lower[number] == pytest.approx(0.9 * target, abs=1e-3)
        assert disk.upper[number] == pytest.approx(1.1 * target, abs=1e-3)
    assert set(disk.threshold) == {80.0}
    racks = pictures["racks-replicas"]
    assert sum(racks.now) == document["after"]["replicas"]
    matrix = pictures["moves-matrix"]
    assert sum(size for *_, size, _ in matrix.cells) == document["moves"]["bytes"]
    assert sum(copies for *_, copies in matrix.cells) == document["moves"]["replicas"]


@pytest.mark.parametrize(
    ("topic", "partition", "broker"),
    [("none", 0, 1), ("logs.app", 10_000, 1), ("logs.app", 0, 99)],
    ids=["topic", "partition", "broker"],
)
def test_lists_that_do_not_fit_the_cluster_have_no_estimate(topic, partition, broker):
    state = read_snapshot(SNAPSHOT_FILE).to_state()
    document = {"settings": {}, "moves": {"bytes": 1}}
    other = ReassignmentFile(("logs.app",), (1,), ((1, 2, 3),), (None,))
    wrong = ReassignmentFile((topic,), (partition,), ((broker, 2, 3),), (None,))

    assert [name for name, _ in estimate_lines(document, other, None, state, [])] == [
        "time",
        "survives",
    ]
    assert estimate_lines(document, wrong, None, state, []) == ()


def test_the_chart_of_waves_has_their_bytes_and_fullest_disks(plan_folder):
    waves = json.loads((plan_folder / "waves/waves.json").read_text())["waves"]
    pictures = {each.name: each for each in plan_page(read_facts(plan_folder)).pictures}

    timeline = pictures["waves-timeline"]

    svg = svg_of(timeline)
    for bar, wave in zip(timeline.bars, waves, strict=True):
        disk = wave["fullest_disk"]
        size = bytes_text(wave["bytes"])
        assert bar.note == f"{size}, b{disk['broker']} {percent_text(disk['use'])}"
        assert bar.note in svg


def operation_words(tmp_path, name):
    """Return the words of a plan command of an operation on the demo."""
    own = {
        "add-brokers": ["--broker-list", "10,11,12"],
        "remove-brokers": ["--broker-list", "3"],
        "replace-broker": ["--broker", "3", "--with", "12"],
        "swap": ["--brokers", "3,5"],
        "demote": ["--broker-list", "4"],
        "set-replication-factor": ["--replication-factor", "2"],
        "new-topic": ["--topic", "t", "--partitions", "6", "--replication-factor", "3"],
        "add-partitions": ["--topic", "orders.placed", "--partitions", "18"],
    }
    return ["plan", name, SNAPSHOT_FILE, *own.get(name, []), "-o", tmp_path / "plan"]


@pytest.mark.slow
@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_has_a_report(capsys, tmp_path, monkeypatch, name):
    monkeypatch.setenv("PLANNER_EFFORT", "quick")
    outcome = run(capsys, *operation_words(tmp_path, name), "--report")

    assert outcome.code in {0, 3, 4}, outcome.err
    page = (tmp_path / "plan/report.html").read_text(encoding="utf-8")
    assert f"<title>Plan: {name} on orders-eu</title>" in page
    assert facts(page)["checked"].startswith("by separate code")
    assert ("survives" in facts(page)) == (name not in {"new-topic", "add-partitions"})
    again = tmp_path / "again.html"
    options = ["--snapshot", SNAPSHOT_FILE, "-o", again]
    assert run(capsys, "report", tmp_path / "plan", *options).code == 0
    assert again.read_text(encoding="utf-8") == page


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("plan.json", '{"format": "kafka-planner/plan"}', "settings"),
        ("waves/waves.json", "{}", "certificate"),
        ("waves/waves.json", '{"waves": [{"number": "one"}]}', "waves"),
        ("preferred-election.json", '{"partitions": 5}', "partitions"),
    ],
    ids=["plan", "waves", "a wave", "election"],
)
def test_a_document_of_a_plan_that_lacks_something_is_refused(
    capsys, plan_folder, tmp_path, name, text, place
):
    folder = tmp_path / "plan"
    shutil.copytree(plan_folder, folder)
    (folder / name).write_text(text)

    outcome = run(capsys, "report", folder, "-o", tmp_path / "x.html")

    assert outcome.code == 2
    assert f"{folder / name}: {place}" in outcome.err
    assert "give a plan folder that a plan command wrote" in outcome.err


def test_a_report_needs_the_folder_of_a_plan(capsys):
    outcome = run(capsys, "plan", "rebalance", SNAPSHOT_FILE, "--report")

    assert outcome.code == 2
    assert "--report: report.html is written where -o writes" in outcome.err
    assert "-o PLAN" in outcome.err


@pytest.mark.parametrize(
    "words",
    [
        ["report", SNAPSHOT_FILE, "-o", "x.html"],
        ["plan", "rebalance", SNAPSHOT_FILE, "-o", "plan", "--report"],
    ],
    ids=["report", "plan"],
)
def test_a_missing_extra_is_one_line_with_the_command(
    capsys, monkeypatch, tmp_path, words
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(extras, "find_spec", lambda _: None)

    outcome = run(capsys, *words)

    assert outcome.code == 2
    error, *more = outcome.err.splitlines()
    assert "python -m pip install 'kafka-planner[report]'" in error
    assert "Altair, vl-convert, Jinja2 are not installed" in error
    assert list(tmp_path.iterdir()) == []
    assert len(more) == 1


def test_only_what_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(
        extras,
        "find_spec",
        lambda name: None if name == "jinja2" else find_spec(name),
    )

    with pytest.raises(ValueError, match=r": Jinja2 is not installed; install"):
        extras.REPORT.require()


@pytest.mark.parametrize(
    ("inputs", "options", "rule"),
    [
        pytest.param(["plan", "snap"], [], "must be the only input", id="two"),
        pytest.param(
            ["snap"], ["--snapshot", "snap"], "only a plan folder", id="check"
        ),
        pytest.param(["nothing.json"], [], "cannot be read", id="nothing"),
    ],
)
def test_inputs_that_do_not_go_together_are_refused(
    capsys, plan_folder, tmp_path, inputs, options, rule
):
    paths = {"plan": plan_folder, "snap": SNAPSHOT_FILE}
    words = [paths.get(word, word) for word in (*inputs, *options)]

    outcome = run(capsys, "report", *words, "-o", tmp_path / "x.html")

    assert outcome.code == 2
    assert rule in outcome.err
    assert not (tmp_path / "x.html").exists()


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        pytest.param("moves.csv", None, "must have this file", id="no-moves"),
        pytest.param("moves.csv", "a,b\n", "the columns must be", id="columns"),
        pytest.param("plan.json", "{}", '"format" must be', id="format"),
        pytest.param("plan.json", "[]", "must be a JSON object", id="list"),
        pytest.param("waves/waves.json", "{", "must be JSON", id="waves"),
    ],
)
def test_a_broken_folder_is_named_by_its_file(
    capsys, plan_folder, tmp_path, name, text, rule
):
    for kept in ("plan.json", "moves.csv", "waves/waves.json"):
        path = tmp_path / "plan" / kept
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((plan_folder / kept).read_text())
    (tmp_path / "plan" / name).unlink()
    if text is not None:
        (tmp_path / "plan" / name).write_text(text)

    outcome = run(capsys, "report", tmp_path / "plan", "-o", tmp_path / "x.html")

    assert outcome.code == 2
    assert rule in outcome.err
    assert name in outcome.err


@pytest.mark.parametrize("name", ["x.txt", "folder.html"])
def test_only_an_html_file_is_written(capsys, tmp_path, name):
    (tmp_path / "folder.html").mkdir()

    outcome = run(capsys, "report", SNAPSHOT_FILE, "-o", tmp_path / name)

    assert outcome.code == 2
    assert name in outcome.err


@pytest.mark.slow
def test_charts_are_saved_as_svg_and_png_without_a_browser(
    capsys, plan_folder, tmp_path
):
    options = ["-o", tmp_path / "x.html", "--save", tmp_path / "charts"]
    outcome = run(capsys, "report", plan_folder, *options, "--format", "json")

    names = outcome.document["charts"]
    assert outcome.document["bytes"] == (tmp_path / "x.html").stat().st_size
    assert sorted(names) == sorted(p.name for p in (tmp_path / "charts").iterdir())
    assert {"brokers-disk.svg", "moves-matrix.png", "waves-timeline.svg"} <= set(names)
    for name in names:
        head = (tmp_path / "charts" / name).read_bytes()[:8]
        assert head == b"\x89PNG\r\n\x1a\n" or head.startswith(b"<svg")
    svg = (tmp_path / "charts/brokers-disk.svg").read_text()
    assert "shade: band" in svg


@pytest.mark.not_quick
def test_a_report_of_several_snapshots_keeps_them_apart(capsys, tmp_path):
    written = tmp_path / "x.html"

    outcome = run(capsys, "report", SNAPSHOT_FILE, SNAPSHOT_FILE, "-o", written)

    assert outcome.code == 0
    tags = Tags(written.read_text(encoding="utf-8")).tags
    ids = [attrs["id"] for _, attrs in tags if "id" in attrs]
    assert {"s1-verdict", "s2-verdict"} <= set(ids)
    assert len(ids) == len(set(ids))


@pytest.mark.not_quick
def test_a_score_report_has_the_words_of_the_screen(capsys, tmp_path):
    run(capsys, "report", SNAPSHOT_FILE, "-o", tmp_path / "x.html")
    screen = " ".join(run(capsys, "score", SNAPSHOT_FILE).out.split())

    found = facts((tmp_path / "x.html").read_text(encoding="utf-8"))

    for label in ("wrong", "balance", "binds", "assumed"):
        assert f"{label.capitalize()} {found[label]}" in screen


def test_every_proof_and_every_status_has_its_words():
    statuses = PlanRecord.model_fields["status"].annotation.__args__

    assert set(PROOFS) == set(ProofKind.__args__)
    assert set(MEANINGS) == set(statuses)


def move(number, source=1, target=2, size=10):
    return MoveRow(
        topic="t",
        partition=number,
        kind="replica",
        source=source,
        target=target,
        source_rack=f"r{source % 3}" if source else "",
        target_rack=f"r{target % 3}",
        size_bytes=size,
        reason="over-band",
        resource="disk",
        undone="nothing",
        undone_broker=None,
        undone_resource=None,
        undone_outside=None,
    )


def test_of_very_many_moves_the_largest_are_shown_in_their_order():
    moves = [move(number, size=number % 7) for number in range(MOST_MOVES + 1000)]

    table = browsed_moves(moves)

    assert table.total == MOST_MOVES + 1000
    assert len(table.rows) == MOST_MOVES
    numbers = [row[1] for row in table.rows]
    assert numbers == sorted(numbers)
    left_out = {each.partition for each in moves} - set(numbers)
    least = min(row[7] for row in table.rows)
    assert all(moves[number].size_bytes <= least for number in left_out)


@pytest.mark.not_quick
def test_the_largest_report_stays_below_five_megabytes():
    racks = ["r" * 100, "s" * 100, "t" * 100]
    moves = [
        replace(
            move(number),
            topic=f"{number:0249}",
            source_rack=racks[number % 3],
            target_rack=racks[(number + 1) % 3],
            undone="out-of-band",
            undone_broker=2_000_000_000,
            undone_resource="replicas",
            undone_outside=0.123456789,
        )
        for number in range(100_000)
    ]
    section = Section("moves", "Moves", list(move_blocks(moves)))

    page = html_of(Page(title="many", taken_at=None, sections=[section]))

    assert len(page.encode()) < 5_000_000
    assert f"{MOST_MOVES} of 100000 rows" in page


def test_copies_of_very_many_brokers_are_added_up_by_rack():
    moves = [move(number, 1 + number, 101 + number) for number in range(100)]

    matrix = matrix_picture(moves)

    assert matrix.level == "rack"
    assert set(matrix.sources) == {"r0", "r1", "r2"}
    assert sum(size for *_, size, _ in matrix.cells) == 1000


def cells(count, load):
    cell = {"load": load, "capacity": None, "target": 10.0, "deviation": load / 10 - 1}
    return [{"disk": cell} for _ in range(count)]


def test_of_very_many_brokers_the_furthest_from_their_targets_are_drawn():
    now = [*cells(99, 10.0), *cells(1, 30.0), *cells(50, 10.0)]
    labels = [str(number) for number in range(150)]
    levels = Levels(level="broker", labels=labels, now=now, resources=("disk",))

    (picture,) = load_pictures(levels, Limits(band={"disk": 0.1}))

    assert len(picture.places) == 40
    assert picture.omitted == 110
    assert "99" in picture.places
    assert picture.unit == "B"


def test_unknown_loads_are_left_open_and_not_drawn_as_nothing():
    unknown = {"load": None, "capacity": None, "target": None, "deviation": None}
    known = {"load": 5e9, "capacity": None, "target": 5e9, "deviation": 0.0}
    levels = Levels(
        level="broker",
        labels=["1", "2"],
        now=[{"disk": known}, {"disk": unknown}],
        resources=("disk",),
    )

    (picture,) = load_pictures(levels, Limits())

    assert picture.unit == "GB"
    assert list(picture.now) == [5.0, None]
    assert list(picture.target) == [5.0, None]


def test_the_report_of_a_snapshot_loads_nothing_of_plans_and_other_documents(tmp_path):
    page = tmp_path / "x.html"
    code = (
        "import os, sys\n"
        "os._exit = lambda code: None\n"
        "from planner.cli.main import run\n"
        "run()\n"
        "print(*sys.modules, sep='\\n')"
    )
    words = ["report", SNAPSHOT_FILE, "-o", page, "--quiet"]

    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)],
        capture_output=True,
        text=True,
        check=True,
    )

    loaded = set(done.stdout.splitlines())
    assert "planner.report.pages.score_page" in loaded
    for name in ("plan_page", "document_page", "fleet_page"):
        assert f"planner.report.pages.{name}" not in loaded
    assert not {"planner.explain", "planner.what_if", "planner.group"} & loaded
