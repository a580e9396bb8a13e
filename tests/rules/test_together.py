"""Topics whose partitions of one number lie together: small cases, any cluster."""

from collections import defaultdict

import pytest
from hypothesis import given, settings

from fuzz.grown import grown
from placement.check import Target
from placement.check.rules.topic_groups import topics_together
from placement.explain.move_reasons import REASONS
from placement.explain.planned_moves import explain_planned
from placement.model.cluster import BrokerState
from planner.errors import BadInputError
from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import make
from support.clusters import clusters, make_state
from support.naive import lists_of

MET = {"optimal", "feasible", "nothing-to-do"}


def planned(state, *together: str, goal="rebalance", rules=(), **options):
    chosen = {"topics_together": together, **dict(rules)}
    return make(state, PlanRequest(goal=goal, **chosen, **options))


def after(made):
    return lists_of(made.plan.placed.reassignment.after())


def apart(lists, topics) -> set[int]:
    """Return the numbers whose partitions have different lists."""
    found = defaultdict(list)
    for (topic, number), row in lists.items():
        if topic in topics:
            found[number].append(row)
    return {number for number, rows in found.items() if any(r != rows[0] for r in rows)}


@pytest.mark.parametrize(
    ("lists", "sizes", "copied", "row"),
    [
        pytest.param({"a": [[0, 1]], "b": [[0, 1]]}, 10, 0, [0, 1], id="together"),
        pytest.param({"a": [[0, 1]], "b": [[2, 3]]}, [9, 5], 10, [0, 1], id="apart"),
        pytest.param({"a": [[0, 1]], "b": [[2, 3]]}, [5, 9], 10, [2, 3], id="other"),
        pytest.param({"a": [[0, 1]], "b": [[0, 3]]}, [9, 5], 5, [0, 1], id="by-half"),
        pytest.param({"a": [[0, 1]], "b": [[1, 0]]}, [9, 5], 0, [0, 1], id="by-order"),
        pytest.param(
            {"a": [[0, 1]], "b": [[0, 3]], "c": [[0, 3]]}, [9, 5, 5], 9, [0, 3],
            id="to-the-most-bytes",
        ),
    ],
)  # fmt: skip
def test_separate_partitions_are_brought_together_by_the_fewest_bytes(
    lists, sizes, copied, row
):
    state = make_state(lists, ids=[0, 1, 2, 3], racks="aaaa", size_bytes=sizes)

    made = planned(state, "a|b|c", band=("1.0",), resources="replicas")

    assert made.is_ok
    assert made.plan.status in MET
    assert made.plan.moves["bytes"] == copied
    assert made.plan.placed.solution.certificate.cost.lower_bound == copied
    assert all(listed == row for listed in after(made).values())


def test_bundles_are_balanced_as_one():
    state = make_state(
        {"a": [[0, 1]] * 4, "b": [[0, 1]] * 4, "c": [[0, 1]] * 2},
        ids=[0, 1, 2, 3], racks="aabb", size_bytes=10,
    )  # fmt: skip

    made = planned(state, "a|b", resources="disk", rules={"rack_rule": "off"})

    assert made.is_ok
    assert made.plan.placed.solution.certificate.deviation.value == 0
    assert not apart(after(made), "ab")
    loads = defaultdict(int)
    for row in after(made).values():
        for broker in row:
            loads[broker] += 1
    assert set(loads.values()) == {5}


def test_what_is_removed_goes_together():
    state = make_state(
        {"a": [[0, 1], [0, 2]], "b": [[0, 1], [0, 2]]}, racks="aaa", size_bytes=10
    )

    made = planned(state, "a|b", goal="remove-brokers", broker_list="0")

    assert made.is_ok
    assert made.plan.status in MET
    assert not apart(after(made), "ab")
    assert made.plan.moves["replicas"] == 4


def test_a_dead_broker_is_left_together():
    state = make_state(
        {"a": [[0, 1]], "b": [[0, 1]], "c": [[2]]}, racks="abc",
        states={0: BrokerState.DEAD},
    )  # fmt: skip

    made = planned(state, "a|b")

    assert made.is_ok
    assert after(made)["a", 0] == after(made)["b", 0]
    assert set(after(made)["a", 0]) == {1, 2}


def test_a_list_that_keeps_what_is_dead_is_left_as_it_is():
    # Nowhere to go from broker 1, and in another order t1 would name it anew.
    dead = {1: BrokerState.DEAD, 2: BrokerState.DEAD}
    lists = {"t0": [[0, 1]], "t1": [[1, 0]]}
    state = make_state(lists, racks="aaa", states=dead, leaders=[0, 0])

    made = planned(state, "t0|t1", goal="fix", rebalance=True, waves=True)

    assert made.plan.status == "infeasible"
    assert after(made) == {("t0", 0): [0, 1], ("t1", 0): [1, 0]}
    assert made.is_ok


def test_what_may_not_move_is_not_taken_along_by_what_must():
    lists = {"t0": [[0, 1]], "t1": [[1, 0]], "t2": [[1, 0]]}
    dead = {1: BrokerState.DEAD}
    state = make_state(lists, racks="aaa", states=dead, leaders=[0, 0, 0])

    made = planned(state, "t.*", goal="fix", rebalance=True, exclude_topics="t1")

    assert made.plan.status in {"partial", "infeasible"}
    assert after(made)["t1", 0] == [1, 0]
    caused = {finding.rule for finding in made.findings if not finding.existing}
    assert caused == {"topics-together"}


def test_what_comes_together_over_a_capacity_is_said():
    lists = {"t0": [[0], [1]], "t1": [[0], [0]]}
    state = make_state(lists, racks="abc")

    made = planned(
        state, "t0|t1", goal="remove-brokers", broker_list="1",
        rules={"max_replicas_per_broker": 3}.items(),
    )  # fmt: skip

    caused = {finding.rule for finding in made.findings if not finding.existing}
    assert caused == {"max-replicas"}
    assert made.plan.status == "infeasible"
    shortfalls = made.plan.placed.solution.shortfalls
    assert [(lack.level, lack.resource) for lack in shortfalls] == [
        ("rack", "replicas"), ("broker", "replicas"),
    ]  # fmt: skip
    assert {(lack.have, lack.need) for lack in shortfalls} == {(3, 4)}
    assert shortfalls[0].is_proven


def test_leaders_change_together():
    state = make_state({"a": [[0, 1]] * 2, "b": [[0, 1]] * 2}, racks="ab")

    made = planned(state, "a|b", goal="leaders")

    assert made.is_ok
    assert not apart(after(made), "ab")
    assert {row[0] for row in after(made).values()} == {0, 1}


def test_a_higher_factor_is_reached_together():
    state = make_state({"a": [[0]] * 3, "b": [[0]] * 3}, ids=[0, 1, 2], racks="aaa")
    own = {"replication_factor": 2}

    made = planned(state, "a|b", goal="set-replication-factor", **own)

    assert made.is_ok
    assert made.plan.status in MET
    assert not apart(after(made), "ab")


@pytest.mark.parametrize(
    ("lists", "options", "rules"),
    [
        pytest.param(
            {"a": [[0, 1]], "b": [[0]]}, {}, {"topics-together"}, id="other-factors"
        ),
        pytest.param(
            {"a": [[0], [1]], "b": [[1], [1]]}, {"max_moves": 0},
            {"topics-together", "max-moves"}, id="no-copy-allowed",
        ),
        pytest.param(
            {"a": [[0], [1]], "b": [[0], [1]]},
            {"goal": "remove-brokers", "broker_list": "0", "topics": "a"},
            {"exclude-topics"}, id="one-stays",
        ),
        pytest.param(
            {"a": [[0, 2]], "b": [[1, 2]]},
            {"goal": "remove-brokers", "broker_list": "2"},
            {"topics-together", "only-what-must"}, id="apart-and-what-must-alone",
        ),
    ],
)  # fmt: skip
def test_what_stands_in_the_way_is_said(lists, options, rules):
    state = make_state(lists, ids=[0, 1, 2, 3], racks="aaaa", size_bytes=10)

    made = planned(state, "a|b", resources="replicas", **options)

    assert made.plan.status == "infeasible"
    assert set(made.plan.infeasible_set.rules) == rules
    assert made.plan.placed.solution.shortfalls


def test_what_stays_is_what_the_others_come_to():
    state = make_state({"a": [[0]], "b": [[1]]}, racks="ab", size_bytes=[1, 90])

    made = planned(state, "a|b", topics="b", resources="replicas", band=("1.0",))

    assert made.is_ok
    assert after(made) == {("a", 0): [0], ("b", 0): [0]}


def test_they_go_to_the_one_that_may_lead_them_all():
    state = make_state(
        {"a": [[0, 2]], "b": [[1, 0]]}, racks="abc", size_bytes=[90, 1], leaders=[0, 1]
    )

    made = planned(state, "a|b", exclude_brokers_for_leaders="0", band=("1.0",))

    assert made.is_ok
    assert made.plan.status in MET
    assert after(made)["a", 0] == after(made)["b", 0]
    assert after(made)["a", 0][0] != 0


def test_what_none_of_the_operation_moves_is_left_apart():
    state = make_state({"a": [[0]], "b": [[1]], "c": [[2]]}, racks="aaa")

    made = planned(state, "a|b", goal="remove-brokers", broker_list="2")

    assert made.is_ok
    assert made.plan.status in MET
    assert "left-alone" in [note.what for note in made.plan.placed.notes]


def test_what_the_operation_copies_is_not_left_apart_in_silence():
    state = make_state({"a": [[0, 1]], "b": [[0, 2]]}, ids=[0, 1, 2, 3], racks="aaaa")

    made = planned(
        state,
        "a|b",
        goal="replace-broker",
        broker=("0",),
        with_broker=("3",),
    )

    assert made.plan.status not in MET
    assert made.plan.placed.solution.shortfalls[0].what == "together"
    assert after(made) == {("a", 0): [3, 1], ("b", 0): [3, 2]}


def test_a_move_is_explained_by_it():
    state = make_state({"a": [[0]], "b": [[1]]}, racks="ab", size_bytes=10)

    made = planned(state, "a|b", resources="replicas", band=("1.0",))

    _, why = explain_planned(made.plan.placed)
    assert {str(REASONS[row]) for row in why.reason.tolist()} == {"topics-together"}


@pytest.mark.parametrize("texts", [("a|c",), ("(",), ("a|b", "b|d")])
def test_topics_that_cannot_lie_together_are_refused(texts):
    state = make_state(
        {"a": [[0]], "b": [[1]], "c": [[1], [1]], "d": [[0]]}, racks="ab"
    )

    with pytest.raises(BadInputError) as refused:
        planned(state, *texts)

    assert {p.place for p in refused.value.problems} == {"--topics-together"}


STATE = make_state(
    {"a": [[0, 1], [0, 1]], "b": [[0, 1], [1, 0]]}, ids=[0, 1, 2], racks="abc"
)


@pytest.mark.parametrize(
    ("lists", "found"),
    [
        pytest.param({("a", 0): [0, 2]}, [(0, False), (1, True)], id="parted"),
        pytest.param({("a", 0): [1, 0]}, [(0, False), (1, True)], id="by-order"),
        pytest.param({("b", 1): [0, 1]}, [], id="brought-together"),
        pytest.param({("b", 1): [2, 0]}, [(1, False)], id="still-apart-by-a-copy"),
        pytest.param(
            {("a", 0): [2, 0], ("b", 0): [2, 0]}, [(1, True)], id="moved-together"
        ),
    ],
)
def test_the_checker_finds_what_does_not_lie_together(lists, found):
    rule = topics_together(frozenset({"a", "b"}))
    target = Target.from_lists(
        [topic for topic, _ in lists], [n for _, n in lists], list(lists.values())
    )

    findings = [(one.where.partition, one.existing) for one in rule(STATE, target)]

    assert findings == found


def paired(state):
    """Topics of a cluster that have as many partitions as the first one."""
    counts = [0] * len(state.topics.names)
    for topic in state.partitions.topic_idx.tolist():
        counts[topic] += 1
    return [
        n for n, c in zip(state.topics.names, counts, strict=True) if c == counts[0]
    ]


@settings(max_examples=20)
@given(clusters(min_brokers=3) | grown())
def test_partitions_of_any_cluster_stay_or_come_together(state):
    topics = paired(state)

    made = planned(state, "|".join(topics), effort="quick")

    found = [one for one in made.findings if one.rule == "topics-together"]
    assert all(one.existing for one in found) or made.plan.status not in MET
    if made.plan.status in MET:
        before = apart(lists_of(made.plan.placed.reassignment.before), topics)
        assert apart(after(made), topics) <= before
