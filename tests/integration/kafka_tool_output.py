"""Output of Kafka's own tools, read as rows of a snapshot."""

import json
import re
from typing import Any


def _ids(text: str) -> list[int]:
    return [int(one) for one in text.split(",") if one.strip()]


def printed_topics(text: str) -> dict[tuple[str, int], dict[str, Any]]:
    """Read the partitions that `kafka-topics --describe` prints."""
    found = {}
    for line in text.splitlines():
        if not line.startswith("\tTopic: "):
            continue
        cells = [cell.partition(":") for cell in line.strip().split("\t")]
        printed = {name: value.strip() for name, _, value in cells}
        found[printed["Topic"], int(printed["Partition"])] = {
            "replicas": _ids(printed["Replicas"]),
            "leader": None if printed["Leader"] == "none" else int(printed["Leader"]),
            "isr": _ids(printed["Isr"]),
            "elr": _ids(printed["Elr"]),
            "last_known_elr": _ids(printed["LastKnownElr"]),
            "adding_replicas": _ids(printed.get("Adding Replicas", "")),
            "removing_replicas": _ids(printed.get("Removing Replicas", "")),
        }
    return found


def printed_topic_ids(text: str) -> dict[str, str]:
    """Read the topic ids that `kafka-topics --describe` prints."""
    return dict(re.findall(r"^Topic: (\S+)\tTopicId: (\S+)", text, re.MULTILINE))


def printed_replicas(text: str) -> dict[tuple[int, str, int], tuple[str, int]]:
    """Read the log dir and size of each replica that `kafka-log-dirs` prints."""
    return {
        (broker["broker"], *_partition(one["partition"])): (
            log_dir["logDir"],
            one["size"],
        )
        for broker in json.loads(text.splitlines()[-1])["brokers"]
        for log_dir in broker["logDirs"]
        for one in log_dir["partitions"]
        if not one["isFuture"]
    }


def _partition(name: str) -> tuple[str, int]:
    topic, _, number = name.rpartition("-")
    return topic, int(number)


def printed_brokers(text: str) -> dict[int, tuple[str, str]]:
    """Read the rack and state of each broker that `kafka-cluster` prints."""
    rows = [line.split() for line in text.splitlines()[1:] if line.strip()]
    return {int(row[0]): (row[3], row[4]) for row in rows}
