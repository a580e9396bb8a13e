"""The coordinator of a new-protocol group, and its members."""

from collections.abc import Callable

import numpy as np

from assignment.group import ABSENT, IndexArray
from assignment.rebalance.client import Client
from assignment.rebalance.world import World

LATE = "it did not give partitions up within max.poll.interval.ms"


class Consumer:
    """
    The coordinator of a consumer group as of KIP-848, and what its members do.

    Whatever changes gives a new target at once. By its next heartbeat a member hears
    what to give up, does so at its next poll, and says so at once; only then it hears
    what it gets, as far as nobody else still has it. Nobody waits for all.

    Parameters
    ----------
    world
        Clock, members and partitions.
    on_batch
        Called when a member has got something to read.

    References
    ----------
    KIP-848; ``coordinator.group.modern.consumer.CurrentAssignmentBuilder`` of Apache
    Kafka 4.3.
    """

    def __init__(self, world: World, on_batch: Callable[[Client], None]) -> None:
        self.world, self.on_batch = world, on_batch
        self.book: dict[int, Client] = {}
        self.target: IndexArray = world.reading.holder.copy()
        self.revoking: dict[int, int] = {}

    def seat(self, client: Client) -> None:
        """Let a member be in from the start."""
        self.book[client.row] = client

    def settle(self, given: IndexArray) -> None:
        """Let an assignment stand from the start."""
        self.target = given.copy()

    def is_waiting(self, client: Client) -> bool:
        """Return whether the coordinator owes the member an answer: it never does."""
        del client
        return False

    def join(self, client: Client, cause: str) -> None:
        """Let a member in; it hears at once what it gets."""
        self.book[client.row] = client
        self._retarget(cause)
        self._beat(client)

    def replace(self, old: Client, new: Client) -> None:
        """Let a static member that is still in the book go on where it was."""
        self.book = {
            new.row if row == old.row else row: new if row == old.row else client
            for row, client in self.book.items()
        }
        for rows in (self.target, self.world.reading.holder, self.world.reading.last):
            rows[np.equal(rows, old.row)] = new.row
        self.revoking.pop(old.row, None)
        self._beat(new)

    def remove(self, client: Client, cause: str) -> None:
        """Put a member out."""
        if self.book.pop(client.row, None) is None:
            return
        self.world.reading.release(self.world.reading.held(client.row))
        self.revoking.pop(client.row, None)
        if self.book:
            self._retarget(cause)
        else:
            self.target = np.full_like(self.target, ABSENT)
            self.world.say("the group is empty")

    def resume(self, client: Client) -> None:
        """Let a member that was silent hear what it missed."""
        self.revoking.pop(client.row, None)
        self._wake(client)

    def look(self, cause: str, topic: str) -> None:
        """Have new partitions seen: by the next heartbeat of any of its readers."""
        readers = [
            client
            for client in self.book.values()
            if client.is_beating and self.world.reads(client.spec, topic)
        ]
        if readers:
            now = self.world.now_ms
            first = min(readers, key=lambda client: client.next_beat(now))
            self.world.at(first.next_beat(now), lambda: self._see(first, cause, topic))

    def _see(self, client: Client, cause: str, topic: str) -> None:
        first = self.world.first_row[topic]
        rows = np.arange(first, first + self.world.topics[topic].num_partitions)
        if (self.target[rows] != ABSENT).all():
            return
        if client.row not in self.book or not client.is_beating:
            self.look(cause, topic)
            return
        self._retarget(cause)
        self._beat(client)

    def _retarget(self, cause: str) -> None:
        """Compute who is to read what, and let those who are concerned hear of it."""
        self.target = self.world.assign(
            self.book.values(),
            self.target,
            cause=cause,
            started_ms=self.world.now_ms,
            is_withheld=False,
        )
        holder = self.world.reading.holder
        differs = np.not_equal(holder, self.target)
        concerned = set(holder[differs].tolist()) | set(self.target[differs].tolist())
        for row in sorted(concerned & set(self.book)):
            self._wake(self.book[row])

    def _wake(self, client: Client) -> None:
        """Let a member hear by its next heartbeat."""
        if client.is_beating:
            at_ms = client.next_beat(self.world.now_ms)
            self.world.at(at_ms, lambda: self._beat(client))

    def _beat(self, client: Client) -> None:
        """Tell a member what to give up, or else what it gets."""
        if client.row not in self.book or not client.is_beating:
            return
        at_ms = self.world.next_poll(client, self.world.now_ms)
        held = np.equal(self.world.reading.holder, client.row)
        if (held & np.not_equal(self.target, client.row)).any():
            if client.row not in self.revoking:
                self._set_deadline(client)
                self.world.at(at_ms, lambda: self._give_up(client))
        else:
            self.world.at(at_ms, lambda: self._take(client))

    def _set_deadline(self, client: Client) -> None:
        told_ms = self.world.now_ms
        self.revoking[client.row] = told_ms
        at_ms = told_ms + self.world.timers.max_poll_interval_ms
        self.world.at(at_ms, lambda: self._expire(client, told_ms))

    def _expire(self, client: Client, told_ms: int) -> None:
        """Put a member out that has not given up what it was told to."""
        if self.revoking.get(client.row) == told_ms and client.row in self.book:
            self.world.expel(client, LATE)
            self.remove(client, f"{client.spec.member_id} is put out")

    def _give_up(self, client: Client) -> None:
        """Let a member stop reading what is another's, and say so."""
        if client.row not in self.book or not client.is_reading:
            return
        self.revoking.pop(client.row, None)
        held = np.equal(self.world.reading.holder, client.row)
        lost = np.nonzero(held & np.not_equal(self.target, client.row))[0]
        self.world.revoke(client, lost, is_ahead=False)
        for row in sorted(set(self.target[lost].tolist()) & set(self.book)):
            self._wake(self.book[row])
        self._beat(client)

    def _take(self, client: Client) -> None:
        """Let a member read what is meant for it, and nobody has."""
        if client.row not in self.book or not client.is_reading:
            return
        is_free = np.equal(self.world.reading.holder, ABSENT)
        rows = np.nonzero(is_free & np.equal(self.target, client.row))[0]
        if len(rows):
            self.world.take(client, rows)
            self.on_batch(client)
