"""Moves between the log dirs of a broker, one of which fails meanwhile."""

from pathlib import Path

import pytest

from execution.simulated_runs import job, kinds, make_cluster, throttles, write_plan
from planner.execution.run.journal import read_journal
from planner.execution.run.run import run
from planner.execution.run.run_records import Event
from planner.execution.simulation.simulated_admin import SimulatedAdmin

LISTS = [(1, 2), (2, 1)]
GRACE_S = 60.0


def moved_inside(folder: Path) -> Path:
    """Write a plan that moves a replica inside broker 1, and one inside broker 2."""
    dirs = {
        "reassignment.json": [["/b", "any"], ["/b", "any"]],
        "rollback.json": [["/a", "/a"], ["/a", "/a"]],
    }
    return write_plan(folder, LISTS, LISTS, dirs)


def carried_out(cluster: SimulatedAdmin, plan: Path) -> list[Event]:
    """Carry a plan out; a run that has no end fails."""
    found = []
    for event in run(job(plan, broker_grace_s=GRACE_S), cluster):
        found.append(event)
        assert cluster.now_s() < 3600
    return found


def asked_for(plan: Path) -> int:
    """Return how often the move inside broker 1 was requested."""
    return sum(
        ["t", 0, 1, "/b"] in line["replicas"]
        for line in read_journal(plan / "journal.jsonl")
        if line["event"] == "request" and line["kind"] == "log-dirs"
    )


def test_a_move_to_a_log_dir_that_fails_is_put_aside_and_the_rest_goes_on(tmp_path):
    cluster = make_cluster(LISTS, dirs=("/a", "/b"))
    plan = moved_inside(tmp_path)
    cluster.at(2, lambda: cluster.fail_log_dir(1, "/b"))

    events = carried_out(cluster, plan)

    assert events[-1].status == "stopped"
    assert events[-1].set_aside == ["t-0: log dirs of broker 1 are offline: /b"]
    assert events[-1].completed == 1
    assert asked_for(plan) == 1
    assert throttles(cluster) == {}
    assert GRACE_S <= cluster.now_s() < 2 * GRACE_S


def test_a_log_dir_that_is_back_in_time_costs_nothing(tmp_path):
    cluster = make_cluster(LISTS, dirs=("/a", "/b"))
    plan = moved_inside(tmp_path)
    dirs = cluster._model.brokers[1].dirs

    def repair() -> None:
        dirs["/b"].is_online = True

    cluster.at(2, lambda: cluster.fail_log_dir(1, "/b"))
    cluster.at(30, repair)

    events = carried_out(cluster, plan)

    assert events[-1].status == "completed"
    assert kinds(events)["set-aside"] == 0
    assert asked_for(plan) == 2


@pytest.mark.parametrize("error", ["KafkaStorageError", "LogDirNotFoundError"])
def test_a_move_that_a_broker_goes_on_refusing_is_put_aside(
    tmp_path, monkeypatch, error
):
    cluster = make_cluster(LISTS, dirs=("/a", "/b"))
    plan = moved_inside(tmp_path)
    move, key = cluster.move_replicas, (("t", 0), 1)

    def vanish() -> None:
        move({key: "/a"})
        refuses = {key: error}
        monkeypatch.setattr(
            cluster,
            "move_replicas",
            lambda paths: {one: refuses[one] for one in paths if one in refuses},
        )

    cluster.at(2, vanish)

    events = carried_out(cluster, plan)

    assert events[-1].set_aside == [f"t-0: broker 1 refuses the log dir /b: {error}"]
    assert events[-1].completed == 1


def test_a_replica_whose_own_log_dir_fails_is_put_aside(tmp_path):
    cluster = make_cluster(LISTS, dirs=("/a", "/b"))
    plan = moved_inside(tmp_path)
    cluster.at(2, lambda: cluster.fail_log_dir(1, "/a"))

    events = carried_out(cluster, plan)

    assert events[-1].status == "stopped"
    assert events[-1].set_aside == ["t-0: log dirs of broker 1 are offline: /a"]
