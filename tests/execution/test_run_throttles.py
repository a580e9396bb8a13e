"""Throttles of runs on a simulated cluster: rates, lists, and what comes back."""

from collections import deque
from dataclasses import replace

import pytest

from execution.simulated_runs import (
    AFTER,
    BEFORE,
    BROKERS,
    MB,
    job,
    make_cluster,
    throttles,
    write_plan,
)
from planner.execution.choices import Choices
from planner.execution.run.controls import ControlFile, control_path
from planner.execution.run.run import run
from planner.execution.undo.cancel import cancel
from planner.kafka.actions.config_changes import Place
from planner.plan.input.plan_input import read_plan

RATE = "leader.replication.throttled.rate"
REPLICAS = "leader.replication.throttled.replicas"


def test_what_an_operator_has_set_comes_back(tmp_path):
    cluster = make_cluster(BEFORE)
    theirs = {
        Place("broker", "1"): {RATE: ("SET", "777")},
        Place("topic", "t"): {REPLICAS: ("SET", "3:4,0:1")},
    }
    assert not cluster.set_configs(theirs)
    was = throttles(cluster)
    plan = write_plan(tmp_path, BEFORE, AFTER)

    refused = list(run(job(plan), cluster))
    assert [b.rule for b in refused[-1].blockers] == ["throttled"]
    events = list(run(job(plan, ignore=["throttled"]), cluster))

    assert events[-1].status == "completed"
    assert throttles(cluster) == was


@pytest.mark.parametrize("changes", [1, 2, 3, 100])
@pytest.mark.parametrize("theirs", [None, "", "3:4,0:1"])
def test_throttles_that_a_broker_which_lags_does_not_show_are_taken_off(
    tmp_path, monkeypatch, changes, theirs
):
    cluster = make_cluster(BEFORE)
    if theirs is not None:
        cluster.set_configs({Place("topic", "t"): {REPLICAS: ("SET", theirs)}})
        cluster.set_configs({Place("broker", "1"): {RATE: ("SET", "777")}})
    was, plan = throttles(cluster), write_plan(tmp_path, BEFORE, AFTER)

    with monkeypatch.context() as patch:
        lag(cluster, patch, changes)
        events = list(run(job(plan, ignore=["throttled"]), cluster))

    assert events[-1].status == "completed"
    assert events[-1].throttles_left == []
    assert throttles(cluster) == was


def lag(cluster, patch, changes):
    """Delay the configs that a cluster returns by a number of changes."""
    places = [Place("topic", "t"), *(Place("broker", str(b)) for b in BROKERS)]
    ask, change = cluster.configs, cluster.set_configs
    shown = deque([ask(places)], maxlen=changes + 1)

    def set_configs(wanted):
        refused = change(wanted)
        shown.append(ask(places))
        return refused

    patch.setattr(cluster, "set_configs", set_configs)
    patch.setattr(cluster, "configs", lambda some: {p: shown[0][p] for p in some})


def test_the_lists_of_throttled_replicas_hold_what_runs_alone(tmp_path):
    cluster = make_cluster([(1, 2)] * 12)
    plan = write_plan(tmp_path, [(1, 2)] * 12, [(1, 3)] * 12)
    for event in run(job(plan), cluster):
        if event.event in {"admitted", "finished", "progress"}:
            values = cluster.configs([Place("topic", "t")])[Place("topic", "t")]
            text = values.get("follower.replication.throttled.replicas", "")
            listed = {int(e.split(":")[0]) for e in text.split(",") if e}
            running = {number for _, number in cluster.reassignments()}
            assert running <= listed
            assert len(listed) <= 5
    assert throttles(cluster) == {}


def left_at_first_copy(cluster, plan):
    """Begin a plan, and leave it while its first copies run."""
    running = run(job(plan), cluster)
    next(event for event in running if event.event == "admitted")
    running.close()


@pytest.mark.parametrize("rate", [50 * MB, 2 * MB])
def test_copies_of_an_earlier_run_get_the_rate_of_the_next(tmp_path, rate):
    cluster = make_cluster([(1, 2)] * 2)
    plan = write_plan(tmp_path, [(1, 2)] * 2, [(1, 3)] * 2)
    left_at_first_copy(cluster, plan)
    began_s = cluster.now_s()

    events = list(run(job(plan, rate), cluster))

    assert events[-1].status == "completed"
    # Two copies of 100 MB into broker 3.
    assert cluster.now_s() - began_s == pytest.approx(200 * MB / rate, rel=0.5)
    assert throttles(cluster) == {}


def test_copies_of_an_earlier_run_get_the_rate_that_is_set(tmp_path):
    cluster = make_cluster([(1, 2)])
    plan = write_plan(tmp_path, [(1, 2)], [(1, 3)])
    left_at_first_copy(cluster, plan)
    slow = str(2 * MB)

    for event in run(job(plan, 50 * MB), cluster):
        if event.event == "started":
            ControlFile(control_path(plan / "journal.jsonl")).set(["throttle=2MB/s"])
        if event.event == "throttle":
            found = throttles(cluster)[Place("broker", "3")]
            assert found["follower.replication.throttled.rate"] == slow

    assert throttles(cluster) == {}


def test_copies_of_an_earlier_run_lose_their_throttle_if_the_next_has_none(tmp_path):
    cluster = make_cluster([(1, 2)])
    plan = write_plan(tmp_path, [(1, 2)], [(1, 3)])
    left_at_first_copy(cluster, plan)

    for event in run(job(plan, None), cluster):
        if event.event == "progress":
            assert throttles(cluster) == {}

    assert event.status == "completed"


def test_a_rate_of_a_run_that_ended_before_it_was_set_hides_none(tmp_path, monkeypatch):
    cluster = make_cluster([(1, 2)])
    plan = write_plan(tmp_path, [(1, 2)], [(1, 3)])
    left_at_first_copy(cluster, plan)

    def killed(_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(cluster, "set_configs", killed)
        with pytest.raises(KeyboardInterrupt):
            list(run(job(plan, 50 * MB), cluster))
    list(cancel(read_plan(plan), plan / "journal.jsonl", cluster))

    assert throttles(cluster) == {}


@pytest.mark.parametrize("rate", [None, 50 * MB])
def test_a_rate_of_our_own_is_raised_while_copies_stall(tmp_path, rate, monkeypatch):
    cluster = make_cluster([(1, 2)], size=100_000 * MB)
    plan = write_plan(tmp_path, [(1, 2)], [(1, 3)])
    ask = cluster.log_dirs

    def without_growth(replicas):
        found = ask(replicas)
        for dirs in found.values() if cluster.now_s() < 200 else ():
            for name, copy in dirs.current.items():
                dirs.current[name] = copy._replace(size_bytes=7)
        return found

    monkeypatch.setattr(cluster, "log_dirs", without_growth)
    chosen = replace(
        job(plan),
        choices=Choices(rate_bytes_per_s=rate),
    )

    events = list(run(chosen, cluster))

    stuck = [event.reason for event in events if event.event == "stuck"]
    assert len(stuck) == 3
    assert all("the throttle of" in reason for reason in stuck)
    raised = [event.bytes_per_s for event in events if event.event == "throttle"]
    # A rate that the operator has chosen stays.
    assert raised == ([] if rate else [100 * MB, 200 * MB, 400 * MB])
    assert events[-1].status == "completed"
    assert throttles(cluster) == {}


def test_a_rate_that_another_tool_has_set_is_named(tmp_path):
    cluster = make_cluster([(1, 2)])
    plan = write_plan(tmp_path, [(1, 2)], [(1, 3)])
    rate = {RATE: ("SET", "0")}
    cluster.at(3.0, lambda: cluster.set_configs({Place("broker", "1"): rate}))

    running = run(job(plan), cluster)
    stuck = next(event for event in running if event.event == "stuck")

    assert "leader.replication.throttled.rate of broker 1 is 0" in stuck.reason
    assert "another rate" in stuck.reason
    ControlFile(control_path(plan / "journal.jsonl")).set(["throttle=20MB/s"])
    assert list(running)[-1].status == "completed"
    assert throttles(cluster) == {}
