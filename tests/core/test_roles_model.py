"""Roles at fixed places, against every way to give them."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.core.bounds.cover_bounds import Bands
from placement.core.exact.cp_sat.roles_model import fewer_role_changes, roles_within
from placement.core.exact.milp.spread_check import crowds
from placement.core.model.arrangement import Arrangement, home_arrangement, loads
from placement.core.model.objective import evaluate
from support.problems import make_problem

NUM_BINS = 3


@st.composite
def led(draw):
    """Up to five groups of two items with a role each, in collections with caps."""
    count = draw(st.integers(1, 5))
    pairs = st.permutations(range(NUM_BINS)).map(lambda order: order[:2])
    homes = [list(draw(pairs)) for _ in range(count)]
    of = [draw(st.integers(0, 1)) for _ in range(count)]
    return make_problem(
        homes,
        num_bins=NUM_BINS,
        weight=[1] * count,
        role_weight=draw(st.lists(st.integers(0, 9), min_size=count, max_size=count)),
        role_home=[2 * g + draw(st.integers(0, 1)) for g in range(count)],
        lower=0,
        upper=100,
        target=10.0,
        collection_of=of,
        collection_cap=[count, count],
        collection_role_cap=[draw(st.integers(0, 2)) for _ in range(2)],
    )


def every_way(problem, at):
    """Every arrangement of the roles at the places of one."""
    items = [range(*problem.group_start[g : g + 2]) for g in range(problem.num_groups)]
    for chosen in itertools.product(*items):
        yield Arrangement(at.bin_of, np.array(chosen, dtype=np.int32))


@settings(max_examples=60)
@given(led(), st.integers(0, 20))
def test_roles_keep_bands_and_soft_caps_with_fewest_changes(problem, room):
    at = home_arrangement(problem)
    load = loads(problem, at)
    bands = Bands(np.maximum(load - room, 0), load + room)

    found, _ = roles_within(problem, at, bands, at, 5.0)

    ways = [
        evaluate(problem, way).role_changes
        for way in every_way(problem, at)
        if (loads(problem, way) <= bands.upper).all()
        and (loads(problem, way) >= bands.lower).all()
        and not crowds(problem, at, way)
    ]
    assert found is not None
    assert not crowds(problem, at, found)
    assert evaluate(problem, found).role_changes == min(ways)


@settings(max_examples=60)
@given(led(), st.data())
def test_roles_are_brought_within_soft_caps_where_there_is_a_way(problem, data):
    before = home_arrangement(problem)
    at = data.draw(st.sampled_from(list(every_way(problem, before))))
    wide = np.full((NUM_BINS, 1), 10**6)

    found, _ = roles_within(problem, at, Bands(wide * 0, wide), before, 5.0)

    assert found is not None
    assert not crowds(problem, before, found)


@pytest.mark.parametrize("weight", [7, 4_000_000_000, 4_000_000_007])
@pytest.mark.parametrize("other", [0, 1], ids=["alike", "another"])
def test_roles_return_where_loads_stay_on_the_ends_of_their_bands(
    weight: int, other: int
):
    homes = [[0, 1], [1, 2], [2, 0], [0, 1]]
    problem = make_problem(
        homes,
        num_bins=NUM_BINS,
        weight=[1] * 4,
        role_weight=[weight] * 3 + [weight + other],
        role_home=[0, 2, 4, 6],
        lower=weight,
        upper=weight,
        target=float(weight),
    )
    # Three roles go round: every bin has the load that it had at home.
    at = Arrangement(home_arrangement(problem).bin_of, np.array([1, 3, 5, 6]))

    found = fewer_role_changes(problem, at, 5.0)

    assert found.role_of.tolist() == [0, 2, 4, 6]
