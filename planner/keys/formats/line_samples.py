"""Samples of a line per record: text and JSON lines."""

import codecs
import gzip
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any

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
    untyped_numbers,
)

LINES_PER_BATCH = 1_000_000
STANDARD_INPUT = Path("/dev/stdin")
_GZIP = b"\x1f\x8b"
_HEAD = 64
_LOOKED_AT = 1000
_KINDS = {str: "text", int: "a number", bool: "true or false", float: "a fraction"}


@contextmanager
def open_lines(
    path: Path, *, is_text: bool = True
) -> Iterator[BufferedReader | gzip.GzipFile]:
    """
    Open a file of lines, gzipped or not, behind its byte order mark.

    Parameters
    ----------
    path
        The file, or ``-`` for standard input.
    is_text
        Whether the lines are text; else all bytes are data.

    Raises
    ------
    BadInputError
        If the text is UTF-16.
    """
    with ExitStack() as stack:
        named = STANDARD_INPUT if str(path) == "-" else path
        opened = stack.enter_context(named.open("rb"))
        file: BufferedReader | gzip.GzipFile = opened
        if path.suffix == ".gz" or opened.peek(2).startswith(_GZIP):
            file = stack.enter_context(gzip.GzipFile(fileobj=opened))
        if is_text:
            _skip_mark(file, str(path))
        yield file


def _skip_mark(file: BufferedReader | gzip.GzipFile, name: str) -> None:
    """Skip the byte order mark of UTF-8; refuse UTF-16."""
    head = file.peek(_HEAD)[:_HEAD]
    if head.startswith(codecs.BOM_UTF8):
        file.read(len(codecs.BOM_UTF8))
    elif _is_utf16(head):
        rule = "the sample is UTF-16, and must be UTF-8"
        remedy = "save it as UTF-8; in PowerShell: … | Out-File -Encoding utf8 FILE"
        msg = f"the sample {name} cannot be read"
        raise BadInputError(msg, [problem(name, "", None, rule, remedy)])


def _is_utf16(head: bytes) -> bool:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return True
    # Without a mark: in ASCII text either byte of each character is 0.
    pairs = head[: len(head) // 2 * 2]
    halves = (pairs[::2], pairs[1::2])
    return any(
        len(zeros) > 1 and not zeros.strip(b"\0") and b"\0" not in others
        for zeros, others in (halves, halves[::-1])
    )


def batches_of_lines(
    path: Path, *, is_text: bool = True
) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the number of the first line, and lines without their ends."""
    first = 1
    with open_lines(path, is_text=is_text) as file:
        while lines := file.readlines(LINES_PER_BATCH * 16):
            yield first, [line.rstrip(b"\n").removesuffix(b"\r") for line in lines]
            first += len(lines)


def read_text(
    path: Path, options: SampleOptions, problems: SampleProblems
) -> Iterator[SampleRows]:
    """Yield a key per line; an empty line is an empty key."""
    is_text = options.key_type != "bytes"
    for first, lines in batches_of_lines(path, is_text=is_text):
        raw = pa.array(lines, pa.large_binary())
        if first == 1 and is_text and options.sample_format is None:
            problems.notes += _other_formats(lines[:_LOOKED_AT], options.key_column)
        if not is_text:
            yield SampleRows(keys=raw, first=first)
            continue
        yield SampleRows(keys=_texts(raw, first, problems), first=first)


def _other_formats(lines: Sequence[bytes], column: str) -> Iterator[str]:
    """Yield a note if lines look as if they were more than a key."""
    filled = [line.strip() for line in lines if line.strip()]
    if not filled:
        return
    names = filled[0].decode(errors="replace").split(",")
    if all(b"\t" in line for line in filled):
        what, form = "keys and values of kafka-console-consumer", "console"
    elif all(
        line[:1] == b"{" and line[-1:] == b"}" and b":" in line for line in filled
    ):
        what, form = "objects of JSON with a field of the key", "json"
    elif len(names) > 1 and column in names:
        what, form = "rows of CSV below the names of its columns", "csv"
    else:
        return
    yield (
        f"each line is taken as a key: if the lines are {what}, give "
        f"--sample-format {form}, else --sample-format text"
    )


def _texts(raw: pa.Array, first: int, problems: SampleProblems) -> pa.Array:
    try:
        return raw.cast(pa.large_string())
    except pa.ArrowInvalid:
        texts = [
            decoded(line.as_py(), first + row, problems) for row, line in _rows(raw)
        ]
        return pa.array(texts, pa.large_string())


def _rows(column: pa.Array) -> Iterator[tuple[int, Any]]:
    return enumerate(column)


def decoded(line: bytes, number: int, problems: SampleProblems) -> str | None:
    """Return a line as text; `None`, with a problem, if it is not UTF-8."""
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
    text = decoded(line, number, problems)
    if text is None:
        return None
    try:
        return parse_json(text)
    except JsonTextError as error:
        if text.strip() in {"{", "["}:
            rule = "each line must be one JSON value"
            remedy = "write each value on a line of its own: jq -c . FILE"
            problems.add(f"line {number}", text.strip(), rule, remedy)
            problems.raise_all()
        problems.add(f"line {number}", text[:60], error.rule)
        return None


def _json_rows(
    values: Sequence[tuple[int, Any]], options: SampleOptions, problems: SampleProblems
) -> SampleRows:
    keys = []
    for number, value in values:
        if isinstance(value, dict) and options.key_column not in value:
            place = f"line {number}"
            raise no_column(problems.file, options.key_column, value, place=place)
        keys.append(value[options.key_column] if isinstance(value, dict) else value)
    column = _json_keys(keys, [number for number, _ in values], options, problems)
    objects = [value if isinstance(value, dict) else {} for _, value in values]
    first = values[0][0] if values else 1
    numbers = [number for number, _ in values]
    sizes = _json_numbers("bytes", objects, numbers, problems)
    rows = SampleRows(
        keys=column,
        sizes=_payload_sizes(objects) if sizes is None else sizes,
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
    """
    Return a column of numbers; `None` if no object has it.

    The partitions of some records alone are of no use.
    """
    values = [each.get(name) for each in objects]
    kind, most = NUMBER_COLUMNS[name]
    for value, number in zip(values, numbers, strict=True):
        is_number = isinstance(value, int) and not isinstance(value, bool)
        if value is not None and not (is_number and 0 <= value <= most):
            problems.add(f"line {number}", value, number_rule(name))
            return None
    enough = len(values) if name == "bytes" else 1
    return None if values.count(None) >= enough else pa.array(values, kind)


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
            _kind_remedy(key),
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


def _kind_remedy(key: object) -> str:
    if isinstance(key, list):
        return "write each value of a list on a line of its own: jq -c '.[]' FILE"
    if isinstance(key, dict):
        return "give the bytes that producers send, as base64 with --key-type base64"
    return "give keys of one type, text or numbers"
