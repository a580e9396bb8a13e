"""Runs on a simulated cluster: stages, faults, resumption, throttles, cancel."""

import json
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.errors import BadInputError, ClusterUnavailableError
from planner.execution.choices import Choices
from planner.execution.prepare import prepare
from planner.execution.run.controls import ControlFile, control_path
from planner.execution.run.journal import read_journal
from planner.execution.run.run import Job, run
from planner.execution.run.run_choices import Hours, RunChoices
from planner.execution.simulation.simulated_admin import SimulatedAdmin
from planner.execution.undo.cancel import cancel
from planner.execution.undo.clear_throttles import clear_throttles
from planner.kafka.actions.config_changes import Place
from planner.plan.input.plan_input import read_plan
from planner.snapshot import Snapshot

MB = 10**6
RATE = 10 * MB
SIZE = 100 * MB
BROKERS = (1, 2, 3, 4, 5)
FAST = 1000 * MB


def make_cluster(lists, *, size=SIZE, free=100_000 * MB, dirs=("/a",), **more):
    """Return a simulated cluster with one topic, and three brokers to fill."""
    log_dirs = [
        {"path": path, "size_bytes": 2 * free, "usable_bytes": free} for path in dirs
    ]
    partitions = [
        {
            "partition": number,
            "replicas": list(row),
            "size_bytes": size,
            "log_dirs": [dirs[0]] * len(row),
        }
        for number, row in enumerate(lists)
    ]
    topic = {
        "name": "t",
        "topic_id": "tsqI6n7kjqos8KYa3Mjy8w",
        "configs": {"min.insync.replicas": "1"},
        "partitions": partitions,
    }
    document = {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "cluster_id": "simulated",
        "taken_at": "2026-11-27T08:00:00Z",
        "brokers": [{"id": b, "log_dirs": log_dirs} for b in BROKERS],
        "topics": [topic],
    }
    return SimulatedAdmin(
        Snapshot.from_document(document), rate_bytes_per_s=FAST, **more
    )


def write_plan(folder: Path, before, after, dirs=None) -> Path:
    path = folder / "plan"
    path.mkdir(exist_ok=True)
    for name, rows in (("rollback.json", before), ("reassignment.json", after)):
        entries = [
            {"topic": "t", "partition": number, "replicas": list(row)}
            | ({"log_dirs": dirs[name][number]} if dirs else {})
            for number, row in enumerate(rows)
        ]
        document = {"version": 1, "partitions": entries}
        (path / name).write_text(json.dumps(document))
    document = {
        "format": "kafka-planner/plan",
        "version": 1,
        "goal": "rebalance",
        "snapshot": {"cluster_id": "simulated"},
        "topic_ids": {"t": "tsqI6n7kjqos8KYa3Mjy8w"},
        "settings": {},
    }
    (path / "plan.json").write_text(json.dumps(document))
    return path


def job(path: Path, rate=RATE, **more) -> Job:
    return Job(
        plan=read_plan(path),
        journal=path / "journal.jsonl",
        choices=Choices(
            rate_bytes_per_s=rate,
            has_throttle=rate is not None,
            ignore=frozenset(more.pop("ignore", ())),
        ),
        run_choices=RunChoices(**more),
    )


def lists(cluster, count):
    found = cluster.partitions([("t", number) for number in range(count)])
    return [found["t", number].replicas for number in range(count)]


def throttles(cluster):
    places = [Place("topic", "t"), *(Place("broker", str(b)) for b in BROKERS)]
    found = cluster.configs(places)
    return {place: values for place, values in found.items() if values}


def kinds(events):
    return Counter(event.event for event in events)


MOVES = [((1, 2), (1, 3)), ((2, 1), (3, 1)), ((1, 2), (2, 1)), ((4, 5), (4, 5))]
BEFORE, AFTER = [m[0] for m in MOVES], [m[1] for m in MOVES]


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


def test_what_an_operator_has_set_comes_back(tmp_path):
    cluster = make_cluster(BEFORE)
    rate, replicas = (
        "leader.replication.throttled.rate",
        "leader.replication.throttled.replicas",
    )
    theirs = {
        Place("broker", "1"): {rate: ("SET", "777")},
        Place("topic", "t"): {replicas: ("SET", "3:4,0:1")},
    }
    assert not cluster.set_configs(theirs)
    was = throttles(cluster)
    plan = write_plan(tmp_path, BEFORE, AFTER)

    refused = list(run(job(plan), cluster))
    assert [b.rule for b in refused[-1].blockers] == ["throttled"]
    events = list(run(job(plan, ignore=["throttled"]), cluster))

    assert events[-1].status == "completed"
    assert throttles(cluster) == was


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


@st.composite
def plans(draw):
    """Draw lists before and after, of one new replica at most."""
    before, after = [], []
    for _ in range(draw(st.integers(1, 8))):
        row = draw(st.permutations(BROKERS))
        old = list(row[:3])
        new = list(old)
        if draw(st.booleans()):
            new[draw(st.integers(0, 2))] = row[3]
        before.append(tuple(old))
        after.append(tuple(draw(st.permutations(new))))
    return before, after


FAULTS = st.lists(
    st.tuples(
        st.sampled_from(["cut", "answers", "requests", "restart"]),
        st.integers(0, 60),
        st.integers(1, 5),
    ),
    max_size=4,
)


def inject(cluster, faults):
    for kind, at_s, number in faults:
        if kind == "cut":
            cluster.at(at_s, lambda n=number: cluster.cut_network(20.0 * n))
        elif kind == "answers":
            cluster.at(at_s, lambda n=number: cluster.lose_answers(n))
        elif kind == "requests":
            cluster.at(at_s, lambda n=number: cluster.lose_requests(n))
        else:
            cluster.at(at_s, lambda n=number: cluster.kill(n))
            cluster.at(at_s + 30, lambda n=number: cluster.restart(n))


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
    health, told = cluster.health, []

    def silent():
        if 1.0 < cluster.now_s() < 200.0:
            msg = "b1:9092: timed out after 3 s"
            raise ClusterUnavailableError(msg)
        return health()

    monkeypatch.setattr(cluster, "health", silent)
    plan = write_plan(tmp_path, [(1, 2)], [(1, 3)])
    asked = replace(job(plan), report=lambda one: told.append((cluster.now_s(), one)))
    events = list(run(asked, cluster))

    [(at_s, event)] = told
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
