"""Snapshots as one JSON file, plain or gzipped."""

import gzip
import re
import zlib
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa

from planner.errors import BadInputError
from planner.io.json_reader import may_repeat_keys, repeated_keys
from planner.io.problems import problem
from planner.process import no_garbage_collection
from planner.snapshot.tables.snapshot_columns import (
    BROKERS,
    LOG_DIRS,
    PARTITIONS,
    TOPICS,
    ArrowArray,
    ArrowTable,
)
from planner.snapshot.tables.snapshot_problems import refuse
from planner.snapshot.tables.snapshot_records import FORMAT, VERSION
from planner.snapshot.tables.table_rows import Rows, as_array

Tables = Mapping[str, ArrowTable]
"""The four tables of a snapshot, by name."""
_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_LOCATED = re.compile(r"(?P<what>.*) at line (?P<line>\d+) column (?P<column>\d+)")
_ROWS_AT_ONCE = 50_000


def parse_json(data: bytes, *, file: str) -> Any:  # noqa: ANN401 - any JSON value
    """
    Parse the bytes of a JSON file, gzipped or not.

    Parameters
    ----------
    data
        The whole file.
    file
        Name of the file in problems.

    Raises
    ------
    BadInputError
        If the file is not JSON in UTF-8, or an object has a duplicate key.
    """
    from pydantic_core import from_json

    text = _unpack(data, file).removeprefix(_BOM)
    try:
        with no_garbage_collection():
            document = from_json(text)
    except ValueError as error:
        raise _syntax_error(text, str(error), file) from error
    if may_repeat_keys(text, document):
        _refuse_repeated_keys(text, file)
    return document


def _unpack(data: bytes, file: str) -> bytes:
    if not data.startswith(_GZIP):
        return data
    try:
        return gzip.decompress(data)
    except (EOFError, OSError, zlib.error) as error:
        rule = f"the file must be complete gzip: {error}"
        raise refuse(
            file, [problem(file, "", None, rule, "write or copy it again")]
        ) from error


def _syntax_error(text: bytes, message: str, file: str) -> BadInputError:
    found = _LOCATED.fullmatch(message)
    place = f"line {found['line']}, column {found['column']}" if found else ""
    what = found["what"] if found else message
    if not text.strip():
        return refuse(file, [problem(file, "", None, "the file is empty")])
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        rule = f"the file must be UTF-8: {error.reason} at byte {error.start}"
        return refuse(file, [problem(file, "", None, rule, "convert it to UTF-8")])
    remedy = "correct it, or write it again with 'kafka-planner snapshot'"
    return refuse(file, [problem(file, place, None, f"not JSON: {what}", remedy)])


def _refuse_repeated_keys(text: bytes, file: str) -> None:
    """Parse again to find repeated keys, and reject the file if any."""
    problems = []
    for parsed, keys in repeated_keys(text):
        name = next((parsed[k] for k in ("name", "id", "path") if k in parsed), "")
        place = f"object {name}" if isinstance(name, str | int) and name else ""
        rule = "keys of an object must be unique"
        problems.append(problem(file, place, keys, rule, "remove the second one"))
    if problems:
        raise refuse(file, problems)


def write_json(header: Mapping[str, Any], tables: Tables, path: Path) -> None:
    """
    Write a snapshot as JSON, gzipped if the name ends in ``.gz``.

    Each broker and each partition has its own line, so that files can be compared.
    """
    with path.open("wb") as file, no_garbage_collection():
        if path.suffix != ".gz":
            file.writelines(_lines(header, tables))
            return
        # Without time and name, the same snapshot gives the same bytes.
        with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
            for line in _lines(header, tables):
                packed.write(line)


def document_of(header: Mapping[str, Any], tables: Tables) -> dict[str, Any]:
    """Return the JSON document of a snapshot."""
    topics = []
    for topic, partitions in _topics(tables):
        topics.append({**topic, "partitions": partitions})
    return {
        "format": FORMAT,
        "version": VERSION,
        **header,
        "brokers": _broker_records(tables),
        "topics": topics,
    }


def _lines(header: Mapping[str, Any], tables: Tables) -> Iterator[bytes]:
    # Three times as fast as `json`; both write the shortest digits of a float.
    from pydantic_core import to_json

    head = {"format": FORMAT, "version": VERSION, **header}
    yield to_json(head).removesuffix(b"}") + b',\n "brokers": ['
    comma = b""
    for broker in _broker_records(tables):
        yield comma + b"\n  " + to_json(broker)
        comma = b","
    yield b'],\n "topics": ['
    comma = b""
    for topic, partitions in _topics(tables):
        yield comma + b"\n  " + to_json(topic).removesuffix(b"}")
        yield b',"partitions": ['
        yield b",".join(b"\n    " + to_json(partition) for partition in partitions)
        yield b"]}"
        comma = b","
    yield b"]}\n"


def _broker_records(tables: Tables) -> list[dict[str, Any]]:
    dirs_of: dict[int, list[dict[str, Any]]] = {}
    for log_dir in _records(tables["log_dirs"], LOG_DIRS.schema.names):
        dirs_of.setdefault(log_dir.pop("broker_id"), []).append(log_dir)
    brokers = _records(tables["brokers"], BROKERS.schema.names)
    return [
        {**broker, "log_dirs": dirs_of[broker["id"]]}
        if broker["id"] in dirs_of
        else broker
        for broker in brokers
    ]


def _topics(
    tables: Tables,
) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Yield each topic with its partitions, both in canonical order."""
    partitions = _partition_records(tables["partitions"])
    topic, ahead = next(partitions, ("", {}))
    for record in _records(tables["topics"], TOPICS.schema.names):
        name = record.pop("topic")
        mine = []
        while topic == name:
            mine.append(ahead)
            topic, ahead = next(partitions, ("", {}))
        yield {"name": name, **record}, mine


def _partition_records(table: ArrowTable) -> Iterator[tuple[str, dict[str, Any]]]:
    names = PARTITIONS.schema.names[1:]
    for low in range(0, len(table), _ROWS_AT_ONCE):
        part = table.slice(low, _ROWS_AT_ONCE)
        leaders = python_values(part.column("leader"))
        records = _records(part, names)
        topics = part.column("topic").to_pylist()
        for topic, record, leader in zip(topics, records, leaders, strict=True):
            if leader == -1:
                record["leader"] = None
            yield topic, record


def _records(table: ArrowTable, names: list[str]) -> list[dict[str, Any]]:
    """Return rows as dictionaries, without nulls."""
    keys = [name for name in names if table.column(name).null_count < len(table)]
    rows = zip(*(python_values(table.column(name)) for name in keys), strict=True)
    return [
        {key: v for key, v in zip(keys, row, strict=True) if v is not None}
        for row in rows
    ]


def python_values(column: ArrowArray) -> list[Any]:
    """Return a column as Python values, lists as lists and maps as dictionaries."""
    array = as_array(column)
    if pa.types.is_map(array.type):
        return [v if v is None else dict(v) for v in array.to_pylist()]
    if not pa.types.is_list(array.type):
        return _flat_values(array)
    rows = Rows.from_arrow(array)
    # Slices of one long list are several times faster than Arrow's list per row.
    flat, start = _flat_values(rows.values), rows.start.tolist()
    lists: list[Any] = [flat[low:high] for low, high in pairwise(start)]
    for row in rows.is_absent.nonzero()[0].tolist():
        lists[row] = None
    return lists


def _flat_values(array: ArrowArray) -> list[Any]:
    """Return a column as `to_pylist` does, by the fastest method for its type."""
    if array.null_count == len(array):
        return [None] * len(array)
    if array.type == pa.string():
        encoded = array.dictionary_encode()
        texts = [*encoded.dictionary.to_pylist(), None]
        codes = encoded.indices.fill_null(len(texts) - 1).to_numpy()
        return [texts[code] for code in codes.tolist()]
    if array.null_count:
        return array.to_pylist()  # type: ignore[no-any-return]
    return array.to_numpy(zero_copy_only=False).tolist()  # type: ignore[no-any-return]
