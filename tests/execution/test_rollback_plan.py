"""Rollbacks from any half-done state: the lists, their order and their log dirs."""

from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from execution.half_done import carried_out, file_of, half_done, plan_of
from placement.model.cluster import BrokerState, ClusterState, LogDirState
from planner.errors import BadInputError
from planner.execution.choices import Choices
from planner.execution.preflight import IGNORABLE
from planner.execution.prepare import prepare
from planner.execution.run.run import Job, run
from planner.execution.run.run_choices import RunChoices
from planner.execution.simulation.simulated_admin import SimulatedAdmin
from planner.execution.undo.cancel import cancel
from planner.execution.undo.rollback import roll_back
from planner.execution.undo.rollback_folder import write_rollback
from planner.execution.undo.rollback_plan import RollbackPlan, plan_rollback
from planner.execution.undo.rollback_states import RollbackState
from planner.plan.folder.plan_folder import write_plan
from planner.plan.input.plan_input import PlanInput, read_plan
from planner.plan.input.wave_input import WavesInput, read_waves
from planner.snapshot import Snapshot
from planner.snapshot.actions.apply_plan import apply_plan
from planner.verify import Overall
from planner.verify.state_rows import ClusterRows, Entry, Key, entries_of
from planner.verify.verification import verify
from planner.verify.whole_plan import verify_read
from support.clusters import Dir, make_state
from support.plans import planned_for, skewed_document
from waves.reassignments import reassignment_to, reassignments

MB = 10**6
EVERY_RULE = Choices(ignore=IGNORABLE)


def plan_to_undo(
    draw, *, is_full: bool = False, **kinds
) -> tuple[Snapshot, PlanInput, WavesInput]:
    """Draw a cluster, with room on its disks unless it may be full, and a plan."""
    drawn = draw(reassignments(has_dirs=True, **kinds))
    assume(drawn.is_changed.any())
    state, dirs = drawn.before, drawn.before.log_dirs
    if not is_full:
        roomy = replace(dirs, size_bytes=dirs.size_bytes * 50)
        dirs = replace(roomy, usable_bytes=roomy.size_bytes - 5000)
        state = replace(state, log_dirs=dirs)
    cluster = Snapshot.from_state(state)
    found = plan_of(replace(drawn, before=cluster.to_state()))
    assume(found is not None)
    return cluster, *found


def chosen_by(data: st.DataObject):
    """Return functions that choose one of some values, and another order of them."""
    return (
        lambda values: data.draw(st.sampled_from(values)),
        lambda values: data.draw(st.permutations(values)),
    )


def hold_as_before(rollback: RollbackPlan, before: ClusterState) -> None:
    """Carry a rollback out, and compare the end with the cluster before the plan."""
    assert rollback.findings == ()
    assert list(rollback.blockers()) == []
    after, rows = carried_out(rollback), ClusterRows(before)
    for one in rollback.to_bring_back:
        row = rows.row_of[one.key]
        was = rows.replicas(row)
        assert after.lists[one.key] == was
        assert rollback.steps(one.key)[-1].replicas == was
        for slot, broker in enumerate(was):
            path = rows.log_dir(row, slot)
            if path is not None and (broker, path) not in one.lost_dirs:
                assert after.dirs[one.key, broker] == path


def is_stuck(rollback: RollbackPlan) -> bool:
    """Return whether disks leave no order, which the rollback then has to say."""
    if rollback.stuck is None:
        return False
    [blocker] = rollback.blockers()
    assert blocker.rule == "unsafe-rollback"
    assert rollback.stuck in blocker.message
    assert {one.rule for one in rollback.findings} == {"wave-end"}
    return True


def runs_to_the_end(rollback: RollbackPlan, now: Snapshot) -> None:
    """Prepare a rollback as a run does, and follow its requests."""
    found = prepare(rollback.as_plan_input(), now, EVERY_RULE, waves=rollback.waves)
    rules = {blocker.rule for blocker in found.blockers}
    assert not rules & {"drifted", "needs-waves", "broker-not-live", "no-source"}
    ends = {}
    for stage in found.walk.stages:
        for change in stage.stage.changes:
            for step in change.steps:
                assert len(step.copies) <= 1
                ends[change.key] = step.replicas
    planned = {one.key: one.target.replicas for one in rollback.to_bring_back}
    rows = ClusterRows(rollback.state)
    for key, replicas in planned.items():
        now_list = rows.replicas(rows.row_of[key])
        assert ends.get(key, now_list) == replicas


@given(st.data())
def test_any_half_done_plan_comes_back_step_by_step(data):
    cluster, plan, waves = plan_to_undo(data.draw)
    now, _ = half_done(cluster, plan, waves, *chosen_by(data))

    rollback = plan_rollback(plan, now, waves=waves)

    left_out = {s for s in RollbackState if not s.is_planned} - {RollbackState.BACK}
    assert rollback.of(*left_out) == ()
    hold_as_before(rollback, cluster.to_state())
    runs_to_the_end(rollback, now)


@given(st.data())
def test_a_rollback_without_room_says_so_and_any_other_is_safe(data):
    cluster, plan, waves = plan_to_undo(data.draw, is_full=True)
    now, _ = half_done(cluster, plan, waves, *chosen_by(data))

    rollback = plan_rollback(plan, now, waves=waves)

    assume(not is_stuck(rollback))
    hold_as_before(rollback, cluster.to_state())


@given(st.data())
def test_lists_that_grew_and_brokers_that_died_come_back_too(data):
    cluster, plan, waves = plan_to_undo(
        data.draw, resizes=True, most_dead=2, may_be_unled=True, has_rates=True
    )
    now, _ = half_done(cluster, plan, waves, *chosen_by(data))
    live = ClusterRows(now.to_state()).is_live

    rollback = plan_rollback(plan, now, waves=waves)

    for one in rollback.partitions:
        assert one.dead == tuple(b for b in one.target.replicas if not live(b))
        assert not (one.dead and one.state.is_planned)
    # What is written meanwhile may fill disks behind networks that are too slow.
    assume(not is_stuck(rollback))
    assert rollback.of(RollbackState.DRIFTED, RollbackState.MOVING) == ()
    hold_as_before(rollback, cluster.to_state())
    runs_to_the_end(rollback, now)


@given(st.data())
def test_a_rollback_that_was_interrupted_is_planned_again(data):
    cluster, plan, waves = plan_to_undo(data.draw)
    now, _ = half_done(cluster, plan, waves, *chosen_by(data))
    first = plan_rollback(plan, now, waves=waves)
    assume(first.to_bring_back)
    again, _ = half_done(now, first.as_plan_input(), first.waves, *chosen_by(data))

    second = plan_rollback(plan, again, waves=waves, earlier=[first.waves])

    assert second.of(RollbackState.DRIFTED) == ()
    hold_as_before(second, cluster.to_state())
    end = apply_plan(again, file_of([one.target for one in second.to_bring_back]))
    done = plan_rollback(plan, end, waves=waves)
    assert len(done.of(RollbackState.BACK)) == len(done.partitions)
    assert (done.num_copies, done.copied_bytes, done.seconds) == (0, 0, 0)


@given(st.data())
def test_lists_of_other_tools_are_named_and_left_out(data):
    cluster, plan, waves = plan_to_undo(data.draw)
    now, _ = half_done(cluster, plan, waves, *chosen_by(data))
    entries = list(entries_of(plan.before))
    other = data.draw(st.sampled_from(entries))
    brokers = now.brokers.column("id").to_pylist()
    changed = tuple(data.draw(st.permutations(brokers))[: len(other.replicas)])
    files = (plan.reassignment, plan.before, *waves.waves)
    known = [one for file in files for one in entries_of(file) if one.key == other.key]
    assume(all(set(changed) != set(one.replicas) for one in known))
    now = apply_plan(now, file_of([Entry(other.key, changed, None)]))

    rollback = plan_rollback(plan, now, waves=waves)

    assert [one.key for one in rollback.of(RollbackState.DRIFTED)] == [other.key]
    assert other.key not in rollback.as_plan_input().reassignment.topics
    assert rollback.steps(other.key) == ()
    hold_as_before(rollback, cluster.to_state())


@given(st.data())
def test_verify_names_what_a_cancel_left_as_such(data):
    cluster, plan, waves = plan_to_undo(data.draw)
    now, cancelled = half_done(cluster, plan, waves, *chosen_by(data))
    rows = ClusterRows(now.to_state())
    exact: dict[Key, list] = {}
    for file in (plan.reassignment, plan.before, *waves.waves):
        for one in entries_of(file):
            exact.setdefault(one.key, []).append(one.replicas)
    turned = {
        key for key in cancelled if rows.replicas(rows.row_of[key]) not in exact[key]
    }
    assume(turned)

    outcome = verify(
        now.to_state(), plan.reassignment, rollback=plan.before, waves=waves.waves
    )

    named = [one for one in outcome.findings if one.rule == "other-order"]
    assert sum(one.count for one in named) == len(turned)
    assert not [one for one in outcome.findings if one.rule == "differs"]


OPERATIONS = {
    "rebalance": {},
    "add-brokers": {},
    "remove-brokers": {"broker_list": "2"},
    "replace-broker": {"broker": "1", "with_broker": "6"},
    "set-replication-factor": {"replication_factor": 3},
    "leaders": {},
    "log-dirs": {"empty": ["1:/d1"]},
}


@pytest.mark.parametrize("goal", OPERATIONS)
def test_plans_of_every_kind_come_back_by_a_folder_of_their_own(goal, tmp_path):
    document = skewed_document(num_partitions=24)
    made = planned_for(document, goal, waves=True, effort="quick", **OPERATIONS[goal])
    write_plan(made.plan, tmp_path / "plan")
    plan, waves = read_plan(tmp_path / "plan"), read_waves(tmp_path / "plan")
    cluster = Snapshot.from_document(document)
    rng = np.random.default_rng(1)
    choose = lambda values: values[rng.integers(len(values))]  # noqa: E731
    brought_back = 0
    for number in range(4):
        now, _ = half_done(cluster, plan, waves, choose, rng.permutation)

        rollback = plan_rollback(plan, now)

        hold_as_before(rollback, cluster.to_state())
        runs_to_the_end(rollback, now)
        folder = tmp_path / f"back-{number}"
        write_rollback(rollback, folder)
        read = read_plan(folder)
        there = prepare(rollback.as_plan_input(), now, EVERY_RULE, waves=rollback.waves)
        assert prepare(read, now, EVERY_RULE).plan_id == there.plan_id
        assert read_waves(folder).check(rollback.state, read.reassignment) == ()
        end = apply_plan(now, read.reassignment)
        assert verify_read(read, end).overall is Overall.COMPLETED
        brought_back += len(rollback.to_bring_back)
    assert brought_back > 0


DIRS = {b: [Dir("/a", 1000, 900), Dir("/b", 1000, 900)] for b in range(1, 7)}
PLAN = plan_of(
    reassignment_to(
        make_state([[1, 2, 3]], ids=range(1, 7), log_dirs=DIRS, dirs=[["/a"] * 3]),
        [[4, 5, 3]],
    )
)


def undone(*, plan: PlanInput | None = None, **changes) -> RollbackPlan:
    """Plan the rollback of a plan from 1,2,3 to 4,5,3 on a cluster of one partition."""
    usual = {"replicas": [[4, 5, 3]], "log_dirs": DIRS, "dirs": [["/a"] * 3]}
    state = make_state(ids=range(1, 7), **(usual | changes))
    return plan_rollback(plan or PLAN[0], Snapshot.from_state(state), waves=PLAN[1])


STATES = {
    "end": ({}, RollbackState.MOVED),
    "before": ({"replicas": [[1, 2, 3]]}, RollbackState.BACK),
    "another-order": ({"replicas": [[3, 1, 2]]}, RollbackState.OTHER_ORDER),
    "another-order-of-the-end": ({"replicas": [[3, 5, 4]]}, RollbackState.MOVED),
    "a-wave": ({"replicas": [list(PLAN[1].waves[0].replicas[0])]}, RollbackState.MOVED),
    "other-log-dir": (
        {"replicas": [[1, 2, 3]], "dirs": [["/a", "/b", "/a"]]},
        RollbackState.MOVED,
    ),
    "somebody-else": ({"replicas": [[6, 2, 3]]}, RollbackState.DRIFTED),
    "fewer-replicas": (
        {"replicas": [[1, 2]], "dirs": [["/a"] * 2]},
        RollbackState.DRIFTED,
    ),
    "being-reassigned": (
        {
            "replicas": [[4, 5, 3, 2]],
            "dirs": [["/a"] * 4],
            "adding": [[5]],
            "removing": [[2]],
        },
        RollbackState.MOVING,
    ),
    "between-log-dirs": (
        {"future_dirs": [["/b", None, None]]},
        RollbackState.MOVING,
    ),
    "dead-broker": ({"states": {2: BrokerState.DEAD}}, RollbackState.BROKER_NOT_LIVE),
    "dead-broker-of-the-plan": ({"states": {5: BrokerState.DEAD}}, RollbackState.MOVED),
    "back-with-a-dead-broker": (
        {"replicas": [[1, 2, 3]], "states": {2: BrokerState.DEAD}},
        RollbackState.BACK,
    ),
    "nothing-in-sync": ({"isr": [[]], "leaders": [None]}, RollbackState.NO_SOURCE),
    "another-topic": (
        {"replicas": {"u": [[4, 5, 3]]}},
        RollbackState.DRIFTED,
    ),
}


@pytest.mark.parametrize("name", STATES)
def test_each_partition_has_one_state(name):
    changes, state = STATES[name]

    rollback = undone(**changes)

    [one] = rollback.partitions
    assert one.state is state
    assert rollback.findings == ()
    steps = rollback.steps(one.key)
    assert bool(steps) is state.is_planned
    assert len(rollback.as_plan_input().reassignment) == state.is_planned
    if state is RollbackState.OTHER_ORDER:
        assert rollback.num_copies == 0


def test_steps_bring_one_replica_each():
    rollback = undone(size_bytes=70)

    first, second = rollback.steps(("t", 0))[:2]
    assert len(set(first.replicas) - {4, 5, 3}) == 1
    assert set(second.replicas) == {1, 2, 3}
    assert rollback.steps(("t", 0))[-1].replicas == (1, 2, 3)
    assert (rollback.num_copies, rollback.copied_bytes) == (2, 140)
    # Two waves of 70 bytes at 50 MB/s.
    assert rollback.seconds == pytest.approx(2 * 70 / 50e6)


def test_unknown_bytes_are_no_number():
    assert undone().copied_bytes is None


@pytest.mark.parametrize(
    ("of_broker_1", "lost"),
    [
        pytest.param([Dir("/b", 1000, 900)], ((1, "/a"),), id="gone"),
        pytest.param(
            [Dir("/a", 1000, 900, LogDirState.OFFLINE), Dir("/b", 1000, 900)],
            ((1, "/a"),),
            id="offline",
        ),
        pytest.param(
            [Dir("/a", 1000, 900, LogDirState.CORDONED), Dir("/b", 1000, 900)],
            ((1, "/a"),),
            id="cordoned",
        ),
        pytest.param([], ((1, "/a"),), id="unknown"),
        pytest.param(DIRS[1], (), id="online"),
    ],
)
def test_a_log_dir_that_takes_no_replica_is_named_and_left_to_the_broker(
    of_broker_1, lost
):
    rollback = undone(log_dirs=DIRS | {1: of_broker_1})

    [one] = rollback.to_bring_back
    assert one.lost_dirs == lost
    path = None if lost else "/a"
    assert one.target.log_dirs == (path, "/a", "/a")
    assert rollback.findings == ()


def test_a_partition_that_is_back_elects_its_leader_of_before():
    rollback = undone(replicas=[[1, 2, 3]], leaders=[2])

    found = prepare(
        rollback.as_plan_input(), rollback.now, EVERY_RULE, waves=rollback.waves
    )
    assert rollback.elections == (("t", 0),)
    assert [one.stage.kind for one in found.walk.stages] == ["election"]
    assert (found.num_completed, found.operation) == (1, "rollback")


def test_a_topic_that_was_made_again_has_drifted():
    plan = replace(PLAN[0], document={"topic_ids": {"t": "tsqI6n7kjqos8KYa3Mjy8w"}})

    rollback = undone(plan=plan, topic_ids=["7mkn5Lv5RZ6mB0vVlbZoYw"])

    assert [one.state for one in rollback.partitions] == [RollbackState.DRIFTED]


REFUSED = {
    "other-cluster": (
        replace(PLAN[0], document={"snapshot": {"cluster_id": "other"}}),
        "snapshot.cluster_id",
    ),
    "no-record": (replace(PLAN[0], rollback=None), "t-0"),
    "new-partitions": (replace(PLAN[0], goal="new-topic"), "goal"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_plan_that_nothing_can_bring_back_is_refused(name):
    plan, place = REFUSED[name]

    with pytest.raises(BadInputError) as refused:
        undone(plan=plan)

    assert [one.place for one in refused.value.problems] == [place]
    assert refused.value.problems[0].remedy


def test_caps_and_rates_are_those_of_the_plan_with_one_copy_of_a_partition():
    limits = replace(
        PLAN[1].limits,
        max_in=3,
        max_per_partition=2,
        disk_threshold=0.5,
        bandwidth_bytes_per_s=7.0,
    )
    waves = replace(PLAN[1], limits=limits)
    now = undone().now

    found = plan_rollback(PLAN[0], now, waves=waves).waves.limits
    assert (found.max_in, found.max_per_partition) == (3, 1)
    assert (found.disk_threshold, found.bandwidth_bytes_per_s) == (0.5, 7.0)
    faster = plan_rollback(PLAN[0], now, waves=waves, rate_bytes_per_s=9)
    assert faster.waves.limits.bandwidth_bytes_per_s == 9


def large_document() -> dict:
    """Return a skewed cluster whose copies take some seconds each."""
    document = skewed_document(num_partitions=24)
    for broker in document["brokers"]:
        broker["state"] = "alive"
        for log_dir in broker["log_dirs"]:
            log_dir["size_bytes"] *= MB
            log_dir["usable_bytes"] = log_dir["size_bytes"] // 2
    for topic in document["topics"]:
        for partition in topic["partitions"]:
            partition["size_bytes"] *= MB
            partition["leader"] = partition["replicas"][0]
            partition["in_bytes_per_s"] = partition["out_bytes_per_s"] = 0.0
        del topic["topic_id"]
    return document


def job_on_a_cluster(folder: Path) -> tuple[Job, SimulatedAdmin]:
    """Return a plan in waves, to run on a simulated cluster."""
    document = large_document()
    made = planned_for(document, waves=True, effort="quick")
    write_plan(made.plan, folder / "plan")
    job = Job(
        plan=read_plan(folder / "plan"),
        journal=folder / "run.jsonl",
        choices=Choices(
            rate_bytes_per_s=20 * MB, has_throttle=True, ignore=frozenset(IGNORABLE)
        ),
        run_choices=RunChoices(),
    )
    snapshot = Snapshot.from_document(document)
    return job, SimulatedAdmin(snapshot, rate_bytes_per_s=20 * MB)


@pytest.mark.parametrize("num_events", [3, 6, 9, 12, 10_000])
def test_a_run_that_stopped_anywhere_is_cancelled_and_rolled_back(num_events, tmp_path):
    job, cluster = job_on_a_cluster(tmp_path)
    before, plan = cluster.snapshot().to_state(), job.plan
    events = run(job, cluster)
    seen = list(islice(events, num_events))
    events.close()
    assert (seen[-1].event == "done") is (num_events == 10_000)
    list(cancel(plan, job.journal, cluster))

    rollback = plan_rollback(plan, cluster.snapshot())
    back = replace(
        job,
        plan=rollback.as_plan_input(),
        waves=rollback.waves,
        journal=tmp_path / "rollback.jsonl",
    )
    *_, last = run(back, cluster)

    assert rollback.findings == ()
    has_copied = any(event.event == "finished" for event in seen)
    assert (rollback.num_copies > 0) is has_copied
    assert (last.event, last.status) == ("done", "completed")
    after = cluster.snapshot().to_state()
    assert np.array_equal(after.replicas.broker_idx, before.replicas.broker_idx)
    assert np.array_equal(after.replicas.log_dir_idx, before.replicas.log_dir_idx)
    assert np.array_equal(after.partitions.leader_idx, before.partitions.leader_idx)


@pytest.mark.not_quick
def test_a_rollback_that_is_interrupted_between_its_own_lists_goes_on(tmp_path):
    job, cluster = job_on_a_cluster(tmp_path)
    before = cluster.snapshot().to_state()
    list(run(job, cluster))
    named: list[str] = []
    for _ in range(3):
        events = roll_back(job, cluster, named.append)
        next(event for event in events if event.event == "admitted")
        events.close()

    *_, last = roll_back(job, cluster, named.append)

    assert named == []
    assert last.status == "rolled-back"
    after = cluster.snapshot().to_state()
    assert np.array_equal(after.replicas.broker_idx, before.replicas.broker_idx)


@pytest.mark.not_quick
@pytest.mark.parametrize("broker", [1, 2, 3])
def test_a_broker_that_dies_during_a_rollback_and_returns_gets_its_replicas(
    broker, tmp_path
):
    job, cluster = job_on_a_cluster(tmp_path)
    before = cluster.snapshot().to_state()
    list(run(job, cluster))
    events = roll_back(job, cluster, print)
    next(event for event in events if event.event == "finished")
    events.close()
    cluster.kill(broker)
    cluster.sleep(60)
    named: list[str] = []
    *_, last = roll_back(job, cluster, named.append)
    assert last.status == "stopped"
    assert "not live" in named[0]
    cluster.restart(broker)
    cluster.sleep(60)

    *_, last = roll_back(job, cluster, named.append)

    assert last.status == "rolled-back", named
    after = cluster.snapshot().to_state()
    assert np.array_equal(after.replicas.broker_idx, before.replicas.broker_idx)
