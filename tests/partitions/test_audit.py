"""`partitions audit`: findings on small clusters, their value, and the exit code."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner
from placement.partition_counts.choose_count import choose_count
from placement.partition_counts.topic_audit import AuditRules, audit_topics
from planner.demo import SNAPSHOT_FILE
from planner.partitions.audit_document import PartitionsAuditRecord
from planner.partitions.size_task import read_question
from planner.snapshot import Snapshot, write_snapshot
from support.clusters import make_state
from support.commands import run

RULES = AuditRules(producer_rate=10.0, consumer_rate=5.0, recovery_each_s=0.5)


def topic(count, brokers=3):
    """Return replica lists of one topic with two replicas of each partition."""
    return [[p % brokers, (p + 1) % brokers] for p in range(count)]


def audit(topics, rates, sizes=100, rules=RULES):
    """Audit topics, each a number of partitions, on three brokers."""
    state = make_state(
        {name: topic(count) for name, count in topics.items()},
        ids=[0, 1, 2],
        size_bytes=sizes,
        in_rate=rates,
        out_rate=rates,
    )
    return audit_topics(state, rules)


def test_far_too_many():
    # 6 bytes/s need 12 with headroom: 3 consumers of 5 bytes/s, one for each broker.
    busy = {"a": 3, "b": 12}
    (found,) = audit(busy, [2.0] * 3 + [0.5] * 12)

    assert (found.kind, found.topic, found.needed) == ("too-many", "b", 3)
    assert (found.saved_partitions, found.saved_replicas) == (9, 18)
    assert (found.saved_files, found.saved_s) == (18, 4.5)


@pytest.mark.parametrize(("count", "is_found"), [(9, False), (12, True)])
def test_too_many_begins_at_the_factor(count, is_found):
    found = audit({"a": count}, [0.1] * count)

    assert bool(found) == is_found


def test_a_small_topic_of_a_large_cluster_may_have_too_many():
    brokers = 40
    state = make_state(
        {"a": topic(39, brokers), "b": topic(60, brokers)},
        ids=range(brokers),
        size_bytes=100,
        in_rate=[0.01] * 39 + [2.0] * 60,
        out_rate=[0.01] * 39 + [2.0] * 60,
    )
    rules = AuditRules(producer_rate=10.0, consumer_rate=5.0, many=3.0)

    found = {one.kind: one for one in audit_topics(state, rules)}

    assert (found["too-many"].topic, found["too-many"].needed) == ("a", 12)
    # 60 partitions carry it, but 20 of 40 brokers lead one more than the others.
    assert (found["uneven"].topic, found["uneven"].needed) == ("b", 80)


def test_too_few_for_the_clients():
    # 18 bytes/s in 3 partitions, at most 5 bytes/s for a consumer.
    (found,) = audit({"a": 3}, [6.0] * 3)

    assert (found.kind, found.needed) == ("too-few", 9)
    assert found.saved_replicas == 0


def test_too_few_for_the_brokers():
    # One partition has more than a third of all, so that no placement is even.
    (found,) = audit({"a": 1, "b": 3}, [4.0, 0.1, 0.1, 0.1])

    assert (found.kind, found.topic, found.needed) == ("too-few", "a", 3)


def test_uneven_leaders_are_valued_by_the_excess_of_the_busiest():
    found = audit({"a": 4, "b": 5}, [1.0] * 4 + [4.0] * 5)

    assert [(one.kind, one.topic, one.needed) for one in found] == [
        ("uneven", "b", 6),
        ("uneven", "a", 6),
    ]
    # Two of five partitions of 4 bytes/s on a broker, and 5/3 on the mean.
    assert found[0].excess_rate == pytest.approx(4.0 * (2 - 5 / 3))


def test_fewer_partitions_than_brokers_are_not_uneven():
    assert audit({"a": 1, "b": 2}, [1.0] * 3) == []


def test_empty_topics_and_empty_partitions():
    sizes = [0, 0, 0, 10, 0, 10]
    found = audit({"a": 3, "b": 3}, [0.0, 0.0, 0.0, 1.0, 0.0, 1.0], sizes)

    whole = [one for one in found if one.topic == "a"]
    assert [(one.kind, one.needed, one.saved_replicas) for one in whole] == [
        ("empty", 0, 6)
    ]
    part = [one for one in found if (one.topic, one.kind) == ("b", "empty")]
    assert [(one.needed, one.empty, one.saved_replicas) for one in part] == [
        (None, 1, 0)
    ]
    assert found[0].topic == "a"


def test_unknown_sizes_and_rates_are_not_called_empty_or_many():
    assert audit({"a": 12}, [math.nan] * 12, sizes=-1) == []
    # One unknown rate makes the topic unknown.
    assert audit({"a": 12}, [math.nan] + [0.1] * 11) == []


def test_topics_of_kafka_itself_are_left_alone():
    assert audit({"__consumer_offsets": 50}, [0.0] * 50, sizes=0) == []


@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=3),
    st.integers(1, 400),
    st.integers(1, 6),
)
def test_the_needed_count_is_what_size_recommends(counts, rate, many):
    names = [f"t{n}" for n in range(len(counts))]
    rates = np.concatenate([np.full(n, rate / n) for n in counts])
    state = make_state(
        {name: topic(n) for name, n in zip(names, counts, strict=True)},
        ids=[0, 1, 2],
        size_bytes=100,
        in_rate=rates,
        out_rate=rates,
    )
    snapshot = Snapshot.from_state(state)
    rules = AuditRules(producer_rate=10.0, consumer_rate=5.0, many=float(many))
    listed = audit_topics(state, rules)
    found = {one.topic: one for one in listed if one.kind != "uneven"}

    for name, count in zip(names, counts, strict=True):
        asked = {
            "throughput": float(rate),
            "producer_rate": 10.0,
            "consumer_rate": 5.0,
            "brokers": 3,
            "replication_factor": 2,
        }
        task = read_question(asked, snapshot).task
        needed = choose_count(task).recommended
        assert needed is not None
        is_many = name in found and found[name].kind == "too-many"
        assert is_many == (count >= many * needed and count > needed)
        if is_many:
            assert found[name].needed == needed
        elif name in found and found[name].kind == "too-few":
            assert found[name].needed >= needed


@pytest.fixture
def snapshot_file(tmp_path):
    state = make_state(
        {"a": topic(3), "b": topic(24), "c": topic(4)},
        size_bytes=10**9,
        in_rate=[1e6] * 3 + [1e5] * 24 + [0.2e6] * 4,
        out_rate=[1e6] * 3 + [1e5] * 24 + [0.2e6] * 4,
    )
    path = tmp_path / "s.json"
    write_snapshot(Snapshot.from_state(state), path)
    return path


def command(capsys, *words, code):
    outcome = run(capsys, "partitions", "audit", *words, "--format", "json")
    assert outcome.code == code, outcome
    PartitionsAuditRecord.model_validate_json(outcome.out)
    return outcome.document


def test_the_command_lists_the_most_valuable_first(snapshot_file, capsys):
    document = command(capsys, snapshot_file, code=3)

    # 2.4 MB/s with headroom need 5 partitions of 1 MB/s, or 6 with even leaders.
    first, second = document["findings"]
    assert (first["kind"], first["topic"], first["needed"]) == ("too-many", "b", 6)
    assert first["saved"]["replicas"] == 36
    assert first["saved"]["maps"] == 72
    assert (second["kind"], second["topic"]) == ("uneven", "c")
    assert document["figures"]["saved_replicas"] == 36
    screen = run(capsys, "partitions", "audit", snapshot_file).out
    assert screen.index("too-many") < screen.index("uneven  ")
    lines = [line for line in screen.splitlines() if str(snapshot_file) not in line]
    assert [line for line in lines if len(line) > 80] == []


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        pytest.param("too_many > 0", 3, id="holds"),
        pytest.param("too_few > 0 or saved_replicas > 100", 0, id="does-not-hold"),
    ],
)
def test_conditions_decide_the_exit_code(condition, code, snapshot_file, capsys):
    document = command(capsys, snapshot_file, "--fail-on", condition, code=code)

    assert document["fail_on"] == [{"condition": condition, "holds": code == 3}]


def test_nothing_found_is_exit_code_0(capsys):
    document = command(capsys, SNAPSHOT_FILE, code=0)

    assert document["findings"] == []
    assert document["unknown"] is None
    out = run(capsys, "partitions", "audit", SNAPSHOT_FILE).out
    assert "nothing, as far as it is known" in out


def test_unknown_rates_are_said(tmp_path, capsys):
    path = tmp_path / "s.json"
    write_snapshot(Snapshot.from_state(make_state({"a": topic(3)})), path)

    document = command(capsys, path, code=0)

    assert document["figures"]["unknown_rates"] == 1
    assert "rates of 1 topic" in document["unknown"]
    assert "sizes of 1 topic" in document["unknown"]


def test_every_problem_is_named(snapshot_file, capsys):
    words = ("--fail-on", "tomany > 0", "--headroom", 0, "--producer-rate", "x")
    outcome = run(
        capsys, "partitions", "audit", snapshot_file, *words, "--format", "json"
    )

    assert outcome.code == 2
    assert [one["place"] for one in outcome.document["problems"]] == [
        "--fail-on, character 1",
        "--producer-rate",
        "--headroom",
    ]


def test_a_cluster_without_live_brokers_is_refused(tmp_path, capsys):
    from placement.model.cluster import BrokerState

    path = tmp_path / "s.json"
    dead = dict.fromkeys(range(3), BrokerState.DEAD)
    state = make_state({"a": topic(3)}, states=dead, leaders=[None] * 3)
    write_snapshot(Snapshot.from_state(state), path)

    outcome = run(capsys, "partitions", "audit", path, "--format", "json")

    assert outcome.code == 2
    assert [one["place"] for one in outcome.document["problems"]] == ["SNAP"]


def test_python_gives_the_document_of_the_command(snapshot_file, capsys):
    found = planner.partitions_audit(planner.read_snapshot(snapshot_file))

    assert found.document == command(capsys, snapshot_file, code=3)
    rows = found.findings.to_arrow().to_pylist()
    assert [row["topic"] for row in rows] == ["b", "c"]
    assert rows[0]["saved_replicas"] == 36
    assert found.figures["too_many"] == 1
    assert "too-many" in repr(found)
    assert found._repr_html_().startswith("<pre>")
