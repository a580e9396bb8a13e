import pytest

from fuzz import solved
from fuzz.drawn import GOALS
from fuzz.run import look
from support.profile import IS_THOROUGH

CASES = 120 if IS_THOROUGH else 40
"""Of each operation; `make fuzz` draws as many as it is told to."""
OF_CHEAP = 224 if IS_THOROUGH else 75
"""Of those that take a tenth of a second each."""
CHEAP = ("leaders", "demote", "log-dirs")
OF_IDLE = 60
"""Of those that often have nothing to do in the first cases, unless more are drawn."""
IDLE = ("leaders", "swap", "fix")
MOST_IDLE = 0.35
"""Fraction of the cases of one operation that may come to nothing or be refused."""


def cases_of(goal: str) -> int:
    """Return how many cases of an operation are judged."""
    if goal in IDLE and not IS_THOROUGH:
        return OF_IDLE
    return OF_CHEAP if goal in CHEAP else CASES


# Where lines are counted, these would take twice as long and reach no others.
@pytest.mark.slow
@pytest.mark.no_cover
@pytest.mark.parametrize("goal", GOALS)
def test_plans_of_every_operation_keep_what_any_plan_must(goal: str):
    cases = cases_of(goal)
    told = look(cases, 1, (goal,), goes_on=False)

    # And most of them had something to do.
    idle = told[f"{goal} nothing-to-do"] + told[f"{goal} refused"]
    assert sum(told.values()) >= cases
    assert idle <= MOST_IDLE * cases


SOLVED = 60 if IS_THOROUGH else 30
"""Plans of CP-SAT's; `make fuzz-solved` draws 10,000."""


@pytest.mark.slow
@pytest.mark.no_cover
def test_plans_of_cp_sat_pass_the_checker():
    told = solved.look(SOLVED, 1)

    assert told.total() == SOLVED
    # And most of them keep every rule.
    assert sum(n for name, n in told.items() if "infeasible" in name) < SOLVED / 2
