"""A problem without what stays, against the whole of it."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from placement.core.model.arrangement import Arrangement, loads
from placement.core.model.node_limits import node_loads
from placement.core.model.objective import evaluate
from placement.core.model.problem import Movability, Problem
from placement.core.model.search_budget import QUICK
from placement.core.presolve.fix_immovable import Moving
from placement.core.search.tables.collection_counts import (
    count_collection_roles,
    count_collections,
)
from placement.core.solve import solve
from support.problems import make_problem, problems, zoned

CASES = problems(max_bins=5, max_groups=8, has_loaded_racks=True, has_collections=True)
"""Most of them too small for their own search; some groups have nothing to decide."""


@pytest.fixture(autouse=True)
def eager(monkeypatch):
    """Leave out whatever can be left out."""
    monkeypatch.setattr("placement.core.presolve.fix_immovable.WORTH_IT", 0.99)


def drawn_arrangement(data, part: Moving) -> Arrangement:
    """Somewhere for everything that may move, sense or none."""
    small = part.problem
    bins = st.integers(0, small.num_bins - 1)
    bin_of = small.home.copy()
    for item in np.nonzero(small.movability != Movability.NEVER)[0]:
        bin_of[item] = data.draw(bins)
    role_of = small.role_home.copy()
    for group in np.nonzero(small.is_role_movable & (role_of >= 0))[0]:
        first, end = small.group_start[group : group + 2].tolist()
        role_of[group] = data.draw(st.integers(first, end - 1))
    return Arrangement(bin_of, role_of)


@settings(max_examples=200)
@given(CASES | zoned(max_crossing=3), st.data())
def test_bins_carry_the_same_wherever_things_go(whole: Problem, data):
    part = Moving.of(whole)
    assume(not part.is_all)

    at = drawn_arrangement(data, part)

    everywhere = part.arranged(at)
    assert np.array_equal(loads(part.problem, at), loads(whole, everywhere))
    for mine, theirs in zip(
        node_loads(part.problem, at), node_loads(whole, everywhere), strict=True
    ):
        assert np.array_equal(mine.load, theirs.load)
    small, large = evaluate(part.problem, at), evaluate(whole, everywhere)
    assert small.key[1:] == large.key[1:]
    assert small.unmet == large.unmet


@settings(max_examples=200)
@given(CASES, st.data())
def test_collections_are_counted_as_in_the_whole(whole: Problem, data):
    part = Moving.of(whole)
    assume(not part.is_all)
    at = drawn_arrangement(data, part)

    for count in (count_collections, count_collection_roles):
        mine, theirs = (
            np.zeros((len(whole.collection_cap) * whole.num_bins + 1) // 2, np.int64)
            for _ in range(2)
        )
        count(part.problem, at, mine)
        count(whole, part.arranged(at), theirs)

        assert np.array_equal(mine, theirs)


@settings(max_examples=100)
@given(CASES)
def test_what_stays_stays_and_the_answer_is_as_good(whole: Problem):
    part = Moving.of(whole)
    assume(not part.is_all)

    found = solve(whole, effort=QUICK)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("placement.core.presolve.fix_immovable.WORTH_IT", -1.0)
        full = solve(whole, effort=QUICK)

    left_out = np.ones(whole.num_items, dtype=np.bool_)
    left_out[part.items] = False
    assert np.array_equal(found.best.bin_of[left_out], whole.home[left_out])
    hard = [evaluate(whole, answer.best).key[0] for answer in (found, full)]
    assert hard[0] <= hard[1]


def test_a_problem_of_which_most_may_move_is_taken_whole(monkeypatch):
    monkeypatch.setattr("placement.core.presolve.fix_immovable.WORTH_IT", 0.5)
    problem = make_problem([[0, 1], [1, 2]], num_bins=3)

    assert Moving.of(problem).problem is problem
