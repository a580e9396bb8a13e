"""Regular expressions of topics that match nothing are noted, as slips are."""

import pytest

import planner
from planner.demo import SNAPSHOT_FILE


@pytest.fixture(scope="module")
def snapshot():
    return planner.read_snapshot(SNAPSHOT_FILE)


@pytest.mark.parametrize(
    ("options", "noted"),
    [
        pytest.param(
            {"topics": "order.paid"},
            "no topic matches --topics order.paid; did you mean orders.paid?",
            id="chosen",
        ),
        pytest.param(
            {"exclude_topics": "zzz"},
            "no topic matches --exclude-topics zzz",
            id="left-out",
        ),
        pytest.param(
            {"keep_topics": "zzz"}, "no topic matches --keep-topics zzz", id="kept"
        ),
        pytest.param(
            {"keep_leaders": "zzz"}, "no topic matches --keep-leaders zzz", id="led"
        ),
    ],
)
def test_an_expression_that_matches_no_topic_is_noted(snapshot, options, noted):
    plan = planner.rebalance(snapshot, effort="quick", **options)

    assert noted in plan.notes


def test_an_expression_that_matches_is_not(snapshot):
    plan = planner.rebalance(snapshot, topics="orders.*", exclude_topics="__.*")

    assert not any("no topic matches" in note for note in plan.notes)
