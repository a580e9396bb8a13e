"""Texts as operators pasted them: what is right of each, and variations of its kind."""

import json
from pathlib import Path

import pytest

from planner.snapshot.importers.cruise_control.capacity_files import read_capacity
from planner.snapshot.importers.kafka_tools.kafka_cluster import read_endpoints
from planner.snapshot.importers.kafka_tools.kafka_configs import read_configs
from planner.snapshot.importers.kafka_tools.kafka_features import read_features
from planner.snapshot.importers.kafka_tools.kafka_log_dirs import read_log_dirs
from planner.snapshot.importers.kafka_tools.kafka_quorum import read_quorum
from planner.snapshot.importers.kafka_tools.kafka_topics import read_topics
from planner.snapshot.importers.kafka_tools.kcat import read_kcat
from planner.snapshot.importers.kafka_tools.reassignment_json import read_assignment
from planner.snapshot.importers.metrics.prometheus import read_prometheus
from planner.snapshot.importers.metrics.rates_table import read_rates
from support.commands import run
from support.monitoring import CAPACITY, vector
from support.samples import KCAT, KCAT_TEXT, RATES, SAMPLES, records_of, refusal, words

CASES = Path(__file__).parents[1] / "data" / "cases"
LOG_DIRS = (SAMPLES / "log-dirs-describe.txt").read_bytes()
TOPICS = (SAMPLES / "topics-describe.txt").read_text()


def imported(capsys, tmp_path, *options):
    outcome = run(capsys, "snapshot", "import", *options, "-o", tmp_path / "s.json")
    path = tmp_path / "s.json"
    return outcome, json.loads(path.read_text()) if path.exists() else None


def replicas(document):
    return {
        (topic["name"], one["partition"]): one["replicas"]
        for topic in document["topics"]
        for one in topic["partitions"]
    }


def test_a_prompt_logs_and_an_indentation_around_topics(capsys, tmp_path):
    path = CASES / "c01" / "topics.txt"

    outcome, document = imported(capsys, tmp_path, "--topics", path)

    assert outcome.code == 0
    assert replicas(document) == {
        ("metrics-part", 0): [10, 12],
        ("metrics-part", 1): [11, 13],
        ("metrics-part", 2): [12, 10],
        ("metrics-part", 3): [13, 11],
        ("metrics-part", 4): [10, 13],
    }
    assert "4 lines that are no data passed over (first line 1, a shell" in outcome.err
    assert "[root@node-7 kafka_2.11-1.0.0]# bin/kafka-topics.sh" in outcome.err


@pytest.mark.parametrize("option", ["--topics", "--log-dirs", "--strimzi"])
def test_the_text_of_kcat_is_named_with_the_option_that_takes_it(
    capsys, tmp_path, option
):
    path = CASES / "c06" / "kcat.txt"

    outcome, document = imported(capsys, tmp_path, option, path)

    assert (outcome.code, document) == (2, None)
    assert "this looks like kcat -L, which --kcat takes" in outcome.err


def test_the_text_of_kcat_is_read(capsys, tmp_path):
    path = CASES / "c06" / "kcat.txt"

    outcome, document = imported(capsys, tmp_path, "--kcat", path)

    assert outcome.code == 0
    assert replicas(document) == {
        ("audit", 0): [3, 1],
        ("payments", 0): [1, 2],
        ("payments", 1): [2, 3],
        ("payments", 2): [3],
    }
    assert [one["state"] for one in document["brokers"]] == ["alive"] * 3
    assert document["brokers"][0]["host"] == "broker-1.example.internal"


def test_the_text_of_kcat_says_what_its_json_says():
    text, plain = (read_kcat(one, file="f") for one in (KCAT_TEXT, KCAT))

    assert text.partitions.values == plain.partitions.values
    assert [(b.key, b.values) for b in text.brokers] == [
        (b.key, b.values) for b in plain.brokers
    ]
    assert text.lists_live_brokers
    assert text.lists_complete_topics


@pytest.mark.parametrize("prefix", ["2026-11-29T10:00:00Z ", "> ", "kcat-1  | "])
def test_the_text_of_kcat_may_have_prefixes(prefix):
    text = "".join(f"{prefix}{one}\r\n" for one in KCAT_TEXT.decode().splitlines())

    source = read_kcat(text.encode(), file="f")

    plain = read_kcat(KCAT_TEXT, file="f")
    assert source.partitions.values == plain.partitions.values


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        pytest.param(
            b"2 brokers:", b"3 brokers:", "3 brokers must follow", id="broker"
        ),
        pytest.param(b"1 topics:", b"2 topics:", "2 topics must follow", id="topic"),
        pytest.param(
            b"with 2 part",
            b"with 3 part",
            "3 partitions of orders must",
            id="partition",
        ),
        pytest.param(
            b" 2 brokers:\n", b"", "the number of brokers must be", id="count"
        ),
        pytest.param(
            b"replicas: 1,2, isrs: 2,1", b"replicas: 1,2, is", "not part of", id="line"
        ),
        pytest.param(
            b'  topic "orders"',
            KCAT_TEXT + b'  topic "orders"',
            "one cluster",
            id="two",
        ),
    ],
)
def test_text_of_kcat_that_is_not_whole_is_refused(old, new, rule):
    assert rule in words(refusal(read_kcat, KCAT_TEXT.replace(old, new, 1)))


@pytest.mark.parametrize(
    ("name", "num_passed"), [("dirs", 0), ("dirs-brokers", 0), ("dirs-warn", 1)]
)
def test_log_dirs_pretty_printed_by_broker_or_with_a_warning(
    capsys, tmp_path, name, num_passed
):
    given = ("--topics", CASES / "c07" / "topics.txt")
    path = CASES / "c07" / f"{name}.txt"

    outcome, document = imported(capsys, tmp_path, *given, "--log-dirs", path)

    assert outcome.code == 0
    assert ("passed over" in outcome.err) == bool(num_passed)
    assert [
        (one["size_bytes"], one["log_dirs"])
        for one in document["topics"][0]["partitions"]
    ] == [(1048576, ["/kafka/d1"] * 2), (2097152, ["/kafka/d1"] * 2)]
    assert [
        [(d["path"], d["state"]) for d in broker["log_dirs"]]
        for broker in document["brokers"]
    ] == [[("/kafka/d1", "online")]] * 2


def test_a_topic_in_error_refuses_the_others_only_without_allow_partial(
    capsys, tmp_path
):
    given = ("--kcat", CASES / "c30" / "kcat.json")

    refused, nothing = imported(capsys, tmp_path, *given)
    taken, document = imported(capsys, tmp_path, *given, "--allow-partial")

    assert (refused.code, nothing, taken.code) == (2, None, 0)
    assert "1 entry is wrong; --allow-partial leaves it out" in refused.err
    assert "1 entry left out (topics[0]: topic test is listed without" in taken.err
    assert replicas(document) == {
        ("outputs", 0): [3, 1],
        ("outputs", 1): [4],
        ("outputs", 2): [1, 4],
    }


# Variations on log dirs: every way to join or part the JSON.


def dirs_of(source):
    found = source.replicas
    return sorted(
        zip(
            *(found.brokers, found.paths, found.names),
            *(found.size_bytes, found.is_future),
            strict=True,
        )
    )


HEAD, JSON_LINE = LOG_DIRS.decode().rsplit("\n", 2)[:2]
WHOLE = json.loads(JSON_LINE)


def joined(*documents, between="\n"):
    return between.join(json.dumps(document) for document in documents) + "\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(joined(*WHOLE["brokers"]), id="lines-of-brokers"),
        pytest.param(joined(*WHOLE["brokers"], between=" "), id="one-line"),
        pytest.param(joined(WHOLE["brokers"]), id="list-of-brokers"),
        pytest.param(json.dumps(WHOLE["brokers"], indent=4) + "\n", id="pretty-list"),
        pytest.param(f"{HEAD}\n{json.dumps(WHOLE, indent=2)}", id="pretty"),
        pytest.param(
            joined(*({"version": 1, "brokers": [b]} for b in WHOLE["brokers"])),
            id="an-output-of-each-broker",
        ),
        pytest.param(
            "".join(
                f"$ kafka-log-dirs --broker-list {b['broker']}\n"
                "Querying brokers for log directories information\n"
                f"Received log directory information from brokers {b['broker']}\n"
                f"{json.dumps({'version': 1, 'brokers': [b]})}[root@k1 ~]# ls\n"
                for b in WHOLE["brokers"]
            ),
            id="outputs-with-headings-and-prompts",
        ),
        pytest.param(f"{JSON_LINE}[root@k1 ~]#", id="a-prompt-behind"),
    ],
)
def test_every_way_to_print_the_same_log_dirs(text):
    whole = read_log_dirs(LOG_DIRS, file="f")

    source = read_log_dirs(text.encode(), file="f")

    assert dirs_of(source) == dirs_of(whole)
    assert {r.key: r.values for r in records_of(source)} == {
        r.key: r.values for r in records_of(whole)
    }


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        pytest.param(joined(WHOLE, WHOLE), "once", id="twice"),
        pytest.param(joined(WHOLE, {"version": 2, "brokers": []}), "", id="versions"),
        pytest.param(joined(WHOLE, {"level": "WARN"}), "", id="a-log-in-json"),
        pytest.param(joined(WHOLE, {"brokers": None}), "", id="no-list"),
        pytest.param(JSON_LINE + "\n}", "", id="a-bracket-more"),
        pytest.param(JSON_LINE[:-1] + "\n$ ls\n", "JSON", id="a-bracket-less"),
        pytest.param(
            f"{HEAD.replace('1,2,3', '1,2,3,9')}\n{JSON_LINE}\n",
            "as the line before it does",
            id="a-broker-missing",
        ),
    ],
)
def test_log_dirs_that_are_not_whole_are_refused(text, rule):
    assert rule in words(refusal(read_log_dirs, text.encode()))


def test_entries_of_log_dirs_that_are_wrong_are_left_out():
    spoilt = LOG_DIRS.replace(b'"size":29039363', b'"size":-1', 1)

    error = refusal(read_log_dirs, spoilt)
    source = read_log_dirs(spoilt, file="f", allow_partial=True)

    assert "1 entry is wrong; --allow-partial leaves it out" in error.message
    whole = dirs_of(read_log_dirs(LOG_DIRS, file="f"))
    assert len(set(whole) - set(dirs_of(source))) == 1
    assert "1 entry left out (brokers[0].logDirs[0]" in source.notes[0]


# Variations on topics.

UNKNOWN_FIELDS = [
    pytest.param(
        TOPICS.replace("\tElr:", "\tObservers: \tElr:"), "Observers", id="in-the-middle"
    ),
    pytest.param(
        "".join(
            line + ("\tLiveObservers: 4,5" if "\tPartition:" in line else "") + "\n"
            for line in TOPICS.splitlines()
        ),
        "LiveObservers",
        id="at-the-end",
    ),
    pytest.param(
        TOPICS.replace("\tReplicationFactor", "\tTopicType: x\tReplicationFactor"),
        "TopicType",
        id="of-the-topic",
    ),
]


@pytest.mark.parametrize(("text", "name"), UNKNOWN_FIELDS)
@pytest.mark.parametrize("blanks", ["\t", "  "])
def test_fields_of_other_vendors_are_passed_over(text, name, blanks):
    plain = read_topics(TOPICS.encode(), file="f")

    source = read_topics(text.replace("\t", blanks).encode(), file="f")

    assert source.partitions.values == plain.partitions.values
    assert [(r.key, r.values) for r in source.topics] == [
        (r.key, r.values) for r in plain.topics
    ]
    assert source.notes == (
        f"f: skipped fields that Kafka does not print: {name}",
        *plain.notes,
    )


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("\tIsr: 1,2\tTopic: big\tPartition: 1", id="two-lines-in-one"),
        pytest.param("\tIsr: 1,2\tLeader: 3", id="a-known-field-twice"),
        pytest.param("\tIsr: 1,2\tOffline 3", id="no-colon"),
        pytest.param("\tIsr: 1,2 3", id="a-number-more"),
    ],
)
def test_a_field_that_kafka_prints_is_never_passed_over(line):
    text = TOPICS.replace("\tIsr: 1,2", line, 1)
    assert text != TOPICS

    assert "must be complete" in words(refusal(read_topics, text.encode()))


def without_topic_lines(text):
    return "".join(
        line for line in text.splitlines(keepends=True) if "PartitionCount" not in line
    )


def test_partitions_without_the_line_of_their_topic():
    plain = read_topics(TOPICS.encode(), file="f")

    source = read_topics(without_topic_lines(TOPICS).encode(), file="f")

    assert source.partitions.values == plain.partitions.values
    assert {r.key: dict(r.values) for r in source.topics} == {
        r.key: {} for r in plain.topics
    }
    assert not source.lists_complete_topics
    assert "5 topics have no line of their own" in source.notes[0]


@pytest.mark.parametrize(
    "name",
    ["under-replicated", "unavailable", "under-min-isr", "at-min-isr", "overrides"],
)
def test_what_a_filter_left_is_not_taken_for_the_cluster(name):
    data = (SAMPLES / f"topics-{name}.txt").read_bytes()

    assert "without a filter" in words(refusal(read_topics, data))


def test_partitions_that_a_filter_may_have_chosen_are_refused():
    line = "\tTopic: a\tPartition: {}\tLeader: 1\tReplicas: 1,2\tIsr: 1\n"

    error = refusal(read_topics, "".join(map(line.format, range(3))).encode())

    assert "a filter may have chosen" in words(error)


@pytest.mark.parametrize(
    "hostile",
    [
        pytest.param("$ Topic: x\tPartition: 0\tLeader: 1\tReplicas: 1", id="prompt"),
        pytest.param(
            "[2024-02-02 10:00:00,123] WARN x\tTopic: x\tPartition: 0\tLeader: 1",
            id="log",
        ),
        pytest.param("Note: Topic: x\tPartitionCount: 1", id="note"),
        pytest.param("1,2\tIsr: 1,2", id="wrapped"),
        pytest.param("Replicas: 1,2", id="rest"),
        pytest.param("4,5,6", id="numbers"),
        pytest.param("compact,delete", id="values"),
        pytest.param("min.insync.replicas=2,retention.ms=1", id="configs"),
        pytest.param("and Partition: 4 and so on", id="words-with-a-field"),
        pytest.param("audit-log-1", id="name"),
    ],
)
def test_what_may_be_data_is_refused_with_its_line(hostile):
    lines = TOPICS.splitlines()

    error = refusal(
        read_topics, "\n".join([*lines[:4], hostile, *lines[4:], ""]).encode()
    )

    assert any(problem.place == "line 5" for problem in error.problems), words(error)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("topics-list.txt", "a list of topics: take kafka-topics --describe"),
        ("consumer-groups-members.txt", "--describe --members, which group import"),
        ("consumer-groups-describe.txt", "--describe, which group import takes"),
        ("get-offsets.txt", "kafka-get-offsets, which is not read"),
        ("log-dirs-describe.txt", "--log-dirs"),
        ("reassign-list.txt", "kafka-reassign-partitions --list"),
        ("topics-to-move.json", "a list of topics to move"),
        ("election.json", "a list of partitions without replicas"),
    ],
)
def test_other_outputs_are_named(name, hint):
    assert hint in words(refusal(read_topics, (SAMPLES / name).read_bytes()))


EXPOSITION = b"""# HELP kafka_log_log_size Size
# TYPE kafka_log_log_size gauge
kafka_log_log_size{topic="a",partition="0",} 1.0E7
"""


@pytest.mark.parametrize("text", [EXPOSITION, EXPOSITION.split(b"\n", 2)[2]])
@pytest.mark.parametrize("read", [read_prometheus, read_rates, read_topics])
def test_the_exposition_format_is_named(read, text):
    said = words(refusal(read, text))

    assert "Prometheus exposition format: ask /api/v1/query" in said
    assert "--print-queries" in said


def test_the_form_of_kafka_0_8_0_is_named_with_its_age():
    text = b"topic: a\tpartition: 0\tleader: 1\treplicas: 1\tisr: 1\n"

    assert "Kafka 0.8.0, which is not read" in words(refusal(read_topics, text))


def test_configs_through_zookeeper_are_named_with_their_age():
    for text in (
        b"Configs for topic 'a' are retention.ms=1000,cleanup.policy=compact\n",
        b"Configs for topics:a are retention.ms=1000\n",
    ):
        assert "of Kafka 2 and older" in words(refusal(read_configs, text))


MORE = [
    pytest.param(read_endpoints, "cluster-list-endpoints.txt", "LOAD", id="endpoints"),
    pytest.param(read_quorum, "quorum-replication.txt", "Lease", id="quorum"),
    pytest.param(read_features, "features-describe.txt", "Owner", id="features"),
]


@pytest.mark.parametrize(("read", "name", "heading"), MORE)
def test_columns_of_other_vendors_are_passed_over(read, name, heading):
    text = (SAMPLES / name).read_text()
    lines = [line.rstrip() for line in text.splitlines()]
    if read is read_features:
        wider = [f"{line}  {heading}: x" for line in lines]
    else:
        wider = [f"{lines[0]}  {heading}", *(f"{line}  7" for line in lines[1:])]
    plain = read(text.encode(), file="f")

    source = read("\n".join([*wider, ""]).encode(), file="f")

    assert [(r.key, r.values) for r in records_of(source)] == [
        (r.key, r.values) for r in records_of(plain)
    ]
    assert source.header == plain.header
    assert source.notes == (
        f"f: skipped fields that Kafka does not print: {heading}",
        *plain.notes,
    )
    if read is not read_features:
        narrow = "\n".join([lines[0], *wider[1:], ""])
        assert "line 2" in words(refusal(read, narrow.encode()))


# Entries that are wrong.


def test_a_negative_sample_leaves_out_its_series_alone():
    data = vector(
        ({"planner": "in", "topic": "a", "partition": "0"}, 7.5),
        ({"planner": "in", "topic": "b", "partition": "0"}, -1),
        ({"planner": "in", "topic": "c", "partition": "0"}, 2.5),
    )

    error = refusal(read_prometheus, data)
    source = read_prometheus(data, file="f", allow_partial=True)

    assert "1 entry is wrong; --allow-partial leaves it out" in error.message
    assert [(one.topic, one.value) for one in source.series] == [("a", 7.5), ("c", 2.5)]
    assert len(source.notes) == 1
    assert "1 entry left out (data.result[1]: a sample must be" in source.notes[0]


def test_a_negative_rate_is_unknown_and_the_others_count():
    data = RATES + b"orders,2,-5,7,\norders,3,8,-1,-2\n"

    error = refusal(read_rates, data)
    source = read_rates(data, file="f", allow_partial=True)

    assert "3 entries are wrong; --allow-partial leaves them out" in error.message
    values = source.partitions.values
    assert values["in_bytes_per_s"] == [120000.0, 1.5e6, None, 8.0]
    assert values["out_bytes_per_s"] == [240000.5, None, 7.0, None]
    assert "3 entries left out (line 4, in_bytes_per_s:" in source.notes[0]


def test_several_topics_in_error_are_counted_and_named():
    document = json.loads(KCAT)
    document["topics"] += [
        {"topic": "b", "error": "Broker: Topic authorization failed", "partitions": []},
        {"topic": "c", "error": "hunter2"},
        {"topic": "d", "partitions": [{"partition": 0, "leader": "x"}]},
    ]
    data = json.dumps(document).encode()

    error = refusal(read_kcat, data)
    source = read_kcat(data, file="f", allow_partial=True)

    assert "hunter2" not in words(error)
    assert [one.key for one in source.topics] == ["orders"]
    assert (
        "topic b is listed without its partitions (Broker: Topic auth"
        in source.notes[0]
    )
    assert "topic c is listed without its partitions" in source.notes[0]


def test_a_file_whose_every_entry_is_wrong_is_refused():
    document = {**json.loads(KCAT), "topics": [{"topic": "a", "error": "x"}]}
    data = json.dumps(document).encode()

    with pytest.raises(ValueError, match="at least one topic with its partitions"):
        read_kcat(data, file="f", allow_partial=True)


# What a file says and the importer does not use.

DIRS = {
    "version": 1,
    "brokers": [{"broker": 1, "logDirs": [{"logDir": "/d", "partitions": []}]}],
}


@pytest.mark.parametrize(
    ("reader", "document", "unused"),
    [
        pytest.param(
            read_log_dirs,
            {
                **DIRS,
                "brokers": [
                    {
                        "broker": 1,
                        "rack": "a",
                        "logDirs": [{"logDir": "/d", "total": 9, "partitions": []}],
                    }
                ],
            },
            "brokers[].rack, brokers[].logDirs[].total",
            id="log-dirs",
        ),
        pytest.param(
            read_kcat,
            {**json.loads(KCAT), "clusterid": "x"},
            "clusterid",
            id="kcat",
        ),
        pytest.param(
            read_assignment,
            {"partitions": [{"topic": "a", "partition": 0, "replicas": [1], "w": 2}]},
            "partitions[].w",
            id="assignment",
        ),
        pytest.param(
            read_capacity,
            {
                "brokerCapacities": [
                    {**CAPACITY["brokerCapacities"][0], "iops": "7"},
                    *CAPACITY["brokerCapacities"][1:],
                ]
            },
            "brokerCapacities[].iops",
            id="capacity",
        ),
        pytest.param(
            read_prometheus,
            {
                **json.loads(vector(({"planner": "in", "topic": "a"}, 7.5))),
                "warnings": ["a store did not answer"],
            },
            "warnings",
            id="prometheus",
        ),
    ],
)
def test_what_json_says_and_is_not_used_is_named_once(reader, document, unused):
    source = reader(json.dumps(document).encode(), file="f")

    assert [n for n in source.notes if "not used" in n] == [f"f: not used: {unused}"]


@pytest.mark.parametrize("length", [-1, -2, -4, -12, -40])
def test_json_that_was_cut_is_refused_as_cut(length):
    text = json.dumps(DIRS)[:length]

    for end in ("", "\n", "\n\n"):
        (problem,) = refusal(read_log_dirs, f"{text}{end}".encode()).problems
        assert problem.rule == "the JSON ends too early"
        assert problem.remedy == "the output was cut: take it again"


@pytest.mark.parametrize("wrong", ["NaN", "{,", "True", "1,]"])
def test_json_that_is_wrong_is_not_taken_for_another_output(wrong):
    text = json.dumps({"brokers": [{"broker": 7, "logDirs": [], "partitions": [{}]}]})

    error = refusal(read_log_dirs, f"{text[:-1]}, {wrong}\n".encode())

    assert not any("looks like" in problem.remedy for problem in error.problems)


# Tables of features before Kafka 3.3.

OLD_FEATURES = (
    "Feature: feature_1\tSupportedMinVersion: 1\tSupportedMaxVersion: 3\t"
    "FinalizedMinVersionLevel: 1\tFinalizedMaxVersionLevel: 2\tEpoch: 0\n"
    "Feature: feature_2\tSupportedMinVersion: 1\tSupportedMaxVersion: 5\t"
    "FinalizedMinVersionLevel: -\tFinalizedMaxVersionLevel: -\tEpoch: 0\n"
)


def test_features_before_kafka_3_3_are_read_and_named_with_their_age():
    source = read_features(OLD_FEATURES.encode(), file="f")

    assert source.header == {"features": {"feature_1": 2}}
    (note,) = source.notes
    assert "Kafka 2.7 to 3.2" in note


def test_features_of_two_ages_are_refused_with_the_line_of_the_second():
    new = (SAMPLES / "features-describe.txt").read_text()

    (problem,) = refusal(read_features, f"{OLD_FEATURES}{new}".encode()).problems

    assert problem.place == "line 3"
    assert "before Kafka 3.3" in problem.rule


# Headings of reassignments, as tickets have them.

CURRENT = '{"partitions":[{"topic":"a","partition":0,"replicas":[1,2]}]}'
PROPOSED = CURRENT.replace("[1,2]", "[2,1]")


@pytest.mark.parametrize("mark", ["{}", "# {}", "## {}", "**{}**", "{}:", "  {}"])
def test_the_current_assignment_is_distinguished_from_the_proposed_by_its_heading(mark):
    current = mark.format("Current partition replica assignment")
    proposed = mark.format("Proposed partition reassignment configuration")
    text = f"{current}\n\n{CURRENT}\n\n{proposed}\n\n{PROPOSED}\n"

    source = read_assignment(text.encode(), file="f")

    assert source.partitions.values["replicas"] == [[1, 2]]


@pytest.mark.parametrize("mark", ["{}", "# {}", "**{}**"])
def test_a_proposal_alone_is_not_taken_for_what_is_there(mark):
    heading = mark.format("Proposed partition reassignment configuration")

    (problem,) = refusal(read_assignment, f"{heading}\n{PROPOSED}\n".encode()).problems

    assert problem.place == "line 1"
    assert "below 'Current partition replica assignment'" in problem.remedy


CONFLUENT = [
    "Topic: t\tPartitionCount: 3\tReplicationFactor: 2\tConfigs: min.insync.replicas=1",
    *(
        f"\tTopic: t\tPartition: {p}\t{rest}\tLiveObservers: "
        for p, rest in enumerate(
            (
                "Leader: 1\tReplicas: 1,2\tIsr: 1\tOffline: 2",
                "Leader: 2\tReplicas: 2,1\tIsr: 2,1\tOffline: ",
                "Leader: 1\tReplicas: 2,1\tIsr: 1\tOffline: 2",
            )
        )
    ),
    "",
]


@pytest.mark.parametrize("blanks", ["\t", "  "])
def test_offline_replicas_of_confluent_are_a_failed_log_dir(capsys, tmp_path, blanks):
    text = "\n".join(CONFLUENT).replace("\t", blanks)

    source = read_topics(text.encode(), file="f")

    values = source.partitions.values
    assert values["offline_replicas"] == [[2], [], [2]]
    assert values["isr"] == [[1], [2, 1], [1]]
    assert "Offline" not in " ".join(source.notes)
    (tmp_path / "t.txt").write_text(text)
    made = run(
        capsys, "snapshot", "import", "--topics", tmp_path / "t.txt",
        "-o", tmp_path / "s.json",
    )  # fmt: skip
    found = run(capsys, "status", tmp_path / "s.json", "--format", "json").document
    assert made.code == 0
    assert found["status"] == "wrong"
    (dirs,) = found["log_dirs"]["offline"]
    assert (dirs["broker"], dirs["in_this_or_another"]) == (2, 2)


@pytest.mark.parametrize("prefix", ["kafka-0 kafka ", "my-cluster-kafka-2 kafka ", "+"])
def test_prefixes_of_stern_and_of_an_added_file_are_removed(prefix):
    plain = read_topics(TOPICS.encode(), file="f")
    text = "".join(f"{prefix}{line}\n" for line in TOPICS.splitlines())

    source = read_topics(text.encode(), file="f")

    assert source.partitions.values == plain.partitions.values


def test_a_diff_is_named_with_its_remedy():
    *kept, last = TOPICS.splitlines()
    lines = ["@@ -1,3 +1,3 @@", *(f" {one}" for one in kept), f"-{last}", f"+{last}"]

    problem = words(refusal(read_topics, "\n".join([*lines, ""]).encode()))

    assert "this looks like a diff: give the file itself" in problem
