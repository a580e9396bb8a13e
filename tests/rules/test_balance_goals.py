"""Goals of balance: low use, leaders, spread topics; and the cap of replicas."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from placement.check.case.check_settings import HardGoals
from placement.check.goals.hard_goals import _uneven
from placement.draft.draft import mean_use
from placement.model.load import Resource, weigh
from placement.rules.goal_columns import (
    LeaderIn,
    MinTopicLeaders,
    PotentialOut,
    SpreadTopics,
)
from planner.options.overrides import with_cpu_weights
from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import make
from rules.rule_plans import MET, after, planned
from support.clusters import make_state
from support.naive import lists_of


def test_the_replica_cap_is_hard():
    state = make_state([[0]] * 4 + [[1]] * 2, racks="abc")

    found = planned(state, max_replicas=2, resources=())

    held = Counter(row[0] for row in lists_of(after(found)).values())
    assert found.solution.status in MET
    assert held == {0: 2, 1: 2, 2: 2}


def test_what_is_hardly_used_is_not_balanced():
    state = make_state(
        [[0], [0], [1]], racks="ab", size_bytes=[5, 5, 5], disk_bytes=100
    )

    found = planned(state, low_utilization={Resource.DISK: 0.1})

    assert mean_use(state, weigh(state), found.draft.holds, Resource.DISK) == 0.075
    assert Resource.DISK not in found.balanced
    assert "disk is used to 7.5% and not balanced: that is less than 10.0%" in [
        note.message for note in found.notes
    ]


def test_low_use_counts_only_below_the_fraction():
    state = make_state([[0], [1]], racks="ab", size_bytes=10, disk_bytes=100)

    assert (
        Resource.DISK in planned(state, low_utilization={Resource.DISK: 0.1}).balanced
    )


def test_potential_out_keeps_followers_of_busy_partitions_apart():
    # Either broker could lead both busy partitions, were its peer to die.
    state = make_state(
        [[0, 1], [0, 1], [2, 3], [2, 3]], racks="abab",
        out_rate=[40.0, 40.0, 1.0, 1.0], in_rate=0.0, broker_out=60.0,
    )  # fmt: skip

    found = planned(state, PotentialOut(), resources=())

    rows = lists_of(after(found)).values()
    rates = [40.0, 40.0, 1.0, 1.0]
    for broker in range(4):
        most = sum(rate for row, rate in zip(rows, rates, strict=True) if broker in row)
        assert most <= 48
    assert found.reassignment.is_copied.any()


def test_leaders_share_what_comes_in():
    state = make_state(
        [[0, 1], [0, 1], [1, 0], [1, 0]], racks="ab",
        in_rate=[30.0, 30.0, 10.0, 10.0], out_rate=0.0,
    )  # fmt: skip

    found = planned(state, LeaderIn(), resources=())

    led = Counter()
    rates = [30.0, 30.0, 10.0, 10.0]
    for row, rate in zip(lists_of(after(found)).values(), rates, strict=True):
        led[row[0]] += rate
    assert led == {0: 40.0, 1: 40.0}
    assert not found.reassignment.is_copied.any()


def test_a_topic_is_spread_over_all_brokers():
    state = make_state({"a": [[0]] * 12, "b": [[1]] * 12}, ids=[0, 1], racks="ab")
    rule = SpreadTopics((0,), gap=0.1, least_gap=1)

    found = planned(state, rule, resources=())

    held = Counter(
        row[0] for (topic, _), row in lists_of(after(found)).items() if topic == "a"
    )
    assert found.solution.status in MET
    assert max(held.values()) <= 7
    assert {row[0] for (topic, _), row in lists_of(after(found)).items()
            if topic == "b"} == {1}  # fmt: skip


def test_leaders_of_a_topic_are_spread_over_all_brokers():
    state = make_state(
        {"a": [[0, 1, 2]] * 12, "b": [[0, 1, 2]] * 3}, ids=[0, 1, 2], racks="abc"
    )
    rules = {"spread_topic_leaders": "a", "spread_band": 0.1, "spread_gap": "1-2"}

    made = make(state, PlanRequest(goal="rebalance", **rules, resources="disk"))

    lists = lists_of(made.plan.placed.reassignment.after())
    led = Counter(row[0] for (topic, _), row in lists.items() if topic == "a")
    assert made.is_ok
    assert all(3 <= led[broker] <= 5 for broker in range(3))
    assert {row[0] for (topic, _), row in lists.items() if topic == "b"} == {0}
    assert not made.plan.placed.reassignment.is_copied.any()
    said = made.plan.settings
    assert (said["spread_topic_leaders"], said["spread_band"]) == ("a", 0.1)
    assert said["spread_gap"] == "1-2"


@pytest.mark.parametrize(
    ("options", "most"),
    [({}, 12), ({"spread_band": 0.25}, 8), ({"spread_gap": "1-3"}, 9)],
    ids=["usual", "band", "gap"],
)
def test_how_far_topics_are_spread_can_be_set(options, most):
    state = make_state([[0]] * 12, ids=[0, 1], racks="ab")
    rules = {"spread_topics": "t", **options}

    made = make(state, PlanRequest(goal="rebalance", **rules, resources="disk"))

    held = Counter(
        row[0] for row in lists_of(made.plan.placed.reassignment.after()).values()
    )
    assert made.is_ok
    assert max(held.values()) == most


@given(
    st.integers(0, 500), st.integers(1, 20), st.floats(0.01, 3), st.integers(0, 9),
    st.integers(0, 60),
)  # fmt: skip
def test_the_checker_has_the_limits_of_the_search(held, brokers, band, least, more):
    goals = HardGoals(
        names=frozenset(), spread_band=band, spread_gap=(least, least + more)
    )
    mean = held / brokers
    lower, upper = SpreadTopics((), band, least, least + more).ends(np.array(mean))

    counts = np.arange(2 * held + 100)
    off = [row for row, _, _ in _uneven(counts, counts >= 0, mean, goals)]

    assert off == [n for n in counts.tolist() if not lower <= n <= upper]


def test_topics_within_the_usual_gap_stay():
    state = make_state({"a": [[0]] * 3 + [[1]]}, ids=[0, 1], racks="ab")

    found = planned(state, SpreadTopics((0,)), resources=())

    assert found.is_nothing


def test_every_broker_leads_some_of_a_topic():
    state = make_state(
        {"a": [[0, 1, 2]] * 6, "b": [[0, 1, 2]] * 3}, ids=[0, 1, 2], racks="abc"
    )

    found = planned(state, MinTopicLeaders(((0, 2),)), resources=())

    led = Counter(
        row[0] for (topic, _), row in lists_of(after(found)).items() if topic == "a"
    )
    assert led == {0: 2, 1: 2, 2: 2}
    assert not found.reassignment.is_copied.any()
    assert {row[0] for (topic, _), row in lists_of(after(found)).items()
            if topic == "b"} == {0}  # fmt: skip


def test_cpu_is_estimated_where_it_was_not_measured():
    state = make_state(
        [[0, 1, 2], [0], [1]], in_rate=[10e6, 2e6, np.nan], out_rate=[5e6, 1e6, 1e6],
        leader_cpu=[np.nan, 7.0, np.nan],
    )  # fmt: skip
    weights = {"leader_in": 0.1, "leader_out": 0.01, "follower_in": 0.02}

    partitions = with_cpu_weights(state, weights).partitions

    # 10 MB/s in; out are 5 MB/s to consumers and twice 10 MB/s to followers.
    assert partitions.leader_cpu_cores[:2].tolist() == pytest.approx([1.25, 7.0])
    assert partitions.follower_cpu_cores[:2].tolist() == pytest.approx([0.2, 0.04])
    assert np.isnan(partitions.leader_cpu_cores[2])
    assert with_cpu_weights(state, {}) is state


def test_estimated_cpu_is_balanced_and_recorded():
    state = make_state([[0], [0], [1]], in_rate=1e6, out_rate=0.0, racks="ab")
    rules = {"cpu_weight": ["leader-in=0.5", "leader_out=0"]}

    made = make(state, PlanRequest(goal="rebalance", **rules))

    assert Resource.CPU in made.plan.placed.balanced
    assert made.plan.settings["cpu_weights"] == {"leader_in": 0.5, "leader_out": 0.0}
