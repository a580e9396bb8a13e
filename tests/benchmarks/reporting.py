"""
Size and time of reports, as whole commands.

``PYTHONPATH=tests python -m benchmarks.reporting [--smoke] [--write FILE]``
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.processes import spent
from benchmarks.run import where_measured, write_between_markers
from planner.demo import SNAPSHOT_FILE

MARKERS = ("<!-- reports: start -->", "<!-- reports: end -->")
HEADER = "| report | CPU, s | MB |\n|---|---:|---:|"
RUN = "from planner.cli.main import run; run()"
SIZES = {"M": "100 brokers, 60,000 replicas", "L": "1,100 brokers, 1,000,000 replicas"}
RUNS = 3
SCENARIOS = """
[[scenarios]]
name = "half as much again"
then = "nothing"
changes = [{change = "traffic", factor = 1.5}]

[[scenarios]]
name = "without three brokers"
then = "nothing"
changes = [{change = "lose", brokers = "1-3"}]
"""


@dataclass(frozen=True, slots=True)
class Reported:
    """Name of a report, CPU seconds of the whole command, and bytes of the page."""

    name: str
    cpu_s: float
    page_bytes: int


def kafka_planner(*words: object) -> bytes:
    """Run a command in a process of its own; return what it prints."""
    command = [sys.executable, "-c", RUN, *map(str, words)]
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE)
    assert done.returncode in {0, 3}, words
    return done.stdout


def measure(name: str, source: Path, folder: Path, num_runs: int = RUNS) -> Reported:
    """Make the report of a plan folder or of a snapshot, several times."""
    page = folder / "report.html"
    times = [spent(lambda: _report(source, page))[1] for _ in range(num_runs)]
    return Reported(name, statistics.median(times), page.stat().st_size)


def _report(source: Path, page: Path) -> None:
    kafka_planner("report", source, "-o", page, "--quiet")


def measure_documents(
    name: str, snapshot: Path, folder: Path, num_runs: int = RUNS
) -> list[Reported]:
    """Measure the reports of documents of a cluster, and of a group that reads it."""
    scenarios, group = folder / "scenarios.toml", folder / "group.json"
    scenarios.write_text(SCENARIOS, encoding="utf-8")
    topics = kafka_planner("score", snapshot, "--format", "json")
    group.write_text(json.dumps(_group(json.loads(topics))), encoding="utf-8")
    commands: dict[str, list[object]] = {
        "failures": ["failures", snapshot],
        "what-if": ["what-if", snapshot, scenarios],
        "group": ["group", "assign", group],
    }
    rows = []
    for kind, words in commands.items():
        document = folder / f"{kind}.json"
        document.write_bytes(kafka_planner(*words, "--format", "json"))
        rows.append(measure(f"{kind}, {name}", document, folder, num_runs))
    return rows


def _group(score: dict[str, Any]) -> dict[str, Any]:
    """Return a group of a member to every hundred partitions of a score."""
    names = {row["topic"]: row["partitions"] for row in score["by_topic"]}
    members = range(max(2, sum(names.values()) // 100))
    return {
        "format": "kafka-planner/group",
        "version": 1,
        "group_id": "everything",
        "topics": [{"name": name, "partitions": n} for name, n in names.items()],
        "members": [
            {"member_id": f"c{number}", "topics": [*names]} for number in members
        ],
    }


def measure_cluster(
    name: str, snapshot: Path, words: list[str], folder: Path, num_runs: int = RUNS
) -> list[Reported]:
    """Measure the reports of a plan for a cluster, of its score, and of documents."""
    plan = folder / "plan"
    kafka_planner("plan", words[0], snapshot, *words[1:], "-o", plan, "--quiet")
    sources = {f"plan, {name}": plan, f"score, {name}": snapshot}
    rows = [measure(each, path, folder, num_runs) for each, path in sources.items()]
    return [*rows, *measure_documents(name, snapshot, folder, num_runs)]


def table(rows: list[Reported]) -> str:
    """Return the table of reports."""
    lines = [
        f"| {row.name} | {row.cpu_s:.1f} | {row.page_bytes / 1e6:.2f} |" for row in rows
    ]
    return "\n".join([HEADER, *lines])


def _all(*, is_smoke: bool) -> list[Reported]:
    num_runs = 1 if is_smoke else RUNS
    rows = []
    with tempfile.TemporaryDirectory() as place:
        words = ["rebalance", "--waves"]
        folder = Path(place)
        rows += measure_cluster("demo", SNAPSHOT_FILE, words, folder, num_runs)
    for size, name in {} if is_smoke else SIZES.items():
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            snapshot = folder / "cluster"
            kafka_planner("snapshot", "synth", "--size", size, "-o", snapshot)
            words = ["add-brokers", "--band", "0.05"]
            rows += measure_cluster(name, snapshot, words, folder, num_runs)
    return rows


def main() -> None:
    """Measure, print, and write the page if one is named."""
    parser = argparse.ArgumentParser(description="Measure reports.")
    parser.add_argument("--smoke", action="store_true", help="the demo alone, once")
    parser.add_argument("--write", type=Path, metavar="FILE", help="page to update")
    given = parser.parse_args()
    command = "python -m benchmarks.reporting"
    text = f"{where_measured(command)}\n\n{table(_all(is_smoke=given.smoke))}"
    print(text)  # noqa: T201 - output
    write_between_markers(given.write, text, MARKERS)


if __name__ == "__main__":
    main()
