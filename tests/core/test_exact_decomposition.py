"""Racks that nothing moves between, each solved by itself, against brute force."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.core.bounds.cover_bounds import aimed_bands, reached_bands
from placement.core.exact.answer import proven_answer
from placement.core.exact.decomposition.fixed_role_search import FixedRoles
from placement.core.exact.decomposition.nearest_nodes import nearest_by_node
from placement.core.exact.decomposition.node_decomposition import Decomposition
from placement.core.exact.improvement import neighbourhood_search
from placement.core.exact.improvement.exact_step import ExactStep
from placement.core.exact.improvement.improve import improve
from placement.core.exact.separable_levels import separable_nodes
from placement.core.exact.work_limit import ExactWork
from placement.core.model.arrangement import home_arrangement, loads
from placement.core.model.deadline import Deadline
from placement.core.model.objective import evaluate, misplaced_roles
from placement.core.model.search_budget import NORMAL, QUICK
from placement.core.model.solution import Bounded, Status
from placement.core.solve import solve
from support.every_way import worst_of
from support.oracles import illegal_moves
from support.problems import make_problem
from support.racked import RACKS, all_legal, racked, skewed, within

WORK = (20.0, lambda: None)


@pytest.mark.slow
@settings(max_examples=60)
@given(racked(), st.sampled_from([0.0, 1e-6]))
def test_what_racks_cost_at_least_is_no_more_than_brute_force_finds(problem, closed):
    nodes = separable_nodes(problem)
    at, value = worst_of(all_legal(problem))
    bands = reached_bands(problem, at)

    found = Decomposition(problem, nodes, (at, at), bands, closed)
    found.searched(WORK)
    first = dict(found.proven(WORK).costs)
    again = dict(found.searched_again(WORK, seed=2).costs)

    least = min(value.cost for _, value in within(problem, bands))
    assert sum(first.values()) <= sum(again.values()) <= least <= value.cost
    assert found.gap() >= 0


@pytest.mark.slow
@settings(max_examples=60)
@given(racked())
def test_how_near_racks_come_at_best_is_no_more_than_brute_force_finds(problem):
    known = all_legal(problem)
    at, _ = worst_of(known)

    found = nearest_by_node(problem, separable_nodes(problem), at, WORK)

    nearest = min(value.deviation for _, value in known)
    assert found.deviation <= float(nearest) + 1e-9


@pytest.mark.slow
@settings(max_examples=60)
@given(racked())
def test_equals_brute_force_in_every_level(problem):
    known = all_legal(problem)

    found = improve(problem, worst_of(known)[0], known=0, work=20)

    assert not illegal_moves(problem, found.at)
    assert found.value == evaluate(problem, found.at)
    nearest = min(value.deviation for _, value in known)
    assert float(found.value.deviation) <= float(nearest) * (1 + 1e-5) + 1e-5
    if nearest == 0:
        best = min(
            (v.cost, v.moves, v.role_changes) for _, v in known if not v.deviation
        )
        value = found.value
        assert (value.cost, value.moves, value.role_changes) == best
        assert found.cost_bound == best[0]


def test_five_racks_of_three_items_are_not_apart():
    problem = make_problem([[0, 1, 2]], num_bins=5, racks=[0, 1, 2, 3, 4])

    assert separable_nodes(problem) == []


def test_three_racks_of_three_items_are_apart():
    problem = make_problem([[0, 1, 2]], num_bins=6, racks=[0, 1, 2, 0, 1, 2])

    nodes = separable_nodes(problem)

    assert [node.bins for node in nodes] == [(0, 3), (1, 4), (2, 5)]
    assert all(node.least.tolist() == [1] for node in nodes)


def crowded():
    """A topic whose items are the cheapest to move, and may not all go to one bin."""
    return make_problem(
        [[0], [0], [0], [0], [0], [0]],
        num_bins=2,
        weight=[2, 2, 2, 2, 2, 2],
        cost=[1, 1, 1, 9, 9, 9],
        lower=6,
        upper=6,
        target=6.0,
        collection_of=[0, 0, 0, 1, 1, 1],
        collection_cap=[2, 2],
    )


def test_a_bound_for_spread_collections_holds_for_these_alone():
    problem = crowded()

    solution = solve(problem, effort=NORMAL)

    cost = solution.certificate.cost
    assert (cost.value, cost.lower_bound) == (11, 3)
    assert (cost.solver_bound, cost.is_spread) == (11, True)
    assert solution.status is Status.OPTIMAL


def test_a_bound_on_spread_answers_says_nothing_of_one_below_it():
    cost = Bounded(value=10, lower_bound=3)

    assert cost.with_solver(11, "CP-SAT", is_spread=True).solver_bound is None
    assert cost.with_solver(10, "CP-SAT", is_spread=True).is_least


@pytest.mark.slow
@settings(max_examples=40)
@given(racked())
def test_places_and_roles_in_turns_stay_within_the_bands(problem):
    at, value = worst_of(all_legal(problem))
    bands = reached_bands(problem, at)
    nodes = separable_nodes(problem)

    search = FixedRoles(problem, nodes, bands, at, 1e-6)
    found = search.improved(at, (2.0, WORK[1]))

    load = loads(problem, found)
    assert (load >= bands.lower).all()
    assert (load <= bands.upper).all()
    assert evaluate(problem, found).cost <= value.cost
    assert not illegal_moves(problem, found)
    assert not misplaced_roles(problem, found).any()


def test_an_answer_in_place_costs_nothing_in_any_rack():
    problem = make_problem(
        [[0, 2], [1, 3]], num_bins=4, racks=RACKS, lower=1, upper=1, target=1.0
    )
    at = home_arrangement(problem)

    nodes = Decomposition(
        problem, separable_nodes(problem), (at, at), aimed_bands(problem)
    )
    found = nodes.searched(WORK)

    assert sum(found.costs.values()) == 0
    assert np.array_equal(sorted(found.places), [(0, 0), (0, 2), (1, 1), (1, 3)])


def test_racks_too_large_for_a_model_are_solved_in_parts(monkeypatch):
    sought = []

    def improved(problem, at, **_):
        sought.append(problem.num_bins)
        return at, 0.0

    monkeypatch.setattr(neighbourhood_search, "improve_by_neighbourhoods", improved)
    problem = skewed([0, 1] * 3)
    effort = replace(NORMAL, exact_cells=1)
    at = solve(problem, effort=QUICK).best
    known = proven_answer(problem, at, evaluate(problem, at), (None, effort))

    # As if next to nothing were proven of it.
    step = ExactStep(problem, effort, 1, Deadline(), ExactWork.of(effort))
    step.asked(known._replace(cost=1, cost_proof=None))

    assert separable_nodes(problem)
    assert sought == [6]
