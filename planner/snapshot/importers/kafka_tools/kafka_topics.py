"""
Text that ``kafka-topics --describe`` prints.

One line for each topic, then one for each of its partitions, with fields separated by
tabs, each a name, a colon and a value::

    Topic  TopicId  PartitionCount  ReplicationFactor  Configs
           Topic  Partition  Leader  Replicas  Isr  Elr  LastKnownElr

Releases before 3.0 print no TopicId, those before 2.2 no blank after a colon of the
first line, those before 3.9 no Elr. A screen may have turned tabs into blanks. The
format is that of `TopicCommand` in Kafka's `tools` (before 3.5 in `core`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from planner.process import no_garbage_collection
from planner.snapshot.importers.inputs.import_source import (
    PartitionColumns,
    Record,
    Source,
)
from planner.snapshot.importers.inputs.input_text import (
    Refusal,
    numbered_lines,
    read_text,
)
from planner.snapshot.importers.kafka_tools.kafka_topics_lines import (
    FORM,
    IS_PARTITION,
    LEN_TOPIC_ID,
    MARKED_FOR_DELETION,
    PARTITION,
    TOPIC,
    TOPIC_ID,
    split_configs,
    split_offline,
    without_unknown_fields,
)
from planner.snapshot.tables.snapshot_columns import MAX_INT32

KIND = "the output of kafka-topics --describe"
_NO_LEADER = {"none": -1, "-1": -1}
_NOT_AVAILABLE = "N/A"
_AGAIN = "take the output again"
_UNREAD = object()
_FILTERED = (
    "run kafka-topics --describe without a filter such as "
    "--under-replicated-partitions or --topics-with-overrides"
)

_COLUMNS = (
    "leader",
    "replicas",
    "isr",
    "adding_replicas",
    "removing_replicas",
    "elr",
    "last_known_elr",
    "offline_replicas",
)


@dataclass(frozen=True, slots=True)
class _Topic:
    line: int
    name: str
    topic_id: str | None
    num_partitions: int
    replication_factor: int
    configs: dict[str, str]
    is_marked: bool


@dataclass(slots=True)
class _Columns:
    """The partitions read so far, as columns."""

    topics: list[str] = field(default_factory=list)
    partitions: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    has_elr: list[bool] = field(default_factory=list)
    values: dict[str, list[Any]] = field(
        default_factory=lambda: {name: [] for name in _COLUMNS}
    )


def read_topics(data: bytes, *, file: str) -> Source:
    """
    Read the output of ``kafka-topics --describe``.

    Parameters
    ----------
    data
        The whole output of any release, gzipped or not, with tabs or blanks.
    file
        Name of the file in problems.

    Returns
    -------
    Source
        Topics with ids and configs; partitions with replicas, leader, ISR and, if the
        release prints them, adding and removing replicas, ELR and offline replicas.

    Raises
    ------
    BadInputError
        If a line is not of this output, a topic is incomplete, or the lines are of
        several releases. Every problem is named with its line.
    """
    with no_garbage_collection():
        return _read(data, file)


def _read(data: bytes, file: str) -> Source:
    refusal = Refusal(file, KIND, "topics")
    text = read_text(data, refusal, FORM)
    if not re.search(r"^[ \t]*Topic: ?\S", text, re.MULTILINE):
        remedy = refusal.other_output() or f"give {KIND}"
        refusal.stop("line 1", "the file must have lines 'Topic: …'", remedy)
    reader = _Reader(refusal)
    for number, line in numbered_lines(text, refusal):
        reader.read(number, line)
    reader.check()
    refusal.raise_problems()
    return reader.source(file)


class _Reader:
    """Parser of the output, line by line."""

    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal
        self.topics: dict[str, _Topic] = {}
        self.columns = _Columns()
        self.without_topic_line: dict[str, int] = {}
        self._width = 0
        self._short_isr_ends: dict[int, list[int]] = {}
        self._ids_of: dict[str | None, Any] = {None: None, _NOT_AVAILABLE: None}
        self._unknown_fields: set[str] = set()

    def read(self, number: int, line: str) -> None:
        if not self._is_read(number, line):
            known = without_unknown_fields(line, self._unknown_fields)
            if known == line or not self._is_read(number, known):
                self._refuse_line(number, line)

    def _is_read(self, number: int, line: str) -> bool:
        """Parse a line of Kafka's own fields; return whether it is one."""
        marked = MARKED_FOR_DELETION.search(line) if line.endswith("true") else None
        if marked is not None:
            line = line[: marked.start()].rstrip()
        plain, offline = split_offline(line)
        found = PARTITION.fullmatch(plain)
        if found is not None:
            self._add_partition(number, found, offline)
            return True
        topic = None if IS_PARTITION.match(line) else TOPIC.fullmatch(line)
        if topic is None or "\t" in topic["configs"]:
            return False
        self._add_topic(number, topic, is_marked=marked is not None)
        return True

    def _refuse_line(self, number: int, line: str) -> None:
        topic_id = TOPIC_ID.search(line)
        if topic_id is not None and len(topic_id[1]) != LEN_TOPIC_ID:
            found = len(topic_id[1])
            rule = f"a TopicId must have {LEN_TOPIC_ID} characters, and has {found}"
            remedy = "take the output again, or remove TopicId from the line"
            self.refusal.add(f"line {number}", rule, remedy)
            return
        is_ours = re.match(r"\s*Topic: ?\S", line) is not None
        rule = (
            "a line of kafka-topics --describe must be complete"
            if is_ours
            else "the line is not part of the output of kafka-topics --describe"
        )
        remedy = (
            "write the output to a file, without stderr: a screen cuts or wraps lines"
            if is_ours
            else self.refusal.other_output()
            or "remove the line if it is no output; otherwise take the output again"
        )
        self.refusal.add(f"line {number}", rule, remedy)

    def _add_topic(self, number: int, found: re.Match[str], *, is_marked: bool) -> None:
        name = found["topic"]
        if name in self.topics:
            where = self.topics[name].line
            rule = f"a topic must be described once; {name} is also on line {where}"
            self.refusal.add(f"line {number}", rule, "remove one of the two")
        self.topics[name] = _Topic(
            line=number,
            name=name,
            topic_id=found["topic_id"],
            num_partitions=int(found["count"]),
            replication_factor=int(found["factor"]),
            configs=self._configs(number, found["configs"]),
            is_marked=is_marked,
        )

    def _configs(self, number: int, text: str) -> dict[str, str]:
        configs, problem = split_configs(text)
        if problem:
            remedy = "the line was cut: take the output again"
            self.refusal.add(f"line {number}", problem, remedy)
        return configs

    def _add_partition(
        self, number: int, found: re.Match[str], offline: str | None
    ) -> None:
        lists: list[Any]
        topic, partition, leader, *lists = found.groups()
        columns = self.columns
        columns.topics.append(topic)
        columns.partitions.append(self._id(number, partition))
        columns.lines.append(number)
        columns.has_elr.append(lists[-1] is not None)
        if lists[-1] is None and offline is None:
            self._remember_end(number, found)
        values = columns.values
        values["leader"].append(_NO_LEADER.get(leader) or self._id(number, leader))
        known, texts = self._ids_of, [*lists, offline]
        for name, text in zip(_COLUMNS[1:], texts, strict=True):
            # Many partitions share few lists.
            ids = known.get(text, _UNREAD)
            values[name].append(self._read_ids(number, text) if ids is _UNREAD else ids)

    def _remember_end(self, number: int, found: re.Match[str]) -> None:
        """Record the width of a line that a truncated ISR could end."""
        width = len(found.string.expandtabs())
        self._width = max(self._width, width)
        if found[5].count(",") < found[4].count(","):
            self._short_isr_ends.setdefault(width, []).append(number)

    def _id(self, number: int, text: str) -> int:
        value = int(text)
        if value > MAX_INT32:
            rule = "ids and partition numbers must fit 32 bits"
            self.refusal.add(f"line {number}", rule, "take the output again", text)
            return 0
        return value

    def _read_ids(self, number: int, text: str) -> list[int]:
        ids = [self._id(number, one) for one in text.split(",") if one]
        self._ids_of[text] = ids
        return ids

    def check(self) -> None:
        """Check that topics are complete and all lines are of one release."""
        rows: dict[str, list[int]] = {}
        for row, topic in enumerate(self.columns.topics):
            rows.setdefault(topic, []).append(row)
        for described in self.topics.values():
            self._check_topic(described, rows.get(described.name, []))
        without_topic_line = {
            name: own for name, own in rows.items() if name not in self.topics
        }
        self._check_without_topic_line(without_topic_line)
        self._check_release()

    def _check_without_topic_line(self, rows_of: dict[str, list[int]]) -> None:
        """
        Check partitions without the line of their topic.

        A filter may have left them. All numbers from 0 on must therefore occur, and one
        partition that no filter of the tool would print, with all its replicas in sync.
        """
        columns = self.columns
        is_complete = True
        for name, rows in rows_of.items():
            numbers = sorted(columns.partitions[row] for row in rows)
            if numbers != list(range(len(numbers))):
                is_complete = False
                rule = (
                    f"topic {name} has partitions but no line of its own; they must be "
                    f"numbered from 0 without gaps, each once"
                )
                place = f"line {columns.lines[rows[0]]}"
                self.refusal.add(place, rule, _FILTERED)
        every = [row for rows in rows_of.values() for row in rows]
        if is_complete and every and not any(map(self._is_unfiltered, every)):
            rule = (
                "the topics have no lines of their own, and a filter may have chosen "
                "each of the partitions listed"
            )
            self.refusal.add(f"line {columns.lines[every[0]]}", rule, _FILTERED)
        self.without_topic_line = {
            name: columns.lines[rows[0]] for name, rows in rows_of.items()
        }

    def _is_unfiltered(self, row: int) -> bool:
        values = self.columns.values
        replicas, isr = values["replicas"][row], values["isr"][row]
        return len(replicas) > 1 and len(isr) == len(replicas)

    def _check_topic(self, topic: _Topic, rows: list[int]) -> None:
        numbers = sorted(self.columns.partitions[row] for row in rows)
        place = f"line {topic.line}"
        if len(rows) != topic.num_partitions or numbers != list(range(len(rows))):
            rule = (
                f"topic {topic.name} must be followed by its partitions 0 to "
                f"{topic.num_partitions - 1}, each once; there are {len(numbers)} lines"
            )
            remedy = "the output was cut: take it again" if numbers else _FILTERED
            self.refusal.add(place, rule, remedy)
            return
        first = min(rows, key=self.columns.partitions.__getitem__, default=None)
        if first is None:
            self.refusal.add(place, "a topic must have partitions", _AGAIN)
            return
        values = self.columns.values
        adding = values["adding_replicas"][first] or []
        factor = len(values["replicas"][first]) - len(adding)
        if factor != topic.replication_factor:
            rule = (
                f"topic {topic.name} has ReplicationFactor {topic.replication_factor}, "
                f"but its first partition has {factor} replicas"
            )
            self.refusal.add(place, rule, f"lines were cut or edited: {_AGAIN}")

    def _check_release(self) -> None:
        """Check that all lines have an Elr, or none."""
        has_elr = self.columns.has_elr
        if len(set(has_elr)) < 2:
            return
        row = has_elr.index(not has_elr[0])
        self.refusal.add(
            f"line {self.columns.lines[row]}",
            "all lines must be of one release of Kafka: some have Elr, some do not",
            f"lines were cut, or two outputs joined: {_AGAIN}",
        )

    def source(self, file: str) -> Source:
        columns, without_topic_line = self.columns, self.without_topic_line.items()
        return Source(
            file=file,
            kind="kafka-topics --describe",
            topics=(
                *(_record(topic) for topic in self.topics.values()),
                *(
                    Record(key=n, values={}, place=f"line {at}")
                    for n, at in without_topic_line
                ),
            ),
            partitions=PartitionColumns(
                topics=columns.topics,
                partitions=columns.partitions,
                values={
                    name: values
                    for name, values in columns.values.items()
                    if any(value is not None for value in values)
                },
                places=columns.lines,
            ),
            lists_complete_topics=not without_topic_line,
            notes=self._all_notes(file),
        )

    def _all_notes(self, file: str) -> tuple[str, ...]:
        self.refusal.skip_columns(" ".join(self._unknown_fields))
        return (*self.refusal.notes(), *self._notes(file))

    def _notes(self, file: str) -> Iterator[str]:
        if self.without_topic_line:
            name, line = next(iter(self.without_topic_line.items()))
            yield (
                f"{file}: {len(self.without_topic_line)} topics have no line of their "
                f"own (first {name}, line {line}): their configs are unknown, and "
                "partitions at their end may be missing"
            )
        marked = [topic.name for topic in self.topics.values() if topic.is_marked]
        if marked:
            yield f"marked for deletion, but still counted: {', '.join(marked[:5])}"
        width = self._width
        if len(self._short_isr_ends.get(width, ())) > 1:
            yield (
                f"{len(self._short_isr_ends[width])} lines end at column {width}, each "
                "with an ISR that lacks replicas: if a screen cut them, "
                "take the output again"
            )


def _record(topic: _Topic) -> Record:
    is_tiered = topic.configs.get("remote.storage.enable") == "true"
    values: dict[str, Any] = {
        "storage": "tiered" if is_tiered else "local",
        "configs": topic.configs,
    }
    if topic.topic_id is not None:
        values["topic_id"] = topic.topic_id
    return Record(key=topic.name, values=values, place=f"line {topic.line}")
