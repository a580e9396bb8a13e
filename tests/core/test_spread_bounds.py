"""Bounds of answers that keep the soft caps on collections, against every such one."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from placement.core.bounds.cover_bounds import reached_bands
from placement.core.exact.answer import proven_answer
from placement.core.exact.improvement.cheaper_answer import CheaperAnswer
from placement.core.exact.improvement.improved_answer import improved_from
from placement.core.exact.improvement.objective_levels import in_every_level
from placement.core.exact.milp.spread_check import crowds
from placement.core.exact.model_scaling import fits_bands
from placement.core.exact.time_limits import no_deadline
from placement.core.exact.work_limit import ExactWork
from placement.core.model.arrangement import Arrangement, home_arrangement
from placement.core.model.deadline import Deadline
from placement.core.model.objective import evaluate
from placement.core.model.search_budget import EXACT
from support.every_way import is_enumerable, is_within, legal
from support.problems import make_problem, problems

SMALL = problems(is_plain=True, has_collections=True, max_bins=3, max_groups=4)
ENOUGH = (2.0, no_deadline, 0.0)


def one_of(data, problem):
    """All legal arrangements with their worth, and one of them."""
    assume(fits_bands(problem, 10_000) and is_enumerable(problem))
    known = list(legal(problem))
    assume(known)
    at, _ = known[data.draw(st.integers(0, len(known) - 1))]
    return known, at


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(SMALL, st.data())
def test_no_spread_answer_in_the_bands_is_below_the_bound(problem, data):
    known, at = one_of(data, problem)
    bands, home = reached_bands(problem, at), home_arrangement(problem)

    found = CheaperAnswer(problem, improved_from(problem, at), 0, ENOUGH, [])
    bound = found.improved()

    others = [
        value.cost
        for one, value in known
        if is_within(problem, one, bands)
        and not (bound.is_spread and crowds(problem, home, one))
    ]
    assert (bound.cost_bound or 0) <= min(others, default=np.inf)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(SMALL, st.data())
def test_no_spread_answer_as_near_is_below_the_bound(problem, data):
    known, at = one_of(data, problem)
    value, home = evaluate(problem, at), home_arrangement(problem)
    assume(value.is_outside)
    answer = proven_answer(problem, at, value, (None, EXACT))

    found = in_every_level(problem, answer, EXACT, ExactWork.of(EXACT), Deadline())

    reached = found.value.key[:3]
    others = [
        value.cost
        for one, value in known
        if evaluate(problem, one).key[:3] <= reached
        and not (found.said.is_spread and crowds(problem, home, one))
    ]
    assert (found.said.cost or 0) <= min(others, default=np.inf)


def heaped(num_bins=3, lower=0):
    """Three items of one topic on one bin of a band for two, and bins besides."""
    return make_problem(
        [[0], [0], [0]],
        num_bins=num_bins,
        cost=[1, 2, 3],
        lower=lower,
        upper=2,
        target=2.0,
        collection_of=[0, 0, 0],
        collection_cap=[1],
    )


def test_counts_of_an_answer_over_the_soft_caps_prove_nothing_of_others():
    problem = heaped()
    # Two at a bin that had none: over the cap, and fewer than allowed at home.
    at = Arrangement(np.array([2, 1, 1], dtype=np.int32), problem.role_home.copy())
    known = improved_from(problem, at)
    assert known.spread_from is at

    found = CheaperAnswer(problem, known, 0, ENOUGH, []).improved()

    # The cheapest item alone may leave: two stay, as is allowed where three were.
    assert (found.cost_bound or 0) <= 1


@pytest.mark.parametrize("places", [[2, 1, 0], [2, 1, 1]])
def test_counts_of_an_answer_out_of_band_prove_nothing_of_others(places):
    # Three items cannot fill two bins with two each and leave the rest of one.
    problem = heaped(num_bins=3, lower=[0, 0, 2])
    home, roles = home_arrangement(problem), problem.role_home.copy()
    at = Arrangement(np.array(places, dtype=np.int32), roles)
    answer = proven_answer(problem, at, evaluate(problem, at), (None, EXACT))
    assert answer.value.is_outside

    found = in_every_level(problem, answer, EXACT, ExactWork.of(EXACT), Deadline())

    others = [
        evaluate(problem, one)
        for one, _ in legal(problem)
        if not crowds(problem, home, one)
    ]
    best = min(others, key=lambda value: value.key)
    assert (found.said.cost or 0) <= best.cost
    if not crowds(problem, home, at):
        assert found.value.key == best.key
        assert found.said.cost == best.cost
