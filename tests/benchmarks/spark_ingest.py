"""Take raw dumps into a fleet on Spark: thousands of files, gigabytes."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from benchmarks.processes import cpu_s, peak, peaks
from placement.synthetic import SIZES, make_instance
from planner.fleet.fleet_store import Store
from planner.snapshot import Snapshot
from planner.spark.ingest.dump_ingest import Ingested, ingest_dumps

SHAPES = (("S", 9), ("M", 1))
"""Sizes of clusters, and how many there are of each in ten."""
DRAWN = 3
"""Clusters of each size that are drawn; others are the same under other names."""
KINDS = 3
"""Of dumps: JSON with a table of rates, JSON alone, what Kafka's tools print."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestMeasured:
    """
    What taking in dumps took.

    Parameters
    ----------
    dumps, files, read_bytes
        How many, and how large together.
    wall_s, cpu_s
        Seconds, and of CPU: of this process, of Spark's JVM and its workers together.
    again_s
        Seconds of the same job once more: it finds nothing new.
    snapshots, rejects
        What came of them.
    driver_bytes, jvm_bytes, worker_bytes
        High-water marks: of this process, of Spark's JVM, of the largest worker.
    """

    dumps: int
    files: int
    read_bytes: int
    wall_s: float
    cpu_s: float
    again_s: float
    snapshots: int
    rejects: int
    driver_bytes: int
    jvm_bytes: int
    worker_bytes: int


def measure_ingest(
    spark: Any, folder: Path, size_bytes: int, *, smallest: bool = False
) -> IngestMeasured:
    """
    Make dumps of so many bytes, and take them in, twice.

    Parameters
    ----------
    spark, folder
        The session; an empty folder.
    size_bytes
        Of all dumps, about.
    smallest
        Whether all clusters are small.
    """
    raw, fleet = folder / "dumps", folder / "dumped"
    write_dumps(raw, size_bytes, smallest=smallest)
    files = [path.stat().st_size for path in raw.rglob("*") if path.is_file()]
    began, used = time.perf_counter(), cpu_s()
    first = ingest_dumps(spark, str(raw), str(fleet))
    wall, cpu = time.perf_counter() - began, cpu_s() - used
    began = time.perf_counter()
    again = ingest_dumps(spark, str(raw), str(fleet))
    again_s = time.perf_counter() - began
    _expect_all(first, again, fleet)
    jvm, worker = peaks()
    return IngestMeasured(
        dumps=first.found,
        files=len(files),
        read_bytes=sum(files),
        wall_s=wall,
        cpu_s=cpu,
        again_s=again_s,
        snapshots=len(first.receipts) - first.refused,
        rejects=first.rejects,
        driver_bytes=peak("self"),
        jvm_bytes=jvm,
        worker_bytes=worker,
    )


def _expect_all(first: Ingested, again: Ingested, fleet: Path) -> None:
    """Make sure that every dump is a snapshot, and that none was read twice."""
    assert first.refused == 0
    assert again.receipts == ()
    assert len(Store(str(fleet)).visible().snapshots) == first.found


def write_dumps(folder: Path, size_bytes: int, *, smallest: bool) -> None:
    """Write dumps until they are so large together."""
    templates = list(_templates(smallest=smallest))
    written = number = 0
    while written < size_bytes:
        template = templates[number % len(templates)]
        place = folder / f"c{number:06}" / "2026-11-21T08-00-00Z"
        place.mkdir(parents=True)
        written += template.write(place, number % KINDS)
        number += 1


@dataclass(frozen=True, slots=True)
class Template:
    """The files of one cluster, without its name."""

    document: bytes
    described: bytes
    rates: pa.Table

    def write(self, place: Path, kind: int) -> int:
        """Write a dump of one of the kinds; return how large it is."""
        if kind < KINDS - 1:
            (place / "snapshot.json").write_bytes(self.document)
        else:
            (place / "topics.txt").write_bytes(self.described)
        if kind != 1:
            parquet.write_table(self.rates, place / "rates.parquet")
        return sum(path.stat().st_size for path in place.iterdir())


def _templates(*, smallest: bool) -> Iterator[Template]:
    """Yield clusters in the mixture of `SHAPES`."""
    drawn = {
        name: [_template(name, seed) for seed in range(1, DRAWN + 1)]
        for name, _ in SHAPES[: 1 if smallest else None]
    }
    for of_ten in range(10 * DRAWN):
        for name, count in SHAPES:
            if name in drawn and of_ten % 10 < count:
                yield drawn[name][of_ten % DRAWN]


def _template(name: str, seed: int) -> Template:
    snapshot = Snapshot.from_state(make_instance("c", SIZES[name], seed, 0.1).state)
    rows = snapshot.partitions
    kept = ["topic", "partition", "in_bytes_per_s", "out_bytes_per_s"]
    document = snapshot.to_document()
    # Whose it is, its folder says.
    del document["cluster_id"]
    return Template(
        document=json.dumps(document).encode(),
        described=_described(rows).encode(),
        rates=rows.select(kept),
    )


def _described(partitions: pa.Table) -> str:
    """Return what `kafka-topics --describe` prints of partitions."""
    lines = []
    names = ("topic", "partition", "replicas")
    columns = [partitions.column(name).to_pylist() for name in names]
    by_topic: dict[str, list[tuple[int, list[int]]]] = {}
    for topic, partition, replicas in zip(*columns, strict=True):
        by_topic.setdefault(topic, []).append((partition, replicas))
    for topic, rows in by_topic.items():
        lines.append(
            f"Topic: {topic}\tPartitionCount: {len(rows)}\t"
            f"ReplicationFactor: {len(rows[0][1])}\tConfigs: "
        )
        for partition, replicas in sorted(rows):
            listed = ",".join(map(str, replicas))
            lines.append(
                f"\tTopic: {topic}\tPartition: {partition}\tLeader: {replicas[0]}"
                f"\tReplicas: {listed}\tIsr: {listed}"
            )
    return "\n".join(lines) + "\n"


def ingest_table(found: list[IngestMeasured]) -> str:
    """Return what was taken in as a table in Markdown."""
    rows = [
        "| dumps | files | MB | wall, s | MB/s | CPU, s | MB/CPU s | again, s "
        "| snapshots | rejects | driver, MB | JVM, MB | worker, MB |",
        f"|{'---:|' * 13}",
        *(
            f"| {m.dumps:,} | {m.files:,} | {m.read_bytes / 1e6:,.0f} "
            f"| {m.wall_s:.1f} | {m.read_bytes / m.wall_s / 1e6:.1f} "
            f"| {m.cpu_s:.1f} | {m.read_bytes / m.cpu_s / 1e6:.1f} "
            f"| {m.again_s:.1f} | {m.snapshots:,} | {m.rejects:,} "
            f"| {m.driver_bytes / 1e6:.0f} | {m.jvm_bytes / 1e6:.0f} "
            f"| {m.worker_bytes / 1e6:.0f} |"
            for m in found
        ),
    ]
    return "\n".join(rows)
