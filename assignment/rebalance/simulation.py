"""Simulation of the events of a group and of its protocol's reactions."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from assignment.assignors import Assignor
from assignment.group import ABSENT
from assignment.make_group import MemberSpec, TopicSpec
from assignment.rebalance.classic import Classic
from assignment.rebalance.client import Client
from assignment.rebalance.consumer import Consumer
from assignment.rebalance.coordinator import Coordinator
from assignment.rebalance.course import Course, Lag, Step
from assignment.rebalance.events import (
    Event,
    Freeze,
    Join,
    Leave,
    Return,
    SetPartitions,
    Slow,
    StopPolling,
)
from assignment.rebalance.reading import Reading
from assignment.rebalance.timers import Protocol, Timers
from assignment.rebalance.world import World
from placement.array_types import BoolArray, IndexArray, RateArray

MAX_STARTING_ROUNDS = 4
"""Rounds to reach the initial assignment; a cooperative assignor needs two."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Run:
    """
    Group and settings of a simulation.

    Parameters
    ----------
    topics, members
        Topics and members at the start. The first assignment starts from the partitions
        that members own.
    protocol, assignor
        Rebalance protocol, and the assignor.
    timers
        Timers of all members and of the coordinator.
    rates
        Messages per second of each partition, by topic; 0 for partitions that are not
        listed. `None`: unknown, and no lag is computed.
    lags
        Consumer lag of each partition at the start in messages, by topic.
    reads_per_s
        Largest number of messages per second that a member of capacity 1 reads.
    is_java_order
        Whether the assignor receives members in the order of a Java ``HashMap``.
    """

    topics: Sequence[TopicSpec]
    members: Sequence[MemberSpec]
    protocol: Protocol
    assignor: Assignor
    timers: Timers
    rates: dict[str, Sequence[float]] | None = None
    lags: dict[str, Sequence[float]] | None = None
    reads_per_s: float = math.inf
    is_java_order: bool = False


def play(run: Run, events: Sequence[Event], until_ms: int) -> Course:
    """
    Simulate a group to the end.

    At the start the group is stable: its assignor has assigned the partitions, starting
    from those that members own. Heartbeats, polls and metadata refreshes of the members
    are spread evenly over their periods. The simulation uses no random numbers, so it
    is reproducible.

    Parameters
    ----------
    run
        Group and settings of the simulation.
    events
        Events of the simulation.
    until_ms
        End of the simulation in milliseconds.

    Returns
    -------
    Result of the simulation.

    Raises
    ------
    AssignorError
        If the assignor rejects the group.
    """
    return _Play(run, events).course(until_ms)


def _sizes(run: Run, events: Sequence[Event]) -> dict[str, int]:
    """Return the largest number of partitions of each topic."""
    sizes = {topic.name: topic.num_partitions for topic in run.topics}
    for event in events:
        if isinstance(event, SetPartitions):
            size = max(event.num_partitions, sizes.get(event.topic, 0))
            sizes[event.topic] = size
    return sizes


def _spread(
    sizes: dict[str, int], values: dict[str, Sequence[float]] | None
) -> RateArray:
    """Return ``(U,)`` values of all partitions; 0 where none is given."""
    parts = [np.zeros(0)]
    for name, size in sizes.items():
        part = np.zeros(size)
        given = np.array((values or {}).get(name, ()), dtype=np.float64)[:size]
        part[: len(given)] = given
        parts.append(part)
    return np.concatenate(parts)


class _Play:
    """Simulation in progress."""

    def __init__(self, run: Run, events: Sequence[Event]) -> None:
        self.run = run
        self.sizes = _sizes(run, events)
        self.world = self._world(events)
        kind = Consumer if run.protocol is Protocol.CONSUMER else Classic
        make: Callable[[World, Callable[[Client], None]], Coordinator] = kind
        self.coordinator = make(self.world, self._begin_batch)
        self._seat()
        for event in sorted(events, key=lambda event: event.at_ms):
            self.world.at(event.at_ms, partial(self._happen, event))

    def course(self, until_ms: int) -> Course:
        """Simulate to the end, and return the result."""
        self.world.run_until(until_ms)
        reading, world = self.world.reading, self.world
        return Course(
            protocol=self.run.protocol,
            assignor=self.run.assignor.name,
            start=self.start,
            num_elsewhere=self.num_elsewhere,
            steps=tuple(world.steps),
            topics=self.sizes,
            still_ms=reading.still_ms,
            longest_ms=reading.longest_ms,
            changes=reading.changes,
            holder=reading.holder,
            is_still_at_end=reading.is_still(),
            members=tuple(client.spec.member_id for client in world.clients),
            put_out=tuple(world.put_out),
            lag=None if self.run.rates is None else _lag(reading),
            story=tuple(world.story),
            until_ms=until_ms,
        )

    def _world(self, events: Sequence[Event]) -> World:
        run = self.run
        exists = [
            np.arange(self.sizes[topic.name]) < topic.num_partitions
            for topic in run.topics
        ]
        size = sum(self.sizes.values())
        is_there = np.zeros(size, dtype=np.bool_)
        flat = np.concatenate([*exists, np.zeros(0, dtype=np.bool_)])
        is_there[: len(flat)] = flat
        reading = Reading(
            is_there,
            np.ones(size, dtype=np.bool_),
            _spread(self.sizes, run.rates),
            _spread(self.sizes, run.lags if math.isfinite(run.reads_per_s) else None),
        )
        world = World(
            run.topics,
            self.sizes,
            timers=run.timers,
            protocol=run.protocol,
            assignor=run.assignor,
            reading=reading,
            is_java_order=run.is_java_order,
        )
        reading.is_wanted = self._wanted(world, events)
        return world

    def _wanted(self, world: World, events: Sequence[Event]) -> BoolArray:
        """Return ``(U,)`` true for partitions that any member ever subscribes to."""
        joined = [event.spec for event in events if isinstance(event, Join)]
        specs = [*self.run.members, *joined]
        wanted = [
            np.full(size, any(world.reads(spec, name) for spec in specs))
            for name, size in self.sizes.items()
        ]
        return np.concatenate([*wanted, np.zeros(0, dtype=np.bool_)])

    def _seat(self) -> None:
        """Register the initial members, and assign their partitions."""
        world, reading = self.world, self.world.reading
        given: IndexArray = np.full(len(reading.holder), ABSENT, dtype=np.int32)
        size = len(self.run.members)
        for at, spec in enumerate(self.run.members):
            speed = spec.capacity * self.run.reads_per_s
            client = world.add_client(spec.member_id, spec, speed, at / size)
            self.coordinator.seat(client)
            for topic, numbers in spec.owned.items():
                if not world.exists(topic):
                    continue
                size_now = world.topics[topic].num_partitions
                rows = [world.first_row[topic] + n for n in numbers if n < size_now]
                given[rows] = at
        self.start, rest = self._rest(given)
        self.num_elsewhere = int(((given != ABSENT) & (given != rest)).sum())
        given = rest
        reading.holder[:] = given
        reading.last[:] = given
        self.coordinator.settle(given)

    def _rest(self, owned: IndexArray) -> tuple[Step, IndexArray]:
        """Return the assignment that the group converges to without events."""
        if not self.run.members:
            return self.world.nothing(), owned
        is_withheld = self.run.protocol is Protocol.COOPERATIVE
        book = self.coordinator.book
        step, given = self.world.answer(book.values(), owned, is_withheld=is_withheld)
        for _ in range(MAX_STARTING_ROUNDS):
            if np.array_equal(owned, given):
                break
            owned = given
            step, given = self.world.answer(
                book.values(), owned, is_withheld=is_withheld
            )
        return step, given

    def _happen(self, event: Event) -> None:
        """Apply an event."""
        match event:
            case SetPartitions():
                self._set_partitions(event)
            case Join():
                self._join(event)
            case Return():
                self._return(self.world.by_name[event.member])
            case Leave():
                self._leave(self.world.by_name[event.member])
            case Freeze():
                self._freeze(self.world.by_name[event.member], event.for_ms)
            case StopPolling():
                self._hang(self.world.by_name[event.member], event.for_ms)
            case Slow():
                self._slow(self.world.by_name[event.member], event)

    def _set_partitions(self, event: SetPartitions) -> None:
        is_new = not self.world.exists(event.topic)
        self.world.set_partitions(event.topic, event.num_partitions)
        what = "appears with" if is_new else "grows to"
        text = f"{event.topic} {what} {event.num_partitions} partitions"
        self.world.say(text)
        self.coordinator.look(text, event.topic)

    def _join(self, event: Join) -> None:
        spec = event.spec
        client = self.world.add_client(spec.member_id, spec, event.reads_per_s)
        self.world.say(f"{spec.member_id} joins")
        self.coordinator.join(client, f"{spec.member_id} joins")

    def _return(self, old: Client) -> None:
        """Start a member again."""
        new = self.world.next_life(old)
        name = new.spec.member_id
        if old.is_static and old.row in self.coordinator.book:
            self.world.say(f"{name} is back, and keeps its place")
            self.coordinator.replace(old, new)
        else:
            self.world.say(f"{name} joins")
            self.coordinator.join(new, f"{name} joins")

    def _leave(self, client: Client) -> None:
        name = client.spec.member_id
        if client.is_static:
            self.world.say(f"{name} is shut down; being static, it does not say so")
            self._silence(client)
            return
        self.world.say(f"{name} leaves")
        self._still(client)
        self.coordinator.remove(client, f"{name} leaves")

    def _freeze(self, client: Client, for_ms: int | None) -> None:
        self.world.say(f"{client.spec.member_id} stops heart-beating")
        self._silence(client)
        if for_ms is not None:
            self.world.at(self.world.now_ms + for_ms, lambda: self._wake(client))

    def _still(self, client: Client) -> None:
        """Stop the heartbeats and the reading of a member."""
        client.silence += 1
        client.is_beating = False
        self.world.reading.set_running(client.row, is_running=False)

    def _silence(self, client: Client) -> None:
        """Stop a member, and schedule its removal after the session timeout."""
        last_ms = client.previous_beat(self.world.now_ms)
        self._still(client)
        alarm = client.silence
        due_ms = last_ms + self.run.timers.session_timeout_ms
        self.world.at(due_ms, lambda: self._session_over(client, alarm))

    def _session_over(self, client: Client, alarm: int) -> None:
        if client.silence != alarm or client.row not in self.coordinator.book:
            return
        if self.coordinator.is_waiting(client):
            # A member that waits for a join response need not send heartbeats.
            due_ms = self.world.now_ms + self.run.timers.session_timeout_ms
            self.world.at(due_ms, lambda: self._session_over(client, alarm))
            return
        self._put_out(client, "no heartbeat within session.timeout.ms")

    def _put_out(self, client: Client, why: str) -> None:
        self.world.expel(client, why)
        self.coordinator.remove(client, f"{client.spec.member_id} is put out")

    def _wake(self, client: Client) -> None:
        """Resume a silent member, in its old place or as a new member."""
        if self.world.by_name[client.name] is not client or client.is_reading:
            return
        client.silence += 1
        if client.row not in self.coordinator.book:
            self._return(client)
            return
        client.is_beating = client.is_polling = True
        client.set_poll(client.poll_ms, self.world.now_ms)
        self.world.reading.set_running(client.row, is_running=True)
        self.world.say(f"{client.spec.member_id} goes on")
        self.coordinator.resume(client)

    def _hang(self, client: Client, for_ms: int | None) -> None:
        self.world.say(f"{client.spec.member_id} stops polling")
        self._stop_polling(client, for_ms)

    def _stop_polling(self, client: Client, for_ms: int | None) -> None:
        """Stop the polls of a member; it leaves after ``max.poll.interval.ms``."""
        last_ms = client.previous_poll(self.world.now_ms)
        client.silence += 1
        client.is_polling = False
        self.world.reading.set_running(client.row, is_running=False)
        alarm = client.silence
        due_ms = last_ms + self.run.timers.max_poll_interval_ms
        self.world.at(due_ms, lambda: self._poll_over(client, alarm))
        if for_ms is not None:
            self.world.at(self.world.now_ms + for_ms, lambda: self._wake(client))

    def _poll_over(self, client: Client, alarm: int) -> None:
        """Remove a member that did not poll; a static member only stops heartbeats."""
        if client.silence != alarm or client.row not in self.coordinator.book:
            return
        if client.is_static:
            last_ms = client.previous_beat(self.world.now_ms)
            client.is_beating = False
            due_ms = last_ms + self.run.timers.session_timeout_ms
            self.world.at(due_ms, lambda: self._session_over(client, alarm))
            return
        self._put_out(client, "no poll within max.poll.interval.ms")

    def _slow(self, client: Client, event: Slow) -> None:
        self.world.say(f"{client.spec.member_id} is slow from now on")
        if event.reads_per_s is not None:
            self.world.reading.set_speed(client.row, event.reads_per_s)
        if event.poll_ms is not None:
            client.set_poll(event.poll_ms, self.world.now_ms)
            if len(self.world.reading.held(client.row)):
                self._begin_batch(client)

    def _begin_batch(self, client: Client) -> None:
        """Start a batch of a member, which hangs if the batch takes too long."""
        if client.poll_ms > self.run.timers.max_poll_interval_ms:
            client.set_poll(client.poll_ms, self.world.now_ms)
            self._stop_polling(client, client.poll_ms)


def _lag(reading: Reading) -> Lag:
    """Return the current and the past consumer lag of the group."""
    left_s = reading.drained_s()
    until = reading.behind_until_ms
    return Lag(
        peak=reading.total_peak,
        peak_of=reading.peak,
        end=float(reading.lag.sum()),
        behind_until_ms=reading.now_ms + 1000 * left_s if left_s else until,
    )
