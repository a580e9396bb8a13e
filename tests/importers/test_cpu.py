"""Processors of brokers, shared out over the replicas they hold."""

import re
from math import fsum

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.snapshot.importers import merge
from planner.snapshot.importers.kafka_tools.kcat import read_kcat
from planner.snapshot.importers.merging.spread_cpu import share_cpu
from planner.snapshot.importers.metrics.prometheus import (
    PRESETS,
    BrokerLabels,
    read_prometheus,
)
from support.monitoring import encoded, matrix, vector

PODS = BrokerLabels(label="pod", pattern=re.compile(PRESETS["strimzi"][1]))


def cluster(*rows):
    """Build topic `a` of (leader, replicas) by partition."""
    ids = sorted({broker for _, replicas in rows for broker in replicas})
    partitions = [
        {
            "partition": number,
            "leader": leader,
            "replicas": [{"id": one} for one in replicas],
            "isrs": [{"id": one} for one in replicas],
        }
        for number, (leader, replicas) in enumerate(rows)
    ]
    document = {
        "brokers": [{"id": one, "name": f"k{one}:9092"} for one in ids],
        "topics": [{"topic": "a", "partitions": partitions}],
    }
    return read_kcat(encoded(document), file="kcat.json")


TWO = cluster((1, [1, 2]), (2, [2, 1]))


def told(measure, value, **labels):
    return ({"planner": measure, **labels}, value)


def prometheus(*series):
    return read_prometheus(vector(*series), file="p.json", labels=PODS)


def cores(*sources):
    made = merge(sources)
    table = made.snapshot.partitions
    columns = ("leader_cpu_cores", "follower_cpu_cores")
    return [table.column(name).to_pylist() for name in columns], made.notes


def test_processors_are_shared_out_by_bytes():
    source = prometheus(
        told("in", 100, topic="a", partition="0"),
        told("in", 300, topic="a", partition="1"),
        told("out", 200, topic="a", partition="0"),
        told("cpu", 1.6, pod="x-1"),
        told("cpu", 2.7, pod="x-2"),
    )

    (leaders, followers), notes = cores(TWO, source)

    # Broker 1 leads partition 0 (0.7 · 100 + 0.15 · (200 + 100) = 115) and follows
    # partition 1 (0.15 · 300 = 45); broker 2 leads 1 (255) and follows 0 (15).
    assert leaders == pytest.approx([1.6 * 115 / 160, 2.7 * 255 / 270])
    assert followers == pytest.approx([2.7 * 15 / 270, 1.6 * 45 / 160])
    assert any("distributed over replicas by bytes: an estimate" in n for n in notes)


def test_the_name_of_the_metric_tells_it_in_a_range():
    labels = {"__name__": "process_cpu_seconds_total", "instance": "k2:7071"}
    by_host = BrokerLabels(label="instance", pattern=re.compile(PRESETS["host"][1]))
    answer = matrix((labels, [(0, "10"), (60, "70"), (120, "160")]))

    source = read_prometheus(answer, file="p", labels=by_host, quantile=1.0)

    (one,) = source.series
    assert (one.measure, one.broker, one.value) == ("cpu", "k2", 1.5)
    assert source.header["rates"]["window_s"] == 120
    (leaders, followers), _ = cores(TWO, source)
    assert leaders == [None, 0.75]
    assert followers == [0.75, None]


@pytest.mark.parametrize(
    ("series", "leaders", "note"),
    [
        pytest.param(
            [told("cpu", 4, pod="x-1")], [2.0, None], "evenly, as bytes", id="no-rates"
        ),
        pytest.param(
            [
                told("cpu", 4, pod="x-1"),
                told("in", 0, topic="a", partition="0"),
                told("in", 0, topic="a", partition="1"),
            ],
            [2.0, None],
            "brokers 1 are distributed evenly",
            id="all-still",
        ),
        pytest.param(
            [told("cpu", 4, pod="x-1"), told("cpu", 3, pod="x-9")],
            [2.0, None],
            "brokers 9, which hold no replica",
            id="no-replica",
        ),
        pytest.param(
            [told("cpu", 4, pod="x-1"), told("cpu", 3, pod="exporter")],
            [2.0, None],
            "1 series of CPU name no broker",
            id="no-broker",
        ),
        pytest.param(
            [told("cpu", 4, pod="x-1"), told("cpu", 3, pod="y-1")],
            [2.0, None],
            "an estimate",
            id="scraped-twice",
        ),
    ],
)
def test_what_is_not_known_is_said(series, leaders, note):
    (found, _), notes = cores(TWO, prometheus(*series))

    assert found == leaders
    assert any(note in one for one in notes), notes


def test_processors_alone_say_nothing_of_how_rates_were_shared_out():
    snapshot = merge([TWO, prometheus(told("cpu", 1, pod="x-1"))]).snapshot

    assert snapshot.rates == {"source": "prometheus"}


def test_a_counter_of_processors_must_be_a_rate():
    labels = {"__name__": "process_cpu_seconds_total", "pod": "x-1"}

    with pytest.raises(ValueError, match="a counter is a total since the start"):
        read_prometheus(vector((labels, 1234.5)), file="p")


amounts = st.one_of(st.none(), st.integers(0, 10**6).map(float))


@settings(max_examples=60)
@given(
    rows=st.lists(
        st.tuples(
            st.permutations([1, 2, 3]).flatmap(
                lambda ids: st.integers(1, 3).map(lambda n: ids[:n])
            ),
            st.booleans(),
            amounts,
            amounts,
        ),
        min_size=1,
        max_size=8,
    ),
    cores=st.tuples(*[st.integers(0, 640).map(lambda c: c / 10)] * 3),
)
def test_nothing_is_lost_and_nothing_doubled(rows, cores):
    replicas = [ids for ids, *_ in rows]
    leaders = [ids[0] if has_leader else -1 for ids, has_leader, *_ in rows]
    by_broker = dict(enumerate(cores, 1))

    shares = share_cpu(
        by_broker, leaders, replicas, [r[2] for r in rows], [r[3] for r in rows]
    )

    holding = {broker for ids in replicas for broker in ids}
    found = [
        shares.leader[row] if broker == leaders[row] else shares.follower[row]
        for row, ids in enumerate(replicas)
        for broker in ids
    ]
    assert fsum(found) == pytest.approx(fsum(by_broker[b] for b in holding))
    assert all(amount >= 0 for amount in found)
    assert set(shares.idle) == set(by_broker) - holding
