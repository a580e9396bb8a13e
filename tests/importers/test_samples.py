"""Real output of Kafka's own tools, read into what the tools said."""

import json

import pytest

from integration.kafka_tool_output import (
    printed_brokers,
    printed_replicas,
    printed_topic_ids,
    printed_topics,
)
from planner.errors import BadInputError
from planner.snapshot.importers import merge
from planner.snapshot.importers.kafka_tools.kafka_cluster import read_endpoints
from planner.snapshot.importers.kafka_tools.kafka_configs import read_configs
from planner.snapshot.importers.kafka_tools.kafka_log_dirs import read_log_dirs
from planner.snapshot.importers.kafka_tools.kafka_topics import read_topics
from planner.snapshot.importers.kafka_tools.reassignment_json import read_assignment
from support.samples import COVERED, SAMPLES, imported, partitions, refusal, sample

TOPICS = COVERED[read_topics]
ALL = sorted(path.name for path in SAMPLES.iterdir())
NOT_COVERED = [
    pytest.param(reader, name, id=f"{reader.__name__}-{name}")
    for reader, names in COVERED.items()
    for name in ALL
    if name not in names
]


def short(path):
    return path and "/".join(path.split("/")[-2:])


@pytest.mark.parametrize("name", TOPICS)
def test_partitions_are_as_kafka_topics_prints(name):
    text = (SAMPLES / name).read_text()

    document = imported(sample(read_topics, name))

    keys = ("replicas", "leader", "isr", "elr", "last_known_elr")
    keys += ("adding_replicas", "removing_replicas")
    found = {
        name: {key: one.get(key, []) for key in keys}
        for name, one in partitions(document).items()
    }
    assert found == printed_topics(text)
    ids = {name: topic["topic_id"] for name, topic in document["topics"].items()}
    assert ids == printed_topic_ids(text)


def test_configs_keep_commas_in_their_values():
    document = imported(sample(read_topics, "topics-describe-reassigning.txt"))

    assert document["topics"]["orders"]["configs"] == {
        "min.insync.replicas": "2",
        "cleanup.policy": "compact,delete",
        "retention.ms": "604800000",
    }
    assert document["topics"]["big"]["configs"] == {
        "leader.replication.throttled.replicas": "0:1,0:2,1:1,1:2",
        "min.insync.replicas": "1",
        "follower.replication.throttled.replicas": "0:4,0:5,1:5,1:6",
    }


@pytest.mark.parametrize(
    ("topics", "log_dirs"),
    [
        ("topics-describe.txt", "log-dirs-describe.txt"),
        ("topics-describe-offline-dir.txt", "log-dirs-describe-offline.txt"),
    ],
)
def test_replicas_are_where_kafka_log_dirs_prints(topics, log_dirs):
    printed = printed_replicas((SAMPLES / log_dirs).read_text())

    document = imported(sample(read_topics, topics), sample(read_log_dirs, log_dirs))

    found = {}
    for (topic, number), one in partitions(document).items():
        sizes = one.get("replica_bytes", [one["size_bytes"]] * len(one["replicas"]))
        for broker, path, size in zip(
            one["replicas"], one["log_dirs"], sizes, strict=True
        ):
            if path is not None:
                found[broker, topic, number] = (path, size)
    assert found == printed


def test_a_failed_log_dir_is_offline():
    document = imported(
        sample(read_topics, "topics-describe-offline-dir.txt"),
        sample(read_log_dirs, "log-dirs-describe-offline.txt"),
    )

    states = {
        (broker["id"], short(log_dir["path"])): log_dir["state"]
        for broker in document["brokers"].values()
        for log_dir in broker["log_dirs"]
    }
    assert [key for key, state in states.items() if state == "offline"] == [
        (6, "b6/d2")
    ]
    assert len(states) == 12


def test_copies_between_log_dirs_are_future_log_dirs():
    document = imported(
        sample(read_topics, "topics-describe-after.txt"),
        sample(read_log_dirs, "log-dirs-describe-future.txt"),
    )

    first, second = (partitions(document)["big", number] for number in (0, 1))
    assert first["replicas"] == [4, 5]
    assert list(map(short, first["log_dirs"])) == ["b4/d1", "b5/d1"]
    assert list(map(short, first["future_log_dirs"])) == ["b4/d2", None]
    assert first["size_bytes"] == 29039363
    assert list(map(short, second["future_log_dirs"])) == ["b5/d1", None]


def test_a_replica_that_is_being_added_has_its_own_size():
    document = imported(
        sample(read_topics, "topics-describe-reassigning.txt"),
        sample(read_log_dirs, "log-dirs-describe-reassigning.txt"),
        allow_partial=True,
    )

    one = partitions(document)["big", 0]
    assert one["replicas"] == [4, 5, 1, 2]
    assert one["size_bytes"] == 29039363
    assert one["replica_bytes"] == [12445440, 7259840, 29039363, 29039363]


@pytest.mark.parametrize(
    "name", ["cluster-list-endpoints.txt", "cluster-list-endpoints-fenced.txt"]
)
def test_brokers_are_as_kafka_cluster_prints(name):
    topics = (
        "topics-describe-broker-down.txt" if "fenced" in name else "topics-describe.txt"
    )

    document = imported(sample(read_topics, topics), sample(read_endpoints, name))

    words = {"alive": "unfenced", "fenced": "fenced"}
    found = {
        number: (broker["rack"], words[broker["state"]])
        for number, broker in document["brokers"].items()
    }
    assert found == printed_brokers((SAMPLES / name).read_text())


def test_the_id_of_the_cluster():
    document = imported(
        sample(read_topics, "topics-describe.txt"),
        sample(read_endpoints, "cluster-id.txt"),
    )

    assert document["cluster_id"] == "XIznig2aTPOlWb34bTegMA"


def test_the_current_assignment_is_taken_and_not_the_proposal():
    lines = (SAMPLES / "reassign-generate.txt").read_text().splitlines()
    current = json.loads(lines[lines.index("Current partition replica assignment") + 1])

    document = imported(sample(read_assignment, "reassign-generate.txt"))

    found = {
        (topic, number, *one["replicas"], *one["log_dirs"])
        for (topic, number), one in partitions(document).items()
    }
    assert found == {
        (one["topic"], one["partition"], *one["replicas"], *one["log_dirs"])
        for one in current["partitions"]
    }


def test_a_current_assignment_agrees_with_the_other_tools():
    sources = (
        sample(read_assignment, "reassign-generate.txt"),
        sample(read_topics, "topics-describe.txt"),
        sample(read_log_dirs, "log-dirs-describe.txt"),
        sample(read_endpoints, "cluster-list-endpoints.txt"),
    )

    assert merge(sources).snapshot.equals(merge(sources[1:]).snapshot)
    assert merge(sources[::-1]).snapshot.equals(merge(sources).snapshot)


@pytest.mark.parametrize(("reader", "name"), NOT_COVERED)
def test_output_of_another_command_is_refused(reader, name):
    error = refusal(reader, (SAMPLES / name).read_bytes())

    assert error.problems
    assert all(problem.rule and problem.remedy for problem in error.problems)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("topics-under-replicated.txt", "without a filter"),
        ("topics-overrides.txt", "without a filter"),
        ("topics-unavailable.txt", "without a filter"),
        ("topics-under-replicated-reassigning.txt", "empty"),
        ("log-dirs-describe.txt", "--log-dirs"),
        ("cluster-list-endpoints.txt", "--list-endpoints"),
        ("reassign.json", "--assignment"),
        ("consumer-groups-describe.txt", "kafka-consumer-groups"),
        ("configs-topics.txt", "kafka-configs"),
        ("log-dirs-unknown-broker.stderr.txt", "an error message of a tool"),
    ],
)
def test_the_remedy_says_what_was_given_instead(name, hint):
    error = refusal(read_topics, (SAMPLES / name).read_bytes())

    assert hint in str(error.problems[0])


def test_moments_that_differ_contradict_each_other():
    with pytest.raises(BadInputError) as caught:
        merge(
            [
                sample(read_topics, "topics-describe.txt"),
                sample(read_topics, "topics-describe-reassigning.txt"),
            ]
        )

    places = [str(problem) for problem in caught.value.problems]
    assert any(
        "topics-describe-reassigning.txt: line 2, replicas of big-0" in place
        and "topics-describe.txt: line 2, which has 1, 2" in place
        for place in places
    )


@pytest.mark.parametrize("name", COVERED[read_log_dirs])
def test_every_log_dir_and_replica_is_as_kafka_log_dirs_prints(name):
    (printed,) = [
        json.loads(line)
        for line in (SAMPLES / name).read_text().splitlines()
        if line.startswith("{")
    ]

    source = sample(read_log_dirs, name)

    found = source.replicas
    assert set(
        zip(
            *(found.brokers, found.paths, found.names),
            *(found.size_bytes, found.is_future),
            strict=True,
        )
    ) == {
        (b["broker"], d["logDir"], p["partition"], p["size"], p["isFuture"])
        for b in printed["brokers"]
        for d in b["logDirs"]
        for p in d["partitions"]
    }
    assert {record.key: record.values["state"] for record in source.log_dirs} == {
        (b["broker"], d["logDir"]): "offline" if d["error"] else "online"
        for b in printed["brokers"]
        for d in b["logDirs"]
    }


@pytest.mark.parametrize("name", COVERED[read_assignment])
def test_every_assignment_is_what_kafka_printed(name):
    text = (SAMPLES / name).read_text()
    # Of what the tool prints the first line of JSON is what holds now.
    printed = json.loads(next(line for line in text.splitlines() if line[:1] == "{"))

    columns = sample(read_assignment, name).partitions

    keys = list(zip(columns.topics, columns.partitions, strict=True))
    assert dict(zip(keys, columns.values["replicas"], strict=True)) == {
        (one["topic"], one["partition"]): one["replicas"]
        for one in printed["partitions"]
    }
    dirs = columns.values.get("log_dirs") or [None] * len(keys)
    assert {
        key: ["any" if one is None else one for one in paths or ["any"] * len(ids)]
        for key, paths, ids in zip(keys, dirs, columns.values["replicas"], strict=True)
    } == {
        (one["topic"], one["partition"]): one.get(
            "log_dirs", ["any"] * len(one["replicas"])
        )
        for one in printed["partitions"]
    }


@pytest.mark.parametrize("name", COVERED[read_configs])
def test_every_setting_is_as_kafka_configs_prints(name):
    printed: dict[str, dict[str, str]] = {}
    for line in (SAMPLES / name).read_text().splitlines():
        if not line.startswith("  "):
            entity = printed.setdefault(line.removesuffix(" are:").split()[-1], {})
        else:
            key, _, value = line.split(" sensitive=")[0].strip().partition("=")
            entity[key] = value

    source = sample(read_configs, name)

    found = {str(one.key): one.values["configs"] for one in source.topics}
    found |= {str(one.key): one.values["configs"] for one in source.brokers}
    if "brokers" in name:
        found["cluster"] = source.header["configs"]
        printed = {key: configs for key, configs in printed.items() if configs}
    assert found == printed
    assert source.lists_topics == ("topics" in name)
