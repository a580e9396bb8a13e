"""What `explain --format json` prints."""

from collections.abc import Sequence
from typing import Any, Literal

from planner.explain.choose_moves import by_reason
from planner.explain.reason_sentences import why, without
from planner.options.declared.types import ResourceName
from planner.plan.documents.check_records import Int32, Record
from planner.plan.folder.moves_file import MoveRow

ReasonName = Literal[
    "new-factor",
    "broker-dead",
    "broker-leaves",
    "log-dir-offline",
    "broker-set",
    "topics-apart",
    "topics-together",
    "demoted",
    "replica-left",
    "rack",
    "over-threshold",
    "fills-new",
    "over-band",
    "below-band",
    "makes-room",
    "with-others",
]


class UndoneRecord(Record):
    """What is worse once this move alone is undone."""

    what: Literal[
        "nothing",
        "not-empty",
        "still-leads",
        "rack",
        "over-capacity",
        "out-of-band",
        "old-factor",
    ]
    broker: Int32 | None
    resource: ResourceName | None
    outside: float | None
    message: str


class MoveRecord(Record):
    """
    A copy, a replica dropped, or a change of the first one, and why.

    A copy that replaces none comes from no broker; what is dropped goes to none.
    """

    topic: str
    partition: Int32
    kind: Literal["replica", "leader", "drop"]
    from_broker: Int32 | None
    to_broker: Int32 | None
    from_rack: str | None
    to_rack: str | None
    bytes: int | None
    reason: ReasonName
    resource: ResourceName | None
    message: str
    undone: UndoneRecord


class ReasonRecord(Record):
    """What one reason paid for."""

    reason: ReasonName
    replicas: int
    bytes: int | None
    leaders: int


class ExplainRecord(Record):
    """Why the moves of a plan are made."""

    goal: str | None
    num_moves: int
    log_dir_moves: int
    log_dir_bytes: int
    by_reason: list[ReasonRecord]
    moves: list[MoveRecord]


def explain_document(
    goal: str | None,
    rows: Sequence[MoveRow],
    chosen: Sequence[MoveRow],
    inside: tuple[int, int] = (0, 0),
) -> dict[str, Any]:
    """
    Return the document.

    Parameters
    ----------
    goal
        Of the plan, where it is known.
    rows
        All of its moves.
    chosen
        Those to list; the sums by reason are of these.
    inside
        Replicas that go to another log dir of their broker, and their bytes.
    """
    return {
        "goal": goal,
        "num_moves": len(rows),
        "log_dir_moves": inside[0],
        "log_dir_bytes": inside[1],
        "by_reason": by_reason(chosen),
        "moves": [_move(row) for row in chosen],
    }


def _move(row: MoveRow) -> dict[str, Any]:
    return {
        "topic": row.topic,
        "partition": row.partition,
        "kind": row.kind,
        "from_broker": row.source,
        "to_broker": row.target,
        "from_rack": row.source_rack or None,
        "to_rack": row.target_rack or None,
        "bytes": row.size_bytes,
        "reason": row.reason,
        "resource": row.resource,
        "message": why(row),
        "undone": {
            "what": row.undone,
            "broker": row.undone_broker,
            "resource": row.undone_resource,
            "outside": row.undone_outside,
            "message": without(row),
        },
    }
