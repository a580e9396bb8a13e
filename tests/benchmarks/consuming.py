"""
Assign consumer groups, and write the table of docs/benchmarks.md.

``PYTHONPATH=tests python -m benchmarks.consuming [--case NAME] [--seeds 1,2,3]
[--write FILE]``

Each row and seed has a process of its own; one untimed run loads the compiled kernels.
Every assignment goes through the independent checker, untimed.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from assignment.balanced.balanced_assignor import DEFAULT_TOLERANCE, Answer, Balanced
from assignment.check import check
from assignment.group import Group
from assignment.outcome import Assignment, is_moved
from benchmarks import sticky
from benchmarks.consuming_cases import CONSUMING, SMOKE, Consuming, make_group
from benchmarks.run import cpu_s, status_bytes, where_measured, write_between_markers

MARKERS = ("<!-- consuming: start -->", "<!-- consuming: end -->")
HEADER = (
    "| group | assignor | seeds | wall, s | CPU, s | peak, MiB | most / least load "
    "| busiest / bound | moved | / bound | must | aim | met? |\n"
    "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|"
)
Value = TypeVar("Value")
OURS, THEIRS = "balanced", "kafka-python sticky"


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumed:
    """
    What one assignment took, and how good it is.

    Parameters
    ----------
    name, assignor, seed
        Of the row, who assigned, and of the group.
    wall_s, cpu_s
        Medians of the timed runs, proofs included.
    peak_bytes
        High-water mark of the process.
    most, least, mean
        Loads of the members.
    busiest_ratio
        The busiest member / the proven bound on it.
    moved, moved_ratio
        Partitions that change hands; and, by weight where they differ, against what
        had to.
    num_findings
        What the independent checker holds against it.
    """

    name: str
    assignor: str
    seed: int
    wall_s: float
    cpu_s: float
    peak_bytes: int
    most: float
    least: float
    mean: float
    busiest_ratio: float
    moved: int
    moved_ratio: float
    num_findings: int

    @property
    def seconds(self) -> float:
        """What it takes: its CPU, where it had to wait for others."""
        return min(self.wall_s, self.cpu_s)


def measure(row: Consuming, seed: int, *, num_runs: int = 5) -> list[Consumed]:
    """Make the group of a row and assign it, by ours and by what it is compared to."""
    group = make_group(row, seed)
    solved, wall, cpu = _timed(lambda: Balanced().solve(group), num_runs)
    peak = status_bytes("VmHWM")
    least = _least_moved(group, solved)
    ours = _consumed(row, seed, OURS, group, solved.assignment, solved, least)
    found = [ours(wall, cpu, peak)]
    if row.is_compared:
        asked = sticky.as_asked(group)
        answer, wall, cpu = _timed(lambda: sticky.assign(asked), 1, is_warmed=False)
        theirs = Assignment(sticky.as_rows(group, answer))
        other = _consumed(row, seed, THEIRS, group, theirs, solved, least)
        found.append(other(wall, cpu, status_bytes("VmHWM")))
    return found


def _timed(
    work: Callable[[], Value], num_runs: int, *, is_warmed: bool = True
) -> tuple[Value, float, float]:
    if is_warmed:
        work()
    walls, cpus = [], []
    for _ in range(num_runs):
        began, used = time.perf_counter(), cpu_s()
        value = work()
        walls.append(time.perf_counter() - began)
        cpus.append(cpu_s() - used)
    return value, median(walls), median(cpus)


def _least_moved(group: Group, solved: Answer) -> float:
    """Return how much had to move: partitions, or weight where weights differ."""
    if not _is_weighted(group):
        moved = solved.certificate.moved
        return 0.0 if moved is None else moved.lower_bound
    # What a member owns over the limit that all keep to has to leave it.
    weight = group.partitions.weight
    loads = solved.assignment.load(group)
    limit = max(loads.mean() * (1 + DEFAULT_TOLERANCE), loads.max())
    owned = np.bincount(
        group.owned.owner, weight[group.owned.idx], minlength=group.num_members
    )
    return float(np.maximum(owned - limit, 0).sum())


def _is_weighted(group: Group) -> bool:
    weight = group.partitions.weight
    return bool((weight != weight[0]).any())


def _consumed(
    row: Consuming,
    seed: int,
    assignor: str,
    group: Group,
    assignment: Assignment,
    solved: Answer,
    least_moved: float,
) -> Callable[[float, float, int], Consumed]:
    loads = assignment.load(group)
    moved = is_moved(group, assignment)
    weight = float(group.partitions.weight[moved].sum())

    def consumed(wall_s: float, cpu_s: float, peak_bytes: int) -> Consumed:
        return Consumed(
            name=row.name,
            assignor=assignor,
            seed=seed,
            wall_s=wall_s,
            cpu_s=cpu_s,
            peak_bytes=peak_bytes,
            most=float(loads.max()),
            least=float(loads.min()),
            mean=float(loads.mean()),
            busiest_ratio=float(loads.max()) / solved.certificate.busiest.lower_bound,
            moved=int(np.count_nonzero(moved)),
            moved_ratio=_ratio(weight, least_moved),
            num_findings=_num_findings(group, assignment.member_idx),
        )

    return consumed


def _ratio(value: float, bound: float) -> float:
    if bound == 0:
        return 1.0 if value == 0 else float("inf")
    return value / bound


def _num_findings(group: Group, member_idx: npt.NDArray[np.int32]) -> int:
    return len(check(group, member_idx))


def is_met(row: Consuming, found: Sequence[Consumed]) -> bool:
    """Tell whether the medians keep to what is wanted, and every seed to the rest."""
    is_even = (
        max(one.most / one.mean for one in found) <= row.must_even
        if row.must_even
        # Proven: nobody can be less busy.
        else all(one.busiest_ratio <= 1 for one in found)
    )
    return (
        is_even
        and median(one.seconds for one in found) <= row.must_s
        and max(one.moved_ratio for one in found) <= row.must_ratio
        and not any(one.num_findings for one in found)
    )


def row_text(row: Consuming, found: Sequence[Consumed]) -> str:
    """Return one row: medians over the seeds, the worst of everything else."""
    worst = max(found, key=lambda one: one.most / one.mean)
    findings = sum(one.num_findings for one in found)
    said = f", {findings} findings" if findings else ""
    is_ours = found[0].assignor == OURS
    met = ("yes" if is_met(row, found) else "**no**") if is_ours else ""
    return (
        f"| {row.name} | {found[0].assignor}{said} "
        f"| {len(found)} | {median(one.wall_s for one in found):.4f} "
        f"| {median(one.cpu_s for one in found):.4f} "
        f"| {max(one.peak_bytes for one in found) / 2**20:.0f} "
        f"| {worst.most:g} / {worst.least:g} "
        f"| {max(one.busiest_ratio for one in found):.5f} "
        f"| {max(one.moved for one in found):,} "
        f"| {max(one.moved_ratio for one in found):.4f} "
        f"| {_seconds(row.must_s)} | {_seconds(row.aim_s)} | {met} |"
    )


def _seconds(seconds: float) -> str:
    return "-" if seconds == float("inf") else f"{seconds:g} s"


def measure_apart(row: Consuming, seed: int) -> list[Consumed]:
    """Measure a row in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.consuming", "--json"]
    done = subprocess.run(
        [*command, "--case", row.name, "--seeds", str(seed)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return [Consumed(**json.loads(line)) for line in done.stdout.splitlines()]


def _lines(row: Consuming, seeds: Sequence[int]) -> list[str]:
    runs = [measure_apart(row, seed) for seed in seeds]
    return [row_text(row, list(found)) for found in zip(*runs, strict=True)]


def _table(rows: Sequence[Consuming], seeds: Sequence[int]) -> str:
    lines = [HEADER]
    for row in rows:
        lines += _lines(row, seeds)
        print(lines[-1], file=sys.stderr, flush=True)  # noqa: T201 - progress
    return "\n".join(lines)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure assignments.")
    parser.add_argument("--case", action="append", help="only this row; repeatable")
    parser.add_argument("--seeds", default="1,2,3", help="of the groups")
    parser.add_argument("--smoke", action="store_true", help="each kind once, small")
    parser.add_argument("--json", action="store_true", help="in this process, as JSON")
    parser.add_argument("--write", type=Path, metavar="FILE", help="page to update")
    return parser.parse_args()


def main() -> None:
    """Measure, print, and write the page if one is named."""
    given = _arguments()
    if given.smoke:
        for row in SMOKE:
            for one in measure(row, 1, num_runs=1):
                print(row_text(row, [one]))  # noqa: T201 - output
        return
    rows = [row for row in CONSUMING if given.case is None or row.name in given.case]
    seeds = [int(seed) for seed in given.seeds.split(",")]
    if given.json:
        for row in rows:
            for one in measure(row, seeds[0]):
                print(json.dumps(asdict(one)))  # noqa: T201 - the other process reads it
        return
    said = f"{where_measured('make bench')} Seeds {', '.join(map(str, seeds))}."
    table = f"{said}\n\n{_table(rows, seeds)}"
    print(table)  # noqa: T201 - output
    write_between_markers(given.write, table, MARKERS)


if __name__ == "__main__":
    main()
