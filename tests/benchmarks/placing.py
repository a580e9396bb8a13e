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
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.exact_bounds import bound_of
from benchmarks.placing_cases import FREE, PLACINGS, SMOKE, Limits, Placing
from benchmarks.run import cpu_s, replace_between_markers, status_bytes, where_measured
from placement.core.ahead import search_compiled
from placement.core.effort import NORMAL, QUICK
from placement.core.search import FEW_ITEMS
from placement.load import broker_loads, weigh
from placement.operations import Operation, RemoveBrokers
from placement.planning import PlannedPlacement, plan
from placement.rules.draft import Settings
from placement.synthetic import SIZES, Size, make_instance
from placement.targets import Targets
from planner.plan.document import make_plan
from planner.plan.make import OPERATIONS, check_plan
from planner.plan.request import PlanRequest, read_request
from planner.snapshot import Snapshot, read_snapshot, write_snapshot

MARKERS = ("<!-- placing: start -->", "<!-- placing: end -->")
WARM_UP = Size(12, 3, 20_000, 64)
"""Just large enough for the kernels to be compiled, with one broker removed too."""


@dataclass(frozen=True, slots=True)
class Placed:
    """
    What one plan took, and how good it is.

    Parameters
    ----------
    name, seed
        Of the row and of its cluster.
    wall_s, cpu_s, bound_s
        Seconds of the search, wall and CPU, and of proving the bounds; for a whole
        command of all of it.
    peak_bytes
        High-water mark of the process once the plan was made.
    moves, copied_bytes, ratio
        Replicas copied, their bytes, and these / the proven lower bound.
    brokers_out, furthest
        Brokers outside a band, and the furthest of them, as a fraction of its target.
    least_furthest
        How far out the furthest of them has to be, as the certificate proves.
    status
        Of the plan.
    num_findings
        What the independent checker holds against the plan.
    goals_missed
        Of Cruise Control's, where plans are held against these.
    exact_ratio
        Bytes / what the exact model proved of this cluster, where that was asked and
        the plan keeps all bands.
    """

    name: str
    seed: int
    wall_s: float
    cpu_s: float
    bound_s: float
    peak_bytes: int
    moves: int
    copied_bytes: int
    ratio: float
    brokers_out: int
    furthest: float
    least_furthest: float
    status: str
    num_findings: int
    goals_missed: int | None = None
    exact_ratio: float | None = None

    def is_out_for_need(self, nearly: float) -> bool:
        """Tell whether no plan keeps all bands, and none is much nearer to them."""
        return 0 < self.furthest <= self.least_furthest * nearly

    @property
    def held_ratio(self) -> float:
        """Bytes / the most that is proven of them."""
        return min(self.ratio, self.exact_ratio or self.ratio)

    @property
    def seconds(self) -> float:
        """What the search takes: its CPU, where it had to wait for others."""
        return min(self.wall_s, self.cpu_s)


def measure(row: Placing, seed: int, folder: Path, size: Size | None = None) -> Placed:
    """
    Make the cluster of a row, plan it, check the plan.

    Parameters
    ----------
    row
        What to plan.
    seed
        Of the cluster.
    folder
        Empty; the cluster is written there.
    size
        Instead of the row's own.
    """
    request = write_instance(row, seed, folder, size or SIZES[row.size])
    return measure_written(row, seed, folder, request)


def write_instance(row: Placing, seed: int, folder: Path, size: Size) -> PlanRequest:
    """Write the cluster of a row as Parquet; return what is to be planned on it."""
    instance = make_instance(row.family, size, seed, row.band)
    write_snapshot(Snapshot.from_state(instance.state), folder / "snapshot")
    return _request(instance.operation, row)


def _request(operation: Operation, row: Placing) -> PlanRequest:
    ids = operation.broker_ids if isinstance(operation, RemoveBrokers) else ()
    return PlanRequest(
        goal=operation.goal,
        broker_list=",".join(map(str, ids)) or None,
        band=(str(row.band),),
        effort=row.effort,
    )


def _with_exact(row: Placing, found: Placed) -> Placed:
    """Hold a plan against what the exact model once proved of its cluster."""
    bound = bound_of(row, found.seed)
    if bound is None or found.brokers_out:
        return found
    return replace(found, exact_ratio=_ratio(found.copied_bytes, bound))


def measure_written(
    row: Placing, seed: int, folder: Path, request: PlanRequest
) -> Placed:
    """Plan on a cluster that was written before."""
    if row.is_command:
        return _measure_command(row, seed, folder, request)
    return _with_exact(row, measure_plan(row.name, seed, _read(folder), request))


def _read(folder: Path) -> Any:
    return read_snapshot(folder / "snapshot").to_state()


def measure_plan(name: str, seed: int, state: Any, request: PlanRequest) -> Placed:
    """Plan, measure, and only then check and weigh the plan."""
    wishes = read_request(request, state)
    operation = OPERATIONS[request.goal](state, wishes)
    began, used = time.perf_counter(), cpu_s()
    placed = plan(state, operation, wishes.settings)
    wall, cpu = time.perf_counter() - began, cpu_s() - used
    peak = status_bytes("VmHWM")
    made = make_plan(request.goal, placed, taken_at=None, settings={})
    cost = placed.solution.certificate.cost
    out, furthest = brokers_out(placed)
    return Placed(
        name=name,
        seed=seed,
        wall_s=placed.seconds["solve"],
        # Only the wall time is known part by part.
        cpu_s=placed.seconds["solve"] * cpu / wall,
        bound_s=placed.seconds["bound"] * min(1.0, cpu / wall),
        peak_bytes=peak,
        moves=made.moves["replicas"],
        copied_bytes=made.moves["bytes"],
        ratio=_ratio(cost.value, cost.lower_bound),
        brokers_out=out,
        furthest=furthest,
        least_furthest=float(placed.solution.certificate.deviation.lower_bound),
        status=made.status,
        num_findings=sum(not f.existing for f in check_plan(made, wishes)),
    )


def _ratio(value: float, bound: float) -> float:
    if bound == 0:
        return 1.0 if value == 0 else float("inf")
    return value / bound


def brokers_out(placed: PlannedPlacement) -> tuple[int, float]:
    """Count brokers outside any band after a plan, and say how far out one is."""
    after = placed.reassignment.after()
    load = broker_loads(after, weigh(after), after.partitions.leader_idx)
    return out_of_band(placed.targets, load, may_be_low(placed))


def may_be_low(placed: PlannedPlacement) -> Any:
    """Return ``(B,)`` true for brokers that may end below their band."""
    draft = placed.draft
    return ~draft.is_new & draft.old_may_be_low


def out_of_band(targets: Targets, load: Any, is_free_below: Any) -> tuple[int, float]:
    """Count brokers outside any band; below it is fine where they may be low."""
    outside = targets.outside(load)
    outside[is_free_below[:, None] & (load < targets.lower)] = 0.0
    return int((outside > 0).any(axis=1).sum()), float(outside.max(initial=0.0))


def _measure_command(
    row: Placing, seed: int, folder: Path, request: PlanRequest
) -> Placed:
    """Time the command in a process of its own, twice; the first warms caches."""
    path = folder / "snapshot"
    words = ["plan", request.goal, str(path), "--band", str(row.band)]
    if request.broker_list:
        words += ["--broker-list", request.broker_list]
    words += ["--effort", row.effort, "--format", "json", "-o", str(folder / "plan")]
    command = [sys.executable, "-c", "from planner.cli.main import run; run()", *words]
    # With its bytecode on disk, as whatever is installed has it.
    usual = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    for _ in range(2):
        began, used = time.perf_counter(), cpu_s()
        done = subprocess.run(
            command, check=False, stdout=subprocess.PIPE, text=True, env=usual
        )
        wall, cpu = time.perf_counter() - began, cpu_s() - used
    document = json.loads(done.stdout)
    proven = document["certificate"]
    return Placed(
        name=row.name,
        seed=seed,
        wall_s=wall,
        cpu_s=cpu,
        bound_s=document["seconds"]["bound"],
        peak_bytes=document["peak_memory_bytes"],
        moves=document["moves"]["replicas"],
        copied_bytes=document["moves"]["bytes"],
        ratio=_ratio(proven["bytes"]["value"], proven["bytes"]["lower_bound"]),
        # The document has the furthest broker, and not how many.
        brokers_out=int(proven["deviation"]["value"] > 0),
        furthest=proven["deviation"]["value"],
        least_furthest=proven["deviation"]["lower_bound"],
        status=document["status"],
        num_findings=int(done.returncode == 3),
    )


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


OPTIONS = ("goal", "broker_list", "band", "effort")
"""What `_request` sets."""


def _step(step: str, row: Placing, seed: int, folder: Path) -> None:
    """Do one half of a measurement, in this process."""
    kept = folder / "request.json"
    if step == "make":
        request = write_instance(row, seed, folder, SIZES[row.size])
        options = {name: getattr(request, name) for name in OPTIONS}
        kept.write_text(json.dumps(options), encoding="utf-8")
        return
    request = PlanRequest(**json.loads(kept.read_text(encoding="utf-8")))
    warm_up(row)
    found = measure_written(row, seed, folder, request)
    print(json.dumps(asdict(found)))  # noqa: T201 - the other process reads it


def warm_up(row: Placing) -> None:
    """Load what such a plan loads, compiled kernels included if the row needs them."""
    is_compiled = SIZES[row.size].replicas > FEW_ITEMS
    size = WARM_UP if is_compiled else SIZES["XS"]
    # Not balanced beforehand, which would take a plan of its own.
    raw = {"a": "a'", "b": "c"}.get(row.family, row.family)
    instance = make_instance(raw, size, 1)
    is_removal = row.family == "b"
    operation = RemoveBrokers((0,)) if is_removal else instance.operation
    # What normal effort adds takes kernels of its own.
    effort = "quick" if row.effort == "quick" else "normal"
    plan(instance.state, operation, Settings(effort=effort))
    if is_compiled:
        search_compiled(
            QUICK if effort == "quick" else NORMAL, with_rare=effort != "quick"
        )


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
    for row in rows:
        found = [proven.held(row, measure_apart(row, seed)) for seed in seeds]
        lines.append(row_text(row, found))
        print(lines[-1], file=sys.stderr, flush=True)  # noqa: T201 - progress
    return "\n".join(lines)


class _Proven:
    """What any plan of a cluster has proven of it holds for every other."""

    def __init__(self) -> None:
        self._least: dict[tuple[object, ...], float] = {}

    def held(self, row: Placing, found: Placed) -> Placed:
        """Return what was measured, with the furthest that is proven of its cluster."""
        cluster = (row.family, row.size, row.band, found.seed)
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
    if given.write:
        page = given.write.read_text(encoding="utf-8")
        page = replace_between_markers(page, table, MARKERS)
        given.write.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
