"""Waiting for the copies of a plan on a running cluster, with their progress."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from placement.model.cluster import UNKNOWN, ClusterState
from planner.errors import ClusterUnavailableError
from planner.snapshot import Snapshot
from planner.text.format import bytes_text, duration_text, plural
from planner.verify.verification import Verification

POLL_S = 5.0
"""Seconds between two looks at the cluster."""
MOST_FAILURES = 12
"""Looks in a row that may fail: brokers restart, and networks break."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyProgress:
    """
    Bytes left to copy, and partitions that move, at one moment.

    Parameters
    ----------
    at_s
        Seconds on a monotonic clock.
    num_moving, num_stuck
        Partitions of the plan that are being moved, and those of them that cannot
        finish by themselves.
    left_bytes
        Bytes that their new replicas lack; those of unknown size count as 0.
    """

    at_s: float
    num_moving: int
    num_stuck: int
    left_bytes: int

    def text(self, before: "CopyProgress | None") -> str:
        """Return the progress as text, with the rate since an earlier moment."""
        words = f"{plural(self.num_moving, 'partition')} being moved"
        words += f", {bytes_text(self.left_bytes)} left"
        if self.num_stuck:
            words += f", {self.num_stuck} cannot finish"
        rate = 0.0 if before is None else self._rate(before)
        if rate > 0:
            words += f", {bytes_text(rate)}/s"
            words += f", about {duration_text(self.left_bytes / rate)}"
        return words

    def _rate(self, before: "CopyProgress") -> float:
        """Return the bytes/s since an earlier moment; other copies may have begun."""
        seconds = self.at_s - before.at_s
        copied = before.left_bytes - self.left_bytes
        return copied / seconds if seconds > 0 else 0.0


def progress_of(
    outcome: Verification, state: ClusterState, at_s: float
) -> CopyProgress:
    """Return the progress of the copies of a plan."""
    moves = outcome.moving
    return CopyProgress(
        at_s=at_s,
        num_moving=len(moves),
        num_stuck=sum(not move.can_finish for move in moves),
        left_bytes=_left_bytes(state, {(move.topic, move.partition) for move in moves}),
    )


def _left_bytes(state: ClusterState, keys: set[tuple[str, int]]) -> int:
    """Return the bytes that the adding replicas of some partitions lack."""
    replicas, names = state.replicas, state.topics.names
    rows = np.nonzero(replicas.is_adding & ~replicas.is_in_sync)[0]
    of = replicas.partition_idx[rows]
    topics = [names[t] for t in state.partitions.topic_idx[of].tolist()]
    numbers = state.partitions.partition[of].tolist()
    is_ours = [key in keys for key in zip(topics, numbers, strict=True)]
    size, own = state.partitions.size_bytes[of], replicas.own_bytes[rows]
    has = np.where(np.equal(own, UNKNOWN), 0, own)
    left = np.where(np.equal(size, UNKNOWN), 0, np.maximum(size - has, 0))
    return int(left[np.array(is_ours, dtype=np.bool_)].sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """
    Time, and a way to let it pass.

    Parameters
    ----------
    now_s
        Function that returns seconds on a monotonic clock.
    sleep
        Function that waits for some seconds.
    """

    now_s: Callable[[], float]
    sleep: Callable[[float], None]


def wait_for_copies(
    look: Callable[[], tuple[Snapshot, Verification]],
    clock: Clock,
    note: Callable[[str], None],
) -> tuple[Snapshot, Verification]:
    """
    Look at a cluster again and again while copies of a plan can finish.

    Parameters
    ----------
    look
        Function that reads the cluster and compares it with the plan.
    clock
        Time between two looks.
    note
        Function that shows the progress, called when it changes.

    Returns
    -------
    The last look: nothing moves, or what moves cannot finish by itself.

    Raises
    ------
    ClusterUnavailableError
        If the cluster cannot be reached, or not again for `MOST_FAILURES` looks.
    """
    before: CopyProgress | None = None
    while True:
        now, outcome = look() if before is None else _look_again(look, clock, note)
        found = progress_of(outcome, now.to_state(), clock.now_s())
        if found.num_moving == found.num_stuck:
            return now, outcome
        if before is None or found.left_bytes != before.left_bytes:
            note(found.text(before))
        before = found
        clock.sleep(POLL_S)


def _look_again(
    look: Callable[[], tuple[Snapshot, Verification]],
    clock: Clock,
    note: Callable[[str], None],
) -> tuple[Snapshot, Verification]:
    """Look at a cluster that was reached before, several times if need be."""
    for _ in range(MOST_FAILURES - 1):
        try:
            return look()
        except ClusterUnavailableError as error:
            note(f"{error.message}; trying again")
            clock.sleep(POLL_S)
    return look()
