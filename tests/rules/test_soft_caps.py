"""Soft caps: exceeded as far as what must be copied takes, and no further."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.planning.outcome.plan_notes import plan_notes
from placement.rules.soft_caps import CAPS
from planner.options.declared.plan_options import RULE_NAMES
from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import make
from support.clusters import Dir, make_state
from support.naive import lists_of

MET = {"optimal", "feasible", "nothing-to-do"}
MOVES = {
    "max-moves": "replicas",
    "max-bytes": "bytes",
    "max-cross-rack-bytes": "cross_rack_bytes",
}


def planned(state, *soft, goal="remove-brokers", **options):
    rules = {name: options.pop(name) for name in RULE_NAMES & options.keys()}
    request = PlanRequest(goal=goal, soft=soft, **rules, **options)
    return make(state, request)


def told(made):
    return [note for note in made.plan.placed.notes if note.what == "soft-rule"]


def capped(name, most):
    return {CAPS[name]: most if name == "max-moves" else str(most)}


FULL = make_state(
    [[0, 1], [0, 2], [0, 1], [1, 2], [1, 2], [1, 2]], racks="aaaa", ids=[0, 1, 2, 3],
    size_bytes=[8, 4, 2, 9, 9, 9],
)  # fmt: skip
"""What leaves broker 0 are three copies of 14 bytes; broker 3 is empty."""


@pytest.mark.parametrize(
    ("name", "most", "message"),
    [
        pytest.param(
            "max-bytes", 10,
            "14 bytes copied, 10 are the most: max-bytes is soft, and gives way",
            id="bytes",
        ),
        pytest.param(
            "max-moves", 1,
            "3 copies, 1 are the most: max-moves is soft, and gives way",
            id="moves",
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_free", [False, True])
def test_a_broker_is_emptied_beyond_a_cap_and_nothing_else_moves(
    name, most, message, is_free
):
    options = {"broker_list": "0", "rebalance": is_free, **capped(name, most)}
    hard = planned(FULL, **options)
    assert hard.plan.status == "infeasible"
    assert name in hard.plan.infeasible_set.rules

    made = planned(FULL, name, **options)

    [note] = told(made)
    assert note.message == message
    assert (note.have, note.need) == (made.plan.moves[MOVES[name]], most)
    assert made.plan.moves["replicas"] == 3
    assert made.plan.moves["bytes"] == 14
    assert made.plan.settings[CAPS[name]] == most
    assert made.plan.status in MET
    assert made.is_ok
    assert [one.rule for one in made.findings] == [name]
    assert all(one.soft for one in made.findings)


@pytest.mark.parametrize("name", CAPS)
def test_a_cap_that_can_be_kept_is_kept(name):
    options = {"broker_list": "0", "rebalance": True, **capped(name, 20)}

    hard, soft = planned(FULL, **options), planned(FULL, name, **options)

    assert soft.plan.moves == hard.plan.moves
    assert not told(soft)
    assert soft.plan.moves[MOVES[name]] <= 20


def test_other_caps_are_kept_and_make_a_plan_impossible():
    made = planned(FULL, "max-moves", broker_list="0", max_moves=1, max_bytes="10")

    assert made.plan.status == "infeasible"
    assert made.plan.infeasible_set.rules == ("max-bytes",)
    assert made.plan.moves["bytes"] <= 10


def test_a_cap_named_before_another_rule_that_is_enough_gives_way_alone():
    options = {"broker_list": "0", "max_bytes": "10", "rack_rule": "strict"}
    state = make_state([[0, 1], [0, 2]], racks="abca", ids=[0, 1, 2, 3], size_bytes=8)

    made = planned(state, "rack", "max-bytes", **options)

    # Racks are named first, but nothing comes of it: they are kept after all.
    assert [note.have for note in told(made)] == [16.0]
    assert made.is_ok


def test_copies_cross_racks_only_where_their_own_has_no_broker_for_them():
    state = make_state(
        [[0, 1], [0], [0]], racks="aab", ids=[0, 1, 2], size_bytes=[5, 3, 2]
    )

    made = planned(
        state, "max-cross-rack-bytes", broker_list="0", max_cross_rack_bytes="1",
        rack_rule="off",
    )  # fmt: skip

    [note] = told(made)
    assert note.message == (
        "5 bytes copied between racks, 1 are the most: max-cross-rack-bytes is soft, "
        "and gives way"
    )
    lists = lists_of(made.plan.placed.reassignment.after())
    assert [lists["t", number] for number in (1, 2)] == [[1], [1]]


@pytest.mark.parametrize(
    ("cap", "copies", "size", "is_told"),
    [
        pytest.param({"max_moves": 1}, 1, 98, False, id="moves"),
        pytest.param({"max_bytes": "1"}, 2, 2, True, id="bytes"),
    ],
)
def test_a_disk_is_relieved_by_what_the_cap_counts(cap, copies, size, is_told):
    # Both small ones weigh less than the large one, which alone would do.
    state = make_state(
        [[0], [0], [0]], racks="aa", size_bytes=[1, 1, 98], disk_bytes=[123, 200]
    )
    [name] = cap

    made = planned(
        state, name.replace("_", "-"), goal="rebalance", resources="cpu", **cap
    )

    assert (made.plan.moves["replicas"], made.plan.moves["bytes"]) == (copies, size)
    assert bool(told(made)) == is_told
    assert made.plan.status in MET


def test_a_log_dir_is_emptied_beyond_a_cap():
    dirs = {0: [Dir("/d1"), Dir("/d2"), Dir("/d3")]}
    state = make_state(
        [[0], [0], [0], [0]], log_dirs=dirs, size_bytes=[5, 4, 3, 9],
        dirs=[["/d1"], ["/d1"], ["/d2"], ["/d2"]],
    )  # fmt: skip
    options = {"goal": "log-dirs", "empty": ("0:/d1",)}
    for cap in ({"max_bytes": "4"}, {"max_moves": 1}):
        assert planned(state, **options, **cap).plan.status not in MET

        [name] = cap
        made = planned(state, name.replace("_", "-"), **options, **cap)

        [note] = told(made)
        assert note.message.endswith("is soft, and gives way")
        assert made.plan.moves["log_dirs"] == 2
        assert made.plan.status in MET
        assert made.is_ok


def test_a_relaxed_cap_is_reported_as_requested():
    made = planned(FULL, "max-bytes", broker_list="0", rebalance=True, max_bytes="10")

    notes = plan_notes(made.plan.placed, is_cut=False)
    assert "capped" not in {note.what for note in notes}
    assert made.plan.placed.draft.settings.max_bytes == 14


@settings(max_examples=40)
@given(st.data())
def test_caps_are_exceeded_by_no_more_than_what_must_go_takes(data):
    count = data.draw(st.integers(3, 4))
    racks = data.draw(st.text("ab", min_size=count, max_size=count))
    factor = data.draw(st.integers(1, 2))
    row = st.lists(
        st.integers(0, count - 1), min_size=factor, max_size=factor, unique=True
    )
    lists = data.draw(st.lists(row, min_size=1, max_size=3))
    sizes = data.draw(
        st.lists(st.integers(1, 9), min_size=len(lists), max_size=len(lists))
    )
    name = data.draw(st.sampled_from(sorted(CAPS)))
    most = data.draw(st.integers(1, 6))
    state = make_state(lists, ids=list(range(count)), racks=racks, size_bytes=sizes)

    made = planned(state, name, broker_list="0", rack_rule="off", **capped(name, most))

    def amounts(way):
        copies = [
            (size, racks[broker] != racks[old[0]])
            for old, new, size in zip(lists, way, sizes, strict=True)
            for broker in set(new) - set(old)
        ]
        return {
            "max-moves": len(copies),
            "max-bytes": sum(size for size, _ in copies),
            "max-cross-rack-bytes": sum(size for size, far in copies if far),
        }[name]

    ways = [
        way
        for way in product(list(combinations(range(1, count), factor)),
                           repeat=len(lists))
        if all(set(old) - {0} <= set(new) for old, new in zip(lists, way, strict=True))
    ]  # fmt: skip
    least = min(map(amounts, ways))
    used = made.plan.moves[MOVES[name]]
    assert made.plan.status in MET
    assert made.is_ok
    assert used <= max(most, least)
    assert [note.have for note in told(made)] == ([used] if used > most else [])


@pytest.mark.parametrize(
    ("name", "most", "used"),
    [("max-moves", 1, 4), ("max-bytes", 5, 16), ("max-cross-rack-bytes", 3, 8)],
)
def test_a_cap_gives_way_for_a_hard_goal(name, most, used):
    # Two of the six stay, two go to their own rack and two to the other.
    state = make_state([[0]] * 6, racks="aab", ids=[0, 1, 2], size_bytes=4)
    options = {"goal": "rebalance", "resources": "disk", "band": ["0.1"]}
    hard = planned(state, hard=("band-disk",), **options, **capped(name, most))
    assert hard.plan.status not in MET

    made = planned(state, name, hard=("band-disk",), **options, **capped(name, most))

    [note] = told(made)
    assert (note.have, note.need) == (used, most)
    assert made.plan.moves[MOVES[name]] == used
    assert made.plan.status in MET
    assert made.is_ok
    assert {one.rule for one in made.findings} == {name}


def test_a_cap_gives_way_for_a_hard_goal_and_not_for_a_soft_one():
    # What is written must part for disks as well, and that is another matter.
    state = make_state(
        [[0], [0], [1], [1]], racks="ab", size_bytes=[4, 4, 4, 4],
        in_rate=[90.0, 90.0, 10.0, 10.0],
    )  # fmt: skip
    options = {
        "goal": "rebalance", "resources": "disk,in", "band": ["0.01"], "max_moves": 1,
    }  # fmt: skip

    soft = planned(state, "max-moves", hard=("band-disk",), **options)
    hard = planned(state, "max-moves", hard=("band-in",), **options)

    assert soft.plan.moves["replicas"] <= 1
    assert not told(soft)
    assert hard.plan.moves["replicas"] == 2
    assert [note.have for note in told(hard)] == [2]
    assert {soft.plan.status, hard.plan.status} <= MET


def test_a_rule_gives_way_for_a_hard_goal():
    state = make_state([[0]] * 4, racks="ab", max_replicas=[4, 1])
    options = {"goal": "rebalance", "resources": "disk", "band": ["0.1"]}
    state = replace(
        state, partitions=replace(state.partitions, size_bytes=np.full(4, 5))
    )

    made = planned(state, "max-replicas", hard=("band-disk",), **options)

    [note] = told(made)
    assert (note.have, note.need) == (2, 1)
    assert made.plan.status in MET
    assert made.is_ok


@settings(max_examples=40)
@given(st.data())
def test_caps_are_exceeded_by_no_more_than_a_hard_goal_takes(data):
    count = data.draw(st.integers(2, 3))
    racks = data.draw(st.text("ab", min_size=count, max_size=count))
    lies = data.draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=6))
    sizes = data.draw(
        st.lists(st.integers(1, 9), min_size=len(lies), max_size=len(lies))
    )
    name = data.draw(st.sampled_from(sorted(CAPS)))
    most = data.draw(st.integers(1, 6))
    lists = [[broker] for broker in lies]
    state = make_state(lists, ids=list(range(count)), racks=racks, size_bytes=sizes)

    made = planned(
        state, name, goal="rebalance", resources="replicas", band=["0"],
        hard=("band-replicas",), rack_rule="off", **capped(name, most),
    )  # fmt: skip

    def amount(way):
        moved = [
            (size, racks[old] != racks[new])
            for old, new, size in zip(lies, way, sizes, strict=True)
            if old != new
        ]
        return {
            "max-moves": len(moved),
            "max-bytes": sum(size for size, _ in moved),
            "max-cross-rack-bytes": sum(size for size, far in moved if far),
        }[name]

    even = {len(lies) // count, -(-len(lies) // count)}
    least = min(
        amount(way)
        for way in product(range(count), repeat=len(lies))
        if {way.count(broker) for broker in range(count)} <= even
    )
    used = made.plan.moves[MOVES[name]]
    assert made.plan.status in MET
    assert made.is_ok
    assert used <= max(most, least)
    assert [note.have for note in told(made)] == ([used] if used > most else [])
