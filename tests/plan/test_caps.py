"""Caps on a plan, and the price of a move, from the options to the plan."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.errors import BadInputError
from planner.plan.make import make
from planner.plan.request import PlanRequest
from support.clusters import clusters
from support.plans import planned_for, skewed_document

DOCUMENT = skewed_document(num_brokers=8, num_partitions=60, seed=1)


def noted(planned) -> list[str]:
    return [note.what for note in planned.plan.placed.notes]


@pytest.mark.parametrize("cap", [0, 1, 5, 20])
def test_no_more_copies_than_allowed(cap: int):
    planned = planned_for(DOCUMENT, "rebalance", max_moves=cap)

    assert planned.plan.moves["replicas"] <= cap
    assert planned.is_ok
    assert "capped" in noted(planned)


@pytest.mark.parametrize("part", [0.1, 0.5])
def test_no_more_bytes_than_allowed(part: float):
    free = planned_for(DOCUMENT, "rebalance")
    cap = int(free.plan.moves["bytes"] * part)

    planned = planned_for(DOCUMENT, "rebalance", max_bytes=str(cap))

    assert 0 < planned.plan.moves["bytes"] <= cap
    assert planned.is_ok
    assert "capped" in noted(planned)


def test_a_cap_that_is_not_reached_changes_nothing_that_counts():
    free = planned_for(DOCUMENT, "rebalance")

    planned = planned_for(DOCUMENT, "rebalance", max_moves=10**9, max_bytes="1EB")

    assert "capped" not in noted(planned)
    assert planned.plan.placed.solution.certificate.deviation.value == 0
    assert free.plan.placed.solution.certificate.deviation.value == 0


def test_more_may_be_moved_when_more_is_allowed():
    outside = [
        planned_for(
            DOCUMENT, "rebalance", max_moves=cap
        ).plan.placed.solution.certificate.deviation.value
        for cap in (0, 5, 20, 60)
    ]

    assert outside == sorted(outside, reverse=True)
    assert outside[0] > outside[-1]


@settings(max_examples=40)
@given(clusters(min_brokers=3), st.integers(0, 8))
def test_caps_hold_for_any_cluster(state, cap: int):
    request = PlanRequest(goal="rebalance", max_moves=cap, effort="quick")

    planned = make(state, request)

    assert planned.plan.moves["replicas"] <= cap
    # Some clusters are beyond mending, which is a finding without a cap as well; and a
    # plan that may not mend all says so.
    free = make(state, PlanRequest(goal="rebalance", effort="quick"))
    is_short = planned.plan.status in {"partial", "infeasible"}
    assert planned.is_ok or is_short or not free.is_ok


def test_preferring_moves_makes_no_more_of_them():
    few_bytes = planned_for(DOCUMENT, "rebalance")
    few_moves = planned_for(DOCUMENT, "rebalance", prefer="moves")

    assert few_moves.plan.moves["replicas"] <= few_bytes.plan.moves["replicas"]
    assert few_moves.is_ok


@pytest.mark.parametrize(
    ("options", "place"),
    [
        pytest.param({"max_moves": -1}, "--max-moves", id="negative-moves"),
        pytest.param({"max_bytes": "much"}, "--max-bytes", id="no-size"),
        pytest.param({"max_bytes": "5Gb"}, "--max-bytes", id="bits"),
        pytest.param({"move_cost_bytes": "-1"}, "--move-cost-bytes", id="negative"),
    ],
)
def test_caps_that_are_none_are_refused(options, place: str):
    with pytest.raises(BadInputError) as refused:
        planned_for(DOCUMENT, "rebalance", **options)

    assert [problem.place for problem in refused.value.problems] == [place]
