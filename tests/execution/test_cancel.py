"""Cancels of runs on a simulated cluster."""

from execution.simulated_runs import (
    job,
    lists,
    make_cluster,
    throttles,
    write_plan,
)
from planner.execution.run.run import run
from planner.execution.undo.cancel import cancel
from planner.execution.undo.clear_throttles import clear_throttles
from planner.plan.input.plan_input import read_plan


def test_cancel_takes_back_what_runs_and_leaves_what_is_done(tmp_path):
    before, after = [(1, 2)] * 8, [(1, 3)] * 8
    cluster = make_cluster(before)
    plan = write_plan(tmp_path, before, after)
    running = run(job(plan), cluster)
    for event in running:
        if event.event == "finished":
            break
    running.close()
    cluster.kill(3)

    events = list(cancel(read_plan(plan), plan / "journal.jsonl", cluster))

    assert events[-1].status == "cancelled"
    assert cluster.reassignments() == {}
    done = [row for row in lists(cluster, 8) if row == (1, 3)]
    assert 0 < len(done) == events[-1].completed < 8
    assert events[-1].throttles_left == ["broker 3: it is down"]
    cluster.restart(3)
    again = clear_throttles(read_plan(plan), plan / "journal.jsonl", cluster)
    assert again.left == ()
    assert throttles(cluster) == {}


def test_a_cancel_that_is_refused_is_not_called_one(tmp_path, monkeypatch):
    cluster = make_cluster([(1, 2)])
    plan = write_plan(tmp_path, [(1, 2)], [(1, 3)])
    ask = cluster.reassign

    def reassign(targets):
        if None in targets.values():
            return dict.fromkeys(targets, "InvalidReplicationAssignmentError")
        return ask(targets)

    monkeypatch.setattr(cluster, "reassign", reassign)
    cluster.at(3.0, lambda: cluster.kill(3))

    events = list(run(job(plan, broker_grace_s=30.0), cluster))

    [aside] = [event for event in events if event.event == "set-aside"]
    assert not aside.is_cancelled
    assert "refuses to cancel it" in aside.reason
    assert events[-1].status == "stopped"
