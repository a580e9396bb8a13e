"""
Bands whose ends lie unequally far from their targets, and differ by resource.

A heavy replica raises the upper end alone, a wide band has no lower end, counts are
rounded, and some resources have one end only.
"""

from math import floor

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.core.bounds.cover_bounds import reached_bands
from placement.core.model.arrangement import Arrangement, loads
from placement.core.model.objective import usable_capacity
from placement.core.model.problem import NO_LIMIT
from placement.core.model.search_budget import NORMAL
from placement.core.solve import prove, solve
from support.every_way import is_enumerable, legal
from support.problems import make_problem, unevenly_banded


def off(problem, load):
    """``(N, R)`` units of load outside the bands."""
    bins = problem.bins
    far = np.maximum(np.maximum(load - bins.upper, bins.lower - load), 0)
    return np.where(bins.target > 0, far, 0)


@settings(max_examples=150)
@given(unevenly_banded(is_plain=True, max_bins=3, max_groups=4, max_items=2), st.data())
def test_a_bound_holds_for_all_arrangements_that_are_as_near(problem, data):
    known = list(legal(problem)) if is_enumerable(problem) else []
    if not known:
        return
    at, _ = data.draw(st.sampled_from(known))

    cost = prove(problem, at).certificate.cost

    reached = off(problem, loads(problem, at))
    assert cost.lower_bound <= min(
        value.cost
        for other, value in known
        if (off(problem, loads(problem, other)) <= reached).all()
    )


def test_a_load_below_its_band_leaves_room_for_one_as_far_above_it():
    problem = make_problem(
        [[0], [0]], num_bins=2, weight=[16, 18], cost=[1, 10], fixed=[6, 0],
        lower=[8, 0], upper=[20, NO_LIMIT], target=[10.0, 0.0],
    )  # fmt: skip
    both_moved = Arrangement(np.array([1, 1], dtype=np.int32), problem.role_home)

    cost = prove(problem, both_moved).certificate.cost

    # 22 is as far above the band as 6 is below it.
    assert (cost.value, cost.lower_bound) == (11, 10)


def test_a_load_above_its_band_has_its_distance_from_the_target_at_both_ends():
    problem = make_problem(
        [[1]], num_bins=2, weight=8, cost=5, fixed=[6, 0],
        lower=[9, 0], upper=[12, NO_LIMIT], target=[10.0, 0.0],
    )  # fmt: skip

    cost = solve(problem, effort=NORMAL).certificate.cost

    # 6 is as far below the target as 14 is above it.
    assert (cost.value, cost.lower_bound) == (5, 0)


@settings(max_examples=200)
@given(unevenly_banded(), st.data())
def test_reached_bands_admit_the_loads_that_are_as_near(problem, data):
    places = st.integers(0, problem.num_bins - 1)
    home = problem.home.copy()
    home[home >= 0] = [data.draw(places) for _ in range(int((home >= 0).sum()))]
    at = Arrangement(home, problem.role_home.copy())
    load = loads(problem, at)
    reached, bins = off(problem, load), problem.bins

    bands = reached_bands(problem, at)

    capacity = usable_capacity(problem)
    for b, r in np.argwhere(bins.target > 0).tolist():
        far, upper = int(reached[b, r]), int(bins.upper[b, r])
        lower, target = int(bins.lower[b, r]), float(bins.target[b, r])
        if far:
            # The half width is the distance from the target, in whole units.
            wider = floor(abs(load[b, r] - target) - (target - lower))
            far = max(far, wider)
        highest = upper + far if upper < NO_LIMIT else NO_LIMIT
        if load[b, r] <= capacity[b, r]:
            highest = min(highest, int(capacity[b, r]))
        assert bands.lower[b, r] == lower - far
        assert bands.upper[b, r] == highest
