"""Rejected parts of dumps, each a row of a table with the reason."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import pyarrow as pa

from planner.errors import InputProblem
from planner.io.problem_folding import fold
from planner.snapshot.tables.snapshot_columns import ArrowTable

FOLDER = "rejects"
SCHEMA = pa.schema(
    [
        ("dump", pa.string()),
        ("cluster_id", pa.string()),
        ("taken_at", pa.timestamp("us", tz="UTC")),
        ("scope", pa.string()),
        ("file", pa.string()),
        ("place", pa.string()),
        ("value", pa.string()),
        ("reason", pa.string()),
        ("remedy", pa.string()),
        ("count", pa.int64()),
    ]
)
"""The columns of the table of rejects."""


class Scope(StrEnum):
    """Part of a dump that the fleet lacks because of a reject."""

    ROW = "row"
    FILE = "file"
    SNAPSHOT = "snapshot"
    NOTHING = "nothing"
    """Nothing is missing; the reject is a note."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reject:
    """
    One rejected part of a dump.

    Parameters
    ----------
    scope
        Part of the dump that the fleet lacks.
    problem
        Place, value, rule and remedy.
    count
        Number of rejects of the same kind, of which this is the first.
    """

    scope: Scope
    problem: InputProblem
    count: int = 1


def rejects_of(scope: Scope, problems: Iterable[InputProblem]) -> list[Reject]:
    """Return one reject per problem."""
    return [Reject(scope=scope, problem=problem) for problem in problems]


def folded_rejects(rejects: Iterable[Reject]) -> tuple[Reject, ...]:
    """Return the first reject of each kind, with the number of that kind."""
    by_scope: dict[Scope, list[InputProblem]] = {}
    for reject in rejects:
        by_scope.setdefault(reject.scope, []).append(reject.problem)
    return tuple(
        Reject(scope=scope, problem=problem, count=count)
        for scope, problems in by_scope.items()
        for problem, count in fold(problems)
    )


def reject_table(
    rejects: Iterable[Reject],
    *,
    dump: str,
    cluster_id: str | None,
    taken_at: datetime | None,
) -> ArrowTable:
    """Return the rejects of one dump, in the columns of `SCHEMA`."""
    rows = [
        {
            "dump": dump,
            "cluster_id": cluster_id,
            "taken_at": taken_at,
            "scope": str(reject.scope),
            "file": reject.problem.file,
            "place": reject.problem.place,
            "value": reject.problem.value,
            "reason": reject.problem.rule,
            "remedy": reject.problem.remedy,
            "count": reject.count,
        }
        for reject in rejects
    ]
    return pa.Table.from_pylist(rows, schema=SCHEMA)
