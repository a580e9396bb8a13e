import pytest

from fuzz import solved
from fuzz.drawn import GOALS
from fuzz.run import look
from support.profile import IS_THOROUGH

USUAL = (40, 120)
"""Number of cases of an operation by default, and with a thorough profile."""
CASES = {
    # These take a tenth of a second each.
    "demote": (75, 224),
    "log-dirs": (75, 224),
    "leaders": (60, 224),
    # These leave many clusters as they are.
    "fix": (60, 120),
    "swap": (60, 120),
}
"""Number of cases of operations with other numbers than `USUAL`."""
MOST_IDLE = 0.35
"""Fraction of the cases of one operation that may come to nothing or be refused."""


@pytest.mark.slow
@pytest.mark.parametrize("goal", GOALS)
def test_plans_of_every_operation_keep_what_any_plan_must(goal: str):
    cases = CASES.get(goal, USUAL)[IS_THOROUGH]
    found = look(cases, 1, (goal,), goes_on=False)

    # And most of them had something to do.
    idle = found[f"{goal} nothing-to-do"] + found[f"{goal} refused"]
    assert sum(found.values()) >= cases
    assert idle <= MOST_IDLE * cases


SOLVED = 60 if IS_THOROUGH else 30
"""Plans of CP-SAT's; `make fuzz-solved` draws 10,000."""


@pytest.mark.slow
def test_plans_of_cp_sat_pass_the_checker():
    found = solved.look(SOLVED, 1)

    assert found.total() == SOLVED
    # And most of them keep every rule.
    assert sum(n for name, n in found.items() if "infeasible" in name) < SOLVED / 2
