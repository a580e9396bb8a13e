"""Runs on a simulated cluster: stages, faults, resumption."""

from dataclasses import replace
from datetime import UTC, datetime, time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execution.simulated_runs import (
    AFTER,
    BEFORE,
    FAULTS,
    RATE,
    SIZE,
    inject,
    job,
    kinds,
    lists,
    make_cluster,
    plans,
    throttles,
    write_plan,
)
from planner.errors import BadInputError, ClusterUnavailableError
from planner.execution.choices import Choices
from planner.execution.prepare import prepare
from planner.execution.run.journal import read_journal
from planner.execution.run.run import run
from planner.execution.run.run_choices import Hours
from planner.execution.undo.rollback import roll_back
from planner.plan.input.plan_input import read_plan
from planner.snapshot import Snapshot


def test_a_run_ends_as_planned_and_takes_its_throttles_off(tmp_path):
    cluster = make_cluster(BEFORE)
    events = list(run(job(write_plan(tmp_path, BEFORE, AFTER)), cluster))

    assert events[-1].event == "done"
    assert (events[-1].status, events[-1].completed) == ("completed", 4)
    assert lists(cluster, 4) == AFTER
    # The leader of a reordered partition is elected; the last one keeps its own.
    leaders = [one.leader for one in cluster.partitions([("t", 2)]).values()]
    assert leaders == [2]
    assert throttles(cluster) == {}
    # 100 MB at 10 MB/s into broker 3, twice, at the same time.
    assert 20 <= cluster.now_s() <= 40


@settings(max_examples=60, deadline=None)
@given(plans(), FAULTS)
def test_any_run_ends_as_planned_whatever_is_lost_on_the_way(
    tmp_path_factory, found, faults
):
    before, after = found
    cluster = make_cluster(before)
    plan = write_plan(tmp_path_factory.mktemp("run"), before, after)
    inject(cluster, [(kind, at_s + 1, n) for kind, at_s, n in faults])

    try:
        events = list(run(job(plan), cluster))
    except ClusterUnavailableError:
        assert not (plan / "journal.jsonl").exists()  # before anything was asked
        return

    if events[-1].event == "failed":
        assert kinds(events)["admitted"] == 0
        return
    assert events[-1].status == "completed", events[-1]
    assert lists(cluster, len(after)) == after
    assert throttles(cluster) == {}


class Killed(BaseException):
    """End of the planner, at any moment."""


@settings(max_examples=60, deadline=None)
@given(plans(), st.lists(st.integers(0, 40), min_size=1, max_size=3))
def test_a_run_that_is_killed_goes_on_from_the_cluster(tmp_path_factory, found, stops):
    before, after = found
    cluster = make_cluster(before)
    plan = write_plan(tmp_path_factory.mktemp("run"), before, after)
    for stop in stops:
        left = [stop]

        def count(left=left):
            left[0] -= 1
            if left[0] < 0:
                raise Killed

        with pytest.MonkeyPatch.context() as patch:
            for name in ("reassign", "set_configs", "reassignments", "elect"):
                asked = getattr(cluster, name)

                def counted(*args, asked=asked, count=count):
                    count()
                    return asked(*args)

                patch.setattr(cluster, name, counted)
            try:
                list(run(job(plan), cluster))
            except Killed:
                cluster.sleep(3.0)
    events = list(run(job(plan), cluster))

    assert events[-1].status == "completed", events
    assert lists(cluster, len(after)) == after
    assert throttles(cluster) == {}


def test_a_dead_destination_costs_its_copies_alone(tmp_path):
    before = [(1, 2), (1, 2), (4, 5)]
    after = [(1, 3), (1, 4), (4, 2)]
    cluster = make_cluster(before)
    plan = write_plan(tmp_path, before, after)
    cluster.at(3.0, lambda: cluster.kill(3))

    events = list(run(job(plan, broker_grace_s=30.0), cluster))

    assert events[-1].status == "stopped"
    assert [t.split(":")[0] for t in events[-1].set_aside] == ["t-0"]
    assert lists(cluster, 3)[1:] == after[1:]
    assert sorted(lists(cluster, 3)[0]) == [1, 2]
    assert cluster.reassignments() == {}
    assert events[-1].throttles_left == ["broker 3: it is down"]

    cluster.restart(3)
    again = list(run(job(plan), cluster))
    assert again[-1].status == "completed"
    assert throttles(cluster) == {}


def test_a_destination_that_returns_in_time_costs_nothing(tmp_path):
    cluster = make_cluster([(1, 2)])
    cluster.at(3.0, lambda: cluster.kill(3))
    cluster.at(60.0, lambda: cluster.restart(3))

    events = list(run(job(write_plan(tmp_path, [(1, 2)], [(1, 3)])), cluster))

    assert events[-1].status == "completed"
    assert throttles(cluster) == {}


def test_what_another_tool_changes_is_set_aside(tmp_path):
    before, after = [(1, 2)] * 3, [(1, 3)] * 3
    cluster = make_cluster(before)
    plan = write_plan(tmp_path, before, after)
    cluster.at(3.0, lambda: cluster.reassign({("t", 0): (1, 4)}))
    cluster.at(3.0, lambda: cluster.reassign({("t", 1): None}))

    events = list(run(job(plan), cluster))

    assert events[-1].status == "stopped"
    assert [text.split(":")[0] for text in events[-1].set_aside] == ["t-0", "t-1"]
    assert lists(cluster, 3)[2] == (1, 3)
    cluster.sleep(100)
    # The other tool's reassignment is left alone.
    assert lists(cluster, 3)[0] == (1, 4)


OTHERS = {
    "moves": lambda cluster, key: cluster.reassign({key: (1, 4)}),
    "moved": lambda cluster, key: cluster.reassign({key: (1, 5)}),
    "drops": lambda cluster, key: cluster.reassign({key: (1,)}),
    "orders": lambda cluster, key: cluster.reassign({key: (2, 1)}),
}  # fmt: skip


@pytest.mark.parametrize("what", OTHERS)
def test_what_another_tool_changes_before_its_turn_is_set_aside(tmp_path, what):
    before, after = [(1, 2)] * 6, [(1, 3)] * 6
    cluster = make_cluster(before)
    plan = write_plan(tmp_path, before, after)
    last = "t", 5
    # A copy to it never ends.
    cluster.kill(4)
    cluster.at(3.0, lambda: OTHERS[what](cluster, last))

    events = list(run(job(plan), cluster))

    assert events[-1].status == "stopped"
    assert [text.split(":")[0] for text in events[-1].set_aside] == ["t-5"]
    assert "another tool" in events[-1].set_aside[0]
    assert lists(cluster, 5) == after[:5]
    asked = [row for event in events if event.event == "admitted" for row in
             event.partitions]  # fmt: skip
    assert ("t", 5) not in [(row.topic, row.partition) for row in asked]
    assert set(throttles(cluster)) == set()


def test_a_topic_that_is_made_again_before_its_turn_is_left_alone(tmp_path):
    before, after = [(1, 2)] * 6, [(1, 3)] * 6
    cluster = make_cluster(before)
    plan = write_plan(tmp_path, before, after)

    def make_again():
        cluster.delete_topic("t")
        cluster.create_topic("t", before)

    cluster.at(3.0, make_again)

    events = list(run(job(plan), cluster))

    assert events[-1].status == "stopped"
    assert len(events[-1].set_aside) == 6
    assert lists(cluster, 6) == before


@pytest.mark.parametrize("what", ["killed", "moved"])
def test_what_is_set_aside_stays_aside_in_later_stages(tmp_path, what):
    before, after = [(2, 1), (4, 1)], [(1, 3)] * 2
    cluster = make_cluster(before)
    plan = write_plan(tmp_path, before, after)
    list(run(job(plan), cluster))
    began = cluster.now_s()
    if what == "killed":
        cluster.at(began + 3.0, lambda: cluster.kill(2))
        cluster.at(began + 18.0, lambda: cluster.restart(2))
    else:
        cluster.at(began + 3.0, lambda: cluster.reassign({("t", 0): (1, 5)}))

    events = list(roll_back(job(plan, broker_grace_s=10.0), cluster, [].append))

    assert events[-1].status == "stopped"
    assert [text.split(":")[0] for text in events[-1].set_aside] == ["t-0"]
    cluster.sleep(100)
    left = (1, 3) if what == "killed" else (1, 5)
    assert lists(cluster, 2) == [left, (4, 1)]


def test_no_copy_begins_while_another_tool_moves_other_partitions(tmp_path):
    before, after = [(1, 2)] * 13, [(1, 3)] * 12
    cluster = make_cluster(before)
    plan = write_plan(tmp_path, before[:12], after)
    cluster.at(2.0, lambda: cluster.reassign({("t", 12): (1, 4)}))

    events = list(run(job(plan), cluster))

    assert events[-1].status == "completed"
    assert "another tool moves 1 partition" in next(
        event.reason for event in events if event.event == "paused"
    )


def test_a_deleted_topic_ends_what_was_planned_there(tmp_path):
    cluster = make_cluster([(1, 2)])
    cluster.at(3.0, lambda: cluster.delete_topic("t"))

    events = list(run(job(write_plan(tmp_path, [(1, 2)], [(1, 3)])), cluster))

    assert events[-1].status == "stopped"
    assert events[-1].set_aside == ["t-0: it does not exist"]
    assert events[-1].throttles_left == []


def test_a_request_without_any_answer_is_not_repeated_for_ever(tmp_path, monkeypatch):
    cluster = make_cluster([(1, 2)])

    def refuse(_):
        msg = "the answer is lost"
        raise ClusterUnavailableError(msg)

    monkeypatch.setattr(cluster, "reassign", refuse)
    plan = write_plan(tmp_path, [(1, 2)], [(1, 3)])
    events = list(run(job(plan, patience_s=60.0), cluster))

    assert events[-1].status == "stopped"
    assert events[-1].set_aside == ["t-0: no request for it had an effect for 60 s"]
    assert 60 <= cluster.now_s() <= 90
    assert throttles(cluster) == {}


def test_a_cluster_without_answers_is_reported_before_it_answers(tmp_path, monkeypatch):
    cluster = make_cluster([(1, 2)], size=100 * SIZE)
    health, reported = cluster.health, []

    def silent():
        if 1.0 < cluster.now_s() < 200.0:
            msg = "b1:9092: timed out after 3 s"
            raise ClusterUnavailableError(msg)
        return health()

    monkeypatch.setattr(cluster, "health", silent)
    plan = write_plan(tmp_path, [(1, 2)], [(1, 3)])
    asked = replace(
        job(plan), report=lambda one: reported.append((cluster.now_s(), one))
    )
    events = list(run(asked, cluster))

    [(at_s, event)] = reported
    assert at_s < 100.0
    assert event.reason == "b1:9092: timed out after 3 s; trying again"
    assert "stuck" not in kinds(events)
    assert events[-1].status == "completed"


def test_named_log_dirs_are_reached_between_and_inside_brokers(tmp_path):
    before, after = [(1, 2), (1, 2)], [(1, 3), (1, 2)]
    dirs = {
        "reassignment.json": [["any", "/b"], ["/b", "any"]],
        "rollback.json": [["/a", "/a"], ["/a", "/a"]],
    }
    cluster = make_cluster(before, dirs=("/a", "/b"))
    plan = write_plan(tmp_path, before, after, dirs)

    events = list(run(job(plan), cluster))

    assert events[-1].status == "completed"
    found = cluster.log_dirs([(("t", 0), 3), (("t", 1), 1)])
    assert found[3].current["t", 0].path == "/b"
    assert found[1].current["t", 1].path == "/b"


def test_a_run_admits_nothing_while_it_is_paused(tmp_path):
    cluster = make_cluster([(1, 2)] * 12)
    plan = write_plan(tmp_path, [(1, 2)] * 12, [(1, 3)] * 12)
    the_job = job(plan)
    control = plan / "journal.jsonl.control"
    controls = '{"throttle_bytes_per_s": 20000000, "is_paused": %s}'
    cluster.at(5.0, lambda: control.write_text(controls % "true"))
    cluster.at(500.0, lambda: control.write_text(controls % "false"))

    admitted, paused = [], []
    for event in run(the_job, cluster):
        if event.event == "admitted":
            admitted.append(cluster.now_s())
        if event.event == "paused":
            paused.append(cluster.now_s())
        if event.event == "throttle":
            assert event.bytes_per_s == 20_000_000

    assert paused
    assert not [at_s for at_s in admitted if paused[0] < at_s < 500]
    assert [at_s for at_s in admitted if at_s >= 500]
    assert lists(cluster, 12) == [(1, 3)] * 12


def test_a_duration_ends_the_run_in_time(tmp_path):
    cluster = make_cluster([(1, 2)] * 12)
    plan = write_plan(tmp_path, [(1, 2)] * 12, [(1, 3)] * 12)

    events = list(run(job(plan, max_duration_s=130.0), cluster))

    assert events[-1].status == "stopped"
    assert "duration" in events[-1].reason
    assert events[-1].still_running == 0
    assert cluster.now_s() <= 135
    assert 0 < events[-1].completed < 12
    assert throttles(cluster) == {}
    assert list(run(job(plan), cluster))[-1].status == "completed"


def test_two_runs_of_one_plan_do_not_run_at_once(tmp_path):
    cluster = make_cluster([(1, 2)])
    plan = write_plan(tmp_path, [(1, 2)], [(1, 3)])
    first = run(job(plan), cluster)
    next(first)
    with pytest.raises(BadInputError, match="another run"):
        next(run(job(plan), cluster))
    assert list(first)[-1].status == "completed"


def test_the_journal_has_each_request_before_its_answer(tmp_path):
    cluster = make_cluster(BEFORE)
    plan = write_plan(tmp_path, BEFORE, AFTER)
    list(run(job(plan), cluster))

    written = [line["event"] for line in read_journal(plan / "journal.jsonl")]
    assert written[:2] == ["started", "before"]
    assert written[-1] == "ended"
    for number, event in enumerate(written):
        if event == "answer":
            assert written[number - 1] == "request"
    before = [
        one
        for line in read_journal(plan / "journal.jsonl")
        if line["event"] == "before"
        for one in line.get("partitions", ())
    ]
    assert [tuple(one["replicas"]) for one in before] == BEFORE


def test_hours_hold_copies_back(tmp_path, monkeypatch):
    cluster = make_cluster([(1, 2)] * 2)
    plan = write_plan(tmp_path, [(1, 2)] * 2, [(1, 3)] * 2)

    def clock():
        return datetime.fromtimestamp(8 * 3600 + cluster.now_s(), tz=UTC)

    monkeypatch.setattr("planner.execution.run.run.local_now", clock)
    hours = Hours(time(9), time(10))
    events = []
    for event in run(job(plan, window=hours), cluster):
        events.append(event)
        if event.event == "admitted":
            assert cluster.now_s() >= 3600
    assert events[-1].status == "completed"


def test_cruise_control_is_named(tmp_path):
    cluster = make_cluster([(1, 2)])
    document = cluster.snapshot().to_document()
    document["topics"].append(
        {
            "name": "__CruiseControlMetrics",
            "partitions": [{"partition": 0, "replicas": [1]}],
        }
    )
    plan = write_plan(tmp_path, [(1, 2)], [(1, 3)])

    given = Choices(rate_bytes_per_s=RATE)
    found = prepare(read_plan(plan), Snapshot.from_document(document), given)

    assert "Cruise Control" in found.notes[0]
    assert prepare(read_plan(plan), cluster.snapshot(), given).notes == ()
