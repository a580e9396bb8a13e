"""
Runs of large plans on a simulated cluster: processor time, memory, and waits.

``PYTHONPATH=tests python -m benchmarks.carrying [--moves N …] [--smoke]``

Each plan moves a replica of every partition of a cluster of 50 brokers. The cluster and
the plan are written by one process, and read and carried out by another, set up as a
command is, whose memory counts from its start.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.processes import peak
from planner.execution.run.run import run
from planner.execution.simulation.simulated_admin import SimulatedAdmin
from planner.process import set_up_process
from planner.snapshot import Snapshot, read_snapshot, write_snapshot
from support.large_runs import MB, job, large

MOVES = (10_000, 100_000)
SMOKE_MOVES = 200
CLUSTER = "cluster.parquet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """
    One run.

    Parameters
    ----------
    moves
        Partitions that get another replica.
    status
        Status of the run.
    cpu_s
        Seconds of processor time of the run, that of the simulated cluster included.
    added_bytes
        Most memory above the start of the process, the simulated cluster included.
    own_bytes
        Most memory above that with the simulated cluster.
    wait_s
        Longest time from a finished copy to the next request: that between two looks,
        and the processor time of the look.
    """

    moves: int
    status: str
    cpu_s: float
    added_bytes: int
    own_bytes: int
    wait_s: float


def carried(moves: int) -> Carried:
    """Carry out a plan in a process of its own, and return what it takes."""
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with TemporaryDirectory() as folder:
        for step in ("write", "run"):
            words = [sys.executable, "-P", "-m", "benchmarks.carrying", "--step", step]
            words += ["--folder", folder, "--moves", str(moves)]
            done = subprocess.run(
                words, check=True, capture_output=True, text=True, env=env
            )
    return Carried(**json.loads(done.stdout))


def _write(folder: Path, moves: int) -> None:
    snapshot, _ = large(folder, moves)
    write_snapshot(snapshot, folder / CLUSTER)


def _run(folder: Path, moves: int) -> Carried:
    _warm_up()
    start = _reset_peak()
    cluster = _cluster(read_snapshot(folder / CLUSTER))
    built, began = _reset_peak(), time.process_time()
    status, longest, since = "", 0.0, None
    done = 0
    for event in run(job(folder / "plan"), cluster):
        now = (cluster.now_s(), time.process_time())
        done += len(event.partitions) if event.event == "finished" else 0
        # Later, steps wait for brokers that are never free again.
        if event.event == "finished" and since is None and done < moves / 2:
            since = now
        elif event.event == "admitted" and since is not None:
            waited = sum(
                after - before for after, before in zip(now, since, strict=True)
            )
            longest, since = max(longest, waited), None
        elif event.event == "done":
            status = event.status
    most = peak("self")
    return Carried(
        moves=moves,
        status=status,
        cpu_s=time.process_time() - began,
        added_bytes=most - start,
        own_bytes=most - built,
        wait_s=longest,
    )


def _warm_up() -> None:
    """Load what every run loads."""
    with TemporaryDirectory() as small:
        _write(Path(small), SMOKE_MOVES)
        cluster = _cluster(read_snapshot(Path(small) / CLUSTER))
        for _ in run(job(Path(small) / "plan"), cluster):
            pass


def _cluster(snapshot: Snapshot) -> SimulatedAdmin:
    return SimulatedAdmin(snapshot, rate_bytes_per_s=1000 * MB)


def _reset_peak() -> int:
    """Forget the high-water mark of memory; return it as it is then, in bytes."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak("self")


def table(found: list[Carried]) -> str:
    """Return runs as a table in Markdown."""
    head = (
        "| moves | status | CPU, s | MB in all | of it the run | wait, s |\n"
        "|---:|---|---:|---:|---:|---:|\n"
    )
    return head + "".join(
        f"| {one.moves:,} | {one.status} | {one.cpu_s:.0f} | "
        f"{one.added_bytes / MB:.0f} | {one.own_bytes / MB:.0f} | {one.wait_s:.2f} |\n"
        for one in found
    )


def main() -> None:
    """Parse the command line; measure, or take one step of a measurement."""
    parser = argparse.ArgumentParser(description="Measure runs of large plans.")
    parser.add_argument("--moves", type=int, nargs="+", default=list(MOVES))
    parser.add_argument("--smoke", action="store_true", help="one small run")
    parser.add_argument("--step", choices=["write", "run"], help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    # Here for the steps as well: they have imported pyarrow when they get this far.
    set_up_process()
    if given.step == "write":
        _write(given.folder, given.moves[0])
    elif given.step == "run":
        print(json.dumps(asdict(_run(given.folder, given.moves[0]))))  # noqa: T201 - output
    else:
        moves = [SMOKE_MOVES] if given.smoke else given.moves
        print(table([carried(one) for one in moves]), end="")  # noqa: T201 - output


if __name__ == "__main__":
    main()
