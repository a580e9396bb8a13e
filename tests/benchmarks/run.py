"""
Measure the cases and write the table of docs/benchmarks.md.

``PYTHONPATH=tests python -m benchmarks.run [--write FILE] [--case NAME]``

Each case runs in a process of its own, so that its peak memory is its own; one
untimed run warms caches, then come the timed ones.
"""

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.cases import CASES, Case

START = "<!-- measured: start -->"
END = "<!-- measured: end -->"
SMOKE_REPLICAS = 3_000
ROOT = Path(__file__).parents[2]
SELF, CHILDREN = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN


@dataclass(frozen=True, slots=True)
class Measurement:
    """
    What one case took.

    Parameters
    ----------
    name, num_replicas
        Of the case.
    num_runs
        Timed runs; the times are their medians.
    wall_s, cpu_s
        Seconds; CPU counts every thread and child.
    peak_bytes, added_bytes
        High-water mark of the process (VmHWM) or of its largest child, and how far
        that is above what stood in memory before the first run.
    """

    name: str
    num_replicas: int
    num_runs: int
    wall_s: float
    cpu_s: float
    peak_bytes: int
    added_bytes: int


def measure(case: Case, *, num_replicas: int, num_runs: int) -> Measurement:
    """Prepare a case, run it once untimed, then `num_runs` times."""
    with tempfile.TemporaryDirectory() as folder:
        given = case.prepare(Path(folder), num_replicas)
        resident = status_bytes("VmRSS")
        _reset_high_water_mark()
        case.run(given)
        timed = [_time(case, given) for _ in range(num_runs)]
    largest_child = resource.getrusage(CHILDREN).ru_maxrss * 1024
    own = status_bytes("VmHWM")
    return Measurement(
        name=case.name,
        num_replicas=num_replicas,
        num_runs=num_runs,
        wall_s=statistics.median(wall for wall, _ in timed),
        cpu_s=statistics.median(cpu for _, cpu in timed),
        peak_bytes=max(own, largest_child),
        added_bytes=own - resident,
    )


def _time(case: Case, given: object) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), cpu_s()
    case.run(given)
    return time.perf_counter() - wall, cpu_s() - cpu


def cpu_s() -> float:
    """Return the seconds of CPU of this process, its threads and ended children."""
    used = (resource.getrusage(who) for who in (SELF, CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def status_bytes(name: str) -> int:
    """Return an entry of this process's status, such as ``VmHWM``, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    msg = f"/proc/self/status has no {name}"
    raise LookupError(msg)


def _reset_high_water_mark() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def measure_apart(case: Case, *, num_runs: int) -> Measurement:
    """Measure a case in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.run", "--runs", str(num_runs)]
    done = subprocess.run(
        [*command, "--json", "--case", case.name],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return Measurement(**json.loads(done.stdout))


def table(measurements: Sequence[Measurement]) -> str:
    """Return the measurements as a table in Markdown."""
    rows = [
        "| case | replicas | runs | wall, s | CPU, s | peak, MB | added, MB |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    return "\n".join([*rows, *(_row(measurement) for measurement in measurements)])


def _row(m: Measurement) -> str:
    return (
        f"| {m.name} | {m.num_replicas:,} | {m.num_runs} | {m.wall_s:.3f} "
        f"| {m.cpu_s:.3f} | {m.peak_bytes / 1e6:.0f} | {m.added_bytes / 1e6:.0f} |"
    )


def replace_between_markers(
    text: str, measured: str, markers: tuple[str, str] = (START, END)
) -> str:
    """
    Put the measured part into a page.

    Raises
    ------
    ValueError
        If the page does not have both markers once, in order.
    """
    first, last = markers
    before, start, rest = text.partition(first)
    _, end, after = rest.partition(last)
    if not start or not end or first in rest or last in after:
        msg = f"the page must have {first} and then {last}, once each"
        raise ValueError(msg)
    return f"{before}{first}\n{measured}\n{last}{after}"


def write_between_markers(
    path: Path | None, measured: str, markers: tuple[str, str]
) -> None:
    """Put the measured part into the file of a page, if one is named."""
    if path is not None:
        page = path.read_text(encoding="utf-8")
        page = replace_between_markers(page, measured, markers)
        path.write_text(page, encoding="utf-8")


def where_measured(command: str) -> str:
    """Say by which command and where something was measured."""
    described = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    commit = described.stdout.strip() or "no commit"
    machine = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}"
    return (
        f"Commit `{commit}`, `{command}`, {machine}, "
        f"Python {platform.python_version()}; medians, caches warm."
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the benchmark cases.")
    parser.add_argument("--runs", type=int, default=5, help="timed runs of each case")
    parser.add_argument("--case", help="only this one, in this process")
    parser.add_argument("--smoke", action="store_true", help="small, once")
    parser.add_argument("--json", action="store_true", help="print JSON lines")
    parser.add_argument("--write", type=Path, metavar="FILE", help="page to update")
    return parser.parse_args()


def main() -> None:
    """Measure, print, and write the page if one is named."""
    given = _arguments()
    measurements = []
    for case in CASES:
        if given.case not in {None, case.name}:
            continue
        if given.smoke:
            num_replicas = min(case.num_replicas, SMOKE_REPLICAS)
            found = measure(case, num_replicas=num_replicas, num_runs=1)
        elif given.case:
            found = measure(case, num_replicas=case.num_replicas, num_runs=given.runs)
        else:
            found = measure_apart(case, num_runs=given.runs)
        measurements.append(found)
        if given.json:
            print(json.dumps(asdict(found)))  # noqa: T201 - a script's output
        else:
            print(_row(found), file=sys.stderr)  # noqa: T201 - progress
    measured = f"{where_measured('make bench')}\n\n{table(measurements)}"
    if not given.json:
        print(measured)  # noqa: T201
    if given.write:
        page = replace_between_markers(given.write.read_text(), measured)
        given.write.write_text(page)


if __name__ == "__main__":
    main()
