"""
Recognition of outputs of tools and of other files by their content.

Error messages state the likely kind of a file and the way to obtain the expected kind.
An importer excludes its own kind, so that no message proposes the file that was given.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from planner.pasted_text.other_tools import OTHER_TOOLS
from planner.pasted_text.wrapping import without_beginnings

_HEAD = 100_000
_MAX_NAMES = 500
_MOST_BEGINNINGS = 5


@dataclass(frozen=True, slots=True)
class Output:
    """
    Kind of text, such as the output of a tool.

    Parameters
    ----------
    name
        Name of the importer that reads the text; empty if none does.
    words
        Description and remedy, as the end of ``this looks like …``.
    """

    name: str
    words: str


def _known(name: str, pattern: str, words: str) -> tuple[re.Pattern[str], Output]:
    return re.compile(pattern, re.MULTILINE), Output(name, words)


_DESCRIBE = "take kafka-topics --describe"
_MARKED = (
    _known("", r"^@@ -[0-9]+(?:,[0-9]+)? \+[0-9]+(?:,[0-9]+)? @@",
           "a diff: give the file itself"),
    _known(
        "kcat",
        r"^[ \t>]*Metadata for .{1,300} \(from broker|^[ \t]*topic \"[^\"]+\" with "
        r"[0-9]+ partitions:",
        "kcat -L, which --kcat takes",
    ),
    # Texts without an importer that contain words of texts with an importer.
    _known(
        "",
        r"^# (?:HELP|TYPE) [a-zA-Z_:][\w:]* |"
        r"^[a-zA-Z_:][\w:]*\{[^}\n]*\} [-+0-9.eENaInf]+(?: [0-9]+)?[ \t\r]*$",
        "the Prometheus exposition format: ask /api/v1/query, or see --print-queries",
    ),
    _known(
        "",
        r"^Status of partition reassignment|^Reassignment of partition \S+ is ",
        "kafka-reassign-partitions --verify: take --generate, which prints the "
        "current assignment",
    ),
    _known(
        "",
        r"^Current partition reassignments:|^No partition reassignments found",
        f"kafka-reassign-partitions --list: {_DESCRIBE}",
    ),
    _known(
        "",
        r"^[ \t]*PARTITION\s+LEADER\s+EPOCH\s+REPLICAS",
        "rpk topic describe: take kcat -L -J for --kcat",
    ),
    _known(
        "",
        r"^\S+:[0-9]+ \(id: [0-9]+ rack: .*\) -> \(",
        "kafka-broker-api-versions: take kafka-cluster list-endpoints for brokers",
    ),
    _known(
        "",
        r"^[ \t]*Group\s+Topic\s+Pid\s+Offset\s+logSize",
        "the table of ConsumerOffsetChecker (Kafka 0.8), which group import takes",
    ),
    _known(
        "",
        r"^[ \t]*Configs for (?:topics?|brokers?|clients?|users?)[ :]\S+ are (?!:)",
        "kafka-configs --describe of Kafka 2 and older through ZooKeeper, which is not "
        "read: take it with --bootstrap-server",
    ),
    # Lower case: before Kafka 0.8.1.
    _known(
        "",
        r"^[ \t]*topic: \S+\s+partition: [0-9]+\s+leader:",
        f"kafka-list-topic of Kafka 0.8.0, which is not read: {_DESCRIBE}",
    ),
    _known("topics", r"^[ \t>]*Topic: ?\S+\s", "kafka-topics --describe, which "
           "--topics takes"),
    _known("log_dirs", r'"logDirs"\s*:', "kafka-log-dirs --describe, which --log-dirs "
           "takes"),
    _known("kcat", r'"originating_broker"\s*:|"isrs"\s*:', "kcat -L -J, which --kcat "
           "takes"),
    _known("cruise_control", r'"KafkaPartitionState"\s*:|"KafkaBrokerState"\s*:',
           "Cruise Control's, for --cruise-control"),
    _known("cruise_control", r'"(?:[lL]eaderNwInRate|msg_in|DiskCapacityMB)"\s*:',
           "Cruise Control's load, for --cruise-control"),
    _known("capacity", r'"brokerCapacities"\s*:', "a capacity file, which --capacity "
           "takes"),
    _known("broker_sets", r'"brokerSets"\s*:', "a broker set file, which "
           "--broker-sets takes"),
    _known("prometheus", r'"resultType"\s*:', "Prometheus' answer, which --prometheus "
           "takes"),
    _known("strimzi", r"kafka\.strimzi\.io/", "a Strimzi resource, which --strimzi "
           "takes"),
    _known("group", r'"format"\s*:\s*"kafka-planner/group', "a group of kafka-planner, "
           "which the group commands take"),
    _known("snapshot", r'"format"\s*:\s*"kafka-planner/', "a document of kafka-planner "
           "itself"),
    *(_known("", pattern, words) for pattern, words in OTHER_TOOLS),
    _known("list_endpoints", r"^[ \t]*(?:ID\s+HOST\s+PORT|Cluster ID: )",
           "kafka-cluster list-endpoints, for --list-endpoints"),
    _known("assignment", r'"partitions"\s*:\s*\[\s*\{[^{}]*"replicas"\s*:\s*\['
           r'\s*[0-9\]-]', "reassignment JSON, which --assignment takes"),
    _known("", r'\A(?![\s\S]*"replicas")[\s\S]*"partitions"\s*:\s*\[\s*\{\s*'
           r'"(?:topic|partition)"',
           f"a list of partitions without replicas: {_DESCRIBE}"),
    _known("", r'"topics"\s*:\s*\[\s*\{\s*"topic"\s*:\s*"[^"]*"\s*\}',
           f"a list of topics to move: {_DESCRIBE}"),
    _known("group", r"^[ \t]*(?:GROUP\s+)?CONSUMER-ID\s",
           "kafka-consumer-groups --describe --members, which group import takes"),
    _known("group", r"^[ \t]*(?:GROUP\s+)?(?:TOPIC\s+PARTITION|COORDINATOR)\s"
           r"|^[ \t]*GROUP,? +(?:TOPIC|STATE|TYPE)\b",
           "kafka-consumer-groups --describe, which group import takes"),
    _known("configs", r"^[ \t]*(?:(?:Dynamic|All|Default) c|C)onfigs? for "
           r"(?:topic|broker)", "kafka-configs --describe, which --configs takes"),
    _known("features", r"^[ \t]*Feature: \S+\s+SupportedMin",
           "kafka-features describe, for --features"),
    _known("quorum", r"^[ \t]*(?:ClusterId:\s|NodeId\s+(?:DirectoryId|LogEndOffset))",
           "kafka-metadata-quorum describe, which --quorum takes"),
    _known("", r"(?i)^[ \t]*<(?:!DOCTYPE html|html)\b", "a web page, perhaps of a "
           "log-in: take the answer itself"),
    _known("", r"^(?:sasl\.|ssl\.|security\.protocol|bootstrap\.servers)",
           "client properties"),
    _known("", r"^[ \t]*(?:\[?ERROR|Error[: ]|error:)|Exception\b",
           "an error that a tool printed"),
)  # fmt: skip
_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_OFFSET = re.compile(r"[a-zA-Z0-9._-]{1,249}:[0-9]{1,10}:-?[0-9]{0,19}")
_RATES = Output("rates", "a table of rates, which --rates takes")
_BROKERS = Output("brokers", "a table of brokers, which --brokers takes")
_HEADINGS = 30
"""Number of first lines that are searched for the heading of a table."""
_NAMES_OF_BROKERS = frozenset(("id", "broker", "broker_id"))
_NO_RATES = frozenset(("group", "lag", "offset"))
_CELL = re.compile(r"[\w .:-]{0,60}")
_LISTS = (
    (_OFFSET, Output("", f"kafka-get-offsets, which is not read: {_DESCRIBE}")),
    (_NAME, Output("", f"a list of topics: {_DESCRIBE}")),
)


def recognise(text: str, *, but: str | None = None) -> Output | None:
    r"""
    Return the kind of output that a text matches; `None` if it matches none.

    Parameters
    ----------
    text
        The unchanged text, with its noise.
    but
        Name of the importer that rejects the text: a match of its own kind returns
        `None`. `None` allows any kind.

    Examples
    --------
    >>> recognise("Topic: a\tPartition: 0").name
    'topics'
    >>> recognise("Topic: a\tPartition: 0", but="topics") is None
    True
    """
    head = text[:_HEAD]
    for _ in range(_MOST_BEGINNINGS):
        found = next(_candidates(head), None)
        rest = without_beginnings(head)
        if found is not None:
            return None if found.name == but else found
        if rest == head:
            return None
        head = rest
    return None


def _table(line: str) -> Output | None:
    """Return the kind of table whose heading a line is; `None` for other lines."""
    cells = [cell.strip().strip('"').lower() for cell in line.split(",")]
    names = set(cells)
    if len(cells) < 2 or not all(map(_CELL.fullmatch, cells)):
        return None
    if names >= {"topic", "partition"} and not names & _NO_RATES:
        return _RATES
    return _BROKERS if names & _NAMES_OF_BROKERS else None


def _candidates(head: str) -> Iterator[Output]:
    for pattern, output in _MARKED:
        if pattern.search(head):
            yield output
    table = next(filter(None, map(_table, head.split("\n")[:_HEADINGS])), None)
    if table is not None:
        yield table
    names = [line.strip() for line in head.split("\n")[:_MAX_NAMES] if line.strip()]
    for pattern, output in _LISTS:
        if names and all(pattern.fullmatch(name) for name in names):
            yield output
