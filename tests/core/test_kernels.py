"""Moves on the flat tables against everything computed from scratch."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from placement.core.kernels import choices, moves, stages
from placement.core.kernels.tables import (
    END_CURSOR,
    END_HEAD,
    END_WIDTH,
    LINK_AFTER,
    LINK_BEFORE,
    LINK_WIDTH,
    State,
    Tables,
    build_state,
    build_tables,
)
from placement.core.problem import NOWHERE, Arrangement, Problem, home_arrangement
from placement.core.value import move_costs
from support.oracles import (
    illegal_moves,
    is_crowded,
    items_of,
    may_go,
    naive_loads,
    naive_peaks,
)
from support.problems import problems


def any_levels() -> st.SearchStrategy[Problem]:
    """Weights that depend on the bin, or else racks that have limits of their own."""
    return st.booleans().flatmap(
        lambda flag: problems(
            has_extra=flag, has_transient=flag, has_loaded_racks=not flag
        )
    )


def laid_out(problem: Problem, at: Arrangement) -> tuple[Tables, State]:
    tables = build_tables(problem, is_compiled=False)
    state = build_state(problem, tables, at, 1, is_compiled=False)
    moves.refresh_all(tables, state)
    return tables, state


def arrangement_of(state: State) -> Arrangement:
    return Arrangement(
        np.array(state.bin_of, dtype=np.int32), np.array(state.role_of, dtype=np.int64)
    )


def items_in(state: State, place: int) -> list[int]:
    """The items of a bin by its linked list, walked forwards."""
    found, item = [], state.ends[place * END_WIDTH + END_HEAD]
    while item >= 0:
        found.append(item)
        item = state.links[item * LINK_WIDTH + LINK_AFTER]
    return found


def assert_consistent(problem: Problem, tables: Tables, state: State) -> None:
    """Loads, peaks, distances, penalties and lists are those of the arrangement."""
    at = arrangement_of(state)
    _, fresh = laid_out(problem, at)
    assert state.loads == fresh.loads
    assert state.distance == pytest.approx(fresh.distance)
    assert state.penalty == pytest.approx(fresh.penalty)
    first = np.array(state.loads).reshape(-1, 2)[: problem.bins.fixed.size]
    shape = problem.bins.fixed.shape
    assert first[:, 0].reshape(shape).tolist() == naive_loads(problem, at)
    assert first[:, 1].reshape(shape).tolist() == naive_peaks(problem, at)
    for place in range(problem.num_bins):
        found = items_in(state, place)
        assert sorted(found) == np.nonzero(at.bin_of == place)[0].tolist()
        before = [state.links[item * LINK_WIDTH + LINK_BEFORE] for item in found]
        assert before == [-1, *found[:-1]] if found else before == []
        cursor = state.ends[place * END_WIDTH + END_CURSOR]
        assert cursor == -1 or cursor in found


def random_step(data, problem: Problem, tables: Tables, state: State) -> None:
    """Move any item to any bin, or hand a role to any item of its group."""
    item = data.draw(st.integers(0, problem.num_items - 1))
    group = int(problem.group_of[item])
    holder = state.role_of[group]
    can_lead = holder >= 0 and state.bin_of[holder] >= 0 and state.bin_of[item] >= 0
    if can_lead and data.draw(st.booleans()):
        expected = total_penalty(tables, state)
        expected += moves.role_change(tables, state, group, item)
        moves.apply_role(tables, state, group, item)
    else:
        target = data.draw(st.integers(0, problem.num_bins - 1))
        assume(target != state.bin_of[item])
        expected = total_penalty(tables, state)
        expected += moves.leave_change(tables, state, item, target)
        expected += moves.arrive_change(tables, state, item, target)
        moves.apply_move(tables, state, item, target)
    assert total_penalty(tables, state) == pytest.approx(expected)


def total_penalty(tables: Tables, state: State) -> float:
    moves.refresh_all(tables, state)
    return float(sum(state.penalty))


@settings(max_examples=120)
@given(any_levels(), st.data())
def test_any_moves_keep_loads_penalties_and_lists(problem: Problem, data):
    assume(problem.num_items)
    tables, state = laid_out(problem, home_arrangement(problem))
    assert_consistent(problem, tables, state)
    for _ in range(data.draw(st.integers(1, 12))):
        random_step(data, problem, tables, state)

    assert_consistent(problem, tables, state)


@settings(max_examples=120)
@given(problems(has_transient=True), st.data())
def test_legal_moves_are_legal(problem: Problem, data):
    assume(problem.num_items)
    tables, state = laid_out(problem, home_arrangement(problem))
    for _ in range(data.draw(st.integers(1, 8))):
        item = data.draw(st.integers(0, problem.num_items - 1))
        target = data.draw(st.integers(0, problem.num_bins - 1))
        group = int(problem.group_of[item])
        crowded = num_crowded(problem, arrangement_of(state), group)
        if moves.may_move(tables, state, item, target):
            moves.apply_move(tables, state, item, target)
            after = arrangement_of(state)
            assert may_go(problem, item, target)
            assert num_crowded(problem, after, group) <= crowded
            assert_room(problem, after, target, item)
        if moves.may_take_role(tables, state, group, item):
            moves.apply_role(tables, state, group, item)

    at = arrangement_of(state)
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
    tables, _ = laid_out(problem, home_arrangement(problem))
    item = data.draw(st.integers(0, problem.num_items - 1))
    place = data.draw(st.integers(0, problem.num_bins - 1))
    at = home_arrangement(problem)
    at.bin_of[item] = place

    assert moves.price_at(tables, item, place) == move_costs(problem, at)[item]


@settings(max_examples=80)
@given(any_levels())
def test_stages_leave_a_consistent_state(problem: Problem):
    tables, state = laid_out(problem, home_arrangement(problem))
    order = list(range(problem.num_items))
    stages.place(tables, state, order)
    stages.release(tables, state)
    stages.respread(tables, state)
    assert_consistent(problem, tables, state)
    scratch = [[0] * problem.num_bins for _ in range(3)]
    stages.balance(tables, state, *scratch, 200, 16, 1)
    assert_consistent(problem, tables, state)
    stages.trim(tables, state, order)
    stages.return_roles(tables, state, problem.role_home.tolist())
    assert_consistent(problem, tables, state)


@settings(max_examples=80)
@given(problems())
def test_balancing_never_adds_to_the_penalty(problem: Problem):
    tables, state = laid_out(problem, home_arrangement(problem))
    before = total_penalty(tables, state)
    scratch = [[0] * problem.num_bins for _ in range(3)]

    stages.balance(tables, state, *scratch, 200, 16, 1)
    balanced = total_penalty(tables, state)
    stages.trim(tables, state, list(range(problem.num_items)))

    assert balanced <= before * (1 + 1e-9)
    assert total_penalty(tables, state) <= balanced * (1 + 1e-9)


@settings(max_examples=80)
@given(problems())
def test_a_chain_that_is_not_worth_it_leaves_no_trace(problem: Problem):
    tables, state = laid_out(problem, home_arrangement(problem))
    for place in range(problem.num_bins):
        before = [list(column) for column in state]
        if not choices.chain_best(tables, state, place, 16):
            assert [list(column) for column in state][:2] == before[:2]
        assert_consistent(problem, tables, state)


def test_random_numbers_are_the_same_everywhere():
    state = State(*[[] for _ in State._fields])._replace(noise=[3])

    drawn = [moves.draw(state, 100) for _ in range(8)]

    number, expected = 3, []
    for _ in range(8):
        number = (number * 1103515245 + 12345) % 2**31
        expected.append(number // 256 % 100)
    assert drawn == expected
    assert NOWHERE not in drawn
