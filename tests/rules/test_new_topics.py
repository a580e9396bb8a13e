"""New topics and partitions under rules about topics: where they go, and what holds."""

import re
from collections import defaultdict

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import planner
from placement.model.cluster import BrokerState, LogDirState, Storage
from planner.errors import BadInputError
from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import make
from planner.snapshot import Snapshot, write_snapshot
from support.clusters import Dir, clusters, make_state
from support.commands import run
from support.naive import lists_of

APART, TOGETHER = "old.*=other.*", "old|new"


def planned(
    state,
    goal: str,
    topic: str,
    *,
    apart=(),
    together=(),
    plan=None,
    rules=None,
    **asked,
):
    rules = {"topics_apart": apart, "topics_together": together, **(rules or {})}
    configs = asked.pop("cluster_configs", {})
    request = PlanRequest(goal=goal, topic=(topic,), **rules, **(plan or {}), **asked)
    return make(state, request, cluster_configs=configs)


def lists(made) -> list[list[int]]:
    return [list(row) for row in made.plan.creation.lists]


def caused(made) -> set[str]:
    return {finding.rule for finding in made.findings if not finding.existing}


@pytest.mark.parametrize("count", [1, 4])
def test_a_new_topic_stays_on_its_side(count):
    state = make_state({"old": [[0, 2]], "other": [[1, 3]]}, racks="aabb")

    made = planned(
        state, "new-topic", "old-2", apart=(APART,),
        partitions=count, replication_factor=2,
    )  # fmt: skip

    assert made.plan.status == "optimal"
    assert not caused(made)
    assert all(set(row) == {0, 2} for row in lists(made))


def test_more_partitions_stay_on_their_side():
    # The emptiest brokers hold the other side.
    state = make_state(
        {"free": [[4, 5]], "old": [[0, 2]] * 5, "other": [[1, 3]]}, racks="aabbab"
    )

    made = planned(state, "add-partitions", "old", apart=(APART,), partitions=9)

    assert made.plan.status in {"optimal", "feasible"}
    assert not caused(made)
    assert not {1, 3} & {broker for row in lists(made) for broker in row}


def test_brokers_that_are_mixed_already_are_reported_and_another_side_is_kept_clear():
    state = make_state({"old": [[0, 2]], "other": [[0, 2]]}, racks="aabb")

    made = planned(
        state, "new-topic", "old-2", apart=(APART,), partitions=2, replication_factor=2
    )

    assert made.plan.status == "infeasible"
    assert all(set(row) == {1, 3} for row in lists(made))
    assert not caused(made)


def mixed(held_by: dict[tuple[str, int], list[int]], sides: list[str]) -> set[int]:
    found = defaultdict(set)
    for (topic, _), row in held_by.items():
        for s, side in enumerate(sides):
            if re.fullmatch(side, topic):
                for broker in row:
                    found[broker].add(s)
    return {broker for broker, held in found.items() if len(held) > 1}


@settings(max_examples=200)
@given(clusters(max_topics=3), st.integers(1, 4), st.integers(1, 2))
def test_no_broker_is_mixed_by_a_plan_that_is_met(state, count, factor):
    assume(len(state.topics))
    topic = state.topics.names[0]
    text = f"new=(?!new){re.escape(topic)}"
    try:
        made = planned(
            state, "new-topic", "new", apart=(text,),
            partitions=count, replication_factor=factor,
        )  # fmt: skip
    except BadInputError:
        return  # Kafka would not make it.
    was = mixed(lists_of(state), text.split("="))

    now = mixed(lists_of(made.plan.placed.reassignment.after()), text.split("="))

    if made.plan.placed.has_met_rules:
        assert now <= was
    assert bool(now - was) == ("topics-apart" in caused(made))


def test_a_new_topic_is_placed_with_the_one_it_belongs_to():
    state = make_state({"old": [[0, 2], [3, 1]], "x": [[1, 3]]}, racks="aabb")

    made = planned(
        state, "new-topic", "new", together=(TOGETHER,),
        partitions=2, replication_factor=2,
    )  # fmt: skip

    assert made.plan.status == "optimal"
    assert lists(made) == [[0, 2], [3, 1]]
    assert not caused(made)


def test_more_partitions_lie_with_those_they_belong_to():
    rows = {"new": [[0, 2]], "old": [[0, 2], [1, 3], [3, 0]]}
    state = make_state(rows, racks="aabb")

    made = planned(state, "add-partitions", "new", together=(TOGETHER,), partitions=3)

    assert made.plan.status == "optimal"
    assert lists(made) == [[1, 3], [3, 0]]
    assert not caused(made)


@settings(max_examples=200)
@given(clusters(max_topics=3))
def test_a_new_topic_is_placed_with_any_other_or_the_plan_says_why_not(state):
    assume(len(state.topics))
    topic = state.topics.names[0]
    of = state.partitions.topic_idx == 0
    old = [state.brokers_of(p) for p in of.nonzero()[0].tolist()]
    try:
        made = planned(
            state, "new-topic", "new", together=(f"new|{re.escape(topic)}",),
            partitions=len(old), replication_factor=len(old[0]),
        )  # fmt: skip
    except BadInputError:
        return

    is_together = lists(made) == old

    if made.plan.placed.has_met_rules:
        assert is_together
        assert not caused(made)
    assert is_together or made.plan.placed.solution.shortfalls
    assert ("topics-together" in caused(made)) == (not is_together)


@pytest.mark.parametrize(
    ("cluster", "plan"),
    [
        pytest.param({"states": {2: BrokerState.DEAD}}, {}, id="dead"),
        pytest.param({"states": {2: BrokerState.FENCED}}, {}, id="fenced"),
        pytest.param({}, {"exclude_brokers_for_replicas": "2"}, id="excluded"),
        pytest.param({}, {"destination_broker_list": "0,1,3"}, id="no-destination"),
    ],
)
@pytest.mark.parametrize("goal", ["new-topic", "add-partitions"])
def test_where_nothing_may_go_its_partner_is_no_reason_to(goal, cluster, plan):
    rows = {"new": [[1, 3]]} if goal == "add-partitions" else {}
    rows["old"] = [[1, 3], [0, 2]]
    state = make_state(rows, racks="aabb", **cluster)

    made = planned(
        state, goal, "new", together=(TOGETHER,), partitions=2, plan=plan,
        replication_factor=2 if goal == "new-topic" else None,
    )  # fmt: skip

    assert made.plan.status == "infeasible"
    assert caused(made) == {"topics-together"}
    assert 2 not in lists(made)[-1]
    (reason,) = made.plan.placed.solution.shortfalls
    assert "new-1 and old-1" in reason.message


@pytest.mark.parametrize(
    ("cap", "zero"),
    [("max_moves", 0), ("max_bytes", "0B"), ("max_cross_rack_bytes", "0B")],
)
def test_a_cap_on_what_is_copied_says_nothing(cap, zero):
    state = make_state({"old": [[0, 2], [3, 1]]}, racks="aabb")

    made = planned(
        state, "new-topic", "new", together=(TOGETHER,),
        partitions=2, replication_factor=2, plan={cap: zero},
    )  # fmt: skip

    assert made.plan.status == "optimal"
    assert lists(made) == [[0, 2], [3, 1]]


def test_topics_that_lie_together_have_as_many_partitions():
    state = make_state({"old": [[0, 2], [3, 1]]}, racks="aabb")

    with pytest.raises(BadInputError) as refusal:
        planned(
            state, "new-topic", "new", together=(TOGETHER,),
            partitions=3, replication_factor=2,
        )  # fmt: skip

    (problem,) = refusal.value.problems
    assert problem.value == "new has 3, old has 2"


def test_another_replication_factor_cannot_lie_together():
    state = make_state({"old": [[0, 2]]}, racks="aabb")

    made = planned(
        state, "new-topic", "new", together=(TOGETHER,),
        partitions=1, replication_factor=1,
    )  # fmt: skip

    assert made.plan.status == "infeasible"
    assert (
        "different replication factors"
        in made.plan.placed.solution.shortfalls[0].message
    )


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        pytest.param({"apart": ("new=old",)}, "topics-apart", id="apart"),
        pytest.param({"together": (TOGETHER,)}, "topics-together", id="together"),
    ],
)
def test_what_is_placed_by_hand_is_held_to_the_rules(options, rule):
    state = make_state({"old": [[0, 2]]}, racks="aabb")

    made = planned(state, "new-topic", "new", replica_assignment="2:0", **options)

    assert caused(made) == {rule}
    assert not made.is_ok


@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param(("--partitions", 2, "--replication-factor", 2), 0, id="placed"),
        pytest.param(("--replica-assignment", "1:3,0:2"), 3, id="by-hand"),
    ],
)
def test_the_folder_is_checked_under_the_same_rules(words, code, tmp_path, capsys):
    state = make_state({"old": [[0, 2], [3, 1]]}, racks="aabb")
    write_snapshot(Snapshot.from_state(state), tmp_path / "s.json")
    rule = ("--topics-together", TOGETHER)

    made = run(
        capsys, "plan", "new-topic", tmp_path / "s.json", "--topic", "new", *words,
        *rule, "-o", tmp_path / "p",
    )  # fmt: skip
    checked = run(capsys, "check", tmp_path / "p", "--snapshot", tmp_path / "s.json")

    assert (made.code, checked.code) == (code, code)


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param({"partitions": 1, "replication_factor": 2}, id="placed"),
        pytest.param({"replica_assignment": "0:1"}, id="by-hand"),
    ],
)
def test_a_topic_that_finds_no_disk_is_refused(asked):
    dirs = {0: [Dir("/d", state=LogDirState.OFFLINE)], 1: [Dir("/d")]}
    state = make_state([[1]], racks="ab", log_dirs=dirs)

    with pytest.raises(BadInputError) as refusal:
        planned(state, "new-topic", "new", **asked)

    (problem,) = refusal.value.problems
    assert problem.rule == "only 1 live brokers have a log dir online"


@pytest.mark.parametrize(
    "plan",
    [{"exclude_brokers_for_replicas": "1"}, {"destination_broker_list": "0,2"}],
)
def test_too_few_brokers_that_may_get_replicas_are_no_plan(plan):
    state = make_state({"old": [[0, 1]]}, racks="aba")

    made = planned(
        state, "new-topic", "new", plan=plan, partitions=1, replication_factor=3
    )

    assert made.plan.status == "infeasible"
    missing = made.plan.placed.solution.shortfalls
    assert ("bins", 2, 3) in {(one.what, one.have, one.need) for one in missing}


def test_new_partitions_are_placed_on_the_racks_that_the_check_sees():
    state = make_state({"old": [[2]] * 6}, racks="abc")
    snapshot = Snapshot.from_state(state)

    plain, mapped = (
        planner.new_topic(snapshot, "new", 4, 2, rack_map=racks)
        for racks in ({}, {"a": "b"})
    )

    assert mapped.is_ok
    assert all(2 in row for row in mapped.lists.values())
    assert planner.check_plan(mapped, snapshot).ok
    racks = [broker["rack"] for broker in mapped.document["before"]["by_broker"]]
    assert racks == ["b", "b", "c"]
    of_each = [one.document["snapshot"]["fingerprint"] for one in (plain, mapped)]
    assert of_each[0] == of_each[1]


def test_what_has_no_rack_yet_takes_any_rack():
    state = make_state({"new": [[1, 2]]}, racks="abca")

    made = planned(
        state, "add-partitions", "new", partitions=2,
        plan={"exclude_brokers_for_replicas": "1"},
        rules={"locality_scoped": True, "rack_rule": "strict"},
    )  # fmt: skip

    ((first, second),) = lists(made)
    assert 2 in {first, second}
    assert made.plan.status == "optimal"
    assert not caused(made)


def test_even_positions_leave_what_exists_in_its_order():
    state = make_state({"new": [[0, 1, 2]] * 3}, racks="aaa")

    made = planned(
        state, "add-partitions", "new", partitions=5, rules={"even_positions": True}
    )

    after = made.plan.placed.reassignment.after()
    rows = [after.brokers_of(p) for p in range(3)]
    assert rows == [[0, 1, 2]] * 3


def test_a_dead_broker_takes_no_new_replica_for_want_of_others():
    state = make_state({"new": [[1, 2, 3]]}, racks="abca", states={1: BrokerState.DEAD})

    made = planned(
        state, "add-partitions", "new", partitions=2,
        plan={"exclude_brokers_for_replicas": "3"},
    )  # fmt: skip

    assert made.plan.status == "infeasible"
    missing = made.plan.placed.solution.shortfalls
    assert ("bins", 2, 3) in {(one.what, one.have, one.need) for one in missing}


def test_where_all_are_full_already_there_is_no_plan():
    state = make_state(
        {"new": [[0, 1], [1, 0]]}, racks="abc", size_bytes=50, disk_bytes=100,
        storage=Storage.UNKNOWN,
    )  # fmt: skip

    made = planned(
        state, "add-partitions", "new", partitions=3,
        plan={"exclude_brokers_for_replicas": "2"},
    )  # fmt: skip

    assert made.plan.status in {"partial", "infeasible"}
    assert caused(made) == {"capacity"}
    missing = {(one.what, one.resource) for one in made.plan.placed.solution.shortfalls}
    assert ("capacity", "disk") in missing


def test_racks_that_cannot_be_kept_are_said_whatever_is_known_of_the_storage():
    state = make_state({"new": [[0, 1, 3]]}, racks="abac", storage=Storage.UNKNOWN)

    made = planned(
        state, "add-partitions", "new", partitions=2,
        plan={"exclude_brokers_for_replicas": "3"},
    )  # fmt: skip

    assert made.plan.status in {"partial", "infeasible"}
    missing = {(one.what, one.level) for one in made.plan.placed.solution.shortfalls}
    assert ("spread", "rack") in missing


def test_even_positions_leave_what_is_placed_by_hand_in_its_order():
    state = make_state({"old": [[0, 1, 2]] * 3}, racks="abc")

    made = planned(
        state, "new-topic", "new", rules={"even_positions": True},
        replica_assignment="0:1:2,0:1:2,0:1:2",
    )  # fmt: skip

    assert lists(made) == [[0, 1, 2]] * 3


def test_a_log_dir_without_a_name_is_not_charged_to_new_partitions():
    state = make_state(
        {"old": [[0]]}, racks="a", size_bytes=0, dirs=[["/d1"]],
        log_dirs={0: [Dir("/d1", 130, 120), Dir("/d2", 70, 70)]},
    )  # fmt: skip

    made = planned(
        state, "new-topic", "new", partitions=1, replication_factor=1, size_bytes="100"
    )

    assert made.plan.status == "optimal"
    assert not caused(made)


def test_a_host_takes_no_more_than_it_may():
    # By their share brokers would take seven, four and one of the twelve; the host of
    # broker 1 has room for three.
    state = make_state(
        {"a": [[2, 1], [0, 1], [0, 2]], "b": [[0, 2], [1, 2], [0, 2]]},
        size_bytes=[5, 40, 0, 10, 10, 10],
        disk_bytes=[310, 180, 140],
        racks="aaa",
    )

    made = planned(
        state, "add-partitions", "a", partitions=9,
        rules={"host_capacity_threshold": ("disk=0.6",)},
    )  # fmt: skip

    assert made.plan.status in {"optimal", "feasible"}
    assert not caused(made)


def test_what_a_host_has_no_room_for_takes_nothing_of_its_disk():
    # By their shares broker 6 would take it, whose host has no room for it.
    state = make_state(
        {"a": [[0, 6]]},
        ids=[0, 5, 6],
        racks="abc",
        size_bytes=80,
        disk_bytes=[123, 100, 208],
        log_dirs={
            0: [Dir("/d1", 123, 33)],
            5: [Dir("/d1", 100, 100)],
            6: [Dir("/d1", 208, 108)],
        },
        dirs=[["/d1", "/d1"]],
    )

    made = planned(
        state, "new-topic", "new", partitions=1, replication_factor=1, size_bytes="60",
        rules={"host_capacity_threshold": ("disk=0.6",)},
    )  # fmt: skip

    assert lists(made) == [[5]]
    assert not caused(made)


@pytest.mark.parametrize("keep", ["keep_topics", "keep_leaders"])
def test_what_does_not_exist_has_nothing_that_could_stay(keep):
    # Broker 0 holds both sides already, all others the other one.
    state = make_state({"old": [[0]], "other": [[0, 1], [0, 2]]}, racks="aaa")

    made = planned(
        state, "add-partitions", "old", apart=(APART,), partitions=2,
        rules={keep: "o.*"},
    )  # fmt: skip

    assert made.plan.status == "infeasible"
