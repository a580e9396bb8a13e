"""Soft rules about where topics lie: broken by as little as a plan can."""

from collections import Counter, defaultdict
from itertools import combinations, product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from placement.check import CheckSettings, Target, check
from placement.check.rules.chosen_rules import within_rack
from placement.model.cluster import BrokerState
from planner.options.declared.plan_options import RULE_NAMES
from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import make
from support.clusters import make_state
from support.naive import lists_of

MET = {"optimal", "feasible", "nothing-to-do"}


def planned(state, *soft, goal="rebalance", **options):
    rules = {name: options.pop(name) for name in RULE_NAMES & options.keys()}
    request = PlanRequest(goal=goal, soft=soft, **rules, **options)
    return make(state, request)


def after(made):
    return lists_of(made.plan.placed.reassignment.after())


def told(made):
    return [note for note in made.plan.placed.notes if note.what == "soft-rule"]


def shared(lists) -> set[int]:
    """Return the brokers that hold several topics."""
    held = defaultdict(set)
    for (topic, _), row in lists.items():
        for broker in row:
            held[broker].add(topic)
    return {broker for broker, topics in held.items() if len(topics) > 1}


def num_apart(lists) -> int:
    """Return the partitions that lie apart from most of their number."""
    numbered = defaultdict(list)
    for (_, number), row in lists.items():
        numbered[number].append(tuple(row))
    return sum(len(rows) - max(map(rows.count, rows)) for rows in numbered.values())


def num_changed(old, new, racks) -> int:
    """Return the replicas that are in another rack than before."""
    return sum(
        (Counter(racks[b] for b in new[key]) - Counter(racks[b] for b in row)).total()
        for key, row in old.items()
    )


@pytest.mark.parametrize(
    ("lists", "racks", "message"),
    [
        pytest.param(
            {"a": [[0, 1]], "b": [[0, 1]]}, "aa",
            "broker 0-1 is shared by topics of a and b: topics-apart is soft, and "
            "gives way",
            id="every-broker-is-needed",
        ),
        pytest.param(
            {"a": [[0, 1]], "b": [[1, 2]]}, "aaa",
            "broker 1 is shared by topics of a and b: topics-apart is soft, and "
            "gives way",
            id="one-is-shared-and-nothing-moves",
        ),
    ],
)  # fmt: skip
def test_topics_kept_apart_share_the_fewest_brokers(lists, racks, message):
    state = make_state(lists, racks=racks, size_bytes=10)
    assert planned(state, topics_apart=["a=b"]).plan.status == "infeasible"

    made = planned(state, "topics-apart", topics_apart=["a=b"])

    [note] = told(made)
    assert note.message == message
    assert note.have == len(shared(after(made)))
    assert made.is_ok
    assert made.plan.status in MET


def test_more_brokers_are_shared_where_a_capacity_asks_for_it():
    # Each side has brokers enough by its bytes, and no two of a's fit one of them.
    state = make_state(
        {"a": [[0], [1], [2]], "b": [[2], [2]]}, racks="aaa",
        size_bytes=[5, 5, 5, 1, 1], disk_bytes=10,
    )  # fmt: skip
    assert planned(state, topics_apart=["a=b"]).plan.status not in MET

    made = planned(state, "topics-apart", topics_apart=["a=b"])

    assert made.plan.status in MET
    assert len(shared(after(made))) == 1


def test_what_may_not_leave_two_brokers_shares_them_and_no_more():
    lists = {"a": [[0], [1], [2]], "b": [[0], [1], [3]], "c": [[4]]}
    state = make_state(lists, racks="aaaaa", size_bytes=10)

    made = planned(
        state, "topics-apart", topics_apart=["a=b"], keep_topics="a|b",
        resources="replicas",
    )  # fmt: skip

    assert made.plan.status in MET
    assert shared(after(made)) == {0, 1}
    assert {key: row for key, row in after(made).items() if key[0] != "c"} == {
        key: row for key, row in lists_of(state).items() if key[0] != "c"
    }


@settings(max_examples=30)
@given(st.data())
def test_brokers_shared_are_as_few_as_any_placement_shares(data):
    count = data.draw(st.integers(2, 4))
    row = st.lists(st.integers(0, count - 1), min_size=1, max_size=count, unique=True)
    lists = {t: data.draw(st.lists(row, min_size=1, max_size=2)) for t in "ab"}
    ids = list(range(count))
    state = make_state(lists, ids=ids, racks="a" * count, size_bytes=7)

    made = planned(state, "topics-apart", topics_apart=["a=b"], resources="replicas")

    old = lists_of(state)
    ways = product(*(list(combinations(ids, len(row))) for row in old.values()))
    least = min(len(shared(dict(zip(old, way, strict=True)))) for way in ways)
    assert made.plan.status in MET
    assert made.is_ok
    assert len(shared(after(made))) == least
    assert len(told(made)) == (least > 0)
    again = planned(
        made.plan.placed.reassignment.after(), "topics-apart", topics_apart=["a=b"],
        resources="replicas",
    )  # fmt: skip
    off = made.plan.placed.solution.certificate.deviation.value
    assert off or again.plan.moves["replicas"] == 0


@pytest.mark.parametrize(
    ("lists", "options", "apart"),
    [
        pytest.param({"a": [[0, 1]], "b": [[0]]}, {}, 1, id="other-factors"),
        pytest.param(
            {"a": [[0, 1]], "b": [[2, 3]], "c": [[0]]}, {}, 1,
            id="those-of-one-factor-are-together",
        ),
        pytest.param(
            {"a": [[0]], "b": [[1]]}, {"topics": "a"}, 0, id="one-that-may-move-comes"
        ),
        pytest.param(
            {"a": [[0]], "b": [[1]], "c": [[1]]},
            {"topics": "b", "keep_topics": "b", "goal": "remove-brokers",
             "broker_list": "1"},
            2, id="what-is-left-alone-stays",
        ),
    ],
)  # fmt: skip
def test_what_can_lie_together_does(lists, options, apart):
    state = make_state(lists, ids=[0, 1, 2, 3], racks="aaaa", size_bytes=10)

    made = planned(
        state, "topics-together", topics_together=["a|b|c"], band=("2.0",), **options
    )

    assert num_apart(after(made)) == apart
    assert made.is_ok or made.plan.status not in MET


def test_as_few_bundles_part_as_have_no_room():
    # Four pairs leave broker 0; three of them fit elsewhere as pairs.
    lists = {"a": [[0]] * 4, "b": [[0]] * 4}
    state = make_state(
        lists, ids=[0, 1, 2], racks="aaa", max_replicas=[8, 5, 3], size_bytes=10
    )
    options = {"goal": "remove-brokers", "broker_list": "0"}
    assert planned(state, topics_together=["a|b"], **options).plan.status not in MET

    made = planned(state, "topics-together", topics_together=["a|b"], **options)

    [note] = told(made)
    assert note.have == num_apart(after(made)) == 1
    assert note.message.endswith("topics-together is soft, and gives way")
    assert made.plan.moves["replicas"] == 8
    assert made.is_ok


@pytest.mark.not_quick
@settings(max_examples=30)
@given(
    st.lists(st.tuples(*[st.integers(0, 2)] * 2), min_size=1, max_size=2),
    st.lists(st.integers(1, 3), min_size=3, max_size=3),
)
def test_partitions_apart_are_as_few_as_in_any_placement(rows, caps):
    if sum(caps) < 2 * len(rows):
        return
    lists = {"a": [[a] for a, _ in rows], "b": [[b] for _, b in rows]}
    state = make_state(
        lists, ids=[0, 1, 2], racks="aaa", size_bytes=5, max_replicas=caps
    )

    made = planned(state, "topics-together", topics_together=["a|b"], resources="disk")

    old = lists_of(state)
    ways = [
        dict(zip(old, ([b] for b in way), strict=True))
        for way in product(range(3), repeat=len(old))
        if all(way.count(b) <= cap for b, cap in enumerate(caps))
    ]
    assert made.plan.status in MET
    assert made.is_ok
    assert num_apart(after(made)) == min(map(num_apart, ways))


def test_only_what_loses_its_rack_changes_it():
    state = make_state(
        [[0, 1], [0, 2], [1, 2]], racks="abbc", ids=[0, 1, 2, 3], size_bytes=10
    )
    options = {"goal": "remove-brokers", "broker_list": "0", "locality_scoped": True}
    assert planned(state, **options).plan.status == "infeasible"

    made = planned(state, "locality-scoped", **options)

    [note] = told(made)
    assert note.message == (
        "2 replicas change their rack: locality-scoped is soft, and gives way"
    )
    # The rack rule holds for them: both go to the rack that their partitions lack.
    assert sorted(map(sorted, after(made).values())) == [[1, 2], [1, 3], [2, 3]]
    assert made.is_ok


def test_replicas_change_racks_for_a_capacity_and_no_more_than_that_takes():
    state = make_state(
        [[0], [0], [0], [0]], racks="aab", ids=[0, 1, 2], size_bytes=10,
        disk_bytes=[15, 25, 200],
    )  # fmt: skip
    assert planned(state, locality_scoped=True).plan.status not in MET

    made = planned(state, "locality-scoped", locality_scoped=True)

    assert made.plan.status in MET
    [note] = told(made)
    assert num_changed(lists_of(state), after(made), "aab") == note.have == 1


@pytest.mark.not_quick
@settings(max_examples=30)
@given(st.data())
def test_racks_changed_are_as_few_as_in_any_placement(data):
    count = data.draw(st.integers(3, 4))
    racks = data.draw(st.text("abc", min_size=count, max_size=count))
    factor = data.draw(st.integers(1, 2))
    row = st.lists(
        st.integers(0, count - 1), min_size=factor, max_size=factor, unique=True
    )
    lists = data.draw(st.lists(row, min_size=1, max_size=3))
    caps = data.draw(st.lists(st.integers(1, 4), min_size=count, max_size=count))
    state = make_state(
        lists, ids=list(range(count)), racks=racks, max_replicas=caps, size_bytes=5,
        states={0: BrokerState.DEAD},
    )  # fmt: skip
    assume(state.has_source.all())
    rules = {"locality_scoped": True, "rack_rule": "off"}
    old = lists_of(state)
    ways = [
        dict(zip(old, way, strict=True))
        for way in product(list(combinations(range(1, count), factor)), repeat=len(old))
        if all(sum(b in one for one in way) <= caps[b] for b in range(1, count))
    ]

    hard, made = planned(state, **rules), planned(state, "locality-scoped", **rules)

    assert (made.plan.status in MET) == bool(ways)
    if not ways:
        return
    least = min(num_changed(old, way, racks) for way in ways)
    assert made.is_ok
    assert num_changed(old, after(made), racks) == least
    assert (hard.plan.status in MET) == (least == 0)
    assert sum(note.have for note in told(made)) == least


def test_what_is_named_first_gives_way_first_of_three():
    state = make_state(
        {"a": [[0], [0]], "b": [[1], [1]]}, racks="abc", ids=[0, 1, 2], size_bytes=10,
    )  # fmt: skip
    options = {
        "goal": "remove-brokers", "broker_list": "0", "locality_scoped": True,
        "topics_apart": ["a=b"], "max_moves": 1,
    }  # fmt: skip

    made = planned(state, "topics-apart", "locality-scoped", "max-moves", **options)

    # Apart they can be, on broker 2; in another rack, and two of them.
    assert not shared(after(made))
    assert [note.message.split(": ")[1].split(" ")[0] for note in told(made)] == [
        "locality-scoped", "max-moves",
    ]  # fmt: skip


def test_the_checker_asks_racks_of_what_changes_them_alone():
    state = make_state([[0, 1], [2, 3]], racks="aabb", ids=[0, 1, 2, 3])
    crowded = Target.from_lists(["t"], [0], [[1, 0]])
    moved = Target.from_lists(["t"], [1], [[0, 1]])
    rules = CheckSettings(
        custom=(within_rack(),), soft=frozenset({"locality-scoped"}),
        asks_racks_of_changed=True,
    )  # fmt: skip

    kept, changed = check(state, crowded, rules), check(state, moved, rules)

    assert [one.rule for one in kept] == []
    # Of what changes racks the rule is asked; it shared a rack before, and still does.
    assert {(one.rule, one.soft, one.existing) for one in changed} == {
        ("rack", False, True), ("locality-scoped", True, False),
    }  # fmt: skip
