"""`partitions size`: the command, its document, and the same from Python."""

import dataclasses
import typing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner
from placement.partition_counts.count_limits import even_parts
from placement.partition_counts.count_task import Load
from planner.demo import SNAPSHOT_FILE
from planner.errors import BadInputError
from planner.partitions.size_document import PartitionsSizeRecord
from planner.partitions.size_options import PartitionsSizeOptions, SizeOptions
from planner.snapshot import Snapshot, write_snapshot
from support.clusters import make_state
from support.commands import run

RATES = (
    *("--throughput", "90MB/s", "--producer-rate", "10MB/s"),
    # A week of it would take more memory maps than three brokers have.
    *("--retention", "1d"),
)
READS = ("--consumer-rate", "5MB/s")


def size(capsys, *words, code=0):
    """Run the command and return its validated document."""
    outcome = run(capsys, "partitions", "size", *words, "--format", "json")
    assert outcome.code == code, outcome
    PartitionsSizeRecord.model_validate_json(outcome.out)
    return outcome.document


def limits(candidate):
    return {one["limit"]: one for one in candidate["limits"]}


def counts(document):
    return {one["partitions"]: one for one in document["candidates"]}


def test_three_brokers_need_at_least_three_partitions(capsys):
    document = size(capsys, "--brokers", 3)

    assert (document["recommended"], document["at_least"]) == (3, 3)
    assert counts(document)[3]["binds"] == "brokers"
    assert counts(document)[1]["fits"] is False
    assert "3 brokers: at least 3, so that each leads." in document["reasons"]
    assert {one["limit"] for one in document["unknown"]} >= {"producer", "consumer"}
    screen = run(capsys, "partitions", "size", "--brokers", 3).out
    assert "not sized by producer and consumer rates: they are unknown" in " ".join(
        screen.split()
    )


def test_rates_and_headroom_decide(capsys):
    document = size(capsys, "--brokers", 6, *RATES, *READS)

    # 180 MB/s with the headroom of a keyed topic, at 5 MB/s for each consumer.
    assert (document["recommended"], document["headroom"]) == (36, 2.0)
    chosen = counts(document)[36]
    assert (chosen["binds"], chosen["margin"]) == ("consumer", 1.0)
    assert (chosen["producer"], chosen["consumer"]) == (360e6, 180e6)
    assert chosen["brokers"] is None
    unkeyed = size(capsys, "--brokers", 6, *RATES, *READS, "--unkeyed")
    assert unkeyed["recommended"] == 18


def test_each_group_has_its_own_rate(capsys):
    given = ("--read", "audit=30MB/s", "--consumer-rate", "audit=1MB/s", *READS)
    document = size(capsys, "--brokers", 3, *RATES, *given, "--headroom", 1)

    assert document["recommended"] == 30
    (audit,) = [
        one
        for one in counts(document)[30]["limits"]
        if (one["limit"], one["group"]) == ("consumer", "audit")
    ]
    assert (audit["used"], audit["most"]) == (30e6, 30e6)


def test_uneven_counts_are_for_those_who_ask(capsys):
    given = ("--brokers", 7, *RATES, "--headroom", 1)

    assert size(capsys, *given)["recommended"] == 14
    assert size(capsys, *given)["needed"] == 9
    assert size(capsys, *given, "--uneven")["recommended"] == 9


def test_a_limit_that_is_not_known_is_called_unknown(capsys):
    document = size(capsys, "--brokers", 3)

    statuses = {
        one["limit"]: one["status"] for one in document["candidates"][0]["limits"]
    }
    assert statuses["latency"] == statuses["recovery"] == "unknown"
    assert statuses["maps"] == statuses["files"] == "unknown"
    assert statuses["replicas"] == "ok"
    given = ("--max-latency", "1ms", "--max-recovery", "1s", "--latency-per-partition")
    known = size(capsys, "--brokers", 3, *given, "0.5ms", "--candidates", "6,9")
    # 9 partitions with 2 followers each on 6 pairs of brokers: 3 delays of 0.5 ms.
    assert limits(counts(known)[9])["latency"]["used"] == 1.5e-3
    assert limits(counts(known)[9])["latency"]["status"] == "broken"
    assert limits(counts(known)[6])["latency"]["status"] == "ok"


def test_the_type_of_an_msk_broker_limits_replicas(capsys):
    document = size(capsys, "--brokers", 3, "--instance-type", "kafka.m5.large")

    assert document["largest"] == 1500


@pytest.mark.parametrize(
    ("name", "most"),
    [("t3.small", 300), ("kafka.m7g.2xlarge", 3000), ("express.m7g.16xlarge", 32_000)],
)
def test_types_of_msk_brokers_have_their_replicas(name, most, capsys):
    document = size(capsys, "--brokers", 3, "--instance-type", name)

    assert document["largest"] == most


def test_an_express_broker_has_the_network_that_amazon_recommends(capsys):
    """45 MB/s in and 90 MB/s out on three express.m7g.large, as in Amazon's example."""
    words = ("--brokers", 3, "--producer-rate", "5MB/s", "--read", "90MB/s")
    express = ("--instance-type", "express.m7g.large", "--headroom", 1)

    fits = size(capsys, *words, "--throughput", "45MB/s", *express)
    not_fit = size(capsys, *words, "--throughput", "47MB/s", *express, code=4)

    uses = limits(counts(fits)[fits["recommended"]])
    assert (uses["in"]["used"], uses["in"]["most"]) == (45e6, 3 * 15.6e6)
    assert (uses["out"]["used"], uses["out"]["most"]) == (60e6, 31.2e6 + 2 * 15.6e6)
    assert not_fit["conflict"] == ["in"]
    assert any("15.6 MB/s from producers" in one["text"] for one in fits["assumptions"])
    given = size(capsys, *words, *express, "--broker-in", "1GB/s")
    assert limits(counts(given)[3])["in"]["most"] == 0.8e9


def test_a_total_order_needs_one_partition(capsys):
    rates = ("--producer-rate", "10MB/s", "--consumer-rate", "10MB/s")

    one = size(capsys, "--brokers", 3, "--throughput", "4MB/s", *rates, "--total-order")
    none = size(
        *(capsys, "--brokers", 3, "--throughput", "9MB/s", *rates, "--total-order"),
        code=4,
    )

    assert (one["recommended"], one["largest"], one["total_order"]) == (1, 1, True)
    assert "A total order of the records needs one partition." in one["reasons"]
    assert none["conflict"] == ["producer", "order"]
    assert any("do without a total order" in reason for reason in none["reasons"])


@pytest.mark.parametrize(("share", "expected"), [("10%", 6), ("0.2", 6), ("25%", None)])
def test_the_hottest_key_bounds_what_partitions_carry(share, expected, capsys):
    """Any partitions at 5 MB/s carry 20 MB/s alone, if one has a quarter."""
    words = ("--brokers", 3, "--throughput", "25MB/s", "--headroom", 1)
    rates = ("--producer-rate", "5MB/s", "--retention", "1h", "--hottest-key", share)

    document = size(capsys, *words, *rates, code=0 if expected else 4)

    assert document["recommended"] == expected
    assert document["conflict"] == ([] if expected else ["producer"])
    assert document["hottest_key"] in {0.1, 0.2, 0.25}
    assert any("do not make the busiest one" in each for each in document["reasons"])


def test_the_hottest_key_is_taken_from_a_document_of_keys_skew(capsys, tmp_path):
    sample, path = tmp_path / "keys.txt", tmp_path / "skew.json"
    sample.write_text("a\na\nb\nc\nd\n")
    for top in ("10", "0"):
        words = ("--partitions", 4, "--top", top, "--format", "json")
        path.write_text(run(capsys, "keys", "skew", sample, *words).out)

        document = size(capsys, "--brokers", 3, "--keys-skew", path)

        assert document["hottest_key"] == pytest.approx(0.4, abs=1e-6)
        (reason,) = [r for r in document["reasons"] if "hottest key" in r]
        assert "more than 3 partitions" in reason
    words = ("--partitions", 4, "--partitioner", "roundrobin", "--format", "json")
    path.write_text(run(capsys, "keys", "skew", sample, *words).out)
    none = size(capsys, "--brokers", 3, "--keys-skew", path)
    assert none["hottest_key"] is None


@given(st.floats(0.01, 1), st.floats(1, 3), st.integers(1, 500))
def test_more_partitions_than_the_hottest_key_fills_change_nothing(share, skew, count):
    load = Load(producer_rate=1.0, skew=skew, hottest_share=share)
    parts = even_parts(load, np.arange(1, 501))

    assert parts[count - 1] == pytest.approx(min(count / skew, 1 / share))
    assert (np.diff(parts) >= 0).all()


def test_without_a_count_the_smallest_reason_is_given(capsys):
    document = size(
        capsys,
        *("--brokers", 3, *RATES, "--max-replicas-per-broker", 10),
        code=4,
    )

    assert (document["status"], document["recommended"]) == ("none", None)
    assert document["conflict"] == ["producer", "replicas"]
    (reason,) = [one for one in document["reasons"] if "No count" in one]
    assert reason == (
        "No count from 1 to 100,000 meets producer and replicas: use faster producers "
        "(--producer-rate), or add brokers, or allow more replicas "
        "(--max-replicas-per-broker)."
    )


def test_replicas_need_brokers_of_their_own(capsys):
    document = size(capsys, "--brokers", 2, "--replication-factor", 3, code=4)

    assert document["conflict"] == ["replication-factor"]
    assert any(
        "needs as many brokers, and there are 2" in r for r in document["reasons"]
    )


def test_every_problem_of_the_options_is_named(capsys):
    words = ("--brokers", 0, "--throughput", "fast", "--lag", "3h", "--skew", 0.5)
    more = ("--consumers", "a=0", "--consumers", "a=1", "--candidates", "3,x")
    types = ("--instance-type", "huge", "--topic", "orders", "--retention", "long")
    outcome = run(
        capsys, "partitions", "size", *words, *more, *types, "--format", "json"
    )

    assert outcome.code == 2
    assert {one["place"] for one in outcome.document["problems"]} == {
        *("--brokers", "--throughput", "--lag, --catch-up", "--skew", "--consumers"),
        *("--candidates", "--instance-type", "--topic", "--retention"),
    }
    assert all(one["remedy"] for one in outcome.document["problems"])


@pytest.mark.parametrize(
    ("words", "place"),
    [
        pytest.param((), "--brokers", id="no-brokers"),
        pytest.param(("--brokers", 3, "--racks", 4), "--racks", id="empty-rack"),
        pytest.param((SNAPSHOT_FILE, "--racks", 3), "--racks", id="racks-of-snapshot"),
        pytest.param((SNAPSHOT_FILE, "--topic", "x"), "--topic", id="no-topic"),
        pytest.param(
            (SNAPSHOT_FILE, "--topic", "__consumer_offsets"), "--topic", id="internal"
        ),
        pytest.param(
            ("--brokers", 3, "--candidates", "200000"), "--candidates", id="too-large"
        ),
        pytest.param(("--brokers", 3, "--read", "=5MB/s"), "--read", id="no-name"),
        pytest.param(
            ("--brokers", 3, "--hottest-key", "0"), "--hottest-key", id="no-share"
        ),
        pytest.param(
            ("--brokers", 3, "--keys-skew", "none.json"), "--keys-skew", id="no-file"
        ),
        pytest.param(
            ("--brokers", 3, "--keys-skew", SNAPSHOT_FILE), "--keys-skew", id="no-skew"
        ),
        pytest.param(
            ("--brokers", 3, "--unkeyed", "--total-order"), "--unkeyed", id="no-order"
        ),
        pytest.param(
            ("--brokers", 3, "--throughput", "0"), "--throughput", id="no-rate"
        ),
        pytest.param(
            (
                *("--brokers", 3, "--instance-type", "m5.large"),
                *("--max-replicas-per-broker", 9),
            ),
            "--instance-type",
            id="two-limits",
        ),
    ],
)
def test_bad_options(words, place, capsys):
    outcome = run(capsys, "partitions", "size", *words, "--format", "json")

    assert outcome.code == 2
    assert [one["place"] for one in outcome.document["problems"]] == [place]


def test_problems_of_file_and_options_are_named_together(tmp_path, capsys):
    words = (tmp_path / "none.json", "--bootstrap-server", "k:9092", "--skew", 0)
    outcome = run(capsys, "partitions", "size", *words, "--format", "json")

    assert outcome.code == 2
    places = [one["place"] for one in outcome.document["problems"]]
    assert places[0] == "SNAP, --bootstrap-server"
    assert places[-1] == "--skew"
    assert len(places) == 3


def test_a_running_cluster_that_cannot_be_reached(capsys):
    words = ("--bootstrap-server", "127.0.0.1:1", "--timeout", 1)
    outcome = run(capsys, "partitions", "size", *words, "--format", "json")

    assert outcome.code == 5


@pytest.fixture
def topic_file(tmp_path):
    """Three brokers, a topic of two partitions at 30 and 10 MB/s, and a quiet one."""
    state = make_state(
        {"a": [[0, 1], [1, 2]], "b": [[2, 0]]},
        racks="abc",
        broker_in=100e6,
        broker_out=300e6,
        max_replicas=50,
        in_rate=[30e6, 10e6, 0.0],
        out_rate=[30e6, 10e6, 0.0],
        size_bytes=[4 * 2**30, 2**30, 0],
        configs=[{"retention.ms": "-1", "segment.bytes": str(2**30)}, {}],
    )
    path = tmp_path / "s.json"
    write_snapshot(Snapshot.from_state(state), path)
    return path


def test_a_snapshot_gives_what_no_option_says(topic_file, capsys):
    document = size(capsys, topic_file, "--topic", "a", "--candidates", 9)

    # 80 MB/s with headroom, at the 30 MB/s of the busiest partition seen.
    assert (document["current"], document["recommended"]) == (2, 3)
    assert (document["replication_factor"], document["racks"]) == (2, [1, 1, 1])
    chosen = limits(counts(document)[3])
    assert (chosen["producer"]["used"], chosen["producer"]["most"]) == (80e6, 90e6)
    # 2 replicas of each of 3 partitions on 3 brokers, besides 1 replica of b.
    assert (chosen["replicas"]["used"], chosen["replicas"]["most"]) == (3.0, 50.0)
    # Unlimited retention: 5 GiB as today, which is 3 segments of each third.
    assert chosen["files"]["used"] == 1 + 2 * 3
    assert chosen["in"]["used"] == pytest.approx(2 * 40e6 / 3)
    assert chosen["in"]["most"] == pytest.approx(80e6)
    texts = {one["option"]: one["text"] for one in document["assumptions"]}
    assert "30 MB/s by one producer" in texts["--producer-rate"]
    assert "(a-0)" in texts["--producer-rate"]
    assert any("Growing from 2 to 3 moves keys" in r for r in document["reasons"])


def test_the_next_command_plans_the_partitions(topic_file, capsys):
    screen = run(capsys, "partitions", "size", topic_file, "--topic", "a").out

    assert "plan add-partitions" in " ".join(screen.split())
    assert "--partitions 3" in " ".join(screen.split())


def test_other_topics_spread_over_more_brokers(topic_file, capsys):
    document = size(capsys, topic_file, "--brokers", 6)

    assert document["racks"] == [2, 2, 2]
    # 2 replicas a broker at most today, on twice as many brokers, and 3 of 6 new ones.
    assert limits(counts(document)[6])["replicas"]["used"] == 1 + 6 * 3 // 6


def test_unknown_rates_of_a_snapshot_stay_unknown(tmp_path, capsys):
    path = tmp_path / "s.json"
    state = make_state({"a": [[0, 1], [1, 2]]}, size_bytes=[-1, -1])
    write_snapshot(Snapshot.from_state(state), path)

    document = size(capsys, path, "--topic", "a")

    unknown = {one["limit"] for one in document["unknown"]}
    assert unknown >= {"producer", "consumer", "in", "out", "files", "maps"}
    assert document["recommended"] == 3


def test_python_gives_the_document_of_the_command(topic_file, capsys):
    snapshot = planner.read_snapshot(topic_file)
    sized = planner.partitions_size(snapshot, topic="a", max_latency="5ms")

    command = size(capsys, topic_file, "--topic", "a", "--max-latency", "5ms")
    assert sized.document == command
    assert sized.recommended == 3
    assert sized.candidates.to_arrow().column("partitions").to_pylist() == [
        one["partitions"] for one in command["candidates"]
    ]
    assert list(sized.reasons) == command["reasons"]
    assert "3 partitions" in repr(sized)
    assert sized._repr_html_().startswith("<pre>")


def test_python_takes_numbers_and_mappings():
    rates = {"throughput": 90e6, "producer_rate": 10e6, "retention": "1d"}
    one = planner.partitions_size(brokers=3, **rates, consumer_rate=5e6)
    two = planner.partitions_size(
        brokers=3, **rates, consumer_rate={"a": 5e6, "b": "9MB/s"}, consumers={"b": 3}
    )

    assert (one.recommended, two.recommended) == (36, None)
    # 3 consumers of b process 27 MB/s, whatever the number of partitions.
    assert two.document["conflict"] == ["consumer of b"]


def test_python_takes_a_number_of_consumers_for_all_groups():
    rates = {"throughput": 10e6, "producer_rate": 10e6, "consumer_rate": 1e6}

    sized = planner.partitions_size(brokers=3, **rates, headroom=1, consumers=31)

    assert sized.recommended == 33
    with pytest.raises(BadInputError, match="must be a number of 1 or more"):
        planner.partitions_size(brokers=3, **rates, consumers=2.5)


def test_problems_have_the_names_of_arguments():
    with pytest.raises(BadInputError) as error:
        planner.partitions_size(brokers=3, max_replicas=0, catch_up="5min")

    places = {problem.place for problem in error.value.problems}
    assert places == {"max_replicas", "lag, catch_up"}


def test_python_has_the_options_of_the_command():
    declared = [field.name for field in dataclasses.fields(SizeOptions)]

    assert [*typing.get_type_hints(PartitionsSizeOptions)] == declared


def test_an_option_of_another_name_is_refused():
    with pytest.raises(TypeError, match="unexpected option 'broker'; there are: topic"):
        planner.partitions_size(broker=3)


def test_screens_fit_80_columns(capsys):
    words = ("--brokers", 3, *RATES, *READS, "--max-latency", "1s")
    screen = run(capsys, "partitions", "size", *words).out

    assert [line for line in screen.splitlines() if len(line) > 80] == []
