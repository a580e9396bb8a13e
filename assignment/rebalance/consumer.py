"""Coordinator of a group with the consumer protocol, and its members."""

from collections.abc import Callable

import numpy as np

from assignment.group import ABSENT
from assignment.rebalance.client import Client
from assignment.rebalance.world import World
from placement.array_types import IndexArray

LATE = "it did not give partitions up within max.poll.interval.ms"


class Consumer:
    """
    Coordinator of a consumer group as of KIP-848, and the behaviour of its members.

    Each change leads to a new target assignment at once. By its next heartbeat a member
    learns the partitions to revoke, revokes them at its next poll, and acknowledges at
    once. Only then does the member receive new partitions, as far as no other member
    still holds them. No member waits for all others.

    Parameters
    ----------
    world
        Clock, members and partitions of the simulation.
    on_batch
        Callback for each member that receives partitions.

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
        """Register a member at the start of the simulation."""
        self.book[client.row] = client

    def settle(self, given: IndexArray) -> None:
        """Set the assignment at the start of the simulation."""
        self.target = given.copy()

    def is_waiting(self, client: Client) -> bool:
        """Return false: the coordinator never delays a response."""
        del client
        return False

    def join(self, client: Client, cause: str) -> None:
        """Add a member to the group, and send its assignment at once."""
        self.book[client.row] = client
        self._retarget(cause)
        self._beat(client)

    def replace(self, old: Client, new: Client) -> None:
        """Replace a static member that is still in the group by its new instance."""
        self.book = {
            new.row if row == old.row else row: new if row == old.row else client
            for row, client in self.book.items()
        }
        for rows in (self.target, self.world.reading.holder, self.world.reading.last):
            rows[np.equal(rows, old.row)] = new.row
        self.revoking.pop(old.row, None)
        self._beat(new)

    def remove(self, client: Client, cause: str) -> None:
        """Remove a member from the group."""
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
        """Deliver the assignment that a silent member missed."""
        self.revoking.pop(client.row, None)
        self._wake(client)

    def look(self, cause: str, topic: str) -> None:
        """Schedule the discovery of new partitions by a subscriber's next heartbeat."""
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
        """Compute the target assignment, and notify the members that it concerns."""
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
        """Schedule the next heartbeat of a member."""
        if client.is_beating:
            at_ms = client.next_beat(self.world.now_ms)
            self.world.at(at_ms, lambda: self._beat(client))

    def _beat(self, client: Client) -> None:
        """Respond to a heartbeat with the partitions to revoke, or else to take."""
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
        since_ms = self.world.now_ms
        self.revoking[client.row] = since_ms
        at_ms = since_ms + self.world.timers.max_poll_interval_ms
        self.world.at(at_ms, lambda: self._expire(client, since_ms))

    def _expire(self, client: Client, since_ms: int) -> None:
        """Remove a member that has not revoked its partitions in time."""
        if self.revoking.get(client.row) == since_ms and client.row in self.book:
            self.world.expel(client, LATE)
            self.remove(client, f"{client.spec.member_id} is put out")

    def _give_up(self, client: Client) -> None:
        """Revoke a member's partitions outside of its target, and acknowledge that."""
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
        """Assign a member the partitions of its target that no member holds."""
        if client.row not in self.book or not client.is_reading:
            return
        is_free = np.equal(self.world.reading.holder, ABSENT)
        rows = np.nonzero(is_free & np.equal(self.target, client.row))[0]
        if len(rows):
            self.world.take(client, rows)
            self.on_batch(client)
