"""Rows that rounding proves, against all that a bin may hold."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from placement.core.bounds.cover_bounds import aimed_bands
from placement.core.exact.linear.branch_and_bound import _cut_entry
from placement.core.exact.linear.lp_columns import Rows, Tables
from placement.core.exact.linear.mir_cuts import separated
from placement.core.model.problem import NO_LIMIT, Problem
from placement.core.verify.mir_cuts import RoundedRow, rounded_rows
from support.problems import make_problem, problems

NOTHING, ITEM, ROLE = range(3)


def free_of_extras(drawn: Problem) -> Problem:
    """What an item weighs is the same everywhere."""
    return replace(drawn, extra=np.zeros((0, drawn.num_resources), dtype=np.int64))


@st.composite
def cuts(draw, problem: Problem):
    """Any cut at all of a problem: its row must hold."""
    kinds = draw(st.lists(st.sampled_from([NOTHING, ITEM, ROLE]), min_size=6))
    groups = range(min(len(kinds), problem.num_groups))
    return {
        "bin": draw(st.integers(0, problem.num_bins - 1)),
        "resource": draw(st.integers(0, problem.num_resources - 1)),
        "side": draw(st.sampled_from(["lower", "upper"])),
        "divisor": draw(st.integers(1, 30)),
        "items": [g for g in groups if kinds[g] == ITEM],
        "roles": [g for g in groups if kinds[g] == ROLE],
    }


def beyond(problem: Problem, row: RoundedRow, is_lower: bool, kinds) -> int:
    """By how much more a bin's groups pass the row than they pass the band."""
    b, r = row.bin, row.resource
    load, has = int(problem.bins.fixed[b, r]), 0
    for group, kind in enumerate(kinds):
        if kind != NOTHING:
            load += int(problem.weight[group, r])
            has += int(row.item[group])
        if kind == ROLE:
            load += int(problem.role_weight[group, r])
            has += int(row.role[group])
    lower, upper = int(problem.bins.lower[b, r]), int(problem.bins.upper[b, r])
    outside = max(0, lower - load if is_lower else load - upper)
    return has - row.limit - outside


@settings(max_examples=300)
@given(problems(is_plain=True), st.data())
def test_a_rounded_row_holds_of_all_that_a_bin_may_hold(drawn: Problem, data):
    problem = free_of_extras(drawn)
    assume(0 < problem.num_groups < 6)
    limits = problem.bins.lower, problem.bins.upper
    cut = data.draw(cuts(problem))
    assume(cut["side"] == "lower" or limits[1][cut["bin"], cut["resource"]] < NO_LIMIT)

    [row] = rounded_rows(problem, *limits, [cut])

    is_lower = cut["side"] == "lower"
    every = product([NOTHING, ITEM, ROLE], repeat=problem.num_groups)
    assert all(beyond(problem, row, is_lower, kinds) <= 0 for kinds in every)


@settings(max_examples=200)
@given(problems(is_plain=True), st.integers(0, 2**32 - 1))
def test_the_witness_shows_what_is_cut_off(drawn: Problem, seed):
    problem = free_of_extras(drawn)
    assume(problem.num_groups)
    bands, tables = aimed_bands(problem), Tables.of(problem)
    rows = Rows(problem, tables, tables.may)
    # Any answer of a relaxation, feasible or not: shares of a half at most, twice.
    columns = np.random.default_rng(seed).integers(0, 6, len(rows)) / 10

    for made in separated(problem, rows, bands, columns, outside=0.0):
        [row] = rounded_rows(problem, bands.lower, bands.upper, [_cut_entry(made.cut)])
        groups, leads = rows.groups[made.columns], rows.leads[made.columns]
        assert (rows.bins[made.columns] == row.bin).all()
        told = row.item[groups] + np.where(leads, row.role[groups], 0)
        assert (made.weights == told).all()
        assert made.limit == row.limit
        assert (made.weights * columns[made.columns]).sum() > made.limit


@pytest.mark.parametrize(
    "spoilt",
    [
        pytest.param({"divisor": 0}, id="nothing-divided"),
        pytest.param({"items": [0], "roles": [0]}, id="one-group-in-two-ways"),
        pytest.param({"side": "upper", "bin": 1}, id="no-such-end"),
    ],
)
def test_a_cut_that_is_none_is_refused(spoilt):
    problem = make_problem([[0], [0]], num_bins=2, target=1.0, upper=[1, NO_LIMIT])
    cut = {"bin": 0, "resource": 0, "side": "upper", "divisor": 2}
    whole = cut | {"items": [], "roles": []} | spoilt

    with pytest.raises(ValueError, match=r"follows|two ways"):
        rounded_rows(problem, problem.bins.lower, problem.bins.upper, [whole])
