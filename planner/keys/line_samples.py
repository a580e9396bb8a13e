"""Samples of a line per record: text, JSON lines, and Kafka's console consumer."""

import gzip
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from planner.errors import BadInputError
from planner.io.json_reader import JsonTextError, parse_json
from planner.io.problems import problem
from planner.keys.sample_options import SampleOptions
from planner.keys.sample_rows import (
    NUMBER_COLUMNS,
    SampleProblems,
    SampleRows,
    check_topics,
    no_column,
    number_rule,
)

LINES_PER_BATCH = 1_000_000
# Fields that the console consumer prints before the key, if it is asked to.
_BEFORE_KEY = re.compile(
    r"(?:CreateTime|LogAppendTime|NoTimestampType|Offset|Delivery|Epoch):-?\d*"
    r"|NO_HEADERS|NO_TIMESTAMP"
)
_PARTITION = re.compile(r"Partition:(\d+)")
_CONSOLE_NULL = "null"
_KINDS = {str: "text", int: "a number", bool: "true or false", float: "a fraction"}


def open_lines(path: Path) -> BinaryIO | gzip.GzipFile:
    """Open a file of lines, gzipped or not."""
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")


def batches_of_lines(path: Path) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the number of the first line, and lines without their ends."""
    first = 1
    with open_lines(path) as file:
        while lines := file.readlines(LINES_PER_BATCH * 16):
            yield first, [line.rstrip(b"\n").removesuffix(b"\r") for line in lines]
            first += len(lines)


def read_text(
    path: Path, options: SampleOptions, problems: SampleProblems
) -> Iterator[SampleRows]:
    """Yield a key per line; an empty line is an empty key."""
    for first, lines in batches_of_lines(path):
        raw = pa.array(lines, pa.large_binary())
        if options.key_type == "bytes":
            yield SampleRows(keys=raw, first=first)
            continue
        yield SampleRows(keys=_texts(raw, first, problems), first=first)


def _texts(raw: pa.Array, first: int, problems: SampleProblems) -> pa.Array:
    try:
        return raw.cast(pa.large_string())
    except pa.ArrowInvalid:
        texts = [
            _decoded(line.as_py(), first + row, problems) for row, line in _rows(raw)
        ]
        return pa.array(texts, pa.large_string())


def _rows(column: pa.Array) -> Iterator[tuple[int, Any]]:
    return enumerate(column)


def _decoded(line: bytes, number: int, problems: SampleProblems) -> str | None:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        problems.add(
            f"line {number}",
            line[:20].hex(),
            f"is not UTF-8 at byte {error.start}",
            "give --key-type bytes, or keys as base64 with --key-type base64",
        )
        return None


def read_console(
    path: Path, options: SampleOptions, problems: SampleProblems
) -> Iterator[SampleRows]:
    """Yield the keys that Kafka's console consumer printed, tab before each value."""
    del options
    for first, lines in batches_of_lines(path):
        parsed = [
            _console_fields(line, first + row, problems)
            for row, line in enumerate(lines)
        ]
        found = [each for each in parsed if each is not None]
        problems.raise_all()
        partitions = [partition for _, _, partition in found]
        yield SampleRows(
            keys=pa.array([key for key, _, _ in found], pa.large_string()),
            sizes=pa.array([size for _, size, _ in found], pa.int64()),
            partitions=None if None in partitions else pa.array(partitions, pa.int32()),
            first=first,
        )


def _console_fields(
    line: bytes, number: int, problems: SampleProblems
) -> tuple[str | None, int, int | None] | None:
    """Return key, bytes and partition of a printed record."""
    text = _decoded(line, number, problems)
    if text is None:
        return None
    partition, rest = None, text.split("\t")
    while rest and (_BEFORE_KEY.fullmatch(rest[0]) or _PARTITION.fullmatch(rest[0])):
        named = _PARTITION.fullmatch(rest.pop(0))
        partition = int(named[1]) if named else partition
    if partition is not None and partition > NUMBER_COLUMNS["partition"][1]:
        problems.add(f"line {number}", partition, number_rule("partition"))
        return None
    if len(rest) < 2:
        problems.add(
            f"line {number}",
            text,
            "must have a key, a tab and a value",
            "print records with --property print.key=true",
        )
        return None
    key, value = rest[0], "\t".join(rest[1:])
    size = len(key.encode()) + len(value.encode())
    return (None if key == _CONSOLE_NULL else key), size, partition


def read_json_lines(
    path: Path, options: SampleOptions, problems: SampleProblems
) -> Iterator[SampleRows]:
    """Yield the key of each JSON value: an object with the key, or the key alone."""
    for first, lines in batches_of_lines(path):
        values = [
            (first + row, _parsed(line, first + row, problems))
            for row, line in enumerate(lines)
            if line.strip()
        ]
        problems.raise_all()
        yield _json_rows(values, options, problems)


def _parsed(line: bytes, number: int, problems: SampleProblems) -> Any:  # noqa: ANN401 - any JSON value
    text = _decoded(line, number, problems)
    if text is None:
        return None
    try:
        return parse_json(text.removeprefix("\ufeff"))
    except JsonTextError as error:
        problems.add(f"line {number}", text[:60], error.rule)
        return None


def _json_rows(
    values: Sequence[tuple[int, Any]], options: SampleOptions, problems: SampleProblems
) -> SampleRows:
    keys = []
    for number, value in values:
        if isinstance(value, dict) and options.key_column not in value:
            place = f"{problems.file}: line {number}"
            raise no_column(place, options.key_column, value)
        keys.append(value[options.key_column] if isinstance(value, dict) else value)
    column = _json_keys(keys, [number for number, _ in values], options, problems)
    objects = [value if isinstance(value, dict) else {} for _, value in values]
    first = values[0][0] if values else 1
    numbers = [number for number, _ in values]
    rows = SampleRows(
        keys=column,
        sizes=_json_numbers("bytes", objects, numbers, problems)
        or _payload_sizes(objects),
        partitions=_json_numbers("partition", objects, numbers, problems),
        first=first,
        numbers=numbers,
    )
    problems.raise_all()
    check_topics((each.get("topic") for each in objects), options.topic, rows, problems)
    return rows


def _json_numbers(
    name: str,
    objects: Sequence[dict[str, Any]],
    numbers: Sequence[int],
    problems: SampleProblems,
) -> pa.Array | None:
    """Return a column of numbers that every object has; `None` if one lacks it."""
    values = [each.get(name) for each in objects]
    kind, most = NUMBER_COLUMNS[name]
    for value, number in zip(values, numbers, strict=True):
        is_number = isinstance(value, int) and not isinstance(value, bool)
        if value is not None and not (is_number and 0 <= value <= most):
            problems.add(f"line {number}", value, number_rule(name))
            return None
    return None if None in values else pa.array(values, kind)


def _payload_sizes(objects: Sequence[dict[str, Any]]) -> pa.Array | None:
    """Return the bytes of keys and payloads, as `kcat -J` prints them."""
    if not objects or any("payload" not in each for each in objects):
        return None
    sizes = [
        sum(_text_bytes(each.get(name)) for name in ("key", "payload"))
        for each in objects
    ]
    return pa.array(sizes, pa.int64())


def _text_bytes(value: object) -> int:
    return len(str(value or "").encode("utf-8", "surrogatepass"))


def _json_keys(
    keys: Sequence[Any],
    numbers: Sequence[int],
    options: SampleOptions,
    problems: SampleProblems,
) -> pa.Array:
    """Return the column of keys of one JSON type."""
    kinds = [type(key) for key in keys if key is not None]
    first = kinds[0] if kinds else str
    for key, number in zip(keys, numbers, strict=True):
        if key is None or (type(key) is first and first in {str, int}):
            continue
        problems.add(
            f"line {number}",
            key,
            _kind_rule(first),
            "give keys of one type, text or numbers",
        )
    problems.raise_all()
    if first is int and options.key_type is None:
        raise untyped_numbers(problems.file)
    try:
        return pa.array(keys, pa.int64() if first is int else pa.large_string())
    except UnicodeEncodeError:
        _refuse_surrogates(keys, numbers, problems)
        raise
    except (OverflowError, pa.ArrowInvalid):
        return pa.array([None if key is None else str(key) for key in keys])


def _refuse_surrogates(
    keys: Sequence[str | None], numbers: Sequence[int], problems: SampleProblems
) -> None:
    """Raise the problems of texts that no encoding of Unicode has bytes for."""
    for key, number in zip(keys, numbers, strict=True):
        if re.search("[\ud800-\udfff]", key or ""):
            rule = "must be text without half a surrogate pair"
            problems.add(f"line {number}", ascii(key), rule, "give keys as base64")
    problems.raise_all()


def _kind_rule(first: type) -> str:
    if first in {str, int}:
        return f"mixes types of keys: the first key is {_KINDS[first]}"
    return "a key must be text, a whole number or null"


def untyped_numbers(file: str) -> BadInputError:
    """Return the error for numbers of unknown width."""
    found = problem(
        file,
        "",
        None,
        "the keys are numbers, whose bytes depend on the producer's serializer",
        "give --key-type int, long or string",
    )
    msg = f"the type of the keys of {file} is unknown"
    return BadInputError(msg, [found])
