"""Caps on a plan, and the price of a move, from the options to the plan."""

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.model.cluster import Storage
from planner.errors import BadInputError
from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import make
from support.clusters import clusters, make_state
from support.naive import key_of, lists_of, live_ids, rack_of, replicas_of
from support.plans import planned_for, skewed_document

SMALL = skewed_document(num_brokers=6, num_partitions=24, seed=1)
DOCUMENT = skewed_document(num_brokers=8, num_partitions=60, seed=1)


@cache
def planned_with(**options):
    """Plan the larger cluster, once for all tests with these options."""
    return planned_for(DOCUMENT, "rebalance", effort="quick", **options)


@cache
def planned_freely():
    """Plan the smaller cluster without caps."""
    return planned_for(SMALL, "rebalance", effort="quick")


def noted(planned) -> list[str]:
    return [note.what for note in planned.plan.placed.notes]


@pytest.mark.slow
@pytest.mark.parametrize("cap", [0, 1, 5, 20])
def test_no_more_copies_than_allowed(cap: int):
    planned = planned_with(max_moves=cap)

    assert planned.plan.moves["replicas"] <= cap
    assert planned.is_ok
    assert "capped" in noted(planned)


@pytest.mark.slow
@pytest.mark.parametrize("part", [0.1, 0.5])
def test_no_more_bytes_than_allowed(part: float):
    free = planned_with()
    cap = int(free.plan.moves["bytes"] * part)

    planned = planned_with(max_bytes=str(cap))

    assert 0 < planned.plan.moves["bytes"] <= cap
    assert planned.is_ok
    assert "capped" in noted(planned)


@pytest.mark.slow
def test_a_cap_that_is_not_reached_changes_nothing_that_counts():
    free = planned_with()

    planned = planned_with(max_moves=10**9, max_bytes="1EB")

    assert "capped" not in noted(planned)
    assert planned.plan.placed.solution.certificate.deviation.value == 0
    assert free.plan.placed.solution.certificate.deviation.value == 0


@pytest.mark.slow
def test_more_may_be_moved_when_more_is_allowed():
    outside = [
        planned_with(max_moves=cap).plan.placed.solution.certificate.deviation.value
        for cap in (0, 5, 20, 60)
    ]

    assert outside == sorted(outside, reverse=True)
    assert outside[0] > outside[-1]


@settings(max_examples=40)
@given(clusters(min_brokers=3), st.integers(0, 8))
def test_caps_hold_for_any_cluster(state, cap: int):
    request = PlanRequest(goal="rebalance", max_moves=cap, effort="quick")

    planned = make(state, request)

    assert planned.plan.moves["replicas"] <= cap
    # A plan that may not mend all says so; and some clusters are beyond mending, which
    # is a finding without a cap as well.
    if not planned.is_ok and planned.plan.status not in {"partial", "infeasible"}:
        assert not make(state, PlanRequest(goal="rebalance", effort="quick")).is_ok


def crossing_bytes(planned) -> int:
    """What the lists copy to another rack than the one that leads, copy by copy."""
    before, total = planned.plan.state, 0
    racks, sizes = rack_of(before), before.partitions.size_bytes.tolist()
    old, new = lists_of(before), lists_of(planned.plan.placed.reassignment.after())
    for p in range(before.num_partitions):
        key, source = key_of(before, p), source_of(before, p)
        came = set(new[key]) - set(old[key])
        # On shared storage there is nothing to copy.
        storage = before.topics.storage[before.partitions.topic_idx[p]]
        if source is not None and storage != Storage.SHARED:
            total += sum(max(sizes[p], 0) for b in came if racks[b] != racks[source])
    return total


def source_of(state, p: int) -> int | None:
    """Who leads, or would: the broker that a copy comes from."""
    live, replicas = live_ids(state), replicas_of(state, p)
    leader = int(state.partitions.leader_idx[p])
    if leader >= 0 and int(state.brokers.ids[leader]) in live:
        return int(state.brokers.ids[leader])
    could = (one.broker for one in replicas if one.is_in_sync and one.broker in live)
    return next(could, None)


@pytest.mark.slow
@pytest.mark.parametrize("part", [0.0, 0.2])
def test_no_more_bytes_between_racks_than_allowed(part: float):
    free = planned_freely()
    cap = int(free.plan.moves["cross_rack_bytes"] * part)

    planned = planned_for(
        SMALL, "rebalance", max_cross_rack_bytes=f"{cap}", effort="quick"
    )

    assert free.plan.moves["cross_rack_bytes"] == crossing_bytes(free) > cap
    assert planned.plan.moves["cross_rack_bytes"] == crossing_bytes(planned) <= cap
    assert planned.plan.moves["bytes"] > cap
    assert planned.is_ok
    assert "capped" in noted(planned)
    assert planned.plan.settings["max_cross_rack_bytes"] == cap


def test_what_may_not_cross_racks_moves_inside_them():
    # Broker 0 leads; 3 and 4, in the other rack, are as empty as 1 and 2.
    state = make_state(
        [[0]] * 6, ids=[0, 1, 2, 3, 4], racks="aaabb", size_bytes=10, leaders=[0] * 6
    )
    request = PlanRequest(
        goal="rebalance", max_cross_rack_bytes="20B", resources="disk,replicas"
    )

    made = make(state, request)

    assert made.is_ok
    assert made.plan.moves["cross_rack_bytes"] == 20
    assert made.plan.status in {"optimal", "feasible"}


@pytest.mark.parametrize(
    ("cap", "status", "rules"),
    [(20, "optimal", ()), (19, "infeasible", ("max-cross-rack-bytes",))],
)
def test_forced_copies_between_racks_that_are_not_allowed(cap, status, rules):
    state = make_state([[0, 1], [0, 1]], ids=[0, 1, 2], size_bytes=10, racks="abb")
    request = PlanRequest(
        goal="remove-brokers", broker_list="0", max_cross_rack_bytes=str(cap)
    )

    made = make(state, request)

    assert made.is_ok
    assert made.plan.status == status
    assert made.plan.moves["cross_rack_bytes"] <= cap
    assert (made.plan.infeasible_set.rules if made.plan.infeasible_set else ()) == rules


@pytest.mark.parametrize("rebalance", [False, True])
@pytest.mark.parametrize(
    "caps",
    [{"max_moves": 1}, {"max_bytes": "19"}, {"max_cross_rack_bytes": "19"}, {}],
    ids=lambda caps: next(iter(caps), "none"),
)
def test_a_broker_is_replaced_within_the_caps(caps, rebalance):
    state = make_state(
        [[0, 1], [0, 1], [1, 0]],
        ids=[0, 1, 2], racks="abc", size_bytes=[20, 10, 10], leaders=[0, 0, 1],
    )  # fmt: skip
    request = PlanRequest(
        goal="replace-broker", rebalance=rebalance, resources="disk",
        broker=("0",), with_broker=("2",), **caps,
    )  # fmt: skip

    made = make(state, request)

    done = made.plan.moves
    assert made.is_ok
    assert done["replicas"] <= caps.get("max_moves", 9)
    assert done["bytes"] <= int(caps.get("max_bytes", 99))
    assert done["cross_rack_bytes"] <= int(caps.get("max_cross_rack_bytes", 99))
    if caps:
        assert done["replicas"] > 0
        assert made.plan.status == "infeasible"
        (name,) = caps
        assert made.plan.infeasible_set.rules == (name.replace("_", "-"),)
    else:
        assert done["replicas"] == 3


def has_too_few(state, finding) -> bool:
    """Tell whether a partition has fewer replicas than its least in sync."""
    names = [state.name_of(p) for p in range(state.num_partitions)]
    where = finding.where
    if finding.rule != "min-isr":
        return False
    p = names.index(f"{where.topic}-{where.partition}")
    least = state.topics.min_insync_replicas[state.partitions.topic_idx[p]]
    return bool(state.replication_factor[p] < least)


@pytest.mark.not_quick
@settings(max_examples=40)
@given(clusters(min_brokers=3), st.integers(0, 30))
def test_the_cap_between_racks_holds_for_any_cluster(state, cap: int):
    request = PlanRequest(
        goal="rebalance", max_cross_rack_bytes=str(cap), effort="quick"
    )

    planned = make(state, request)

    told = planned.plan.moves["cross_rack_bytes"]
    assert told == crossing_bytes(planned) <= cap
    free = make(state, PlanRequest(goal="rebalance", effort="quick"))
    # Of other partitions that it moves a plan leaves wrong that they have too few.
    caused = [
        finding
        for finding in planned.findings
        if not finding.existing and not has_too_few(state, finding)
    ]
    assert not caused or not free.is_ok


@pytest.mark.slow
def test_preferring_moves_makes_no_more_of_them():
    few_bytes = planned_with()
    few_moves = planned_with(prefer="moves")

    assert few_moves.plan.moves["replicas"] <= few_bytes.plan.moves["replicas"]
    assert few_moves.is_ok


@pytest.mark.parametrize(
    ("options", "place"),
    [
        pytest.param({"max_moves": -1}, "--max-moves", id="negative-moves"),
        pytest.param({"max_bytes": "much"}, "--max-bytes", id="no-size"),
        pytest.param({"max_bytes": "5Gb"}, "--max-bytes", id="bits"),
        pytest.param(
            {"max_cross_rack_bytes": "-5"},
            "--max-cross-rack-bytes",
            id="less-than-none",
        ),
        pytest.param({"move_cost_bytes": "-1"}, "--move-cost-bytes", id="negative"),
    ],
)
def test_caps_that_are_none_are_refused(options, place: str):
    with pytest.raises(BadInputError) as refused:
        planned_for(DOCUMENT, "rebalance", **options)

    assert [problem.place for problem in refused.value.problems] == [place]
