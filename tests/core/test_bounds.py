"""Bounds and their verifier against every arrangement of small problems."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from placement.core.bounds import cover_bounds
from placement.core.bounds.cover_bounds import (
    Bands,
    cost_bound,
    moves_bound,
    reached_bands,
)
from placement.core.model.arrangement import Arrangement, loads
from placement.core.model.problem import (
    NO_LIMIT,
    Movability,
    Problem,
)
from placement.core.verify.cover_and_cut import verify_cover
from support.oracles import Everything, everything, usable_capacity
from support.problems import make_problem, problems


def aimed_bands(problem: Problem) -> Bands:
    bins = problem.bins
    has_band = bins.target > 0
    return Bands(
        np.where(has_band, bins.lower, 0), np.where(has_band, bins.upper, NO_LIMIT)
    )


def reachable_bands(data, problem: Problem) -> Bands:
    """Narrow bands around the loads of some arrangement: a bound can be tight."""
    every = everything(problem)
    assume(len(every.cost))
    # Most cost something: the plain start proves nothing.
    rank = data.draw(st.integers(0, len(every.cost) - 1))
    load = every.loads[np.argsort(every.copied, kind="stable")[::-1][rank]]
    slack = data.draw(st.integers(0, 2))
    return Bands(load - slack, load + slack)


def within(problem: Problem, bands: Bands) -> Everything:
    anything = np.full_like(bands.upper, NO_LIMIT)
    return everything(problem).within(bands.lower, bands.upper, anything)


def proven(problem: Problem, bands: Bands, witness, *, counts_moves: bool) -> int:
    return verify_cover(
        problem, bands.lower, bands.upper, witness, counts_moves=counts_moves
    )


@settings(max_examples=250)
@given(problems(), st.data())
def test_no_arrangement_within_the_bands_is_below_a_bound(problem: Problem, data):
    bands = reachable_bands(data, problem)
    possible = within(problem, bands)

    assert cost_bound(problem, bands)[0] <= possible.least_copied
    assert moves_bound(problem, bands)[0] <= possible.fewest_moves


@settings(max_examples=200)
@given(problems())
def test_the_verifier_finds_what_the_bound_claims(problem: Problem):
    bands = aimed_bands(problem)
    for bound, counts_moves in ((cost_bound, False), (moves_bound, True)):
        value, proof = bound(problem, bands)
        assert (proof is None) == (value == 0)
        if proof is not None:
            found = proven(problem, bands, proof.witness, counts_moves=counts_moves)
            assert found == value


@settings(max_examples=200)
@given(
    weights=st.lists(st.integers(1, 10**6), min_size=8, max_size=40),
    excess=st.floats(0.05, 0.6),
    missing=st.floats(0.3, 1.5),
    is_counted=st.booleans(),
)
def test_no_side_that_is_passed_over_would_prove_more(
    weights: list[int], excess: float, missing: float, is_counted: bool
):
    # Bins 0 and 1 hold all, and bin 2 is to get about what these have to give.
    homes = [[n % 2] for n in range(len(weights))]
    held = [sum(weights[::2]), sum(weights[1::2])]
    given_away = [int(excess * load) for load in held]
    upper = [load - gone for load, gone in zip(held, given_away, strict=True)]
    problem = make_problem(
        homes,
        num_bins=3,
        weight=weights,
        cost=1 if is_counted else weights,
        lower=[0, 0, int(missing * sum(given_away))],
        upper=[*upper, NO_LIMIT],
        target=1.0,
    )
    bands = aimed_bands(problem)

    value, _ = cover_bounds._bound(problem, bands, problem.cost, None)

    leaving, _ = cover_bounds._leaving(problem, bands, problem.cost, (0, 0))
    arriving, _ = cover_bounds._arriving(problem, bands, problem.cost)
    assert value == max(leaving, arriving)


@settings(max_examples=300)
@given(problems(), st.data())
def test_no_witness_proves_more_than_the_truth(problem: Problem, data):
    bands = reachable_bands(data, problem)
    # Any multipliers at all, or a bin named twice.
    pair = st.tuples(
        st.integers(0, problem.num_resources - 1),
        st.integers(0, 9) | st.sampled_from([-3, 2**40, 2**62]),
    )
    entry = st.tuples(
        st.integers(0, problem.num_bins - 1),
        st.integers(1, 9) | st.sampled_from([-1, 0, 2**24]),
        st.lists(pair, max_size=3),
    ).map(lambda drawn: [drawn[0], drawn[1], *itertools.chain(*drawn[2])])
    witness = {
        "side": data.draw(st.sampled_from(["leave", "arrive"])),
        "bins": data.draw(st.lists(entry, min_size=1, max_size=4)),
    }
    possible = within(problem, bands)

    cost = proven(problem, bands, witness, counts_moves=False)
    moves = proven(problem, bands, witness, counts_moves=True)

    assert cost <= possible.least_copied
    assert moves <= possible.fewest_moves


@pytest.mark.parametrize(
    ("witness", "value"),
    [
        pytest.param({"side": "leave", "bins": [[0, 1, 0, 2]]}, 8, id="as-found"),
        pytest.param({"side": "leave", "bins": [[0, 1, 0, 1]]}, 4, id="half-of-it"),
        pytest.param({"side": "leave", "bins": [[0, 1, 0, 9]]}, 0, id="far-too-much"),
        pytest.param({"side": "leave", "bins": [[0, 1, 0, 2]] * 2}, 0, id="twice"),
        pytest.param({"side": "leave", "bins": [[0, 1, 0, -2]]}, 0, id="negative"),
        pytest.param({"side": "leave", "bins": [[0, 0, 0, 2]]}, 0, id="by-nothing"),
        pytest.param({"side": "leave", "bins": [[1, 1, 0, 2]]}, 0, id="other-bin"),
        pytest.param({"side": "leave", "bins": []}, 0, id="nothing-forced"),
    ],
)
def test_the_verifier_multiplies_for_itself(witness, value: int):
    # Bin 0 holds 12 of at most 8; each of its items weighs 4 and costs 8.
    problem = make_problem([[0], [0], [0]], num_bins=2, weight=4, cost=8, target=6.0)
    bands = Bands(np.array([[0], [0]]), np.array([[8], [8]]))

    assert proven(problem, bands, witness, counts_moves=False) == value


def test_witnesses_past_64_bits_are_multiplied_exactly():
    size = 2**55
    problem = make_problem(
        [[0]] * 20, num_bins=2, weight=size, cost=size, target=1.0 * size
    )
    bands = Bands(np.array([[0], [0]]), np.array([[13 * size], [13 * size]]))
    witness = {"side": "leave", "bins": [[0, 2**40, 0, 2**40]]}

    assert proven(problem, bands, witness, counts_moves=False) == 7 * size


@pytest.mark.parametrize(
    ("problem", "cost", "moves"),
    [
        pytest.param(
            make_problem(
                [[0], [0], [0], [0]], num_bins=2, weight=3, cost=5, target=6.0, upper=7
            ),
            # 5 of weight over: 8.33 of cost; whole moves.
            9,
            2,
            id="over-the-band",
        ),
        pytest.param(
            make_problem(
                [[0], [0], [0]],
                num_bins=2,
                weight=[5, 2, 2],
                cost=[5, 2, 2],
                target=5.0,
                lower=[0, 4],
                upper=[9, 9],
            ),
            4,
            1,
            id="under-the-band",
        ),
        pytest.param(
            make_problem(
                [[0, 1], [0]],
                num_bins=3,
                cost=[7, 2],
                movability=[Movability.MUST, Movability.MAY, Movability.MUST],
            ),
            9,
            2,
            id="forced",
        ),
        pytest.param(
            make_problem([[0, 1]], num_bins=2, role_weight=9, target=3.0, upper=[1, 9]),
            0,
            0,
            id="a-role-relieves-it",
        ),
        pytest.param(
            make_problem([[0, 1]], num_bins=2, target=1.0, upper=1), 0, 0, id="in-band"
        ),
    ],
)
def test_bounds_of_tiny_problems(problem: Problem, cost: int, moves: int):
    bands = aimed_bands(problem)

    assert cost_bound(problem, bands)[0] == cost
    assert moves_bound(problem, bands)[0] == moves


@settings(max_examples=150)
@given(problems(), st.data())
def test_reached_bands_hold_the_answer_and_go_no_further_than_it(
    problem: Problem, data
):
    bin_of = problem.home.copy()
    for item in np.nonzero(problem.home >= 0)[0]:
        bin_of[item] = data.draw(st.integers(0, problem.num_bins - 1))
    at = Arrangement(bin_of, problem.role_home.copy())
    load, bins = loads(problem, at), problem.bins

    capacity = usable_capacity(problem)

    bands = reached_bands(problem, at)

    for b, r in np.ndindex(*load.shape):
        lower, upper = bands.lower[b, r], bands.upper[b, r]
        target = bins.target[b, r]
        keeps_to_it = load[b, r] <= capacity[b, r]
        most = capacity[b, r] if keeps_to_it else NO_LIMIT
        if target == 0:
            assert (lower, upper) == (0, most)
            continue
        assert lower <= load[b, r] <= upper
        if bins.lower[b, r] <= load[b, r] <= bins.upper[b, r]:
            assert (lower, upper) == (bins.lower[b, r], min(bins.upper[b, r], most))
        off = abs(load[b, r] - target)
        assert lower >= min(bins.lower[b, r], np.floor(target - off))
        assert upper <= max(bins.upper[b, r], np.ceil(target + off))


def test_free_moves_have_no_bound_on_cost():
    problem = make_problem(
        [[0], [0]], num_bins=2, weight=3, cost=5, target=3.0, upper=3, racks=[0, 0]
    )
    within_rack = replace(problem.levels[1], price=0, group_cap=None)
    problem = replace(problem, levels=(problem.levels[0], within_rack))
    bands = aimed_bands(problem)

    assert cost_bound(problem, bands) == (0, None)
    assert moves_bound(problem, bands)[0] == 1
