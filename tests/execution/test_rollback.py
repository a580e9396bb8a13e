"""Rollbacks on a simulated cluster: all ends as it was, whatever was left behind."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execution.simulated_runs import (
    inject,
    job,
    lists,
    make_cluster,
    plans,
    throttles,
    write_plan,
)
from planner.errors import ClusterUnavailableError
from planner.execution.run.run import run
from planner.execution.undo.rollback import preview_rollback, roll_back

NOTES = [].append


def leaders(cluster, count):
    found = cluster.partitions([("t", number) for number in range(count)])
    return [found["t", number].leader for number in range(count)]


@pytest.mark.not_quick
@settings(max_examples=50, deadline=None)
@given(plans(), st.integers(0, 12))
def test_all_is_as_before_from_wherever_the_run_was_left(tmp_path_factory, found, stop):
    before, after = found
    cluster = make_cluster(before)
    plan = write_plan(tmp_path_factory.mktemp("run"), before, after)
    running = run(job(plan), cluster)
    for _, _ in zip(range(stop), running, strict=False):
        pass
    running.close()

    events = list(roll_back(job(plan), cluster, NOTES))

    assert events[-1].status == "rolled-back", events
    assert lists(cluster, len(before)) == before
    assert leaders(cluster, len(before)) == [row[0] for row in before]
    assert throttles(cluster) == {}
    assert cluster.reassignments() == {}


@pytest.mark.not_quick
@settings(max_examples=30, deadline=None)
@given(plans(), st.integers(0, 8), st.integers(0, 6))
def test_a_rollback_that_is_interrupted_goes_on(tmp_path_factory, found, stop, again):
    before, after = found
    cluster = make_cluster(before)
    plan = write_plan(tmp_path_factory.mktemp("run"), before, after)
    for events, count in ((run(job(plan), cluster), stop), (None, again), (None, 2)):
        some = events or roll_back(job(plan), cluster, NOTES)
        for _, _ in zip(range(count), some, strict=False):
            pass
        some.close()

    events = list(roll_back(job(plan), cluster, NOTES))

    assert events[-1].status == "rolled-back", events
    assert lists(cluster, len(before)) == before
    assert throttles(cluster) == {}


@pytest.mark.not_quick
@settings(max_examples=30, deadline=None)
@given(plans(), st.lists(st.tuples(
    st.sampled_from(["cut", "answers", "requests"]), st.integers(0, 60),
    st.integers(1, 3)), max_size=3))  # fmt: skip
def test_a_rollback_ends_whatever_is_lost_on_the_way(tmp_path_factory, found, faults):
    before, after = found
    cluster = make_cluster(before)
    plan = write_plan(tmp_path_factory.mktemp("run"), before, after)
    list(run(job(plan), cluster))
    now = cluster.now_s()
    inject(cluster, [(kind, now + at_s + 1, n) for kind, at_s, n in faults])

    try:
        events = list(roll_back(job(plan), cluster, NOTES))
    except ClusterUnavailableError:
        return  # before anything was cancelled

    assert events[-1].status == "rolled-back", events
    assert lists(cluster, len(before)) == before


def test_what_another_tool_has_changed_is_left_alone_and_named(tmp_path):
    cluster = make_cluster([(1, 2), (1, 2)])
    plan = write_plan(tmp_path, [(1, 2), (1, 2)], [(1, 3), (1, 3)])
    list(run(job(plan), cluster))
    cluster.reassign({("t", 0): (4, 5)})
    cluster.sleep(100)
    named: list[str] = []

    events = list(roll_back(job(plan), cluster, named.append))

    assert events[-1].status == "stopped"
    assert lists(cluster, 2) == [(4, 5), (1, 2)]
    assert named == ["left out, changed by another tool since: 1 partition (t-0)"]


def test_a_preview_changes_nothing_and_says_what_comes_back(tmp_path):
    cluster = make_cluster([(1, 2)] * 3)
    plan = write_plan(tmp_path, [(1, 2)] * 3, [(1, 3)] * 3)
    list(run(job(plan), cluster))

    found = preview_rollback(job(plan), cluster.snapshot())

    assert found.prepared.is_ready
    assert found.prepared.operation == "rollback"
    assert sum(stage.num_copies for stage in found.prepared.stages) == 3
    assert lists(cluster, 3) == [(1, 3)] * 3


def test_a_preview_counts_what_moves_as_cancelled(tmp_path):
    cluster = make_cluster([(1, 2)] * 3)
    plan = write_plan(tmp_path, [(1, 2)] * 3, [(3, 2)] * 3)
    running = run(job(plan), cluster)
    next(event for event in running if event.event == "admitted")
    running.close()

    found = preview_rollback(job(plan), cluster.snapshot())

    assert (found.num_moving, found.left_out) == (3, ())
    assert found.prepared.is_ready
    assert len(cluster.reassignments()) == 3


def test_a_file_without_lists_of_before_has_no_way_back(tmp_path):
    cluster = make_cluster([(1, 2)])
    plan = write_plan(tmp_path, [(1, 2)], [(1, 3)])
    (plan / "rollback.json").unlink()
    with pytest.raises(ValueError, match="rollback"):
        list(roll_back(job(plan), cluster, NOTES))
