"""
Score many small snapshots on Spark, and write the table of docs/benchmarks.md.

``PYTHONPATH=tests python -m benchmarks.spark_small [--runs 3] [--cores 2] [--smoke]
[--write FILE]``

Each run has a session that has run nothing before.
"""

import argparse
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.processes import spent
from benchmarks.run import replace_between_markers, where_measured
from placement.synthetic import Size, make_instance
from planner.fleet.append import append
from planner.fleet.fleet_store import Store
from planner.score.make_score import ScoreRequest
from planner.snapshot import Snapshot
from planner.spark.session import start_session

MARKERS = ("<!-- spark small: start -->", "<!-- spark small: end -->")
SNAPSHOTS, SMOKE_SNAPSHOTS, CLUSTERS = 497, 7, 50
SMALLER = 22
"""Number of clusters of 259 partitions; others have 260. 497 snapshots have 129,000."""
REPLICATION_FACTOR = 3
FIRST_DAY = datetime(2026, 11, 1, 8, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallScored:
    """
    Time that scoring many small snapshots takes.

    Parameters
    ----------
    snapshots, rows
        Number of snapshots, and of rows of their partitions.
    wall_s, cpu_s
        Seconds of wall and of CPU of the score: of this process, Spark's JVM and its
        workers together.
    again_s, again_cpu_s
        The same of a second run, which finds nothing new.
    """

    snapshots: int
    rows: int
    wall_s: float
    cpu_s: float
    again_s: float
    again_cpu_s: float


def measure_small(spark: Any, folder: Path, *, snapshots: int) -> SmallScored:
    """
    Score a fleet as `fleet score` does after it has started Spark, and once more.

    Parameters
    ----------
    spark
        A session; one that has run nothing before shows what the command takes.
    folder
        A folder with the result of `write_fleet`.
    snapshots
        Number of snapshots in it.
    """
    from pyarrow import dataset

    fleet, output = str(folder / "fleet"), str(folder / "scores")
    scored: list[int] = []
    wall, cpu = spent(lambda: scored.append(_score(spark, fleet, output)))
    again, again_cpu = spent(lambda: scored.append(_score(spark, fleet, output)))
    assert scored == [snapshots, 0]
    partitions = dataset.dataset(f"{fleet}/partitions", format="parquet")
    return SmallScored(
        snapshots=snapshots,
        rows=partitions.count_rows(),
        wall_s=wall,
        cpu_s=cpu,
        again_s=again,
        again_cpu_s=again_cpu,
    )


def _score(spark: Any, fleet: str, output: str) -> int:
    """Score what is new; return the number of snapshots scored."""
    # Loaded here, since the command loads them after the start of the session.
    from planner.spark.command import score_folder
    from planner.spark.output.latest_scores import latest_scores

    found = score_folder(spark, fleet, ScoreRequest(), output, again=False)
    assert not found.problems
    if found.documents:
        latest = latest_scores(spark, output, found.latest)
        assert all(document["status"] == "ok" for document in latest)
    return len(found.documents)


def write_fleet(folder: Path, snapshots: int) -> None:
    """Append snapshots of `CLUSTERS` clusters, one a day of each, to ``fleet/``."""
    store = Store(str(folder / "fleet"))
    for snapshot in _snapshots(snapshots):
        append(snapshot, store)


def _snapshots(count: int) -> Iterator[Snapshot]:
    for number in range(count):
        day, cluster = divmod(number, CLUSTERS)
        header = {
            "taken_at": f"{FIRST_DAY + timedelta(days=day):%Y-%m-%dT%H:%M:%SZ}",
            "cluster_id": f"c{cluster:03}",
        }
        yield Snapshot.from_state(_state(cluster), header)


@cache
def _state(cluster: int) -> Any:
    partitions = 259 if cluster < SMALLER else 260
    size = Size(6, 3, partitions * REPLICATION_FACTOR, 16)
    return make_instance("c", size, cluster + 1, 0.1).state


def medians(runs: Sequence[SmallScored]) -> SmallScored:
    """Return the median of each figure over runs on the same fleet."""
    names = ("wall_s", "cpu_s", "again_s", "again_cpu_s")
    of = {name: median(getattr(run, name) for run in runs) for name in names}
    return replace(runs[0], **of)


def small_table(s: SmallScored) -> str:
    """Return the score of small snapshots as a table in Markdown."""
    rows = [
        "| snapshots | partitions | scores, s | scores, CPU s | nothing new, s "
        "| nothing new, CPU s |",
        f"|{'---:|' * 6}",
        f"| {s.snapshots:,} | {s.rows:,} | {s.wall_s:.1f} | {s.cpu_s:.1f} "
        f"| {s.again_s:.1f} | {s.again_cpu_s:.1f} |",
    ]
    return "\n".join(rows)


def measure_apart(folder: Path, snapshots: int, cores: int) -> SmallScored:
    """Measure in a new session, as ``fleet score`` starts it."""
    conf = {"spark.driver.memory": "3g"}
    spark = start_session(master=f"local[{cores}]", conf=conf, in_python=True)
    shutil.rmtree(folder / "scores", ignore_errors=True)
    found = measure_small(spark, folder, snapshots=snapshots)
    spark.stop()
    return found


def _runs(snapshots: int, runs: int, cores: int) -> Iterator[SmallScored]:
    """Measure in processes of their own, since Java stays in a process."""
    with tempfile.TemporaryDirectory() as base:
        write_fleet(Path(base), snapshots)
        for _ in range(runs):
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
                asked = apart.submit(measure_apart, Path(base), snapshots, cores)
                yield asked.result()


def main() -> None:
    """Measure, print, and write the page if one is named."""
    parser = argparse.ArgumentParser(description="Score small snapshots on Spark.")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--smoke", action="store_true", help="few snapshots, once")
    parser.add_argument("--write", type=Path, metavar="FILE", help="page to update")
    given = parser.parse_args()
    snapshots, runs = (SMOKE_SNAPSHOTS, 1) if given.smoke else (SNAPSHOTS, given.runs)
    table = small_table(medians([*_runs(snapshots, runs, given.cores)]))
    where = where_measured("python -m benchmarks.spark_small")
    measured = f"{where}\n\n{table}"
    print(measured)  # noqa: T201 - a script's output
    if given.write:
        page = replace_between_markers(given.write.read_text(), measured, MARKERS)
        given.write.write_text(page)


if __name__ == "__main__":
    main()
