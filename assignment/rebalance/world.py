"""Clock, members as processes, and the group as the coordinator sees it."""

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import TypeVar

import numpy as np

from assignment.assignors import Assignor
from assignment.group import ABSENT, NOT_SENT, Group
from assignment.make_group import MemberSpec, TopicSpec, make_group, matches
from assignment.outcome import Assignment
from assignment.rebalance.client import Client
from assignment.rebalance.course import Saying, Step
from assignment.rebalance.reading import Reading
from assignment.rebalance.timers import Protocol, Timers
from placement.array_types import IndexArray, RowArray
from placement.kafka_java.java_orders import hash_map_order

Value = TypeVar("Value")


class World:
    """
    State of the simulation: clock, topics, partitions and members.

    Parameters
    ----------
    topics
        Topics at the start; `sizes` includes topics that appear later.
    sizes
        Largest number of partitions of each topic, by name, in the order of the
        partitions.
    timers
        Timers of all members and of the coordinator.
    protocol
        Rebalance protocol of the group.
    assignor
        Assignor of the group.
    reading
        State of the partitions.
    is_java_order
        Whether the assignor receives members in the order of a Java ``HashMap``.
    """

    def __init__(
        self,
        topics: Sequence[TopicSpec],
        sizes: Mapping[str, int],
        *,
        timers: Timers,
        protocol: Protocol,
        assignor: Assignor,
        reading: Reading,
        is_java_order: bool,
    ) -> None:
        self.timers, self.protocol, self.assignor = timers, protocol, assignor
        self.reading = reading
        self.topics = {topic.name: topic for topic in topics}
        ends = np.cumsum([0, *sizes.values()]).tolist()
        self.first_row = dict(zip(sizes, ends, strict=False))
        self.clients: list[Client] = []
        self.by_name: dict[str, Client] = {}
        self.steps: list[Step] = []
        self.story: list[Saying] = []
        self.put_out: list[tuple[str, str]] = []
        self.ahead: dict[str, list[tuple[str, int]]] = {}
        self.is_java_order = is_java_order
        self._queue: list[tuple[int, int, Callable[[], None]]] = []
        self._number = count()

    @property
    def now_ms(self) -> int:
        """Current time in milliseconds."""
        return self.reading.now_ms

    def at(self, at_ms: int, action: Callable[[], None]) -> None:
        """Schedule an action; actions due at one time run in order of scheduling."""
        heapq.heappush(self._queue, (at_ms, next(self._number), action))

    def run_until(self, until_ms: int) -> None:
        """Run all actions that are due up to a time."""
        while self._queue and self._queue[0][0] <= until_ms:
            at_ms, _, action = heapq.heappop(self._queue)
            self.reading.advance(at_ms)
            action()
        self.reading.advance(until_ms)

    def say(self, text: str) -> None:
        """Append a line to the event log."""
        self.story.append(Saying(at_ms=self.now_ms, text=text))

    def expel(self, client: Client, why: str) -> None:
        """Record that the coordinator removes a member."""
        self.put_out.append((client.spec.member_id, why))
        self.say(f"{client.spec.member_id} is put out: {why}")

    def add_client(
        self, name: str, spec: MemberSpec, reads_per_s: float, phase: float = 0.0
    ) -> Client:
        """Start the process of a member."""
        client = Client(
            row=len(self.clients),
            name=name,
            spec=spec,
            timers=self.timers,
            phase=phase,
            born_ms=self.now_ms,
        )
        self.clients.append(client)
        self.by_name[name] = client
        self.reading.add_client(reads_per_s)
        return client

    def next_life(self, client: Client) -> Client:
        """Restart a member; a static member keeps its id."""
        lives = sum(each.name == client.name for each in self.clients)
        spec = client.spec
        if not client.is_static:
            spec = replace(spec, member_id=f"{client.name}#{lives + 1}")
        again = self.add_client(client.name, spec, self.reading.speed(client.row))
        again.set_poll(client.poll_ms, self.now_ms)
        return again

    def next_poll(self, client: Client, at_ms: int) -> int:
        """Return the time of a member's next poll; `at_ms` without partitions."""
        is_busy = bool(np.equal(self.reading.holder, client.row).any())
        return client.next_poll(at_ms) if is_busy else at_ms

    def set_partitions(self, name: str, num_partitions: int) -> None:
        """Grow or create a topic."""
        topic = self.topics.get(name) or TopicSpec(name=name, num_partitions=0)
        first = self.first_row[name]
        rows = np.arange(first + topic.num_partitions, first + num_partitions)
        self.reading.appear(rows)
        # New partitions have no weights and racks of their own: use defaults.
        weights = _longer(topic.weights, 1.0, num_partitions)
        racks = _longer(topic.racks, (), num_partitions)
        self.topics[name] = replace(
            topic, num_partitions=num_partitions, weights=weights, racks=racks
        )

    def reads(self, spec: MemberSpec, topic: str) -> bool:
        """Return whether a member subscribes to a topic."""
        if topic in spec.topics:
            return True
        return spec.pattern is not None and matches(spec.pattern, topic)

    def exists(self, topic: str) -> bool:
        """Return whether a topic has partitions."""
        return topic in self.topics and self.topics[topic].num_partitions > 0

    def rows(self) -> RowArray:
        """Return rows of the existing partitions, in the order of a group's columns."""
        spans = [
            np.arange(first, first + self.topics[name].num_partitions)
            for name, first in self.first_row.items()
            if name in self.topics
        ]
        return np.concatenate([*spans, np.zeros(0, dtype=np.int64)])

    def group(
        self, book: Iterable[Client], owner: IndexArray
    ) -> tuple[Group, list[Client]]:
        """
        Return the group as an assignor sees it, and the client of each member row.

        Parameters
        ----------
        book
            Current members.
        owner
            ``(U,)`` previous owner of each partition, as a row of a client.
        """
        clients = list(book)
        if self.is_java_order:
            ids = [client.spec.member_id for client in clients]
            clients = [clients[at] for at in hash_map_order(ids)]
        topics = [self.topics[name] for name in self.first_row if name in self.topics]
        specs = [self._sent(client, owner) for client in clients]
        return make_group(topics, specs), clients

    def _sent(self, client: Client, owner: IndexArray) -> MemberSpec:
        owned = self.names(np.nonzero(np.equal(owner, client.row))[0])
        named = client.spec.topics
        if self.protocol is Protocol.CONSUMER:
            # The coordinator ignores topics that do not exist.
            named = [name for name in named if self.exists(name)]
        by_topic: dict[str, list[int]] = {}
        for topic, number in owned:
            by_topic.setdefault(topic, []).append(number)
        generation = len(self.steps) if owned else NOT_SENT
        return replace(
            client.spec,
            topics=named,
            owned=by_topic,
            generation=generation,
            subscription_generation=generation,
        )

    def names(self, rows: RowArray) -> list[tuple[str, int]]:
        """Return the topic and number of each partition."""
        topics, firsts = list(self.first_row), np.array([*self.first_row.values()])
        # Of topics with equal first rows, only the last has rows.
        at = np.searchsorted(firsts, rows, side="right") - 1
        numbers = (rows - firsts[at]).tolist() if len(rows) else []
        return [(topics[t], n) for t, n in zip(at.tolist(), numbers, strict=True)]

    def assign(
        self,
        book: Iterable[Client],
        owner: IndexArray,
        *,
        cause: str,
        started_ms: int,
        is_withheld: bool,
    ) -> IndexArray:
        """
        Assign the partitions, and record the assignment as a step.

        Returns
        -------
        ``(U,)`` new owner of each partition, as a row of a client.
        """
        step, target = self.answer(book, owner, is_withheld=is_withheld)
        step.cause, step.started_ms = cause, started_ms
        step.revoked, self.ahead = self.ahead, {}
        self.steps.append(step)
        return target

    def answer(
        self, book: Iterable[Client], owner: IndexArray, *, is_withheld: bool
    ) -> tuple[Step, IndexArray]:
        """Compute an assignment without recording it."""
        group, clients = self.group(book, owner)
        assignment = self.assignor.assign(group)
        if is_withheld:
            assignment = withhold(group, assignment)
        row_of = np.array([*(client.row for client in clients), ABSENT], dtype=np.int32)
        target: IndexArray = np.full(len(owner), ABSENT, dtype=np.int32)
        target[self.rows()] = row_of[assignment.member_idx]
        return self._step(group, assignment), target

    def nothing(self) -> Step:
        """Return the step of a group without members."""
        group, _ = self.group([], self.reading.holder)
        nobody = np.full(group.num_partitions, ABSENT, dtype=np.int32)
        return self._step(group, Assignment(nobody))

    def _step(self, group: Group, assignment: Assignment) -> Step:
        return Step(
            started_ms=self.now_ms,
            cause="",
            assigned_ms=self.now_ms,
            ended_ms=self.now_ms,
            epoch=len(self.steps) + 1,
            group=group,
            assignment=assignment,
        )

    def revoke(self, client: Client, rows: RowArray, *, is_ahead: bool) -> None:
        """
        Revoke partitions of a member.

        Parameters
        ----------
        client, rows
            The member, and the rows of its partitions to revoke.
        is_ahead
            Whether the partitions are revoked before the next assignment, as in the
            eager protocol, rather than because of the last one.
        """
        if not len(rows):
            return
        self.reading.release(rows)
        revoked = self.ahead if is_ahead else self.steps[-1].revoked
        revoked.setdefault(client.spec.member_id, []).extend(self.names(rows))
        if not is_ahead:
            self.steps[-1].ended_ms = self.now_ms

    def take(self, client: Client, rows: RowArray) -> None:
        """Assign partitions to a member, and count the moved ones."""
        moved, back = self.reading.take(client.row, rows)
        if self.steps:
            step = self.steps[-1]
            step.num_moved += moved
            step.num_back += back
            step.ended_ms = self.now_ms


def _longer(
    values: Sequence[Value] | None, value: Value, size: int
) -> list[Value] | None:
    if values is None:
        return None
    return [*values, *[value] * (size - len(values))]


def withhold(group: Group, assignment: Assignment) -> Assignment:
    """Return an assignment without partitions that another member has to revoke."""
    member_idx = assignment.member_idx.copy()
    rows, owners = group.owned.idx, group.owned.owner
    member_idx[rows[member_idx[rows] != owners]] = ABSENT
    return Assignment(np.asarray(member_idx, dtype=np.int32))
