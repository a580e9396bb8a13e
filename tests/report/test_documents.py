"""Reports of documents that other commands print."""

import json
import re

import pytest

from planner.cli.main import _run
from planner.demo import SNAPSHOT_FILE
from planner.report.pages.document_page import TITLES
from planner.schema import SCHEMAS, json_schema
from support.commands import run
from support.report_kinds import printed_commands
from support.report_pages import check_page, facts, verdict, verdicts

NAME = "peak <script>"
SCENARIOS = f"""
[[scenarios]]
name = "{NAME}"
then = "nothing"
changes = [{{change = "traffic", factor = 1.5}}]
"""


@pytest.fixture
def commands(tmp_path):
    scenarios = tmp_path / "scenarios.toml"
    scenarios.write_text(SCENARIOS)
    return {
        "failures": ["failures", SNAPSHOT_FILE],
        "failures-scenario": ["failures", SNAPSHOT_FILE, "--broker", "4"],
        "what-if": ["what-if", SNAPSHOT_FILE, scenarios],
        "size": ["size", SNAPSHOT_FILE],
        "status": ["status", SNAPSHOT_FILE],
        "score": ["score", SNAPSHOT_FILE, "--band", "0.02"],
    }


@pytest.mark.parametrize(
    "name", ["failures", "failures-scenario", "what-if", "size", "status", "score"]
)
def test_a_printed_document_has_a_report(capsys, tmp_path, commands, name):
    document = tmp_path / "document.json"
    document.write_text(run(capsys, *commands[name], "--format", "json").out)

    outcome = run(capsys, "report", document, "-o", tmp_path / "x.html")

    assert outcome.code == 0, outcome.err
    page = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert f"<title>{TITLES[name]}: orders-eu</title>" in page
    assert "2026-11-21T08:00:00Z" in page
    ids = re.findall(r'\bid="([^"]*)"', page)
    assert len(ids) == len(set(ids))


@pytest.fixture(scope="module")
def demo_plan(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planned") / "plan"
    words = ["plan", "rebalance", str(SNAPSHOT_FILE), "-o", str(folder)]
    assert _run([*words, "--effort", "quick"], as_json=False) == 0
    return folder


SENTENCES = {
    "check": "The checker finds no broken rule.",
    "verify": "The plan is not started: ",
    "keys-skew": "The busiest partition has ",
}


@pytest.mark.parametrize("name", SENTENCES)
def test_a_document_without_a_summary_begins_with_a_sentence(
    capsys, tmp_path, demo_plan, name
):
    words = printed_commands(tmp_path, demo_plan)[name]
    path = tmp_path / "document.json"
    path.write_text(run(capsys, *words, "--format", "json").out)

    outcome = run(capsys, "report", path, "-o", tmp_path / "x.html")

    assert outcome.code == 0, outcome.err
    page = (tmp_path / "x.html").read_text(encoding="utf-8")
    check_page(page)
    assert verdict(page).startswith(SENTENCES[name])


def test_findings_of_a_check_are_counted_and_listed(capsys, tmp_path, demo_plan):
    lists = json.loads((demo_plan / "reassignment.json").read_text())
    for each in lists["partitions"]:
        each["replicas"] = [1, 4, 7][: len(each["replicas"])]
    path = tmp_path / "lists.json"
    path.write_text(json.dumps(lists))
    words = ["check", path, "--snapshot", SNAPSHOT_FILE, "--format", "json"]
    checked = run(capsys, *words)
    (tmp_path / "document.json").write_text(checked.out)

    run(capsys, "report", tmp_path / "document.json", "-o", tmp_path / "x.html")

    page = (tmp_path / "x.html").read_text(encoding="utf-8")
    count = len(checked.document["findings"])
    assert count > 1
    assert verdict(page) == f"The checker has {count} findings."
    assert 'id="table-findings"' in page


SWEPT = """
[[scenarios]]
name = "no b"
changes = [{change = "lose", racks = ["b"]}]
[[scenarios]]
name = "peak"
changes = [{change = "traffic", factor = 2.5}]
[[sweeps]]
name = "grows"
traffic = [1.0, 1.5, 2.0]
then = "nothing"
"""


@pytest.mark.slow
def test_the_verdicts_on_scenarios_are_those_of_the_screen(capsys, tmp_path):
    scenarios = tmp_path / "scenarios.toml"
    scenarios.write_text(SWEPT)
    words = ["what-if", SNAPSHOT_FILE, scenarios, "--effort", "quick"]
    screen = " ".join(run(capsys, *words).out.split())

    run(capsys, *words, "--report", "-o", tmp_path / "played")

    page = (tmp_path / "played/report.html").read_text(encoding="utf-8")
    found = facts(page)
    assert {"no b", "peak", "grows"} <= found.keys()
    for name in ("no b", "peak", "grows"):
        assert f"{name}: {found[name]}" in screen
    assert found["all"] in screen


@pytest.mark.not_quick
def test_scenarios_are_drawn_beside_today_and_their_names_are_text(
    capsys, tmp_path, commands
):
    path = tmp_path / "document.json"
    path.write_text(run(capsys, *commands["what-if"], "--format", "json").out)
    run(capsys, "report", path, "-o", tmp_path / "x.html", "--save", tmp_path / "c")

    page = (tmp_path / "x.html").read_text(encoding="utf-8")

    assert "These scenarios do not hold: peak &lt;script&gt;." in page
    assert NAME not in page
    worst = json.loads(path.read_text())["scenarios"][0]["resources"]["out"]["max_use"]
    assert f'<td class="number">{100 * worst:.4g}</td>' in page
    assert (tmp_path / "c/scenarios-out.png").exists()


def test_the_page_of_a_score_has_the_words_of_its_screen(capsys, tmp_path, commands):
    path = tmp_path / "document.json"
    path.write_text(run(capsys, *commands["score"], "--format", "json").out)
    screen = " ".join(run(capsys, *commands["score"]).out.split())

    run(capsys, "report", path, "-o", tmp_path / "x.html", "--save", tmp_path / "c")

    page = (tmp_path / "x.html").read_text(encoding="utf-8")
    found = facts(page)
    for label in ("Balance", "Binds", "Assumed"):
        assert f"{label} {found[label]}" in screen
    wrong = verdicts(page)[-1]
    assert wrong.startswith("Wrong: ")
    assert f"Wrong {wrong.removeprefix('Wrong: ')}" in screen
    assert "bands of 2 %" in found["Assumed"]
    assert (tmp_path / "c/brokers-disk.svg").exists()
    assert 'id="table-topics"' in page


def test_a_score_without_the_words_of_the_screen_has_a_report_too(
    capsys, tmp_path, commands
):
    path = tmp_path / "document.json"
    document = run(capsys, *commands["score"], "--format", "json").document
    del document["summary"]
    path.write_text(json.dumps(document))

    run(capsys, "report", path, "-o", tmp_path / "x.html")

    (wrong,) = verdicts((tmp_path / "x.html").read_text(encoding="utf-8"))
    assert "over a threshold" in wrong


def test_the_help_names_every_document_that_has_a_page(capsys):
    text = " ".join(run(capsys, "report", "--help").out.split())

    commands = {
        "failures-scenario": "failures",
        "keys-skew": "'keys skew'",
        "group-assignment": "'group assign'",
        "group-what-if": "'group what-if'",
    }
    for name in TITLES:
        assert commands.get(name, name) in text


def test_the_measured_time_and_age_are_not_in_a_report(capsys, tmp_path, commands):
    path = tmp_path / "document.json"
    document = run(capsys, *commands["size"], "--format", "json").document
    pages = []
    for age in (1, 10**6):
        path.write_text(json.dumps({**document, "data_age_s": age}))
        run(capsys, "report", path, "-o", tmp_path / "x.html")
        pages.append((tmp_path / "x.html").read_bytes())

    assert pages[0] == pages[1]


def test_documents_are_distinguished_by_their_keys():
    keys = [frozenset(json_schema(name)["properties"]) for name in TITLES]

    assert set(TITLES) <= set(SCHEMAS)
    assert len(set(keys)) == len(keys)


def test_a_document_that_was_edited_is_refused_with_every_place(
    capsys, tmp_path, commands
):
    path = tmp_path / "document.json"
    document = run(capsys, *commands["size"], "--format", "json").document
    path.write_text(json.dumps({**document, "today": "many", "fleet": None}))

    outcome = run(capsys, "report", path, "-o", tmp_path / "x.html")

    assert outcome.code == 2
    assert "document.json is no document of size: 2 problems" in outcome.err
    assert "today: Input should be a valid integer" in outcome.err
    assert "fleet: Input should be" in outcome.err
    assert not (tmp_path / "x.html").exists()


def test_another_json_file_is_refused_as_a_snapshot(capsys, tmp_path):
    path = tmp_path / "other.json"
    path.write_text('{"some": "thing"}')

    outcome = run(capsys, "report", path, "-o", tmp_path / "x.html")

    assert outcome.code == 2
    assert "other.json is not a snapshot" in outcome.err
