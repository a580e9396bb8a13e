"""A report of each kind, made by the commands on the bundled cluster."""

import io
from contextlib import redirect_stdout
from pathlib import Path

from planner.cli.main import _run
from planner.demo import SNAPSHOT_FILE
from support.browser import hostile_fleet, hostile_group

SCENARIOS = """
[[scenarios]]
name = "half as much again"
then = "nothing"
changes = [{change = "traffic", factor = 1.5}]

[[scenarios]]
name = "a fifth less"
then = "rebalance"
changes = [{change = "traffic", factor = 0.8}]
"""
PRINTED = ["loss", "status", "check", "verify", "keys-skew"]
"""Kinds whose report is made of a printed document."""
KINDS = ["plan", "score", "failures", "what-if", "size"]
KINDS += ["group-assign", "group-what-if", "fleet", *PRINTED]


def write_reports(folder: Path) -> dict[str, Path]:
    """Write a report of each kind below a folder; return their files by kind."""
    (folder / "scenarios.toml").write_text(SCENARIOS, encoding="utf-8")
    group, events = hostile_group(folder)
    demo, scenarios = str(SNAPSHOT_FILE), str(folder / "scenarios.toml")
    commands = {
        "plan": ["plan", "rebalance", demo, "--waves"],
        "score": ["score", demo],
        "failures": ["failures", demo],
        "what-if": ["what-if", demo, scenarios],
        "size": ["size", demo],
        "group-assign": ["group", "assign", str(group)],
        "group-what-if": ["group", "what-if", str(group), str(events)],
    }
    for kind, words in commands.items():
        place = folder / kind
        if kind == "size":
            place.mkdir()
            place /= "sized.json"
        code = _run([*words, "-o", str(place), "--report"], as_json=False)
        assert code in {0, 3}
    made = {kind: folder / kind / "report.html" for kind in commands}
    fleet = hostile_fleet(folder / "tables")
    made["fleet"] = _report(fleet, folder / "fleet.html")
    for kind, words in printed_commands(folder, folder / "plan").items():
        document = printed(words, folder / f"{kind}.json")
        made[kind] = _report(document, folder / f"{kind}.html")
    return made


def printed_commands(folder: Path, plan: Path) -> dict[str, list[str]]:
    """
    Return the command whose document is reported, of each kind of `PRINTED`.

    Parameters
    ----------
    folder
        Folder for inputs.
    plan
        A plan of the bundled cluster.
    """
    keys, demo = folder / "keys.txt", str(SNAPSHOT_FILE)
    names = (f"order-{number * number % 97}" for number in range(400))
    keys.write_text("\n".join(names), encoding="utf-8")
    return {
        "loss": ["failures", demo, "--broker", "4"],
        "status": ["status", demo],
        "check": ["check", str(plan), "--snapshot", demo],
        "verify": ["verify", str(plan), "--snapshot", demo],
        "keys-skew": ["keys", "skew", str(keys), "--partitions", "6"],
    }


def printed(words: list[str], path: Path) -> Path:
    """Write what a command prints as JSON to a file, and return the file."""
    out = io.StringIO()
    with redirect_stdout(out):
        code = _run([*words, "--format", "json"], as_json=True)
    assert code in {0, 3}, out.getvalue()
    path.write_text(out.getvalue(), encoding="utf-8")
    return path


def _report(given: Path, page: Path) -> Path:
    assert _run(["report", str(given), "-o", str(page)], as_json=False) == 0
    return page
