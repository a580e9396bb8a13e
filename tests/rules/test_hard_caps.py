"""Caps that are hard: where a plan within them exists, one is found."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.options.plan_request import PlanRequest
from planner.options.rule_options import RuleRequest
from planner.plan.documents.infeasibility import reason_text, shortfall_text
from planner.plan.run.make_plan import make
from support.clusters import make_state

MET = {"optimal", "feasible", "nothing-to-do"}
CAPS = ("max_moves", "max_bytes", "max_cross_rack_bytes")


def planned(state, **options):
    return make(state, PlanRequest(goal="rebalance", **options))


def capped(name, most):
    return {name: most if name == "max_moves" else str(most)}


@pytest.mark.parametrize("effort", ["quick", "normal"])
def test_what_leaves_a_full_disk_is_chosen_to_fit_the_cap(effort):
    # 7 bytes have to go, and just 4 and 3 come to no more.
    state = make_state(
        [[0]] * 4, racks="ab", size_bytes=[8, 5, 4, 3], disk_bytes=[13, 40]
    )

    made = planned(
        state, effort=effort, resources="replicas", band=["9"], max_bytes="7",
        capacity_threshold=("disk=1",),
    )  # fmt: skip

    assert made.plan.status in MET
    assert made.plan.moves["bytes"] == 7
    assert made.is_ok


@pytest.mark.parametrize(
    ("lists", "most", "is_proven"),
    [
        # A bundle of two and one more have to leave, which makes three copies.
        pytest.param({"a": [[0]], "b": [[0]], "c": [[0]]}, 3, False, id="enough"),
        pytest.param({"a": [[0]], "b": [[0]], "c": [[0]]}, 2, True, id="too-few"),
        # Both come from elsewhere to where they may stay.
        pytest.param({"a": [[0]], "b": [[1]], "c": [[0]]}, 2, False, id="one-comes"),
    ],
)
def test_what_a_bundle_takes_of_a_cap_is_no_proof(lists, most, is_proven):
    state = make_state(lists, ids=[0, 1, 2], racks="abc", size_bytes=1)
    together = RuleRequest(topics_together=("a|b",))

    made = make(
        state,
        PlanRequest(
            goal="remove-brokers", broker_list="0", max_moves=most, rules=together,
            effort="quick",
        ),
    )  # fmt: skip

    assert (made.plan.status == "infeasible") == is_proven


@settings(max_examples=40)
@given(st.data())
def test_a_plan_within_a_cap_is_found_where_there_is_one(data):
    count = data.draw(st.integers(2, 3))
    racks = data.draw(st.text("ab", min_size=count, max_size=count))
    sizes = data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=6))
    lies = data.draw(
        st.lists(
            st.sampled_from([0, 0, count - 1]),
            min_size=len(sizes), max_size=len(sizes),
        )
    )  # fmt: skip
    room = data.draw(st.lists(st.integers(0, 30), min_size=count, max_size=count))
    name = data.draw(st.sampled_from(CAPS))
    most = data.draw(st.integers(0, 12))
    state = make_state(
        [[b] for b in lies], ids=list(range(count)), racks=racks, size_bytes=sizes,
        disk_bytes=[n + 1 for n in room],
    )  # fmt: skip

    made = planned(
        state, effort=data.draw(st.sampled_from(["quick", "normal"])),
        capacity_threshold=("disk=1",), **capped(name, most),
    )  # fmt: skip

    def is_within(way):
        held = [
            sum(size for size, b in zip(sizes, way, strict=True) if b == broker)
            for broker in range(count)
        ]
        moved = [
            (size, racks[old] != racks[new])
            for size, old, new in zip(sizes, lies, way, strict=True)
            if old != new
        ]
        used = {
            "max_moves": len(moved),
            "max_bytes": sum(size for size, _ in moved),
            "max_cross_rack_bytes": sum(size for size, far in moved if far),
        }[name]
        return used <= most and all(h <= n + 1 for h, n in zip(held, room, strict=True))

    ways = list(product(range(count), repeat=len(sizes)))
    exists = any(map(is_within, ways))
    assert (made.plan.status in MET) == exists
    assert made.is_ok or not exists
    if not exists:
        most = 10**6
        would_exist = any(map(is_within, ways))
        judge_reason(made, name, would_exist=would_exist)


def judge_reason(made, cap, *, would_exist):
    """A cap and a capacity are named where both stand in the way, and neither alone."""
    infeasible_set = made.plan.infeasible_set
    if not would_exist:
        # What fits nowhere whatever is copied may be more than is proven.
        needs_cap = cap.replace("_", "-") in infeasible_set.rules
        assert not (needs_cap and infeasible_set.is_irreducible)
        return
    assert made.plan.status == "infeasible"
    assert set(infeasible_set.rules) == {"capacity-disk", cap.replace("_", "-")}
    assert infeasible_set.helps == (True, True)
    assert infeasible_set.is_proven
    assert infeasible_set.is_irreducible


def test_what_a_cap_and_a_capacity_leave_is_said():
    # 5 bytes have to go, and no replica has fewer than 6.
    state = make_state([[0]] * 3, racks="ab", size_bytes=6, disk_bytes=[13, 40])

    made = planned(
        state, resources="replicas", band=["9"], max_bytes="5",
        capacity_threshold=("disk=1",),
    )  # fmt: skip

    assert made.plan.status == "infeasible"
    [lack, *_] = made.plan.placed.solution.shortfalls
    assert shortfall_text(made.plan.placed, lack) == (
        "6 B must be copied, and --max-bytes allows 5 B"
    )
    assert reason_text(made.plan.placed, made.plan.infeasible_set) == (
        "cannot be kept together: no broker over 100% of its disk; at most 5 B copied"
    )
