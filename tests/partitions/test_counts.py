"""Partition counts: every limit against plain arithmetic, and what must always hold."""

import math
from dataclasses import replace
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from placement.partition_counts.choose_count import choose_count
from placement.partition_counts.count_limits import limits_of, segments_of
from placement.partition_counts.count_task import (
    Caps,
    CountTask,
    Hosts,
    Load,
    Present,
    Readers,
    Retention,
)
from placement.partition_counts.even_counts import most_replicas

MOST_TRIED = 100
"""Counts that plain arithmetic tries one by one."""
RATES = st.integers(1, 200).map(float)


@st.composite
def tasks(draw):
    """Draw a small question whose rates are whole numbers."""
    racks = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    members = draw(st.none() | st.integers(1, 12))
    catch_up = draw(st.sampled_from([math.inf, 10.0, 60.0]))
    return CountTask(
        load=Load(
            produce_rate=draw(RATES),
            producer_rate=draw(RATES),
            readers=(
                Readers(
                    rate=draw(RATES),
                    consumer_rate=draw(RATES),
                    consumers=members,
                    lag_bytes=float(draw(st.integers(0, 500))),
                ),
            ),
            headroom=draw(st.sampled_from([1.0, 1.5, 2.0])),
            skew=draw(st.sampled_from([1.0, 1.25, 3.0])),
            catch_up_s=catch_up,
        ),
        hosts=Hosts(
            racks=racks,
            factor=draw(st.integers(1, 3)),
            is_even=draw(st.booleans()),
            leading=draw(st.integers(1, 12)),
            current=draw(st.integers(0, 10)),
        ),
        retention=Retention(
            seconds=float(draw(st.integers(1, 100))),
            partition_bytes=draw(st.sampled_from([math.inf, 500.0])),
            segment_bytes=float(draw(st.integers(10, 200))),
            segment_s=float(draw(st.integers(5, 100))),
        ),
        present=Present(
            replicas=draw(st.integers(0, 20)),
            segments=draw(st.integers(0, 50)),
            partitions=draw(st.integers(0, 30)),
            followers=draw(st.integers(0, 60)),
            in_rate=float(draw(st.integers(0, 50))),
            out_rate=float(draw(st.integers(0, 50))),
        ),
        caps=Caps(
            replicas=float(draw(st.integers(10, 200))),
            files=float(draw(st.integers(100, 3000))),
            maps=float(draw(st.integers(100, 6000))),
            in_rate=float(draw(st.integers(50, 500))),
            out_rate=float(draw(st.integers(50, 900))),
            latency_s=float(draw(st.sampled_from([math.nan, 1.0, 5.0]))),
            recovery_s=float(draw(st.sampled_from([math.nan, 10.0]))),
            delay_s=0.125,
            recovery_each_s=0.0625,
        ),
    )


def fullest(racks, count, factor):
    """Return the least largest number of replicas on a broker, by trying all."""
    share = next(
        s for s in range(1, factor + 1) if sum(min(b, s) for b in racks) >= factor
    )
    most = math.ceil(Fraction(count * factor, sum(racks)))
    while sum(min(b * most, min(share, b) * count) for b in racks) < count * factor:
        most += 1
    return most


def problems_of(task, count):
    """Return the names of what a count breaks, from the definitions, exactly."""
    broken = load_problems(task.load, count)
    hosts, brokers = task.hosts, sum(task.hosts.racks)
    if hosts.factor > brokers:
        return {*broken, "replication-factor"}
    if hosts.is_even:
        broken |= leader_problems(brokers, hosts.leading, count)
    if count < hosts.current:
        broken.add("current")
    amounts = {**disk_amounts(task, count), **network_amounts(task, count)}
    return broken | {name for name, (used, most) in amounts.items() if used > most}


def leader_problems(brokers, leading, count):
    """Return what is broken of a deal of leaders to one broker after another."""
    leads = [0] * brokers
    for p in range(count):
        leads[p % brokers] += 1
    busy = sum(n > 0 for n in leads)
    broken = set() if busy >= min(leading, brokers) else {"brokers"}
    is_thin = max(leads) == 1 and busy >= leading
    return broken if len(set(leads)) == 1 or is_thin else {*broken, "even-leaders"}


def load_problems(load, count):
    """Return the needs of producers and consumers that a count does not meet."""
    (readers,), broken = load.readers, set()
    head, skew = Fraction(load.headroom), Fraction(load.skew)
    # The busiest partition has skew / count of the topic.
    if load.produce_rate * head * skew / count > load.producer_rate:
        broken.add("producer")
    wanted = Fraction(readers.rate) * head
    if math.isfinite(load.catch_up_s):
        wanted += Fraction(readers.lag_bytes) / Fraction(load.catch_up_s)
    if wanted * skew / count > readers.consumer_rate:
        broken.add("consumer")
    if readers.consumers is not None:
        # One of them has so many partitions, of the mean rate.
        most = math.ceil(Fraction(count, readers.consumers))
        if wanted * most / count > readers.consumer_rate:
            broken.add("consumer")
        if count < readers.consumers:
            broken.add("consumers")
    return broken


def disk_amounts(task, count):
    """Return replicas, files and maps of the fullest broker, with their limits."""
    kept, present, caps = task.retention, task.present, task.caps
    replicas = fullest(task.hosts.racks, count, task.hosts.factor)
    each = Fraction(task.load.produce_rate) * Fraction(kept.seconds) / count
    if math.isfinite(kept.partition_bytes):
        each = min(each, Fraction(kept.partition_bytes))
    rolled = math.ceil(Fraction(kept.seconds) / Fraction(kept.segment_s))
    one = 1 + max(math.ceil(each / Fraction(kept.segment_bytes)), rolled)
    segments = present.segments + replicas * one
    return {
        "replicas": (present.replicas + replicas, caps.replicas),
        "files": (segments, caps.files),
        "maps": (2 * segments, caps.maps),
    }


def network_amounts(task, count):
    """Return the network of the fullest broker, delay and recovery, with limits."""
    hosts, present, caps = task.hosts, task.present, task.caps
    (readers,), brokers = task.load.readers, sum(hosts.racks)
    rate = Fraction(task.load.produce_rate) / count
    leaders = math.ceil(Fraction(count, brokers))
    copied = leaders * (hosts.factor - 1) * rate
    read = leaders * Fraction(readers.rate) / count
    pairs = brokers * (brokers - 1)
    copies = present.followers + count * (hosts.factor - 1)
    return {
        "in": (
            present.in_rate + fullest(hosts.racks, count, hosts.factor) * rate,
            caps.in_rate,
        ),
        "out": (Fraction(present.out_rate) + read + copied, caps.out_rate),
        "latency": (
            caps.delay_s * math.ceil(Fraction(copies, pairs)) if pairs else 0,
            caps.latency_s,
        ),
        "recovery": (
            caps.recovery_each_s * (present.partitions + count),
            caps.recovery_s,
        ),
    }


@given(tasks())
def test_the_recommended_count_is_the_first_that_breaks_nothing(task):
    first = next((n for n in range(1, MOST_TRIED) if not problems_of(task, n)), None)

    answer = choose_count(task)

    if answer.recommended is None or answer.recommended < MOST_TRIED:
        assert answer.recommended == first
    else:
        assert first is None


@given(tasks(), st.integers(1, 60))
def test_a_candidate_breaks_what_plain_arithmetic_says(task, count):
    if task.hosts.factor > task.hosts.brokers:
        return
    answer = choose_count(task, [count])

    (candidate,) = [c for c in answer.candidates if c.partitions == count]
    rules = {"even-leaders", "replication-factor"}
    assert {use.name for use in candidate.broken} == problems_of(task, count) - rules


@given(tasks())
def test_what_binds_has_the_least_margin(task):
    for candidate in choose_count(task).candidates:
        binding = candidate.binding
        assert binding is not None
        known = [u.margin for u in candidate.uses if not math.isnan(u.margin)]
        assert binding.margin == min(known)
        assert (binding.margin < 1 - 1e-9) == bool(candidate.broken)


@given(tasks(), st.floats(1, 20))
def test_more_throughput_never_recommends_fewer(task, factor):
    (readers,) = task.load.readers
    more = replace(
        task.load,
        produce_rate=task.load.produce_rate * factor,
        readers=(replace(readers, rate=readers.rate * factor),),
    )

    before = choose_count(task).recommended
    after = choose_count(replace(task, load=more)).recommended

    if before is None:
        assert after is None
    else:
        assert after is None or after >= before


@given(tasks())
def test_a_conflict_is_real_and_none_of_it_can_be_left_out(task):
    answer = choose_count(task)

    assert bool(answer.conflict) == (answer.recommended is None)
    if not answer.conflict or task.hosts.factor > task.hosts.brokers:
        return
    names = set(answer.conflict)
    far = [task.hosts.brokers * 2**power for power in range(14)]
    broken = [problems_of(task, n) for n in (*range(1, MOST_TRIED), *far)]
    assert all(names & each for each in broken)
    for name in names if len(names) > 1 else ():
        assert any(not (names - {name}) & each for each in broken)


@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=4),
    st.integers(1, 5),
    st.integers(1, 4),
)
def test_the_fullest_broker_is_that_of_a_largest_flow(racks, count, factor):
    factor = min(factor, sum(racks))
    most = int(most_replicas(np.array([count]), racks, factor)[0])

    assert flow(racks, count, factor, most) == count * factor
    assert flow(racks, count, factor, most - 1) < count * factor


def flow(racks, count, factor, most):
    """Return the replicas that fit, at most `most` on a broker, spread over racks."""
    share = next(
        s for s in range(1, factor + 1) if sum(min(b, s) for b in racks) >= factor
    )
    graph = nx.DiGraph()
    for p in range(count):
        graph.add_edge("source", ("p", p), capacity=factor)
        for r, brokers in enumerate(racks):
            graph.add_edge(("p", p), ("p", p, r), capacity=share)
            for b in range(brokers):
                graph.add_edge(("p", p, r), ("b", r, b), capacity=1)
                graph.add_edge(("b", r, b), "sink", capacity=most)
    return nx.maximum_flow_value(graph, "source", "sink")


def test_three_brokers_need_three_partitions():
    answer = choose_count(CountTask(hosts=Hosts(racks=(1, 1, 1))))

    assert (answer.recommended, answer.at_least, answer.needed) == (3, 3, 1)
    fewer = choose_count(CountTask(hosts=Hosts(racks=(1, 1, 1))), [2]).candidates[1]
    assert (fewer.partitions, fewer.leaders) == (2, (0, 1))


def test_a_small_topic_need_not_be_on_every_broker_of_a_large_cluster():
    hundred = Hosts(racks=(1,) * 100)
    load = Load(produce_rate=30.0, producer_rate=1.0)

    assert choose_count(CountTask(hosts=hundred)).recommended == 12
    assert choose_count(CountTask(hosts=hundred, load=load)).recommended == 30
    more = replace(load, produce_rate=130.0)
    assert choose_count(CountTask(hosts=hundred, load=more)).recommended == 200


def test_unknown_is_neither_met_nor_broken():
    counts = np.arange(1, 9)
    limits = {
        one.name: one
        for one in limits_of(CountTask(hosts=Hosts(racks=(1, 1, 1))), counts)
    }

    for name in ("producer", "in", "out", "latency", "recovery"):
        assert not limits[name].is_known
        assert not limits[name].is_broken.any()
    # One open segment each is certain, and the rest unknown.
    assert not limits["maps"].is_known
    assert limits["maps"].used.tolist() == [2.0 * n for n in range(1, 9)]
    assert limits["replicas"].is_known


def test_a_lower_bound_above_its_limit_is_broken():
    task = CountTask(hosts=Hosts(racks=(1,), factor=1), caps=Caps(maps=10.0))

    answer = choose_count(task)

    assert answer.largest == 5


@pytest.mark.parametrize(
    ("retention", "segments", "is_known"),
    [
        # 100 bytes/s for 10 s are 1,000 bytes: 500 in each of two partitions.
        pytest.param(Retention(seconds=10, segment_bytes=200), 4, True, id="by-time"),
        pytest.param(
            Retention(seconds=10, partition_bytes=300, segment_bytes=200),
            3,
            True,
            id="by-bytes",
        ),
        pytest.param(
            Retention(seconds=10, segment_bytes=200, segment_s=1), 11, True, id="rolled"
        ),
        pytest.param(
            Retention(seconds=math.inf, segment_bytes=200, topic_bytes=800),
            3,
            True,
            id="compacted-of-known-size",
        ),
        pytest.param(
            Retention(seconds=math.inf, segment_bytes=200), 1, False, id="no-limit"
        ),
    ],
)
def test_segments_of_a_replica(retention, segments, is_known):
    task = CountTask(
        hosts=Hosts(racks=(1, 1)), load=Load(produce_rate=100.0), retention=retention
    )

    found, known = segments_of(task, np.array([2]))

    assert (found.tolist(), known) == ([segments], is_known)


def test_a_backlog_needs_more_consumers():
    readers = Readers(rate=10.0, consumer_rate=10.0, lag_bytes=1200.0)
    task = CountTask(
        hosts=Hosts(racks=(1,), factor=1),
        load=Load(produce_rate=10.0, readers=(readers,), catch_up_s=60.0),
    )

    # 10 bytes/s, and 1,200 bytes in 60 s.
    assert choose_count(task).recommended == 3


def test_too_few_consumers_are_not_helped_by_partitions():
    readers = Readers(rate=100.0, consumer_rate=10.0, consumers=9)
    load = Load(produce_rate=100.0, producer_rate=100.0, readers=(readers,))
    answer = choose_count(CountTask(hosts=Hosts(racks=(1,), factor=1), load=load))

    assert answer.recommended is None
    assert answer.conflict == ("consumer",)
