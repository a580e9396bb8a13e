"""`--report` of the commands that answer a question: a page where `-o` writes."""

import json

import pytest

from planner import extras
from planner.cli.main import build_command
from planner.demo import SNAPSHOT_FILE
from support.commands import run
from support.report_pages import check_page, facts, verdict, without_library

NAME = "peak <script>"
SCENARIOS = f"""
[[scenarios]]
name = "{NAME}"
then = "nothing"
changes = [{{change = "traffic", factor = 1.5}}]
"""
MEMBER = "<script>c0</script>"
GROUP = {
    "format": "kafka-planner/group",
    "version": 1,
    "group_id": "billing",
    "topics": [{"name": "orders", "partitions": 6}],
    "members": [
        {"member_id": MEMBER, "topics": ["orders"], "owned": {"orders": [0, 1, 2]}},
        {"member_id": "c1", "topics": ["orders"]},
    ],
}
EVENTS = '[rates]\norders = 10\n[[events]]\nat_s = 10\nevent = "join"\nmember = "c2"\n'
DOCUMENTS = {
    "failures": "failures.json",
    "loss": "failures-scenario.json",
    "group assign": "group-assignment.json",
    "group what-if": "group-what-if.json",
}
VERDICTS = {
    "failures": "N-1 broker: no, for 2 of 12; broker 2: 1 survivor pushed over a",
    "loss": "Broker 4 lost: survived; 104 partitions then at min ISR.",
    "what-if": "These scenarios do not hold: peak &lt;script&gt;.",
    "size": "Answer: 12 brokers like broker 1 (4+4+4 in racks a, b, c); proven ",
    "group assign": "The assignment of balanced breaks no rule; 0 partitions moved.",
    "group what-if": "No run breaks a rule. ",
}
COMMANDS = ["score", "failures", "loss", "what-if", "size"]
COMMANDS += ["group assign", "group what-if"]
EVERY = pytest.mark.parametrize("name", COMMANDS)


@pytest.fixture
def words(tmp_path):
    """Return the words of each command, without `-o`."""
    scenarios, group = tmp_path / "scenarios.toml", tmp_path / "group.json"
    events = tmp_path / "events.toml"
    scenarios.write_text(SCENARIOS)
    group.write_text(json.dumps(GROUP))
    events.write_text(EVENTS)
    return {
        "score": ["score", SNAPSHOT_FILE],
        "failures": ["failures", SNAPSHOT_FILE],
        "loss": ["failures", SNAPSHOT_FILE, "--broker", "4"],
        "what-if": ["what-if", SNAPSHOT_FILE, scenarios],
        "size": ["size", SNAPSHOT_FILE],
        "group assign": ["group", "assign", group],
        "group what-if": ["group", "what-if", group, events],
    }


def place_of(name, folder):
    """Return the value of `-o` whose report is in the folder."""
    return folder / "sized.json" if name == "size" else folder


@pytest.mark.not_quick
@EVERY
def test_a_command_writes_its_report_where_o_writes(capsys, tmp_path, words, name):
    folder = tmp_path / "out"
    folder.mkdir() if name == "size" else None
    options = ["-o", place_of(name, folder), "--report"]
    pages = []
    for _ in range(2):
        outcome = run(capsys, *words[name], *options)
        assert outcome.code in {0, 3}, outcome.err
        pages.append((folder / "report.html").read_bytes())

    page = pages[0].decode()
    assert pages[0] == pages[1]
    check_page(page)
    assert f"wrote {folder if name == 'score' else folder / 'report.html'}" in (
        outcome.err
    )
    assert len(without_library(page).encode()) < 400_000
    assert len(pages[0]) < 850_000
    if name in VERDICTS:
        assert verdict(page).startswith(VERDICTS[name])
    for hostile in (NAME, MEMBER):
        assert hostile not in page


@pytest.mark.not_quick
@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_folder_has_the_document_and_its_page_is_that_of_report(
    capsys, tmp_path, words, name
):
    folder = tmp_path / "out"
    printed = run(capsys, *words[name], "-o", folder, "--report", "--format", "json")
    document = json.loads((folder / DOCUMENTS[name]).read_text())

    run(capsys, "report", folder / DOCUMENTS[name], "-o", tmp_path / "again.html")

    assert (tmp_path / "again.html").read_bytes() == (
        folder / "report.html"
    ).read_bytes()
    expected = {**printed.document}
    for measured in ("seconds", "data_age_s"):
        document.pop(measured, None)
        expected.pop(measured, None)
    assert document == expected


@pytest.mark.not_quick
def test_the_report_of_a_score_is_that_of_its_snapshot(capsys, tmp_path, words):
    run(capsys, *words["score"], "-o", tmp_path / "out", "--report")

    run(capsys, "report", SNAPSHOT_FILE, "-o", tmp_path / "again.html")

    again = (tmp_path / "again.html").read_bytes()
    assert (tmp_path / "out/report.html").read_bytes() == again


@EVERY
def test_without_a_place_a_report_is_refused_before_any_work(capsys, words, name):
    outcome = run(capsys, *words[name], "--report")

    assert (outcome.code, outcome.out) == (2, "")
    assert "--report: report.html is written where -o writes" in outcome.err


@EVERY
def test_a_missing_extra_is_named_before_any_work(
    capsys, monkeypatch, tmp_path, words, name
):
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    before = sorted(tmp_path.iterdir())

    outcome = run(capsys, *words[name], "-o", tmp_path / "out", "--report")

    assert outcome.code == 2
    assert "python -m pip install 'kafka-planner[report]'" in outcome.err
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_folder_of_other_files_is_left_alone(capsys, tmp_path, words, name):
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")

    outcome = run(capsys, *words[name], "-o", folder)

    assert outcome.code == 2
    assert f"is not a folder of {DOCUMENTS[name]}" in outcome.err
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]


def test_a_file_in_the_place_of_a_folder_is_named(capsys, tmp_path, words):
    (tmp_path / "out").write_text("mine")

    outcome = run(capsys, *words["failures"], "-o", tmp_path / "out")

    assert outcome.code == 2
    assert "the answer cannot be written: Not a directory" in outcome.err


@pytest.mark.not_quick
def test_a_folder_of_scores_is_replaced_with_and_without_its_report(
    capsys, tmp_path, words
):
    folder = tmp_path / "out"
    run(capsys, *words["score"], "-o", folder, "--report")

    outcome = run(capsys, *words["score"], "-o", folder)

    assert outcome.code == 0, outcome.err
    assert sorted(p.name for p in folder.iterdir()) == ["scores", "scores.json"]


def test_a_report_of_spark_is_refused_with_the_command_that_makes_one(
    capsys, tmp_path, words
):
    options = ["--spark", "-o", tmp_path / "out", "--report"]

    outcome = run(capsys, *words["score"], *options)

    assert outcome.code == 2
    assert "leave out --spark, or make one of the tables" in outcome.err


def test_the_members_of_a_group_are_shown_in_the_words_of_the_screen(
    capsys, tmp_path, words
):
    screen = run(capsys, *words["group assign"], "-o", tmp_path / "out", "--report").out

    found = facts((tmp_path / "out/report.html").read_text(encoding="utf-8"))

    joined = " ".join(screen.split())
    for label in ("Partitions", "Load", "Moved", "Busiest"):
        assert f"{label} {found[label]}" in joined


def test_every_report_option_is_the_same():
    root = build_command()
    found = {}

    def walk(command, path=()):
        for name, child in getattr(command, "commands", {}).items():
            walk(child, (*path, name))
        for parameter in command.params:
            if "--report" in parameter.opts:
                found[" ".join(path)] = (parameter.opts, parameter.help)

    walk(root)

    assert {"score", "failures", "what-if", "size"} <= set(found)
    assert {"group assign", "group what-if", "plan rebalance"} <= set(found)
    assert len({str(value) for value in found.values()}) == 1
