"""What every plan keeps, whatever the cluster, the operation and the settings."""

import gzip
import json
import random
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.check import CheckSettings, Target, check
from placement.core.model.solution import Status
from placement.draft.draft import Settings
from placement.model.cluster import BrokerState, ClusterState, Storage
from placement.model.load import Resource, loads_of
from placement.operations.add_brokers import AddBrokers
from placement.operations.operation import Operation
from placement.operations.rebalance import Rebalance
from placement.operations.remove_brokers import RemoveBrokers
from placement.planning.outcome.result import PlannedPlacement
from placement.planning.plan import plan
from planner.demo import SNAPSHOT_FILE
from planner.snapshot import Snapshot
from support.clusters import clusters, make_state

MET = {Status.OPTIMAL, Status.FEASIBLE}


@dataclass(frozen=True)
class Case:
    """A cluster, what is to be done with it, and the chosen_settings."""

    state: ClusterState
    operation: Operation
    settings: Settings

    @property
    def states(self) -> dict[int, BrokerState]:
        brokers = self.state.brokers
        codes = [BrokerState(code) for code in brokers.state.tolist()]
        return dict(zip(brokers.ids.tolist(), codes, strict=True))

    @property
    def live(self) -> set[int]:
        return {b for b, code in self.states.items() if code <= BrokerState.DEMOTED}

    @property
    def removed(self) -> set[int]:
        is_removal = isinstance(self.operation, RemoveBrokers)
        return set(self.operation.broker_ids) if is_removal else set()

    @property
    def emptied(self) -> set[int]:
        dead = {b for b, code in self.states.items() if code == BrokerState.DEAD}
        is_adding = isinstance(self.operation, AddBrokers)
        return self.removed if is_adding else self.removed | dead

    @property
    def may_receive(self) -> set[int]:
        """The brokers that may get copies, by the definitions of docs/plans.md."""
        allowed = self.live - self.emptied - self.settings.excluded_for_replicas
        if self.settings.destination_brokers is not None:
            allowed &= self.settings.destination_brokers
        if isinstance(self.operation, AddBrokers):
            new = {b for b, code in self.states.items() if code == BrokerState.NEW}
            allowed &= set(self.operation.broker_ids) or new
        return allowed

    @property
    def may_lead(self) -> set[int]:
        leading = {b for b, code in self.states.items() if code < BrokerState.DEMOTED}
        return leading - self.emptied - self.settings.excluded_for_leaders

    def is_left_alone(self, partition: int) -> bool:
        topic = self.state.partitions.topic_idx[partition]
        excluded = self.settings.excluded_topics
        offline = set(self.states) - self.live - self.emptied
        return bool(
            (excluded is not None and excluded[topic])
            or self.state.is_reassigning[partition]
            or self.state.topics.storage[topic] == Storage.UNKNOWN
            or offline & set(self.state.brokers_of(partition))
        )

    def leader_of(self, brokers: list[int]) -> int | None:
        return next((b for b in brokers if b in self.live), None)


@st.composite
def cases(draw, **options) -> Case:
    state = draw(clusters(**options))
    ids = state.brokers.ids.tolist()
    few = st.frozensets(st.sampled_from(ids), min_size=1, max_size=2)
    some = few.map(sorted).map(tuple)
    operations = st.sampled_from([Rebalance(), AddBrokers()])
    operation = draw(operations | some.map(AddBrokers) | some.map(RemoveBrokers))
    seldom = st.just(frozenset()) | st.just(frozenset()) | few
    names = st.sets(st.sampled_from(list(Resource)), min_size=1)
    chosen = Settings(
        resources=draw(st.none() | names.map(sorted).map(tuple)),
        excluded_topics=np.array(
            [draw(st.integers(0, 5)) == 5 for _ in state.topics.names], dtype=np.bool_
        ),
        excluded_for_replicas=draw(seldom),
        excluded_for_leaders=draw(seldom),
        destination_brokers=draw(st.none() | st.none() | few),
        frees_the_rest=draw(st.integers(0, 3)) == 3,
    )
    return Case(state, operation, chosen)


def lists_of(state: ClusterState) -> list[list[int]]:
    return [state.brokers_of(p) for p in range(state.num_partitions)]


def lists_before_and_after(case: Case, found: PlannedPlacement):
    before, after = lists_of(case.state), lists_of(found.reassignment.after())
    return list(enumerate(zip(before, after, strict=True)))


@settings(max_examples=60)
@given(cases(reassigning=True))
def test_only_what_may_move_does(case: Case):
    found = plan(case.state, case.operation, case.settings)

    copies = 0
    is_free = case.settings.frees_the_rest
    for partition, (before, after) in lists_before_and_after(case, found):
        came = set(after) - set(before)
        copies += len(came)
        assert len(after) == len(before) == len(set(after))
        assert before == after or not case.is_left_alone(partition)
        if isinstance(case.operation, AddBrokers) and is_free:
            named = replace(case, operation=Rebalance())
            assert came <= named.may_receive | case.emptied
        else:
            assert came <= case.may_receive
        if before == after:
            continue
        assert set(after) <= case.live
        old, new = case.leader_of(before), case.leader_of(after)
        assert new == old or new in case.may_lead
        if isinstance(case.operation, RemoveBrokers) and not is_free:
            assert set(before) & case.emptied
    assert int(found.reassignment.is_copied.sum()) == copies


@settings(max_examples=60)
@given(cases(reassigning=True))
def test_a_certificate_counts_what_the_lists_do(case: Case):
    found = plan(case.state, case.operation, case.settings)

    proven, copied = found.solution.certificate, found.reassignment.is_copied
    of = case.state.replicas.partition_idx[copied]
    local = case.state.topics.storage[case.state.partitions.topic_idx[of]]
    size = np.maximum(case.state.partitions.size_bytes[of], 0)
    assert proven.moves.value == int(copied.sum())
    assert proven.cost.value == int(size[local != Storage.SHARED].sum())
    for bounded in (proven.cost, proven.moves, proven.deviation):
        assert 0 <= bounded.lower_bound <= bounded.value
    if found.solution.status == Status.OPTIMAL:
        assert proven.cost.lower_bound == proven.cost.value


@settings(max_examples=60)
@given(cases(reassigning=True))
def test_removed_brokers_are_empty_or_it_is_said_why(case: Case):
    found = plan(case.state, case.operation, case.settings)

    left = [
        partition
        for partition, (_, after) in lists_before_and_after(case, found)
        if set(after) & case.removed
    ]
    if left:
        assert found.solution.status not in MET
        named = {shortfall.group for shortfall in found.solution.shortfalls}
        assert named & set(left)
    assert bool(found.solution.shortfalls) or found.solution.status in MET


@settings(max_examples=60)
@given(cases(reassigning=True))
def test_a_plan_carried_out_needs_no_other(case: Case):
    found = plan(case.state, case.operation, case.settings)

    after = found.reassignment.after()
    again = plan(after, case.operation, case.settings)

    assert not again.reassignment.is_copied.any()
    assert again.is_nothing


@settings(max_examples=40)
@given(cases(reassigning=True))
def test_the_checker_finds_no_copy_or_leader_where_none_may_be(case: Case):
    found = plan(case.state, case.operation, case.settings)

    names = case.state.topics.names
    excluded = case.settings.excluded_topics
    rules = CheckSettings(
        excluded_for_replicas=case.settings.excluded_for_replicas,
        excluded_for_leaders=case.settings.excluded_for_leaders,
        excluded_topics=frozenset(
            name for name, out in zip(names, excluded, strict=True) if out
        ),
        leaving_brokers=frozenset(case.removed),
    )
    changed = np.nonzero(found.reassignment.is_changed)[0].tolist()
    after = found.reassignment.after()
    target = Target.from_lists(
        [names[case.state.partitions.topic_idx[p]] for p in changed],
        [int(case.state.partitions.partition[p]) for p in changed],
        [after.brokers_of(p) for p in changed],
    )
    wrong = {f.rule for f in check(case.state, target, rules) if not f.existing}
    shape = {"unknown-broker", "duplicate-broker", "duplicate-partition"}
    shape |= {"replication-factor", "dead-broker", "excluded", "stale"}
    assert not wrong & shape
    if found.solution.status in MET:
        assert not wrong & {"max-replicas", "capacity"}


@settings(max_examples=40)
@given(cases(), st.integers(2, 5))
def test_another_seed_changes_no_rule(case: Case, seed: int):
    one = plan(case.state, case.operation, case.settings)
    other = plan(case.state, case.operation, replace(case.settings, seed=seed))

    certificates = one.solution.certificate, other.solution.certificate
    assert (one.solution.status in MET) == (other.solution.status in MET)
    if one.solution.status == other.solution.status == Status.OPTIMAL:
        assert certificates[0].deviation.value == pytest.approx(
            certificates[1].deviation.value
        )


@settings(max_examples=30)
@given(cases(reassigning=True))
def test_the_same_cluster_has_the_same_plan(case: Case):
    first = plan(case.state, case.operation, case.settings)
    second = plan(case.state, case.operation, case.settings)

    assert lists_of(first.reassignment.after()) == lists_of(second.reassignment.after())
    assert first.notes == second.notes
    assert first.solution.certificate == second.solution.certificate


@pytest.mark.parametrize("seed", [1, 2])
def test_the_order_of_rows_in_a_snapshot_changes_nothing(seed: int):
    document = json.loads(gzip.decompress(SNAPSHOT_FILE.read_bytes()))
    shuffled = json.loads(gzip.decompress(SNAPSHOT_FILE.read_bytes()))
    rng = random.Random(seed)
    rng.shuffle(shuffled["brokers"])
    rng.shuffle(shuffled["topics"])
    for topic in shuffled["topics"]:
        rng.shuffle(topic["partitions"])
    assert shuffled != document

    chosen_settings = Settings(effort="quick")
    plans = [
        plan(Snapshot.from_document(d).to_state(), AddBrokers(), chosen_settings)
        for d in (document, shuffled)
    ]

    after = [found.reassignment.after() for found in plans]
    assert lists_of(after[0]) == lists_of(after[1])
    assert not plans[0].is_nothing


def test_the_deviation_is_from_the_bands_that_were_reached():
    # All but the new brokers are set aside with what they carry; what moves onto the
    # new ones gives the others shares that were not aimed at.
    state = make_state(
        [[1, 3], [4, 0], [0, 1], [3, 4], [2, 0]],
        racks="aaaaaaa",
        states={5: BrokerState.NEW, 6: BrokerState.NEW},
        size_bytes=[80, 10, 10, 40, 0],
        in_rate=[10.0, 10.0, 10.0, 30.0, 0.0],
        out_rate=[0.0, 0.0, 30.0, 30.0, 0.0],
        leader_cpu=[0.0, 60.0, 0.0, 60.0, 20.0],
        follower_cpu=[0.0, 30.0, 0.0, 30.0, 10.0],
    )
    chosen_settings = Settings(excluded_for_leaders=frozenset({6}), effort="quick")

    made = plan(state, AddBrokers(), chosen_settings)

    after = made.reassignment.after()
    load, _ = loads_of(after)
    outside = made.targets.outside(load).max()
    assert outside > 0
    assert made.solution.certificate.deviation.value == pytest.approx(outside)
