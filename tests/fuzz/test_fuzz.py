import pytest
from hypothesis import given, settings

from fuzz.drawn import Drawn, drawn
from fuzz.judging import judge
from planner.plan.make import OPERATIONS


@pytest.mark.parametrize("goal", OPERATIONS)
def test_plans_of_every_operation_keep_what_any_plan_must(goal: str):
    told = set()

    @settings(max_examples=12)
    @given(drawn((goal,)))
    def every(case: Drawn) -> None:
        told.add(judge(case))

    every()

    # Not all of them refused.
    assert told - {"refused"}
