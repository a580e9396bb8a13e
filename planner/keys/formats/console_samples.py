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

    @property
    def is_bare(self) -> bool:
        """Whether the record is said to have no headers."""
        return self.fields[:1] == [_NO_HEADERS]


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
    headers = _Headers.of(path)
    for first, lines in batches_of_lines(path):
        found = list(_lines(first, lines, problems))
        headers.check(found, problems)
        printed = list(_records(found, headers, problems))
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


@dataclass(slots=True)
class _Headers:
    """
    Whether headers are printed before the keys; the same for all records of a file.

    If one record has no headers, those of the others are printed before their keys.
    """

    are_printed: bool | None

    @classmethod
    def of(cls, path: Path) -> "_Headers":
        """Look through a whole file; a pipe can be read only once."""
        if not path.is_file():
            return cls(None)
        batches = (lines for _, lines in batches_of_lines(path))
        return cls(any(_lacks_headers(line) for lines in batches for line in lines))

    def check(self, lines: Sequence[_Line], problems: SampleProblems) -> None:
        """Decide by the first lines of a pipe; later ones must not differ."""
        bare = next((each for each in lines if each.is_bare), None)
        if self.are_printed is None:
            self.are_printed = bare is not None
        elif bare is not None and not self.are_printed:
            rule = "has no headers, so that those of lines before it were read as keys"
            remedy = "save the sample as a file, or print it without headers"
            problems.add(f"line {bare.number}", _NO_HEADERS, rule, remedy)
            problems.raise_all()


def _lacks_headers(raw: bytes) -> bool:
    if _NO_HEADERS.encode() not in raw:
        return False
    _, rest = _split(raw.decode(errors="replace"))
    return rest[:1] == [_NO_HEADERS]


def _lines(
    first: int, lines: Sequence[bytes], problems: SampleProblems
) -> Iterator[_Line]:
    """Yield the lines of records; lines that are none become problems."""
    for number, raw in enumerate(lines, first):
        if not _COUNTED.fullmatch(raw):
            line = _fields(raw, number, problems)
            if line is not None:
                yield line


def _records(
    lines: Sequence[_Line], headers: _Headers, problems: SampleProblems
) -> Iterator[_Printed]:
    """Yield the records; lines without a value become problems."""
    for line in lines:
        record = _record(line, int(bool(headers.are_printed)), problems)
        if record is not None:
            yield record


def _split(text: str) -> tuple[int | None, list[str]]:
    """Return the partition of a printed record, and its fields from headers on."""
    partition, rest = None, text.split("\t")
    while rest and (_BEFORE_KEY.fullmatch(rest[0]) or _PARTITION.fullmatch(rest[0])):
        named = _PARTITION.fullmatch(rest.pop(0))
        partition = int(named[1]) if named else partition
    return partition, rest


def _fields(raw: bytes, number: int, problems: SampleProblems) -> _Line | None:
    text = decoded(raw, number, problems)
    if text is None:
        return None
    partition, rest = _split(text)
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
