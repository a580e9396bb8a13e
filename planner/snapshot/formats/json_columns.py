"""Validation of the JSON document of a snapshot, and its conversion to tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from pydantic import TypeAdapter, ValidationError

from planner.errors import InputProblem
from planner.io.json_reader import is_unicode
from planner.io.problems import place_text, problem
from planner.process import no_garbage_collection
from planner.snapshot.tables.snapshot_columns import (
    BROKERS,
    LOG_DIRS,
    PARTITIONS,
    TOPICS,
    ArrowTable,
    TableColumns,
)
from planner.snapshot.tables.snapshot_problems import SEE_SCHEMA, JsonPlaces
from planner.snapshot.tables.snapshot_records import (
    ENVELOPE,
    FORMAT,
    HEADER,
    TOPIC,
    VERSION,
)

Place = tuple[str | int, ...]
_MISSING = object()


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """
    A document as tables, rows as read, and the problems of its values.

    Parameters
    ----------
    header
        Header of the snapshot.
    tables
        The Arrow tables by name.
    places
        Places of the tables' rows in the document.
    problems
        Every rejected value; rejected values are left out of the tables.
    is_complete
        Whether the brokers are complete, so that the rest can be checked.
    """

    header: Mapping[str, Any]
    tables: Mapping[str, ArrowTable]
    places: JsonPlaces
    problems: list[InputProblem]
    is_complete: bool


@dataclass(slots=True)
class _Columns:
    """Growing columns of one table."""

    spec: TableColumns
    values: dict[str, list[Any]] = field(init=False)

    def __post_init__(self) -> None:
        self.values = {column.name: [] for column in self.spec.columns}

    def extend(self, records: Sequence[Mapping[str, Any]], **given: list[Any]) -> None:
        """Add records; `given` columns override their values."""
        for name, values in self.values.items():
            if name in given:
                values.extend(given[name])
            else:
                values.extend([record.get(name) for record in records])

    def table(self) -> ArrowTable:
        """Return the columns as an Arrow table, and release them."""
        arrays = []
        for column in self.spec.columns:
            values = self.values.pop(column.name)
            if pa.types.is_map(column.type):
                values = [v if v is None else list(v.items()) for v in values]
            arrays.append(pa.array(values, column.type))
        return pa.Table.from_arrays(arrays, schema=self.spec.schema)


def parse_header(
    header: Mapping[str, object], *, file: str
) -> tuple[dict[str, Any], list[InputProblem]]:
    """Validate the header of a snapshot, given without format and version."""
    document = {"format": FORMAT, "version": VERSION, **header}
    return validate_header(document, file=file)


def validate_header(
    document: object, *, file: str
) -> tuple[dict[str, Any], list[InputProblem]]:
    """Validate `snapshot.json` of a Parquet folder."""
    known, problems, _ = _validate(HEADER, document, (), file)
    return known or {}, [*problems, *_not_unicode(known, (), file)]


def parse_document(document: object, *, file: str) -> ParsedDocument:
    """
    Validate a JSON document and convert it to tables.

    Parameters
    ----------
    document
        Result of a JSON parser.
    file
        Name of the file in problems.
    """
    with no_garbage_collection():
        known, problems, is_complete = _validate(ENVELOPE, document, (), file)
        known = known or {}
        # Without the brokers, every replica would be on an unknown one.
        is_complete &= all(each.place != "brokers" for each in problems)
        given = (known.pop("brokers", None) or [], known.pop("topics", None) or [])
        problems += _not_unicode(known, (), file)
        try:
            return _parsed(known, *given, problems, is_complete=is_complete, file=file)
        except UnicodeEncodeError:
            everything = {"brokers": given[0], "topics": given[1]}
            problems += _not_unicode(everything, (), file)
            return _parsed({}, [], [], problems, is_complete=False, file=file)


def _parsed(
    header: Mapping[str, Any],
    brokers: list[dict[str, Any]],
    topics: list[Any],
    problems: list[InputProblem],
    *,
    is_complete: bool,
    file: str,
) -> ParsedDocument:
    broker_tables, dir_counts = _broker_tables(brokers)
    topic_tables, counts, found = _topic_tables(topics, file)
    return ParsedDocument(
        header=header,
        tables={**broker_tables, **topic_tables},
        places=JsonPlaces(_starts(dir_counts), _starts(counts)),
        problems=[*problems, *found],
        is_complete=is_complete,
    )


def _not_unicode(value: object, place: Place, file: str) -> list[InputProblem]:
    """Return problems for strings with lone surrogates; JSON parsers reject these."""
    if isinstance(value, str) and not is_unicode(value):
        rule, remedy = "must be valid Unicode", "remove the lone surrogates"
        return [problem(file, place_text(place), value, rule, remedy)]
    if isinstance(value, dict):
        members = [((*place, k), v) for k, v in value.items()]
        found = [each for key in value for each in _not_unicode(key, place, file)]
    elif isinstance(value, list):
        members = [((*place, i), v) for i, v in enumerate(value)]
        found = []
    else:
        return []
    return found + [p for at, v in members for p in _not_unicode(v, at, file)]


def _starts(counts: list[int]) -> Any:  # noqa: ANN401 - an array of int64
    return np.concatenate([[0], np.cumsum(np.array(counts, dtype=np.int64))])


def _broker_tables(
    brokers: list[dict[str, Any]],
) -> tuple[dict[str, ArrowTable], list[int]]:
    rows, dirs = _Columns(BROKERS), _Columns(LOG_DIRS)
    rows.extend(brokers)
    counts = []
    for broker in brokers:
        log_dirs = broker.get("log_dirs") or []
        counts.append(len(log_dirs))
        dirs.extend(log_dirs, broker_id=[broker["id"]] * len(log_dirs))
    return {"brokers": rows.table(), "log_dirs": dirs.table()}, counts


def _topic_tables(
    topics: list[Any], file: str
) -> tuple[dict[str, ArrowTable], list[int], list[InputProblem]]:
    rows, partitions = _Columns(TOPICS), _Columns(PARTITIONS)
    counts, problems = [], []
    for index, given in enumerate(topics):
        topic, found, is_complete = _validate(TOPIC, given, ("topics", index), file)
        problems += found
        if topic is None or not is_complete:
            # A unique name keeps the row distinct in later checks.
            topic = {"name": f"refused-{index}"}
        records = topic.get("partitions") or []
        counts.append(len(records))
        rows.extend([topic], topic=[topic["name"]])
        partitions.extend(
            records,
            topic=[topic["name"]] * len(records),
            leader=[_leader(record) for record in records],
        )
    tables = {"topics": rows.table(), "partitions": partitions.table()}
    return tables, counts, problems


def _leader(record: Mapping[str, Any]) -> int | None:
    leader = record.get("leader", _MISSING)
    if leader is _MISSING:
        return None
    return -1 if leader is None else leader


def _validate(
    adapter: TypeAdapter[Any], value: object, at: Place, file: str
) -> tuple[dict[str, Any] | None, list[InputProblem], bool]:
    """Return a record without invalid members, its problems, and if it is usable."""
    try:
        return adapter.validate_python(value), [], True
    except ValidationError as error:
        errors = error.errors(include_url=False)
    problems = [_as_problem(each, at, file) for each in errors]
    kept = _without(value, [each["loc"] for each in errors])
    if not at and isinstance(kept, dict):
        # Problems of these two are reported already.
        kept |= {"format": FORMAT, "version": VERSION}
    try:
        return adapter.validate_python(kept), problems, True
    except ValidationError:
        return None, problems, False


def _without(value: Any, places: Sequence[Place]) -> Any:  # noqa: ANN401 - JSON
    """Return a value without the members at some places; lists keep their length."""
    if not isinstance(value, dict | list):
        return None
    kept: Any = dict(value) if isinstance(value, dict) else list(value)
    inside: dict[str | int, list[Place]] = {}
    for head, *rest in filter(None, places):
        inside.setdefault(head, []).append(tuple(rest))
    for head, rests in inside.items():
        has_names = all(any(isinstance(p, str) for p in rest) for rest in rests)
        member = _member(value, head)
        if has_names and isinstance(member, dict | list):
            kept[head] = _without(member, rests)
        elif isinstance(kept, dict):
            kept.pop(head, None)
    return kept


def _member(value: Any, key: str | int) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, dict):
        return value.get(key)
    return value[key] if isinstance(key, int) and key < len(value) else None


def _as_problem(error: Mapping[str, Any], at: Place, file: str) -> InputProblem:
    place = place_text((*at, *error["loc"]))
    rule, remedy = _rule_of(error, place)
    value = None if error["type"] == "missing" else error["input"]
    if isinstance(value, float):
        value = str(value)
    return problem(file, place, value, rule, remedy)


_RULES: dict[str, tuple[str, str]] = {
    "missing": ("the key is required", "add it"),
    "extra_forbidden": ("unknown key", f"remove it, or correct its name; {SEE_SCHEMA}"),
    "int_type": ("must be an integer", ""),
    "float_type": ("must be a number", "write null if it is unknown"),
    "finite_number": ("must be a finite number", "write null if it is unknown"),
    "string_type": ("must be a string", ""),
    "string_too_short": ("must not be empty", ""),
    "bool_type": ("must be true or false", ""),
    "list_type": ("must be a list", SEE_SCHEMA),
    "dict_type": ("must be an object", SEE_SCHEMA),
    "invalid_key": ("a key must be a string", ""),
    "greater_than_equal": ("must be at least {ge}", "write null if it is unknown"),
    "less_than_equal": ("must be at most {le}", ""),
    "literal_error": ("must be {expected}", ""),
    "value_error": ("{error}", "write ISO 8601, as in 2026-11-21T08:00:00Z"),
}
_REMEDIES: dict[str, str] = {
    "format": "give a snapshot; this file has another format",
    "version": "use the release of kafka-planner that wrote the file",
}


def _rule_of(error: Mapping[str, Any], place: str) -> tuple[str, str]:
    unnamed = (str(error["msg"]), SEE_SCHEMA)
    rule, remedy = _RULES.get(error["type"], unnamed)
    context = error.get("ctx", {})
    if error["type"] in {"greater_than_equal", "less_than_equal"}:
        # Written as whole numbers, not as 1e+18.
        context = {key: f"{int(value)}" for key, value in context.items()}
    words: str = rule.format_map(context)
    return words, _REMEDIES.get(place, remedy)
