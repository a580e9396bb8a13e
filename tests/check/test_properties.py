"""The checker against plain Python, and what must hold for any cluster."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from placement.check import CheckSettings, Target, check, is_ok
from placement.check.case.broker_loads import broker_loads
from placement.check.case.finding import Finding
from placement.check.case.plan_case import look_up
from placement.check.rules.capacity_rules import capacities
from placement.check.rules.rack_rule import most_per_rack
from placement.model.cluster import BrokerState, ClusterState
from support.clusters import clusters, make_state
from support.naive import (
    Lists,
    failed_ids,
    is_rack_broken,
    key_of,
    lists_of,
    live_ids,
    naive_kappa,
    naive_loads,
    replicas_of,
)

ANY_FACTOR = CheckSettings(allow_replication_factor_change=True)


def target_of(lists: Lists) -> Target:
    return Target.from_lists(
        [topic for topic, _ in lists],
        [number for _, number in lists],
        list(lists.values()),
    )


@st.composite
def cases(draw, **options) -> tuple[ClusterState, Lists]:
    """Any cluster, and sound lists for some of its partitions."""
    state = draw(clusters(**options))
    ids = state.brokers.ids.tolist()
    lists = {}
    for key in lists_of(state):
        if draw(st.booleans()):
            order = draw(st.permutations(ids))
            lists[key] = order[: draw(st.integers(1, len(ids)))]
    return state, lists


def keys_found(findings: tuple[Finding, ...], rule: str) -> set[tuple[str, int]]:
    found = [finding for finding in findings if finding.rule == rule]
    return {(f.where.topic, f.where.partition) for f in found}


@given(cases())
def test_loads_agree_with_adding_up_replica_by_replica(case):
    state, lists = case

    loads = broker_loads(state, look_up(state, target_of(lists), ANY_FACTOR).after)

    expected = naive_loads(state, lists)
    for resource, by_broker in expected.items():
        assert loads[resource].tolist() == pytest.approx(list(by_broker.values()))


@given(cases(reassigning=True))
def test_loads_of_ongoing_reassignments_agree_too(case):
    state, lists = case

    loads = broker_loads(state, look_up(state, target_of(lists), ANY_FACTOR).after)

    expected = naive_loads(state, lists)
    assert loads["out"].tolist() == pytest.approx(list(expected["out"].values()))
    assert loads["in"].tolist() == pytest.approx(list(expected["in"].values()))


@given(cases(all_known=True))
def test_capacity_findings_agree_with_the_naive_loads(case):
    state, lists = case

    findings = check(state, target_of(lists), ANY_FACTOR)

    found = {
        (f.where.broker, f.where.resource): f.existing
        for f in findings
        if f.rule == "capacity"
    }
    before, after = naive_loads(state, {}), naive_loads(state, lists)
    live = live_ids(state)
    expected = {}
    for resource, fraction in {"disk": 0.8, "in": 0.8, "out": 0.8, "cpu": 0.7}.items():
        whole = capacities(state, resource).tolist()
        for broker, capacity in zip(state.brokers.ids.tolist(), whole, strict=True):
            load, was = after[resource][broker], before[resource][broker]
            if broker in live and load > capacity * fraction * (1 + 1e-6):
                expected[broker, resource] = load <= was
    assert found == expected


@given(cases(), st.data())
def test_rack_findings_agree_with_counting(case, data):
    state, lists = case
    ids = state.brokers.ids.tolist()
    leaving = data.draw(st.frozensets(st.sampled_from(ids), max_size=2))
    settings = replace(ANY_FACTOR, leaving_brokers=leaving)

    findings = check(state, target_of(lists), settings)

    expected = {
        key
        for key, brokers in (lists_of(state) | lists).items()
        if is_rack_broken(state, brokers, leaving)
    }
    assert keys_found(findings, "rack") == expected


@given(st.integers(1, 12), st.lists(st.integers(0, 6), max_size=5))
def test_most_per_rack_agrees_with_counting_up(factor: int, sizes: list[int]):
    assert most_per_rack(factor, sizes) == naive_kappa(factor, dict(enumerate(sizes)))


@given(cases())
def test_dead_brokers_agree_with_looking_at_each(case):
    state, lists = case

    findings = check(state, target_of(lists), ANY_FACTOR)

    live = live_ids(state)
    assert {
        (f.where.topic, f.where.partition, f.where.broker, f.existing)
        for f in findings
        if f.rule == "dead-broker"
    } == {
        (*key, broker, key not in lists)
        for key, brokers in (lists_of(state) | lists).items()
        for broker in brokers
        if broker not in live
    }


@given(cases())
def test_min_isr_agrees_with_looking_at_each(case):
    state, lists = case

    findings = check(state, target_of(lists), ANY_FACTOR)

    expected = set()
    for partition in range(state.num_partitions):
        key, before = key_of(state, partition), replicas_of(state, partition)
        after = lists.get(key, [r.broker for r in before])
        in_sync = {r.broker for r in before if r.is_in_sync}
        least = state.topics.min_insync_replicas[state.partitions.topic_idx[partition]]
        new = set(after) - {r.broker for r in before}
        is_lost = bool(in_sync) and not in_sync & set(after) and not new
        serving = (in_sync & live_ids(state)) - failed_ids(state, partition)
        stay = (serving | new & live_ids(state)) & set(after)
        is_few = key in lists and len(stay) < min(least, len(after), len(serving))
        if len(after) < least or is_lost or is_few:
            expected.add(key)
    assert keys_found(findings, "min-isr") == expected


@given(clusters())
def test_a_plan_that_touches_nothing_causes_nothing(state: ClusterState):
    assert is_ok(check(state, target_of({})))


@given(clusters(all_live=True))
def test_naming_every_list_as_it_is_adds_no_load_and_moves_nothing(state: ClusterState):
    findings = check(state, target_of(lists_of(state)))

    # What was wrong with a list is now left so by the plan; loads are as they were.
    loads = {"capacity", "log-dir-capacity", "max-replicas"}
    assert all(f.existing for f in findings if f.rule in loads)
    assert all(f.existing for f in findings if f.rule == "no-source")
    assert not {f.rule for f in findings} - {*loads, "min-isr", "no-source", "rack"}


@given(cases(), st.data())
def test_renaming_brokers_renames_the_findings(case, data):
    state, lists = case
    ids = state.brokers.ids.tolist()
    names = dict(zip(ids, data.draw(st.permutations(ids)), strict=True))
    renamed = {key: [names[b] for b in brokers] for key, brokers in lists.items()}

    findings = check(state, target_of(lists), ANY_FACTOR)
    of_renamed = check(with_names(state, names), target_of(renamed), ANY_FACTOR)

    assert places(of_renamed, {}) == places(findings, names)


def with_names(state: ClusterState, names: dict[int, int]) -> ClusterState:
    """The same cluster with other broker ids: rows are sorted anew."""
    old = state.brokers
    new_ids = np.array([names[b] for b in old.ids.tolist()], dtype=np.int32)
    order = np.argsort(new_ids)
    row = np.append(np.argsort(order), -1).astype(np.int32)
    columns = ("rack_idx", "host_idx", "broker_set_idx", "state", "disk_bytes")
    rates = ("in_bytes_per_s", "out_bytes_per_s", "cpu_cores", "max_replicas")
    dirs, replicas = state.log_dirs, state.replicas
    dir_order = np.argsort(row[dirs.broker_idx], kind="stable")
    dir_row = np.append(np.argsort(dir_order), -1).astype(np.int32)
    return replace(
        state,
        brokers=replace(
            old,
            ids=new_ids[order],
            **{name: getattr(old, name)[order] for name in (*columns, *rates)},
        ),
        log_dirs=replace(
            dirs,
            broker_idx=row[dirs.broker_idx][dir_order],
            paths=tuple(dirs.paths[d] for d in dir_order),
            size_bytes=dirs.size_bytes[dir_order],
            usable_bytes=dirs.usable_bytes[dir_order],
            state=dirs.state[dir_order],
        ),
        partitions=replace(
            state.partitions, leader_idx=row[state.partitions.leader_idx]
        ),
        replicas=replace(
            replicas,
            broker_idx=row[replicas.broker_idx],
            log_dir_idx=dir_row[replicas.log_dir_idx],
            future_log_dir_idx=dir_row[replicas.future_log_dir_idx],
        ),
    )


def places(findings: tuple[Finding, ...], names: dict[int, int]) -> list[tuple]:
    found = [
        (
            f.rule,
            f.where.topic or "",
            f.where.partition or 0,
            -1 if f.where.broker is None else names.get(f.where.broker, f.where.broker),
            f.where.log_dir or "",
            f.where.resource or "",
            f.existing,
        )
        for f in findings
    ]
    return sorted(found)


@given(
    clusters(),
    st.lists(
        st.tuples(
            st.sampled_from(["t0", "t1", "", "nowhere", "\ud800"]),
            st.integers(-(2**31), 2**31 - 1) | st.integers(0, 3),
            st.lists(st.integers(-(2**31), 2**31 - 1) | st.integers(0, 40), max_size=4),
            st.sampled_from([None, "/d1", "/nowhere"]),
        ),
        max_size=5,
    ),
)
def test_any_plan_is_judged(state: ClusterState, entries):
    plan = Target.from_lists(
        [topic for topic, _, _, _ in entries],
        [number for _, number, _, _ in entries],
        [brokers for _, _, brokers, _ in entries],
        [[path] * len(brokers) for _, _, brokers, path in entries],
    )

    rules = {f.rule for f in check(state, plan)}

    known = set(lists_of(state))
    names = [(topic, number) for topic, number, _, _ in entries]
    ids = set(state.brokers.ids.tolist())
    assert ("empty-replicas" in rules) == any(
        not brokers for _, _, brokers, _ in entries
    )
    assert ("duplicate-partition" in rules) == (len(set(names)) < len(names))
    assert ("duplicate-broker" in rules) == any(
        len(set(brokers)) < len(brokers) for _, _, brokers, _ in entries
    )
    assert ("unknown-broker" in rules) == any(
        set(brokers) - ids for _, _, brokers, _ in entries
    )
    is_odd = bool({"unknown-topic", "unknown-partition"} & rules)
    assert is_odd == bool(set(names) - known)


def test_a_list_of_a_thousand_replicas_among_single_ones():
    state = make_state(
        [[0], list(range(1000)), [7]], racks=[f"r{b % 10}" for b in range(1000)]
    )

    findings = check(state, target_of({("t", 0): [999], ("t", 2): [3]}))

    assert findings == ()


def test_a_cluster_of_dead_brokers_has_no_leader_and_no_crash():
    state = make_state(
        [[0, 1]], racks="ab", states=dict.fromkeys([0, 1], BrokerState.DEAD)
    )

    findings = check(state, target_of({("t", 0): [1, 0]}))

    assert {(f.rule, f.existing) for f in findings} == {
        ("dead-broker", False),
        ("no-source", True),
    }
