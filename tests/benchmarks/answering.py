"""
Time the first answers of the page of `ui`, and print the table of docs/ui.md.

``PYTHONPATH=tests python -m benchmarks.answering``

A first answer is the part of the page with the figures after a change, as HTML; the
plan follows from a process of its own, and is timed until its figures are there. Each
change is one that was not asked for before: no answer is a kept one.
"""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from statistics import median

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

    def close(self) -> None:
        """End nothing."""


def snapshot_of(size: str) -> Snapshot:
    """Return the cluster of a size."""
    if size == SMALL:
        return read_snapshot(SNAPSHOT_FILE)
    state = make_instance("c", SIZES["M"], 1, 0.05).state
    return Snapshot.from_state(state, {"rates": {"source": "synthetic"}})


def first_answers(
    snapshot: Snapshot, clock: Callable[[], float]
) -> Iterator[tuple[str, float]]:
    """Yield each change, and the median time of its first answer in seconds."""
    session = Session(snapshot, NoPlans())
    cluster = Cluster(snapshot=snapshot, name="snapshot.json")

    def answered(state: UiState) -> str:
        answer = session.answer(play_of(state))
        view = View(cluster=cluster, state=state, show="disk", answer=answer)
        return main_html(view)

    answered(UiState())
    for name, form in CHANGES.items():
        seconds = []
        for run in range(RUNS):
            before = clock()
            answered(next_state(UiState(), form(run)))
            seconds.append(clock() - before)
        yield name, median(seconds)


def plans(snapshot: Snapshot) -> Iterator[tuple[str, float]]:
    """Yield each change, and the time until its plan is there, in seconds."""
    with closing(Session(snapshot)) as session:
        _planned(session, play_of(UiState()))
        for name, form in CHANGES.items():
            yield name, _planned(session, play_of(next_state(UiState(), form(0))))


def _planned(session: Session, play: Play) -> float:
    before = time.perf_counter()
    job = session.answer(play).job
    if job is not None:
        job.ended.wait()
    return time.perf_counter() - before


def main() -> None:
    """Print the table."""
    write = sys.stdout.write
    write("| cluster | change | first answer, CPU | wall | with the plan, wall |\n")
    write("|---|---|---:|---:|---:|\n")
    for size in (SMALL, LARGE):
        snapshot = snapshot_of(size)
        cpu = dict(first_answers(snapshot, time.thread_time))
        wall = dict(first_answers(snapshot, time.perf_counter))
        planned = dict(plans(snapshot))
        for name in CHANGES:
            times = (1000 * cpu[name], 1000 * wall[name], 1000 * planned[name])
            cells = " | ".join(f"{each:,.0f} ms" for each in times)
            write(f"| {size} | {name} | {cells} |\n")


if __name__ == "__main__":
    main()
