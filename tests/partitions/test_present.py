"""Load of a cluster today: the base of a new count, against counting one by one."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placement.partition_counts.count_task import DAY_S, GIB
from placement.partition_counts.present_load import (
    present_load,
    seen_rates,
    topic_retention,
)
from support.clusters import clusters, make_state


@given(clusters(), st.booleans())
def test_the_base_is_what_counting_gives(state, is_left_out):
    topic = 0 if is_left_out and len(state.topics) else None
    replicas, live = {}, {}
    for broker, is_live in zip(state.brokers.ids, state.brokers.is_live, strict=True):
        live[int(broker)] = bool(is_live)
        replicas[int(broker)] = [0, 0]
    partitions = followers = 0
    for p in range(state.num_partitions):
        if topic is not None and state.partitions.topic_idx[p] == topic:
            continue
        start, stop = state.replicas.start[p : p + 2]
        kept = [r for r in range(start, stop) if not state.replicas.is_removing[r]]
        partitions, followers = partitions + 1, followers + len(kept) - 1
        size = max(int(state.partitions.size_bytes[p]), 0)
        for r in kept:
            broker = int(state.brokers.ids[state.replicas.broker_idx[r]])
            replicas[broker][0] += 1
            replicas[broker][1] += 1 + math.ceil(size / GIB)

    found = present_load(state, topic)

    held = [counts for broker, counts in replicas.items() if live[broker]]
    assert found.replicas == max((count for count, _ in held), default=0)
    assert found.segments == max((count for _, count in held), default=0)
    assert (found.partitions, found.followers) == (partitions, followers)


def test_the_network_of_the_mean_broker_has_followers_and_consumers():
    state = make_state(
        {"a": [[0, 1], [1, 2]], "b": [[2, 0]]},
        in_rate=[30.0, 12.0, 100.0],
        out_rate=[60.0, 6.0, 100.0],
    )

    found = present_load(state, topic=1)

    assert found.in_rate == pytest.approx((2 * 30 + 2 * 12) / 3)
    assert found.out_rate == pytest.approx((60 + 6 + 30 + 12) / 3)


def test_unknown_sizes_and_rates_of_other_topics_are_not_zero():
    state = make_state(
        {"a": [[0, 1]], "b": [[1, 0]]},
        size_bytes=[5, -1],
        in_rate=[1.0, math.nan],
        out_rate=1.0,
    )

    assert not present_load(state).is_sized
    assert math.isnan(present_load(state).in_rate)
    assert present_load(state, topic=1).is_sized
    assert present_load(state, topic=1).in_rate == 1.0


def test_a_client_is_measured_by_the_busiest_partition():
    state = make_state(
        {"a": [[0], [0], [0]]},
        in_rate=[30.0, 20.0, math.nan],
        # Nobody keeps pace with the busiest.
        out_rate=[29.0, 20.0, 90.0],
    )

    seen = seen_rates(state)

    assert (seen.producer_rate, seen.producer_name) == (30.0, "a-0")
    assert (seen.consumer_rate, seen.consumer_name) == (20.0, "a-1")


def test_without_rates_no_client_is_measured():
    seen = seen_rates(make_state([[0, 1]]))

    assert math.isnan(seen.producer_rate)
    assert seen.consumer_name == ""


TIERED = {
    "remote.storage.enable": "true",
    "retention.ms": "604800000",
    "local.retention.ms": "3600000",
    "local.retention.bytes": "-2",
}


@pytest.mark.parametrize(
    ("configs", "cluster", "seconds", "most"),
    [
        pytest.param({}, {}, 7 * DAY_S, math.inf, id="default"),
        pytest.param({"retention.ms": "1000"}, {}, 1.0, math.inf, id="topic"),
        pytest.param(
            {"retention.bytes": "99"}, {}, 7 * DAY_S, 99.0, id="topic-in-bytes"
        ),
        pytest.param(
            {},
            {"log.retention.hours": "2", "log.retention.bytes": "7"},
            7200.0,
            7.0,
            id="cluster",
        ),
        pytest.param(
            {},
            {"log.retention.ms": "5000", "log.retention.hours": "2"},
            5.0,
            math.inf,
            id="milliseconds-before-hours",
        ),
        pytest.param(
            {"retention.ms": "-1"},
            {"log.retention.ms": "5000"},
            math.inf,
            math.inf,
            id="unlimited",
        ),
        pytest.param(
            {"cleanup.policy": "compact", "retention.ms": "1000"},
            {},
            math.inf,
            math.inf,
            id="compacted",
        ),
        pytest.param(TIERED, {}, 3600.0, math.inf, id="tiered-keeps-an-hour"),
        pytest.param(
            {**TIERED, "local.retention.ms": "-2"},
            {},
            7 * DAY_S,
            math.inf,
            id="tiered-as-the-topic",
        ),
    ],
)
def test_retention_by_the_configs(configs, cluster, seconds, most):
    kept = topic_retention(configs, cluster, math.nan)

    assert (kept.seconds, kept.partition_bytes) == (seconds, most)
