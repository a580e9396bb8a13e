"""
Admission of copies: which steps may run now, within caps and disk space.

A copy is admitted as soon as its target, its source and the disk of its target have
room; there are no barriers. Each partition has at most one step at a time.
"""

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from planner.apply.changes import Change, Step
from planner.verify.state_rows import Brokers, Key

MOST_PER_REQUEST = 1000
"""Partitions in one request; the controller changes them in one pass."""
LOOK_AHEAD = 64
"""Partitions of a target that are tried each time, in their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """
    Largest number of simultaneous copies of a broker.

    Parameters
    ----------
    max_in, max_out
        Copies that a broker receives, and sends.
    max_shared
        Copies that a broker receives and sends together; `None`: no such cap.
    """

    max_in: int = 5
    max_out: int = 5
    max_shared: int | None = None


Disk = int | tuple[int, str]
"""All disks of a broker, by its id, or one log dir, by broker id and path."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """A step that was admitted, with the change that it belongs to."""

    change: Change
    number: int

    @property
    def step(self) -> Step:
        """The request."""
        return self.change.steps[self.number]

    @property
    def before(self) -> Brokers:
        """Broker ids before the request."""
        change, number = self.change, self.number
        return change.steps[number - 1].replicas if number else change.before

    @property
    def source(self) -> int | None:
        """
        Broker that sends the copies of the request: the leader.

        A leader that an earlier step removed gave way to the first replica of the list.
        """
        before, leader = self.before, self.change.leader
        return leader if leader is None or leader in before else before[0]


class Window:
    """
    Copies that run and that wait, for one stage.

    Parameters
    ----------
    changes
        Partitions of the stage, in the order in which they are admitted.
    caps
        Caps on simultaneous copies.
    free_bytes
        Free bytes of brokers and of their log dirs; those that are missing have no
        known limit. Changed in place: bytes are taken when a copy is admitted. Those of
        a broker come back when a replica was deleted; those of a log dir do not.
    """

    def __init__(
        self, changes: Sequence[Change], caps: Caps, free_bytes: dict[Disk, float]
    ) -> None:
        self._caps, self._free = caps, free_bytes
        self._in: Counter[int] = Counter()
        self._out: Counter[int] = Counter()
        self._queues: dict[int, deque[Admitted]] = {}
        self.active: dict[Key, Admitted] = {}
        for change in changes:
            self._enqueue(Admitted(change, 0))

    def _enqueue(self, one: Admitted) -> None:
        self._queues.setdefault(_first_target(one.step), deque()).append(one)

    @property
    def is_done(self) -> bool:
        """Whether no step runs or waits."""
        return not self.active and not any(self._queues.values())

    def waiting(self) -> Iterator[Admitted]:
        """Yield the steps that wait."""
        for queue in self._queues.values():
            yield from queue

    def admit(self, most: int = MOST_PER_REQUEST) -> list[Admitted]:
        """Return the steps that begin now, at most so many; they count as active."""
        found: list[Admitted] = []
        for target in sorted(self._queues):
            found += self._of_target(target, most - len(found))
            if len(found) >= most:
                break
        return found

    def _of_target(self, target: int, most: int) -> list[Admitted]:
        queue, found = self._queues[target], list[Admitted]()
        passed: list[Admitted] = []
        # If nothing runs, what is not found now never begins: look at all.
        look_ahead = LOOK_AHEAD if self.active else len(queue)
        while self._may_receive(target) and queue and len(found) < most:
            if len(passed) > look_ahead:
                break
            one = queue.popleft()
            if self._fits(one):
                self._begin(one)
                found.append(one)
            else:
                passed.append(one)
        queue.extendleft(reversed(passed))
        return found

    def _may_receive(self, target: int) -> bool:
        return target < 0 or self._has_turn(target, self._in, self._caps.max_in)

    def _fits(self, one: Admitted) -> bool:
        step, change = one.step, one.change
        if step.copies and not self._has_turn(
            one.source, self._out, self._caps.max_out
        ):
            return False
        receives = [*step.copies, *(broker for broker, _ in step.inside)]
        size = change.copy_bytes or 0
        return all(
            self._has_turn(broker, self._in, self._caps.max_in) for broker in receives
        ) and all(size <= self._free.get(disk, size) for disk in disks_of(step))

    def _has_turn(self, broker: int | None, used: Counter[int], most: int) -> bool:
        if broker is None:
            return True
        shared = self._caps.max_shared
        both = self._in[broker] + self._out[broker]
        return used[broker] < most and (shared is None or both < shared)

    def _begin(self, one: Admitted) -> None:
        self.active[one.change.key] = one
        self._count(one, 1)
        for disk in disks_of(one.step):
            self._take(disk, one.change.copy_bytes or 0)

    def _count(self, one: Admitted, by: int) -> None:
        for broker in (*one.step.copies, *(b for b, _ in one.step.inside)):
            self._in[broker] += by
        if one.source is not None and one.step.copies:
            self._out[one.source] += by * len(one.step.copies)

    def _take(self, disk: Disk, size: int) -> None:
        if disk in self._free:
            self._free[disk] -= size

    def finish(self, key: Key) -> Admitted:
        """End the step of a partition, and enqueue its next one, if any."""
        one = self.active.pop(key)
        self._count(one, -1)
        for broker in set(one.before) - set(one.step.replicas):
            self._take(broker, -(one.change.copy_bytes or 0))
        if one.number + 1 < len(one.change.steps):
            self._enqueue(Admitted(one.change, one.number + 1))
        return one


def _first_target(step: Step) -> int:
    """Return the broker whose queue a step waits in; -1: it copies nothing."""
    receives = (*step.copies, *(broker for broker, _ in step.inside))
    return receives[0] if receives else -1


def disks_of(step: Step) -> Iterator[Disk]:
    """Yield the brokers and the named log dirs that a step writes to."""
    paths = dict(zip(step.replicas, step.log_dirs or (), strict=False))
    for broker in step.copies:
        yield broker
        if (path := paths.get(broker)) is not None:
            yield broker, path
    yield from step.inside
