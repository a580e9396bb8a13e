"""Pages of failures and of sizes begin with the lines of their screens."""

import html
import json
from pathlib import Path
from typing import Any

import pytest

from planner.demo import SNAPSHOT_FILE
from planner.snapshot import read_snapshot
from support.commands import run
from support.plans import write_document
from support.report_pages import facts, verdicts

LABEL_WIDTH = 11


def screen_lines(out: str) -> dict[str, list[str]]:
    """Return the texts of a screen by label; indented labels follow their parent's."""
    found: dict[str, list[str]] = {}
    label, parent = "", ""
    for line in out.splitlines():
        head, rest = line[:LABEL_WIDTH], line[LABEL_WIDTH:]
        if head.strip():
            parent = parent if head.startswith(" ") else head.strip()
            label = f"{parent}: {head.strip()}" if head.startswith(" ") else parent
            found.setdefault(label, []).append(rest.strip())
        elif label:
            found[label][-1] += f" {rest.strip()}"
    return found


def page_of(capsys: Any, tmp_path: Path, *words: Any) -> tuple[str, str]:
    """Return the screen of a command, and the page of its document."""
    shown = run(capsys, *words).out
    document = tmp_path / "document.json"
    document.write_text(run(capsys, *words, "--format", "json").out)
    outcome = run(capsys, "report", document, "-o", tmp_path / "x.html")
    assert outcome.code == 0, outcome.err
    return shown, html.unescape((tmp_path / "x.html").read_text(encoding="utf-8"))


def changed(**brokers: Any) -> dict[str, Any]:
    """Return the demo with fields of its brokers set, all alike."""
    document = read_snapshot(SNAPSHOT_FILE).to_document()
    for broker in document["brokers"]:
        broker.update(brokers)
    return document


def one_dead() -> dict[str, Any]:
    document = changed()
    document["brokers"][0]["state"] = "dead"
    return document


def without_racks() -> dict[str, Any]:
    return changed(rack=None)


def without_controllers() -> dict[str, Any]:
    document = changed()
    document["controllers"] = []
    return document


def without_rates() -> dict[str, Any]:
    document = changed()
    for topic in document["topics"]:
        for partition in topic["partitions"]:
            for name in ("in_bytes_per_s", "out_bytes_per_s", "size_bytes"):
                partition[name] = None
    return document


@pytest.fixture(
    params=[changed, one_dead, without_racks, without_controllers, without_rates]
)
def snapshot(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return write_document(request.param(), tmp_path / "s.json")


def test_the_page_of_failures_begins_with_the_verdicts_of_the_screen(
    capsys, tmp_path, snapshot
):
    shown, page = page_of(capsys, tmp_path, "failures", snapshot, "--no-pairs")

    lines, found = screen_lines(shown), facts(page)
    assert verdicts(page) == [
        f"{label}: {lines[label][0]}" for label in ("N-1 broker", "N-1 rack")
    ]
    for label in ("Now", "Quorum", "Assumed", *(lines.keys() & {"On return"})):
        assert found[label] == lines[label][0]
    for label in lines.keys() & {"Wrong now"}:
        assert found[label] == lines[label][0].partition("; see kafka-planner")[0]


def test_the_page_of_a_loss_begins_with_the_verdict_of_the_screen(
    capsys, tmp_path, snapshot
):
    shown, page = page_of(capsys, tmp_path, "failures", snapshot, "--broker", "2,4")

    lines, found = screen_lines(shown), facts(page)
    assert " ".join(shown.split()).count(verdicts(page)[0]) == 1
    assert verdicts(page)[0].startswith("Brokers 2,4 lost: ")
    for label in ("Lost: leaders", "Rebuild", "Returned: elected", "Quorum", "Binds"):
        assert found[label] == lines[label][0]


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--growth", "5%/month")], ids=["now", "grow"])
def test_the_page_of_a_size_begins_with_the_answer_of_the_screen(
    capsys, tmp_path, options
):
    words = ("size", SNAPSHOT_FILE, "--effort", "quick", *options)
    shown, page = page_of(capsys, tmp_path, *words)

    lines, found = screen_lines(shown), facts(page)
    assert verdicts(page) == [f"Answer: {lines['Answer'][0]}"]
    for label in ("Binds", "Today", "Shown", "Assumed"):
        assert found[label] == lines[label][0]
    assert ("Lasts" in lines) == bool(options)
    for text in lines.get("Lasts", []):
        assert f"<dt>Lasts</dt><dd>{text}</dd>" in page


def test_the_lines_of_the_screen_are_in_the_document(capsys):
    document = run(capsys, "failures", SNAPSHOT_FILE, "--format", "json").document

    labels = [line["label"] for line in document["summary"]]

    assert labels[:4] == ["Now", "N-1 broker", "N-1 rack", "Quorum"]
    assert str(SNAPSHOT_FILE) not in json.dumps(document["summary"])
