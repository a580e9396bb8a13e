"""
Cluster metadata as ``kcat -L`` prints it without ``-J``.

::

    Metadata for all topics (from broker 1: k1:9092/1):
     1 brokers:
      broker 1 at k1:9092 (controller)
     1 topics:
      topic "orders" with 1 partitions:
        partition 0, leader 1, replicas: 1, isrs: 1

A topic or partition may end with an error, such as ``Broker: Leader not available``.
The numbers of brokers, topics and partitions show whether lines are missing. Source:
`metadata_print` of kcat.
"""

import re
from typing import Any

from planner.pasted_text import Form, head_of
from planner.snapshot.importers.inputs.input_text import (
    Refusal,
    numbered_lines,
    read_text,
)

_IDS = r"(?:[0-9]{1,10}(?:,[0-9]{1,10})*)?"
_HEADING = re.compile(
    r"\s*Metadata for (?P<topic>all topics|[a-zA-Z0-9._-]{1,249}) \(from broker .*\):"
)
_COUNT = re.compile(r"\s*(?P<count>[0-9]{1,9}) (?P<of>brokers|topics):")
_BROKER = re.compile(
    r"\s*broker (?P<id>[0-9]{1,10}) at (?P<name>\S+:[0-9]{1,5})(?: \(controller\))?"
)
_TOPIC = re.compile(
    r'\s*topic "(?P<topic>[^"\s]{1,249})" with (?P<count>[0-9]{1,9}) partitions:'
    r"(?P<error> \S.*)?"
)
_PARTITION = re.compile(
    r"\s*partition (?P<partition>[0-9]{1,10}), leader (?P<leader>-1|[0-9]{1,10}), "
    rf"replicas: ?(?P<replicas>{_IDS}), isrs: ?(?P<isrs>{_IDS})(?P<error>, \S.*)?",
    re.ASCII,
)
FORM = Form(
    data=re.compile(
        r"\s*(?:Metadata for |[0-9]+ (?:brokers|topics):|broker [0-9]+ at |"
        r'topic "|partition [0-9]+, leader )'
    ),
    marks=re.compile(r"\bpartition [0-9]+, leader -?[0-9]+, replicas:"),
    hints=re.compile(r"\b(?:isrs|replicas): ?[0-9]|\bleader -?[0-9]+,"),
)
# A paste may have times, names or quotes before every line; JSON has neither of these.
_MARK = re.compile(
    r"\bMetadata for .{1,300} \(from broker"
    r'|\btopic "[^"\s]{1,249}" with [0-9]{1,9} partitions:'
)
_CUT = "the output was cut: write it to a file, and give all of it"


def is_kcat_text(data: bytes) -> bool:
    """Return whether a file has lines of ``kcat -L`` without ``-J``."""
    return _MARK.search(head_of(data)) is not None


def read_kcat_text(data: bytes, refusal: Refusal) -> dict[str, Any]:
    """
    Return the output of ``kcat -L`` as the document that ``kcat -L -J`` prints.

    Raises
    ------
    BadInputError
        If a line is not of this output, or lines are missing.
    """
    reader = _Reader(refusal)
    for number, line in numbered_lines(read_text(data, refusal, FORM), refusal):
        reader.read(number, line)
    reader.check()
    refusal.raise_problems()
    return reader.document


class _Reader:
    """Parser of the output, line by line."""

    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal
        self.document: dict[str, Any] = {"brokers": [], "topics": []}
        self.num_headings = 0
        self.counts: dict[str, tuple[int, int]] = {}
        self.partitions: list[tuple[int, int]] = []

    def read(self, number: int, line: str) -> None:
        for pattern, add in (
            (_PARTITION, self._add_partition),
            (_TOPIC, self._add_topic),
            (_BROKER, self._add_broker),
            (_COUNT, self._add_count),
            (_HEADING, self._add_heading),
        ):
            found = pattern.fullmatch(line)
            if found is not None:
                add(number, found)
                return
        rule = "the line is not part of the output of kcat -L"
        remedy = "the line was cut, wrapped or edited: take the output again"
        self.refusal.add(f"line {number}", rule, remedy)

    def _add_heading(self, number: int, found: re.Match[str]) -> None:
        self.num_headings += 1
        if self.num_headings > 1:
            rule = "the output must be of one cluster; another one begins here"
            self.refusal.add(f"line {number}", rule, "give one of the two outputs")
        if found["topic"] != "all topics":
            self.document["query"] = {"topic": found["topic"]}

    def _add_count(self, number: int, found: re.Match[str]) -> None:
        self.counts.setdefault(found["of"], (number, int(found["count"])))

    def _add_broker(self, _: int, found: re.Match[str]) -> None:
        broker = {"id": int(found["id"]), "name": found["name"]}
        self.document["brokers"].append(broker)

    def _add_topic(self, number: int, found: re.Match[str]) -> None:
        topic: dict[str, Any] = {"topic": found["topic"], "partitions": []}
        if found["error"]:
            topic["error"] = found["error"].strip()
        self.document["topics"].append(topic)
        self.partitions.append((number, int(found["count"])))

    def _add_partition(self, number: int, found: re.Match[str]) -> None:
        topics = self.document["topics"]
        if not topics:
            rule = "a partition must follow the line of its topic"
            self.refusal.add(f"line {number}", rule, _CUT)
            return
        partition: dict[str, Any] = {
            "partition": int(found["partition"]),
            "leader": int(found["leader"]),
            "replicas": _refs(found["replicas"]),
            "isrs": _refs(found["isrs"]),
        }
        topics[-1]["partitions"].append(partition)

    def check(self) -> None:
        """Check that as many brokers, topics and partitions follow as are announced."""
        for name in ("brokers", "topics"):
            if name not in self.counts:
                rule = f"the number of {name} must be there"
                self.refusal.add("", rule, _CUT)
                continue
            number, count = self.counts[name]
            self._check_count(number, name, count, len(self.document[name]))
        for topic, (number, count) in zip(
            self.document["topics"], self.partitions, strict=True
        ):
            name = f"partitions of {topic['topic']}"
            self._check_count(number, name, count, len(topic["partitions"]))

    def _check_count(self, number: int, name: str, count: int, found: int) -> None:
        if count != found:
            rule = f"{count} {name} must follow; there are {found}"
            self.refusal.add(f"line {number}", rule, _CUT)


def _refs(text: str) -> list[dict[str, int]]:
    return [{"id": int(one)} for one in text.split(",") if one]
