"""Why no plan keeps every hard rule: each of them where it forbids one."""

from dataclasses import replace
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.core.model.solution import Status
from placement.draft.draft import Settings
from placement.model.cluster import BrokerState, LogDirState, Storage
from placement.model.load import Resource
from placement.operations.add_brokers import AddBrokers
from placement.operations.demote import Demote
from placement.operations.fix import Fix
from placement.operations.leaders import Leaders
from placement.operations.rebalance import Rebalance
from placement.operations.remove_brokers import RemoveBrokers
from placement.operations.set_replication_factor import SetReplicationFactor
from placement.planning.infeasibility.infeasible_rules import (
    explain_impossible,
)
from placement.planning.plan import plan
from placement.rules.anti_affinity import TopicsApart
from placement.rules.broker_sets import BrokerSets
from placement.rules.colocation import TopicsTogether
from placement.rules.goal_columns import (
    LeaderIn,
    MinTopicLeaders,
    PotentialOut,
    SpreadTopics,
)
from placement.rules.list_positions import EvenPositions
from placement.rules.pinning import (
    KeepLeaders,
    KeepTopics,
    OnlyOverThreshold,
    OnlyTrades,
)
from placement.rules.rack_rules import WithinRack
from placement.rules.registry import LIFTED, goals_named
from support.clusters import Dir, clusters, make_state
from support.operations import lists_after

TWO = {"racks": "ab"}
LEADERS_SPREAD = SpreadTopics((0,), counts_leaders=True, name="spread-topic-leaders")
HOST = {"hosts": {0: "h", 1: "h"}}
CORDONED = [Dir("/d", state=LogDirState.CORDONED)]

# Broker 0 leaves with 30; broker 1 has room for 20, broker 2 for 24.
FULL = make_state(
    {"t": [[0]], "u": [[1], [1], [1]]}, ids=[0, 1, 2], racks="abc",
    size_bytes=[30, 20, 20, 20],
    disk_bytes=[100, 100, 30],
)  # fmt: skip


def infeasible_set(state, operation, options):
    found = plan(state, operation, options)
    return found, explain_impossible(operation, options, found)


CASES = [
    pytest.param(
        make_state([[0], [0], [1], [1]], size_bytes=45, disk_bytes=100, **TWO),
        Rebalance(), Settings(), {"capacity-disk"}, id="disk",
    ),
    pytest.param(
        make_state([[0], [0], [1], [1]], in_rate=45.0, broker_in=100.0, **TWO),
        Rebalance(), Settings(), {"capacity-in"}, id="in",
    ),
    pytest.param(
        make_state([[0], [0], [1], [1]], out_rate=45.0, broker_out=100.0, **TWO),
        Rebalance(), Settings(), {"capacity-out"}, id="out",
    ),
    pytest.param(
        make_state([[0], [0], [1], [1]], leader_cpu=2.0, broker_cpu=5.0, **TWO),
        Rebalance(), Settings(), {"capacity-cpu"}, id="cpu",
    ),
    pytest.param(
        make_state([[0], [1]], size_bytes=40, disk_bytes=100, **HOST, **TWO),
        Rebalance(), Settings(host_thresholds={Resource.DISK: 0.3}), {"host-disk"},
        id="disk-of-a-host",
    ),
    pytest.param(
        make_state([[0], [1]], in_rate=40.0, broker_in=100.0, **HOST, **TWO),
        Rebalance(), Settings(host_thresholds={Resource.IN: 0.3}), {"host-in"},
        id="in-of-a-host",
    ),
    pytest.param(
        make_state([[0], [1]], out_rate=40.0, broker_out=100.0, **HOST, **TWO),
        Rebalance(), Settings(host_thresholds={Resource.OUT: 0.3}), {"host-out"},
        id="out-of-a-host",
    ),
    pytest.param(
        make_state([[0], [1]], leader_cpu=2.0, broker_cpu=5.0, **HOST, **TWO),
        Rebalance(), Settings(host_thresholds={Resource.CPU: 0.3}), {"host-cpu"},
        id="cpu-of-a-host",
    ),
    pytest.param(
        make_state([[0], [1]], size_bytes=[60, 30], disk_bytes=[100, 100, 40],
                   racks="abc"),
        RemoveBrokers((0,)), Settings(frees_the_rest=True, is_disk_transient=True),
        {"transient-disk", "capacity-disk"}, id="both-copies-on-a-disk",
    ),
    pytest.param(
        make_state([[0], [0], [1]], max_replicas=1, **TWO),
        Rebalance(), Settings(), {"max-replicas"}, id="max-replicas",
    ),
    pytest.param(
        make_state([[0, 1], [0, 1]], racks="aab"),
        Rebalance(), Settings(excluded_for_replicas=frozenset({2})),
        {"rack", "exclude-brokers-for-replicas"}, id="racks-and-an-excluded-broker",
    ),
    pytest.param(
        make_state([[0, 2], [1, 2]], racks="aab", size_bytes=30,
                   disk_bytes=[200, 200, 50]),
        Rebalance(), Settings(), {"rack", "capacity-disk"}, id="racks-and-disk",
    ),
    pytest.param(
        make_state([[0, 1], [1, 0]], racks="abc", log_dirs={2: CORDONED}),
        RemoveBrokers((1,)), Settings(), {"log-dirs"}, id="cordoned-log-dirs",
    ),
    pytest.param(
        # 60 fit on broker 1 only where the 40 there go to broker 2.
        make_state([[0], [1]], racks="abc", size_bytes=[60, 40],
                   disk_bytes=[100, 100, 60]),
        RemoveBrokers((0,)), Settings(), {"capacity-disk", "only-what-must"},
        id="disk-and-what-must-alone",
    ),
    pytest.param(
        make_state({"t": [[0]], "u": [[0]]}, ids=[0, 1], **TWO),
        RemoveBrokers((0,)), Settings(excluded_topics=np.array([False, True])),
        {"exclude-topics"}, id="an-excluded-topic",
    ),
    pytest.param(
        make_state([[0], [1]], **TWO),
        RemoveBrokers((0,)), Settings(excluded_for_replicas=frozenset({1})),
        {"exclude-brokers-for-replicas"}, id="an-excluded-broker",
    ),
    pytest.param(
        make_state([[0, 1], [0, 1]], **TWO),
        Demote((0,)), Settings(excluded_for_leaders=frozenset({1})),
        {"exclude-brokers-for-leaders"}, id="no-other-leader-where-one-is-demoted",
    ),
    pytest.param(
        make_state([[0], [0], [1]], **TWO),
        RemoveBrokers((0,)), Settings(excluded_for_leaders=frozenset({1})),
        {"exclude-brokers-for-leaders"}, id="no-other-leader-where-one-is-removed",
    ),
    pytest.param(
        make_state([[0], [0], [1]], ids=[0, 1, 2], racks="abc"), RemoveBrokers((0,)),
        Settings(
            excluded_for_leaders=frozenset({1}), destination_brokers=frozenset({1})
        ),
        {"exclude-brokers-for-leaders", "destination-broker-list"},
        id="one-destination-that-may-not-lead",
    ),
    pytest.param(
        make_state([[0], [1]], **TWO),
        RemoveBrokers((0,)), Settings(destination_brokers=frozenset({0})),
        {"destination-broker-list"}, id="no-destination",
    ),
    pytest.param(
        make_state([[0], [0], [1]], **TWO),
        RemoveBrokers((0,)), Settings(max_moves=1), {"max-moves"}, id="max-moves",
    ),
    pytest.param(
        make_state([[0], [0], [1]], size_bytes=10, **TWO),
        RemoveBrokers((0,)), Settings(max_bytes=19), {"max-bytes"}, id="max-bytes",
    ),
    pytest.param(
        make_state([[0, 1], [0, 1]], size_bytes=10, racks="aab"),
        RemoveBrokers((0,)), Settings(max_cross_rack_bytes=19),
        {"max-cross-rack-bytes"}, id="max-cross-rack-bytes",
    ),
    pytest.param(
        FULL, RemoveBrokers((0,)),
        Settings(
            rules=(KeepTopics(np.array([False, True])),), frees_the_rest=True
        ),
        {"keep-topics", "capacity-disk"}, id="kept-topics",
    ),
    pytest.param(
        make_state({"t": [[0, 1], [0, 1]], "u": [[0]]}, in_rate=0.0, broker_out=100.0,
                   out_rate=[45.0, 45.0, 1.0], **TWO),
        Rebalance(), Settings(rules=(KeepLeaders(np.array([True, False])),)),
        {"keep-leaders", "capacity-out"}, id="kept-leaders",
    ),
    pytest.param(
        FULL, RemoveBrokers((0,)),
        Settings(rules=(OnlyOverThreshold(),), frees_the_rest=True),
        {"only-over-threshold", "capacity-disk"}, id="only-over-threshold",
    ),
    pytest.param(
        make_state([[0], [1]], **TWO),
        RemoveBrokers((0,)), Settings(rules=(OnlyTrades(),)), {"only-trades"},
        id="only-trades",
    ),
    pytest.param(
        make_state([[0], [1]], racks="abb"),
        RemoveBrokers((0,)), Settings(rules=(WithinRack(),)), {"locality-scoped"},
        id="no-other-broker-in-the-rack",
    ),
    pytest.param(
        make_state([[0], [1]], racks="abb",
                   broker_sets={0: "gold", 1: "silver", 2: "silver"}),
        RemoveBrokers((0,)), Settings(rules=(BrokerSets(np.array([0])),)),
        {"broker-set"}, id="no-other-broker-in-the-set",
    ),
    pytest.param(
        make_state({"t": [[0, 1]], "u": [[0, 1]]}, **TWO), Rebalance(),
        Settings(rules=(TopicsApart(np.array([0, 1], np.int32), ("t", "u")),)),
        {"topics-apart"}, id="topics-apart",
    ),
    pytest.param(
        make_state({"t": [[0, 1]], "u": [[0]]}, **TWO), Rebalance(),
        Settings(rules=(TopicsTogether((0, 1)),)), {"topics-together"},
        id="topics-together",
    ),
    *(
        pytest.param(
            make_state([[0], [0], [1]], **load, **TWO), Rebalance(),
            Settings(
                bands={resource: 0.0}, resources=(resource,),
                hard=frozenset({f"band-{resource}"}),
            ),
            {f"band-{resource}"}, id=f"band-of-{resource}",
        )
        for resource, load in {
            Resource.DISK: {"size_bytes": [3, 3, 2]},
            Resource.IN: {"in_rate": [3.0, 3.0, 2.0]},
            Resource.OUT: {"out_rate": [3.0, 3.0, 2.0], "in_rate": 0.0},
            Resource.CPU: {"leader_cpu": [3.0, 3.0, 2.0], "follower_cpu": 0.0},
        }.items()
    ),
    pytest.param(
        # By their disks one broker should hold next to nothing.
        make_state([[0, 1]] * 3, racks="aa", disk_bytes=[1000, 10], size_bytes=0),
        Rebalance(), Settings(hard=frozenset({"band-replicas"})), {"band-replicas"},
        id="band-of-replicas",
    ),
    pytest.param(
        make_state([[0], [0], [0], [1]], **TWO), Leaders(),
        Settings(hard=frozenset({"band-leaders"})), {"band-leaders"},
        id="band-of-leaders",
    ),
    pytest.param(
        make_state([[0, 1]] * 2, out_rate=55.0, in_rate=0.0, broker_out=100.0, **TWO),
        Rebalance(),
        Settings(rules=(PotentialOut(),), hard=frozenset({"potential-out"})),
        {"potential-out"}, id="potential-out",
    ),
    pytest.param(
        make_state([[0], [1]], in_rate=[9.0, 1.0], **TWO), Rebalance(),
        Settings(rules=(LeaderIn(),), hard=frozenset({"leader-in"})), {"leader-in"},
        id="leader-in",
    ),
    pytest.param(
        make_state([[0]] * 8, ids=[0, 1, 2, 3], racks="aabb"), Rebalance(),
        Settings(
            rules=(SpreadTopics((0,)),), hard=frozenset({"spread-topics"}),
            excluded_for_replicas=frozenset({1, 2, 3}),
        ),
        {"spread-topics", "exclude-brokers-for-replicas"}, id="spread-topics",
    ),
    pytest.param(
        make_state([[0]] * 8, ids=[0, 1, 2, 3], racks="aabb"), Rebalance(),
        Settings(
            rules=(LEADERS_SPREAD,), hard=frozenset({"spread-topic-leaders"}),
            excluded_for_replicas=frozenset({1, 2, 3}),
        ),
        {"spread-topic-leaders", "exclude-brokers-for-replicas"},
        id="spread-topic-leaders",
    ),
    pytest.param(
        make_state([[0], [0]], ids=[0, 1], **TWO), Rebalance(),
        Settings(
            rules=(MinTopicLeaders(((0, 1),)),), hard=frozenset({"min-topic-leaders"}),
            excluded_for_replicas=frozenset({1}),
        ),
        {"min-topic-leaders", "exclude-brokers-for-replicas"}, id="min-topic-leaders",
    ),
    pytest.param(
        make_state([[0]], ids=[0, 1], racks="aa"), SetReplicationFactor({"t": 2}),
        Settings(is_rack_strict=True), {"rack"}, id="two-replicas-in-the-one-rack",
    ),
    # Of topics that are left alone the goals are out of reach whatever else is let go.
    pytest.param(
        make_state({"t": [[0]] * 9, "u": [[0]]}, ids=[0, 1, 2, 3], racks="aabb",
                   storage=[Storage.UNKNOWN, Storage.LOCAL]),
        Rebalance(),
        Settings(
            rules=(SpreadTopics((0,)),), hard=frozenset({"spread-topics"}),
        ),
        {"spread-topics"}, id="spread-topics-alone",
    ),
    pytest.param(
        make_state({"t": [[0]] * 9, "u": [[0]]}, ids=[0, 1, 2, 3], racks="aabb",
                   storage=[Storage.UNKNOWN, Storage.LOCAL]),
        Rebalance(),
        Settings(
            rules=(LEADERS_SPREAD,), hard=frozenset({"spread-topic-leaders"}),
        ),
        {"spread-topic-leaders"}, id="spread-topic-leaders-alone",
    ),
    pytest.param(
        make_state({"t": [[0], [0]], "u": [[0]]}, ids=[0, 1],
                   storage=[Storage.UNKNOWN, Storage.LOCAL], **TWO),
        Rebalance(),
        Settings(
            rules=(MinTopicLeaders(((0, 1),)),), hard=frozenset({"min-topic-leaders"}),
        ),
        {"min-topic-leaders"}, id="min-topic-leaders-alone",
    ),
    pytest.param(
        make_state({"t": [[0, 1]] * 3, "u": [[0, 1]]},
                   storage=[Storage.UNKNOWN, Storage.LOCAL], **TWO),
        Rebalance(),
        Settings(rules=(EvenPositions(),), hard=frozenset({"even-positions"})),
        {"even-positions"}, id="even-positions-alone",
    ),
    pytest.param(
        make_state([[0], [0], [1]], ids=[0, 1, 2], racks="abc"),
        SetReplicationFactor({"t": 3}),
        Settings(excluded_for_replicas=frozenset({2})),
        {"exclude-brokers-for-replicas"}, id="an-excluded-broker-for-more-replicas",
    ),
    pytest.param(
        make_state([[0], [0], [1]], ids=[0, 1, 2], racks="abc"),
        SetReplicationFactor({"t": 3}), Settings(max_moves=5), {"max-moves"},
        id="max-moves-for-more-replicas",
    ),
    pytest.param(
        # 15 have to leave, and no replica has less than 40.
        make_state([[0]] * 3, ids=[0, 1], size_bytes=40, disk_bytes=[131, 200], **TWO),
        Rebalance(), Settings(max_bytes=39), {"capacity-disk", "max-bytes"},
        id="a-full-disk-and-max-bytes",
    ),
    pytest.param(
        # 40 and 70 have to leave, and 50 to come: three moves.
        make_state({"t": [[0], [0], [0], [1]]}, ids=[0, 1],
                   size_bytes=[40, 40, 70, 50], disk_bytes=[125, 140], **TWO),
        Rebalance(), Settings(max_moves=2), {"capacity-disk", "max-moves"},
        id="full-disks-and-max-moves",
    ),
    pytest.param(
        make_state([[0, 1]], **TWO), RemoveBrokers((1,)), Settings(), set(),
        id="too-few-brokers-and-no-option-helps",
    ),
]  # fmt: skip
# And those beside the tests of a rule.
CASES += [
    case
    for path in sorted(Path(__file__).parents[1].glob("rules/test_*.py"))
    if "\nIMPOSSIBLE = [" in path.read_text(encoding="utf-8")
    for case in run_path(str(path))["IMPOSSIBLE"]
]
# Violations of the cluster before the plan, which the plan does not worsen.
EXISTING = [
    pytest.param(
        make_state([[0, 1, 3], [0, 2, 4]], racks="aabcc"),
        RemoveBrokers((3,)), Settings(), [[1, 0, 2], [0, 2, 4]],
        id="racks-and-what-must-alone",
    ),
    pytest.param(
        make_state({"t": [[0, 1]]}, racks="aab"), Rebalance(),
        Settings(rules=(KeepTopics(np.array([True])),)), [[0, 1]],
        id="kept-topics-and-racks",
    ),
    pytest.param(
        make_state({"t": [[0, 1]]}, racks="aab"), Rebalance(),
        Settings(rules=(OnlyOverThreshold(),)), [[0, 1]],
        id="only-over-threshold-and-racks",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("state", "operation", "options", "rules"), CASES)
def test_the_reason_is_these_rules_and_no_other(state, operation, options, rules):
    found, why = infeasible_set(state, operation, options)

    assert found.solution.status in {Status.INFEASIBLE, Status.PARTIAL}
    assert set(why.rules) == rules
    assert why.is_proven
    assert why.is_irreducible
    assert all(why.helps)
    assert found.solution.shortfalls


@pytest.mark.parametrize(("state", "operation", "options", "after"), EXISTING)
def test_an_existing_violation_is_no_reason(state, operation, options, after):
    found, why = infeasible_set(state, operation, options)

    assert found.solution.status is Status.OPTIMAL
    assert found.solution.shortfalls == ()
    assert why is None
    assert lists_after(found) == after


def test_leadership_that_changes_anywhere_evens_positions():
    state = make_state([[0, 1], [0, 1]], racks="abc")
    options = Settings(rules=(EvenPositions(),), hard=frozenset({"even-positions"}))

    found, why = infeasible_set(state, RemoveBrokers((2,)), options)

    assert found.solution.status is Status.OPTIMAL
    assert why is None
    assert lists_after(found) == [[1, 0], [0, 1]]


def test_every_hard_rule_has_a_case():
    named = (case.values[3] for case in CASES)
    assert set().union(*named) == set(LIFTED)


NEVER_ALONE = {
    # What may stay breaks nothing where it lies: another rule has to ask for a move.
    "keep-topics",
    "only-over-threshold",
    "only-what-must",
    "keep-leaders",
    # What has not left yet counts against a threshold, which is a rule of its own.
    "transient-disk",
}


@settings(max_examples=40)
@given(
    clusters(min_brokers=2),
    st.sampled_from([Rebalance(), AddBrokers(), RemoveBrokers((0, 1)), Fix()]),
    st.sampled_from(["kept", "led", "over", ""]),
    st.booleans(),
)
def test_rules_that_keep_replicas_where_they_are_are_no_reason_alone(
    state, operation, kept, is_disk_transient
):
    every = np.ones(len(state.topics.names), dtype=np.bool_)
    rules = {
        "kept": (KeepTopics(every),),
        "led": (KeepLeaders(every),),
        "over": (OnlyOverThreshold(),),
        "": (),
    }
    options = Settings(
        rules=rules[kept], is_disk_transient=is_disk_transient, effort="quick"
    )

    _, why = infeasible_set(state, operation, options)

    if why is not None and why.is_irreducible and why.rules:
        assert set(why.rules) - NEVER_ALONE


def test_every_other_rule_is_the_reason_alone_somewhere():
    alone = [case.values[3] for case in CASES if len(case.values[3]) == 1]

    assert set().union(*alone) == set(LIFTED) - NEVER_ALONE


def test_a_plan_that_keeps_all_rules_has_no_reason():
    state = make_state([[0], [0]], racks="ab")

    assert infeasible_set(state, Rebalance(), Settings())[1] is None


def test_of_what_cannot_be_packed_cp_sat_says_why_and_few_plans_are_made(monkeypatch):
    # 7, 5, 4 and 4 would fill two brokers of 10 to the brim, but do not go in.
    state = make_state(
        [[0]] * 4, ids=[0, 1, 2], racks="abc", size_bytes=[7, 5, 4, 4],
        disk_bytes=[100, 10, 10],
    )  # fmt: skip
    operation, made = RemoveBrokers((0,)), []
    options = Settings(
        capacity_thresholds={Resource.DISK: 1.0},
        max_moves=4,
        excluded_for_leaders=frozenset({0}),
    )
    found = plan(state, operation, options)
    monkeypatch.setattr(
        "placement.planning.infeasibility.infeasible_rules.find_remedies", lambda *_: ()
    )

    def planned(settings):
        made.append(settings)
        return plan(state, operation, settings)

    reason = explain_impossible(operation, options, found, planned)

    assert found.solution.status is Status.INFEASIBLE
    assert (reason.rules, reason.helps) == (("capacity-disk",), (True,))
    assert reason.is_irreducible
    # That it can be done without this rule; the proofs need no plan.
    assert len(made) == 1


def test_what_is_short_in_a_rack_is_named():
    state = make_state(
        [[0, 2], [1, 2]], racks="aab", size_bytes=30, disk_bytes=[200, 200, 50]
    )

    found, _ = infeasible_set(state, Rebalance(), Settings())

    first = found.solution.shortfalls[0]
    assert (first.what, first.resource, first.level) == ("capacity", "disk", "rack")
    assert (first.node, first.have, first.need) == (1, 40, 60)


def test_no_plan_is_looked_for_in_a_large_cluster(monkeypatch):
    monkeypatch.setattr(
        "placement.planning.infeasibility.infeasible_rules.MOST_SOLVED", 1
    )
    state = make_state([[0], [0], [1]], racks="ab")

    _, why = infeasible_set(state, RemoveBrokers((0,)), Settings(max_moves=1))

    assert (why.rules, why.helps) == (("max-moves",), (None,))
    assert why.is_proven
    assert not why.is_irreducible


def test_of_a_large_cluster_only_what_is_proven_is_a_reason(monkeypatch):
    monkeypatch.setattr(
        "placement.planning.infeasibility.infeasible_rules.MOST_SOLVED", 1
    )
    # Each disk may hold 80: one replica of 45, and there are three on two disks.
    state = make_state(
        [[0], [0], [1], [1]], racks="ab", size_bytes=[45, 45, 45, 20], disk_bytes=100
    )
    options = Settings(max_moves=5)

    found, why = infeasible_set(state, Rebalance(), options)

    assert found.solution.status == Status.INFEASIBLE
    first = found.solution.shortfalls[0]
    assert (first.what, first.resource, first.level) == ("pieces", "disk", "broker")
    assert (first.have, first.need) == (2, 3)
    assert (why.rules, why.helps) == (("capacity-disk",), (None,))
    assert why.is_proven
    assert not why.is_irreducible


@pytest.mark.parametrize(
    "broken", [{"max_replicas": [2, 9, 9, 9]}, {"racks": "aabc"}], ids=["full", "racks"]
)
@pytest.mark.parametrize("operation", [AddBrokers(()), RemoveBrokers((3,))])
def test_violations_that_stay_are_no_reason_for_missed_goals(broken, operation):
    state = make_state([[0, 1]] * 3, ids=range(4), size_bytes=40, **broken)
    disk = goals_named({"band-disk"})
    options = Settings(bands={Resource.DISK: 0.02}, hard=disk, effort="quick")

    found, why = infeasible_set(state, operation, options)

    assert not found.has_met_rules
    assert "band-disk" in why.rules
    assert not {"max-replicas", "rack"}.intersection(why.rules)
    assert plan(state, operation, replace(options, hard=frozenset())).has_met_rules


OPERATIONS = st.sampled_from(
    [
        *(Rebalance(), AddBrokers(), AddBrokers((1, 3)), Leaders()),
        *(
            RemoveBrokers((0, 1, 2)),
            Demote((0, 1)),
            Fix(),
            SetReplicationFactor({"t0": 2}),
        ),
    ]
)
WISHES = st.builds(
    Settings,
    max_moves=st.sampled_from([None, 0, 1]),
    destination_brokers=st.sampled_from([None, frozenset(range(20))]),
    bands=st.sampled_from([{}, dict.fromkeys(Resource, 0.05)]),
    hard=st.sampled_from([frozenset(), goals_named({"bands"})]),
    effort=st.just("quick"),
)


@settings(max_examples=60)
@given(clusters(min_brokers=2), OPERATIONS, WISHES)
def test_reasons_of_any_cluster(state, operation, options):
    found, why = infeasible_set(state, operation, options)

    assert (why is None) == found.has_met_rules
    if why is None:
        return
    assert all(LIFTED[rule].limits(found.draft) for rule in why.rules)
    lifted = options
    for rule in LIFTED:
        if rule not in why.rules and LIFTED[rule].limits(found.draft):
            lifted = LIFTED[rule].lifted(lifted)
    assert not plan(state, operation, lifted).has_met_rules or not why.is_proven
    for rule, helps in zip(why.rules, why.helps, strict=True):
        if helps:
            without = replace(LIFTED[rule].lifted(options), effort="normal")
            assert plan(state, operation, without).has_met_rules


def test_the_distance_is_that_of_the_lists_where_replicas_have_no_broker():
    lists = [[0, 1, 2], [1, 2, 0], [2, 0, 1]] * 2
    leaders = [1, 1, 2] * 2
    isr = [[1, 2]] * 6
    states = {0: BrokerState.FENCED}
    state = make_state(lists, racks="abc", states=states, leaders=leaders, isr=isr)

    found = plan(state, RemoveBrokers((0,)), Settings())

    assert not found.has_met_rules
    # Nothing moves: broker 1 leads four partitions, and its share is three.
    assert found.solution.certificate.deviation.value == pytest.approx(1 / 3)
