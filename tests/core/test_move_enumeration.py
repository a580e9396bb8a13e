"""Enumeration of few moves, and starts from the relaxation, against brute force."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from placement.core.bounds.cover_bounds import Bands
from placement.core.exact.one_node import move_enumeration
from placement.core.exact.one_node.move_enumeration import enumerate_moves
from placement.core.exact.one_node.node_relaxation import (
    Relaxed,
    solve_relaxation,
)
from placement.core.exact.one_node.node_rows import NodeRows, Row
from placement.core.exact.one_node.node_start import start_of
from placement.core.model.problem import NOWHERE, Movability
from support.crowded import all_bins, crowd, of_crowd
from support.problems import make_problem


@st.composite
def crowds_with_more_rows(draw):
    """Rows of two resources in three bins, and every solution of them."""
    count = draw(st.integers(2, 6))
    sizes = st.lists(st.integers(0, 30), min_size=count, max_size=count)
    homes = [draw(st.sampled_from([0, 0, 0, 1, 1, 2, NOWHERE])) for _ in range(count)]
    stays = st.sampled_from([*[Movability.MAY] * 5, Movability.NEVER])
    problem = make_problem(
        [[home] for home in homes],
        num_bins=3,
        weight=draw(sizes),
        cost=draw(sizes),
        movability=[
            Movability.MAY if home == NOWHERE else draw(stays) for home in homes
        ],
        lower=0,
        upper=draw(st.integers(20, 90)),
        target=30.0,
    )
    bands = Bands(problem.bins.lower, problem.bins.upper)
    rows = NodeRows(problem, bands, all_bins(problem), None)
    for _ in range(draw(st.integers(0, 3))):
        own = np.arange(len(rows))[rows.bins == draw(st.integers(0, 2))]
        weights = np.array([draw(st.integers(-9, 9)) for _ in own], dtype=np.int64)
        limit = draw(st.integers(-10, 25))
        rows.rows.append(Row(own, weights, limit, None))
    return rows, every_solution(rows)


def every_solution(rows):
    own = [np.nonzero(rows.groups == group)[0] for group in np.unique(rows.groups)]
    found = []
    for chosen in itertools.product(*own):
        columns = np.zeros(len(rows), dtype=np.bool_)
        columns[list(chosen)] = True
        if rows.is_solution(columns):
            found.append(columns)
    return found


def least_of(rows, ways):
    return min(rows.cost_of(way) for way in ways)


@pytest.mark.not_quick
@settings(max_examples=60)
@given(crowd(), st.data())
def test_the_enumeration_finds_the_least_cost_from_any_solution(problem, data):
    rows, _, ways = of_crowd(problem)
    known = data.draw(st.sampled_from(ways))

    bound = data.draw(st.integers(0, least_of(rows, ways)))

    found = enumerate_moves(rows, solve_relaxation(rows), known, 20.0, bound)

    assert found.is_best
    assert rows.is_solution(found.columns)
    assert rows.cost_of(found.columns) == least_of(rows, ways)


@settings(max_examples=150)
@given(crowds_with_more_rows(), st.data())
def test_the_enumeration_is_exact_at_any_prices(drawn, data):
    rows, ways = drawn
    assume(ways)
    price = st.sampled_from([0.0, 0.0, 0.25, 1.0, 3.0])
    prices = np.array([data.draw(price) for _ in rows.rows])
    known = data.draw(st.sampled_from(ways))

    found = enumerate_moves(rows, Relaxed(known * 1.0, prices), known, 20.0)

    assert rows.is_solution(found.columns)
    assert rows.cost_of(found.columns) <= rows.cost_of(known)
    if found.is_best:
        assert rows.cost_of(found.columns) == least_of(rows, ways)


@settings(max_examples=40)
@given(crowd(), st.integers(1, 7))
def test_an_enumeration_in_small_batches_finds_the_same_cost(problem, size):
    rows, columns, ways = of_crowd(problem)
    relaxed = solve_relaxation(rows)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(move_enumeration, "JOINED_AT_ONCE", size)
        patch.setattr(move_enumeration, "TRIED_AT_ONCE", size)
        found = enumerate_moves(rows, relaxed, columns, 20.0)

    assert found.is_best
    assert rows.cost_of(found.columns) == least_of(rows, ways)


@settings(max_examples=40)
@given(crowds_with_more_rows(), st.sampled_from([0.0, 1e-7, 1e-6, 1e-5]))
def test_an_enumeration_of_little_work_ends_within_it_and_claims_no_more(drawn, work):
    rows, ways = drawn
    assume(ways)
    relaxed = solve_relaxation(rows)
    assume(relaxed is not None)

    first, second = (enumerate_moves(rows, relaxed, ways[0], work) for _ in range(2))

    assert first.spent == second.spent <= work
    assert np.array_equal(first.columns, second.columns)
    assert rows.is_solution(first.columns)
    if first.is_best:
        assert rows.cost_of(first.columns) == least_of(rows, ways)


@pytest.mark.parametrize(("name", "most"), [("MOST_HALVES", 3), ("MOST_CHOICES", 0)])
def test_an_enumeration_that_is_too_large_claims_nothing(monkeypatch, name, most):
    problem = make_problem(
        [[0]] * 6, num_bins=2, weight=1, cost=[1, 2, 3, 4, 5, 6], upper=3, target=3.0
    )
    bands = Bands(problem.bins.lower, problem.bins.upper)
    rows = NodeRows(problem, bands, all_bins(problem), None)
    known = (rows.bins == 1) == (rows.groups > 2)
    assert rows.is_solution(known)
    monkeypatch.setattr(move_enumeration, name, most)

    found = enumerate_moves(rows, solve_relaxation(rows), known, 20.0)

    assert not found.is_best
    assert rows.cost_of(found.columns) <= rows.cost_of(known)


def test_many_moves_are_not_enumerated(monkeypatch):
    problem = make_problem(
        [[0]] * 6, num_bins=2, weight=1, cost=1, lower=3, upper=3, target=3.0
    )
    bands = Bands(problem.bins.lower, problem.bins.upper)
    rows = NodeRows(problem, bands, all_bins(problem), None)
    relaxed, known = solve_relaxation(rows), rows.bins == np.arange(len(rows)) // 2 % 2
    assert rows.is_solution(known)
    monkeypatch.setattr(move_enumeration, "MOST_MOVES", 2)

    found = enumerate_moves(rows, relaxed, known, 20.0)

    # Two moves are the least that a cheaper solution could have.
    assert rows.cost_of(found.columns) == 3


@settings(max_examples=60)
@given(crowds_with_more_rows())
def test_a_start_keeps_every_row(drawn):
    rows, ways = drawn
    relaxed = solve_relaxation(rows)
    assume(relaxed is not None)

    start = start_of(rows, relaxed)

    if start is not None:
        assert any(np.array_equal(start, way) for way in ways)


def test_a_start_from_the_relaxation_has_slack_in_the_other_rows():
    # Bin 0 has to lose 20: one of the two heavy items, and bin 2 has much room.
    problem = make_problem(
        [[0], [0], [0], [1], [2]],
        num_bins=3,
        weight=[20, 20, 20, 30, 10],
        cost=[20, 20, 20, 30, 10],
        lower=0,
        upper=[40, 60, 200],
        target=33.0,
    )
    bands = Bands(problem.bins.lower, problem.bins.upper)
    rows = NodeRows(problem, bands, all_bins(problem), None)

    start = start_of(rows, solve_relaxation(rows))

    assert rows.cost_of(start) == 20
    assert not start[(rows.bins == 1) & (rows.groups < 3)].any()
