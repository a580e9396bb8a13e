"""Plans by Cruise Control's rules, against its own plans for the same clusters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import cruise_control
from placement.draft.draft import Settings
from placement.draft.topic_spread import topic_caps
from placement.model.load import RESOURCES, Resource, loads_of
from placement.model.targets import find_targets
from placement.operations.rebalance import Rebalance
from placement.planning.plan import draft_shares, make_draft, plan
from placement.rules.goal_columns import (
    CruiseControlLimits,
    SpreadTopics,
    uneven_topics,
)
from placement.rules.hard_levels import broker_limits
from placement.synthetic import Size, make_instance
from planner.options.cluster_options import read_request
from planner.options.plan_request import PlanRequest
from planner.plan.folder.plan_folder import write_plan
from planner.plan.input.plan_input import check_settings, read_plan
from planner.plan.run.make_plan import make, rules_of
from support.clusters import make_state
from support.profile import sampled
from support.their_goals import missed_goals

ITS_RULES = {"rules": "cruise-control"}


def compared(name, **options):
    """Plan at the price that makes both halves of its own plan weigh the same."""
    state, theirs = cruise_control.read_cluster(name), cruise_control.read_plan(name)
    request = PlanRequest(
        goal="add-brokers" if name.endswith("_a") else "rebalance",
        prefer="moves",
        move_cost_bytes=str(theirs.price_per_move),
        **options,
    )
    return make(state, request), theirs


def copied(made):
    """Return the replicas that a plan copies, and their bytes."""
    found = made.plan.placed.reassignment
    weights = made.plan.placed.draft.weights
    return int(found.is_copied.sum()), found.copied_bytes(weights)


NAMES = [
    pytest.param("S_a", id="30-brokers-added"),
    pytest.param("S_c", id="30-skewed"),
    pytest.param("S_d", id="30-late"),
    pytest.param("M_a", id="150-brokers-added", marks=pytest.mark.slow),
    pytest.param("M_c", id="150-skewed"),
    pytest.param("M_d", id="150-late", marks=pytest.mark.slow),
]


@pytest.mark.slow
@pytest.mark.parametrize("name", sampled(NAMES))
def test_every_default_goal_is_met_for_less_than_its_own_plan(name):
    made, theirs = compared(name, **ITS_RULES)

    after = made.plan.placed.reassignment.after()
    assert missed_goals(cruise_control.read_cluster(name))
    assert missed_goals(theirs.after)
    assert missed_goals(after) == {}
    moves, moved_bytes = copied(made)
    assert moves <= theirs.moves
    assert moved_bytes <= theirs.copied_bytes
    assert moves < theirs.moves or moved_bytes < theirs.copied_bytes
    assert not [finding for finding in made.findings if not finding.existing]


@pytest.mark.slow
@pytest.mark.parametrize("name", sampled(NAMES, 1))
def test_without_its_rules_neither_moves_nor_bytes_are_more(name):
    made, theirs = compared(name, band=(str(cruise_control.BAND),))

    assert made.plan.placed.solution.certificate.deviation.value == 0
    moves, moved_bytes = copied(made)
    assert moves <= theirs.moves
    assert moved_bytes < theirs.copied_bytes
    assert not [finding for finding in made.findings if not finding.existing]


@pytest.mark.slow
@pytest.mark.parametrize("name", sampled(["S_a", "S_c", "S_d"], 2))
def test_every_default_goal_is_met_for_few_bytes_as_well(name):
    goal = "add-brokers" if name.endswith("_a") else "rebalance"
    request = PlanRequest(goal=goal, **ITS_RULES)

    made = make(cruise_control.read_cluster(name), request)

    assert missed_goals(made.plan.placed.reassignment.after()) == {}
    assert copied(made)[1] < cruise_control.read_plan(name).copied_bytes
    assert not [finding for finding in made.findings if not finding.existing]


@pytest.mark.not_quick
@pytest.mark.parametrize("name", cruise_control.NAMES)
def test_what_its_own_plan_misses_is_counted(name):
    theirs = cruise_control.read_plan(name)

    missed = missed_goals(theirs.after)

    published = set(theirs.published["violated_after"])
    counted = {
        "ReplicaDistributionGoal",
        "LeaderReplicaDistributionGoal",
        "TopicReplicaDistributionGoal",
        "LeaderBytesInDistributionGoal",
    }
    assert counted & missed.keys() == counted & published
    topics = "TopicReplicaDistributionGoal"
    assert missed.get(topics, 0.0) == theirs.published["topic_over"]


@pytest.mark.parametrize(
    ("each", "lower", "upper"),
    [
        # 1.10 less 1, times 0.9, is 0.09000000000000008 in doubles.
        pytest.param(100, 90, 110, id="a-hair-wider"),
        pytest.param(300, 273, 327, id="lost-in-rounding"),
        pytest.param(33, 30, 36, id="outwards"),
        pytest.param(5, 4, 6, id="few"),
    ],
)
def test_counts_have_the_bands_of_cruise_control(each, lower, upper):
    # One broker could hold ten times as much: its goals count all the same.
    state = make_state([[0], [1]] * each, racks="ab", disk_bytes=[10**6, 10**7])
    bands = dict.fromkeys(RESOURCES, 0.09)
    draft = make_draft(
        state, Rebalance(), Settings(bands=bands, rules=(CruiseControlLimits(),))
    )

    found = find_targets(draft_shares(draft), *loads_of(state))

    limits = broker_limits(draft, found, RESOURCES)
    for resource in (Resource.REPLICAS, Resource.LEADERS):
        r = RESOURCES.index(resource)
        assert (found.lower[:, r] == lower).all()
        assert (found.upper[:, r] == upper).all()
        assert limits.lower[:, r].tolist() == [lower, lower]
        assert limits.upper[:, r].tolist() == [upper, upper]


@given(st.integers(1, 10**5), st.integers(1, 500))
def test_topics_have_the_limits_of_cruise_control(replicas, brokers):
    mean, part = replicas / brokers, (3.0 - 1) * 0.9

    lower, upper = SpreadTopics(()).ends(np.array(mean))

    most = max(np.ceil(mean) + 2, min(np.ceil(mean * (1 + part)), np.ceil(mean) + 40))
    assert (float(lower), float(upper)) == (max(0, np.floor(mean) - 40), most)


def test_topics_may_lie_as_its_goal_admits():
    # Of 60 replicas a broker may have twelve by their share, and 28 by its goal.
    state = make_state({"t": [[b] for b in range(6)] * 10}, racks="aabbcc")
    draft = make_draft(state, Rebalance(), Settings(rules=(CruiseControlLimits(),)))
    targets = find_targets(draft_shares(draft), *loads_of(state))

    caps = topic_caps(draft, targets)

    assert caps.replicas.tolist() == [28]
    assert not len(caps.leaders)


def test_leaders_in_may_reach_the_whole_threshold():
    # A mean of 100 each: 109 is within its bands, 110 within this goal.
    state = make_state([[0], [1]], racks="ab", in_rate=[110.0, 90.0])
    chosen = read_request(PlanRequest(goal="rebalance", **ITS_RULES), state)

    draft = make_draft(state, Rebalance(), chosen.settings)

    (column,) = (one for one in draft.columns if one.name == "leader-in")
    # In thousandths, rounded up.
    assert column.upper.tolist() == pytest.approx([110_000, 110_000], abs=1)


def test_goals_of_topics_let_every_broker_give():
    # Columns without a lower end, none of which is in anybody's way.
    instance = make_instance("a", Size(12, 3, 3_000, 64), 1, 0.05)
    spread = SpreadTopics(tuple(range(32)), gap=1000.0, most_gap=10**6)

    plans = [
        plan(instance.state, instance.operation, Settings(rules=rules))
        for rules in ((), (spread,))
    ]

    without, spread_out = (one.reassignment.broker_idx.tolist() for one in plans)
    assert spread_out == without


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


def test_a_written_plan_is_held_to_its_limits(tmp_path):
    state = make_state([[0, 1], [0, 1], [1, 0], [0, 1]], racks="abab", size_bytes=10)
    rules = {"rules": "cruise-control", "hard": ("band-replicas",)}
    request = PlanRequest(goal="rebalance", **rules)
    made = make(state, request)
    write_plan(made.plan, tmp_path / "plan")

    held = check_settings(
        read_plan(tmp_path / "plan"),
        state,
        capacity_thresholds={},
        allow_replication_factor_change=False,
    )

    assert (
        held.hard_goals == rules_of(made.plan, read_request(request, state)).hard_goals
    )
    assert held.hard_goals.is_cruise_control
