"""
Score and plan on Spark, and write the tables of docs/benchmarks.md.

``PYTHONPATH=tests python -m benchmarks.spark [--replicas 1000000,10000000,100000000]
[--clusters 2000] [--cores 2] [--runs 3] [--smoke] [--write FILE]``

A score is held against one plain ``groupBy(broker).sum(size)`` over the same Parquet in
the same session; a fleet's plans against the sum of the searches alone.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

import pyarrow as pa

from benchmarks.run import replace_between_markers, where_measured
from placement.synthetic import SIZES, make_instance
from planner.fleet.append import append
from planner.fleet.plans import NamedRequest, plan_row
from planner.fleet.store import Store
from planner.plan.request import PlanRequest
from planner.snapshot import Snapshot
from planner.spark.each import SnapshotSize, read_whole, sizes_of
from planner.spark.fleet import Fleet, fleet_of_snapshots, snapshot_folder
from planner.spark.plans import plan_fleet
from planner.spark.scoring import score_fleet
from planner.spark.session import start_session
from planner.spark.snapshots import SnapshotReader

MARKERS = ("<!-- spark: start -->", "<!-- spark: end -->")
PARTITIONS_PER_TOPIC = 64
WARM_RUNS = 5
"""The JVM compiles as it goes: by then, most of what runs."""
ONCE_REPLICAS = 50_000_000
"""So many are scored once."""
SMOKE_REPLICAS, SMOKE_CLUSTERS = 3_000, 3
MOST_BROKERS = 10_000
LARGE_EVERY, HUGE_EVERY = 50, 1_000
"""Of so many clusters one is ten times as large, two hundred times as large."""
ALONE = 40
"""So many clusters of each size are planned without Spark, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """
    What scoring one snapshot took.

    Parameters
    ----------
    replicas, runs
        How many.
    plain_s, score_s
        Seconds of the plain sum, and of all scores; medians.
    plain_cpu_s, score_cpu_s
        Likewise of CPU: of this process, of Spark's JVM and its workers together. On a
        machine that is busy with other things they tell more.
    driver_bytes, jvm_bytes, worker_bytes
        High-water marks: of this process, of Spark's JVM, of the largest worker.
    """

    replicas: int
    runs: int
    plain_s: float
    score_s: float
    plain_cpu_s: float
    score_cpu_s: float
    driver_bytes: int
    jvm_bytes: int
    worker_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetPlanned:
    """
    What planning a fleet took.

    Parameters
    ----------
    clusters, replicas
        How many.
    wall_s
        Seconds.
    solve_s
        Sum of the seconds of all searches and proofs.
    total_s
        Sum of the seconds of all plans, from tables to files, as each took.
    busy
        That, as a fraction of what the cores could have done.
    alone_s
        Seconds that all plans take one after the other in a process of their own, from
        files of the fleet to files of the plan.
    share
        That, as a fraction of what the cores could have done: of the ideal.
    statuses
        How many plans have each status.
    """

    clusters: int
    replicas: int
    wall_s: float
    solve_s: float
    total_s: float
    busy: float
    alone_s: float
    share: float
    statuses: dict[str, int]


def write_cluster(spark: Any, folder: Path, replicas: int) -> None:
    """Write a seeded cluster of RF 3, made by Spark itself, as a snapshot folder."""
    from pyspark.sql import functions as F  # noqa: N812

    brokers = min(max(replicas // 1_000, 12), MOST_BROKERS)
    files = max(8, replicas // 5_000_000)
    first = F.floor(F.rand(1) * brokers).cast("int")
    rows = spark.range(0, replicas // 3, 1, files).select("id", first.alias("b"))
    placed = [((F.col("b") + k) % brokers).cast("int") for k in range(3)]
    dirs = [F.concat(F.lit("/data/d"), (each % 2).cast("string")) for each in placed]
    rate = F.exp(F.randn(3) + 11)
    table = rows.select(
        F.format_string(
            "topic-%06d", F.floor(F.col("id") / PARTITIONS_PER_TOPIC).cast("long")
        ).alias("topic"),
        (F.col("id") % PARTITIONS_PER_TOPIC).cast("int").alias("partition"),
        F.array(*placed).alias("replicas"),
        F.col("b").alias("leader"),
        F.array(*placed).alias("isr"),
        F.array(*dirs).alias("log_dirs"),
        F.exp(F.randn(2) + 22).cast("long").alias("size_bytes"),
        rate.alias("in_bytes_per_s"),
        (2 * rate).alias("out_bytes_per_s"),
    )
    table.write.parquet(str(folder / "partitions.parquet"))
    _write_brokers(folder, brokers)


def _write_brokers(folder: Path, brokers: int) -> None:
    from pyarrow import parquet

    header = '{"format": "kafka-planner/snapshot", "version": 1, "cluster_id": "b"}'
    (folder / "snapshot.json").write_text(header)
    ids = pa.array(range(brokers), pa.int32())
    racks = [f"r{broker % 10}" for broker in range(brokers)]
    parquet.write_table(
        pa.table({"id": ids, "rack": racks}), folder / "brokers.parquet"
    )
    dirs = {
        "broker_id": pa.array([b for b in range(brokers) for _ in "ab"], pa.int32()),
        "path": [f"/data/d{n}" for _ in range(brokers) for n in (0, 1)],
        "size_bytes": [10**13] * (2 * brokers),
    }
    parquet.write_table(pa.table(dirs), folder / "log_dirs.parquet")


def measure_score(
    spark: Any, folder: Path, replicas: int, runs: int, *, is_warm: bool = False
) -> Scored:
    """
    Write a cluster, score it, and time a plain sum in between.

    Parameters
    ----------
    spark, folder, replicas, runs
        The session; an empty folder; how many.
    is_warm
        Whether the session has done such work before; else the first runs, which
        compile and start what the others use, do not count.
    """
    from pyspark.sql import functions as F  # noqa: N812

    write_cluster(spark, folder, replicas)
    fleet = snapshot_folder(spark, folder, name="b")
    each = fleet.partitions.select(F.explode("replicas").alias("broker"), "size_bytes")
    plain = each.groupBy("broker").agg(F.sum("size_bytes"))

    def score() -> None:
        found = score_fleet(fleet)
        _run(found.scores)
        found.release()

    again = 0 if is_warm else WARM_RUNS
    pairs = [(_spent(lambda: _run(plain)), _spent(score)) for _ in range(runs + again)]
    jvm, worker = _peaks()
    plains, scores = zip(*pairs[again:], strict=True)
    return Scored(
        replicas=replicas,
        runs=runs,
        plain_s=median(wall for wall, _ in plains),
        score_s=median(wall for wall, _ in scores),
        plain_cpu_s=median(cpu for _, cpu in plains),
        score_cpu_s=median(cpu for _, cpu in scores),
        driver_bytes=_peak("self"),
        jvm_bytes=jvm,
        worker_bytes=worker,
    )


def _run(table: Any) -> None:
    table.write.format("noop").mode("overwrite").save()


def _spent(work: Callable[[], None]) -> tuple[float, float]:
    """Return the seconds of wall and of CPU that work takes."""
    began, used = time.perf_counter(), _cpu_s()
    work()
    return time.perf_counter() - began, _cpu_s() - used


def _cpu_s() -> float:
    """Return the seconds of CPU of this process and all below it, ended ones too."""
    ticks = 0
    for process in (str(os.getpid()), *_descendants()):
        try:
            stat = Path("/proc", process, "stat").read_text()
        except OSError:
            continue
        # Fields 14 to 17 of proc(5): its own time, and that of its ended children.
        ticks += sum(map(int, stat.rpartition(")")[2].split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _peak(process: str) -> int:
    status = Path("/proc", process, "status").read_text().splitlines()
    found = [line.split()[1] for line in status if line.startswith("VmHWM:")]
    return int(found[0]) * 1024 if found else 0


def _peaks() -> tuple[int, int]:
    """Return the high-water marks of Spark's JVM and of the largest of its workers."""
    jvm, workers = 0, 0
    for process in _descendants():
        try:
            peak = _peak(process)
            name = Path("/proc", process, "comm").read_text().strip()
        except OSError:
            continue
        jvm, workers = (
            (max(jvm, peak), workers) if name == "java" else (jvm, max(workers, peak))
        )
    return jvm, workers


def _descendants() -> list[str]:
    parents: dict[str, str] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[path.parent.name] = path.read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue
    found = [str(os.getpid())]
    for each in found:
        found += [child for child, parent in parents.items() if parent == each]
    return found[1:]


def measure_plans(spark: Any, folder: Path, clusters: int, cores: int) -> FleetPlanned:
    """Plan a fleet of small clusters with some large ones among them."""
    from planner.spark.fleet import open_fleet

    snapshots = [_cluster(number) for number in range(clusters)]
    store = Store(str(folder / "fleet"))
    for snapshot in snapshots:
        append(snapshot, store)
    fleet = open_fleet(spark, str(folder / "fleet"))
    requests = {"rebalance": PlanRequest(goal="rebalance", effort="quick")}
    # Workers are started, and kernels loaded, by a small fleet.
    warm = fleet_of_snapshots(spark, snapshots[:2])
    plan_fleet(spark, warm, requests).collect()
    began = time.perf_counter()
    plans = plan_fleet(spark, fleet, requests)
    rows = plans.select("status", "solve_s", "bound_s", "total_s").collect()
    wall = time.perf_counter() - began
    solve = sum((row["solve_s"] or 0) + (row["bound_s"] or 0) for row in rows)
    total = sum(row["total_s"] for row in rows)
    found = [row["status"] for row in rows]
    alone = plans_alone_s(fleet, requests["rebalance"])
    return FleetPlanned(
        clusters=clusters,
        replicas=sum(
            len(each.partitions.column("replicas").combine_chunks().flatten())
            for each in snapshots
        ),
        wall_s=wall,
        solve_s=solve,
        total_s=total,
        busy=total / (wall * cores),
        alone_s=alone,
        share=alone / (wall * cores),
        statuses={status: found.count(status) for status in sorted(set(found))},
    )


def plans_alone_s(fleet: Fleet, request: PlanRequest) -> float:
    """Return the seconds of all plans without Spark; of each size some are made."""
    assert fleet.files is not None
    reader = SnapshotReader(fleet.files)
    named = NamedRequest(name="alone", request=request)
    by_name: dict[str, list[SnapshotSize]] = {}
    for size in sizes_of(fleet):
        by_name.setdefault(_size_name(int(size.cluster_id[1:])), []).append(size)
    seconds = 0.0
    for sizes in by_name.values():
        chosen = sizes[:: -(-len(sizes) // ALONE)]
        # The first one loads what plans of its size need.
        each = [_alone_s(reader, size, named) for size in (chosen[0], *chosen)]
        seconds += len(sizes) * mean(each[1:])
    return seconds


def _alone_s(reader: SnapshotReader, size: SnapshotSize, named: NamedRequest) -> float:
    began = time.perf_counter()
    whole = read_whole(reader, size.job(named.name), size.micros)
    plan_row(whole.tables, whole.header, named)
    return time.perf_counter() - began


def _size_name(number: int) -> str:
    if number % HUGE_EVERY == HUGE_EVERY - 1:
        return "M"
    return "S" if number % LARGE_EVERY == LARGE_EVERY - 1 else "XS"


def _cluster(number: int) -> Snapshot:
    name = _size_name(number)
    state = make_instance("c", SIZES[name], number % 40 + 1, 0.1).state
    header = {"taken_at": "2026-11-21T08:00:00Z", "cluster_id": f"c{number:05}"}
    return Snapshot.from_state(state, header)


def score_table(found: Sequence[Scored]) -> str:
    """Return the scores as a table in Markdown."""
    rows = [
        "| replicas | runs | plain sum, s | scores, s | ratio | plain sum, CPU s "
        "| scores, CPU s | ratio | replicas/s | driver, MB | JVM, MB | worker, MB |",
        f"|{'---:|' * 12}",
        *(
            f"| {s.replicas:,} | {s.runs} | {s.plain_s:.2f} | {s.score_s:.2f} "
            f"| {s.score_s / s.plain_s:.1f} | {s.plain_cpu_s:.2f} "
            f"| {s.score_cpu_s:.2f} | {s.score_cpu_s / s.plain_cpu_s:.1f} "
            f"| {s.replicas / s.score_s:,.0f} | {s.driver_bytes / 1e6:.0f} "
            f"| {s.jvm_bytes / 1e6:.0f} | {s.worker_bytes / 1e6:.0f} |"
            for s in found
        ),
    ]
    return "\n".join(rows)


def plan_table(found: Sequence[FleetPlanned]) -> str:
    """Return the fleets planned as a table in Markdown."""
    rows = [
        "| clusters | replicas | wall, s | clusters/s | searches and proofs, s "
        "| whole plans, s | of the cores | without Spark, s | of the ideal | plans |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|",
        *(
            f"| {p.clusters:,} | {p.replicas:,} | {p.wall_s:.1f} "
            f"| {p.clusters / p.wall_s:.1f} | {p.solve_s:.1f} "
            f"| {p.total_s:.1f} | {p.busy:.0%} | {p.alone_s:.1f} | {p.share:.0%} "
            f"| {', '.join(f'{n} {status}' for status, n in p.statuses.items())} |"
            for p in found
        ),
    ]
    return "\n".join(rows)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure scores and plans on Spark.")
    parser.add_argument("--replicas", default="1000000,10000000,100000000")
    parser.add_argument("--clusters", type=int, default=2_000)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--memory", default="3g", help="of Spark's JVM")
    parser.add_argument("--smoke", action="store_true", help="small, once")
    parser.add_argument("--write", type=Path, metavar="FILE", help="page to update")
    return parser.parse_args()


def main() -> None:
    """Measure, print, and write the page if one is named."""
    given = _arguments()
    sizes = [int(each) for each in given.replicas.split(",") if each]
    if given.smoke:
        sizes, given.clusters, given.runs = [SMOKE_REPLICAS], SMOKE_CLUSTERS, 1
    conf = {"spark.driver.memory": given.memory}
    spark = start_session(master=f"local[{given.cores}]", conf=conf)
    scored, planned = [], []
    with tempfile.TemporaryDirectory() as base:
        for size in sizes:
            folder = Path(base) / str(size)
            folder.mkdir()
            runs = given.runs if size < ONCE_REPLICAS else 1
            is_warm = bool(scored)
            found = measure_score(spark, folder, size, runs, is_warm=is_warm)
            scored.append(found)
            shutil.rmtree(folder)
            print(scored[-1], file=sys.stderr)  # noqa: T201 - progress
        if given.clusters:
            fleet = measure_plans(spark, Path(base), given.clusters, given.cores)
            planned.append(fleet)
    spark.stop()
    where = where_measured("make bench")
    measured = f"{where}\n\n{score_table(scored)}\n\n{plan_table(planned)}"
    print(measured)  # noqa: T201 - a script's output
    if given.write:
        page = replace_between_markers(given.write.read_text(), measured, MARKERS)
        given.write.write_text(page)


if __name__ == "__main__":
    main()
