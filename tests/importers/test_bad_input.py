"""Inputs that are cut, edited or of another release: refused, with file and line."""

import gzip
import json
import re

import pytest

from planner.snapshot.importers import merge
from planner.snapshot.importers.hardware.broker_table import read_broker_table
from planner.snapshot.importers.hardware.strimzi import read_strimzi
from planner.snapshot.importers.kafka_tools.kafka_cluster import read_endpoints
from planner.snapshot.importers.kafka_tools.kafka_log_dirs import read_log_dirs
from planner.snapshot.importers.kafka_tools.kafka_topics import read_topics
from planner.snapshot.importers.kafka_tools.kcat import read_kcat
from planner.snapshot.importers.kafka_tools.reassignment_json import read_assignment
from planner.snapshot.importers.metrics.rates_table import read_rates
from support.samples import (
    BROKERS,
    KCAT,
    RATES,
    READERS,
    SAMPLES,
    records_of,
    refusal,
    words,
)

TOPICS = (SAMPLES / "topics-describe.txt").read_bytes()
LOG_DIRS = (SAMPLES / "log-dirs-describe.txt").read_bytes()
ENDPOINTS = (SAMPLES / "cluster-list-endpoints.txt").read_bytes()
EVERY = [pytest.param(r, d[0], id=r.__name__) for r, d in READERS.items()]
EVERY += [
    pytest.param(read_strimzi, data, id="read_strimzi-topics")
    for data in READERS.get(read_strimzi, ())[1:]
]
LINES = [(read_topics, TOPICS), (read_endpoints, ENDPOINTS)]
OLD = """Topic:foo\tPartitionCount:2\tReplicationFactor:3\tConfigs:
\tTopic: foo\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3
\tTopic: foo\tPartition: 1\tLeader: -1\tReplicas: 2,3,1\tIsr:
"""


def one_line(**changed: str) -> bytes:
    cells = {
        "Topic": "a",
        "Partition": "0",
        "Leader": "1",
        "Replicas": "1,2",
        "Isr": "1,2",
        **changed,
    }
    line = "\t".join(f"{name}: {value}" for name, value in cells.items())
    head = "Topic: a\tPartitionCount: 1\tReplicationFactor: 2\tConfigs: "
    return f"{head}\n\t{line}\n".encode()


@pytest.mark.parametrize(("reader", "data"), EVERY)
@pytest.mark.parametrize(
    ("encoded", "rule"),
    [
        pytest.param(lambda text: b"", "empty", id="empty"),
        pytest.param(lambda text: b" \n\n", "empty", id="blank"),
        pytest.param(lambda text: text.encode("utf-16")[:-1], "UTF-16", id="odd"),
        pytest.param(lambda text: text.encode("utf-32"), "UTF-16", id="utf-32"),
        pytest.param(lambda text: text.encode("utf-32-le"), "UTF-16", id="no-bom"),
        pytest.param(lambda text: text.encode() + b"\xff\n", "UTF-8", id="latin-1"),
        pytest.param(lambda text: gzip.compress(text.encode())[:-9], "gzip", id="gz"),
    ],
)
def test_another_encoding_is_refused(reader, data, encoded, rule):
    error = refusal(reader, encoded(data.decode()))

    assert rule in error.problems[0].rule
    assert error.problems[0].file == "given.txt"


@pytest.mark.parametrize(("reader", "data"), EVERY)
@pytest.mark.parametrize(
    "harmless",
    [
        pytest.param(lambda data: data.replace(b"\n", b"\r\n"), id="windows-lines"),
        pytest.param(lambda data: b"\xef\xbb\xbf" + data, id="byte-order-mark"),
        pytest.param(gzip.compress, id="gzip"),
        pytest.param(lambda data: data + b"\n\n", id="blank-lines-at-the-end"),
    ],
)
def test_what_does_no_harm_is_taken(reader, data, harmless):
    plain, other = reader(data, file="f"), reader(harmless(data), file="f")

    assert told(other) == told(plain)


def told(source):
    columns = source.partitions
    return (
        source.header,
        [(r.key, r.values) for r in records_of(source)],
        columns and (list(columns.topics), list(columns.partitions), columns.values),
    )


@pytest.mark.parametrize("blanks", ["        ", " ", "\t\t"])
def test_tabs_that_a_screen_made_blanks_are_taken(blanks):
    data = TOPICS.replace(b"\t", blanks.encode())

    assert told(read_topics(data, file="f")) == told(read_topics(TOPICS, file="f"))


@pytest.mark.parametrize(
    ("text", "leader", "isr", "elr"),
    [
        pytest.param(OLD, [1, -1], [[1, 2, 3], []], None, id="before-2.2"),
        pytest.param(
            "Topic: a\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: \n"
            "\tTopic: a\tPartition: 0\tLeader: none\tReplicas: 1\tIsr: \n",
            [-1],
            [[]],
            None,
            id="2.2-to-2.8",
        ),
        pytest.param(
            "Topic: a\tTopicId: VMo9A2SyQF2q1_xP7r1YTg\tPartitionCount: 1\t"
            "ReplicationFactor: 1\tConfigs: segment.bytes=1\n"
            "\tTopic: a\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1"
            "\tAdding Replicas: 2\tRemoving Replicas: \n",
            [1],
            [[1]],
            None,
            id="3.0-reassigning",
        ),
        pytest.param(
            "Topic: a\tTopicId: VMo9A2SyQF2q1_xP7r1YTg\tPartitionCount: 1\t"
            "ReplicationFactor: 1\tConfigs: \n"
            "\tTopic: a\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1"
            "\tElr: N/A\tLastKnownElr: N/A\n",
            [1],
            [[1]],
            None,
            id="3.9-without-elr",
        ),
        pytest.param(
            "Topic: a\tTopicId: VMo9A2SyQF2q1_xP7r1YTg\tPartitionCount: 1\t"
            "ReplicationFactor: 2\tConfigs: min.insync.replicas=2\n"
            "\tTopic: a\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1"
            "\tElr: 2,3\tLastKnownElr: 4\n",
            [1],
            [[1]],
            [[2, 3]],
            id="4.1-elr-of-former-replicas",
        ),
        pytest.param(
            "Topic: a\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: \t"
            "MarkedForDeletion: true\n"
            "\tTopic: a\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\t"
            "MarkedForDeletion: true\n",
            [1],
            [[1]],
            None,
            id="marked-for-deletion",
        ),
    ],
)
def test_other_releases_are_taken(text, leader, isr, elr):
    source = read_topics(text.encode(), file="f")

    values = source.partitions.values
    assert (values["leader"], values["isr"]) == (leader, isr)
    assert values.get("elr") == elr
    assert all("configs" in record.values for record in source.topics)
    state = merge([source]).snapshot.to_state()
    assert state.num_partitions == len(isr)


@pytest.mark.parametrize(
    ("data", "place", "rule"),
    [
        pytest.param(TOPICS[:-2], "line 21", "no line break", id="cut-at-the-end"),
        pytest.param(
            b"\n".join(TOPICS.split(b"\n")[:-2]) + b"\n",
            "line 17",
            "0 to 3, each once; there are 3 lines",
            id="a-partition-less",
        ),
        pytest.param(
            b"\n".join(line[:60] for line in TOPICS.split(b"\n")),
            "line 1",
            "must be complete",
            id="cut-by-a-narrow-screen",
        ),
        pytest.param(
            re.sub(rb"TopicId: \S+", b"TopicId: x9", TOPICS, count=1),
            "line 1",
            "must have 22 characters, and has 2",
            id="topic-id-by-hand",
        ),
        pytest.param(
            TOPICS.replace(b"\tIsr", b"\n\tIsr", 1),
            "line 2",
            "must be complete",
            id="wrapped-by-a-narrow-screen",
        ),
        pytest.param(
            TOPICS + OLD.encode(), "line 23", "one release", id="two-releases"
        ),
        pytest.param(TOPICS + TOPICS, "line 22", "described once", id="twice"),
        pytest.param(
            b"something unknown\n" + TOPICS,
            "line 1",
            "not part of the output of kafka-topics",
            id="not-known",
        ),
        pytest.param(one_line(Leader="k1"), "line 2", "complete", id="leader"),
        pytest.param(one_line(Isr="1,"), "line 2", "complete", id="cut-isr"),
        pytest.param(one_line(Replicas="1"), "line 1", "1 replicas", id="cut-replicas"),
        pytest.param(
            b"Topic: a\tPartitionCount: 0\tReplicationFactor: 1\tConfigs: \n",
            "line 1",
            "must have partitions",
            id="no-partitions",
        ),
        pytest.param(one_line(Leader="9999999999"), "line 2", "32 bits", id="huge"),
        pytest.param(
            TOPICS.replace(b"min.insync.replicas=2,", b"min.insync,"),
            "line 4",
            "key=value",
            id="cut-configs",
        ),
    ],
)
def test_bad_topics_are_refused_with_their_line(data, place, rule):
    error = refusal(read_topics, data)

    assert any(
        problem.place == place and rule in problem.rule for problem in error.problems
    ), words(error)


def test_every_bad_line_is_named():
    lines = TOPICS.split(b"\n")
    for number in (3, 7, 12):
        lines[number - 1] += b" x"

    error = refusal(read_topics, b"\n".join(lines))

    places = [problem.place for problem in error.problems]
    assert places[:3] == ["line 3", "line 7", "line 12"]


@pytest.mark.parametrize(
    ("data", "place", "rule"),
    [
        pytest.param(LOG_DIRS[:-40], "line 3", "ends too early", id="cut"),
        pytest.param(
            b"\n".join(LOG_DIRS.split(b"\n")[:2]) + b"\n",
            "line 3",
            "JSON is missing",
            id="cut-before-the-json",
        ),
        pytest.param(
            LOG_DIRS.replace(b"from brokers 1,2,3,4,5,6", b"from brokers 1,2"),
            "brokers",
            "as the line before it does",
            id="other-brokers-than-said",
        ),
        pytest.param(
            LOG_DIRS.replace(b'"size":29039363', b'"size":"29 MB"', 1),
            "brokers[0].logDirs[0].partitions[0].size",
            "must be an integer",
            id="size-as-text",
        ),
        pytest.param(
            LOG_DIRS.replace(b'"size":29039363', b'"size":-1', 1),
            "brokers[0].logDirs[0].partitions[0].size",
            "at least 0",
            id="negative-size",
        ),
        pytest.param(
            LOG_DIRS.replace(b'"broker":2', b'"broker":1', 1),
            "brokers",
            "once",
            id="a-broker-twice",
        ),
        pytest.param(
            LOG_DIRS.replace(b'"version":1', b'"version":2'),
            "version",
            "at most 1",
            id="another-version",
        ),
        pytest.param(
            LOG_DIRS.replace(b'"size":29039363', b'"size":1,"size":2', 1),
            "",
            "must be unique",
            id="a-key-twice",
        ),
    ],
)
def test_bad_log_dirs_are_refused_with_their_place(data, place, rule):
    error = refusal(read_log_dirs, data)

    assert any(
        place in problem.place and rule in problem.rule for problem in error.problems
    ), words(error)


@pytest.mark.parametrize(
    ("reader", "data", "place", "rule"),
    [
        pytest.param(
            read_endpoints,
            ENDPOINTS.replace(b"broker    ", b"controller"),
            "line 2",
            "not controllers",
            id="controllers",
        ),
        pytest.param(
            read_endpoints,
            b"\n".join(line[:30] for line in ENDPOINTS.split(b"\n")),
            "line 1",
            "heading",
            id="cut-endpoints",
        ),
        pytest.param(
            read_endpoints,
            ENDPOINTS.replace(b"4          127.0.0.1", b"4a         127.0.0.1"),
            "line 5",
            "must be id, host",
            id="bad-id",
        ),
        pytest.param(read_kcat, KCAT[:-5], "line 6", "too early", id="cut-kcat"),
        pytest.param(
            read_kcat,
            KCAT.replace(b'"topic":"orders",', b'"topic":"orders","error":"auth",'),
            "topics[0]",
            "without its partitions",
            id="kcat-error",
        ),
        pytest.param(
            read_kcat,
            KCAT.replace(b'"isrs":[],', b""),
            "topics[0].partitions[1].isrs",
            "required",
            id="kcat-without-isr",
        ),
        pytest.param(
            read_assignment,
            b'{"version":2,"partitions":[]}',
            "version",
            "at most 1",
            id="reassignment-version",
        ),
        pytest.param(
            read_assignment,
            b'{"partitions":[{"topic":"a","partition":0,"replicas":[1,2],'
            b'"log_dirs":["any","d1","any"]}]}',
            "partitions[0].log_dirs",
            "one log dir per replica",
            id="log-dirs-of-another-length",
        ),
        pytest.param(
            read_broker_table,
            b"id,rack\n1,a\n2\n",
            "line 3",
            "2 cells",
            id="a-cell-less",
        ),
        pytest.param(
            read_broker_table, b"id;rack\n1;a\n", "line 1", "commas", id="semicolons"
        ),
        pytest.param(
            read_broker_table,
            b"id,rakc\n1,a\n",
            "line 1, column 2",
            "unknown column",
            id="misspelt",
        ),
        pytest.param(
            read_broker_table, b"rack\na\n", "line 1", "id is missing", id="no-id"
        ),
        pytest.param(
            read_broker_table,
            b"id,disk\n1,2 bags\n",
            "line 2, disk_bytes",
            "must be bytes",
            id="no-size",
        ),
        pytest.param(
            read_broker_table,
            b"id,state\n1,up\n",
            "line 2, state",
            "must be one of alive",
            id="no-state",
        ),
        pytest.param(
            read_broker_table,
            b"id,log_dirs\n1,d1=1TB\n",
            "line 2, log_dirs",
            "absolute",
            id="relative-path",
        ),
        pytest.param(
            read_broker_table,
            b'id,rack\n1,"a\n',
            "line 2",
            "quotes in pairs",
            id="open-quote",
        ),
        pytest.param(
            read_broker_table,
            b"id,rack\n1,a",
            "line 2",
            "no line break",
            id="cut-table",
        ),
        pytest.param(
            read_broker_table, b"id,rack\n", "", "below the heading", id="no-brokers"
        ),
        pytest.param(
            read_broker_table,
            b"id,rack\n1,a\n1,b\n",
            "line 3",
            "once",
            id="a-broker-twice",
        ),
        pytest.param(
            read_rates,
            b"topic,partition,in\norders,0,fast\n",
            "line 2, in_bytes_per_s",
            "bytes/s",
            id="no-rate",
        ),
        pytest.param(
            read_rates,
            b"topic,partition,in\norders,0,inf\n",
            "line 2, in_bytes_per_s",
            "bytes/s",
            id="infinite",
        ),
        pytest.param(
            read_rates,
            b"topic,partition,in\norders,0,-1\n",
            "line 2, in_bytes_per_s",
            "bytes/s",
            id="negative",
        ),
        pytest.param(
            read_rates, b"topic,partition\na,0\n", "", "measured", id="no-measure"
        ),
        pytest.param(
            read_rates,
            b"topic,partition,in\n/orders,0,1\n",
            "line 2",
            "valid topic name",
            id="no-topic",
        ),
        pytest.param(
            read_rates,
            b"topic,partition,in\norders,x,1\n",
            "line 2",
            "partition must be",
            id="no-partition",
        ),
        pytest.param(read_rates, b"PAR1 no", "", "Parquet", id="no-parquet"),
        pytest.param(
            read_broker_table, b"id,rack\n,a\n", "line 2", "empty", id="no-broker"
        ),
        pytest.param(
            read_broker_table,
            b"id,instance_type\n1,t2.micro\n",
            "line 2, instance_type",
            "MSK",
            id="no-msk-type",
        ),
    ],
)
def test_bad_files_are_refused_with_their_place(reader, data, place, rule):
    error = refusal(reader, data)

    assert any(
        place in problem.place and rule in problem.rule for problem in error.problems
    ), words(error)


WORD = "hunter2"
HOST = "kafka-7.prod.internal"
SECRETS = [
    b'sasl.jaas.config=x required username="admin" password="hunter2";\n',
    b"\tTopic: hunter2 kafka-7.prod.internal:9092\n",
    b"\tTopic: a\tPartition: 0\tLeader: hunter2\tReplicas: kafka-7.prod.internal\n",
    b"hunter2,kafka-7.prod.internal,hunter2\n",
    b'{"password":"hunter2","name":"kafka-7.prod.internal:9092"}\n',
    b'{"hunter2":1,"brokers":["kafka-7.prod.internal"],"partitions":{"hunter2":2}}\n',
    b"1 kafka-7.prod.internal hunter2\n",
]


@pytest.mark.parametrize(("reader", "data"), EVERY)
@pytest.mark.parametrize("secret", SECRETS)
def test_no_message_repeats_a_password_or_a_host(reader, data, secret):
    lines = data.splitlines(keepends=True)
    for where in {0, 1, len(lines) // 2, len(lines)}:
        for given in (
            secret,
            b"".join([*lines[:where], secret, *lines[where:]]),
        ):
            text = words(refusal(reader, given))

            assert WORD not in text
            assert HOST not in text


def spoilt(value):
    """Put a word for every number, also for those written as text."""
    if isinstance(value, dict):
        return {key: spoilt(one) for key, one in value.items()}
    if isinstance(value, list):
        return [spoilt(one) for one in value]
    is_number = isinstance(value, int | float) or str(value).isdigit()
    return WORD if is_number and not isinstance(value, bool) else value


@pytest.mark.parametrize(
    ("reader", "data"), [case for case in EVERY if case.values[1].startswith(b"{")]
)
def test_no_value_of_json_is_repeated(reader, data):
    error = refusal(reader, json.dumps(spoilt(json.loads(data))).encode())

    assert WORD not in words(error)


def test_units_of_tables():
    table, rates = read_broker_table(BROKERS, file="f"), read_rates(RATES, file="f")

    assert table.brokers[0].values == {
        "rack": "a",
        "disk_bytes": 2_000_000_000_000,
        "in_bytes_per_s": 1e8,
        "cpu_cores": 8.0,
        "max_replicas": 4000,
    }
    assert [(r.key, r.values.get("size_bytes")) for r in table.log_dirs] == [
        ((1, "/data/d1"), 10**12),
        ((1, "/data/d2"), 10**12),
        ((3, "/data/d1"), None),
    ]
    assert rates.partitions.values == {
        "in_bytes_per_s": [120000.0, 1.5e6],
        "out_bytes_per_s": [240000.5, None],
        "size_bytes": [5 * 10**9, None],
    }


@pytest.mark.parametrize(
    ("instance", "most"),
    [
        ("kafka.m5.large", 1500),
        ("kafka.m7g.xlarge", 1500),
        ("m5.2xlarge", 3000),
        ("kafka.m5.4xlarge", 6000),
        ("kafka.m7g.16xlarge", 6000),
        ("kafka.t3.small", 300),
        ("express.m7g.2xlarge", 4000),
    ],
)
def test_replicas_that_an_msk_broker_may_hold(instance, most):
    table = read_broker_table(f"id,instance_type\n1,{instance}\n".encode(), file="f")

    assert table.brokers[0].values == {"max_replicas": most}


def test_ipv6_hosts_of_kcat():
    kcat = json.loads(KCAT)
    kcat["brokers"][0]["name"] = "[fe80::1]:9092"

    source = read_kcat(json.dumps(kcat).encode(), file="f")

    assert source.brokers[0].values["host"] == "fe80::1"
