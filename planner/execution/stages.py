"""
Stages of a plan: the one list that both the preview and the run walk through.

A plan of new partitions has one stage, which creates them. Otherwise copies come first,
those of Kafka's own topics after all others; then the final order of the lists, which
moves no data; then the elections of preferred leaders.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from planner.execution.changes import Change
from planner.kafka_files.creation import Creation


class StageKind(StrEnum):
    """Kind of the requests of a stage."""

    CREATION = "creation"
    COPIES = "copies"
    INTERNAL = "internal-topics"
    ORDER = "order"
    ELECTION = "election"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """
    Part of a plan that ends before the next part begins.

    Parameters
    ----------
    kind
        Kind of its requests.
    changes
        Partitions to change, in the order in which copies are admitted.
    creation
        Request of the stage that creates partitions; `None` for all other stages.
    """

    kind: StageKind
    changes: tuple[Change, ...]
    creation: Creation | None = None

    @property
    def num_copies(self) -> int:
        """Number of new replicas."""
        return sum(change.num_copies for change in self.changes)

    @property
    def num_inside(self) -> int:
        """Number of replicas that move to another log dir of their broker."""
        return sum(len(s.inside) for change in self.changes for s in change.steps)

    @property
    def copied_bytes(self) -> int:
        """Bytes of all copies and of the moves inside brokers, where known."""
        return sum(
            (change.copy_bytes or 0) * (len(step.copies) + len(step.inside))
            for change in self.changes
            for step in change.steps
        )


def stages_of(
    changes: Sequence[Change],
    elected: Iterable[Change] = (),
    creation: Creation | None = None,
) -> tuple[Stage, ...]:
    """
    Return the stages of a plan; those without a partition are left out.

    Parameters
    ----------
    changes
        Changes that are left, in the order of the plan.
    elected
        Partitions that elect their preferred leader in the end.
    creation
        Request that creates the partitions of all changes, if that is the plan.
    """
    if creation is not None:
        kind = StageKind.CREATION
        one = Stage(kind=kind, changes=tuple(changes), creation=creation)
        return (one,) if changes else ()
    found: dict[StageKind, list[Change]] = {kind: [] for kind in StageKind}
    for change in changes:
        copying, order = _parts(change)
        if copying is not None:
            kind = StageKind.INTERNAL if change.is_internal else StageKind.COPIES
            found[kind].append(copying)
        if order is not None:
            found[StageKind.ORDER].append(order)
    found[StageKind.ELECTION] = list(elected)
    return tuple(
        Stage(kind=kind, changes=_admission_order(kind, found[kind]))
        for kind in StageKind
        if found[kind]
    )


def _parts(change: Change) -> tuple[Change | None, Change | None]:
    """Return the steps up to the last that copies, and the steps after it."""
    copying = [n for n, one in enumerate(change.steps) if one.copies or one.inside]
    cut = copying[-1] + 1 if copying else 0
    if cut and cut == len(change.steps):
        return change, None
    first, rest = change.steps[:cut], change.steps[cut:]
    before = first[-1].replicas if first else change.before
    # The lists between two steps without copies serve nothing: only the last counts.
    order = replace(change, before=before, steps=rest[-1:]) if rest else None
    return replace(change, steps=first) if first else None, order


def _admission_order(kind: StageKind, changes: Sequence[Change]) -> tuple[Change, ...]:
    """Return the largest copies first, so that the last ones to end are small."""
    if kind in {StageKind.ORDER, StageKind.ELECTION}:
        return tuple(changes)
    return tuple(sorted(changes, key=lambda change: (-_bytes(change), change.key)))


def _bytes(change: Change) -> int:
    return (change.copy_bytes or 0) * max(change.num_copies, 1)
