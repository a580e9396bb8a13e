"""Rules that hold where they are asked for: in small cases, and in any cluster."""

import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.check import Target
from placement.check.case.check_settings import HardGoals
from placement.check.goals.hard_goals import _uneven
from placement.check.rules.chosen_rules import (
    broker_sets,
    only_trades,
    replica_cap,
    strict_racks,
    within_rack,
)
from placement.check.rules.kept_replicas import kept_topics
from placement.check.rules.move_caps import move_caps
from placement.core.model.solution import Status
from placement.draft.draft import Settings, mean_use
from placement.draft.rule_tables import Eligibility, class_tables
from placement.model.load import RESOURCES, Resource, broker_loads, disk_loads, weigh
from placement.operations.rebalance import Rebalance
from placement.operations.remove_brokers import RemoveBrokers
from placement.planning.infeasibility.infeasible_rules import explain_impossible
from placement.planning.plan import plan
from placement.rules.broker_sets import BrokerSets, home_sets
from placement.rules.goal_columns import (
    LeaderIn,
    MinTopicLeaders,
    PotentialOut,
    SpreadTopics,
)
from placement.rules.pinning import KeepTopics, OnlyOverThreshold, OnlyTrades
from placement.rules.rack_rules import WithinRack
from planner.errors import BadInputError
from planner.options.cluster_options import read_request
from planner.options.declared.option import Problems
from planner.options.declared.rule_readers import read_rack_map
from planner.options.overrides import with_cpu_weights, with_rack_map
from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import make
from support.clusters import clusters, make_state
from support.naive import failed_ids, key_of, lists_of, live_ids, rack_of

MET = {Status.OPTIMAL, Status.FEASIBLE}


def planned(state, *rules, operation=None, **chosen_settings):
    return plan(
        state, operation or Rebalance(), Settings(rules=rules, **chosen_settings)
    )


def after(found):
    return found.reassignment.after()


def changed_lists(found):
    state = found.reassignment.before
    rows = np.nonzero(found.reassignment.is_changed)[0]
    new = lists_of(after(found))
    return {key_of(state, int(row)): new[key_of(state, int(row))] for row in rows}


def target_of(lists):
    return Target.from_lists(
        [topic for topic, _ in lists], [n for _, n in lists], list(lists.values())
    )


# Racks ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rack_rule", "status"),
    [("distribution", "nothing-to-do"), ("strict", "infeasible"),
     ("off", "nothing-to-do")],
)  # fmt: skip
def test_three_replicas_in_two_racks(rack_rule, status):
    state = make_state([[0, 1, 2]] * 2, racks="aab", leaders=[0, 1])
    request = PlanRequest(goal="rebalance", rack_rule=rack_rule, resources="replicas")

    made = make(make_state([[0, 1, 2]], racks="aab"), request)

    assert state.num_racks == 2
    assert made.plan.status == status


def test_strict_racks_are_the_reason_alone():
    request = PlanRequest(goal="rebalance", rack_rule="strict")

    infeasible_set = make(
        make_state([[0, 1, 2]], racks="aab"), request
    ).plan.infeasible_set

    assert (infeasible_set.rules, infeasible_set.helps) == (("rack",), (True,))
    assert infeasible_set.is_proven
    assert infeasible_set.is_irreducible


def test_without_the_rack_rule_replicas_may_share_a_rack():
    state = make_state([[0, 2], [0, 2], [0, 2], [0, 2]], racks="aab")
    request = PlanRequest(goal="rebalance", resources="replicas", rack_rule="off")

    made = make(state, request)

    assert made.is_ok
    assert made.plan.status in {"optimal", "feasible"}
    racks = rack_of(state)
    placed = lists_of(made.plan.placed.reassignment.after()).values()
    assert any(len({racks[broker] for broker in row}) == 1 for row in placed)


def test_racks_that_stand_for_another_are_one():
    state = make_state([[0, 1], [2, 3]], racks=["a1", "a2", "b1", "b2"])
    rules = {"rack_map": ["a1=a", "a2=a", "b1=b", "b2=b"]}
    request = PlanRequest(goal="rebalance", resources="replicas", **rules)

    made = make(state, request)
    racks = {0: "a", 1: "a", 2: "b", 3: "b"}

    assert made.is_ok
    for row in lists_of(made.plan.placed.reassignment.after()).values():
        assert {racks[broker] for broker in row} == {"a", "b"}


@given(clusters(), st.dictionaries(st.sampled_from("abc"), st.sampled_from("abcx")))
def test_mapped_racks_are_those_named(state, racks):
    mapped = with_rack_map(state, racks).brokers

    for broker in range(len(mapped)):
        old = state.brokers.racks[state.brokers.rack_idx[broker]]
        new = mapped.racks[mapped.rack_idx[broker]]
        assert new == (None if old is None else racks.get(old, old))
    named = [rack for rack in mapped.racks if rack is not None]
    assert len(set(named)) == len(named)


@settings(max_examples=30)
@given(clusters(min_brokers=2))
def test_replicas_stay_in_their_racks(state):
    found = planned(state, WithinRack(), effort="quick")

    before, racks = lists_of(state), rack_of(state)
    for key, listed in changed_lists(found).items():
        assert Counter(racks[b] for b in listed) == Counter(
            racks[b] for b in before[key]
        )


def test_replicas_stay_in_their_racks_where_the_rack_rule_is_off():
    # Broker 3 holds most, and is all of its rack.
    state = make_state([[0, 3], [1, 3], [2, 3]], racks="aaab", size_bytes=10)

    found = planned(state, WithinRack(), lifted=frozenset({"rack"}))

    assert not found.reassignment.is_copied.any()


def test_a_copy_goes_where_its_rack_has_room():
    state = make_state([[0, 2], [0, 2], [0, 2]], racks="aabb")

    found = planned(state, WithinRack())

    assert found.solution.status in MET
    held = Counter(b for row in lists_of(after(found)).values() for b in row)
    assert set(held.values()) <= {1, 2}


# What stays -------------------------------------------------------------------------


@settings(max_examples=30)
@given(clusters(min_brokers=2), st.sampled_from([Rebalance(), RemoveBrokers((0, 1))]))
def test_kept_topics_stay_but_for_what_must_go(state, operation):
    names = state.topics.names
    kept = np.array([name != "t0" for name in names], dtype=np.bool_)

    found = planned(state, KeepTopics(kept), operation=operation, effort="quick")

    before, leaves = lists_of(state), found.draft.leaves
    gone = set(state.brokers.ids[leaves].tolist())
    offline = state.replicas.log_dir_idx >= 0
    if offline.any():
        return
    for (topic, number), listed in changed_lists(found).items():
        if topic != "t0":
            assert set(before[topic, number]) - set(listed) <= gone


def test_leaders_of_kept_topics_may_change():
    state = make_state([[0, 1]] * 4, racks="ab")

    found = planned(state, KeepTopics(np.array([True])))

    assert not found.reassignment.is_copied.any()
    assert Counter(row[0] for row in lists_of(after(found)).values()) == {0: 2, 1: 2}


@settings(max_examples=30)
@given(clusters(min_brokers=2, all_live=True))
def test_only_brokers_over_a_threshold_give_replicas_away(state):
    found = planned(state, OnlyOverThreshold(), effort="quick")

    before = found.reassignment.before
    leader = found.draft.state.partitions.leader_idx
    del leader
    from placement.rules.hard_levels import hard_capacities

    load = broker_loads(before, weigh(before), _first_live(before))
    over = (load > hard_capacities(found.draft)).any(axis=1)
    source = before.replicas.broker_idx[
        found.reassignment.origin[found.reassignment.is_copied]
    ]
    assert over[source].all()


def _first_live(state):
    rows = []
    for p in range(state.num_partitions):
        able = live_ids(state) - failed_ids(state, p)
        start, stop = state.replicas.start[p : p + 2]
        listed = state.replicas.broker_idx[start:stop].tolist()
        ids = state.brokers.ids
        rows.append(next((b for b in listed if int(ids[b]) in able), -1))
    return np.array(rows, dtype=np.int32)


def test_a_broker_over_its_threshold_is_relieved_and_nothing_else_moves():
    state = make_state(
        [[0], [0], [1], [1], [1], [2]], racks="abc",
        size_bytes=[45, 45, 20, 20, 20, 10], disk_bytes=100,
    )  # fmt: skip

    found = planned(state, OnlyOverThreshold())

    assert found.solution.status in MET
    assert int(found.reassignment.is_copied.sum()) == 1


# Broker sets ------------------------------------------------------------------------

SETS = {0: "gold", 1: "gold", 2: "silver", 3: "silver"}


def test_topics_move_to_their_set_and_are_balanced_there():
    state = make_state(
        {"g": [[0], [0], [0], [2]], "s": [[2], [2]]}, ids=[0, 1, 2, 3],
        racks="abab", broker_sets=SETS,
    )  # fmt: skip

    found = planned(state, BrokerSets(np.array([0, 1])), resources=(Resource.REPLICAS,))

    held = {
        topic: Counter(
            row[0] for (t, _), row in lists_of(after(found)).items() if t == topic
        )
        for topic in ("g", "s")
    }
    assert found.solution.status in MET
    assert held == {"g": {0: 2, 1: 2}, "s": {2: 1, 3: 1}}
    assert found.targets.target[:, 4].tolist() == [2, 2, 1, 1]


def test_topics_belong_to_the_set_of_their_majority():
    state = make_state(
        {"a": [[0], [0], [2]], "b": [[3]], "c": [[4]]}, ids=[0, 1, 2, 3, 4],
        broker_sets=SETS,
    )  # fmt: skip

    assert home_sets(state).tolist() == [0, 1, 2]


@settings(max_examples=30)
@given(clusters(min_brokers=3), st.data())
def test_no_replica_comes_to_another_set(state, data):
    count = len(state.brokers.broker_sets) + 1
    chosen = data.draw(
        st.lists(
            st.integers(0, count - 1),
            min_size=len(state.topics.names),
            max_size=len(state.topics.names),
        )
    )
    rule = BrokerSets(np.array(chosen, dtype=np.int64))

    found = planned(state, rule, effort="quick")

    own = state.brokers.broker_set_idx.tolist()
    rows = {b: own[n] for n, b in enumerate(state.brokers.ids.tolist())}
    before = lists_of(state)
    for (topic, number), listed in changed_lists(found).items():
        wanted = chosen[state.topics.names.index(topic)]
        for broker in set(listed) - set(before[topic, number]):
            assert (rows[broker] if rows[broker] >= 0 else count - 1) == wanted


@given(st.data())
def test_joined_tables_allow_what_each_allows(data):
    partitions, brokers = data.draw(st.integers(0, 6)), data.draw(st.integers(1, 5))
    rules = []
    for _ in range(data.draw(st.integers(0, 3))):
        classes = data.draw(st.integers(1, 3))
        rows = [data.draw(st.integers(0, classes - 1)) for _ in range(partitions)]
        cells = [data.draw(st.booleans()) for _ in range(classes * brokers)]
        allowed = np.array(cells, dtype=np.bool_).reshape(classes, brokers)
        rules.append(Eligibility(np.array(rows, dtype=np.int64), allowed))

    joined = class_tables(rules, partitions, brokers)

    for p in range(partitions):
        for b in range(brokers):
            assert joined.is_eligible[
                joined.group_class[p], joined.bin_class[b]
            ] == all(rule.allowed[rule.partition_class[p], b] for rule in rules)


# Loads ------------------------------------------------------------------------------


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


BAD_RULES = {
    "--rack-map": ["a", "=b", "nowhere.txt"],
    "--broker-set": ["gold", "x=nope", "(=gold"],
    "--keep-topics": ["("],
    "--keep-leaders": [")"],
    "--low-utilization": ["disk", "leaders=0.1"],
    "--max-replicas-per-broker": [-1],
    "--spread-topics": ["["],
    "--spread-topic-leaders": ["["],
    "--spread-band": [0.0],
    "--spread-gap": ["9-2"],
    "--min-topic-leaders": ["a", "a=0", "a=x", "[=1"],
    "--cpu-weight": ["leader_in", "leader_in=-1", "leadr_in=1", "x=nan"],
}


def test_every_bad_rule_is_named_at_once():
    state = make_state([[0], [1]], broker_sets=SETS)
    rules = {
        "rack_map": [*BAD_RULES["--rack-map"]],
        "broker_set": BAD_RULES["--broker-set"],
        "keep_topics": "(",
        "keep_leaders": ")",
        "low_utilization": BAD_RULES["--low-utilization"],
        "max_replicas_per_broker": -1,
        "spread_topics": "[",
        "spread_topic_leaders": "[",
        "spread_band": 0.0,
        "spread_gap": "9-2",
        "min_topic_leaders": BAD_RULES["--min-topic-leaders"],
        "cpu_weight": BAD_RULES["--cpu-weight"],
    }

    with pytest.raises(BadInputError) as refused:
        make(state, PlanRequest(goal="rebalance", **rules))

    named = Counter(problem.place for problem in refused.value.problems)
    assert named == {option: len(values) for option, values in BAD_RULES.items()}
    assert all(problem.remedy for problem in refused.value.problems)


@pytest.mark.parametrize(("num_topics", "spreads"), [(32, ".*"), (33, None)])
def test_the_goals_of_cruise_control(num_topics, spreads):
    state = make_state({f"t{n:02}": [[0]] for n in range(num_topics)}, ids=[0, 1])
    rules = {"rules": "cruise-control", "max_replicas_per_broker": 500}

    made = make(state, PlanRequest(goal="rebalance", effort="quick", **rules))

    said = made.plan.settings
    assert said["band"] == dict.fromkeys(
        ["disk", "in", "out", "cpu", "replicas", "leaders"], 0.09
    )
    assert said["capacity_threshold"] == {
        "disk": 0.8,
        "in": 0.8,
        "out": 0.8,
        "cpu": 0.7,
    }
    assert (said["rack_rule"], said["max_replicas_per_broker"]) == ("strict", 500)
    assert (said["potential_out"], said["leader_in"]) == (True, True)
    assert said["spread_topics"] == spreads
    told = [n for n in made.plan.placed.notes if n.message.startswith("no goal for")]
    assert len(told) == (spreads is None)


def test_what_is_given_goes_before_the_goals_of_cruise_control():
    state = make_state([[0], [1]], racks="ab")
    request = PlanRequest(
        goal="rebalance",
        band=["disk=0.2"],
        rules="cruise-control",
        rack_rule="distribution",
    )

    said = make(state, request).plan.settings

    assert said["rack_rule"] == "distribution"
    assert (said["band"]["disk"], said["band"]["in"]) == (0.2, 0.09)


def test_goals_for_too_many_topics_are_refused():
    topics = {f"t{n:02}": [[0]] for n in range(33)}
    state = make_state(topics, ids=[0, 1])
    rules = {
        "spread_topics": ".*",
        "spread_topic_leaders": ".*",
        "min_topic_leaders": [".*=1"],
    }

    with pytest.raises(BadInputError) as refused:
        make(state, PlanRequest(goal="rebalance", **rules))

    assert [problem.place for problem in refused.value.problems] == [
        "--spread-topics", "--spread-topic-leaders", "--min-topic-leaders",
    ]  # fmt: skip


def test_a_rack_map_is_read_from_a_file(tmp_path):
    path = tmp_path / "racks.txt"
    path.write_text("# zones\na1 = a\n\na2=a  # the old hall\n")
    problems = Problems("--rack-map")

    assert read_rack_map([str(path), "b1=b"], problems) == {
        "a1": "a",
        "a2": "a",
        "b1": "b",
    }
    assert not problems.found


def test_a_rack_stands_for_one_other():
    problems = Problems("--rack-map")

    read_rack_map(["a1=a", "a1=b"], problems)

    assert [problem.value for problem in problems.found] == ["a1=b"]


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


@given(clusters(min_brokers=2, all_live=True, all_known=True))
def test_brokers_that_trade_keep_their_counts(state):
    found = planned(state, OnlyTrades(), effort="quick")

    held = [
        np.bincount(one.replicas.broker_idx, minlength=one.num_brokers).tolist()
        for one in (state, after(found))
    ]
    assert held[0] == held[1]


def test_disks_are_balanced_by_trades_alone():
    state = make_state(
        [[0]] * 3 + [[1]] * 3 + [[2]], racks="abc", size_bytes=[9, 9, 9, 1, 1, 1, 10]
    )

    found = planned(state, OnlyTrades(), resources=(Resource.DISK,))

    held = np.bincount(after(found).replicas.broker_idx)
    assert held.tolist() == [3, 3, 1]
    loads = disk_loads(after(found), weigh(state)).tolist()
    assert (max(loads), sum(loads)) == (19, 40)


# The checker knows them too ---------------------------------------------------------

STATE = make_state(
    {"t": [[0, 2]], "u": [[1, 3]]},
    ids=[0, 1, 2, 3, 4],
    racks="aabbc",
    broker_sets=SETS,
    size_bytes=10,
    leaders=[0, 1],
)
RULES = [
    pytest.param(kept_topics(frozenset({"t"}), frozenset()), {("t", 0): [1, 2]},
                 "keep-topics", id="kept"),
    pytest.param(kept_topics(frozenset({"t"}), frozenset({0})), {("t", 0): [1, 2]},
                 None, id="kept-but-leaving"),
    pytest.param(kept_topics(frozenset({"t"}), frozenset()), {("t", 0): [2]},
                 None, id="kept-and-shorter"),
    pytest.param(kept_topics(frozenset({"u"}), frozenset()), {("t", 0): [1, 2]},
                 None, id="another-topic-kept"),
    pytest.param(broker_sets({"t": "gold"}), {("t", 0): [0, 3]}, "broker-set",
                 id="into-another-set"),
    pytest.param(broker_sets({"t": "gold"}), {("t", 0): [1, 2]}, None,
                 id="into-its-set"),
    pytest.param(broker_sets({"t": None}), {("t", 0): [0, 4]}, None, id="no-set"),
    pytest.param(within_rack(), {("t", 0): [0, 4]}, "locality-scoped", id="crosses"),
    pytest.param(within_rack(), {("t", 0): [3, 1]}, None, id="inside"),
    pytest.param(within_rack(), {("t", 0): [2]}, None, id="shorter"),
    pytest.param(within_rack(), {("t", 0): [0, 2, 4]}, None, id="longer"),
    pytest.param(within_rack(), {("t", 0): [4]}, "locality-scoped",
                 id="shorter-and-crosses"),
    pytest.param(strict_racks(), {("t", 0): [0, 1]}, "rack", id="two-in-a-rack"),
    pytest.param(strict_racks(), {("t", 0): [0, 4]}, None, id="one-per-rack"),
    pytest.param(replica_cap(1), {("t", 0): [1, 2]}, "max-replicas", id="over-the-cap"),
    pytest.param(replica_cap(1), {("t", 0): [0, 4]}, None, id="at-the-cap"),
    pytest.param(only_trades(), {("t", 0): [4, 2]}, "only-trades", id="one-more"),
    pytest.param(only_trades(), {("t", 0): [1, 2], ("u", 0): [0, 3]}, None,
                 id="a-trade"),
    pytest.param(move_caps(max_moves=1), {("t", 0): [1, 3]}, "max-moves",
                 id="two-copies"),
    pytest.param(move_caps(max_moves=1), {("t", 0): [2, 1]}, None, id="one-copy"),
    pytest.param(move_caps(max_bytes=9), {("t", 0): [0, 3]}, "max-bytes",
                 id="too-many-bytes"),
    pytest.param(move_caps(max_bytes=10), {("t", 0): [0, 3]}, None, id="few-bytes"),
    pytest.param(move_caps(max_cross_rack_bytes=9), {("t", 0): [0, 3]},
                 "max-cross-rack-bytes", id="from-the-leader-in-another-rack"),
    pytest.param(move_caps(max_cross_rack_bytes=0), {("t", 0): [1, 2]}, None,
                 id="from-the-leader-in-the-same-rack"),
    pytest.param(move_caps(max_cross_rack_bytes=19), {("u", 0): [1, 3, 2, 4]},
                 "max-cross-rack-bytes", id="a-longer-list"),
    pytest.param(move_caps(max_cross_rack_bytes=0), {("nope", 0): [0, 4]}, None,
                 id="copies-of-an-unknown-topic"),
    pytest.param(within_rack(), {("nope", 0): [0, 4]}, None, id="unknown-topic"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "lists", "found"), RULES)
def test_checked_rules(rule, lists, found):
    findings = list(rule(STATE, target_of(lists)))

    assert [finding.rule for finding in findings] == ([found] if found else [])
    assert not any(finding.existing for finding in findings)


CHOICES = st.builds(
    dict,
    rack_rule=st.sampled_from([None, "strict", "off"]),
    keep_topics=st.sampled_from([None, "t1"]),
    keep_leaders=st.sampled_from([None, "t[01]"]),
    locality_scoped=st.booleans(),
    only_over_threshold=st.booleans(),
    only_trades=st.booleans(),
    low_utilization=st.sampled_from([(), ("disk=0.5",)]),
    max_replicas_per_broker=st.sampled_from([None, 3]),
    potential_out=st.booleans(),
    leader_in=st.booleans(),
    broker_set=st.sampled_from([(), (".*=",)]),
    rack_map=st.sampled_from([(), ("a=b",)]),
    rules=st.sampled_from([None, "cruise-control"]),
    spread_topics=st.sampled_from([None, "t0"]),
    min_topic_leaders=st.sampled_from([(), ("t1=1",)]),
    spread_topic_leaders=st.sampled_from([None, "t1"]),
    spread_band=st.sampled_from([None, 0.1]),
    spread_gap=st.sampled_from([None, "1-3"]),
)


@settings(max_examples=60)
@given(clusters(min_brokers=2), CHOICES)
def test_plans_under_any_rules_pass_the_checker(state, rules):
    request = PlanRequest(goal="rebalance", effort="quick", **rules)

    made = make(state, request)

    caused = [
        finding
        for finding in made.findings
        # A factor below the min ISR is named in every partition that a plan touches.
        if not finding.existing
        and "is below min.insync.replicas" not in finding.message
    ]
    assert not caused or made.plan.status in {"partial", "infeasible"}
    document = made.plan.settings
    assert re.fullmatch("distribution|strict|off", document["rack_rule"])
    assert len(RESOURCES) == 6


@pytest.mark.parametrize(
    ("rack_rule", "status", "missing"),
    [
        pytest.param("strict", "infeasible", {"t-0", "t-2"}, id="strict"),
        pytest.param("distribution", "optimal", set(), id="even"),
    ],
)
def test_what_cannot_leave_its_rack_is_said(rack_rule, status, missing):
    # Two of these lists stand in one rack alone, which no replica may leave.
    state = make_state(
        [[0, 1], [2, 4], [0, 1], [0, 2], [0, 4], [2, 5]], racks="aabbcc", size_bytes=10
    )
    rules = {"rack_rule": rack_rule, "locality_scoped": True}

    request = PlanRequest(goal="rebalance", **rules)

    made = make(state, request)

    assert made.plan.status == status
    short = made.plan.placed.solution.shortfalls
    assert {state.name_of(one.group) for one in short} == missing
    (said,) = (n for n in made.plan.placed.notes if n.what == "left-alone")
    assert said.have == 2
    chosen_settings = read_request(request, state).settings
    infeasible_set = explain_impossible(Rebalance(), chosen_settings, made.plan.placed)
    assert (infeasible_set is not None) == bool(missing)
    if infeasible_set is not None:
        assert set(infeasible_set.rules) == {"rack", "locality-scoped"}
        assert infeasible_set.is_proven
        assert infeasible_set.helps == (True, True)
