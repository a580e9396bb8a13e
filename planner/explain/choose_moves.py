"""Selection, order and sums of the moves that `explain` shows."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from placement.explain import Reason
from planner.plan.folder.moves_file import COPY, LEADER, MoveRow


class Sort(StrEnum):
    """Order of the moves."""

    PLAN = "plan"
    BYTES = "bytes"
    REASON = "reason"
    FROM = "from"
    TO = "to"
    UNDONE = "undone"


ORDERS: Mapping[Sort, Callable[[MoveRow], Any]] = {
    Sort.BYTES: lambda row: -(row.size_bytes or 0),
    Sort.REASON: lambda row: (
        [*Reason].index(Reason(row.reason)),
        -(row.size_bytes or 0),
    ),
    Sort.FROM: lambda row: (row.source is None, row.source),
    Sort.TO: lambda row: (row.target is None, row.target),
    Sort.UNDONE: lambda row: -(row.undone_outside or 0.0),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """
    Filter of moves; parts that are left empty accept all moves.

    Parameters
    ----------
    topics
        Names of topics.
    partition
        Partition number.
    brokers
        Ids of brokers; a move matches by its source or its target.
    reasons
        Names of reasons.
    """

    topics: frozenset[str] = frozenset()
    partition: int | None = None
    brokers: frozenset[int] = frozenset()
    reasons: frozenset[str] = frozenset()

    def has(self, row: MoveRow) -> bool:
        """Return whether a move passes the filter."""
        return (
            (not self.topics or row.topic in self.topics)
            and self.partition in {None, row.partition}
            and (
                not self.brokers
                or not self.brokers.isdisjoint((row.source, row.target))
            )
            and (not self.reasons or row.reason in self.reasons)
        )


def choose(rows: Iterable[MoveRow], choice: Choice, sort: Sort) -> list[MoveRow]:
    """Return the moves that pass the filter, sorted; ties in the order of the plan."""
    chosen = [row for row in rows if choice.has(row)]
    return chosen if sort is Sort.PLAN else sorted(chosen, key=ORDERS[sort])


def by_reason(rows: Iterable[MoveRow]) -> list[dict[str, Any]]:
    """Return copies, bytes and changes of the first replica, summed by reason."""
    sums: dict[str, list[MoveRow]] = {}
    for row in rows:
        sums.setdefault(row.reason, []).append(row)
    return [
        {
            "reason": str(reason),
            "replicas": sum(row.kind == COPY for row in sums[reason]),
            "bytes": total_bytes(sums[reason]),
            "leaders": sum(row.kind == LEADER for row in sums[reason]),
        }
        for reason in Reason
        if reason in sums
    ]


def total_bytes(rows: Iterable[MoveRow]) -> int | None:
    """Return the bytes of all moves; `None` where any size is unknown."""
    total = 0
    for row in rows:
        if row.size_bytes is None:
            return None
        total += row.size_bytes
    return total
