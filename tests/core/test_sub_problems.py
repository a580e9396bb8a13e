"""A few bins solved exactly, against all arrangements of small problems."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.core.exact.milp.large_neighbourhood import (
    fits_sub_problems,
    improve_by_parts,
)
from placement.core.model.arrangement import Arrangement, home_arrangement, settled
from placement.core.model.objective import evaluate
from placement.core.model.problem import Movability, Problem
from placement.core.model.search_budget import QUICK
from placement.core.solve import solve
from support.oracles import illegal_moves, naive_value
from support.problems import make_problem, problems

MAX_NODES = 500


def improved(problem: Problem, at: Arrangement) -> Arrangement:
    known = (at, evaluate(problem, at))
    found, value = improve_by_parts(problem, known, most=4, max_nodes=MAX_NODES)
    assert value == evaluate(problem, found)
    return found


def key(problem: Problem, at: Arrangement) -> tuple[float, ...]:
    """Order arrangements as the core does, counted item by item."""
    value = naive_value(problem, at)
    broken = value.unmet + value.broken_groups + value.over_capacity
    distance = (round(float(value.deviation), 9), round(float(value.outside), 9))
    return (broken, *distance, value.cost)


@settings(max_examples=150)
@given(problems(is_plain=True, max_bins=6), st.booleans())
def test_parts_make_nothing_worse_and_nothing_illegal(problem: Problem, starts: bool):
    assert fits_sub_problems(problem) == (problem.num_bins > 1)
    at = home_arrangement(problem) if starts else solve(problem, effort=QUICK).best
    if not fits_sub_problems(problem):
        return

    found = improved(problem, at)

    assert key(problem, found) <= key(problem, at)
    assert illegal_moves(problem, found) == [] or illegal_moves(problem, at) != []
    same = settled(problem, found)
    assert np.array_equal(same.bin_of, found.bin_of)


def test_several_items_of_full_bins_change_places_at_once():
    # 9 + 5 and 6 + 4 + 4: no single move or exchange of two leaves both full.
    problem = make_problem(
        [[0], [0], [1], [1], [1]],
        num_bins=2,
        weight=[9, 5, 7, 4, 4],
        cost=[9, 5, 7, 4, 4],
        target=14.5,
        lower=[14, 14],
        upper=[15, 15],
    )
    wrong = Arrangement(
        np.array([1, 0, 0, 0, 1], dtype=np.int32), problem.role_home.copy()
    )
    # 9 + 4 and 5 + 7 + 4 are out of band; home is within.
    assert evaluate(problem, wrong).deviation > 0

    found = improved(problem, wrong)

    assert evaluate(problem, found).cost == 0
    assert found.bin_of.tolist() == problem.home.tolist()


@pytest.mark.parametrize(
    "movability", [Movability.NEVER, Movability.MAY], ids=["fixed", "free"]
)
def test_what_may_not_move_stays(movability: Movability):
    problem = make_problem(
        [[0], [0], [1]],
        num_bins=2,
        weight=[6, 4, 2],
        cost=[6, 4, 2],
        target=6.0,
        lower=[5, 5],
        upper=[7, 7],
        movability=[Movability.MAY, movability, Movability.MAY],
    )

    found = improved(problem, home_arrangement(problem))

    # The cheapest way is to move the four; the six and the two change places else.
    expected = [0, 1, 1] if movability == Movability.MAY else [1, 0, 0]
    assert found.bin_of.tolist() == expected


def test_the_caps_of_racks_hold():
    # Bins 0 and 1 are one rack, 2 and 3 another; each group has one item in each.
    problem = make_problem(
        [[0, 2], [0, 2], [0, 3]],
        num_bins=4,
        weight=[3, 3, 1],
        cost=1,
        target=3.0,
        lower=[2, 2, 2, 1],
        upper=[4, 4, 4, 4],
        racks=[0, 0, 1, 1],
    )

    found = improved(problem, home_arrangement(problem))

    racks = np.array([0, 0, 1, 1])[found.bin_of].reshape(3, 2)
    assert (racks == [0, 1]).all()
    assert evaluate(problem, found).deviation == 0


def test_a_bin_gets_no_more_of_a_collection_than_it_may():
    columns = {"collection_of": [0, 0, 0], "collection_cap": [1]}
    table = {
        "weight": [2, 2, 2],
        "target": 3.0,
        "lower": [2, 2, 2],
        "upper": [3, 3, 3],
        "num_bins": 3,
    }
    crowded = make_problem([[0], [0], [1]], **table, **columns)

    found = improved(crowded, home_arrangement(crowded))

    assert sorted(found.bin_of.tolist()) == [0, 1, 2]


@pytest.mark.parametrize(
    "columns",
    [
        pytest.param({"max_moves": 1}, id="cap-on-moves"),
        pytest.param({"is_transient": [True]}, id="transient"),
    ],
)
def test_what_no_model_can_say_is_left_to_the_search(columns):
    assert not fits_sub_problems(make_problem([[0]], num_bins=2, **columns))
