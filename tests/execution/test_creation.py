"""New topics and partitions, carried out like any plan, on a simulated cluster."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import planner
from execution.simulated_runs import TOPIC_ID, job, kinds, make_cluster
from planner.errors import AnswerUnknownError, BadInputError, ClusterUnavailableError
from planner.execution.choices import Choices
from planner.execution.prepare import Prepared, prepare
from planner.execution.run.journal import read_journal
from planner.execution.run.run import run
from planner.execution.simulation.simulated_admin import SimulatedAdmin
from planner.execution.undo.cancel import cancel
from planner.execution.undo.rollback import roll_back
from planner.kafka.client.cluster_errors import not_authorised
from planner.plan.input.plan_input import read_plan
from planner.snapshot import write_snapshot
from planner.verify.whole_plan import verify_read
from support.commands import run as run_command

LISTS = [(1, 2), (2, 1), (1, 2)]
SERVER = "h:1"
CONFIGS = {"min.insync.replicas": "2", "cleanup.policy": "compact"}


def new_topic(folder: Path, cluster: SimulatedAdmin, **more) -> Path:
    """Write a plan of a topic with four partitions."""
    found = planner.new_topic(
        cluster.snapshot(), "fresh", 4, 2, topic_config=CONFIGS, **more
    )
    found.write(folder / "plan")
    return folder / "plan"


def more_partitions(folder: Path, cluster: SimulatedAdmin) -> Path:
    """Write a plan of two more partitions of a topic with three."""
    planner.add_partitions(cluster.snapshot(), "t", 5).write(folder / "plan")
    return folder / "plan"


PLANS = pytest.mark.parametrize("write", [new_topic, more_partitions])


def lists_of(plan: Path) -> dict[tuple[str, int], tuple[int, ...]]:
    document = json.loads((plan / "reassignment.json").read_text())
    return {
        (one["topic"], one["partition"]): tuple(one["replicas"])
        for one in document["partitions"]
    }


def created(cluster: SimulatedAdmin, plan: Path) -> bool:
    """Return whether the topic has the partitions of a plan, and no others."""
    wanted = lists_of(plan)
    (topic,) = {topic for topic, _ in wanted}
    count = max(number for _, number in wanted) + 1
    seen = cluster.partitions([*wanted, (topic, count)])
    return {key: one.replicas for key, one in seen.items()} == wanted


def requests(plan: Path) -> int:
    return sum(
        line["event"] == "request" and line["kind"] == "creation"
        for line in read_journal(plan / "journal.jsonl")
    )


def previewed(plan: Path, cluster: SimulatedAdmin) -> Prepared:
    return prepare(read_plan(plan), cluster.snapshot(), Choices())


@PLANS
def test_new_partitions_are_one_stage_that_is_journalled_and_verified(tmp_path, write):
    cluster = make_cluster(LISTS)
    plan = write(tmp_path, cluster)
    before = previewed(plan, cluster)

    events = list(run(job(plan), cluster))

    assert [stage.kind for stage in before.stages] == ["creation"]
    assert before.is_ready
    assert not before.has_throttle
    assert events[0].plan_id == before.plan_id
    assert [event.event for event in events] == [
        "started", "admitted", "finished", "cleaned", "done",
    ]  # fmt: skip
    assert (events[-1].status, events[-1].not_completed) == ("completed", 0)
    assert created(cluster, plan)
    (line,) = [x for x in read_journal(plan / "journal.jsonl") if "kind" in x]
    assert line["replicas"] == [list(row) for row in lists_of(plan).values()]
    assert verify_read(read_plan(plan), cluster.snapshot()).is_done


def test_a_topic_gets_its_configs_and_the_plan_id_depends_on_them(tmp_path):
    cluster = make_cluster(LISTS)
    plan = new_topic(tmp_path, cluster)
    document = json.loads((plan / "plan.json").read_text())
    first = previewed(plan, cluster).plan_id
    document["settings"]["topic_config"] = {"min.insync.replicas": "1"}
    (plan / "plan.json").write_text(json.dumps(document))

    assert previewed(plan, cluster).plan_id != first
    list(run(job(plan), cluster))

    topics = cluster.snapshot().topics
    names, configs = topics["topic"].to_pylist(), topics["configs"].to_pylist()
    found = dict(zip(names, configs, strict=True))["fresh"]
    assert dict(found) == {"min.insync.replicas": "1"}


def test_partitions_are_not_added_to_a_topic_that_was_created_again(tmp_path, capsys):
    plan = more_partitions(tmp_path, make_cluster(LISTS))
    again = make_cluster(LISTS, topic_id="ni7FZx_POS1UQWEA3Xml3w")

    found = previewed(plan, again)

    [blocker] = found.blockers
    assert blocker.rule == "drifted"
    assert "t was deleted and created again" in blocker.message
    assert not found.stages
    document = json.loads((plan / "plan.json").read_text())
    assert document["topic_ids"] == {"t": TOPIC_ID}
    write_snapshot(again.snapshot(), tmp_path / "again.json")
    outcome = run_command(capsys, "check", plan, "--snapshot", tmp_path / "again.json")
    assert "stale" in outcome.out
    # Once they are there nothing tells them from those of the plan but the topic.
    done = make_cluster([*LISTS, *lists_of(plan).values()], topic_id="ni7FZx_POS1U")
    assert previewed(plan, done).blockers


def test_a_plan_of_a_new_topic_names_no_id(tmp_path):
    plan = new_topic(tmp_path, make_cluster(LISTS))

    assert json.loads((plan / "plan.json").read_text())["topic_ids"] == {}


@PLANS
def test_a_second_run_finds_all_done_and_asks_for_nothing(tmp_path, write):
    cluster = make_cluster(LISTS)
    plan = write(tmp_path, cluster)
    list(run(job(plan), cluster))

    events = list(run(job(plan), cluster))

    assert events[-1].status == "completed"
    assert kinds(events)["admitted"] == 0
    assert requests(plan) == 1


@PLANS
@pytest.mark.parametrize("fault", ["lose_answers", "lose_requests"])
def test_what_is_lost_is_looked_for_before_it_is_asked_again(tmp_path, write, fault):
    cluster = make_cluster(LISTS)
    plan = write(tmp_path, cluster)
    getattr(cluster.network, fault)(1)

    events = list(run(job(plan), cluster))

    assert events[-1].status == "completed"
    assert created(cluster, plan)
    assert requests(plan) == (1 if fault == "lose_answers" else 2)


class Late(SimulatedAdmin):
    """Brokers that learn of new partitions some seconds later."""

    seen_from_s = 0.0

    def partitions(self, keys):
        is_blind = self.now_s() < self.seen_from_s
        return {} if is_blind else super().partitions(keys)


@PLANS
def test_a_request_that_kafka_refuses_the_second_time_was_carried_out(tmp_path, write):
    cluster = make_cluster(LISTS)
    plan = write(tmp_path, cluster)
    late = Late(cluster.snapshot())
    late.network.lose_answers(1)
    late.seen_from_s = 8.0

    events = list(run(job(plan), late))

    assert events[-1].status == "completed", events[-1]
    assert requests(plan) == 2
    assert created(late, plan)


def test_a_run_gives_up_once_its_patience_is_over(tmp_path):
    cluster = make_cluster(LISTS)
    plan = new_topic(tmp_path, cluster)
    cluster.network.lose_requests(1000)

    with pytest.raises(AnswerUnknownError):
        list(run(job(plan, patience_s=30.0), cluster))

    assert not cluster.partitions([("fresh", 0)])


class KilledError(Exception):
    """End of a process, at a request."""


@PLANS
@pytest.mark.parametrize("is_made", [False, True])
def test_a_run_that_was_killed_at_its_request_is_gone_on_with(
    tmp_path, write, is_made, monkeypatch
):
    cluster = make_cluster(LISTS)
    plan = write(tmp_path, cluster)
    create = cluster.create

    def killed(wanted, *, is_trial=False):
        found = create(wanted, is_trial=is_trial) if is_trial or is_made else None
        if not is_trial:
            raise KilledError
        return found

    monkeypatch.setattr(cluster, "create", killed)
    with pytest.raises(KilledError):
        list(run(job(plan), cluster))
    monkeypatch.undo()
    events = list(run(job(plan), cluster))

    assert events[0].is_resumed
    assert events[-1].status == "completed"
    assert created(cluster, plan)
    assert requests(plan) == (1 if is_made else 2)


DRIFTS = {
    "other replicas": (
        lambda c: c.create_topic("fresh", [(4, 5)] * 4),
        "exists with the replicas 4,5",
    ),
    "another count": (
        lambda c: c.create_topic("fresh", [(4, 5)]),
        "exists with 1 partition, not 4 in the plan",
    ),
}


@pytest.mark.parametrize("drift", DRIFTS)
def test_a_topic_that_exists_otherwise_is_drift_and_stays_as_it_is(tmp_path, drift):
    cluster = make_cluster(LISTS)
    plan = new_topic(tmp_path, cluster)
    act, words = DRIFTS[drift]
    act(cluster)
    seen = cluster.partitions([("fresh", n) for n in range(4)])

    (event,) = run(job(plan), cluster)

    assert (event.event, event.status) == ("failed", "stopped")
    assert [one.rule for one in event.blockers] == ["drifted"]
    assert words in event.blockers[0].message
    assert cluster.partitions([("fresh", n) for n in range(4)]) == seen


def test_a_topic_with_other_configs_is_drift(tmp_path):
    cluster = make_cluster(LISTS)
    plan = new_topic(tmp_path, cluster)
    cluster.create_topic("fresh", list(lists_of(plan).values()))

    (event,) = run(job(plan), cluster)

    assert "min.insync.replicas is not set, not 2" in event.blockers[0].message


GROWTHS = {
    "grown": (lambda c: c.add_partitions("t", [(1, 2)]), "4 partitions, not 3 before"),
    "gone": (lambda c: c.delete_topic("t"), "topic t does not exist"),
}


@pytest.mark.parametrize("drift", GROWTHS)
def test_a_topic_that_has_changed_meanwhile_gets_no_partitions(tmp_path, drift):
    cluster = make_cluster(LISTS)
    plan = more_partitions(tmp_path, cluster)
    act, words = GROWTHS[drift]
    act(cluster)

    (event,) = run(job(plan), cluster)

    assert words in event.blockers[0].message
    assert requests(plan) == 0


def test_another_tool_that_is_first_is_noticed_by_kafkas_refusal(tmp_path, monkeypatch):
    cluster = make_cluster(LISTS)
    plan = new_topic(tmp_path, cluster)
    create = cluster.create

    def second(wanted, *, is_trial=False):
        if not is_trial:
            cluster.create_topic("fresh", [(4, 5)])
        return create(wanted, is_trial=is_trial)

    monkeypatch.setattr(cluster, "create", second)
    events = list(run(job(plan), cluster))

    assert events[-1].status == "stopped"
    assert kinds(events)["set-aside"] == 1
    assert "TopicAlreadyExists" in events[-1].set_aside[0]
    assert cluster.partitions([("fresh", 0)])["fresh", 0].replicas == (4, 5)


def test_a_broker_that_is_down_stops_it(tmp_path):
    cluster = make_cluster(LISTS)
    plan = more_partitions(tmp_path, cluster)
    needed = next(iter(lists_of(plan).values()))[0]
    cluster.kill(needed)

    (event,) = run(job(plan), cluster)

    assert [one.rule for one in event.blockers] == ["broker-not-live"]


def test_reassignments_and_throttles_of_others_do_not_matter(tmp_path):
    cluster = make_cluster(LISTS)
    plan = new_topic(tmp_path, cluster)
    cluster.reassign({("t", 0): (1, 3)})

    assert list(run(job(plan), cluster))[-1].status == "completed"


@pytest.mark.parametrize("is_missing", [False, True])
def test_what_kafka_refuses_on_trial_is_known_before_anything(
    tmp_path, monkeypatch, is_missing
):
    cluster = make_cluster(LISTS)
    plan = new_topic(tmp_path, cluster)

    def refuses(_, *, is_trial=False):
        assert is_trial
        if is_missing:
            raise not_authorised(SERVER, "Create on Cluster")
        return "PolicyViolation: no"

    monkeypatch.setattr(cluster, "create", refuses)
    (event,) = run(job(plan), cluster)

    (blocker,) = event.blockers
    assert blocker.rule == ("rights" if is_missing else "refused")
    words = "Create on Cluster" if is_missing else "PolicyViolation: no"
    assert words in blocker.message


def test_a_cancel_finds_nothing_under_way_and_leaves_what_was_created(tmp_path):
    cluster = make_cluster(LISTS)
    plan = new_topic(tmp_path, cluster)
    list(run(job(plan), cluster))

    events = list(cancel(read_plan(plan), plan / "journal.jsonl", cluster))

    assert (events[-1].status, events[-1].completed) == ("cancelled", 4)
    assert created(cluster, plan)


@PLANS
def test_a_rollback_deletes_nothing_and_says_so(tmp_path, write):
    cluster = make_cluster(LISTS)
    plan = write(tmp_path, cluster)
    (nothing,) = roll_back(job(plan), cluster, lambda _: None)
    list(run(job(plan), cluster))
    back = replace(job(plan), connection="--bootstrap-server k1:9092")

    (event,) = roll_back(back, cluster, lambda _: None)

    assert (nothing.event, nothing.status) == ("done", "rolled-back")
    assert (event.event, event.status) == ("failed", "stopped")
    (found,) = event.blockers
    assert found.rule == "created"
    if write is new_topic:
        command = "kafka-topics.sh --bootstrap-server k1:9092 --delete --topic fresh"
        assert command in found.remedy
    else:
        assert "Kafka removes no partitions" in found.message
    assert created(cluster, plan)


def test_lists_that_no_single_request_makes_are_refused_with_all_problems(tmp_path):
    cluster = make_cluster(LISTS)
    plan = new_topic(tmp_path, cluster)
    path = plan / "reassignment.json"
    document = json.loads(path.read_text())
    document["partitions"][1]["partition"] = 7
    document["partitions"][0]["log_dirs"] = ["/a", "any"]
    path.write_text(json.dumps(document))

    with pytest.raises(BadInputError) as raised:
        previewed(plan, cluster)

    rules = [one.rule for one in raised.value.problems]
    assert rules == [
        "must be numbers without a gap",
        "must name no log dir: a broker chooses that of a new partition",
    ]


def test_lists_of_two_topics_or_of_a_wrong_first_number_are_refused(tmp_path):
    cluster = make_cluster(LISTS)
    plan = more_partitions(tmp_path, cluster)
    path = plan / "reassignment.json"
    document = json.loads(path.read_text())
    for number, one in enumerate(document["partitions"]):
        one["partition"] = number
    path.write_text(json.dumps(document))
    with pytest.raises(BadInputError, match="must not begin with 0"):
        previewed(plan, cluster)

    document["partitions"][0]["topic"] = "other"
    path.write_text(json.dumps(document))
    with pytest.raises(BadInputError, match="must be of one topic"):
        previewed(plan, cluster)


def test_the_preview_shows_the_stage_and_no_throttle(tmp_path, capsys):
    cluster = make_cluster(LISTS)
    plan = new_topic(tmp_path, cluster)
    snapshot = tmp_path / "now.json"
    write_snapshot(cluster.snapshot(), snapshot)

    shown = run_command(capsys, "apply", plan, "--snapshot", snapshot)

    assert shown.code == 0, shown.err
    assert "1. new partitions, by one request: 4 partitions" in shown.out
    assert "Throttle" not in shown.out


@pytest.mark.not_quick
@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["lose_answers", "lose_requests", "cut"]),
            st.integers(0, 20),
            st.integers(1, 3),
        ),
        max_size=4,
    ),
    st.sampled_from([new_topic, more_partitions]),
)
def test_a_creation_ends_whatever_is_lost_on_the_way(tmp_path_factory, faults, write):
    cluster = make_cluster(LISTS)
    plan = write(tmp_path_factory.mktemp("run"), cluster)
    for kind, at_s, number in faults:
        cluster.at(at_s, lambda k=kind, n=number: getattr(cluster.network, k)(n))

    try:
        events = list(run(job(plan), cluster))
    except ClusterUnavailableError:
        return  # before anything was requested

    assert events[-1].status == "completed"
    assert created(cluster, plan)
