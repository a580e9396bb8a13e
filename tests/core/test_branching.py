"""Trees of cases with prices at their leaves, against every arrangement."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings

from placement.core.bounds.cover_bounds import Bands, aimed_bands
from placement.core.exact.linear import branch_and_bound
from placement.core.exact.linear.branch_and_bound import (
    branched_cost,
    branched_distance,
)
from placement.core.exact.model_scaling import fits_prices
from placement.core.model.problem import NO_LIMIT, Problem
from placement.core.verify.search_tree import verify_distance_tree, verify_tree
from support.oracles import everything
from support.problems import make_problem, problems

MOST_LEAVES = 60
ANY_COST = 10**9


def least_cost(problem: Problem, bands: Bands) -> float:
    """Return the least cost of all arrangements within the bands; infinite: none."""
    anything = np.full_like(problem.bins.upper, NO_LIMIT)
    return float(
        everything(problem).within(bands.lower, bands.upper, anything).least_cost
    )


def least_distance(problem: Problem) -> float:
    """Return the least distance of all arrangements; infinite: there is none."""
    bins = problem.bins
    anything = np.full_like(bins.upper, NO_LIMIT)
    every = everything(problem).within(-anything, anything, anything)
    unit = np.where(bins.target > 0, bins.target, np.inf)
    off = np.maximum(every.loads - bins.upper, bins.lower - every.loads)
    return float(np.maximum(off / unit, 0).max(axis=(1, 2)).min(initial=np.inf))


def tree_of(proof):
    """The witness as a tree: prices that need no cases are its only leaf."""
    assert proof.kind == ("milp-dual" if "nodes" in proof.witness else "lambda")
    witness = proof.witness
    return witness if "nodes" in witness else {"nodes": [witness]}


def free_of_prices(drawn: Problem) -> Problem:
    """Moves have no price of their own, and no role has to go."""
    must_not = np.zeros(drawn.num_bins, dtype=bool)
    return replace(drawn, price_per_move=0, must_release_role=must_not)


PLAIN = problems(is_plain=True).filter(lambda p: p.num_groups).map(free_of_prices)


@settings(max_examples=80)
@given(PLAIN)
def test_a_tree_proves_no_more_than_is_true(problem: Problem):
    assert fits_prices(problem, 10**6)
    bands = aimed_bands(problem)
    least = least_cost(problem, bands)

    value, proof = branched_cost(problem, bands, ANY_COST, MOST_LEAVES)

    assert value <= least
    if np.isfinite(least):
        assert (proof is not None) == (value > 0)
    if proof is not None:
        assert verify_tree(problem, bands.lower, bands.upper, tree_of(proof)) == value


@settings(max_examples=80)
@given(PLAIN)
def test_a_tree_proves_no_distance_that_is_not_there(problem: Problem):
    least = least_distance(problem)

    value, proof = branched_distance(problem, np.inf, MOST_LEAVES)

    assert value <= least + 1e-9
    if proof is not None:
        assert verify_distance_tree(problem, tree_of(proof)) == value


def packed_problem() -> Problem:
    """Five must leave the first bin, in parts of four: two of these."""
    return make_problem(
        [[0], [0], [0]], num_bins=3, weight=4, cost=4, target=7.0, upper=7
    )


def test_cases_prove_what_no_prices_alone_do(monkeypatch):
    monkeypatch.setattr(branch_and_bound, "ROUNDS", 0)
    problem = packed_problem()
    bands = aimed_bands(problem)
    least = least_cost(problem, bands)

    by_prices, _ = branched_cost(problem, bands, ANY_COST, most_leaves=1)
    by_cases, proof = branched_cost(problem, bands, ANY_COST, MOST_LEAVES)

    assert by_prices < by_cases == least
    assert proof is not None
    nodes = proof.witness["nodes"]
    assert verify_tree(problem, bands.lower, bands.upper, {"nodes": nodes}) == least


def test_rounded_rows_prove_it_without_cases():
    problem = packed_problem()
    bands = aimed_bands(problem)
    least = least_cost(problem, bands)

    value, proof = branched_cost(problem, bands, ANY_COST, most_leaves=1)

    assert value == least
    assert proof is not None
    assert len(proof.witness["nodes"]) == 1
    assert verify_tree(problem, bands.lower, bands.upper, proof.witness) == least
    without = {**proof.witness, "cuts": []}
    with pytest.raises(IndexError):
        verify_tree(problem, bands.lower, bands.upper, without)


def test_a_tree_that_is_cut_short_still_proves_its_bound():
    problem = packed_problem()
    bands = aimed_bands(problem)

    value, proof = branched_cost(
        problem, bands, ANY_COST, MOST_LEAVES, is_over=lambda: True
    )

    assert 0 < value < least_cost(problem, bands)
    assert proof is not None
    assert len(tree_of(proof)["nodes"]) == 1
    assert verify_tree(problem, bands.lower, bands.upper, tree_of(proof)) == value


@settings(max_examples=80)
@given(PLAIN)
def test_bands_just_too_narrow_prove_the_distance_of_an_answer(problem: Problem):
    least = least_distance(problem)
    assume(0 < least < np.inf)

    value, proof = branched_distance(problem, least, MOST_LEAVES)

    assert value <= least + 1e-9
    assert (proof is not None) == (value > 0)
    if proof is not None:
        assert verify_distance_tree(problem, tree_of(proof)) == value


def test_what_no_relaxation_knows_is_proven_of_narrower_bands():
    # Three of four for two bins: one has eight, two more than its band.
    problem = make_problem([[0], [0], [0]], num_bins=2, weight=4, target=6.0, upper=6)
    least = least_distance(problem)

    value, proof = branched_distance(problem, least, most_leaves=1)

    assert least == pytest.approx(2 / 6)
    assert value == pytest.approx(least)
    assert proof is not None
    assert verify_distance_tree(problem, proof.witness) == value
    wider = {**proof.witness, "distance": 1.01 * least}
    assert verify_distance_tree(problem, wider) == 0


@pytest.mark.parametrize(
    "spoilt",
    [
        pytest.param({"there": 0}, id="a-tree-with-a-circle"),
        pytest.param({"elsewhere": 99}, id="a-case-left-out"),
    ],
)
def test_a_tree_that_is_none_proves_nothing(spoilt):
    problem = make_problem([[0], [0]], num_bins=2, target=1.0, upper=[1, 1])
    leaf = {"denominator": 1, "above": [[0, 0, 1]], "below": []}
    branch = {"group": 0, "bin": 0, "role": False, "there": 1, "elsewhere": 2}
    bands = aimed_bands(problem)
    limits = bands.lower, bands.upper

    assert verify_tree(problem, *limits, {"nodes": [branch, leaf, leaf]}) == 1
    spoilt_nodes = [branch | spoilt, leaf, leaf]
    assert verify_tree(problem, *limits, {"nodes": spoilt_nodes}) == 0


def test_a_case_that_can_be_is_no_empty_leaf():
    problem = make_problem([[0], [0]], num_bins=2, target=1.0, upper=[1, 1])
    leaf = {"denominator": 1, "above": [[0, 0, 1]], "below": []}
    branch = {"group": 0, "bin": 0, "role": False, "there": 1, "elsewhere": 2}
    bands = aimed_bands(problem)

    nodes = [branch, leaf, {}]

    assert verify_tree(problem, bands.lower, bands.upper, {"nodes": nodes}) == 0
