"""
Score, plan and take in on Spark, and write the tables of docs/benchmarks.md.

``PYTHONPATH=tests python -m benchmarks.spark [--replicas 1000000,10000000,100000000]
[--clusters 2000] [--beside-million 400] [--ingest-mb 2000] [--cores 2] [--runs 3]
[--smoke] [--write FILE]``

A score is held against one plain ``groupBy(broker).sum(size)`` over the same Parquet in
the same session; a fleet's plans against the same plans without Spark.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any, TypeVar
from uuid import uuid4

import pyarrow as pa

from benchmarks.processes import peak, peaks, spent
from benchmarks.run import replace_between_markers, where_measured
from benchmarks.spark_ingest import ingest_table, measure_ingest
from benchmarks.spark_plans import (
    FleetPlanned,
    first_clusters,
    measure_plans,
    plan_table,
)
from planner.fleet.arrow_tables import EPOCH
from planner.fleet.commit_markers import TABLES, Commit, time_text
from planner.fleet.fleet_store import Store
from planner.spark.io.fleet_opening import open_fleet, snapshot_folder
from planner.spark.io.fleet_tables import Fleet
from planner.spark.scoring.fleet_scores import score_fleet
from planner.spark.session import start_session

MARKERS = ("<!-- spark: start -->", "<!-- spark: end -->")
PARTITIONS_PER_TOPIC = 64
WARM_RUNS, FIRST_RUNS = 5, 1
"""
Runs that do not count: the JVM compiles as it goes, by then most of what runs; and the
first one of more replicas than before gets memory that later ones have.
"""
T = TypeVar("T")
PATHS = ("folder", "DataFrames", "catalog", "viewfs:")
"""
Where the rows are: files that tasks read by themselves; tables of Spark's; tables by
name; a fleet on a file system that Spark alone reaches, as an object store is.
"""
SMOKE_REPLICAS, SMOKE_CLUSTERS, SMOKE_BYTES = 3_000, 3, 1_000_000
MOST_BROKERS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """
    What scoring one snapshot took.

    Parameters
    ----------
    path
        How the rows came: one of `PATHS`.
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

    path: str
    replicas: int
    runs: int
    plain_s: float
    score_s: float
    plain_cpu_s: float
    score_cpu_s: float
    driver_bytes: int
    jvm_bytes: int
    worker_bytes: int


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
    spark: Any,
    folder: Path,
    replicas: int,
    runs: int,
    *,
    paths: Sequence[str] = PATHS,
    is_warm: bool = False,
) -> list[Scored]:
    """
    Write a cluster, score it by each path, and time a plain sum in between.

    Parameters
    ----------
    spark, folder, replicas, runs
        The session; an empty folder; how many.
    paths
        Some of `PATHS`.
    is_warm
        Whether the session has done such work before; else more of the first runs,
        which compile and start what the others use, do not count.
    """
    from pyspark.sql import functions as F  # noqa: N812

    write_cluster(spark, folder, replicas)
    fleet = snapshot_folder(spark, folder, name="b")
    fleets = dict(_by_path(spark, folder, fleet, paths))
    each = fleet.partitions.select(F.explode("replicas").alias("broker"), "size_bytes")
    plain = each.groupBy("broker").agg(F.sum("size_bytes"))

    def score(path: str) -> None:
        found = score_fleet(fleets[path])
        _run(found.scores)
        found.release()

    again = FIRST_RUNS if is_warm else WARM_RUNS
    took = [
        (spent(lambda: _run(plain)), [spent(partial(score, path)) for path in paths])
        for _ in range(runs + again)
    ]
    jvm, worker = peaks()
    plains = [plain for plain, _ in took[again:]]
    by_path = zip(*(scores for _, scores in took[again:]), strict=True)
    return [
        Scored(
            path=path,
            replicas=replicas,
            runs=runs,
            plain_s=median(wall for wall, _ in plains),
            score_s=median(wall for wall, _ in scores),
            plain_cpu_s=median(cpu for _, cpu in plains),
            score_cpu_s=median(cpu for _, cpu in scores),
            driver_bytes=peak("self"),
            jvm_bytes=jvm,
            worker_bytes=worker,
        )
        for path, scores in zip(paths, by_path, strict=True)
    ]


def _by_path(
    spark: Any, folder: Path, fleet: Fleet, paths: Sequence[str]
) -> Iterator[tuple[str, Fleet]]:
    """Yield the same cluster by each path; what needs tables of its own writes them."""
    yield "folder", fleet
    yield "DataFrames", replace(fleet, files=None)
    root = folder / "fleet"
    if {"catalog", "viewfs:"} & {*paths}:
        _write_fleet(fleet, root)
    if "catalog" in paths:
        name = "bench"
        # Of the cluster before, whose files are gone.
        spark.sql(f"DROP DATABASE IF EXISTS {name} CASCADE")
        spark.sql(f"CREATE DATABASE {name} LOCATION '{(folder / 'db').as_uri()}'")
        for table in TABLES:
            place = (root / table).as_uri()
            how = f"USING parquet LOCATION '{place}'"
            spark.sql(f"CREATE TABLE {name}.{table} {how}")
            spark.sql(f"MSCK REPAIR TABLE {name}.{table}")
        yield "catalog", open_fleet(spark, f"table:{name}")
    if "viewfs:" in paths:
        mount = f"bench-{uuid4().hex}"
        spark.conf.set(f"fs.viewfs.mounttable.{mount}.link./data", root.as_uri())
        yield "viewfs:", open_fleet(spark, f"viewfs://{mount}/data")


def _write_fleet(fleet: Fleet, root: Path) -> None:
    """Write the tables of a snapshot as those of a fleet, and the marker."""
    for table, rows in fleet.tables().items():
        # Spark writes columns of nothing but nulls as flags, and reads them as none.
        known = [name for name, kind in rows.dtypes if kind != "void"]
        rows.select(known).write.parquet(str(root / table / "date=1970-01-01"))
    files = {
        table: [str(f.relative_to(root)) for f in (root / table).rglob("*.parquet")]
        for table in TABLES
    }
    snapshots = {("b", time_text(EPOCH)): "bench"}
    Store(str(root)).commit(Commit(name="bench", snapshots=snapshots, files=files))


def _run(table: Any) -> None:
    table.write.format("noop").mode("overwrite").save()


def score_table(found: Sequence[Scored]) -> str:
    """Return the scores as a table in Markdown."""
    rows = [
        "| from | replicas | runs | plain sum, s | scores, s | ratio "
        "| plain sum, CPU s | scores, CPU s | ratio | replicas/s "
        "| driver, MB | JVM, MB | worker, MB |",
        f"|---|{'---:|' * 12}",
        *(
            f"| {s.path} | {s.replicas:,} | {s.runs} "
            f"| {s.plain_s:.2f} | {s.score_s:.2f} "
            f"| {s.score_s / s.plain_s:.1f} | {s.plain_cpu_s:.2f} "
            f"| {s.score_cpu_s:.2f} | {s.score_cpu_s / s.plain_cpu_s:.1f} "
            f"| {s.replicas / s.score_s:,.0f} | {s.driver_bytes / 1e6:.0f} "
            f"| {s.jvm_bytes / 1e6:.0f} | {s.worker_bytes / 1e6:.0f} |"
            for s in found
        ),
    ]
    return "\n".join(rows)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure work on Spark.")
    parser.add_argument("--replicas", default="1000000,10000000,100000000")
    parser.add_argument("--clusters", type=int, default=2_000)
    parser.add_argument("--beside-million", type=int, default=400, metavar="CLUSTERS")
    parser.add_argument("--ingest-mb", type=int, default=2_000)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--memory", default="3g", help="of Spark's JVM")
    parser.add_argument("--smoke", action="store_true", help="small, once")
    parser.add_argument("--write", type=Path, metavar="FILE", help="page to update")
    given = parser.parse_args()
    if given.smoke:
        given.replicas, given.clusters, given.runs = f"{SMOKE_REPLICAS}", 3, 1
        given.ingest_mb, given.beside_million = 1, 0
    return given


def main() -> None:
    """Measure, print, and write the page if one is named."""
    given = _arguments()
    conf = {"spark.driver.memory": given.memory}
    spark = start_session(master=f"local[{given.cores}]", conf=conf)
    with tempfile.TemporaryDirectory() as base:
        tables = [*_tables(spark, Path(base), given)]
    spark.stop()
    measured = "\n\n".join([where_measured("make bench"), *tables])
    print(measured)  # noqa: T201 - a script's output
    if given.write:
        page = replace_between_markers(given.write.read_text(), measured, MARKERS)
        given.write.write_text(page)


def _tables(spark: Any, base: Path, given: argparse.Namespace) -> Iterator[str]:
    sizes = [int(each) for each in given.replicas.split(",") if each]
    scored: list[Scored] = []
    for size in sizes:
        how = {"is_warm": bool(scored)}
        with _folder(base) as folder:
            found = measure_score(spark, folder, size, given.runs, **how)
        scored += map(_told, found)
    if scored:
        yield score_table(scored)
    fleets = [(given.clusters, False), (given.beside_million, True)]
    planned = []
    for clusters, with_million in fleets:
        if clusters:
            how = {"with_million": with_million}
            with _folder(base) as folder:
                found = _apart(plans_apart, folder, clusters, given, **how)
            planned.append(_told(found))
    if planned:
        yield plan_table(planned)
    if given.ingest_mb:
        how = {"smallest": given.smoke}
        with _folder(base) as folder:
            taken = measure_ingest(spark, folder, given.ingest_mb * 10**6, **how)
        yield ingest_table([_told(taken)])


def plans_apart(
    folder: Path, clusters: int, given: argparse.Namespace, *, with_million: bool
) -> FleetPlanned:
    """Plan a fleet in a session of its own, as ``fleet plan`` starts it."""
    conf = {"spark.driver.memory": given.memory}
    spark = start_session(master=f"local[{given.cores}]", conf=conf, in_python=True)
    how: dict[str, Any] = {"with_million": with_million}
    if not given.smoke:
        how["first"] = first_clusters(given.cores)
    found = measure_plans(spark, folder, clusters, given.cores, **how)
    spark.stop()
    return found


def _apart(work: Callable[..., T], *given: Any, **more: Any) -> T:
    """Work in a process of its own: Java's options hold for all of a process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
        return apart.submit(work, *given, **more).result()


@contextmanager
def _folder(base: Path) -> Iterator[Path]:
    """Give an empty folder, and remove it afterwards."""
    folder = Path(tempfile.mkdtemp(dir=base))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def _told(found: Any) -> Any:
    print(found, file=sys.stderr, flush=True)  # noqa: T201 - progress
    return found


if __name__ == "__main__":
    main()
