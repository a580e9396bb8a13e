"""What is proven to be impossible is."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.core.bounds.infeasibility import beyond_caps, prove_impossible
from placement.core.bounds.occupancy import Occupancy
from placement.core.bounds.set_bounds import least_load
from placement.core.model.problem import NO_LIMIT, NOWHERE, Movability
from placement.core.verify.shortfalls import Verifier
from support.oracles import everything, least_crossing, usable_capacity
from support.problems import make_problem, problems, zoned


def possible(problem):
    """Every arrangement of a small problem that keeps all hard rules."""
    capacity = usable_capacity(problem)
    anything = np.full_like(capacity, NO_LIMIT)
    return everything(problem).within(-anything, anything, capacity)


@settings(max_examples=150)
@given(problems(has_loaded_racks=False, has_transient=True))
def test_nothing_that_is_possible_is_disproved(problem):
    proven = prove_impossible(problem)

    assert not proven or not len(possible(problem).cost)


@settings(max_examples=150)
@given(problems(has_loaded_racks=False, has_transient=True), st.data())
def test_no_witness_of_what_is_possible_verifies(problem, data):
    some = data.draw(st.lists(st.integers(0, problem.num_bins - 1), min_size=1))
    r = data.draw(st.integers(0, problem.num_resources - 1))
    count = problem.num_groups
    groups = data.draw(st.lists(st.integers(0, count - 1))) if count else []
    is_possible = len(possible(problem).cost) > 0

    for kind, where in [
        ("load", {"bins": some, "resource": r}),
        ("count", {"bins": some, "resource": r, "groups": groups}),
        *(
            ("room", {"group": group, "level": level})
            for group in range(count)
            for level in range(len(problem.levels))
        ),
    ]:
        have, need = Verifier(problem).amounts(kind, where)
        assert have >= need or not is_possible


@settings(max_examples=60)
@given(problems(max_groups=4))
def test_no_arrangement_has_less_than_the_least(problem):
    every = everything(problem).loads

    for last in range(1, problem.num_bins + 1):
        inside = np.arange(problem.num_bins) < last
        least = least_load(problem, inside, Occupancy(problem).least(inside))
        assert (every[:, inside].sum(axis=1) >= least).all()


@settings(max_examples=200)
@given(zoned())
def test_no_arrangement_crosses_less_than_the_least(problem):
    proven = [one for one in prove_impossible(problem) if one.what == "crossing"]

    assert all(one.need <= least_crossing(problem) for one in proven)


@settings(max_examples=200)
@given(problems(has_loaded_racks=False, has_transient=True), st.integers(0, 3))
def test_no_arrangement_moves_less_than_what_is_proven_of_caps(problem, most):
    capped = replace(problem, max_moves=most, max_cost=2 * most)
    every = possible(problem)

    needs = {one.what: one.need for one in beyond_caps(capped)}

    assert needs.get("moves", 0) <= every.fewest_moves
    assert needs.get("cost", 0) <= every.least_copied


MUST, NEVER = Movability.MUST, Movability.NEVER
CASES = [
    pytest.param(
        {"homes": [[0], [0]], "num_bins": 2, "movability": [MUST, MUST],
         "max_moves": 1},
        ("moves", 1, 2), id="more-moves-than-the-cap",
    ),
    pytest.param(
        {"homes": [[0], [0]], "num_bins": 2, "movability": [MUST, MUST],
         "cost": 5, "max_cost": 9},
        ("cost", 9, 10), id="more-cost-than-the-cap",
    ),
    pytest.param(
        # What lies nowhere has to be brought somewhere.
        {"homes": [[0, NOWHERE], [0, NOWHERE]], "num_bins": 2, "max_moves": 1},
        ("moves", 1, 2), id="more-without-a-place-than-the-cap",
    ),
    pytest.param(
        # 7 of 20 have to leave, which takes two.
        {"homes": [[0]] * 4, "num_bins": 2, "weight": 5, "capacity": [13, 40],
         "max_moves": 1},
        ("moves", 1, 2), id="more-moves-off-a-full-bin-than-the-cap",
    ),
    pytest.param(
        {"homes": [[0]] * 4, "num_bins": 2, "weight": 5, "capacity": [13, 40],
         "cost": 5, "max_cost": 6},
        ("cost", 6, 7), id="more-cost-off-a-full-bin-than-the-cap",
    ),
    pytest.param(
        {"homes": [[0, 1]], "num_bins": 3, "movability": [MUST, Movability.MAY],
         "may_hold_role": [True, False, False]},
        ("roles", 0, 1), id="no-bin-that-may-hold-the-role",
    ),
    pytest.param(
        # Bin 1 could, and keeps an item of the group: nothing of it comes there.
        {"homes": [[0, 1]], "num_bins": 3, "movability": [MUST, Movability.NEVER],
         "may_hold_role": [True, False, True], "may_receive": [True, True, False]},
        ("roles", 0, 1), id="none-of-those-that-receive-may-hold-the-role",
    ),
    pytest.param(
        # Bin 1 stands where they are copied from, and takes one item of the group.
        {"homes": [[0, 4], [0]], "num_bins": 5, "movability": [MUST, MUST, MUST],
         "cost": 5, "zone_of_bin": [0, 0, 1, 1, 1], "source_zone": [0, -1],
         "max_crossing": 4},
        ("crossing", 4, 5), id="more-than-may-cross",
    ),
    pytest.param(
        # Of the two bins that are free there, the rack's cap leaves none.
        {"homes": [[0, 4]], "num_bins": 5, "movability": [Movability.MAY, MUST],
         "cost": 5, "zone_of_bin": [0, 0, 0, 1, 1], "source_zone": [0],
         "max_crossing": 4, "racks": [0, 0, 0, 1, 1], "rack_cap": 1},
        ("crossing", 4, 5), id="more-than-may-cross-by-the-cap-of-racks",
    ),
    pytest.param(
        {"homes": [[0, 1]], "num_bins": 2, "movability": [MUST, Movability.MAY]},
        ("bins", 1, 2), id="one-bin-for-two-items",
    ),
    pytest.param(
        {"homes": [[0]], "num_bins": 2, "movability": [MUST], "weight": 7,
         "capacity": 6},
        ("room", 6, 7), id="heavier-than-any-bin",
    ),
    pytest.param(
        {"homes": [[0], [1], [1]], "num_bins": 2, "weight": 4, "capacity": 5},
        ("capacity", 10, 12), id="more-than-all-bins-may-hold",
    ),
    pytest.param(
        # What stays in rack 1 takes the place there: all else must go to bin 2.
        {"homes": [[0, 3], [1, 3]], "num_bins": 4, "racks": [0, 0, 0, 1],
         "rack_cap": 1, "weight": 4, "capacity": [9, 9, 7, 9],
         "movability": [MUST, NEVER, MUST, NEVER],
         "may_receive": [False, False, True, True]},
        ("capacity", 7, 8), id="more-than-the-last-bin-of-a-rack-may-hold",
    ),
    pytest.param(
        {"homes": [[4]] * 5, "num_bins": 5, "weight": 5, "movability": [MUST] * 5,
         "capacity": [8, 8, 8, 8, 30],
         "may_receive": [True] * 4 + [False]},
        ("pieces", 4, 5), id="five-pieces-for-four-bins",
    ),
    pytest.param(
        {"homes": [[0, 1]], "num_bins": 4, "racks": [0, 1, 0, 1], "rack_cap": 1,
         "weight": 9, "capacity": [8, 9, 8, 9]},
        ("room", 8, 9), id="heavier-than-any-bin-of-a-rack",
    ),
    pytest.param(
        {"homes": [[0, 2]] * 3, "num_bins": 3, "racks": [0, 0, 1], "weight": 4,
         "capacity": [9, 9, 10]},
        ("capacity", 10, 12), id="more-than-a-rack-may-hold",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("given_", "wanted"), CASES)
def test_what_is_short_by_how_much(given_, wanted):
    proven = prove_impossible(make_problem(**given_))

    assert wanted in {(one.what, one.have, one.need) for one in proven}
    assert all(one.is_proven for one in proven)
