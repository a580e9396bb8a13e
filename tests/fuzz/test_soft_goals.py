"""What the judge of soft goals takes for a change that is for nothing."""

import pytest

from fuzz.drawn import Drawn
from fuzz.soft_goals import SoftGoals
from planner.options.cluster_options import read_request
from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import make, rules_of
from support.clusters import make_state


def judge_of(rows, new, goal="rebalance", sets=None, **options) -> SoftGoals:
    """Return the judge of a plan that is taken to end in other lists."""
    return judge_in(make_state(rows, racks="abc", broker_sets=sets), new, goal, options)


def judge_in(state, new, goal, options) -> SoftGoals:
    request = PlanRequest(goal=goal, **({"resources": "replicas"} | options))
    made = make(state, request)
    case = Drawn(state, request)
    judge = SoftGoals(case, made, rules_of(made.plan, read_request(request, state)))
    judge.new = new
    return judge


EVEN = [[0], [0], [1], [1], [2], [2]]


@pytest.mark.parametrize("rows", [EVEN, []])
def test_what_is_even_stays_as_it_is(rows):
    judge = judge_of(rows, rows)

    judge.told()
    judge.whole()
    judge.parts()


@pytest.mark.parametrize(
    "new",
    [
        pytest.param([[1], [0], [0], [1], [2], [2]], id="traded"),
        pytest.param([[1], [0], [1], [1], [2], [2]], id="worse"),
    ],
)
def test_a_change_that_makes_nothing_better_is_for_nothing(new):
    with pytest.raises(AssertionError, match="soft goals from"):
        judge_of(EVEN, new).whole()


def test_one_move_too_many_is_for_nothing():
    rows = [[0], [0], [0], [0], [1], [2]]

    judge_of(rows, [[1], [2], [0], [0], [1], [2]]).parts()
    with pytest.raises(AssertionError, match="t-0 moves for nothing"):
        judge_of(rows, [[1], [1], [2], [0], [1], [2]]).parts()


def test_what_has_to_leave_its_broker_moves_for_a_reason():
    options = {"goal": "remove-brokers", "broker_list": "2"}

    judge = judge_of(EVEN, [[0], [0], [1], [1], [0], [1]], **options)

    judge.parts()


SETS = {0: "gold", 1: "gold", 2: "silver"}


def test_a_replica_outside_the_set_of_its_topic_moves_for_a_reason():
    apart = {"g": [[0], [0], [1], [2]], "s": [[2], [2]]}
    left, joined = [[0], [0], [1], [0], [2], [2]], [[0], [0], [0], [1], [2], [2]]

    # Which makes the gold ones no more even, and nobody has to weigh that.
    judge_of(apart, left, sets=SETS).whole()
    judge_of(apart, left, sets=SETS).parts()
    # What lies in its own set has no such reason.
    with pytest.raises(AssertionError, match="g-2 moves for nothing"):
        judge_of(apart, joined, sets=SETS).parts()


def test_a_plan_that_is_met_leaves_nothing_in_another_set():
    apart = {"g": [[0], [0], [1], [2]], "s": [[2], [2]]}
    judge = judge_of(apart, [[0], [0], [1], [1], [2], [2]], sets=SETS)
    judge.sets()

    judge.new = judge.old

    with pytest.raises(AssertionError, match="g-3 stays in another set"):
        judge.sets()


def test_reported_figures_equal_recomputed_ones():
    judge = judge_of(EVEN, [[0], [0], [0], [0], [2], [2]])

    with pytest.raises(AssertionError, match=r"0\.0 told"):
        judge.told()


def test_copies_still_to_come_have_no_part_in_factors():
    # With them racks could hold more of it, and shares would be others.
    rows = [[0, 2, 1]]
    state = make_state(
        rows, racks="abca", ids=[0, 1, 2, 3], broker_sets=SETS | {3: "gold"},
        adding=[[1]],
    )  # fmt: skip

    judge = judge_in(state, rows, "fix", {})

    judge.told()
