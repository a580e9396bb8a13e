"""Moves on the flat tables against everything computed from scratch."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from placement.core.model.arrangement import Arrangement, home_arrangement
from placement.core.model.objective import move_costs
from placement.core.model.problem import (
    NOWHERE,
    Movability,
    Problem,
)
from placement.core.search.kernels import (
    access,
    bulk_fill,
    changes,
    layout,
    legality,
    penalty,
    relocate,
    stages,
    trim,
)
from placement.core.search.kernels.state import (
    Memory,
    arrangement_of,
    as_lists,
    lay_again,
    lay_out,
)
from placement.core.search.tables.collection_counts import (
    num_collection_cells,
    num_role_cells,
)
from support.oracles import (
    illegal_moves,
    is_crowded,
    items_of,
    may_go,
    naive_loads,
    naive_peaks,
)
from support.problems import make_problem, problems


def any_levels() -> st.SearchStrategy[Problem]:
    """Weights that depend on the bin, or else racks that have limits of their own."""
    return st.booleans().flatmap(
        lambda flag: problems(
            has_extra=flag,
            has_transient=flag,
            has_loaded_racks=not flag,
            has_collections=flag,
        )
    )


def laid_out(problem: Problem, at: Arrangement) -> Memory:
    memory = as_lists(lay_out(problem, at, 1))
    penalty.refresh_all(memory)
    return memory


def column(memory: Memory, name: str, size: int) -> list:
    """One column of the memory, by the name of where it starts."""
    first = memory.ints[getattr(layout, name)]
    is_float = name in {"DISTANCE", "PENALTY"}
    return (memory.floats if is_float else memory.ints)[first : first + size]


def items_in(memory: Memory, place: int) -> list[int]:
    return [
        access.item_at(memory, place, slot)
        for slot in range(access.num_items_in(memory, place))
    ]


def still_in(memory: Memory, place: int) -> list[int]:
    return [
        access.still_item(memory, place, step)
        for step in range(access.num_still_in(memory, place))
    ]


def assert_consistent(problem: Problem, memory: Memory) -> None:
    """Loads, peaks, distances, penalties, lists and cost are the arrangement's."""
    at = arrangement_of(memory, problem)
    fresh = laid_out(problem, at)
    nodes = memory.ints[layout.NUM_NODES]
    rows = nodes * problem.num_resources
    assert column(memory, "LOADS", 2 * rows) == column(fresh, "LOADS", 2 * rows)
    for name, size in (("DISTANCE", rows), ("PENALTY", nodes)):
        expected = pytest.approx(column(fresh, name, size))
        assert column(memory, name, size) == expected
    first = np.array(column(memory, "LOADS", 2 * rows)).reshape(-1, 2)
    first = first[: problem.bins.fixed.size]
    shape = problem.bins.fixed.shape
    assert first[:, 0].reshape(shape).tolist() == naive_loads(problem, at)
    assert first[:, 1].reshape(shape).tolist() == naive_peaks(problem, at)
    assert memory.ints[layout.COST] == move_costs(problem, at).sum()
    for name, counted in (
        ("COLLECTION_COUNT", num_collection_cells(problem)),
        ("COLLECTION_ROLES", num_role_cells(problem)),
    ):
        assert column(memory, name, counted) == column(fresh, name, counted)
    slots = column(memory, "SLOT_OF", problem.num_items)
    for place in range(problem.num_bins):
        found = items_in(memory, place)
        still = still_in(memory, place)
        assert all(problem.movability[item] == Movability.NEVER for item in still)
        assert sorted(found + still) == np.nonzero(at.bin_of == place)[0].tolist()
        assert [slots[item] for item in found] == list(range(len(found)))


def random_step(data, problem: Problem, memory: Memory) -> None:
    """Move an item that may move to any bin, or hand a role to one of its group."""
    item = data.draw(st.integers(0, problem.num_items - 1))
    assume(problem.movability[item] != Movability.NEVER)
    group = int(problem.group_of[item])
    at = arrangement_of(memory, problem)
    holder = at.role_of[group]
    can_lead = holder >= 0 and at.bin_of[holder] >= 0 and at.bin_of[item] >= 0
    if can_lead and data.draw(st.booleans()):
        expected = total_penalty(memory)
        expected += penalty.role_change(memory, group, item)
        changes.apply_role(memory, group, item)
    else:
        target = data.draw(st.integers(0, problem.num_bins - 1))
        assume(target != at.bin_of[item])
        expected = total_penalty(memory)
        expected += penalty.leave_change(memory, item, target)
        expected += penalty.arrive_change(memory, item, target)
        changes.apply_move(memory, item, target)
    assert total_penalty(memory) == pytest.approx(expected)


def total_penalty(memory: Memory) -> float:
    penalty.refresh_all(memory)
    return float(penalty.total_penalty(memory))


def naive_worst(problem: Problem, memory: Memory) -> int:
    """The first bin with the largest penalty over its nodes that is not stuck."""
    totals = [
        0.0
        if memory.ints[memory.ints[layout.STUCK] + place]
        else relocate.penalty_over_levels(memory, place)
        for place in range(problem.num_bins)
    ]
    most = max(totals, default=0.0)
    return totals.index(most) if most > 0 else -1


@settings(max_examples=80)
@given(any_levels(), st.data())
def test_the_worst_bin_is_known_after_any_steps(problem: Problem, data):
    assume(problem.num_items)
    memory = laid_out(problem, home_arrangement(problem))
    for _ in range(data.draw(st.integers(1, 8))):
        random_step(data, problem, memory)
        place = relocate.worst_bin(memory)
        assert place == naive_worst(problem, memory)
        if place >= 0 and data.draw(st.booleans()):
            relocate.give_up(memory, place)
            assert relocate.worst_bin(memory) == naive_worst(problem, memory)

    relocate.unstick(memory)
    assert relocate.worst_bin(memory) == naive_worst(problem, memory)


@settings(max_examples=120)
@given(any_levels(), st.data())
def test_any_moves_keep_loads_penalties_and_lists(problem: Problem, data):
    assume(problem.num_items)
    memory = laid_out(problem, home_arrangement(problem))
    assert_consistent(problem, memory)
    for _ in range(data.draw(st.integers(1, 12))):
        random_step(data, problem, memory)

    assert_consistent(problem, memory)


@settings(max_examples=120)
@given(problems(has_transient=True), st.data())
def test_legal_moves_are_legal(problem: Problem, data):
    assume(problem.num_items)
    memory = laid_out(problem, home_arrangement(problem))
    for _ in range(data.draw(st.integers(1, 8))):
        item = data.draw(st.integers(0, problem.num_items - 1))
        target = data.draw(st.integers(0, problem.num_bins - 1))
        group = int(problem.group_of[item])
        crowded = num_crowded(problem, arrangement_of(memory, problem), group)
        if legality.may_move(memory, item, target):
            changes.apply_move(memory, item, target)
            after = arrangement_of(memory, problem)
            assert may_go(problem, item, target)
            assert num_crowded(problem, after, group) <= crowded
            assert_room(problem, after, target, item)
        if legality.may_take_role(memory, group, item):
            changes.apply_role(memory, group, item)

    at = arrangement_of(memory, problem)
    assert not [told for told in illegal_moves(problem, at) if "role" in told]


def num_crowded(problem: Problem, at: Arrangement, group: int) -> int:
    bins = [int(at.bin_of[item]) for item in items_of(problem, group)]
    return sum(is_crowded(problem, level, group, bins) for level in problem.levels)


def assert_room(problem: Problem, at: Arrangement, place: int, item: int) -> None:
    """What came to a bin keeps its capacities, as far as it weighs anything."""
    group = int(problem.group_of[item])
    peak, now = naive_peaks(problem, at)[place], naive_loads(problem, at)[place]
    for r in range(problem.num_resources):
        weight = problem.weight[group, r]
        if at.role_of[group] == item:
            weight += problem.role_weight[group, r]
        load = now[r] if problem.home[item] == place else peak[r]
        if len(problem.extra) and problem.home[item] == place:
            load -= max(int(problem.extra[item, r]), 0)
        assert weight == 0 or load <= problem.bins.capacity[place, r]


@settings(max_examples=80)
@given(problems(), st.data())
def test_a_price_is_what_the_move_costs(problem: Problem, data):
    assume(problem.num_items)
    memory = laid_out(problem, home_arrangement(problem))
    item = data.draw(st.integers(0, problem.num_items - 1))
    place = data.draw(st.integers(0, problem.num_bins - 1))
    bin_of = problem.home.copy()
    bin_of[item] = place
    at = Arrangement(bin_of, problem.role_home.copy())

    assert penalty.price_at(memory, item, place) == move_costs(problem, at)[item]


@settings(max_examples=80)
@given(any_levels())
def test_stages_leave_a_consistent_state(problem: Problem):
    memory = laid_out(problem, home_arrangement(problem))
    order = list(range(problem.num_items))
    stages.place(memory, order)
    stages.release(memory)
    stages.respread(memory, list(range(problem.num_groups)))
    assert_consistent(problem, memory)
    stages.balance_all(memory, 200, 16, 1, 2)
    assert_consistent(problem, memory)
    stages.trim(memory, order, 16)
    stages.return_roles(memory, problem.role_home.tolist())
    assert_consistent(problem, memory)


@settings(max_examples=80)
@given(problems())
def test_balancing_never_adds_to_the_penalty(problem: Problem):
    memory = laid_out(problem, home_arrangement(problem))
    before = total_penalty(memory)

    stages.balance_all(memory, 200, 16, 1, 2)
    balanced = total_penalty(memory)
    stages.trim(memory, list(range(problem.num_items)), 16)

    assert balanced <= before * (1 + 1e-9)
    assert total_penalty(memory) <= balanced * (1 + 1e-9)


@settings(max_examples=80)
@given(problems())
def test_a_chain_that_is_not_worth_it_leaves_no_trace(problem: Problem):
    memory = laid_out(problem, home_arrangement(problem))
    for place in range(problem.num_bins):
        before = arrangement_of(memory, problem)
        if not relocate.relieve_by_chain(memory, place, 16):
            after = arrangement_of(memory, problem)
            assert after.bin_of.tolist() == before.bin_of.tolist()
            assert after.role_of.tolist() == before.role_of.tolist()
        assert_consistent(problem, memory)


@settings(max_examples=120)
@given(any_levels(), st.data())
def test_what_the_log_remembers_can_be_taken_back(problem: Problem, data):
    assume(problem.num_items)
    problem = replace(problem, home=np.maximum(problem.home, 0))
    memory = laid_out(problem, home_arrangement(problem))
    changes.start_log(memory)
    for _ in range(data.draw(st.integers(1, 12))):
        random_step(data, problem, memory)

    changes.take_back(memory)

    at = arrangement_of(memory, problem)
    assert at.bin_of.tolist() == problem.home.tolist()
    assert at.role_of.tolist() == problem.role_home.tolist()
    assert_consistent(problem, memory)


@settings(max_examples=80)
@given(problems(), st.integers(1, 20))
def test_shaking_keeps_what_is_no_worse(problem: Problem, rounds: int):
    assume(problem.num_items)
    memory = laid_out(problem, home_arrangement(problem))
    stages.balance_all(memory, 200, 16, 1, 2)
    outside, cost = total_penalty(memory), memory.ints[layout.COST]

    stages.shake(memory, [0] * problem.num_items, rounds, 16, 0)

    assert total_penalty(memory) <= outside * (1 + 1e-9)
    if total_penalty(memory) >= outside * (1 - 1e-9):
        assert memory.ints[layout.COST] <= cost
    assert_consistent(problem, memory)


@settings(max_examples=80)
@given(problems(), st.integers(1, 20), st.integers(1, 50))
def test_shaking_with_slack_comes_no_further_out_of_band(
    problem: Problem, rounds: int, slack: int
):
    assume(problem.num_items)
    memory = laid_out(problem, home_arrangement(problem))
    stages.balance_all(memory, 200, 16, 1, 2)
    outside, cost = total_penalty(memory), memory.ints[layout.COST]

    kept = stages.shake(memory, [0] * problem.num_items, rounds, 16, slack)

    assert total_penalty(memory) <= outside * (1 + 1e-9)
    if outside == 0:
        assert memory.ints[layout.COST] <= cost + kept * slack
    assert_consistent(problem, memory)


@settings(max_examples=80)
@given(problems())
def test_filling_goes_over_no_upper_end(problem: Problem):
    memory = laid_out(problem, home_arrangement(problem))
    before = naive_loads(problem, home_arrangement(problem))
    stages.fill(memory)

    after = naive_loads(problem, arrangement_of(memory, problem))
    for b, r in np.ndindex(*problem.bins.upper.shape):
        has_band = problem.bins.target[b, r] > 0 and problem.bins.lower[b, r] > 0
        if has_band and after[b][r] > before[b][r]:
            assert after[b][r] <= problem.bins.upper[b, r]
    assert_consistent(problem, memory)


@settings(max_examples=80)
@given(problems(), st.data())
def test_a_replacement_is_cheaper_and_no_worse(problem: Problem, data):
    assume(problem.num_items)
    memory = laid_out(problem, home_arrangement(problem))
    for _ in range(4):
        random_step(data, problem, memory)
    for item in range(problem.num_items):
        outside, cost = total_penalty(memory), memory.ints[layout.COST]
        if trim.replace_by_cheaper(memory, item, 16):
            assert total_penalty(memory) <= outside * (1 + 1e-9) + 1e-12
            assert memory.ints[layout.COST] < cost
        else:
            assert memory.ints[layout.COST] == cost
    assert_consistent(problem, memory)


def test_a_list_that_outgrows_its_room_moves():
    problem = make_problem([[0]] * 200, num_bins=2, target=100.0)
    memory = laid_out(problem, home_arrangement(problem))
    for item in range(200):
        changes.apply_move(memory, item, 1)
    assert_consistent(problem, memory)
    for item in range(0, 200, 3):
        changes.apply_move(memory, item, 0)
    assert_consistent(problem, memory)


def what_is_read(problem: Problem, memory: Memory) -> list[int]:
    """Return the integers of a memory; 0 for slots that are in no list."""
    ints = memory.ints.copy()
    lists = ints[ints[layout.LISTS] :][: layout.LIST_WIDTH * problem.num_bins]
    used = set()
    for row in lists.reshape(-1, layout.LIST_WIDTH):
        used |= set(range(row[layout.LIST_START], sum(row[:2])))
        used |= set(range(row[layout.STILL_START], sum(row[4:6])))
    first = int(ints[layout.SLOTS])
    for slot in set(range(int(ints[layout.NUM_SLOTS]))) - used:
        ints[first + slot] = 0
    return [int(value) for value in ints]


def test_memory_laid_out_again_is_that_of_the_new_start():
    problem = make_problem([[0, 1], [1, 2], [2, 0]], num_bins=3, target=2.0)
    at = home_arrangement(problem)
    memory = lay_out(problem, at, 1)
    moved = Arrangement(np.array([1, 0, 1, 2, 2, 0], dtype=np.int32), at.role_of)

    again = lay_again(memory, problem, moved, 1)

    fresh = lay_out(problem, moved, 1)
    assert what_is_read(problem, again) == what_is_read(problem, fresh)
    assert again.floats.tolist() == fresh.floats.tolist()


def test_donors_with_more_above_their_shares_are_preferred():
    problem = make_problem([[0]] * 6 + [[1]] * 2, num_bins=3, target=3.0)
    memory = laid_out(problem, home_arrangement(problem))
    for place in (0, 1):
        first = memory.ints[layout.EXCESS]
        memory.floats[first + place] = bulk_fill.excess_of(memory, place)
        memory.ints[memory.ints[layout.FAT] + place] = place

    drawn = [bulk_fill.draw_donor(memory, 2) for _ in range(64)]

    assert drawn.count(0) > drawn.count(1) > 0


def test_random_numbers_are_the_same_everywhere():
    memory = Memory([3] + [0] * layout.HEADER, [])

    drawn = [access.draw(memory, 100) for _ in range(8)]

    number, expected = 3, []
    for _ in range(8):
        number = (number * 1103515245 + 12345) % 2**31
        expected.append(number // 256 % 100)
    assert drawn == expected
    assert NOWHERE not in drawn
