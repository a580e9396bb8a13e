"""KRaft's placement of new topics, ``StripedReplicaPlacer`` (KIP-500 and after)."""

from collections.abc import Sequence

import numpy as np

from placement.errors import InvalidReplicationFactorError
from placement.kafka_java.java_maps import hash_order
from placement.kafka_java.java_random import JavaRandom
from placement.placers.usable_brokers import BrokerIdArray, PlacerBrokers

NONE_LEFT = -1
"""Marker of a ring that has no further broker for a partition."""


def place_striped(
    brokers: PlacerBrokers,
    num_partitions: int,
    replication_factor: int,
    *,
    random: JavaRandom,
    rack_order: Sequence[str | None] | None = None,
) -> BrokerIdArray:
    """
    Place the partitions of one topic as a KRaft controller does, bit for bit.

    Goals: leaders spread evenly over the brokers that are not fenced; replicas of a
    partition spread over racks, as evenly as they allow, before brokers repeat a rack.

    Constraints: one replica of a partition per broker; no leader on a fenced broker; a
    fenced broker is used only if its rack has no other left.

    Algorithm: each rack is a ring of brokers, entered at a random place, and the racks
    form a ring themselves. Every partition takes its leader from the next rack, and
    each further replica from the following rack; a ring advances by one broker with
    each partition that uses it. The rack of the leader is skipped once, so that it does
    not get its second replica before others have their first. After as many partitions
    as there are brokers to lead, racks and rings are shuffled. Four brokers without
    racks, entered at 2, give 2,3,0 then 3,0,1 then 0,1,2 then 1,2,3, and after the
    shuffle perhaps 1,0,2.

    Parameters
    ----------
    brokers
        All registered brokers, in any order.
    num_partitions, replication_factor
        Number of partitions to place, and number of replicas of each.
    random
        Random generator of the controller, or of Kafka's tool; numbers are drawn even
        if the topic is refused.
    rack_order
        Racks in the order of Java's hash map, which determines the order of draws;
        computed if omitted.

    Returns
    -------
    ``(num_partitions, replication_factor)`` broker ids, preferred leader first.

    Raises
    ------
    InvalidReplicationFactorError
        If the replication factor is not positive or above the number of brokers, or
        every broker is fenced.

    Notes
    -----
    No state is kept from one topic to the next: many topics of few partitions are
    placed unevenly. Messages are those of Kafka 4.3.

    Examples
    --------
    >>> brokers = PlacerBrokers(ids=(0, 1, 2), racks=("a", "b", "c"))
    >>> place_striped(brokers, 3, 2, random=JavaRandom(7)).tolist()
    [[1, 2], [2, 0], [0, 1]]
    """
    rings = _RackRings(brokers, random, rack_order)
    check_replication_factor(brokers, replication_factor)
    lists = [rings.place(replication_factor) for _ in range(num_partitions)]
    return np.array(lists, dtype=np.int32).reshape(num_partitions, replication_factor)


def check_replication_factor(brokers: PlacerBrokers, replication_factor: int) -> None:
    """
    Refuse a replication factor that the brokers cannot hold, in Kafka's words.

    Raises
    ------
    InvalidReplicationFactorError
        If the replication factor is not positive or above the number of brokers, or
        every broker is fenced.
    """
    if replication_factor <= 0:
        msg = (
            f"Invalid replication factor {replication_factor}: the replication factor "
            "must be positive."
        )
        raise InvalidReplicationFactorError(msg)
    if all(brokers.is_fenced):
        msg = (
            "All brokers are currently fenced, or have all their log directories "
            "cordoned."
        )
        raise InvalidReplicationFactorError(msg)
    if replication_factor > len(brokers):
        msg = (
            f"The target replication factor of {replication_factor} cannot be reached "
            f"because only {len(brokers)} broker(s) are registered or some brokers "
            "have all their log directories cordoned."
        )
        raise InvalidReplicationFactorError(msg)


class _Ring:
    """Ring of the brokers of one rack; each is used at most once per partition."""

    def __init__(self, ids: Sequence[int], random: JavaRandom) -> None:
        self.ids = sorted(ids)
        self.offset = random.next_int(len(ids)) if ids else 0
        self.epoch = 0
        self.given = 0

    def next(self, epoch: int) -> int:
        """Return the next broker for the partition of this epoch, or `NONE_LEFT`."""
        if not self.ids:
            return NONE_LEFT
        if self.epoch != epoch:
            self.epoch = epoch
            self.given = 0
            self.offset = (self.offset + 1) % len(self.ids)
        if self.given >= len(self.ids):
            return NONE_LEFT
        broker_id = self.ids[(self.given + self.offset) % len(self.ids)]
        self.given += 1
        return broker_id


class _Rack:
    """The brokers of one rack: those that may lead first, fenced ones last."""

    def __init__(
        self, fenced: Sequence[int], unfenced: Sequence[int], random: JavaRandom
    ) -> None:
        self.fenced = _Ring(fenced, random)
        self.unfenced = _Ring(unfenced, random)

    def next_leader(self, epoch: int) -> int:
        return self.unfenced.next(epoch)

    def next(self, epoch: int) -> int:
        broker_id = self.unfenced.next(epoch)
        return self.fenced.next(epoch) if broker_id == NONE_LEFT else broker_id

    def shuffle(self, random: JavaRandom) -> None:
        random.shuffle(self.fenced.ids)
        random.shuffle(self.unfenced.ids)


class _RackRings:
    """The ring of racks."""

    def __init__(
        self,
        brokers: PlacerBrokers,
        random: JavaRandom,
        rack_order: Sequence[str | None] | None,
    ) -> None:
        self.random = random
        self.num_unfenced = brokers.is_fenced.count(False)
        # Order of draws: each rack in the order of the hash map, then the ring of
        # racks.
        self.of = {
            rack: self._rack(brokers, rack)
            for rack in rack_order or hash_order(brokers.racks)
        }
        self.names = sorted(self.of, key=lambda rack: (rack is not None, rack or ""))
        self.offset = random.next_int(len(self.names)) if self.names else 0
        self.epoch = 0

    def _rack(self, brokers: PlacerBrokers, rack: str | None) -> _Rack:
        columns = zip(brokers.ids, brokers.racks, brokers.is_fenced, strict=True)
        members = [(i, fenced) for i, name, fenced in columns if name == rack]
        return _Rack(
            [i for i, fenced in members if fenced],
            [i for i, fenced in members if not fenced],
            self.random,
        )

    def place(self, replication_factor: int) -> list[int]:
        """Return the replicas of the next partition."""
        self._begin()
        chosen, skipped = self._lead()
        place = self.offset
        while len(chosen) < replication_factor:
            place %= len(self.names)
            if place == skipped:
                skipped = -1
            else:
                broker_id = self._rack_at(place).next(self.epoch)
                if broker_id != NONE_LEFT:
                    chosen.append(broker_id)
            place += 1
        self.epoch += 1
        self.offset += 1
        return chosen

    def _begin(self) -> None:
        if self.epoch == self.num_unfenced and self.num_unfenced > 1:
            self.random.shuffle(self.names)
            for name in self.of:
                self.of[name].shuffle(self.random)
            self.epoch = 0
        self.offset %= len(self.names)

    def _lead(self) -> tuple[list[int], int]:
        """Return the leader, and the place of its rack."""
        place = self.offset
        while True:
            leader = self._rack_at(place).next_leader(self.epoch)
            if leader != NONE_LEFT:
                return [leader], place
            place = (place + 1) % len(self.names)

    def _rack_at(self, place: int) -> _Rack:
        return self.of[self.names[place]]
