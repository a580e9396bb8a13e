"""Cost and bound as they close, for whoever listens."""

from itertools import pairwise

import numpy as np
import pytest

from placement.core.closing import listening
from placement.core.effort import EXACT, NORMAL
from placement.core.solve import solve
from support.problems import make_problem

RACKS = [0, 1, 0, 1, 0, 1]


def skewed(racks):
    """Thirty groups of two items, all in four of six bins."""
    rng = np.random.default_rng(5)
    weight = rng.integers(10, 1_000, 30).tolist()
    homes = [[0, 1] if group % 3 else [2, 3] for group in range(30)]
    target = 2 * sum(weight) / 6
    return make_problem(
        homes,
        num_bins=6,
        racks=racks,
        weight=weight,
        cost=weight,
        lower=int(target * 0.95),
        upper=int(target * 1.05),
        target=target,
    )


def heard(problem, effort):
    reports = []
    with listening(lambda cost, bound: reports.append((cost, bound))):
        solution = solve(problem, effort=effort)
    return reports, solution


@pytest.mark.parametrize("racks", [RACKS, None])
@pytest.mark.parametrize("effort", [NORMAL, EXACT])
def test_no_bound_is_above_the_cost_that_is_reached(racks, effort):
    reports, solution = heard(skewed(racks), effort)

    assert reports
    reached = solution.certificate.cost.value
    assert all(bound <= reached <= cost for cost, bound in reports)
    assert all(later[0] <= earlier[0] for earlier, later in pairwise(reports))


def test_nothing_depends_on_whether_anybody_listens():
    problem = skewed(RACKS)

    _, solution = heard(problem, NORMAL)

    alone = solve(problem, effort=NORMAL)
    assert np.array_equal(solution.best.bin_of, alone.best.bin_of)
    assert np.array_equal(solution.best.role_of, alone.best.role_of)
