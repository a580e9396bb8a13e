"""Plan a fleet on Spark, and the same plans without it."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.processes import cpu_s
from placement.core.model.search_budget import EFFORTS
from placement.core.search.preload import search_compiled
from placement.synthetic import SIZES, make_instance
from planner.fleet.append import append
from planner.fleet.cluster_plans import NamedRequest, plan_row
from planner.fleet.fleet_store import Store
from planner.options.plan_request import PlanRequest
from planner.snapshot import Snapshot
from planner.spark.io.fleet_opening import fleet_of_snapshots, open_fleet
from planner.spark.io.fleet_tables import Fleet
from planner.spark.io.whole_snapshots import SnapshotReader
from planner.spark.per_snapshot.map_snapshots import read_whole
from planner.spark.per_snapshot.snapshot_jobs import SnapshotSize, sizes_of
from planner.spark.reports.fleet_plans import plan_fleet

LARGE_EVERY, HUGE_EVERY = 50, 1_000
"""Of so many clusters one is ten times as large, two hundred times as large."""
ALONE = 40
"""So many clusters of each size are planned without Spark, at most."""
MILLION = 999_999
"""The number of the cluster of a million replicas, where there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetPlanned:
    """
    What planning a fleet took.

    Parameters
    ----------
    clusters, replicas
        How many.
    wall_s, cpu_s
        Seconds, and of CPU: of this process, of Spark's JVM and its workers together.
    solve_s
        Sum of the seconds of all searches and proofs.
    total_s
        Sum of the seconds of all plans, from tables to files, as each took.
    busy
        That, as a fraction of what the cores could have done.
    alone_s, alone_cpu_s
        Seconds that all plans take one after the other in a process of their own, from
        files of the fleet to files of the plan.
    share
        `alone_s`, as a fraction of what the cores could have done: of the ideal.
    statuses
        How many plans have each status.
    """

    clusters: int
    replicas: int
    wall_s: float
    cpu_s: float
    solve_s: float
    total_s: float
    busy: float
    alone_s: float
    alone_cpu_s: float
    share: float
    statuses: dict[str, int]


def measure_plans(
    spark: Any,
    folder: Path,
    clusters: int,
    cores: int,
    *,
    first: Iterable[int] = (0,),
    with_million: bool = False,
) -> FleetPlanned:
    """
    Plan a fleet of small clusters with some large ones among them.

    Parameters
    ----------
    spark, folder, clusters, cores
        The session; an empty folder; how many.
    first
        Numbers of clusters that are planned before: to start workers, and to load what
        they need, takes a second each, and does not count without Spark either.
    with_million
        Whether there is one of a million replicas besides.
    """
    path = str(folder / "fleet")
    numbers = [*range(clusters), *([MILLION] if with_million else [])]
    replicas = sum(_appended(_clusters(numbers), Store(path)))
    fleet = open_fleet(spark, path)
    requests = {"rebalance": PlanRequest(goal="rebalance", effort="quick")}
    # Before and after, for the machine has other work, and not always as much.
    early = plans_alone_s(fleet, requests["rebalance"])
    warm = fleet_of_snapshots(spark, list(_clusters(first)))
    plan_fleet(spark, warm, requests).collect()
    began, used = time.perf_counter(), cpu_s()
    plans = plan_fleet(spark, fleet, requests)
    rows = plans.select("status", "solve_s", "bound_s", "total_s").collect()
    wall, cpu = time.perf_counter() - began, cpu_s() - used
    solve = sum((row["solve_s"] or 0) + (row["bound_s"] or 0) for row in rows)
    total = sum(row["total_s"] for row in rows)
    found = [row["status"] for row in rows]
    late = plans_alone_s(fleet, requests["rebalance"])
    alone, alone_cpu = map(mean, zip(early, late, strict=True))
    return FleetPlanned(
        clusters=len(numbers),
        replicas=replicas,
        wall_s=wall,
        cpu_s=cpu,
        solve_s=solve,
        total_s=total,
        busy=total / (wall * cores),
        alone_s=alone,
        alone_cpu_s=alone_cpu,
        share=alone / (wall * cores),
        statuses={status: found.count(status) for status in sorted(set(found))},
    )


def first_clusters(cores: int) -> list[int]:
    """
    Number clusters that start a worker per core, and have each load the search.

    Two of their size are worth a task.
    """
    return [HUGE_EVERY * (1 + n) - 1 for n in range(2 * cores)]


def _clusters(numbers: Any) -> Iterator[Snapshot]:
    return (make_cluster(number) for number in numbers)


def _appended(snapshots: Iterator[Snapshot], store: Store) -> Iterator[int]:
    """Append snapshots one by one, and yield how many replicas each has."""
    for snapshot in snapshots:
        append(snapshot, store)
        lists = snapshot.partitions.column("replicas").combine_chunks()
        yield len(lists.flatten())


def plans_alone_s(fleet: Fleet, request: PlanRequest) -> tuple[float, float]:
    """
    Return the seconds of all plans without Spark, and of CPU.

    Of each size some are made; the others are taken to be like them. All run compiled,
    as in a task that has met a large cluster.
    """
    assert fleet.files is not None
    search_compiled(EFFORTS[request.options.effort])
    reader = SnapshotReader(fleet.files)
    named = NamedRequest(name="alone", request=request)
    by_name: dict[str, list[SnapshotSize]] = {}
    for size in sizes_of(fleet):
        by_name.setdefault(size_name(int(size.cluster_id[1:])), []).append(size)
    wall = cpu = 0.0
    for sizes in by_name.values():
        chosen = sizes[:: -(-len(sizes) // ALONE)]
        # The first one loads, and gets memory for, what plans of its size need. So does
        # the only one of its size, in its task as well: there it counts.
        first = chosen[:1] if len(sizes) > 1 else []
        each = [_alone_s(reader, size, named) for size in (*first, *chosen)]
        wall += len(sizes) * mean(seconds for seconds, _ in each[len(first) :])
        cpu += len(sizes) * mean(seconds for _, seconds in each[len(first) :])
    return wall, cpu


def _alone_s(
    reader: SnapshotReader, size: SnapshotSize, named: NamedRequest
) -> tuple[float, float]:
    began, used = time.perf_counter(), time.process_time()
    whole = read_whole(reader, size.cluster_id, size.micros)
    plan_row(whole.tables, whole.header, named)
    return time.perf_counter() - began, time.process_time() - used


def size_name(number: int) -> str:
    """Return how large a cluster of the fleet is."""
    if number == MILLION:
        return "L"
    if number % HUGE_EVERY == HUGE_EVERY - 1:
        return "M"
    return "S" if number % LARGE_EVERY == LARGE_EVERY - 1 else "XS"


def make_cluster(number: int) -> Snapshot:
    """Return a cluster of the fleet."""
    state = make_instance("c", SIZES[size_name(number)], number % 40 + 1, 0.1).state
    header = {"taken_at": "2026-11-21T08:00:00Z", "cluster_id": f"c{number:06}"}
    return Snapshot.from_state(state, header)


def plan_table(found: list[FleetPlanned]) -> str:
    """Return the fleets planned as a table in Markdown."""
    rows = [
        "| clusters | replicas | wall, s | clusters/s | searches and proofs, s "
        "| whole plans, s | of the cores | without Spark, s | of the ideal "
        "| CPU, s | without Spark, CPU s | of the CPU | plans |",
        f"|{'---:|' * 12}---|",
        *(
            f"| {p.clusters:,} | {p.replicas:,} | {p.wall_s:.1f} "
            f"| {p.clusters / p.wall_s:.1f} | {p.solve_s:.1f} "
            f"| {p.total_s:.1f} | {p.busy:.0%} | {p.alone_s:.1f} | {p.share:.0%} "
            f"| {p.cpu_s:.1f} | {p.alone_cpu_s:.1f} | {p.alone_cpu_s / p.cpu_s:.0%} "
            f"| {', '.join(f'{n} {status}' for status, n in p.statuses.items())} |"
            for p in found
        ),
    ]
    return "\n".join(rows)
