"""Plans by Cruise Control's rules, against its own plans for the same clusters."""

import numpy as np
import pytest

from benchmarks import cruise_control
from placement.rules.columns import SpreadTopics, uneven_topics
from planner.plan.make import make
from planner.plan.request import PlanRequest
from planner.plan.rule_request import RuleRequest
from support.clusters import make_state
from support.their_goals import missed_goals

ITS_RULES = RuleRequest(rules="cruise-control")


@pytest.mark.parametrize(
    ("name", "goal", "effort"),
    [
        pytest.param("S_a", "add-brokers", "normal", id="brokers-added"),
        pytest.param(
            "S_c", "rebalance", "thorough", id="skewed", marks=pytest.mark.slow
        ),
        pytest.param("S_d", "rebalance", "thorough", id="late", marks=pytest.mark.slow),
    ],
)
def test_every_default_goal_is_met_for_less_than_its_own_plan(name, goal, effort):
    state, theirs = cruise_control.read_cluster(name), cruise_control.read_plan(name)
    price = theirs.price_per_move
    request = PlanRequest(
        goal=goal,
        prefer="moves",
        move_cost_bytes=str(price),
        effort=effort,
        rules=ITS_RULES,
    )

    made = make(state, request)

    found = made.plan.placed.reassignment
    assert missed_goals(state)
    assert missed_goals(found.after()) == {}
    copied = found.copied_bytes(made.plan.placed.draft.weights)
    weighs = copied + price * int(found.is_copied.sum())
    assert weighs < theirs.copied_bytes + price * theirs.moves
    assert not [finding for finding in made.findings if not finding.existing]


@pytest.mark.parametrize("name", ["S_a", "S_c", "S_d"])
def test_what_its_own_plan_misses_is_counted(name):
    theirs = cruise_control.read_plan(name)

    missed = missed_goals(theirs.after)

    published = set(theirs.published["violated_after"])
    assert "LeaderBytesInDistributionGoal" in published & missed.keys()
    topics = "TopicReplicaDistributionGoal"
    assert (topics in missed) == (topics in published)
    assert missed.get(topics, 0.0) == theirs.published["topic_over"]


@pytest.mark.parametrize(
    ("placement", "missed"),
    [
        pytest.param([[0, 1], [1, 0]], set(), id="even"),
        pytest.param([[0, 2], [1, 0]], {"RackAwareGoal"}, id="two-in-a-rack"),
        pytest.param(
            [[0, 1]] * 6, {"LeaderReplicaDistributionGoal"}, id="one-leads-all"
        ),
    ],
)
def test_goals_are_counted_by_hand(placement, missed):
    state = make_state(
        placement,
        racks="aba",
        disk_bytes=100,
        broker_in=100.0,
        broker_out=100.0,
        broker_cpu=100.0,
        size_bytes=1,
        in_rate=1.0,
        out_rate=1.0,
        leader_cpu=1.0,
        follower_cpu=1.0,
    )

    found = missed_goals(state)

    wanted = {"RackAwareGoal", "LeaderReplicaDistributionGoal"}
    assert found.keys() & wanted >= missed


def test_topics_that_lie_unevenly_are_found():
    # Of 12 replicas on 4 brokers each may hold 3 + 5.4, rounded up; of 3, 1 + 2.
    state = make_state(
        {
            "bad": [[2]] * 6,
            "even": [[b] for b in range(4)],
            "few": [[0], [0], [0]],
            "worst": [[1]] * 12,
        },
        racks="abcd",
    )

    found = uneven_topics(state).tolist()

    by_hand = {}
    for row in range(4):
        of = state.partitions.topic_idx[state.replicas.partition_idx]
        held = np.bincount(state.replicas.broker_idx[of == row], minlength=4)
        low, high = SpreadTopics(()).ends(np.array(held.mean()))
        by_hand[row] = float(max(held.max() - high, low - held.min()))
    assert found == sorted(
        (row for row, off in by_hand.items() if off > 0), key=lambda row: -by_hand[row]
    )
    assert state.topics.names[found[0]] == "worst"
