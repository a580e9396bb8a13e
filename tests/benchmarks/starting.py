"""
Time until commands end that do almost nothing: the start of the command line.

``PYTHONPATH=tests python -m benchmarks.starting [--smoke] [--write FILE]``
"""

import argparse
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.processes import spent
from benchmarks.run import where_measured, write_between_markers
from planner.demo import SNAPSHOT_FILE

MARKERS = ("<!-- starting: start -->", "<!-- starting: end -->")
HEADER = "| command | wall, s | CPU, s |\n|---|---:|---:|"
COMMAND = Path(sys.executable).with_name("kafka-planner")
COMMANDS = {
    "kafka-planner --version": ["--version"],
    "kafka-planner --help": ["--help"],
    "kafka-planner status SNAP, 12 brokers": ["status", str(SNAPSHOT_FILE)],
}
"""Words of each command by what the table calls it."""
RUNS = 11


@dataclass(frozen=True, slots=True)
class Started:
    """Name of a command, and medians of its seconds of wall and of CPU."""

    name: str
    wall_s: float
    cpu_s: float


def measure(name: str, num_runs: int = RUNS) -> Started:
    """Run a command, once untimed, and then several times."""

    def run() -> None:
        command = [COMMAND, *COMMANDS[name]]
        done = subprocess.run(command, check=False, capture_output=True)
        assert done.returncode in {0, 3}, done.stderr

    run()
    wall, cpu = zip(*(spent(run) for _ in range(num_runs)), strict=True)
    return Started(name, median(wall), median(cpu))


def table(rows: list[Started]) -> str:
    """Return the table of commands."""
    lines = [f"| `{row.name}` | {row.wall_s:.2f} | {row.cpu_s:.2f} |" for row in rows]
    return "\n".join([HEADER, *lines])


def main() -> None:
    """Measure, print, and write the page if one is named."""
    parser = argparse.ArgumentParser(description="Measure the start of commands.")
    parser.add_argument("--smoke", action="store_true", help="once each")
    parser.add_argument("--write", type=Path, metavar="FILE", help="page to update")
    given = parser.parse_args()
    rows = [measure(name, 1 if given.smoke else RUNS) for name in COMMANDS]
    text = f"{where_measured('python -m benchmarks.starting')}\n\n{table(rows)}"
    print(text)  # noqa: T201 - output
    write_between_markers(given.write, text, MARKERS)


if __name__ == "__main__":
    main()
