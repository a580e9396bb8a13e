"""The document of `explain --format json`, and its records."""

from collections.abc import Sequence
from typing import Any, Literal

from planner.explain.choose_moves import by_reason
from planner.explain.reason_sentences import consequence_text, reason_text
from planner.io.records import Int32, Record
from planner.options.declared.types import ResourceName
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
    """Consequence of undoing this move alone."""

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
    A copied replica, a dropped one, or a change of the first one, with its reason.

    `from_broker` is null for a copy that replaces no replica, `to_broker` for a dropped
    replica.
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
    """Sums of the moves of one reason."""

    reason: ReasonName
    replicas: int
    bytes: int | None
    leaders: int


class ExplainRecord(Record):
    """Reasons for the moves of a plan."""

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
        Operation of the plan; `None` where unknown.
    rows
        All moves of the plan.
    chosen
        Moves to list; the sums by reason are over these.
    inside
        Number of replicas that move to another log dir of their broker, and their
        bytes.
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
        "message": reason_text(row),
        "undone": {
            "what": row.undone,
            "broker": row.undone_broker,
            "resource": row.undone_resource,
            "outside": row.undone_outside,
            "message": consequence_text(row),
        },
    }
