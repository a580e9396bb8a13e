"""Capacities that brokers of one host share."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.check import CheckSettings
from placement.core.model.problem import NO_LIMIT
from placement.draft.draft import Settings
from placement.model.load import (
    RESOURCES,
    Resource,
    broker_loads,
    preferred_leaders,
    weigh,
)
from placement.operations.leaders import Leaders
from placement.operations.rebalance import Rebalance
from placement.operations.remove_brokers import RemoveBrokers
from placement.operations.replace_broker import ReplaceBroker
from placement.planning.plan import make_draft, plan
from placement.rules.hosts import host_capacities
from placement.rules.pinning import OnlyOverThreshold
from planner.options.plan_request import PlanRequest
from planner.plan.documents.plan_document import to_document
from planner.plan.run.make_plan import make
from support.clusters import clusters, make_state
from support.operations import newly_wrong

SHARED = {"racks": "aabb", "hosts": {0: "h", 1: "h", 2: "i", 3: "j"}}


def on_hosts(state, names):
    """Return a cluster whose brokers stand on hosts of these names by turns."""
    rows = np.arange(len(state.brokers)) % len(names)
    return state.with_brokers(hosts=tuple(names), host_idx=rows.astype(np.int32))


def host_loads(state):
    """Return what the brokers of each host carry, disk in bytes."""
    load = broker_loads(state, weigh(state), preferred_leaders(state))
    return {
        name: load[state.brokers.host_idx == host].sum(axis=0)
        for host, name in enumerate(state.brokers.hosts)
    }


def test_a_host_gives_away_what_its_brokers_may_carry_alone():
    state = make_state(
        [[0], [0], [1], [1], [1], [2], [3]], size_bytes=25, disk_bytes=100, **SHARED
    )
    request = PlanRequest(
        goal="rebalance", resources="replicas", band=["10"],
        host_capacity_threshold=["disk=0.6"],
    )  # fmt: skip

    made = make(state, request)

    assert made.is_ok
    assert made.plan.status in {"optimal", "feasible"}
    assert made.plan.moves["replicas"] == 1
    held = host_loads(made.plan.placed.reassignment.after())
    assert {name: int(load[0]) for name, load in held.items()}["h"] == 100
    assert made.plan.settings["host_capacity_threshold"] == {"disk": 0.6}


def test_what_a_host_lacks_is_named():
    state = make_state([[0], [1], [2], [2]], size_bytes=30, disk_bytes=100, **SHARED)
    request = PlanRequest(
        goal="remove-brokers", broker_list="2",
        host_capacity_threshold=["disk=0.2"],
    )  # fmt: skip

    plan_made = make(state, request).plan
    document = to_document(plan_made)

    assert plan_made.status == "infeasible"
    assert [rule["rule"] for rule in document["reason"]["rules"]] == ["host-disk"]
    said = " ".join(one["message"] for one in document["shortfalls"])
    assert "host" in said or "brokers" in said
    (rule,) = document["reason"]["rules"]
    assert "--host-capacity-threshold disk=…" in rule["remedy"]


def test_brokers_of_a_host_that_is_over_are_over():
    state = make_state(
        [[0], [0], [1], [1], [1], [2], [3]], size_bytes=25, disk_bytes=100, **SHARED
    )
    chosen = Settings(
        rules=(OnlyOverThreshold(),), host_thresholds={Resource.DISK: 0.6}
    )

    found = plan(state, Rebalance(), chosen)

    assert found.has_met_rules
    assert int(found.reassignment.is_copied.sum()) == 1
    # Without hosts no broker is over, and nothing moves.
    assert plan(state, Rebalance(), Settings(rules=(OnlyOverThreshold(),))).is_nothing


def test_leaders_move_off_a_host_that_sends_too_much():
    state = make_state(
        [[0, 2], [1, 3], [0, 3], [2, 0]], out_rate=10.0, in_rate=0.0,
        broker_out=100.0, leaders=[0, 1, 0, 2], **SHARED,
    )  # fmt: skip
    chosen = Settings(host_thresholds={Resource.OUT: 0.1})

    found = plan(state, Leaders(), chosen)

    assert found.has_met_rules
    out = {n: load[2] for n, load in host_loads(found.reassignment.after()).items()}
    most = host_capacities(found.draft)[:, 2]
    names = state.brokers.hosts
    assert all(out[name] <= most[row] for row, name in enumerate(names))


def test_a_host_of_which_a_capacity_is_unknown_has_no_limit():
    state = make_state(
        [[0], [1]], disk_bytes=[100, -1, 100, 100], broker_in=[1.0, np.nan, 1.0, 1.0],
        **SHARED,
    )  # fmt: skip
    chosen = Settings(host_thresholds={Resource.DISK: 0.5, Resource.IN: 0.5})

    most = host_capacities(make_draft(state, Rebalance(), chosen))

    assert (most[0] == NO_LIMIT).all()
    assert most[1, 0] == 50


@settings(max_examples=60)
@given(
    clusters(min_brokers=2),
    st.sampled_from([("h",), ("h", "i"), ("h", "i", "j")]),
    st.sampled_from([Rebalance(), RemoveBrokers((0, 1)), Leaders()]),
    st.dictionaries(
        st.sampled_from(RESOURCES[:4]), st.sampled_from([0.1, 0.4, 0.8]), min_size=1
    ),
)
def test_the_checker_agrees_on_hosts(state, names, operation, thresholds):
    state = on_hosts(state, names)
    chosen = Settings(host_thresholds=thresholds, effort="quick")

    found = plan(state, operation, chosen)

    rules = CheckSettings(host_thresholds={str(r): v for r, v in thresholds.items()})
    wrong = newly_wrong(found, rules)
    if found.has_met_rules:
        assert not wrong
    assert not [one for one in wrong if one.rule == "host-capacity"] or (
        not found.has_met_rules
    )


def test_the_checker_finds_what_a_plan_brings_to_a_full_host():
    from placement.check import Target, check

    state = make_state([[0], [1], [2]], size_bytes=30, disk_bytes=100, **SHARED)
    rules = CheckSettings(host_thresholds={"disk": 0.4})

    wrong = check(state, Target.from_lists(["t"], [2], [[1]]), rules)
    fine = check(state, Target.from_lists(["t"], [2], [[3]]), rules)

    [finding] = [one for one in wrong if one.rule == "host-capacity"]
    assert finding.message.startswith("host h of broker 0, 1: disk 90 B (before: 60 B)")
    assert not fine


@pytest.mark.parametrize("text", ["disk", "disk=2", "leaders=0.5"])
def test_thresholds_that_are_none_are_refused(text):
    from planner.errors import BadInputError

    request = PlanRequest(goal="rebalance", host_capacity_threshold=[text])

    with pytest.raises(BadInputError) as refused:
        make(make_state([[0]]), request)

    assert [one.place for one in refused.value.problems] == [
        "--host-capacity-threshold"
    ]


def test_a_broker_takes_no_more_than_its_host_has_left():
    state = make_state(
        [[0], [0], [1]], size_bytes=30, disk_bytes=100, racks="aaa",
        hosts={0: "h", 1: "i", 2: "i"},
    )  # fmt: skip
    pair = ReplaceBroker(((0, 2),))

    found = plan(state, pair, Settings(host_thresholds={Resource.DISK: 0.3}))
    soft = plan(
        state, pair, Settings(host_thresholds={Resource.DISK: 0.3}, soft=("host",))
    )

    # Broker 1 holds 30 of the 60 that both may hold together.
    assert int(found.reassignment.is_copied.sum()) == 1
    assert not found.has_met_rules
    assert int(soft.reassignment.is_copied.sum()) == 2
    assert soft.has_met_rules
