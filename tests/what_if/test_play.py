"""Scenarios planned: the same as planning the changed cluster, and checked."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.cluster_changes.variant import Data, variant_of
from placement.draft.draft import Settings
from placement.model.cluster import UNKNOWN
from placement.model.load import RESOURCES, Resource
from placement.scenarios.scenario_figures import Assumptions, figures_of
from placement.scenarios.scenario_outcome import Afterwards, play
from planner.options.cluster_options import read_request
from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import check_plan, make
from planner.snapshot import Snapshot
from planner.what_if.play_scenarios import Player, WhatIfRequest, read_options, what_if
from planner.what_if.scenarios_file import validate_scenarios
from support.plans import skewed_document
from support.scenarios import (
    change_lists,
    changed,
    scenario,
    snapshot_of,
    usual_assumptions,
)
from support.states import differences

QUICK = Settings(effort="quick")
QUICKLY = WhatIfRequest(effort="quick")
FEWER = {"change": "remove-brokers", "brokers": "1"}


def skewed(seed: int = 1) -> Snapshot:
    return Snapshot.from_document(skewed_document(seed=seed))


def played(*scenarios: Any, jobs: int = 1, **more: Any) -> Any:
    return played_on(skewed(), *scenarios, jobs=jobs, **more)


def played_on(snapshot: Snapshot, *scenarios: Any, jobs: int = 1, **more: Any) -> Any:
    state = snapshot.to_state()
    document = {"scenarios": list(scenarios)} | more
    file = validate_scenarios(document, snapshot, state)
    return what_if(snapshot, file, read_options(QUICKLY, state), jobs=jobs)


@settings(max_examples=8)
@given(st.data())
def test_a_scenario_is_planned_as_the_changed_cluster_is_from_its_file(data: Any):
    state = skewed(data.draw(st.integers(1, 3))).to_state()
    variant = changed(state, *data.draw(change_lists(state)))
    outcome = play(variant, Afterwards.REBALANCE, QUICK, usual_assumptions())

    leaving = ",".join(map(str, sorted(variant.leaving)))
    request = PlanRequest(
        goal="remove-brokers" if leaving else "rebalance",
        broker_list=leaving or None,
        rebalance=True,
        effort="quick",
    )
    planned = make(snapshot_of(variant.state).to_state(), request)

    placed = planned.plan.placed
    assert outcome.placed is not None
    assert outcome.status == str(placed.solution.status)
    assert differences(
        outcome.placed.reassignment.after(), placed.reassignment.after()
    ) in ([], ["cluster_id"])
    after = outcome.figures.score.resources
    for resource in RESOURCES:
        assert after[resource].max_use == planned.plan.after.resources[resource].max_use
    if not (variant.data != Data.THERE).any():
        assert outcome.copying.size_bytes == planned.plan.moves["bytes"]
    chosen = read_request(request, variant.state)
    assert check_plan(planned.plan, chosen) == planned.findings
    # Partitions offline, or racks too few, are none of the plan's making.
    if outcome.status in {"optimal", "feasible"}:
        assert planned.is_ok


@settings(max_examples=25)
@given(st.data())
def test_left_as_it_is_a_scenario_moves_nothing(data: Any):
    state = skewed().to_state()
    lists = change_lists(state).map(
        lambda all_: [c for c in all_ if c["change"] != "remove-brokers"]
    )
    variant = changed(state, *data.draw(lists))

    outcome = play(variant, Afterwards.NOTHING, Settings(), usual_assumptions())

    assert outcome.placed is None
    assert differences(outcome.figures.state, variant.state) == []
    by_change = int(np.equal(variant.data, Data.COPIED).sum())
    assert outcome.copying.replicas == by_change


def after(first: str, given: Any) -> Any:
    return given | {"after": first}


@pytest.mark.parametrize("then", ["rebalance", "needed", "nothing"])
def test_a_scenario_goes_on_from_what_another_leads_to(then: str):
    first = scenario("first", {"change": "replication-factor", "factor": 2})
    more = {"change": "grow", "topic": "a", "factor": 1.5}
    lose = {"change": "lose", "brokers": "2"}
    second = scenario("second", lose, more, then=then)
    swept = {"name": "s", "then": then, "traffic": [1.0, 1.5]}

    row, *points = played(
        first, after("first", second), sweeps=[after("first", swept)]
    ).scenarios[1:]

    snapshot = skewed()
    state = snapshot.to_state()
    file = validate_scenarios({"scenarios": [first]}, snapshot, state)
    player = Player(snapshot, state, file, read_options(QUICKLY, state))
    between = snapshot_of(player.outcome(file.scenarios[0]).figures.state)
    alone = played_on(between, second, sweeps=[swept]).scenarios
    for mine, its in zip((row, *points), alone, strict=True):
        assert mine["after"] == "first"
        assert dict(mine) == {**its, "after": "first"}


def test_brokers_that_went_before_are_no_part_of_what_follows():
    fewer = scenario("fewer", FEWER)
    again = scenario("again", {"change": "remove-brokers", "brokers": "2"})

    one, two = played(fewer, after("fewer", again)).scenarios

    assert (one["brokers"], two["brokers"]) == (5, 4)
    assert two["copies"]["bytes"] > 0
    assert two["is_checked"] is True


def test_no_change_is_today():
    row = played(scenario("as it is", then="nothing"))

    today, same = dict(row.today), dict(row.scenarios[0])
    told = {"name", "then"}
    assert {k: v for k, v in same.items() if k not in told} == {
        k: v for k, v in today.items() if k not in told
    }


def test_a_removed_broker_is_gone_and_its_bytes_are_counted():
    remove = {"change": "remove-brokers", "brokers": "1"}
    found = played(scenario("fewer", remove, then="needed")).scenarios[0]

    assert found["brokers"] == 5
    state = skewed().to_state()
    on = np.equal(state.replicas.broker_idx, 0)
    size = state.partitions.size_bytes[state.replicas.partition_idx]
    assert found["copies"]["bytes"] == int(size[on].sum())
    assert found["copies"]["replicas"] == int(on.sum())


def test_a_new_replica_that_the_plan_moves_is_copied_once():
    add = {"change": "replication-factor", "factor": 3}
    found = played(scenario("rf 3", add)).scenarios[0]

    state = skewed().to_state()
    added = int((3 - state.num_replicas).sum())
    moved = found["copies"]["replicas"] - added
    assert moved >= 0
    assert found["copies"]["replicas"] <= found["replicas"]


def test_new_topics_cost_no_copies():
    topic = {
        "change": "new-topic",
        "name": "fresh",
        "partitions": 12,
        "writes": 1200.0,
        "reads": 1200.0,
        "size": 600,
    }
    as_is, planned = played(
        scenario("as-is", topic, then="nothing"), scenario("planned", topic)
    ).scenarios
    without = played(scenario("planned")).scenarios[0]

    assert as_is["copies"]["bytes"] == 0
    assert as_is["partitions"] == planned["partitions"] == 42
    assert planned["replicas"] == without["replicas"] + 36


def test_the_verdicts_are_those_of_failures():
    from planner.failures.all_failures import DomainKind, compute_all_failures
    from planner.failures.failure_request import FailuresRequest, read_failures_request

    snapshot = skewed()
    state = snapshot.to_state()
    chosen = read_failures_request(FailuresRequest(), snapshot, state)
    every = compute_all_failures(snapshot, state, chosen, has_pairs=False)
    today = played(scenario("s", then="nothing")).today

    for kind in (DomainKind.BROKER, DomainKind.RACK):
        assert today["survives"][str(kind)]["survives"] == every.survives(kind)


@pytest.mark.slow
def test_the_answer_does_not_depend_on_the_number_of_processes():
    many = {"name": "far", "traffic": [1.0, 2.0, 3.0, 4.0, 5.0], "then": "nothing"}
    lost = scenario("lost", {"change": "lose", "brokers": "2"}, then="nothing")
    chain = (scenario("fewer", FEWER), after("fewer", lost))

    alone, together = (played(*chain, jobs=jobs, sweeps=[many]) for jobs in (1, 2))

    assert len(alone.scenarios) == 7
    assert alone.scenarios == together.scenarios


def test_a_sweep_takes_every_traffic_with_every_number_of_brokers():
    found = played(
        sweeps=[{"name": "far", "traffic": [1.0, 1.5], "brokers": [5, 6, 8]}]
    ).scenarios

    assert [(row["point"]["traffic"], row["brokers"]) for row in found] == [
        (traffic, count) for count in (5, 6, 8) for traffic in (1.0, 1.5)
    ]
    uses = [row["resources"]["in"]["mean_use"] for row in found]
    assert uses[1] == pytest.approx(1.5 * uses[0])
    assert uses[0] > uses[2] > uses[4]


def test_days_of_a_sweep_let_topics_grow():
    found = played(
        growth=[{"per_day": 0.01, "linear": True}],
        sweeps=[{"name": "later", "days": [0.0, 100.0], "then": "nothing"}],
    ).scenarios

    now, later = (row["resources"]["disk"]["mean_use"] for row in found)
    assert later == pytest.approx(2 * now, rel=0.01)


def test_figures_of_a_cluster_count_what_is_over():
    state = skewed().to_state()
    tight = Assumptions(
        bands=usual_assumptions().bands,
        thresholds=dict.fromkeys(RESOURCES[:4], 0.01),
    )

    figures = figures_of(state, tight)

    # The new broker is empty, all others are over.
    assert figures.num_over == 5
    assert figures.binding is not None
    loose = figures_of(state, usual_assumptions())
    assert loose.num_over == 0


def test_brokers_with_more_replicas_than_they_may_hold_are_over():
    state = skewed().to_state()
    count = np.bincount(state.replicas.broker_idx, minlength=state.num_brokers)
    most = int(count.max())
    tight = state.with_brokers(
        max_replicas=np.full(state.num_brokers, most - 1, dtype=np.int64)
    )
    some = np.where(np.arange(state.num_brokers) == count.argmax(), most - 1, UNKNOWN)

    figures = figures_of(tight, usual_assumptions())
    partly = figures_of(
        state.with_brokers(max_replicas=some.astype(np.int64)), usual_assumptions()
    )

    use = figures.use[Resource.REPLICAS]
    crowded = int((count == most).sum())
    assert (use.over, figures.num_over) == (crowded, crowded)
    assert use.most == pytest.approx(most / (most - 1))
    assert figures.binding is not None
    assert figures.binding[0] == Resource.REPLICAS
    assert not partly.use[Resource.REPLICAS].is_known
    assert partly.num_over == 1
    assert figures_of(state, usual_assumptions()).num_over == 0


def test_what_was_lost_counts_for_the_quorum():
    document = skewed_document() | {
        "controllers": [{"id": 100 + n, "rack": rack} for n, rack in enumerate("abc")]
    }
    snapshot = Snapshot.from_document(document)
    state = snapshot.to_state()
    lose = {"change": "lose", "racks": ["a"]}
    file = validate_scenarios(
        {"scenarios": [scenario("a", lose, then="nothing")]}, snapshot, state
    )
    found = what_if(snapshot, file, read_options(QUICKLY, state))

    assert found.today["survives"]["rack"]["controllers_keep_majority"] is True
    lost = found.scenarios[0]["survives"]
    assert lost["rack"]["controllers_keep_majority"] is False
    assert lost["rack"]["survives"] is False


def test_an_unchanged_variant_holds_all_that_was_there():
    state = skewed().to_state()

    assert not variant_of(state).data.any()


@pytest.mark.not_quick
@pytest.mark.parametrize("traffic", [1.0, 20.0, 90.0])
def test_points_that_are_not_planned_have_no_plan(traffic: float):
    """What a sweep leaves out, for no placement does, planning does not find either."""
    change = {"change": "traffic", "factor": traffic}

    swept = played(sweeps=[{"name": "s", "traffic": [traffic]}]).scenarios[0]
    planned = played(scenario("s", change)).scenarios[0]

    assert swept["holds"] == planned["holds"]
    if swept["shortfalls"] and swept["is_checked"] is None:
        assert planned["status"] in {"partial", "infeasible"}
    assert (traffic == 90.0) == (swept["is_checked"] is None)


def test_a_scenario_that_fills_a_log_dir_does_not_hold():
    document = skewed_document()
    broker = document["brokers"][0]
    [first, second] = broker["log_dirs"]
    broker["log_dirs"] = [first | {"size_bytes": 10}, second | {"size_bytes": 10**9}]
    for one in document["brokers"]:
        one.pop("in_bytes_per_s")
        one.pop("out_bytes_per_s")
    snapshot = Snapshot.from_document(document)

    found = played_on(
        snapshot,
        scenario("a", {"change": "traffic", "factor": 1.0}, then="nothing"),
        growth=[{"per_month": 0.1}],
    )

    [row] = found.scenarios
    assert "1:/d1" in row["log_dirs_over_threshold"]
    assert not row["holds"]
    assert (row["full"]["broker"], row["full"]["days"]) == (1, 0.0)


def test_a_rebalance_relieves_full_log_dirs_of_brokers_with_room():
    lists = [[1, 2, 3]] * 4
    dirs = [{"path": path, "size_bytes": 100} for path in ("/a", "/b")]
    rows = [
        {"partition": p, "replicas": row, "log_dirs": ["/a"] * 3, "size_bytes": 22}
        for p, row in enumerate(lists)
    ]
    document = {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "brokers": [{"id": b, "rack": str(b), "log_dirs": dirs} for b in (1, 2, 3)],
        "topics": [{"name": "t", "partitions": rows}],
    }
    same = {"change": "traffic", "factor": 1.0}

    left, evened = played_on(
        Snapshot.from_document(document),
        scenario("left", same, then="nothing"),
        scenario("evened", same, then="rebalance"),
    ).scenarios

    assert left["log_dirs_over_threshold"] == ["1:/a", "2:/a", "3:/a"]
    assert not left["holds"]
    assert evened["log_dirs_over_threshold"] == []
    assert evened["holds"]
    assert evened["is_checked"]
    assert evened["copies"]["replicas"] == 0
    assert "6 replicas, 132 B, move between log dirs" in evened["notes"][0]


def test_what_a_failed_log_dir_held_is_what_must_move():
    lose = {"change": "lose", "log_dirs": ["1:/d1"]}
    snapshot = skewed()
    held = [
        each
        for each in snapshot.partitions.to_pylist()
        if any(
            place == (1, "/d1")
            for place in zip(each["replicas"], each["log_dirs"], strict=True)
        )
    ]

    [row] = played(scenario("a", lose, then="needed")).scenarios

    assert row["copies"]["replicas"] == len(held) > 0
    assert row["copies"]["bytes"] == sum(each["size_bytes"] for each in held)
    assert row["violations"]["under_replicated"] == 0
    assert row["is_checked"]


def test_what_is_lost_with_a_log_dir_takes_no_room_in_the_others():
    document = skewed_document()
    lost = {"change": "lose", "log_dirs": ["1:/d1"]}
    on_d2 = sum(
        each["size_bytes"]
        for topic in document["topics"]
        for each in topic["partitions"]
        for place in zip(each["replicas"], each["log_dirs"], strict=True)
        if place == (1, "/d2")
    )
    size = on_d2 / 0.75
    for one in document["brokers"]:
        one["log_dirs"] = [
            each | {"size_bytes": int(size) if one["id"] == 1 else 10**6}
            for each in one["log_dirs"]
        ]

    found = played_on(
        Snapshot.from_document(document), scenario("a", lost, then="nothing")
    )

    disk = found.scenarios[0]["resources"]["disk"]
    assert (disk["broker"], disk["over_threshold"]) == (1, 0)
    assert disk["max_use"] == pytest.approx(on_d2 / int(size), rel=1e-6)


def test_replicas_that_a_plan_leaves_in_a_failed_log_dir_are_named():
    lose = {"change": "lose", "log_dirs": ["2:/d1"]}

    both, first, second = played(
        scenario("both", lose, FEWER, then="needed"),
        scenario("first", lose, then="needed"),
        scenario("second", FEWER, then="needed") | {"after": "first"},
    ).scenarios

    assert both["violations"]["under_replicated"] > 0
    assert "not rebuilt, as the plan empties brokers" in both["notes"][0]
    assert first["notes"] == second["notes"] == []
    assert second["violations"]["under_replicated"] == 0
