import pytest

from fuzz.drawn import GOALS
from fuzz.run import look

CASES = 120
"""Of each operation; 1,320 in all. `make fuzz` draws as many as it is told to."""
MOST_IDLE = 0.35
"""Fraction of the cases of one operation that may come to nothing or be refused."""


# Where lines are counted, these would take twice as long and reach no others.
@pytest.mark.slow
@pytest.mark.no_cover
@pytest.mark.parametrize("goal", GOALS)
def test_plans_of_every_operation_keep_what_any_plan_must(goal: str):
    told = look(CASES, 1, (goal,), goes_on=False)

    # And most of them had something to do.
    idle = told[f"{goal} nothing-to-do"] + told[f"{goal} refused"]
    assert sum(told.values()) >= CASES
    assert idle <= MOST_IDLE * CASES
