"""
Place keys in one process and on Spark, and write the table of docs/benchmarks.md.

``PYTHONPATH=tests python -m benchmarks.keying [--records 10000000,100000000]
[--per-key 5] [--hashed 10000000] [--read 10000000] [--cores 2] [--runs 3] [--warm 2]
[--smoke] [--write FILE]``

The skew of keys is held against one plain ``groupBy(key).count()`` over the same
Parquet in the same session, in turns.
"""

import argparse
import base64
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from assignment.partitioners import find_partitioner
from assignment.partitioners.key_column import KeyColumn
from benchmarks.processes import peak, peaks, spent
from benchmarks.run import where_measured, write_between_markers
from planner.keys.formats.read_sample import read_sample
from planner.keys.key_sample import place_sample
from planner.keys.key_skew import KeySkew
from planner.keys.key_types import KEY_TYPES
from planner.keys.keys_request import SkewRequest
from planner.keys.sample_options import SampleOptions

MARKERS = ("<!-- keying: start -->", "<!-- keying: end -->")
KEY_BYTES = 16
PARTITIONS = 12
RECORDS_PER_KEY = 5
WARM_RUNS = 2
"""Runs that do not count: the JVM compiles as it goes."""
HASHED = ("default", "consistent", "sarama")
READ = ("text", "string", "long", "uuid", "base64", "hex")
"""Samples that are read: text with a key per line, else Parquet by type of key."""
SMOKE_KEYS = 3_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Hashed:
    """Seconds of CPU to place some keys by one partitioner, the median of `runs`."""

    partitioner: str
    keys: int
    runs: int
    cpu_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """
    Cost of reading a sample of distinct keys, serializing and placing them.

    Parameters
    ----------
    kind
        One of `READ`.
    keys, runs
        Distinct keys, one a record, and timed runs.
    file_bytes
        Size of the sample.
    read_cpu_s, place_cpu_s
        Seconds of CPU to read and serialize, and to place; medians.
    peak_bytes
        High-water mark of a process that does it once.
    """

    kind: str
    keys: int
    runs: int
    file_bytes: int
    read_cpu_s: float
    place_cpu_s: float
    peak_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Skewed:
    """
    Cost of a skew on Spark.

    Parameters
    ----------
    records, keys, runs
        Records, distinct keys, and timed runs.
    plain_cpu_s, skew_cpu_s
        Seconds of CPU of this process, Spark's JVM and its workers; medians.
    ratio
        Median of the ratios of skew to plain, run by run.
    driver_bytes, jvm_bytes, worker_bytes
        High-water marks: of this process, of Spark's JVM, of the largest worker.
    """

    records: int
    keys: int
    runs: int
    plain_cpu_s: float
    skew_cpu_s: float
    ratio: float
    driver_bytes: int
    jvm_bytes: int
    worker_bytes: int


def measure_hashing(name: str, num_keys: int, runs: int) -> Hashed:
    """Place keys at random, of 16 bytes each, by a partitioner."""
    data = np.random.default_rng(1).integers(0, 256, num_keys * KEY_BYTES, np.uint8)
    keys = KeyColumn(data, np.arange(num_keys + 1, dtype=np.int64) * KEY_BYTES)
    partitioner = find_partitioner(name)
    took = []
    for _ in range(runs + 1):
        began = time.process_time()
        partitioner.partitions_for(keys)(PARTITIONS)
        took.append(time.process_time() - began)
    # The first run loads the compiled loop.
    return Hashed(partitioner=name, keys=num_keys, runs=runs, cpu_s=median(took[1:]))


def write_sample(kind: str, folder: Path, num_keys: int) -> Path:
    """Write a sample of distinct keys, of 16 bytes where they are bytes."""
    numbers = np.random.default_rng(1).permutation(num_keys)
    whole = pa.array(np.stack([numbers, numbers], axis=1).reshape(-1), pa.int64())
    data = whole.buffers()[1]
    keys = pa.Array.from_buffers(pa.binary(KEY_BYTES), num_keys, [None, data])
    if kind in {"text", "string"}:
        digits = pc.utf8_lpad(pa.array(numbers).cast(pa.string()), 10, "0")
        column = pc.binary_join_element_wise("order-", digits, "")
    elif kind == "long":
        column = pa.array(numbers, pa.int64())
    else:
        column = pa.array([_ENCODED[kind](key) for key in keys.to_pylist()])
    path = folder / ("keys.txt" if kind == "text" else "keys.parquet")
    if kind == "text":
        path.write_text("\n".join(column.to_pylist()) + "\n")
    else:
        pq.write_table(pa.table({"key": column}), path)
    return path


_ENCODED: Mapping[str, Callable[[bytes], str]] = {
    "uuid": lambda key: str(UUID(bytes=key)),
    "base64": lambda key: base64.b64encode(key).decode(),
    "hex": bytes.hex,
}


def measure_reading(kind: str, num_keys: int, runs: int) -> Read:
    """Read, serialize and place distinct keys, each time in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_sample(kind, Path(folder), num_keys)
        answers = [_read_once(kind, path) for _ in range(runs)]
        size = path.stat().st_size
    read, place, most = zip(*answers, strict=True)
    return Read(
        kind=kind,
        keys=num_keys,
        runs=runs,
        file_bytes=size,
        read_cpu_s=median(read),
        place_cpu_s=median(place),
        peak_bytes=int(median(most)),
    )


def _read_once(kind: str, path: Path) -> tuple[float, float, int]:
    words = [sys.executable, "-m", "benchmarks.keying", "--once", kind, str(path)]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    read_s, place_s, most = done.stdout.split()
    return float(read_s), float(place_s), int(most)


def read_and_place(kind: str, path: Path) -> tuple[float, float, int]:
    """Return seconds of CPU to read and to place a sample, and the high-water mark."""
    partitioner = find_partitioner("default")
    # Compiles the loop, or loads it.
    small = KeyColumn.of([b"x" * 300_000])
    partitioner.partitions_for(small)(PARTITIONS)
    options = SampleOptions(key_type=kind if kind in KEY_TYPES else None)
    began = time.process_time()
    sample = read_sample(path, options)
    read = time.process_time()
    place_sample(
        sample, partitioner, partitioner.partitions_for(sample.keys), PARTITIONS, 1
    )
    return read - began, time.process_time() - read, peak("self")


def read_table(found: Sequence[Read]) -> str:
    """Return the reading as a table in Markdown."""
    rows = [
        "| sample | keys | MB | runs | read and serialize, CPU s | place, CPU s "
        "| keys/s | peak, MB |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
        *(
            f"| {_READ_NAMES[r.kind]} | {r.keys:,} | {r.file_bytes / 1e6:.0f} "
            f"| {r.runs} | {r.read_cpu_s:.2f} | {r.place_cpu_s:.2f} "
            f"| {r.keys / max(r.read_cpu_s + r.place_cpu_s, 1e-9):,.0f} "
            f"| {r.peak_bytes / 1e6:.0f} |"
            for r in found
        ),
    ]
    return "\n".join(rows)


_READ_NAMES: Mapping[str, str] = {
    "text": "text, a key per line",
    **{kind: f"Parquet, `{kind}`" for kind in READ[1:]},
}


def write_keys(spark: Any, folder: Path, records: int, per_key: int) -> Path:
    """Write records with seeded keys, each in `per_key` on average, as Parquet."""
    from pyspark.sql import functions as F  # noqa: N812

    distinct = max(records // per_key, 1)
    files = max(2, records // 5_000_000)
    number = F.expr(f"pmod(xxhash64(id), {distinct})").cast("string")
    key = F.concat(F.lit("customer-"), F.lpad(number, 10, "0"))
    path = folder / "keys.parquet"
    spark.range(0, records, 1, files).select(key.alias("key")).write.parquet(str(path))
    return path


def measure_skew(
    spark: Any,
    folder: Path,
    records: int,
    runs: int,
    warm: int,
    *,
    per_key: int = RECORDS_PER_KEY,
) -> Skewed:
    """Count keys plainly and place them, in turns; the first `warm` do not count."""
    from planner.spark.keys.key_skew import skew_on_spark

    path = write_keys(spark, folder, records, per_key)
    plain = spark.read.parquet(str(path)).groupBy("key").count()
    request = SkewRequest(partitions=PARTITIONS)
    found: list[KeySkew] = []

    def count() -> None:
        plain.write.format("noop").mode("overwrite").save()

    def place() -> None:
        found.append(skew_on_spark(spark, str(path), SampleOptions(), request))

    took = []
    for _ in range(runs + warm):
        took.append((spent(count)[1], spent(place)[1]))
        print(f"{records:,}: {took[-1]}", file=sys.stderr, flush=True)  # noqa: T201
    took = took[warm:]
    jvm, worker = peaks()
    return Skewed(
        records=found[-1].counts.records,
        keys=found[-1].counts.keys,
        runs=runs,
        plain_cpu_s=median(plain_s for plain_s, _ in took),
        skew_cpu_s=median(skew_s for _, skew_s in took),
        ratio=median(skew_s / plain_s for plain_s, skew_s in took),
        driver_bytes=peak("self"),
        jvm_bytes=jvm,
        worker_bytes=worker,
    )


def hash_table(found: Sequence[Hashed]) -> str:
    """Return the hashing as a table in Markdown."""
    rows = [
        "| partitioner | keys of 16 bytes | runs | CPU, s | keys/s |",
        "|---|---:|---:|---:|---:|",
        *(
            f"| `{h.partitioner}` | {h.keys:,} | {h.runs} | {h.cpu_s:.3f} "
            f"| {h.keys / max(h.cpu_s, 1e-9):,.0f} |"
            for h in found
        ),
    ]
    return "\n".join(rows)


def skew_table(found: Sequence[Skewed]) -> str:
    """Return the skews as a table in Markdown."""
    rows = [
        "| records | keys | runs | plain count, CPU s | `keys skew`, CPU s | ratio "
        "| driver, MB | JVM, MB | worker, MB |",
        f"|{'---:|' * 9}",
        *(
            f"| {s.records:,} | {s.keys:,} | {s.runs} | {s.plain_cpu_s:.1f} "
            f"| {s.skew_cpu_s:.1f} | {s.ratio:.2f} | {s.driver_bytes / 1e6:.0f} "
            f"| {s.jvm_bytes / 1e6:.0f} | {s.worker_bytes / 1e6:.0f} |"
            for s in found
        ),
    ]
    return "\n".join(rows)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the placing of keys.")
    parser.add_argument("--records", default="10000000,100000000", help="on Spark")
    parser.add_argument("--hashed", type=int, default=10_000_000, metavar="KEYS")
    parser.add_argument("--read", type=int, default=10_000_000, metavar="KEYS")
    parser.add_argument("--once", nargs=2, metavar=("KIND", "FILE"), help="internal")
    parser.add_argument("--per-key", type=int, default=RECORDS_PER_KEY)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--warm", type=int, default=WARM_RUNS, help="not counted")
    parser.add_argument("--memory", default="3g", help="of Spark's JVM")
    parser.add_argument("--smoke", action="store_true", help="small, once")
    parser.add_argument("--write", type=Path, metavar="FILE", help="page to update")
    given = parser.parse_args()
    if given.smoke:
        given.records, given.hashed, given.runs = f"{SMOKE_KEYS}", SMOKE_KEYS, 1
        given.read = SMOKE_KEYS
    return given


def _skews(given: argparse.Namespace) -> Iterator[Skewed]:
    from planner.spark.session import start_session

    conf = {"spark.driver.memory": given.memory}
    spark = start_session(master=f"local[{given.cores}]", conf=conf)
    warm = given.warm
    for size in (int(each) for each in given.records.split(",") if each):
        with tempfile.TemporaryDirectory() as folder:
            path, per_key = Path(folder), given.per_key
            found = measure_skew(spark, path, size, given.runs, warm, per_key=per_key)
        yield found
        warm = 0
    spark.stop()


def main() -> None:
    """Measure, print, and write the page if one is named."""
    given = _arguments()
    if given.once:
        kind, path = given.once
        print(*read_and_place(kind, Path(path)))  # noqa: T201 - the answer
        return
    # Hashing in this process would raise the high-water mark of the driver.
    skewed = list(_skews(given))
    hashed = [measure_hashing(name, given.hashed, given.runs) for name in HASHED]
    read = [measure_reading(kind, given.read, given.runs) for kind in READ]
    tables = [hash_table(hashed), read_table(read), skew_table(skewed)]
    measured = "\n\n".join([where_measured("make bench"), *tables])
    print(measured)  # noqa: T201 - a script's output
    write_between_markers(given.write, measured, MARKERS)


if __name__ == "__main__":
    main()
