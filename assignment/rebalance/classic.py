"""Classic group coordinator, with eager and cooperative members."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from assignment.group import ABSENT
from assignment.rebalance.client import Client
from assignment.rebalance.timers import Protocol
from assignment.rebalance.world import World
from placement.array_types import IndexArray, RowArray

HANDED_ON = "what was given up is handed on"
LATE = "it did not rejoin within max.poll.interval.ms"


@dataclass(slots=True, eq=False)
class Round:
    """
    Rebalance in progress, from its start until all members have rejoined.

    Parameters
    ----------
    number
        Sequence number of the rebalance.
    cause, started_ms
        Reason for the rebalance, and its start in milliseconds.
    not_before_ms
        Time in milliseconds until which an empty group waits for more members.
    joined
        Rows of the members that have rejoined.
    """

    number: int
    cause: str
    started_ms: int
    not_before_ms: int
    joined: set[int] = field(default_factory=set)


class Classic:
    """
    Coordinator of a classic group, and the reaction of its members to rebalances.

    A rebalance starts when a member joins, leaves, is removed, or requests one. The
    other members learn of the rebalance by their next heartbeat and rejoin at the next
    poll; eager members revoke all their partitions just before. When all members have
    rejoined, or after the rebalance timeout, the partitions are assigned. Cooperative
    members receive the assignment at their next poll; members with partitions to revoke
    then revoke these and rejoin at once.

    Parameters
    ----------
    world
        Clock, members and partitions of the simulation.
    on_batch
        Callback for each member that receives partitions.

    References
    ----------
    KIP-62 (timeouts), KIP-134 (initial delay), KIP-345 (static members), KIP-429;
    ``coordinator.group.GroupMetadataManager`` of Apache Kafka 4.3.
    """

    def __init__(self, world: World, on_batch: Callable[[Client], None]) -> None:
        self.world, self.on_batch = world, on_batch
        self.book: dict[int, Client] = {}
        self.is_eager = world.protocol is Protocol.EAGER
        self.round: Round | None = None
        self.given: IndexArray = world.reading.holder.copy()
        self.unheard: set[int] = set()
        self._num_rounds = 0

    def seat(self, client: Client) -> None:
        """Register a member at the start of the simulation."""
        self.book[client.row] = client

    def settle(self, given: IndexArray) -> None:
        """Set the assignment at the start of the simulation."""
        self.given = given.copy()

    def is_waiting(self, client: Client) -> bool:
        """Return whether the member waits for a join response without heartbeats."""
        return self.round is not None and client.row in self.round.joined

    def join(self, client: Client, cause: str) -> None:
        """Add a member to the group."""
        is_first = not self.book
        self.book[client.row] = client
        if self.round is None:
            self._call(cause, is_initial=is_first)
        elif self.round.not_before_ms > self.world.now_ms:
            self._wait_longer(self.round)
        self._rejoin(client)

    def replace(self, old: Client, new: Client) -> None:
        """Replace a static member that is still in the group by its new instance."""
        self.book = {
            new.row if row == old.row else row: new if row == old.row else client
            for row, client in self.book.items()
        }
        for rows in (self.given, self.world.reading.holder, self.world.reading.last):
            rows[np.equal(rows, old.row)] = new.row
        self.unheard.discard(old.row)
        self.unheard.add(new.row)
        if self.round is None:
            self._hear(new)
        else:
            self.round.joined.discard(old.row)
            self._rejoin(new)

    def remove(self, client: Client, cause: str) -> None:
        """Remove a member from the group."""
        if self.book.pop(client.row, None) is None:
            return
        self.world.reading.release(self.world.reading.held(client.row))
        self.unheard.discard(client.row)
        if not self.book:
            self.round = None
            self.world.say("the group is empty")
        elif self.round is None:
            self._call(cause)
        else:
            self.round.joined.discard(client.row)
            self._finish_if_all(self.round)

    def resume(self, client: Client) -> None:
        """Deliver the assignment and the rebalance that a silent member missed."""
        if client.row in self.unheard:
            self._hear(client)
        if self.round is not None:
            self._await(client, self.round)

    def look(self, cause: str, topic: str) -> None:
        """
        Schedule the discovery of new partitions by a metadata refresh.

        The group leader, the member that joined first, discovers new partitions.
        Members subscribed by a matching pattern discover new topics. The first of
        these members to refresh its metadata requests a rebalance.
        """
        now = self.world.now_ms
        lookers = [client for client in self._lookers(topic) if client.is_reading]
        if lookers:
            first = min(lookers, key=lambda client: client.next_look(now))
            at_ms = self.world.next_poll(first, first.next_look(now))
            self.world.at(at_ms, lambda: self._ask(first, cause, topic))

    def _lookers(self, topic: str) -> list[Client]:
        reads = self.world.reads
        readers = [c for c in self.book.values() if reads(c.spec, topic)]
        by_pattern = [c for c in readers if topic not in c.spec.topics]
        return by_pattern or (list(self.book.values())[:1] if readers else [])

    def _ask(self, client: Client, cause: str, topic: str) -> None:
        """Request a rebalance on behalf of a member, unless it is obsolete."""
        if self._knows(topic):
            return
        if client.row not in self.book or not client.is_reading:
            self.look(cause, topic)
            return
        if self.round is None:
            self._call(cause)
        self._rejoin(client)

    def _knows(self, topic: str) -> bool:
        """Return whether the last assignment covers all partitions of a topic."""
        first = self.world.first_row[topic]
        rows = np.arange(first, first + self.world.topics[topic].num_partitions)
        return bool((self.given[rows] != ABSENT).all())

    def _call(self, cause: str, *, is_initial: bool = False) -> None:
        """Start a rebalance, in which all members have to rejoin."""
        now, timers = self.world.now_ms, self.world.timers
        self._num_rounds += 1
        delay = timers.initial_delay_ms if is_initial else 0
        called = Round(self._num_rounds, cause, now, now + delay)
        self.round = called
        for client in self.book.values():
            self._await(client, called)
        self.world.at(
            now + delay + timers.max_poll_interval_ms, lambda: self._give_up(called)
        )
        if delay:
            self.world.at(now + delay, lambda: self._finish_if_all(called))

    def _wait_longer(self, called: Round) -> None:
        timers = self.world.timers
        latest = called.started_ms + timers.max_poll_interval_ms
        until = min(latest, self.world.now_ms + timers.initial_delay_ms)
        called.not_before_ms = max(called.not_before_ms, until)
        self.world.at(called.not_before_ms, lambda: self._finish_if_all(called))

    def _await(self, client: Client, called: Round) -> None:
        """Schedule a member to rejoin at its first poll after its next heartbeat."""
        if client.is_reading:
            at_ms = self.world.next_poll(client, client.next_beat(self.world.now_ms))
            self.world.at(at_ms, lambda: self._answer_call(client, called))

    def _answer_call(self, client: Client, called: Round) -> None:
        if self.round is called and client.row in self.book and client.is_reading:
            self._rejoin(client)

    def _rejoin(self, client: Client) -> None:
        called = self.round
        if called is None or client.row in called.joined:
            return
        if self.is_eager:
            held = self.world.reading.held(client.row)
            self.world.revoke(client, held, is_ahead=True)
        called.joined.add(client.row)
        self._finish_if_all(called)

    def _finish_if_all(self, called: Round) -> None:
        is_due = called.not_before_ms <= self.world.now_ms
        if self.round is called and is_due and called.joined >= set(self.book):
            self._finish(called)

    def _give_up(self, called: Round) -> None:
        """Remove dynamic members that have not rejoined in time, keep static ones."""
        if self.round is not called or not called.joined:
            return
        for row, client in list(self.book.items()):
            if row not in called.joined and not client.is_static:
                self.world.expel(client, LATE)
                del self.book[row]
                self.world.reading.release(self.world.reading.held(row))
        self._finish(called)

    def _finish(self, called: Round) -> None:
        """Assign the partitions, and deliver the assignment to the members."""
        self.round = None
        reading = self.world.reading
        self.given = self.world.assign(
            self.book.values(),
            self.given if self.is_eager else reading.holder,
            cause=called.cause,
            started_ms=called.started_ms,
            is_withheld=not self.is_eager,
        )
        self.unheard |= set(self.book)
        for client in list(self.book.values()):
            if self.is_eager and client.row in called.joined:
                self._hear(client)
            elif client.is_reading:
                at_ms = self.world.next_poll(client, self.world.now_ms)
                self.world.at(at_ms, partial(self._hear, client))

    def _hear(self, client: Client) -> None:
        """Apply the assignment to a member, which revokes and takes partitions."""
        if client.row not in self.unheard or not client.is_reading:
            return
        self.unheard.discard(client.row)
        held = self.world.reading.held(client.row)
        wanted = np.nonzero(np.equal(self.given, client.row))[0]
        lost = np.setdiff1d(held, wanted)
        self.world.revoke(client, lost, is_ahead=False)
        self._take(client, np.setdiff1d(wanted, held))
        if len(lost) and not self.is_eager:
            if self.round is None:
                self._call(HANDED_ON)
            self._rejoin(client)

    def _take(self, client: Client, rows: RowArray) -> None:
        if len(rows):
            self.world.take(client, rows)
            self.on_batch(client)
