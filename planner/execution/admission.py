"""
Admission of copies: which steps may run now, within caps and disk space.

A copy is admitted as soon as its target, its source and the disk of its target have
room; there are no barriers. Each partition has at most one step at a time.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from planner.execution.changes import Change, Step
from planner.verify.state_rows import Brokers, Key

MOST_PER_REQUEST = 1000
"""Partitions in one request; the controller changes them in one pass."""
LOOK_AHEAD = 64
"""Steps of a route that are tried each time, in their order."""


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


Route = tuple[int, int]
"""Broker that receives first, and broker that sends; `NO_BROKER`: none does."""
NO_BROKER = -1


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
    def new_bytes(self) -> int:
        """Bytes that one new replica still copies, where known."""
        return max((self.change.copy_bytes or 0) - self.step.copied_bytes, 0)

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

    @property
    def route(self) -> Route:
        """Ends of the first copy of the request."""
        target = next(iter(_receivers(self.step)), NO_BROKER)
        source = self.source if self.step.copies else None
        return target, NO_BROKER if source is None else source


class Window:
    """
    Copies that run and that wait, for one stage.

    Parameters
    ----------
    changes
        Partitions of the stage, in the order in which they are admitted. Those whose
        first step is running are active from the start.
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
        self._rank = {change.key: rank for rank, change in enumerate(changes)}
        self._waiting: dict[Route, list[tuple[int, Admitted]]] = {}
        self._routes_of: dict[int | None, set[Route]] = {}
        self._open: set[Route] = set()
        self._may_begin: Callable[[Admitted], bool] | None = None
        self._closed: frozenset[int] = frozenset()
        self.active: dict[Key, Admitted] = {}
        for change in changes:
            first = Admitted(change, 0)
            if first.step.is_running:
                self._begin(first)
            else:
                self._enqueue(first)

    def _enqueue(self, one: Admitted) -> None:
        route = one.route
        heappush(self._waiting.setdefault(route, []), (self._rank[one.change.key], one))
        for broker in (one.source, *_receivers(one.step)):
            self._routes_of.setdefault(broker, set()).add(route)
        self._open.add(route)

    @property
    def is_done(self) -> bool:
        """Whether no step runs or waits."""
        return not self.active and not any(self._waiting.values())

    def waiting(self) -> Iterator[Admitted]:
        """Yield the steps that wait."""
        for steps in self._waiting.values():
            yield from (one for _, one in steps)

    def close(self, brokers: Collection[int]) -> None:
        """Admit no step to a list with one of these brokers, until the next call."""
        if self._closed != frozenset(brokers):
            self._closed = frozenset(brokers)
            self._open |= self._waiting.keys()

    def set_aside(self, key: Key) -> Admitted:
        """End the step of a partition, and give up its next ones."""
        one = self.active.pop(key)
        self._leave(one)
        return one

    def set_waiting_aside(self, is_lost: Callable[[Admitted], bool]) -> list[Admitted]:
        """Remove and return the steps that wait and satisfy a condition."""
        found = [one for one in self.waiting() if is_lost(one)]
        lost = {one.change.key for one in found}
        for route, steps in self._waiting.items():
            kept = [entry for entry in steps if entry[1].change.key not in lost]
            if len(kept) < len(steps):
                heapify(kept)
                self._waiting[route] = kept
        return found

    def admit(
        self,
        most: int = MOST_PER_REQUEST,
        may_begin: Callable[[Admitted], bool] | None = None,
    ) -> list[Admitted]:
        """
        Return the steps that begin now, at most so many; they count as active.

        Only routes where a turn or a disk has become free since the last call are
        looked at, in the order of their first steps.
        """
        self._may_begin = may_begin
        # If nothing runs, what is not found now never begins: look at all.
        is_last = not self.active or may_begin is not None
        routes = self._waiting.keys() if is_last else self._open
        heads = [
            (self._waiting[route][0][0], route)
            for route in routes
            if self._waiting[route] and self._has_turns(route)
        ]
        heapify(heads)
        found: list[Admitted] = []
        while heads and len(found) < most:
            _, route = heappop(heads)
            one = self._first_that_fits(route, is_last=is_last)
            if one is None:
                continue
            self._begin(one)
            found.append(one)
            if self._waiting[route]:
                heappush(heads, (self._waiting[route][0][0], route))
        self._open = {route for _, route in heads}
        return found

    def _first_that_fits(self, route: Route, *, is_last: bool) -> Admitted | None:
        """Remove and return a step of a route; others may lack room on their disks."""
        steps, passed = self._waiting[route], list[tuple[int, Admitted]]()
        found = None
        while steps and self._has_turns(route) and found is None:
            if len(passed) == LOOK_AHEAD and not is_last:
                break
            rank, one = heappop(steps)
            if self._fits(one):
                found = one
            else:
                passed.append((rank, one))
        for entry in passed:
            heappush(steps, entry)
        return found

    def _has_turns(self, route: Route) -> bool:
        """Return whether the ends of a route may take part in another copy."""
        target, source = route
        return self._may_send(source) and (
            target == NO_BROKER or self._may_receive(target)
        )

    def _may_receive(self, broker: int) -> bool:
        return self._has_turn(broker, self._in, self._caps.max_in)

    def _may_send(self, broker: int) -> bool:
        most = self._caps.max_out
        return broker == NO_BROKER or self._has_turn(broker, self._out, most)

    def _fits(self, one: Admitted) -> bool:
        size = one.new_bytes
        return (
            self._closed.isdisjoint(one.step.replicas)
            and (self._may_begin is None or self._may_begin(one))
            and self._may_send(one.route[1])
            and all(map(self._may_receive, _receivers(one.step)))
            and all(size <= self._free.get(disk, size) for disk in disks_of(one.step))
        )

    def _has_turn(self, broker: int, used: Counter[int], most: int) -> bool:
        shared = self._caps.max_shared
        both = self._in[broker] + self._out[broker]
        return used[broker] < most and (shared is None or both < shared)

    def _begin(self, one: Admitted) -> None:
        self.active[one.change.key] = one
        self._count(one, 1)
        for disk in disks_of(one.step):
            self._take(disk, one.new_bytes)

    def _count(self, one: Admitted, by: int) -> None:
        for broker in _receivers(one.step):
            self._in[broker] += by
        if (source := one.route[1]) != NO_BROKER:
            self._out[source] += by * len(one.step.copies)

    def _take(self, disk: Disk, size: int) -> None:
        if disk in self._free:
            self._free[disk] -= size

    def finish(self, key: Key) -> Admitted:
        """End the step of a partition, and enqueue its next one, if any."""
        one = self.active.pop(key)
        dropped = set(one.before) - set(one.step.replicas)
        for broker in dropped:
            self._take(broker, -(one.change.copy_bytes or 0))
        self._leave(one, *dropped)
        if one.number + 1 < len(one.change.steps):
            self._enqueue(Admitted(one.change, one.number + 1))
        return one

    def _leave(self, one: Admitted, *others: int) -> None:
        """Free the turns of a step, and look again at what waited for its brokers."""
        self._count(one, -1)
        for end in {one.source, *_receivers(one.step), *others}:
            self._open |= self._routes_of.get(end, set())


def _receivers(step: Step) -> tuple[int, ...]:
    """Return the brokers that a step writes to."""
    return (*step.copies, *(broker for broker, _ in step.inside))


def disks_of(step: Step) -> Iterator[Disk]:
    """Yield the brokers and the named log dirs that a step writes to."""
    paths = dict(zip(step.replicas, step.log_dirs or (), strict=False))
    for broker in step.copies:
        yield broker
        if (path := paths.get(broker)) is not None:
            yield broker, path
    yield from step.inside
