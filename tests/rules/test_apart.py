"""Topics that share no broker: in small cases, and in any cluster."""

import re
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz.grown import grown
from placement.check import Target
from placement.check.rules.topic_groups import topics_apart
from placement.core.exact.milp.bin_labelling import Places, Room, choose_sides
from placement.explain.move_reasons import REASONS
from placement.explain.planned_moves import explain_planned
from planner.errors import BadInputError
from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import make
from support.clusters import clusters, make_state
from support.naive import lists_of

MET = {"optimal", "feasible", "nothing-to-do"}


def planned(state, *apart: str, goal="rebalance", rules=(), **options):
    chosen = {"topics_apart": apart, **dict(rules)}
    return make(state, PlanRequest(goal=goal, **chosen, **options))


def after(made):
    return lists_of(made.plan.placed.reassignment.after())


def mixed(lists, text: str) -> set[int]:
    """Return the brokers that hold topics of two sides."""
    held = defaultdict(set)
    for (topic, _), row in lists.items():
        for s, side in enumerate(text.split("=")):
            if re.fullmatch(side, topic):
                for broker in row:
                    held[broker].add(s)
    return {broker for broker, sides in held.items() if len(sides) > 1}


@pytest.mark.parametrize(
    ("lists", "racks", "sizes", "copies"),
    [
        pytest.param({"a": [[0], [0]], "b": [[1], [1]]}, "ab", 10, 0, id="apart"),
        pytest.param({"a": [[0], [0]], "b": [[0], [1]]}, "ab", 10, 1, id="one-strays"),
        pytest.param(
            {"a": [[0, 2], [1, 3]], "b": [[0, 2], [1, 3]]}, "aabb", 10, 4,
            id="a-broker-per-rack-each",
        ),
        pytest.param(
            {"a": [[0], [1]], "b": [[0], [1]]}, "ab", [9, 1, 1, 9], 2,
            id="the-smaller-ones-leave",
        ),
    ],
)  # fmt: skip
def test_brokers_are_shared_out_by_the_fewest_bytes(lists, racks, sizes, copies):
    state = make_state(lists, racks=racks, size_bytes=sizes)

    made = planned(state, "a=b", resources="replicas")

    assert made.is_ok
    assert made.plan.status in MET
    assert made.plan.moves["replicas"] == copies
    assert not mixed(after(made), "a=b")
    (note,) = (n for n in made.plan.placed.notes if n.what == "topics-apart")
    assert note.message.startswith("kept apart: a on broker ")


def test_each_side_has_brokers_by_its_load():
    # Where they lie would do; but then one broker of six would hold half of the bytes.
    state = make_state(
        {"a": [[0]] * 6, "b": [[1], [2], [3], [4], [5], [1]]},
        racks="aaaaaa", size_bytes=10,
    )  # fmt: skip

    made = planned(state, "a=b", resources="replicas")

    held = {broker for (topic, _), row in after(made).items() if topic == "a"
            for broker in row}  # fmt: skip
    assert made.is_ok
    assert len(held) == 3


@pytest.mark.parametrize(
    ("state", "options", "rules"),
    [
        pytest.param(
            make_state({"a": [[0, 1]], "b": [[0, 1]]}, racks="ab"), {},
            {"topics-apart"}, id="too-few-brokers",
        ),
        pytest.param(
            make_state({"a": [[0, 1]], "b": [[0, 2]]}, ids=[0, 1, 2, 3], racks="abbb"),
            {"topics": "a"},
            {"topics-apart", "rack"}, id="one-broker-in-a-rack",
        ),
        pytest.param(
            make_state({"a": [[0]], "b": [[0]], "c": [[1]]}, racks="ab"),
            {"topics": "c"}, {"topics-apart", "exclude-topics"}, id="both-stay",
        ),
        pytest.param(
            make_state(
                {"a": [[0], [1]], "b": [[0], [1]]}, racks="aa", size_bytes=7,
                disk_bytes=100,
            ), {"capacity_threshold": ("disk=0.77",), "rules": {"keep_topics": "b"}},
            {"topics-apart", "keep-topics"}, id="kept-topics",
        ),
    ],
)  # fmt: skip
def test_what_stands_in_the_way_is_said(state, options, rules):
    made = planned(state, "a=b", resources="replicas", **options)

    assert made.plan.status == "infeasible"
    assert set(made.plan.infeasible_set.rules) == rules
    assert made.plan.infeasible_set.is_proven
    assert made.plan.placed.solution.shortfalls


def test_a_broker_that_holds_both_is_left_where_nothing_else_may_move():
    state = make_state({"a": [[0], [2]], "b": [[0]], "c": [[1]]}, racks="aaa")

    made = planned(state, "a=b", goal="remove-brokers", broker_list="2")

    assert made.is_ok
    assert made.plan.status in MET
    # Broker 0 has both; the replica that must go makes that no worse.
    assert after(made)["a", 1] == [1]
    assert "left-alone" in [note.what for note in made.plan.placed.notes]


def test_a_new_broker_takes_the_side_of_the_one_it_replaces():
    state = make_state(
        {"a": [[0]] * 3, "b": [[1]] * 3}, ids=[0, 1, 2], racks="aaa", size_bytes=10
    )
    own = {"broker": ("1",), "with_broker": ("2",)}

    made = planned(state, "a=b", goal="replace-broker", **own)

    assert made.is_ok
    assert made.plan.status in MET
    assert [after(made)["b", n] for n in range(3)] == [[2]] * 3


def test_a_new_broker_does_not_take_both_sides_of_the_one_it_replaces():
    state = make_state({"a": [[0, 1]], "b": [[0, 2]]}, ids=[0, 1, 2, 3], racks="aaaa")
    own = {"broker": ("0",), "with_broker": ("3",)}

    made = planned(state, "a=b", goal="replace-broker", **own)

    assert made.is_ok
    assert made.plan.status == "infeasible"
    assert not mixed(after(made), "a=b") - {0}


def test_a_new_broker_keeps_the_side_of_what_it_holds_and_keeps():
    # To give it to b would be cheapest, as a is empty; but a stays.
    state = make_state(
        {"a": [[2]], "b": [[1]]}, ids=[0, 1, 2], racks="aaa", size_bytes=[0, 10]
    )
    own = {"broker": ("1",), "with_broker": ("2",)}

    made = planned(state, "a=b", goal="replace-broker", **own)

    assert made.is_ok
    assert made.plan.status == "infeasible"
    assert not mixed(after(made), "a=b")


def test_copies_of_a_higher_factor_keep_to_their_side():
    state = make_state(
        {"a": [[0], [0]], "b": [[1]]}, ids=[0, 1, 2], racks="aaa", size_bytes=10
    )
    own = {"replication_factor": 2}

    made = planned(state, "a=b", goal="set-replication-factor", **own, topics="a")

    assert made.is_ok
    assert sorted(after(made)["a", 0]) == sorted(after(made)["a", 1]) == [0, 2]


def test_three_sides_and_two_rules():
    state = make_state(
        {"a": [[0, 1]], "b": [[0, 1]], "c": [[0, 1]], "d": [[0, 1]]},
        ids=list(range(8)), racks="ab" * 4,
    )  # fmt: skip

    made = planned(state, "a=b=c", "a=d", resources="replicas")

    assert made.is_ok
    assert made.plan.status in MET
    assert not mixed(after(made), "a=b=c")
    assert not mixed(after(made), "a=d")


def test_a_move_is_explained_by_it():
    state = make_state({"a": [[0], [0]], "b": [[0], [1]]}, racks="ab", size_bytes=10)

    made = planned(state, "a=b", resources="replicas")

    _, why = explain_planned(made.plan.placed)
    assert "topics-apart" in {str(REASONS[row]) for row in why.reason.tolist()}


@pytest.mark.parametrize("text", ["a", "a=", "=b", "(=b", "a|b=b", ""])
def test_sides_that_are_none_are_refused(text: str):
    state = make_state({"a": [[0]], "b": [[1]]}, racks="ab")

    with pytest.raises(BadInputError) as refused:
        planned(state, text)

    assert {problem.place for problem in refused.value.problems} == {"--topics-apart"}


STATE = make_state({"a": [[0], [2]], "b": [[1], [2]]}, ids=[0, 1, 2, 3], racks="abcd")


@pytest.mark.parametrize(
    ("lists", "found"),
    [
        pytest.param({("a", 0): [1]}, [(1, False), (2, True)], id="comes-to-the-other"),
        pytest.param({("a", 0): [3]}, [(2, True)], id="comes-to-an-empty-one"),
        pytest.param({("a", 0): [2]}, [(2, False)], id="comes-to-one-of-both"),
        pytest.param({("a", 1): [0]}, [], id="leaves-one-of-both"),
        pytest.param({("b", 1): [3], ("a", 0): [3]}, [(3, False)], id="meet-anew"),
        pytest.param({("nope", 0): [3]}, [(2, True)], id="unknown-topic"),
    ],
)
def test_the_checker_finds_brokers_of_two_sides(lists, found):
    rule = topics_apart([frozenset({"a"}), frozenset({"b"})])
    names = list(lists)
    target = Target.from_lists(
        [topic for topic, _ in names], [n for _, n in names], list(lists.values())
    )

    findings = [(one.where.broker, one.existing) for one in rule(STATE, target)]

    assert findings == found


@settings(max_examples=20)
@given(clusters(min_brokers=3) | grown())
def test_no_broker_of_any_cluster_holds_both(state):
    made = planned(state, "t0=t1.*", effort="quick")

    found = [one for one in made.findings if one.rule == "topics-apart"]
    assert all(one.existing for one in found) or made.plan.status not in MET
    if made.plan.status in MET:
        live = made.plan.state.brokers.ids[made.plan.state.brokers.is_live].tolist()
        assert not mixed(after(made), "t0=t1.*") & set(live)


@pytest.mark.not_quick
@settings(max_examples=10)
@given(grown(without=("tight", "dead", "offline")))
def test_what_is_apart_stays_so_without_a_move(state):
    made = planned(state, "t0=t1.*", effort="quick")
    if made.plan.status not in MET:
        return
    done = made.plan.placed.reassignment.after()

    again = planned(done, "t0=t1.*", effort="quick")

    off = made.plan.placed.solution.certificate.deviation.value
    assert not again.plan.moves["replicas"] or off > 1e-9


# The choice of sides, beside every choice there is ------------------------------------


@st.composite
def divisions(draw):
    count, sides = draw(st.integers(1, 5)), draw(st.integers(2, 3))
    table = st.lists(st.integers(0, 9), min_size=sides, max_size=sides)
    cost = np.array([draw(table) for _ in range(count)], dtype=np.float64)
    may_be = np.array([[draw(st.integers(0, 4)) > 0 for _ in range(sides)]
                       for _ in range(count)])  # fmt: skip
    node = np.array([draw(st.integers(-1, 1)) for _ in range(count)], dtype=np.int32)
    amounts = st.lists(st.integers(0, 5), min_size=count, max_size=count)
    needs = []
    for side in range(draw(st.integers(0, sides))):
        amount = np.array(draw(amounts), dtype=np.float64)
        needs.append(Room(side=side, amount=amount, least=draw(st.integers(0, 9))))
        needs.append(
            Places(
                side=side,
                may_take=np.array(draw(amounts)) > 0,
                node_of_bin=node,
                size=draw(st.integers(1, 3)),
                cap=draw(st.integers(1, 2)),
                floor=np.array([draw(st.integers(0, 1)) for _ in range(2)]),
            )
        )
    return cost, may_be, needs


def is_met(need, sides) -> bool:
    own = np.equal(sides, need.side)
    if isinstance(need, Room):
        return bool(need.amount[own].sum() >= need.least)
    inside = [int((own & need.may_take & (need.node_of_bin == k)).sum())
              for k in range(len(need.floor))]  # fmt: skip
    is_spread = all(
        have >= least for have, least in zip(inside, need.floor, strict=True)
    )
    return is_spread and sum(min(have, need.cap) for have in inside) >= need.size


@settings(max_examples=60)
@given(divisions())
def test_sides_are_the_cheapest_there_are(division):
    cost, may_be, needs = division

    found, is_proven = choose_sides(cost, may_be, needs)

    rows = range(len(cost))
    fitting = [
        sum(cost[b, s] for b, s in zip(rows, sides, strict=True))
        for sides in np.ndindex(*[cost.shape[1]] * len(cost))
        if all(may_be[b, s] for b, s in zip(rows, sides, strict=True))
        and all(is_met(need, np.array(sides)) for need in needs)
    ]
    assert (found is None) == is_proven == (not fitting)
    if found is not None:
        assert all(is_met(need, found) for need in needs)
        chosen = sum(cost[b, s] for b, s in zip(rows, found.tolist(), strict=True))
        assert chosen == pytest.approx(min(fitting))
