"""What is refused of a dump: never dropped without a row that says so."""

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
    """What is not in the fleet for this reason."""

    ROW = "row"
    FILE = "file"
    SNAPSHOT = "snapshot"
    NOTHING = "nothing"
    """All is there, but its reader should know something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reject:
    """
    One thing that was refused.

    Parameters
    ----------
    scope
        What is not in the fleet for it.
    problem
        Where it stands, what it is, and what must hold.
    count
        How many there are of its kind; this is the first.
    """

    scope: Scope
    problem: InputProblem
    count: int = 1


def rejects_of(scope: Scope, problems: Iterable[InputProblem]) -> list[Reject]:
    """Return one reject per problem."""
    return [Reject(scope=scope, problem=problem) for problem in problems]


def folded_rejects(rejects: Iterable[Reject]) -> tuple[Reject, ...]:
    """Return the first reject of each kind, with how many there are of it."""
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
