"""Plans of the solver, judged by the checker that shares nothing with it."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from placement.check import CheckSettings, Finding, Target, check
from placement.model.cluster import ClusterState
from placement.operations.add_brokers import AddBrokers
from placement.operations.operation import Operation
from placement.operations.rebalance import Rebalance
from placement.operations.remove_brokers import RemoveBrokers
from placement.planning.plan import plan
from support.clusters import clusters

# What a list or a log dir had wrong that these operations are not made to mend.
NOT_MENDED = {"min-isr", "log-dir"}


@st.composite
def operations(draw, state: ClusterState) -> Operation:
    ids = state.brokers.ids.tolist()
    some = st.sets(st.sampled_from(ids), min_size=1, max_size=2).map(sorted).map(tuple)
    return draw(st.just(Rebalance()) | some.map(AddBrokers) | some.map(RemoveBrokers))


def target_of(state: ClusterState, after: ClusterState) -> Target:
    """The lists of `after` that are not those of `state`."""
    changed = [
        row
        for row in range(state.num_partitions)
        if state.brokers_of(row) != after.brokers_of(row)
    ]
    topics = [state.topics.names[t] for t in state.partitions.topic_idx[changed]]
    return Target.from_lists(
        topics,
        state.partitions.partition[changed].tolist(),
        [after.brokers_of(row) for row in changed],
    )


def caused(findings: tuple[Finding, ...]) -> set[tuple[object, ...]]:
    return {
        (f.rule, f.where.topic, f.where.partition, f.where.broker, f.where.resource)
        for f in findings
        if not f.existing
    }


@pytest.mark.not_quick
@settings(max_examples=40)
@given(clusters(all_known=True, reassigning=True), st.data())
def test_a_plan_that_met_its_rules_passes(state: ClusterState, data: st.DataObject):
    assume(state.num_partitions)
    operation = data.draw(operations(state))
    leaving = frozenset(getattr(operation, "broker_ids", ()))
    is_removal = isinstance(operation, RemoveBrokers)
    rules = CheckSettings(leaving_brokers=leaving if is_removal else frozenset())

    found = plan(state, operation)

    assume(found.has_met_rules)
    target = target_of(state, found.reassignment.after())
    findings = check(state, target, rules)
    as_it_was = check(state, same_lists(state, target), rules)
    assert not caused(findings) - caused(as_it_was)
    assert {rule for rule, *_ in caused(findings)} <= NOT_MENDED


def same_lists(state: ClusterState, target: Target) -> Target:
    """The partitions of a target as they lie now."""
    row_of = {state.name_of(row): row for row in range(state.num_partitions)}
    names = list(zip(target.topics, target.partitions.tolist(), strict=True))
    return Target.from_lists(
        [topic for topic, _ in names],
        [number for _, number in names],
        [state.brokers_of(row_of[f"{topic}-{number}"]) for topic, number in names],
    )
