"""The checker finds what breaks a rule, and nothing in plans under any rules."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.check.rules.chosen_rules import (
    broker_sets,
    only_trades,
    replica_cap,
    strict_racks,
    within_rack,
)
from placement.check.rules.kept_replicas import kept_topics
from placement.check.rules.move_caps import move_caps
from placement.model.load import RESOURCES
from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import make
from rules.rule_plans import SETS, target_of
from support.clusters import clusters, make_state

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
