"""Outputs of tools for a few brokers and partitions, as sources of an import."""

import json

import pytest

from planner.errors import BadInputError
from planner.snapshot.importers import merge
from planner.snapshot.importers.hardware.broker_table import read_broker_table
from planner.snapshot.importers.kafka_tools.kafka_log_dirs import read_log_dirs
from planner.snapshot.importers.kafka_tools.kafka_topics import read_topics
from planner.snapshot.importers.kafka_tools.kcat import read_kcat
from planner.snapshot.importers.kafka_tools.reassignment_json import read_assignment


def topics_text(*rows: tuple[str, str, str], topic: str = "a") -> bytes:
    """Leader, replicas and ISR of each partition, as kafka-topics prints them."""
    factor = rows[0][1].count(",") + 1
    lines = [
        f"Topic: {topic}\tPartitionCount: {len(rows)}\t"
        f"ReplicationFactor: {factor}\tConfigs: "
    ]
    lines += [
        f"\tTopic: {topic}\tPartition: {number}\tLeader: {leader}"
        f"\tReplicas: {replicas}\tIsr: {isr}"
        for number, (leader, replicas, isr) in enumerate(rows)
    ]
    return ("\n".join(lines) + "\n").encode()


def topics(*rows, topic="a"):
    return read_topics(topics_text(*rows, topic=topic), file="topics.txt")


def table(*lines, name="brokers.csv"):
    return read_broker_table(("\n".join(lines) + "\n").encode(), file=name)


def kcat(ids, rows=()):
    document = {
        "brokers": [{"id": one, "name": f"k{one}:9092"} for one in ids],
        "topics": [
            {
                "topic": "a",
                "partitions": [
                    {
                        "partition": number,
                        "leader": leader,
                        "replicas": [{"id": one} for one in replicas],
                        "isrs": [{"id": one} for one in isr],
                    }
                    for number, (leader, replicas, isr) in enumerate(rows)
                ],
            }
        ]
        if rows
        else [],
    }
    return read_kcat(json.dumps(document).encode(), file="kcat.json")


def log_dirs(brokers):
    """Read {broker: {path: {topic-partition: bytes} or None if failed}}."""
    document = {
        "version": 1,
        "brokers": [
            {
                "broker": broker,
                "logDirs": [
                    {
                        "logDir": path,
                        "error": None if names is not None else "E",
                        "partitions": [
                            {
                                "partition": n,
                                "size": s,
                                "offsetLag": 0,
                                "isFuture": False,
                            }
                            for n, s in (names or {}).items()
                        ],
                    }
                    for path, names in dirs.items()
                ],
            }
            for broker, dirs in brokers.items()
        ],
    }
    return read_log_dirs(json.dumps(document).encode(), file="dirs.txt")


def assignment(*lists, **entry):
    document = {
        "partitions": [
            {"topic": "a", "partition": number, "replicas": replicas, **entry}
            for number, replicas in enumerate(lists)
        ]
    }
    return read_assignment(json.dumps(document).encode(), file="now.json")


def problems(*sources, **options):
    with pytest.raises(BadInputError) as caught:
        merge(sources, **options)
    return [str(problem) for problem in caught.value.problems]


def states(document):
    return {number: b.get("state") for number, b in document["brokers"].items()}


def twice(*lists):
    """Build an assignment that lists a-0 again and again."""
    entries = [{"topic": "a", "partition": 0, "replicas": ids} for ids in lists]
    text = json.dumps({"partitions": entries}).encode()
    return read_assignment(text, file="now.json")


MIN_ISR_0 = topics_text(("1", "1,2", "1,2")).replace(
    b"Configs: ", b"Configs: min.insync.replicas=0"
)


HEALTHY = topics(("1", "1,2", "1,2"), ("2", "2,1", "2,1"))
