"""Capacities of nodes that several bins share."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.core.bounds.infeasibility import prove_impossible
from placement.core.model.arrangement import home_arrangement
from placement.core.model.node_limits import node_loads
from placement.core.model.objective import evaluate
from placement.core.model.problem import (
    NO_LIMIT,
    Level,
    Limits,
    Problem,
)
from placement.core.model.search_budget import QUICK
from placement.core.model.solution import Status
from placement.core.solve import solve
from support.oracles import (
    everything,
    naive_over_in_nodes,
    naive_value,
    usable_capacity,
    usable_in_nodes,
)
from support.problems import make_problem, problems

MET = {Status.OPTIMAL, Status.FEASIBLE}


def host_level(problem, node_of_bin, capacity):
    """Return hosts with capacities alone, and what is fixed on their bins."""
    node = np.array(node_of_bin, dtype=np.int32)
    shape = (int(node.max(initial=0)) + 1, problem.num_resources)
    fixed = np.zeros(shape, dtype=np.int64)
    np.add.at(fixed, node[node >= 0], problem.bins.fixed[node >= 0])
    return Level(
        name="host",
        node_of_bin=node,
        num_nodes=shape[0],
        limits=Limits(
            fixed=fixed,
            capacity=np.broadcast_to(np.array(capacity, np.int64), shape).copy(),
            lower=np.zeros(shape, dtype=np.int64),
            upper=np.full(shape, NO_LIMIT),
            target=np.zeros(shape),
        ),
    )


@st.composite
def hosted(draw, **how) -> Problem:
    """Draw a problem whose bins stand on hosts with capacities."""
    problem = draw(problems(has_extra=False, **how))
    node = [draw(st.integers(-1, 1)) for _ in range(problem.num_bins)]
    total = int(problem.weight.sum() + problem.bins.fixed.sum()) + 1
    most = draw(st.sampled_from([NO_LIMIT, total // 3, total // 2, total]))
    levels = (*problem.levels, host_level(problem, node, most))
    return replace(problem, levels=levels)


def possible(problem):
    """Return how many arrangements keep all hard rules, those of nodes included."""
    capacity = usable_capacity(problem)
    anything = np.full_like(capacity, NO_LIMIT)
    found = everything(problem).within(-anything, anything, capacity).loads
    kept = np.ones(len(found), dtype=np.bool_)
    brought = found - problem.bins.fixed
    for level in problem.levels[1:]:
        if level.limits is None:
            continue
        most = np.array(usable_in_nodes(problem, level))
        for node in range(level.num_nodes):
            inside = level.node_of_bin == node
            load = level.limits.fixed[node] + brought[:, inside].sum(axis=1)
            kept &= (load <= most[node]).all(axis=1)
    return int(kept.sum())


@settings(max_examples=100)
@given(hosted())
def test_what_is_over_is_counted_as_item_by_item(problem):
    answers = (home_arrangement(problem), solve(problem, effort=QUICK).best)
    for at in answers:
        found = [int(nodes.is_over.sum()) for nodes in node_loads(problem, at)]
        assert found == list(naive_over_in_nodes(problem, at))
        worse = evaluate(problem, at).over_capacity
        assert (worse == 0) == (naive_value(problem, at).over_capacity == 0)


@settings(max_examples=150)
@given(hosted())
def test_nothing_that_is_possible_is_disproved(problem):
    assert not prove_impossible(problem) or not possible(problem)


@settings(max_examples=80)
@given(hosted())
def test_an_answer_breaks_no_capacity_that_held(problem):
    solution = solve(problem, effort=QUICK)

    assert evaluate(problem, solution.best) <= evaluate(
        problem, home_arrangement(problem)
    )
    if solution.status in MET:
        assert not any(naive_over_in_nodes(problem, solution.best))
    else:
        assert solution.shortfalls
    if solution.status == Status.INFEASIBLE:
        assert not possible(problem)


@settings(max_examples=40)
@given(hosted(is_plain=True))
def test_small_problems_are_met_where_that_is_possible(problem):
    assert (solve(problem).status in MET) == (possible(problem) > 0)


def test_an_item_leaves_a_host_that_is_over():
    # Bins 0 and 1 stand on one host: 12 where 8 are allowed. Bin 2 has one of its own.
    problem = make_problem(homes=[[0], [0], [1]], num_bins=3, weight=4, capacity=20)
    problem = replace(
        problem,
        levels=(*problem.levels, host_level(problem, [0, 0, 1], [[8], [8]])),
    )

    solution = solve(problem)

    assert solution.status in MET
    assert evaluate(problem, solution.best).moves == 1
    assert sorted(solution.best.bin_of.tolist()).count(2) == 1


def test_of_two_hosts_what_is_short_is_said():
    problem = make_problem(homes=[[0], [0], [1]], num_bins=3, weight=4, capacity=20)
    level = host_level(problem, [0, 0, 1], [[5], [4]])
    problem = replace(problem, levels=(*problem.levels, level))

    solution = solve(problem)

    assert solution.status == Status.INFEASIBLE
    first = solution.shortfalls[0]
    assert (first.have, first.need, first.is_proven) == (9, 12, True)


def test_an_item_heavier_than_any_host_has_no_room():
    problem = make_problem(
        homes=[[0]], num_bins=2, weight=7, capacity=20, movability=[1]
    )
    level = host_level(problem, [0, 1], [[20], [6]])
    problem = replace(problem, levels=(*problem.levels, level))

    [proven] = [one for one in prove_impossible(problem) if one.what == "room"]

    assert (proven.have, proven.need) == (6, 7)


def test_what_left_a_host_fills_it_until_all_is_copied():
    # One of 4 must leave bin 0 for the other host; 4 of another comes for it.
    problem = make_problem(
        homes=[[0], [2]],
        num_bins=3,
        weight=4,
        capacity=20,
        movability=[1, 0],
        is_transient=[True],
    )
    level = host_level(problem, [0, 0, 1], [[8], [6]])
    problem = replace(problem, levels=(*problem.levels, level))

    solution = solve(problem)

    assert solution.status in MET
    assert solution.best.bin_of.tolist() == [1, 2]
