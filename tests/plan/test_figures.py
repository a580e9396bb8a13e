"""Figures of a plan against counting one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.model.cluster import BrokerState
from planner.options.plan_request import PlanRequest
from planner.plan.documents.plan_figures import (
    CopyTime,
    copy_time,
    fullest_disk,
    survive,
)
from planner.plan.run.make_plan import make
from support.clusters import clusters, make_state
from support.naive import electable_ids


@settings(max_examples=100)
@given(clusters(), st.data())
def test_survival_is_the_worst_single_loss(state, data):
    nodes = data.draw(
        st.lists(
            st.integers(0, 2), min_size=state.num_brokers, max_size=state.num_brokers
        )
    )
    node_of = dict(zip(state.brokers.ids.tolist(), nodes, strict=True))
    min_isr = state.topics.min_insync_replicas[state.partitions.topic_idx].tolist()
    counts = {node: [0, 0, 0] for node in set(nodes)}
    for p in range(state.num_partitions):
        holders = electable_ids(state, p)
        for node in counts if holders else ():
            left = sum(node_of[b] != node for b in holders)
            counts[node][0] += left == 0
            counts[node][1] += left < min_isr[p]
            counts[node][2] += left == min_isr[p]

    found = survive(state, np.array(nodes, dtype=np.int32))

    worst = tuple(max(each) for each in zip(*counts.values(), strict=True))
    assert (found.most_offline, found.most_below, found.at_min_isr) == worst
    led = [bool(electable_ids(state, p)) for p in range(state.num_partitions)]
    assert found.offline_before == led.count(False)
    low = [0 < len(electable_ids(state, p)) < least for p, least in enumerate(min_isr)]
    assert found.below_before == low.count(True)


def plan_of(state, **options):
    return make(state, PlanRequest(effort="quick", **options)).plan


def test_time_of_the_busiest_link():
    state = make_state(
        [[0], [0], [1], [2]],
        racks="abcd",
        ids=[0, 1, 2, 3],
        size_bytes=[100, 100, 0, 0],
    )

    # Both leave broker 0, whoever gets them.
    time = copy_time(
        plan_of(state, goal="remove-brokers", broker_list="0").placed.reassignment, 50.0
    )

    assert time == CopyTime(4.0, 0)


def test_copies_are_read_from_the_leader():
    state = make_state([[0, 1]], racks="aab", ids=[0, 1, 2], size_bytes=100)

    time = copy_time(
        plan_of(state, goal="remove-brokers", broker_list="1").placed.reassignment,
        100.0,
    )

    assert time.seconds == 1.0
    assert time.broker_id in {0, 2}


def test_no_copies_take_no_time():
    plan = plan_of(make_state([[0]], racks="a", size_bytes=1), goal="rebalance")

    assert copy_time(plan.placed.reassignment, 1.0) == CopyTime(0.0, -1)


@pytest.mark.parametrize("while_copying", [True, False])
def test_fullest_disk_unknown(while_copying):
    plan = plan_of(make_state([[0]], racks="a"), goal="rebalance")

    assert fullest_disk(plan.placed.reassignment, while_copying=while_copying) is None


def test_fullest_disk_holds_both_copies_meanwhile():
    state = make_state(
        [[0], [1]],
        racks="ab",
        size_bytes=[30, 60],
        disk_bytes=[100, 200],
        states={0: BrokerState.ALIVE},
    )
    plan = plan_of(state, goal="remove-brokers", broker_list="0")

    now = fullest_disk(plan.placed.reassignment, while_copying=False)
    peak = fullest_disk(plan.placed.reassignment, while_copying=True)

    assert (now.fraction, now.broker_id) == (0.3, 0)
    assert (peak.fraction, peak.broker_id) == (0.45, 1)
