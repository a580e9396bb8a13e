"""Kafka's classic placement, ``AdminUtils.assignReplicasToBrokers`` (up to 4.0)."""

from dataclasses import dataclass

import numpy as np

from placement.array_types import IntArray
from placement.errors import (
    AdminOperationError,
    InvalidPartitionsError,
    InvalidReplicationFactorError,
)
from placement.kafka_java.java_random import JavaRandom
from placement.placers.usable_brokers import BrokerIdArray, PlacerBrokers

DRAWN = -1
"""Marker of a start drawn at random."""


def place_classic(
    brokers: PlacerBrokers,
    num_partitions: int,
    replication_factor: int,
    *,
    fixed_start_index: int = DRAWN,
    start_partition_id: int = -1,
    random: JavaRandom | None = None,
) -> BrokerIdArray:
    """
    Place partitions as Kafka up to 4.0 did, bit for bit.

    Goals: every broker leads and holds about as many replicas of the topic; the
    followers of one broker's partitions are spread over all others; racks differ as far
    as there are enough of them.

    Constraints: one replica of a partition per broker; one per rack as long as some
    rack has none. Fenced states and present replicas are ignored.

    Algorithm: first replicas go round robin from a start. Followers go to the brokers
    behind the first one, shifted by one more each time the round robin completes a
    round. With racks the same is done on a list in which racks alternate, and brokers
    of a rack that is used already are skipped while another rack is free. Five brokers
    and start 0 give 0,1,2 then 1,2,3 then 2,3,4 then 3,4,0 then 4,0,1; then the shift
    grows, and the lists are 0,2,3 then 1,3,4 and so on.

    Parameters
    ----------
    brokers
        Brokers to choose from. Without racks their order decides.
    num_partitions, replication_factor
        Number of partitions to place, and number of replicas of each.
    fixed_start_index
        Start of the round robin and first shift; `DRAWN`: both from `random`.
    start_partition_id
        Number of the first partition placed; −1 counts as 0.
    random
        Generator used without a fixed start; seed 1 if omitted.

    Returns
    -------
    ``(num_partitions, replication_factor)`` broker ids, preferred leader first.

    Raises
    ------
    InvalidPartitionsError
        If the number of partitions is not positive.
    InvalidReplicationFactorError
        If the replication factor is not positive, or above the number of brokers.
    AdminOperationError
        If some brokers have a rack and some have none.

    Notes
    -----
    Kafka removed this placer in 4.1. Before, it served ``--generate`` and clusters with
    ZooKeeper.

    Examples
    --------
    >>> brokers = PlacerBrokers(ids=(0, 1, 2), racks=(None,) * 3)
    >>> place_classic(brokers, 3, 2, fixed_start_index=0).tolist()
    [[0, 1], [1, 2], [2, 0]]
    """
    _refuse(brokers, num_partitions, replication_factor)
    turn = _Turn.draw(len(brokers), fixed_start_index, random or JavaRandom(1))
    first_number = max(0, start_partition_id)
    numbers = np.arange(first_number, first_number + num_partitions, dtype=np.int64)
    first, shift = turn.of(numbers)
    if all(rack is None for rack in brokers.racks):
        ids = np.array(brokers.ids, dtype=np.int32)
        return ids[_unaware(first, shift, len(ids), replication_factor)]
    arranged = arrange_by_rack(brokers)
    placed = _RackAware(arranged).place(first, shift, replication_factor)
    return np.array(arranged.ids, dtype=np.int32)[placed]


def _refuse(
    brokers: PlacerBrokers, num_partitions: int, replication_factor: int
) -> None:
    if num_partitions <= 0:
        msg = "Number of partitions must be larger than 0."
        raise InvalidPartitionsError(msg)
    if replication_factor <= 0:
        msg = "Replication factor must be larger than 0."
        raise InvalidReplicationFactorError(msg)
    if replication_factor > len(brokers):
        msg = (
            f"Replication factor: {replication_factor} larger than available "
            f"brokers: {len(brokers)}."
        )
        raise InvalidReplicationFactorError(msg)
    has_rack = [rack is not None for rack in brokers.racks]
    if any(has_rack) and not all(has_rack):
        msg = "Not all brokers have rack information for replica rack aware assignment."
        raise AdminOperationError(msg)


@dataclass(frozen=True, slots=True)
class _Turn:
    """Start of the round robin, and initial shift of followers."""

    num_brokers: int
    start: int
    shift: int

    @classmethod
    def draw(cls, num_brokers: int, fixed: int, random: JavaRandom) -> "_Turn":
        if fixed >= 0:
            return cls(num_brokers, fixed, fixed)
        return cls(
            num_brokers, random.next_int(num_brokers), random.next_int(num_brokers)
        )

    def of(self, numbers: IntArray) -> tuple[IntArray, IntArray]:
        """Return ``(P,)`` the place of the first replica, and the shift."""
        count = self.num_brokers
        # The shift grows at every positive partition number that is a multiple of the
        # number of brokers; the first number placed may be one.
        rounds = numbers // count - (max(int(numbers[0]), 1) - 1) // count
        return (numbers + self.start) % count, self.shift + rounds


def _unaware(
    first: IntArray, shift: IntArray, num_brokers: int, replication_factor: int
) -> IntArray:
    """Return ``(P, R)`` places of the replicas, without regard to racks."""
    others = max(num_brokers - 1, 1)
    slot = np.arange(replication_factor - 1, dtype=np.int64)
    behind = 1 + (shift[:, None] + slot) % others
    followers = (first[:, None] + behind) % num_brokers
    return np.concatenate([first[:, None], followers], axis=1)


def arrange_by_rack(brokers: PlacerBrokers) -> PlacerBrokers:
    """
    Return the brokers with alternating racks, in the order of rack names.

    Examples
    --------
    >>> racks = ("r1", "r3", "r3", "r2", "r2", "r1")
    >>> arrange_by_rack(PlacerBrokers(ids=tuple(range(6)), racks=racks)).ids
    (0, 3, 1, 5, 4, 2)
    """
    turn: dict[str | None, int] = {}
    keys = []
    for broker_id, rack in sorted(zip(brokers.ids, brokers.racks, strict=True)):
        keys.append((turn.get(rack, 0), rack or "", broker_id))
        turn[rack] = turn.get(rack, 0) + 1
    ordered = sorted(keys)
    return PlacerBrokers(
        ids=tuple(broker_id for _, _, broker_id in ordered),
        racks=tuple(rack for _, rack, _ in ordered),
    )


class _RackAware:
    """Placement on brokers with alternating racks."""

    def __init__(self, arranged: PlacerBrokers) -> None:
        self.racks = arranged.racks
        self.num_racks = len(set(arranged.racks))

    def place(
        self, first: IntArray, shift: IntArray, replication_factor: int
    ) -> IntArray:
        """Return ``(P, R)`` places of the replicas."""
        rows = zip(first.tolist(), shift.tolist(), strict=True)
        lists = [self._list(*row, replication_factor) for row in rows]
        return np.array(lists, dtype=np.int64)

    def _list(self, first: int, shift: int, replication_factor: int) -> list[int]:
        chosen = [first]
        used_racks = {self.racks[first]}
        count, tries = len(self.racks), 0
        while len(chosen) < replication_factor:
            # The number of tries is not reset between followers.
            behind = 1 + (shift * self.num_racks + tries) % (count - 1)
            place = (first + behind) % count
            tries += 1
            is_new = self.racks[place] not in used_racks
            if (is_new or len(used_racks) == self.num_racks) and place not in chosen:
                chosen.append(place)
                used_racks.add(self.racks[place])
        return chosen
