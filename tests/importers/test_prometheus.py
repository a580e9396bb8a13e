"""Prometheus' answers, and how they are shared out over partitions."""

import re
from math import fsum

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.snapshot.importers import merge
from planner.snapshot.importers.kafka_tools.kcat import read_kcat
from planner.snapshot.importers.metrics.prometheus import (
    PRESETS,
    BrokerLabels,
    read_prometheus,
)
from planner.snapshot.importers.metrics.prometheus_queries import EXPORTERS, queries_of
from support.commands import run
from support.monitoring import encoded, matrix, vector
from support.samples import refusal, words

PODS = BrokerLabels(label="pod", pattern=re.compile(PRESETS["strimzi"][1]))
IN = "kafka_server_brokertopicmetrics_bytesin_total"


def cluster(*partitions, hosts=None):
    """Build a cluster of (topic, leader, replicas), numbered within each topic."""
    topics: dict[str, list] = {}
    brokers = sorted({broker for _, _, ids in partitions for broker in ids})
    for topic, leader, ids in partitions:
        rows = topics.setdefault(topic, [])
        rows.append(
            {
                "partition": len(rows),
                "leader": leader,
                "replicas": [{"id": one} for one in ids],
                "isrs": [{"id": one} for one in ids],
            }
        )
    document = {
        "brokers": [
            {"id": one, "name": f"{(hosts or {}).get(one, f'k{one}')}:9092"}
            for one in brokers
        ],
        "topics": [{"topic": t, "partitions": rows} for t, rows in topics.items()],
    }
    return read_kcat(encoded(document), file="kcat.json")


def prometheus(data, **options):
    return read_prometheus(data, file="p.json", **options)


def rates(*sources, column="in_bytes_per_s"):
    table = merge(sources).snapshot.partitions
    keys = zip(
        table.column("topic").to_pylist(),
        table.column("partition").to_pylist(),
        strict=True,
    )
    return dict(zip(keys, table.column(column).to_pylist(), strict=True))


THREE = cluster(("a", 1, [1, 2]), ("a", 1, [1, 2]), ("a", 2, [2, 1]), ("b.x", 2, [2]))


def told(measure, value, **labels):
    return ({"planner": measure, **labels}, value)


def test_a_broker_s_rate_goes_to_the_partitions_it_leads():
    answer = vector(
        told("in", 100, topic="a", pod="prod-brokers-1"),
        told("in", 30, topic="a", pod="prod-brokers-2"),
        told("in", 7, topic="b.x", pod="prod-brokers-2"),
    )

    found = rates(THREE, prometheus(answer, labels=PODS))

    assert found == {("a", 0): 50, ("a", 1): 50, ("a", 2): 30, ("b.x", 0): 7}


def test_messages_tell_how_to_share_out():
    answer = vector(
        told("out", 100, topic="a", pod="p-1"),
        told("weight", 1, topic="a", partition="0"),
        told("weight", 3, topic="a", partition="1"),
        told("weight", 9, topic="a", partition="2"),
    )
    source = prometheus(answer, labels=PODS)

    found = rates(THREE, source, column="out_bytes_per_s")

    assert found == {("a", 0): 25, ("a", 1): 75, ("a", 2): None, ("b.x", 0): None}
    snapshot = merge([THREE, source]).snapshot
    assert snapshot.rates == {"source": "prometheus", "split": "high-watermark"}


def test_growth_of_sizes_tells_how_to_share_out():
    sizes = matrix(
        *(
            (
                {"planner": "size", "topic": "a", "partition": str(p), "pod": "p-1"},
                [(0, "10"), (60, str(10 + grown))],
            )
            for p, grown in enumerate((1, 3, 5))
        )
    )
    answer = vector(told("in", 100, topic="a", pod="p-1"))
    sources = (prometheus(sizes, labels=PODS), prometheus(answer, labels=PODS))

    assert rates(THREE, *sources)["a", 1] == 75
    assert rates(THREE, *sources, column="size_bytes")["a", 1] == 13
    assert merge([THREE, *sources]).snapshot.rates["split"] == "size-growth"


def test_what_no_leader_accounts_for_goes_to_all_partitions():
    answer = vector(
        told("in", 30, topic="a", pod="p-9"), told("in", 60, topic="a", pod="p-2")
    )
    source = prometheus(answer, labels=PODS)

    assert rates(THREE, source)["a", 0] == 10
    assert rates(THREE, source)["a", 2] == 70
    assert any("1 of 2 series" in note for note in merge([THREE, source]).notes)


def test_totals_of_brokers_are_dropped():
    metric = {"__name__": "kafka_server_BrokerTopicMetrics_OneMinuteRate"}
    metric |= {"name": "BytesInPerSec"}
    answer = vector((metric, 1000), ({**metric, "topic": "a"}, 30))
    source = prometheus(answer)

    assert fsum(filter(None, rates(THREE, source).values())) == pytest.approx(30)
    assert any("dropped (totals)" in note for note in source.notes)


@pytest.mark.parametrize(
    ("metric", "column", "expected"),
    [
        pytest.param(
            {"__name__": "kafka_server_BrokerTopicMetrics_OneMinuteRate",
             "name": "BytesInPerSec", "topic": "b_x"},
            "in_bytes_per_s", 5, id="jmx-in",
        ),
        pytest.param(
            {"__name__": "kafka_server_BrokerTopicMetrics_OneMinuteRate",
             "name": "BytesOutPerSec", "topic": "b.x"},
            "out_bytes_per_s", 5, id="jmx-out",
        ),
        pytest.param(
            {"__name__": "kafka_log_Log_Value", "name": "Size", "topic": "b.x",
             "partition": "0"},
            "size_bytes", 5, id="jmx-size",
        ),
        pytest.param(
            {"__name__": "kafka_log_log_size", "topic": "b.x", "partition": "0"},
            "size_bytes", 5, id="strimzi-size",
        ),
        pytest.param(
            {"__name__": "kafka_server_brokertopicmetrics_bytesinpersec",
             "topic": "b.x"},
            "in_bytes_per_s", 5, id="agent-in",
        ),
        pytest.param(
            {"__name__": "kminion_kafka_topic_log_dir_size_total_bytes",
             "topic_name": "b.x"},
            "size_bytes", 5, id="kminion-sizes",
        ),
        pytest.param(
            {"planner": "out", "topic": "b.x", "partition": "0"},
            "out_bytes_per_s", 5, id="per-partition",
        ),
    ],
)  # fmt: skip
def test_metrics_by_their_names(metric, column, expected):
    found = rates(THREE, prometheus(vector((metric, 5))), column=column)

    assert found["b.x", 0] == expected
    assert found["a", 0] is None


def test_racks_of_kminion():
    info = {"__name__": "kminion_kafka_broker_info", "broker_id": "1", "rack_id": "r"}

    snapshot = merge([THREE, prometheus(vector((info, 1)))]).snapshot

    assert snapshot.brokers.column("rack").to_pylist() == ["r", None]


@pytest.mark.parametrize(
    ("metric", "values", "expected"),
    [
        pytest.param({"planner": "in"}, ["1", "2", "3", "4", "5"], 5.0, id="gauge"),
        pytest.param(
            {"__name__": IN}, ["0", "600", "1200", "1200", "1800"], 10.0, id="counter"
        ),
        pytest.param(
            {"__name__": IN}, ["600", "1200", "60", "660"], 10.0, id="counter-reset"
        ),
        pytest.param({"planner": "in"}, ["1", "NaN", "5"], 5.0, id="gaps"),
        pytest.param({"planner": "in"}, ["NaN"], None, id="nothing-but-gaps"),
        pytest.param({"__name__": IN}, ["7"], None, id="one-sample-of-a-counter"),
    ],
)
def test_a_quantile_of_each_series_of_a_range(metric, values, expected):
    samples = [(60.0 * at, value) for at, value in enumerate(values)]
    answer = matrix(({**metric, "topic": "b.x"}, samples))

    source = prometheus(answer, quantile=1.0)

    assert [one.value for one in source.series] == [expected][: expected is not None]
    if expected is not None:
        assert source.header["rates"]["quantile"] == 1.0


def test_a_median_of_a_range():
    answer = matrix(({"planner": "in", "topic": "b.x"}, [(0, "1"), (1, "3"), (2, "8")]))

    source = prometheus(answer, quantile=0.5)

    assert source.series[0].value == 3
    assert source.header["rates"] == {
        "source": "prometheus",
        "window_s": 2.0,
        "quantile": 0.5,
    }


@pytest.mark.parametrize(
    ("topics", "names", "expected"),
    [
        pytest.param(["a.b"], ["a_b"], {"a.b": 1}, id="unique"),
        pytest.param(["a.b"], ["a.b"], {"a.b": 1}, id="exact"),
        pytest.param(
            ["a.b", "a_b"], ["a_b"], {"a.b": None, "a_b": None}, id="collision"
        ),
        pytest.param(["a.b", "a_b"], ["a_b", "a.b"], {"a.b": 2, "a_b": 1}, id="both"),
        pytest.param(["a.b", "c"], ["a_b", "c"], {"a.b": 1, "c": 2}, id="another"),
    ],
)
def test_names_whose_dots_became_underscores(topics, names, expected):
    source = cluster(*((topic, 1, [1]) for topic in topics))
    answer = vector(*(told("in", at, topic=name) for at, name in enumerate(names, 1)))

    found = rates(source, prometheus(answer))

    assert {topic: found[topic, 0] for topic in topics} == expected
    notes = merge([source, prometheus(answer)]).notes
    assert any("became '_'" in n for n in notes) == (None in expected.values())


@pytest.mark.parametrize(
    ("labels", "label", "broker"),
    [
        pytest.param(BrokerLabels(), {"broker_id": "2"}, 2, id="usual-label"),
        pytest.param(BrokerLabels(), {"pod": "p-2"}, None, id="no-label"),
        pytest.param(PODS, {"pod": "prod-pool-a-12"}, 12, id="strimzi"),
        pytest.param(PODS, {"pod": "exporter"}, None, id="another-pod"),
        pytest.param(
            BrokerLabels(label="instance", pattern=re.compile(PRESETS["msk"][1])),
            {"instance": "b-3.prod.x.kafka.eu-west-1.amazonaws.com:11001"},
            3,
            id="msk",
        ),
        pytest.param(
            BrokerLabels(label="instance", pattern=re.compile(PRESETS["host"][1])),
            {"instance": "k2:7071"},
            "k2",
            id="host",
        ),
        pytest.param(BrokerLabels(label="node"), {"node": "7"}, 7, id="whole-label"),
    ],
)
def test_which_broker_a_series_is_of(labels, label, broker):
    assert labels.broker_of(label) == broker


def test_a_host_that_two_brokers_share_tells_neither():
    shared = cluster(
        ("a", 1, [1, 2]), ("a", 2, [2, 1]), hosts={1: "h", 2: "h", 3: "k3"}
    )
    labels = BrokerLabels(label="instance", pattern=re.compile(PRESETS["host"][1]))
    answer = vector(told("in", 10, topic="a", instance="h:7071"))

    found = rates(shared, prometheus(answer, labels=labels))

    assert found == {("a", 0): 5, ("a", 1): 5}


@settings(max_examples=50)
@given(st.data())
def test_nothing_is_lost_and_nothing_doubled(data):
    rows = data.draw(
        st.lists(
            st.tuples(st.sampled_from("ab"), st.integers(1, 3)), min_size=1, max_size=8
        )
    )
    source = cluster(*((topic, leader, [1, 2, 3]) for topic, leader in rows))
    topics = {topic for topic, _ in rows}
    series = data.draw(
        st.lists(
            st.tuples(
                st.sampled_from(sorted(topics)),
                st.integers(1, 4),
                st.integers(0, 10**6),
            ),
            min_size=1,
            max_size=8,
        )
    )
    weights = data.draw(
        st.lists(
            st.tuples(st.integers(0, len(rows)), st.integers(0, 9)), max_size=len(rows)
        )
    )
    num_partitions = sum(topic == "a" for topic, _ in rows)
    answer = vector(
        *(told("in", v, topic=t, pod=f"p-{b}") for t, b, v in series),
        *(
            told("weight", w, topic="a", partition=str(p))
            for p, w in weights
            if p < num_partitions
        ),
    )

    found = rates(source, prometheus(answer, labels=PODS))

    for topic in topics:
        total = fsum(v or 0 for (name, _), v in found.items() if name == topic)
        assert total == pytest.approx(sum(v for t, _, v in series if t == topic))


@pytest.mark.parametrize(
    ("answer", "place", "rule"),
    [
        pytest.param(
            encoded({"status": "error", "error": "hunter2"}),
            "status",
            "answered with an error",
            id="error",
        ),
        pytest.param(vector(), "data.result", "empty", id="no-series"),
        pytest.param(
            encoded(
                {"status": "success", "data": {"resultType": "scalar", "result": []}}
            ),
            "data.resultType",
            "a vector or a matrix",
            id="scalar",
        ),
        pytest.param(
            vector(({"topic": "a"}, 1)),
            "data.result[0]",
            "identify the measured quantity",
            id="rate-without-a-name",
        ),
        pytest.param(
            vector(({"__name__": IN, "topic": "a"}, 1)),
            "data.result[0]",
            "a counter is a total",
            id="counter",
        ),
        pytest.param(
            vector(({"planner": "in", "topic": "a"}, "hunter2")),
            "data.result[0]",
            "a number",
            id="no-number",
        ),
        pytest.param(
            vector(({"planner": "in", "topic": "a"}, -1)),
            "data.result[0]",
            "not negative",
            id="negative",
        ),
        pytest.param(
            vector(({"planner": "in", "topic": "a"}, 1))[:-3],
            "line 1",
            "too early",
            id="cut",
        ),
    ],
)
def test_bad_answers_are_refused(answer, place, rule):
    error = refusal(read_prometheus, answer)

    assert any(
        place in problem.place and rule in problem.rule for problem in error.problems
    ), words(error)
    assert "hunter2" not in words(error)


@pytest.mark.parametrize("exporter", EXPORTERS)
def test_printed_queries_label_what_they_measure(capsys, exporter):
    outcome = run(capsys, "snapshot", "import", "--print-queries", exporter)

    assert outcome.code == 0
    assert outcome.out.rstrip("\n") == queries_of(exporter)
    assert all(len(line) <= 80 for line in outcome.out.splitlines() if line[0] == "#")
    queries = [line for line in outcome.out.splitlines() if not line.startswith("#")]
    for query in queries:
        assert query.count("(") == query.count(")")
        assert query.count("{") == query.count("}")
        assert '"planner"' in query or query == "kminion_kafka_broker_info"


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (("--print-queries", "nagios"), "must be one of jmx"),
        (("--broker-regex", "x(.*)", "-o", "s.json"), "needs --broker-label"),
        (
            ("--broker-regex", "(", "--broker-label", "pod", "-o", "s.json"),
            "must be a regular expression",
        ),
        (("--quantile", "2", "-o", "s.json"), "--quantile"),
    ],
)
def test_options_are_checked(capsys, options, rule):
    outcome = run(capsys, "snapshot", "import", *options)

    assert outcome.code == 2
    assert rule in outcome.err


def test_the_command_shares_out(capsys, tmp_path):
    answer, kcat, output = (tmp_path / name for name in ("p", "k", "s.json"))
    answer.write_bytes(vector(told("in", 10, topic="a", pod="x-2")))
    kcat.write_bytes(
        b'{"brokers":[{"id":2,"name":"k2:9092"}],"topics":[{"topic":"a","partitions":['
        b'{"partition":0,"leader":2,"replicas":[{"id":2}],"isrs":[{"id":2}]}]}]}'
    )

    outcome = run(
        capsys,
        *("snapshot", "import", "--kcat", kcat, "--prometheus", answer),
        *("--broker-regex", "strimzi", "-o", output, "--format", "json"),
    )

    assert outcome.code == 0
    assert outcome.document["rates"] == {"source": "prometheus", "split": "equal"}
