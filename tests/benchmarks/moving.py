"""
Latencies of a producer and a consumer while a plan is carried out, on a real Kafka.

``PYTHONPATH=tests python -m benchmarks.moving [--smoke] [--write docs/benchmarks.md]``

A cluster of three brokers serves a topic at a fixed rate, while a plan moves this topic
and a large one from broker 2 to broker 3: throttled there, without a throttle back.
Before each of the two nothing is moved for a while. Each condition is cut into windows;
the figure is the median over windows of the 99th percentile in each.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
import numpy.typing as npt

from benchmarks.run import where_measured, write_between_markers
from integration.kafka.cluster import Cluster
from integration.kafka.jars import kafka_jars
from integration.planner import run_here
from integration.runs import fresh, plan_folder
from integration.steps import create

MARKERS = ("<!-- moving: start -->", "<!-- moving: end -->")
COMMAND = (sys.executable, "-c", "from planner.cli.main import run; run()")
SERVED, BULK = "served", "bulk"
MB = 1_000_000
MOST_RATIO = 2.0
"""Most that a throttled run may raise the 99th percentile of the producer."""


@dataclass(frozen=True, slots=True)
class Scale:
    """
    Size of a measurement.

    Parameters
    ----------
    partitions
        Partitions of each topic.
    bulk_bytes
        Bytes of the topic that is only moved.
    throttle_mb_s
        Rate of the run, in MB/s per broker.
    messages_per_s
        Rate of the producer.
    window_s, still_s
        Seconds of a window, and before each move.
    rounds
        There and back.
    """

    partitions: int = 6
    bulk_bytes: int = 200 * MB
    throttle_mb_s: int = 5
    messages_per_s: int = 200
    window_s: float = 5.0
    still_s: float = 25.0
    rounds: int = 3


FULL = Scale()
SMOKE = Scale(
    partitions=2, bulk_bytes=4 * MB, messages_per_s=50, window_s=1, still_s=3, rounds=1
)


@dataclass(frozen=True, slots=True)
class Phase:
    """Seconds, by the clock, in which one condition held."""

    condition: str
    began_s: float
    ended_s: float

    def windows(self, window_s: float) -> Iterator[tuple[float, float]]:
        """Yield the whole windows of the phase; all of it, if it is shorter."""
        number = int((self.ended_s - self.began_s) // window_s)
        if not number:
            yield self.began_s, self.ended_s
        for n in range(number):
            yield self.began_s + n * window_s, self.began_s + (n + 1) * window_s


Notes = dict[str, npt.NDArray[np.float64]]
"""``(N, 2)`` time at which each message was due, and seconds it took, by kind."""


def read_notes(path: Path) -> Notes:
    """Return the notes of the load."""
    found: dict[str, list[tuple[float, float]]] = {"produced": [], "consumed": []}
    for line in path.read_text("ascii").splitlines():
        kind, due, seconds = line.split()
        found[kind].append((float(due), float(seconds)))
    return {kind: np.array(rows).reshape(-1, 2) for kind, rows in found.items()}


def percentiles(
    notes: npt.NDArray[np.float64],
    phases: Sequence[Phase],
    window_s: float,
    percent: float,
) -> list[float]:
    """Return the percentile in milliseconds of each window with a message."""
    found = []
    for phase in phases:
        for began, ended in phase.windows(window_s):
            due = notes[:, 0]
            inside = notes[(due >= began) & (due < ended), 1]
            if len(inside):
                found.append(float(np.percentile(inside, percent)) * 1000)
    return found


@contextmanager
def load(cluster: Cluster, scale: Scale, path: Path) -> Iterator[None]:
    """Produce and consume in a process of its own."""
    shape = (SERVED, str(scale.partitions), str(scale.messages_per_s), str(path))
    command = [
        sys.executable,
        "-m",
        "benchmarks.moving_load",
        cluster.bootstrap,
        *shape,
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        yield
        process.communicate()
    if process.returncode:
        msg = "the load has failed"
        raise SystemExit(msg)


def prepare(cluster: Cluster, folder: Path, scale: Scale) -> Path:
    """Create and fill the topics, and return a plan that moves both."""
    plans = []
    for topic in (SERVED, BULK):
        create(cluster, topic, [[1, 2]] * scale.partitions)
        if topic == BULK:
            records = scale.bulk_bytes // 1000
            cluster.produce(BULK, num_records=records, record_bytes=1000)
        lists = {number: [1, 3] for number in range(scale.partitions)}
        plans.append(plan_folder(cluster, folder / topic, topic, lists))
    return joined(plans)


def joined(plans: Sequence[Path]) -> Path:
    """Return the first plan, with the partitions of the others."""
    for name in ("reassignment.json", "rollback.json"):
        documents = [json.loads((plan / name).read_text()) for plan in plans]
        parts = [one for document in documents for one in document["partitions"]]
        whole = {"version": 1, "partitions": parts}
        (plans[0] / name).write_text(json.dumps(whole))
    return plans[0]


def carry_out(cluster: Cluster, plan: Path, *words: str) -> None:
    """Run a command that changes the cluster to its end."""
    command, *options = words
    where = ("--bootstrap-server", cluster.bootstrap)
    if command == "apply":
        seen = run_here(
            "apply", fresh(plan), *where, *options, "--sample-seconds", 0,
            "--format", "json",
        )  # fmt: skip
        plan_id = seen.document["plan_id"]
        options += ["--sample-seconds", "0", "--plan-id", plan_id]
    done = subprocess.run(
        [*COMMAND, command, str(plan), *where, *options, "--yes"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)


def measure(cluster: Cluster, folder: Path, scale: Scale) -> tuple[Notes, list[Phase]]:
    """Carry the plan out and back under load, and return what was noted."""
    plan = prepare(cluster, folder, scale)
    phases: list[Phase] = []

    def timed(condition: str, *words: str) -> None:
        began = time.time()
        if words:
            carry_out(cluster, plan, *words)
        else:
            time.sleep(scale.still_s)
        phases.append(Phase(condition, began, time.time()))

    notes = folder / "notes"
    with load(cluster, scale, notes):
        time.sleep(scale.still_s)  # brokers compile what they run often
        for _ in range(scale.rounds):
            timed("nothing moves")
            throttle = f"{scale.throttle_mb_s}MB/s"
            timed("throttled", "apply", "--throttle", throttle)
            timed("nothing moves")
            timed("no throttle", "rollback", "--no-throttle")
    return read_notes(notes), phases


HEADER = (
    "| condition | windows | produce, p50 ms | p99 ms | of before | worst | "
    "end to end, p99 ms | of before |\n|---|---:|---:|---:|---:|---:|---:|---:|"
)


def table(notes: Notes, phases: Sequence[Phase], scale: Scale) -> str:
    """Return a row for each condition."""
    before: dict[str, float] = {}
    lines = [HEADER]
    for condition in ("nothing moves", "throttled", "no throttle"):
        chosen = [one for one in phases if one.condition == condition]
        cells = []
        for kind in ("produced", "consumed"):
            ask = (notes[kind], chosen, scale.window_s)
            tails = percentiles(*ask, 99)
            figure = median(tails)
            ratio = figure / before.setdefault(kind, figure)
            if kind == "produced":
                middle = median(percentiles(*ask, 50))
                cells += [str(len(tails)), f"{middle:.1f}"]
            cells += [f"{figure:.1f}", f"{ratio:.2f}"]
            if kind == "produced":
                cells.append(f"{max(tails):.0f}")
        lines.append(f"| {condition} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _said(scale: Scale, phases: Sequence[Phase], load_before: float) -> str:
    seconds = [p.ended_s - p.began_s for p in phases if p.condition == "throttled"]
    return (
        f"{where_measured('make bench-live')} {scale.messages_per_s} messages of 1 kB "
        f"a second to {scale.partitions} partitions, acks=all, RF 2; "
        f"{scale.bulk_bytes / MB:.0f} MB and this topic are moved at "
        f"{scale.throttle_mb_s} MB/s, in {median(seconds):.0f} s; windows of "
        f"{scale.window_s:g} s, {scale.rounds} rounds. Load average {load_before:.1f} "
        f"before, {os.getloadavg()[0]:.1f} after, on {os.cpu_count()} cores."
    )


def main() -> None:
    """Measure, print, and write the page if one is named."""
    parser = argparse.ArgumentParser(description="Measure latencies during a run.")
    parser.add_argument("--smoke", action="store_true", help="once, small")
    parser.add_argument("--write", type=Path, metavar="FILE", help="page to update")
    given = parser.parse_args()
    scale = SMOKE if given.smoke else FULL
    load_before = os.getloadavg()[0]
    with (
        tempfile.TemporaryDirectory() as folder,
        Cluster(kafka_jars(), Path(folder) / "kafka", heap_mb=512) as cluster,
    ):
        notes, phases = measure(cluster, Path(folder), scale)
    text = f"{_said(scale, phases, load_before)}\n\n{table(notes, phases, scale)}"
    print(text)  # noqa: T201 - output
    write_between_markers(given.write, text, MARKERS)


if __name__ == "__main__":
    main()
