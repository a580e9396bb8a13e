"""Plan one cluster of the placement table, and measure what that takes."""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.exact_bounds import bound_of
from benchmarks.placing_cases import Placing
from benchmarks.run import cpu_s, status_bytes
from placement.core.model.search_budget import NORMAL, QUICK
from placement.core.search.compilation import FEW_ITEMS
from placement.core.search.preload import search_compiled
from placement.draft.draft import Settings
from placement.model.load import RESOURCES, broker_loads, weigh
from placement.model.targets import Targets
from placement.operations.descriptor import name_of
from placement.operations.leaders import Leaders
from placement.operations.operation import Operation
from placement.operations.remove_brokers import RemoveBrokers
from placement.planning.outcome.result import PlannedPlacement
from placement.planning.plan import plan
from placement.synthetic import SIZES, Size, make_instance
from planner.options.cluster_options import read_request
from planner.options.operations import make_operation
from planner.options.plan_request import PlanRequest
from planner.plan.documents.scored_plan import make_plan
from planner.plan.run.make_plan import check_plan
from planner.snapshot import Snapshot, read_snapshot, write_snapshot

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
    usual = PlanRequest(
        goal=name_of(operation),
        broker_list=",".join(map(str, ids)) or None,
        band=(str(row.band),),
        effort=row.effort,
    )
    return usual.changed(**dict(row.asks))


def _with_exact(row: Placing, found: Placed) -> Placed:
    """Hold a plan against what the exact model once proved of its cluster."""
    bound = None if row.asks else bound_of(row, found.seed)
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
    chosen = read_request(request, state)
    operation = make_operation(request.goal, state, chosen.options, chosen.settings)
    began, used = time.perf_counter(), cpu_s()
    placed = plan(state, operation, chosen.settings)
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
        num_findings=sum(not f.existing for f in check_plan(made, chosen)),
    )


def _ratio(value: float, bound: float) -> float:
    if bound == 0:
        return 1.0 if value == 0 else float("inf")
    return value / bound


def brokers_out(placed: PlannedPlacement) -> tuple[int, float]:
    """Count brokers outside any band after a plan, and say how far out one is."""
    after = placed.reassignment.after()
    load = broker_loads(after, weigh(after), after.partitions.leader_idx)
    balanced = [RESOURCES.index(resource) for resource in placed.balanced]
    return out_of_band(placed.targets, load, may_be_low(placed), balanced)


def may_be_low(placed: PlannedPlacement) -> Any:
    """Return ``(B,)`` true for brokers that may end below their band."""
    draft = placed.draft
    return ~draft.is_new & draft.old_may_be_low


def out_of_band(
    targets: Targets, load: Any, is_free_below: Any, balanced: Any = slice(None)
) -> tuple[int, float]:
    """Count brokers outside any band; below it is fine where they may be low."""
    outside = targets.outside(load)
    outside[is_free_below[:, None] & (load < targets.lower)] = 0.0
    outside = outside[:, balanced]
    return int((outside > 0).any(axis=1).sum()), float(outside.max(initial=0.0))


def _measure_command(
    row: Placing, seed: int, folder: Path, request: PlanRequest
) -> Placed:
    """Time the command in a process of its own; but for the first, with caches warm."""
    path = folder / "snapshot"
    words = ["plan", request.goal, str(path), "--band", str(row.band)]
    if named := request.options.broker_list:
        words += ["--broker-list", ",".join(map(str, named))]
    words += ["--effort", row.effort, "--format", "json", "-o", str(folder / "plan")]
    command = [sys.executable, "-c", "from planner.cli.main import run; run()", *words]
    # With its bytecode on disk, as whatever is installed has it.
    usual = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    if row.is_first:
        nowhere, empty = str(folder / "no-home"), str(folder / "caches")
        usual |= {"HOME": nowhere, "NUMBA_CACHE_DIR": empty}
        usual |= {"PYTHONPYCACHEPREFIX": empty}
    for _ in range(1 if row.is_first else 2):
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
    if dict(row.asks).get("goal") == "leaders":
        plan(instance.state, Leaders(), Settings(effort=effort))
    if is_compiled:
        search_compiled(
            QUICK if effort == "quick" else NORMAL, with_rare=effort != "quick"
        )
