"""
Time the answers of the page of `ui`, and write their table in docs/benchmarks.md.

``PYTHONPATH=tests python -m benchmarks.answering [--smoke] [--write FILE]``

A first answer is the part of the page with the figures after a change, as HTML; the
plan follows from a process of its own, and is timed until its figures are there. Each
change is one that was not asked for before: no answer is a kept one.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.processes import spent
from benchmarks.run import where_measured, write_between_markers
from placement.synthetic import SIZES, make_instance
from planner.demo import SNAPSHOT_FILE
from planner.snapshot import Snapshot, read_snapshot
from planner.ui.ui_actions import next_state
from planner.ui.ui_pages import Cluster, View, main_html
from planner.ui.ui_play import Play, play_of
from planner.ui.ui_session import Session
from planner.ui.ui_state import UiState
from planner.ui.ui_work import Job, PlanWork
from planner.ui.ui_worker import Order

SMALL, LARGE = "12 brokers, 936 replicas", "100 brokers, 60,000 replicas"
WANTED_MS = {SMALL: 300, LARGE: 1000}
"""Most milliseconds of the processor that a first answer should take."""
MARKERS = ("<!-- answers: start -->", "<!-- answers: end -->")
HEADER = (
    "| cluster | change | first answer, CPU ms | wall ms | plan, CPU ms | wall ms |\n"
    "|---|---|---:|---:|---:|---:|"
)
RUNS = 3
CHANGES: Mapping[str, Callable[[int], dict[str, str]]] = {
    "lose a broker": lambda n: {"lose-broker": str(n + 1)},
    "add brokers": lambda n: {"add": "1", "count": str(n + 1)},
    "traffic": lambda n: {"set": "traffic", "traffic": f"{1.1 + n / 10:g}"},
    "growth": lambda n: {"set": "growth", "growth": str(n + 1)},
    "retention": lambda n: {"topics-form": "retention", "keep": f"{n + 1}d"},
    "replication factor": lambda n: {
        "topics-form": "replication-factor",
        "factor": str((2, 4, 5)[n]),
    },
    "band": lambda n: {"set": "band", "band": f"{0.05 + n / 100:g}"},
}
"""Form of each change in each run."""


class NoPlans(PlanWork):
    """Background work that makes no plan."""

    def __init__(self) -> None:
        """Start nothing."""

    def ask(self, order: Order) -> Job:
        """Return a job that is never begun."""
        return Job(order)

    def stop(self) -> None:
        """Stop nothing."""

    def close(self) -> None:
        """End nothing."""


def snapshot_of(size: str) -> Snapshot:
    """Return the cluster of a size."""
    if size == SMALL:
        return read_snapshot(SNAPSHOT_FILE)
    state = make_instance("c", SIZES["M"], 1, 0.05).state
    return Snapshot.from_state(state, {"rates": {"source": "synthetic"}})


@dataclass(frozen=True, slots=True)
class Answered:
    """
    Answers to one kind of change, in seconds.

    Parameters
    ----------
    cluster, change
        Size of the cluster, and kind of the change.
    first_cpu_s, first_s
        First answer: of the processor, and on the clock.
    plan_cpu_s, plan_s
        Until the plan is there, the first answer included.
    """

    cluster: str
    change: str
    first_cpu_s: float
    first_s: float
    plan_cpu_s: float
    plan_s: float


def first_answers(
    snapshot: Snapshot, num_runs: int = RUNS
) -> Iterator[tuple[str, float, float]]:
    """Yield each change, and medians of the seconds of its first answer: CPU, wall."""
    with closing(Session(snapshot, NoPlans(), wait_s=None)) as session:
        cluster = Cluster(snapshot=snapshot, name="snapshot.json")

        def show(state: UiState) -> None:
            answer = session.answer(play_of(state))
            main_html(View(cluster=cluster, state=state, show="disk", answer=answer))

        show(UiState())
        for name, form in CHANGES.items():
            states = [next_state(UiState(), form(run)) for run in range(num_runs)]
            times = [_timed(lambda state=state: show(state)) for state in states]
            cpu, wall = zip(*times, strict=True)
            yield name, median(cpu), median(wall)


def _timed(work: Callable[[], None]) -> tuple[float, float]:
    """Return the seconds of the processor that all threads take, and of the clock."""
    wall, used = time.perf_counter(), time.process_time()
    work()
    return time.process_time() - used, time.perf_counter() - wall


def plans(snapshot: Snapshot) -> Iterator[tuple[str, float, float]]:
    """Yield each change, and the seconds until its plan is there: CPU, wall."""
    with closing(Session(snapshot, wait_s=None)) as session:
        _plan(session, play_of(UiState()))
        for name, form in CHANGES.items():
            play = play_of(next_state(UiState(), form(0)))
            wall, cpu = spent(lambda play=play: _plan(session, play))
            yield name, cpu, wall


def _plan(session: Session, play: Play) -> None:
    job = session.answer(play).job
    assert job is not None, "every change is planned"
    job.ended.wait()


def answered(size: str, num_runs: int = RUNS) -> list[Answered]:
    """Return the answers to every change of the cluster of a size."""
    snapshot = snapshot_of(size)
    planned = {name: times for name, *times in plans(snapshot)}
    return [
        Answered(size, name, *first, *planned[name])
        for name, *first in first_answers(snapshot, num_runs)
    ]


def table(rows: Sequence[Answered]) -> str:
    """Return the table of answers."""
    lines = [HEADER]
    for row in rows:
        times = (row.first_cpu_s, row.first_s, row.plan_cpu_s, row.plan_s)
        cells = " | ".join(f"{1000 * each:,.0f}" for each in times)
        lines.append(f"| {row.cluster} | {row.change} | {cells} |")
    return "\n".join(lines)


def read_table(page: str) -> list[tuple[str, str, float]]:
    """Return cluster, change and CPU milliseconds of each first answer of a page."""
    part = page.partition(MARKERS[0])[2].partition(MARKERS[1])[0]
    rows = [line.strip("| ").split(" | ") for line in part.splitlines() if "| " in line]
    return [(c, change, float(cpu.replace(",", ""))) for c, change, cpu, *_ in rows[1:]]


def main() -> None:
    """Measure, print, and write the page if one is named."""
    parser = argparse.ArgumentParser(description="Measure answers of the page of ui.")
    parser.add_argument("--smoke", action="store_true", help="the demo alone, once")
    parser.add_argument("--write", type=Path, metavar="FILE", help="page to update")
    given = parser.parse_args()
    sizes, num_runs = ((SMALL,), 1) if given.smoke else ((SMALL, LARGE), RUNS)
    rows = [row for size in sizes for row in answered(size, num_runs)]
    text = f"{where_measured('python -m benchmarks.answering')}\n\n{table(rows)}"
    print(text)  # noqa: T201 - output
    write_between_markers(given.write, text, MARKERS)


if __name__ == "__main__":
    main()
