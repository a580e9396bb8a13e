"""Headers of snapshots, read from the rows of the table `clusters`."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

from planner.fleet.arrow_tables import CLUSTER_SCHEMA, EPOCH
from planner.snapshot.checks.broker_checks import HEADER_CHECKS
from planner.snapshot.checks.record_checks import findings
from planner.snapshot.tables.table_facts import Facts
from planner.spark.common.problem_rows import Row, row_of, rows_of_findings

_MAPS = ("configs", "features")


def header_of(row: Mapping[str, Any], cluster_id: str, micros: int) -> dict[str, Any]:
    """
    Return the header of a snapshot: the values that are not in its tables.

    Parameters
    ----------
    row
        Row of `clusters`, as Arrow gives it; empty if there is none.
    cluster_id, micros
        Key of the snapshot; time in microseconds since 1970.
    """
    header = {
        "cluster_id": cluster_id,
        "taken_at": time_of(micros),
        "kafka_version": row.get("kafka_version"),
        **{name: _as_dict(row.get(name)) for name in _MAPS},
        "rates": _known(row.get("rates"), _fields("rates")),
        "controllers": _controllers(row.get("controllers")),
    }
    return {name: value for name, value in header.items() if value}


def _as_dict(value: Any) -> Any:  # noqa: ANN401 - whatever stands in the column
    """Return a map, pairs or a struct as a dictionary, and other values unchanged."""
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items() if each is not None}
    if isinstance(value, list):
        pairs = [tuple(p.values()) if isinstance(p, Mapping) else p for p in value]
        if all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
            return {name: _plain(each) for name, each in pairs}
    return value


def _controllers(value: Any) -> Any:  # noqa: ANN401 - whatever stands in the column
    if not isinstance(value, list):
        return value
    element = CLUSTER_SCHEMA.field("controllers").type.value_type
    return [_known(each, [field.name for field in element]) for each in value]


def _fields(name: str) -> list[str]:
    return [field.name for field in CLUSTER_SCHEMA.field(name).type]


def _known(value: Any, names: Iterable[str]) -> Any:  # noqa: ANN401 - a struct, or no
    """Return the known fields of a struct, given in any order and case."""
    if not isinstance(value, Mapping):
        return value
    folded = {name.lower(): each for name, each in value.items()}
    given = {name: value.get(name, folded.get(name)) for name in names}
    return {name: _plain(each) for name, each in given.items() if each is not None}


def _plain(value: Any) -> Any:  # noqa: ANN401 - a value of Arrow's
    """Return decimals, and floats that are integers, as integers."""
    is_number = isinstance(value, float | Decimal)
    if is_number and value == value and abs(value) < 2**63 and value % 1 == 0:
        return int(value)
    return float(value) if isinstance(value, Decimal) else value


def time_of(micros: int) -> str | None:
    """Return a time as snapshots write it; `None` for 0, which means no time."""
    if not micros:
        return None
    moment = EPOCH + timedelta(microseconds=micros)
    text = f"{moment:%Y-%m-%dT%H:%M:%S}"
    part = micros % 1_000_000
    return f"{text}.{part:06}Z" if part else f"{text}Z"


def header_rows(header: Mapping[str, Any]) -> Iterator[Row]:
    """Yield the problems of a snapshot's header."""
    from planner.snapshot.formats.json_columns import parse_header

    known, problems = parse_header(header, file="clusters")
    for each in problems:
        yield row_of("clusters", each.place, each.value, each.rule)
    if not problems:
        controllers = tuple(known.get("controllers") or ())
        facts = Facts(known.get("configs") or {}, controllers, {})
        yield from rows_of_findings(findings(facts, HEADER_CHECKS), {})
