"""Result of a simulation: rebalances, times without a reader, and consumer lag."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from assignment.group import Group
from assignment.outcome import Assignment, idle_members
from assignment.rebalance.timers import Protocol
from placement.array_types import IndexArray


@dataclass(slots=True, eq=False, kw_only=True)
class Step:
    """
    Assignment, a generation of the classic protocols or an epoch of the consumer one.

    Parameters
    ----------
    started_ms
        Time at which the rebalance started, in milliseconds.
    cause
        Reason for the rebalance.
    assigned_ms
        Time at which the partitions were assigned, in milliseconds.
    ended_ms
        Time at which the last member had revoked and taken its partitions, in
        milliseconds; no later than the next assignment.
    epoch
        Number of the assignment, from 1.
    group
        Members and their owned partitions, as passed to the assignor.
    assignment
        Result of the assignor; with the cooperative protocol, partitions that change
        owner are unassigned.
    revoked
        Partitions that each member revoked for it, as topic and number by member id.
    num_moved, num_back
        Number of partitions taken by another member than before, and by the same
        member again.
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
        """Number of partitions that members had to revoke."""
        return sum(len(names) for names in self.revoked.values())

    def idle_members(self) -> list[str]:
        """Return the ids of the members without partitions."""
        return idle_members(self.group, self.assignment)


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """One line of the event log."""

    at_ms: int
    text: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Lag:
    """
    Consumer lag in messages.

    Parameters
    ----------
    peak
        Largest total lag of all partitions at one time.
    peak_of
        ``(U,)`` largest lag of each partition.
    end
        Total lag at the end.
    behind_until_ms
        Time at which the group caught up for the last time, in milliseconds; 0 if it
        was never behind, ``inf`` if it does not catch up.
    """

    peak: float
    peak_of: npt.NDArray[np.float64]
    end: float
    behind_until_ms: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Course:
    """
    Result of the whole simulation.

    ``U`` counts the partitions of all topics at their largest size.

    Parameters
    ----------
    protocol, assignor
        Protocol of the group, and name of its assignor.
    start, steps
        Assignment at the start, and the assignments that followed.
    num_elsewhere
        Number of partitions that another member owned before the start.
    topics
        Largest number of partitions by topic name, in the order of the partitions.
    still_ms, longest_ms
        ``(U,)`` time that each partition had no reader, in milliseconds: in total, and
        the longest uninterrupted period.
    changes
        ``(U,)`` number of times another member took the partition.
    holder
        ``(U,)`` member that holds the partition at the end, as a row of `members`.
    is_still_at_end
        ``(U,)`` true where the partition has no reader at the end.
    members
        Ids of all members, past ones included.
    put_out
        Ids of members that the coordinator removed, each with the reason.
    lag
        Consumer lag; `None` where no rates are known.
    story
        Event log, in order of time.
    until_ms
        End of the simulation, in milliseconds.
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
        """Assignment in force at the end."""
        return self.steps[-1] if self.steps else self.start
