"""Bands that are out of reach: the furthest bin comes nearer, and nothing breaks."""

import numpy as np
import pytest
from hypothesis import assume, event, given, settings

from placement.core.model.arrangement import Arrangement, home_arrangement
from placement.core.model.deadline import Deadline
from placement.core.model.objective import Value, evaluate
from placement.core.model.problem import Problem
from placement.core.model.search_budget import NORMAL, QUICK, Effort
from placement.core.search.minimax import Narrower
from placement.draft.draft import Settings
from placement.operations.rebalance import Rebalance
from placement.planning.plan import plan
from placement.synthetic import Size, make_instance
from support.oracles import everything, illegal_moves, naive_value
from support.problems import make_problem, problems
from support.profile import sampled


def narrower(problem: Problem, effort: Effort = NORMAL) -> Narrower:
    return Narrower(problem, effort, 1, Deadline())


def searched(problem: Problem) -> tuple[Arrangement, Value]:
    """Return what the search alone makes of a problem."""
    at = home_arrangement(problem)
    return narrower(problem).improve(at, evaluate(problem, at))


@settings(max_examples=200)
@given(problems())
def test_what_is_narrowed_is_sound_and_no_further_off(problem: Problem):
    at, before = searched(problem)
    assume(before.deviation > 0 and not before.key[0])
    assume(len(everything(problem).loads))

    found, value = narrower(problem).narrow(at, before)

    event("nearer" if value < before else "as it was")
    assert not illegal_moves(problem, found)
    assert value <= before
    assert value.key[0] == 0
    told = naive_value(problem, found)
    assert float(told.deviation) == pytest.approx(value.deviation, abs=1e-9)


def test_the_furthest_comes_nearer_at_the_price_of_others():
    # Bin 0 is furthest off; what leaves it takes the others out of their bands.
    problem = make_problem(
        [[0], [0], [0], [1], [2]],
        num_bins=3,
        weight=[40, 30, 30, 55, 55],
        target=50.0,
        lower=[50] * 3,
        upper=[60] * 3,
    )
    at = home_arrangement(problem)

    _, value = narrower(problem).narrow(at, evaluate(problem, at))

    least = min(
        max(0.0, float(np.maximum(load - 60, 50 - load).max())) / 50
        for load in everything(problem).loads
    )
    assert value.deviation == pytest.approx(least)


def test_nothing_to_narrow_is_left_as_it_is():
    problem = make_problem(
        [[0], [1]],
        num_bins=2,
        weight=[90, 1],
        target=20.0,
        lower=[0] * 2,
        upper=[9] * 2,
    )
    at = home_arrangement(problem)
    value = evaluate(problem, at)

    assert narrower(problem).narrow(at, value) == (at, value)


@pytest.mark.slow
@pytest.mark.parametrize("effort", sampled(["quick", "normal"]))
def test_racks_that_keep_bands_out_of_reach_are_met_as_near_as_search_can(
    effort, monkeypatch
):
    # Three racks of which one has half the brokers, and all hold each partition once.
    instance = make_instance("e", Size(30, 3, 9_000, 64), 1, 0.05)
    assert isinstance(instance.operation, Rebalance)
    options = Settings(effort=effort)
    found = plan(instance.state, instance.operation, options).solution.certificate

    monkeypatch.setattr(Narrower, "narrow", lambda _self, at, value: (at, value))
    plain = plan(instance.state, instance.operation, options).solution.certificate

    assert 0 < found.deviation.value < 0.95 * plain.deviation.value


def test_quick_effort_tries_too():
    assert 0 < QUICK.narrowings < NORMAL.narrowings
