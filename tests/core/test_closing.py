"""Cost and bound as they close, for whoever listens."""

from itertools import pairwise

import numpy as np
import pytest

from placement.core.model.gap_report import listening
from placement.core.model.search_budget import EXACT, NORMAL
from placement.core.solve import solve
from support.profile import IS_THOROUGH
from support.racked import skewed

RACKS = [0, 1, 0, 1, 0, 1]


def heard(problem, effort):
    reports = []
    with listening(lambda cost, bound: reports.append((cost, bound))):
        solution = solve(problem, effort=effort)
    return reports, solution


@pytest.mark.slow
@pytest.mark.parametrize(
    ("effort", "racks"),
    # Without racks the exact search takes ten times as long.
    [(NORMAL, RACKS), (NORMAL, None), (EXACT, RACKS), (EXACT, None)][: 3 + IS_THOROUGH],
)
def test_no_bound_is_above_the_cost_that_is_reached(effort, racks):
    reports, solution = heard(skewed(racks), effort)

    assert reports
    reached = solution.certificate.cost.value
    assert all(bound <= reached <= cost for cost, bound in reports)
    assert all(later[0] <= earlier[0] for earlier, later in pairwise(reports))


def test_nothing_depends_on_listeners():
    problem = skewed(RACKS)

    _, solution = heard(problem, NORMAL)

    alone = solve(problem, effort=NORMAL)
    assert np.array_equal(solution.best.bin_of, alone.best.bin_of)
    assert np.array_equal(solution.best.role_of, alone.best.role_of)
