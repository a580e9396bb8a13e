"""
Samples that Kafka's console consumers printed: a key, a tab and a value per line.

The consumers of a schema registry print keys as JSON: a key of Avro's string in quotes.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from planner.io.json_reader import JsonTextError, parse_json
from planner.keys.formats.line_samples import batches_of_lines, decoded
from planner.keys.sample_options import SampleOptions
from planner.keys.sample_rows import (
    NUMBER_COLUMNS,
    SampleProblems,
    SampleRows,
    number_rule,
)

_COUNTED = re.compile(rb"Processed a total of \d+ messages?")
# Fields that the console consumer prints before the key, if it is asked to.
_BEFORE_KEY = re.compile(
    r"(?:CreateTime|LogAppendTime|NoTimestampType|Offset|Delivery|Epoch):-?\d*"
    r"|NO_TIMESTAMP"
)
_PARTITION = re.compile(r"Partition:(\d+)")
_NO_HEADERS = "NO_HEADERS"
_NULL = "null"
_AVRO = "avro-string"
_QUOTED_NOTE = (
    "each key is JSON: of kafka-avro-console-consumer, give --key-type avro-string or "
    "avro-long, and --schema-id; of the JSON Schema serializer give --schema-id"
)


@dataclass(frozen=True, slots=True)
class _Line:
    """A printed record: its line, its partition, and its fields from the headers on."""

    number: int
    partition: int | None
    fields: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Printed:
    """A printed record: its line, key, bytes and partition."""

    number: int
    key: str | None
    size: int
    partition: int | None


def read_console(
    path: Path, options: SampleOptions, problems: SampleProblems
) -> Iterator[SampleRows]:
    """Yield the keys that Kafka's console consumer printed, tab before each value."""
    for first, lines in batches_of_lines(path):
        printed = list(_records(first, lines, problems))
        problems.raise_all()
        keys = [each.key for each in printed]
        if options.key_type == _AVRO:
            keys = [_avro_text(each, problems) for each in printed]
        elif first == 1 and options.key_type is None:
            problems.notes += _json_notes(keys)
        problems.raise_all()
        partitions = [each.partition for each in printed]
        yield SampleRows(
            keys=pa.array(keys, pa.large_string()),
            sizes=pa.array([each.size for each in printed], pa.int64()),
            partitions=None if None in partitions else pa.array(partitions, pa.int32()),
            first=first,
            numbers=[each.number for each in printed],
        )


def _records(
    first: int, lines: Sequence[bytes], problems: SampleProblems
) -> Iterator[_Printed]:
    """Yield the records; lines that are none become problems."""
    found = [
        line
        for number, raw in enumerate(lines, first)
        if not _COUNTED.fullmatch(raw)
        and (line := _fields(raw, number, problems)) is not None
    ]
    # If one record has no headers, those of the others are printed before their keys.
    has_headers = any(line.fields[:1] == [_NO_HEADERS] for line in found)
    for line in found:
        record = _record(line, int(has_headers), problems)
        if record is not None:
            yield record


def _fields(raw: bytes, number: int, problems: SampleProblems) -> _Line | None:
    text = decoded(raw, number, problems)
    if text is None:
        return None
    partition, rest = None, text.split("\t")
    while rest and (_BEFORE_KEY.fullmatch(rest[0]) or _PARTITION.fullmatch(rest[0])):
        named = _PARTITION.fullmatch(rest.pop(0))
        partition = int(named[1]) if named else partition
    if partition is not None and partition > NUMBER_COLUMNS["partition"][1]:
        problems.add(f"line {number}", partition, number_rule("partition"))
        return None
    return _Line(number, partition, rest)


def _record(line: _Line, skipped: int, problems: SampleProblems) -> _Printed | None:
    key, *value = line.fields[skipped:] or [""]
    if not value:
        problems.add(
            f"line {line.number}",
            "\t".join(line.fields),
            "must have a key, a tab and a value",
            "print records with --property print.key=true, and leave key.separator, "
            "a tab",
        )
        return None
    size = len(key.encode()) + len("\t".join(value).encode())
    return _Printed(line.number, None if key == _NULL else key, size, line.partition)


def _avro_text(record: _Printed, problems: SampleProblems) -> str | None:
    """Return the text of a key of Avro's string, which is printed as JSON."""
    if record.key is None:
        return None
    try:
        text = parse_json(record.key)
    except JsonTextError:
        text = None
    if isinstance(text, str):
        return text
    problems.add(
        f"line {record.number}",
        record.key,
        "must be text in quotes, as kafka-avro-console-consumer prints it",
        "sample the topic itself: --bootstrap-server H:P --topic NAME",
    )
    return None


def _json_notes(keys: Sequence[str | None]) -> Iterator[str]:
    """Yield a note if all keys are texts in quotes, or objects of JSON."""
    present = [key for key in keys if key is not None]
    ends = {key[:1] + key[-1:] for key in present if len(key) > 1}
    if len(ends) == 1 and ends <= {'""', "{}"} and all(len(k) > 1 for k in present):
        yield _QUOTED_NOTE
