"""A report of each kind, made by the commands on the bundled cluster."""

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
KINDS = ["plan", "score", "failures", "what-if", "size"]
KINDS += ["group-assign", "group-what-if", "fleet"]


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
    fleet = hostile_fleet(folder / "tables")
    page = folder / "fleet.html"
    assert _run(["report", str(fleet), "-o", str(page)], as_json=False) == 0
    return {**{kind: folder / kind / "report.html" for kind in commands}, "fleet": page}
