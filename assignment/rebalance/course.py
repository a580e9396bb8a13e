"""What became of a group: every rebalance, every standstill, every message behind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from assignment.group import Group, IndexArray
from assignment.outcome import Assignment
from assignment.rebalance.timers import Protocol


@dataclass(slots=True, eq=False, kw_only=True)
class Step:
    """
    One assignment: a generation of the classic protocols, a group epoch of the new one.

    Parameters
    ----------
    started_ms
        When the coordinator called for it.
    cause
        Why.
    assigned_ms
        When it was made.
    ended_ms
        When everybody had what it gives, or the next one began.
    epoch
        Its number, from 1.
    group
        The members and what they owned, as the assignor saw them.
    assignment
        What it answered; with cooperative, what changes hands is nobody's.
    revoked
        Partitions that each member had to stop reading for it, as names.
    num_moved, num_back
        Partitions taken up by another member than had them, and by the same one again.
    """

    started_ms: int
    cause: str
    assigned_ms: int
    ended_ms: int
    epoch: int
    group: Group
    assignment: Assignment
    revoked: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    num_moved: int = 0
    num_back: int = 0

    @property
    def num_revoked(self) -> int:
        """Partitions that members had to stop reading."""
        return sum(len(names) for names in self.revoked.values())

    def idle_members(self) -> list[str]:
        """Return the members that were given nothing."""
        counts = self.assignment.counts(self.group.num_members)
        idle = np.nonzero(np.equal(counts, 0))[0].tolist()
        return [self.group.members.ids[member] for member in idle]


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """One line of the story."""

    at_ms: int
    text: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Lag:
    """
    Messages behind.

    Parameters
    ----------
    peak
        The most at one time, of all partitions together.
    peak_of
        ``(U,)`` the most of each partition.
    end
        What is left at the end.
    behind_until_ms
        When the group had caught up for the last time; 0 if it was never behind,
        ``inf`` if it does not catch up.
    """

    peak: float
    peak_of: npt.NDArray[np.float64]
    end: float
    behind_until_ms: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Course:
    """
    The whole story. ``U`` partitions, of all topics as large as they grow.

    Parameters
    ----------
    protocol, assignor
        Under which it was played.
    start, steps
        The assignment that stood at the start, and those that followed.
    num_elsewhere
        Partitions that stood with another member before the start.
    topics
        Names and sizes, in the order of the partitions.
    still_ms, longest_ms
        ``(U,)`` how long nobody read each partition: in all, and at a stretch.
    changes
        ``(U,)`` how often another member took it up.
    holder
        ``(U,)`` who has it at the end, by row of `members`.
    is_still_at_end
        ``(U,)`` true where nobody reads at the end.
    members
        Ids of all that were ever there.
    put_out
        Ids of members that the coordinator put out, each with why.
    lag
        `None` where no rates are known.
    story
        What happened, in order.
    until_ms
        When it ends.
    """

    protocol: Protocol
    assignor: str
    start: Step
    steps: Sequence[Step]
    num_elsewhere: int
    topics: Mapping[str, int]
    still_ms: npt.NDArray[np.int64]
    longest_ms: npt.NDArray[np.int64]
    changes: npt.NDArray[np.int64]
    holder: IndexArray
    is_still_at_end: npt.NDArray[np.bool_]
    members: Sequence[str]
    put_out: Sequence[tuple[str, str]]
    lag: Lag | None
    story: Sequence[Saying]
    until_ms: int

    @property
    def last(self) -> Step:
        """The assignment that stands at the end."""
        return self.steps[-1] if self.steps else self.start
