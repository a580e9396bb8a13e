"""Shapes of the lines that ``kafka-topics --describe`` prints."""

import re

from planner.pasted_text import Form

LEN_TOPIC_ID = 22
"""Characters of a topic's UUID in Base64, as Kafka prints it."""
_IDS = r"(?:[0-9]{1,10}(?:,[0-9]{1,10})*)?"
TOPIC = re.compile(
    r"\s*Topic: ?(?P<topic>\S+)"
    rf"(?:\s+TopicId: ?(?P<topic_id>[A-Za-z0-9_-]{{{LEN_TOPIC_ID}}}))?"
    r"\s+PartitionCount: ?(?P<count>[0-9]{1,10})"
    r"\s+ReplicationFactor: ?(?P<factor>[0-9]{1,10})"
    r"\s+Configs: ?(?P<configs>.*)",
    re.ASCII,
)
TOPIC_ID = re.compile(r"^\s*Topic: ?\S+\s+TopicId: ?([A-Za-z0-9_-]+)(?=\s)")
PARTITION = re.compile(
    r"\s*Topic: ?(\S+)"
    r"\s+Partition: ?([0-9]{1,10})"
    r"\s+Leader: ?(none|-1|[0-9]{1,10})"
    rf"\s+Replicas: ?({_IDS})"
    rf"\s+Isr: ?({_IDS})"
    rf"(?:\s+Adding Replicas: ?({_IDS})\s+Removing Replicas: ?({_IDS}))?"
    rf"(?:\s+Elr: ?({_IDS}|N/A)\s+LastKnownElr: ?({_IDS}|N/A))?",
    re.ASCII,
)
FORM = Form(
    data=re.compile(r"\s*Topic: ?\S"),
    marks=re.compile(r"\bTopic: ?\S+\s+(?:Partition|PartitionCount|TopicId): ?\S"),
    hints=re.compile(
        r"\b(?:Topic|TopicId|Partition|PartitionCount|ReplicationFactor|Configs"
        r"|Leader|Replicas|Isr|Elr|LastKnownElr|Offline|MarkedForDeletion): ?"
    ),
)
_FIELD = re.compile(
    r"\s+(?P<name>(?:Adding |Removing )?[A-Z][A-Za-z]{1,40}(?: [A-Z][a-z]{1,40})?):"
    r" ?(?P<value>[^\s:=]*)(?=\s|$)"
)
_FIELDS = frozenset(
    (
        *("Topic", "TopicId", "PartitionCount", "ReplicationFactor", "Configs"),
        *("Partition", "Leader", "Replicas", "Isr", "Elr", "LastKnownElr"),
        *("Adding Replicas", "Removing Replicas", "Offline", "MarkedForDeletion"),
    )
)
_OFFLINE = re.compile(rf"\s+Offline: ?({_IDS})(?=\s|$)", re.ASCII)
MARKED_FOR_DELETION = re.compile(r"[ \t]MarkedForDeletion: ?true$")
IS_PARTITION = re.compile(r"\s*Topic: ?\S+\s+Partition:")
_KEY = re.compile(r"(?:^|,)([A-Za-z][A-Za-z0-9_.-]*)=")
# A number, and the beginning of another key that lost its value.
_CUT_KEY = re.compile(r"-?[0-9]+,[A-Za-z]")


def split_offline(line: str) -> tuple[str, str | None]:
    """
    Return a line without Confluent's field of offline replicas, and their ids.

    Examples
    --------
    >>> split_offline("Topic: a Partition: 0 Isr: 1,2 Offline: 3 Observers: 3")
    ('Topic: a Partition: 0 Isr: 1,2 Observers: 3', '3')
    >>> split_offline("Topic: a Partition: 0 Isr: 1,2")
    ('Topic: a Partition: 0 Isr: 1,2', None)
    """
    found = _OFFLINE.search(line) if "Offline:" in line else None
    if found is None or not IS_PARTITION.match(line):
        return line, None
    return line[: found.start()] + line[found.end() :], found[1]


def without_unknown_fields(line: str, unknown: set[str]) -> str:
    """
    Return a line without the fields that only other vendors print.

    Parameters
    ----------
    line
        The line.
    unknown
        Gets the names of the fields that are left out.

    Examples
    --------
    >>> without_unknown_fields("Topic: a Isr: 1,2 Observers: 3", set())
    'Topic: a Isr: 1,2'
    """
    at = line.find("Configs:")
    configs = line.find("\t", at) if at >= 0 else -1
    # Values of configs may hold anything but tabs.
    before_configs = len(line) if at < 0 else at
    kept, stop = [], 0
    for found in _FIELD.finditer(line):
        is_field = found.start() < before_configs or 0 <= configs <= found.start()
        if is_field and found["name"] not in _FIELDS:
            unknown.add(found["name"])
            kept.append(line[stop : found.start()])
            stop = found.end()
    return "".join([*kept, line[stop:]])


def split_configs(text: str) -> tuple[dict[str, str], str]:
    """
    Split ``k=v,l=w``; a value may hold commas, and ends at the next key.

    Returns
    -------
    The configs, and the rule that they violate; empty if they violate none.
    """
    if not text:
        return {}, ""
    keys = list(_KEY.finditer(text))
    if not keys or keys[0].start() != 0:
        return {}, "Configs must be key=value, separated by commas"
    ends = [key.start() for key in keys[1:]] + [len(text)]
    configs = {
        key[1]: text[key.end() : end] for key, end in zip(keys, ends, strict=True)
    }
    for key, value in configs.items():
        if _CUT_KEY.match(value) or not _is_policy(key, value):
            return configs, f"Configs must be key=value; the value of {key} is cut"
    return configs, ""


def _is_policy(key: str, value: str) -> bool:
    """Return whether a value is possible for a key; only one key has few values."""
    policies = {"", "compact", "delete"}
    return key != "cleanup.policy" or set(value.split(",")) <= policies
