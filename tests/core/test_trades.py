"""Trades of roles against all that there are, and a cluster that needs them."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings

from core.test_kernels import (
    any_levels,
    assert_consistent,
    column,
    laid_out,
    total_penalty,
)
from placement.core.model.arrangement import Arrangement, home_arrangement
from placement.core.model.objective import evaluate, misplaced_roles
from placement.core.model.problem import Problem
from placement.core.search.kernels import access, layout, relocate, role_swaps, stages
from placement.core.search.kernels.state import arrangement_of
from placement.draft.draft import Settings
from placement.model.load import RESOURCES
from placement.operations.rebalance import Rebalance
from placement.planning.plan import plan
from placement.synthetic import SIZES, make_instance
from support.profile import sampled


def naive_trades(problem: Problem, at: Arrangement, place: int):
    """Yield the items that would take the two roles, for each trade of a bin."""
    roles = np.nonzero(problem.is_role_movable & (at.role_of >= 0))[0].tolist()
    held = {group: int(at.bin_of[at.role_of[group]]) for group in roles}
    items = {
        (group, int(at.bin_of[item])): item
        for group in roles
        for item in np.nonzero(problem.group_of == group)[0].tolist()
    }
    for given_, got in product(roles, roles):
        other = held[got]
        if held[given_] == place != other and other >= 0:
            pair = items.get((given_, other)), items.get((got, place))
            if None not in pair and problem.may_hold_role[[place, other]].all():
                yield pair


def traded(problem: Problem, at: Arrangement, pair) -> Arrangement:
    role_of = at.role_of.copy()
    for item in pair:
        role_of[problem.group_of[item]] = item
    return Arrangement(at.bin_of, role_of)


def filled(problem: Problem, memory) -> np.ndarray:
    """Return the load of each row that a capacity limits: the peak, or that of now."""
    rows = memory.ints[layout.NUM_NODES] * problem.num_resources
    load = np.array(column(memory, "LOADS", 2 * rows)).reshape(-1, 2)
    is_peak = np.tile(problem.is_transient, memory.ints[layout.NUM_NODES])
    return np.where(is_peak, load[:, layout.LOAD_PEAK], load[:, layout.LOAD_NOW])


def capacities(problem: Problem, memory) -> np.ndarray:
    rows = memory.ints[layout.NUM_NODES] * problem.num_resources
    limits = np.array(column(memory, "LIMITS", layout.ROW_WIDTH * rows))
    return limits.reshape(-1, layout.ROW_WIDTH)[:, layout.ROW_CAPACITY]


@settings(max_examples=200)
@given(any_levels())
def test_the_best_trade_of_a_bin_is_made(problem: Problem):
    memory = laid_out(problem, home_arrangement(problem))
    memory.ints[layout.MINDS_SPREAD] = 0
    relocate.unstick(memory)
    place = relocate.worst_bin(memory)
    assume(place >= 0)
    at, before = arrangement_of(memory, problem), total_penalty(memory)
    was, most = filled(problem, memory), capacities(problem, memory)
    best = role_swaps.LEAST_GAIN * access.penalty_of(memory, place)
    is_any = False
    for pair in naive_trades(problem, at, place):
        after = laid_out(problem, traded(problem, at, pair))
        load, gain = filled(problem, after), before - total_penalty(after)
        if not ((load > most) & (load > was)).any() and gain > best + 1e-12 * before:
            best, is_any = gain, True

    is_made = role_swaps.trade_roles_of(memory, place, problem.num_items)

    assert_consistent(problem, memory)
    assert (arrangement_of(memory, problem).bin_of == at.bin_of).all()
    assert is_made == is_any
    if is_made:
        assert before - total_penalty(memory) == pytest.approx(best)


@settings(max_examples=100)
@given(any_levels())
def test_trades_never_add_to_the_penalty_nor_break_a_rule(problem: Problem):
    memory = laid_out(problem, home_arrangement(problem))
    before, at = total_penalty(memory), arrangement_of(memory, problem)

    steps = stages.trade_roles(memory, 20, 64)

    assert_consistent(problem, memory)
    after = arrangement_of(memory, problem)
    assert (after.bin_of == at.bin_of).all()
    assert evaluate(problem, after).key[0] <= evaluate(problem, at).key[0]
    assert not misplaced_roles(problem, after).any()
    assert (total_penalty(memory) < before) == (steps > 0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", sampled([2, 3], 1))
def test_racks_of_other_sizes_are_balanced_by_trades(seed):
    # Each rack holds all partitions once: what little a small one may lead must have
    # many readers, or its brokers would be busy and yet send too little.
    state = make_instance("d", SIZES["S"], seed).state
    bands = dict.fromkeys(RESOURCES, 0.05)

    found = plan(state, Rebalance(), Settings(bands=bands))

    assert found.solution.certificate.deviation.value == 0
