"""A large run: only what moves is asked for, and a finished copy admits the next."""

import tracemalloc
from pathlib import Path

import pytest

from planner.execution.run.run import run
from planner.execution.simulation.simulated_admin import SimulatedAdmin
from planner.plan.input.plan_input import read_plan
from support.large_runs import MB, MOST_ACTIVE, job
from support.large_runs import large as large_plan


def large(folder: Path, num_moves: int) -> tuple[SimulatedAdmin, Path]:
    snapshot, plan = large_plan(folder, num_moves)
    return SimulatedAdmin(snapshot, rate_bytes_per_s=1000 * MB), plan


class Asked:
    """Largest number of partitions that a request names."""

    def __init__(self, cluster: SimulatedAdmin, monkeypatch) -> None:
        self.most = 0
        for name in ("partitions", "log_dirs", "reassign"):
            ask = getattr(cluster, name)

            def counted(some, ask=ask):
                self.most = max(self.most, len(some))
                return ask(some)

            monkeypatch.setattr(cluster, name, counted)


def carry_out(cluster: SimulatedAdmin, plan: Path) -> tuple[float, str]:
    """
    Carry a plan out; return the longest wait for the next copy, and the status.

    The first half counts: later, steps wait for brokers that are never free again.
    """
    longest, waits_since, status, num_done = 0.0, None, "", 0
    half = len(read_plan(plan).reassignment.topics) / 2
    for event in run(job(plan), cluster):
        num_done += len(event.partitions) if event.event == "finished" else 0
        if event.event == "finished" and waits_since is None and num_done < half:
            waits_since = cluster.now_s()
        if event.event == "admitted" and waits_since is not None:
            longest = max(longest, cluster.now_s() - waits_since)
            waits_since = None
        if event.event == "done":
            status = event.status
    return longest, status


@pytest.mark.slow
def test_only_what_moves_is_asked_for_and_a_turn_is_taken_at_once(
    tmp_path, monkeypatch
):
    cluster, plan = large(tmp_path, 3000)
    asked = Asked(cluster, monkeypatch)

    longest, status = carry_out(cluster, plan)

    assert status == "completed"
    assert asked.most <= 2 * MOST_ACTIVE
    # Admission follows a finished copy within a look.
    assert longest <= 2.0


@pytest.mark.slow
def test_a_run_tracks_each_move_in_little_memory(tmp_path):
    num_moves = 4000
    cluster, plan = large(tmp_path, num_moves)
    events = run(job(plan), cluster)
    tracemalloc.start()
    try:
        assert next(events).event == "started"
        most = max(tracemalloc.get_traced_memory()[0] for _ in events)
    finally:
        tracemalloc.stop()

    # 100,000 moves in 200 MB, the simulated cluster included: 2 kB each.
    assert most / num_moves <= 2000
