"""
Plan the synthetic families, and write the table of docs/benchmarks.md.

``PYTHONPATH=tests python -m benchmarks.placing [--size M] [--case 'M(a) 5 %']
[--seeds 1,2,3] [--write FILE]``

Each plan is made in a process of its own, from Parquet, after one small plan that
loads the compiled kernels; so its peak memory is its own. Every plan goes through the
independent checker, untimed.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.placing_cases import FREE, PLACINGS, SMOKE, Limits, Placing
from benchmarks.placing_measures import (
    Placed,
    measure,
    measure_written,
    warm_up,
    write_instance,
)
from benchmarks.run import where_measured, write_between_markers
from placement.synthetic import SIZES
from planner.options.plan_request import PlanRequest

MARKERS = ("<!-- placing: start -->", "<!-- placing: end -->")


def measure_apart(row: Placing, seed: int) -> Placed:
    """Measure one plan in a process of its own, its cluster made by another."""
    with tempfile.TemporaryDirectory() as base:
        common = ["--case", row.name, "--seeds", str(seed), "--folder", base]
        for step in ("make", "plan"):
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.placing", "--step", step, *common],
                check=True,
                stdout=subprocess.PIPE,
                text=True,
            )
    return Placed(**json.loads(done.stdout))


def _options(request: PlanRequest) -> dict[str, Any]:
    """Return what a request asks for besides what every one does."""
    usual = PlanRequest(goal=request.goal).to_dict()
    return {"goal": request.goal} | {
        name: value for name, value in request.to_dict().items() if value != usual[name]
    }


def _step(step: str, row: Placing, seed: int, folder: Path) -> None:
    """Do one half of a measurement, in this process."""
    kept = folder / "request.json"
    if step == "make":
        request = write_instance(row, seed, folder, SIZES[row.size])
        kept.write_text(json.dumps(_options(request)), encoding="utf-8")
        return
    request = PlanRequest(**json.loads(kept.read_text(encoding="utf-8")))
    warm_up(row)
    found = measure_written(row, seed, folder, request)
    print(json.dumps(asdict(found)))  # noqa: T201 - the other process reads it


def is_within(found: Sequence[Placed], limits: Limits) -> bool:
    """
    Tell whether the medians, and the worst broker of any seed, keep to limits.

    Brokers that no plan brings nearer to their bands are nobody's fault.
    """
    open_ = [one for one in found if not one.is_out_for_need(limits.nearly)]
    return (
        median(one.seconds for one in found) <= limits.seconds
        and median(one.held_ratio for one in found) <= limits.ratio
        and max(one.peak_bytes for one in found) <= limits.peak_bytes
        and max((one.brokers_out for one in open_), default=0) <= limits.brokers_out
        and max((one.furthest for one in open_), default=0.0) <= limits.furthest
        and not any(one.num_findings for one in found)
    )


def row_text(row: Placing, found: Sequence[Placed]) -> str:
    """Return one row: medians over the seeds, the worst of memory and brokers."""
    statuses = ", ".join(sorted({one.status for one in found}))
    findings = sum(one.num_findings for one in found)
    furthest = 100 * max(one.furthest for one in found)
    out = max(one.brokers_out for one in found)
    least = 100 * max(one.least_furthest for one in found)
    need = f", {least:.2f} % proven" if least else ""
    met = "yes" if is_within(found, row.must) else "**no**"
    return (
        f"| {row.name} | {len(found)} | {median(one.wall_s for one in found):.3f} "
        f"| {median(one.cpu_s for one in found):.3f} "
        f"| {median(one.bound_s for one in found):.3f} "
        f"| {max(one.peak_bytes for one in found) / 2**20:.0f} "
        f"| {median(one.ratio for one in found):.4f}{_exact_text(found)} "
        f"| {min(one.ratio for one in found):.4f}-"
        f"{max(one.ratio for one in found):.4f} "
        f"| {f'{out} by {furthest:.2f} %{need}' if out else '0'} "
        f"| {statuses}{f', {findings} findings' if findings else ''} "
        f"| {row.must} | {row.aim} | {met if row.must != FREE else ''} |"
    )


def _exact_text(found: Sequence[Placed]) -> str:
    exact = [one.exact_ratio for one in found if one.exact_ratio is not None]
    return f" ({median(exact):.4f} of the exact model's)" if exact else ""


HEADER = (
    "| case | seeds | solve, s | CPU, s | bound, s | peak, MiB | ratio | least-most "
    "| out of band | status | must | aim | met? |\n"
    "|---|---:|---:|---:|---:|---:|---:|---:|---|---|---|---|---|"
)
GROWTH_HEADER = (
    "| from L to XL, times five | times the time | times the peak | must | met? |\n"
    "|---|---:|---:|---|---|"
)
MOST_TIME, MOST_MEMORY = 7, 5
"""Times that five times the replicas may take."""


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure plans.")
    parser.add_argument("--case", action="append", help="only this row; repeatable")
    parser.add_argument("--size", help="only rows of these sizes: S,M")
    parser.add_argument("--seeds", default="1,2,3", help="of the clusters")
    parser.add_argument("--smoke", action="store_true", help="each family once, small")
    parser.add_argument("--step", choices=["make", "plan"], help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--write", type=Path, metavar="FILE", help="page to update")
    return parser.parse_args()


def _chosen(given: argparse.Namespace) -> list[Placing]:
    sizes = given.size.split(",") if given.size else None
    return [
        row
        for row in PLACINGS
        if (sizes is None or row.size in sizes)
        and (given.case is None or row.name in given.case)
    ]


def _placing_table(rows: Sequence[Placing], seeds: Sequence[int]) -> str:
    lines, proven = [HEADER], _Proven()
    measured: dict[Placing, list[Placed]] = {}
    for row in rows:
        measured[row] = [proven.held(row, measure_apart(row, seed)) for seed in seeds]
        lines.append(row_text(row, measured[row]))
        print(lines[-1], file=sys.stderr, flush=True)  # noqa: T201 - progress
    return "\n".join(lines + growth_lines(measured))


def growth_lines(measured: Mapping[Placing, Sequence[Placed]]) -> list[str]:
    """Return a table of what five times the replicas take, where both are measured."""
    lines = []
    by_name = {row.name: found for row, found in measured.items()}
    for row, found in measured.items():
        small = by_name.get(replace(row, size="L").name)
        if row.size == "XL" and small:
            lines.append(_growth_text(row, small, found))
    return ["", GROWTH_HEADER, *lines] if lines else []


def _growth_text(row: Placing, small: Sequence[Placed], large: Sequence[Placed]) -> str:
    time, memory = (
        median(getattr(one, figure) for one in large)
        / median(getattr(one, figure) for one in small)
        for figure in ("seconds", "peak_bytes")
    )
    is_met = time <= MOST_TIME and memory <= MOST_MEMORY
    return (
        f"| ({row.family}) {100 * row.band:g} % | {time:.1f} | {memory:.1f} "
        f"| {MOST_TIME}, {MOST_MEMORY} | {'yes' if is_met else '**no**'} |"
    )


class _Proven:
    """What any plan of a cluster has proven of it holds for every other."""

    def __init__(self) -> None:
        self._least: dict[tuple[object, ...], float] = {}

    def held(self, row: Placing, found: Placed) -> Placed:
        """Return what was measured, with the furthest that is proven of its cluster."""
        cluster = (row.family, row.size, row.band, row.asks, found.seed)
        least = max(found.least_furthest, self._least.get(cluster, 0.0))
        self._least[cluster] = least
        return replace(found, least_furthest=least)


def _smoke() -> None:
    for row in SMOKE:
        with tempfile.TemporaryDirectory() as folder:
            print(row_text(row, [measure(row, 1, Path(folder))]))  # noqa: T201 - output


def main() -> None:
    """Measure, print, and write the page if one is named."""
    given = _arguments()
    if given.step:
        (row,) = _chosen(given)
        _step(given.step, row, int(given.seeds), given.folder)
        return
    if given.smoke:
        _smoke()
        return
    seeds = [int(seed) for seed in given.seeds.split(",")]
    said = f"{where_measured('make bench')} Seeds {', '.join(map(str, seeds))}."
    table = f"{said}\n\n{_placing_table(_chosen(given), seeds)}"
    print(table)  # noqa: T201 - output
    write_between_markers(given.write, table, MARKERS)


if __name__ == "__main__":
    main()
