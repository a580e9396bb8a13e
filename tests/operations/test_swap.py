"""Exchange of the roles of two brokers."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import planner
from placement.core.model.solution import Status
from placement.draft.draft import Settings
from placement.model.cluster import ABSENT, BrokerState, ClusterState
from placement.model.load import (
    WeightArray,
    preferred_leaders,
    weigh,
)
from placement.operations.swap import Swap
from placement.rules.anti_affinity import TopicsApart
from placement.rules.broker_sets import BrokerSets
from placement.rules.pinning import KeepLeaders, KeepTopics
from planner.plan.documents.plan_records import PlanRecord
from planner.snapshot import Snapshot
from support.clusters import clusters, make_state
from support.commands import run
from support.operations import lists_after, lists_of, plan_checked, planned
from support.plans import skewed_document, write_document

ROOMY = {"disk": 1.0, "out": 1.0}
ROOM = ("--capacity-threshold", "disk=1", "--capacity-threshold", "out=1")


@pytest.mark.parametrize(
    ("lists", "after"),
    [
        pytest.param([[0, 2]], [[1, 2]], id="one-of-them"),
        pytest.param([[2, 0], [1, 2]], [[2, 1], [0, 2]], id="positions-stay"),
        pytest.param([[0, 2, 1]], [[1, 2, 0]], id="both-exchange-positions"),
        pytest.param([[2, 3]], [[2, 3]], id="neither"),
        pytest.param([[0], [0], [1]], [[1], [1], [0]], id="different-numbers"),
        pytest.param([], [], id="no-partitions"),
    ],
)
def test_each_broker_stands_where_the_other_one_stood(lists, after):
    state = make_state(lists, racks="aabc", size_bytes=10)

    assert planned(state, Swap((0, 1))) == after
    assert planned(state, Swap((1, 0))) == after


def test_a_list_with_both_is_only_reordered():
    state = make_state([[0, 2, 1], [1, 0]], racks="abc", size_bytes=10)

    found = plan_checked(state, Swap((0, 1)))

    assert not found.reassignment.is_copied.any()
    assert found.reassignment.is_led_anew.all()


def test_a_rack_that_would_be_crowded_keeps_everything_in_place():
    # The second partition alone could be exchanged.
    state = make_state([[0, 2], [0, 3]], racks="abbc")

    found = plan_checked(state, Swap((0, 1)))

    assert lists_after(found) == [[0, 2], [0, 3]]
    (lacking,) = found.solution.shortfalls
    assert (lacking.group, lacking.what, lacking.level) == (0, "spread", "rack")
    assert found.solution.status is Status.INFEASIBLE


def test_brokers_of_different_racks_are_exchanged_where_racks_allow():
    state = make_state([[0, 2], [1, 2]], racks="abc")

    assert planned(state, Swap((0, 1))) == [[1, 2], [0, 2]]


def test_a_full_broker_fits_a_smaller_one_or_nothing_moves():
    state = make_state(
        [[0], [0], [1]], racks="ab", size_bytes=[30, 60, 20], disk_bytes=[1000, 100]
    )

    found = plan_checked(state, Swap((0, 1)))

    assert lists_after(found) == lists_of(state)
    (lacking,) = found.solution.shortfalls
    assert (lacking.what, lacking.resource, lacking.node) == ("capacity", "disk", 1)
    assert (lacking.have, lacking.need) == (80, 90)


def test_a_broker_is_emptied_before_it_is_filled():
    # Each holds 70 of 80, so that both fit only because both leave.
    state = make_state([[0], [1]], racks="ab", size_bytes=70, disk_bytes=100)

    assert planned(state, Swap((0, 1))) == [[1], [0]]
    assert planned(state, Swap((0, 1)), is_disk_transient=True) == [[0], [1]]


def test_a_broker_over_its_threshold_may_trade_places_with_a_larger_one():
    state = make_state([[0]], racks="ab", size_bytes=90, disk_bytes=[100, 200])

    assert planned(state, Swap((0, 1))) == [[1]]


@pytest.mark.parametrize(
    ("cap", "what", "need"),
    [
        ({"max_moves": 1}, "moves", 2),
        ({"max_bytes": 15}, "cost", 20),
        ({"max_cross_rack_bytes": 15}, "crossing", 20),
    ],
)
def test_a_cap_below_all_copies_keeps_everything_in_place(cap, what, need):
    state = make_state([[2, 0], [2, 1]], racks="abc", size_bytes=10)

    found = plan_checked(state, Swap((0, 1)), Settings(**cap))

    assert lists_after(found) == lists_of(state)
    (lacking,) = found.solution.shortfalls
    assert (lacking.what, lacking.need) == (what, need)


def test_a_leader_needs_a_broker_that_may_lead():
    state = make_state([[0, 2], [2, 0]], racks="abc")
    no_leaders = Settings(excluded_for_leaders=frozenset({1}))

    found = plan_checked(state, Swap((0, 1)), no_leaders)

    assert lists_after(found) == lists_of(state)
    assert [lacking.group for lacking in found.solution.shortfalls] == [0]


def test_excluded_and_kept_topics_stay_and_the_rest_is_exchanged():
    state = make_state({"a": [[0]], "b": [[0]], "c": [[1]]}, racks="ab")
    excluded = np.array([True, False, False])
    kept = KeepTopics(np.array([False, True, False]))

    after = planned(state, Swap((0, 1)), excluded_topics=excluded, rules=(kept,))

    assert after == [[0], [0], [0]]


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param(KeepLeaders(np.array([True, False])), id="keep-leaders"),
        pytest.param(BrokerSets(np.array([0, ABSENT])), id="broker-set"),
    ],
)
def test_a_rule_on_request_keeps_everything_in_place(rule):
    state = make_state(
        {"a": [[0, 2]], "b": [[1]]}, racks="abc", broker_sets={0: "gold", 2: "gold"}
    )

    found = plan_checked(state, Swap((0, 1)), Settings(rules=(rule,)))

    assert lists_after(found) == lists_of(state)
    assert 0 in {lacking.group for lacking in found.solution.shortfalls}


def test_topics_apart_stay_apart():
    state = make_state({"a": [[0], [2]], "b": [[1], [3]]}, racks="abcd")
    apart = TopicsApart(np.array([0, 1], dtype=np.int32), ("a", "b"))

    found = plan_checked(state, Swap((0, 1)), Settings(rules=(apart,)))

    assert lists_after(found) == [[1], [2], [0], [3]]
    assert found.has_met_rules


def test_a_partition_that_must_be_left_alone_keeps_everything_in_place():
    state = make_state([[0, 2], [1, 3]], racks="abcd", states={3: BrokerState.FENCED})

    found = plan_checked(state, Swap((0, 1)))

    assert lists_after(found) == lists_of(state)
    (lacking,) = found.solution.shortfalls
    assert "left alone" in lacking.message


def led_by_lists(state: ClusterState) -> WeightArray:
    """Return the loads by replicas, once the first replica of every list leads."""
    weights, leader = weigh(state), preferred_leaders(state)
    is_led = np.not_equal(leader, ABSENT)
    load = np.zeros((state.num_brokers, weights.replica.shape[1]), dtype=np.int64)
    of = state.replicas.partition_idx
    np.add.at(load, state.replicas.broker_idx, weights.replica[of])
    np.add.at(load, leader[is_led], weights.leader[is_led])
    return load


@given(clusters(min_brokers=2), st.randoms(use_true_random=False))
def test_lists_are_exchanged_as_a_whole_or_not_at_all(state: ClusterState, random):
    pair = random.sample(state.brokers.ids.tolist(), 2)

    found = plan_checked(state, Swap(tuple(pair)))

    other = dict(zip(pair, reversed(pair), strict=True))
    exchanged = [[other.get(b, b) for b in row] for row in lists_of(state)]
    is_done = not found.solution.shortfalls
    assert lists_after(found) == (exchanged if is_done else lists_of(state))
    assert is_done == found.has_met_rules


@pytest.mark.not_quick
@given(
    clusters(min_brokers=2, all_live=True),
    st.randoms(use_true_random=False),
)
def test_loads_are_exchanged_exactly_and_a_second_time_back(state, random):
    pair = random.sample(state.brokers.ids.tolist(), 2)

    found = plan_checked(state, Swap(tuple(pair)))

    assume(found.has_met_rules and not (state.replicas.own_bytes >= 0).any())
    after = found.reassignment.after()
    rows = state.brokers.rows_of(pair)
    expected = led_by_lists(state)
    expected[rows] = expected[rows[::-1]]
    assert np.array_equal(led_by_lists(after), expected)
    again = plan_checked(after, Swap(tuple(pair)))
    assert lists_after(again) == lists_of(state)


def test_the_command_plans_checks_and_applies(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_document(skewed_document(), Path("now.json"))

    made = run(capsys, "plan", "swap", "now.json", "--brokers", "4,1", *ROOM, "-o", "p")

    assert made.code == 0, made.err
    assert "swap 1 and 4" in made.out
    assert max(map(len, made.out.splitlines())) <= 80
    assert run(capsys, "check", "p", "--snapshot", "now.json").code == 0
    document = json.loads(Path("p/plan.json").read_text())
    PlanRecord.model_validate(document)
    assert document["settings"]["brokers"] == [1, 4]
    assert document["moves"]["replicas"] > 0


@pytest.mark.parametrize(
    "brokers",
    [(), ("--brokers", "1"), ("--brokers", "1,1"), ("--brokers", "1,2,3"),
     ("--brokers", "1,77"), ("--brokers", "x")],
    ids=" ".join,
)  # fmt: skip
def test_two_brokers_of_the_cluster_must_be_named(brokers, capsys, tmp_path):
    write_document(skewed_document(), tmp_path / "now.json")

    outcome = run(
        capsys, "plan", "swap", tmp_path / "now.json", *brokers, "--format", "json"
    )

    assert outcome.code == 2
    assert {one["place"] for one in outcome.document["problems"]} == {"--brokers"}


def test_a_dead_broker_trades_places_with_none(capsys, tmp_path):
    document = skewed_document()
    document["brokers"][3]["state"] = "dead"
    write_document(document, tmp_path / "now.json")

    outcome = run(capsys, "plan", "swap", tmp_path / "now.json", "--brokers", "1,4")

    assert outcome.code == 2
    assert "must be live" in outcome.err


def test_python_plans_the_same():
    cluster = Snapshot.from_document(skewed_document())

    made = planner.plan_operation(
        cluster, "swap", brokers=[4, 1], capacity_threshold=ROOMY
    )

    assert made.is_ok
    assert made.counts["replicas"] > 0
    assert made.document["settings"]["brokers"] == [1, 4]
