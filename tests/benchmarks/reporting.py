"""
Size and time of reports, as whole commands.

``PYTHONPATH=tests python -m benchmarks.reporting [--smoke] [--write FILE]``
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.processes import spent
from benchmarks.run import replace_between_markers, where_measured
from planner.demo import SNAPSHOT_FILE

MARKERS = ("<!-- reports: start -->", "<!-- reports: end -->")
HEADER = "| report | CPU, s | MB |\n|---|---:|---:|"
RUN = "from planner.cli.main import run; run()"
SIZES = {"M": "100 brokers, 60,000 replicas", "L": "1,100 brokers, 1,000,000 replicas"}
RUNS = 3


@dataclass(frozen=True, slots=True)
class Reported:
    """Name of a report, CPU seconds of the whole command, and bytes of the page."""

    name: str
    cpu_s: float
    page_bytes: int


def kafka_planner(*words: object) -> None:
    """Run a command in a process of its own."""
    command = [sys.executable, "-c", RUN, *map(str, words)]
    done = subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    assert done.returncode in {0, 3}, words


def measure(name: str, source: Path, folder: Path, num_runs: int = RUNS) -> Reported:
    """Make the report of a plan folder or of a snapshot, several times."""
    page = folder / "report.html"
    times = [
        spent(lambda: kafka_planner("report", source, "-o", page, "--quiet"))[1]
        for _ in range(num_runs)
    ]
    return Reported(name, statistics.median(times), page.stat().st_size)


def measure_cluster(
    name: str, snapshot: Path, words: list[str], folder: Path, num_runs: int = RUNS
) -> list[Reported]:
    """Measure the reports of the score of a cluster, and of a plan for it."""
    plan = folder / "plan"
    kafka_planner("plan", words[0], snapshot, *words[1:], "-o", plan, "--quiet")
    sources = {f"plan, {name}": plan, f"score, {name}": snapshot}
    return [measure(each, path, folder, num_runs) for each, path in sources.items()]


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
    if given.write:
        page = given.write.read_text(encoding="utf-8")
        page = replace_between_markers(page, text, MARKERS)
        given.write.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
