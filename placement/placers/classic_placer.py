"""Kafka's classic placement, ``AdminUtils.assignReplicasToBrokers`` (up to 4.0)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.errors import (
    AdminOperationError,
    InvalidPartitionsError,
    InvalidReplicationFactorError,
)
from placement.kafka_java.java_random import JavaRandom
from placement.placers.usable_brokers import BrokerIdArray, PlacerBrokers

DRAWN = -1
"""A start that is drawn at random."""

LongArray = npt.NDArray[np.int64]


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
    followers of one broker's partitions are spread over all others; racks differ as
    far as there are enough of them.

    Constraints: one replica of a partition per broker; one per rack as long as some
    rack has none. Fenced brokers and what brokers hold already are not looked at.

    Algorithm: first replicas go round robin from a start; followers go to the brokers
    behind the first one, shifted by one more each time the round robin has come round.
    With racks the same is done on a list in which racks take turns, and brokers of a
    rack that is used already are skipped while another rack is free. Five brokers and
    start 0 give 0,1,2 then 1,2,3 then 2,3,4 then 3,4,0 then 4,0,1; the shift grows, and
    it goes on with 0,2,3 then 1,3,4 and so on.

    Parameters
    ----------
    brokers
        Brokers to choose from. Without racks their order decides.
    num_partitions, replication_factor
        How many partitions to place, and how many replicas each.
    fixed_start_index
        Start of the round robin and first shift; `DRAWN`: both from `random`.
    start_partition_id
        Number of the first partition placed; −1 counts as 0.
    random
        Drawn from where there is no fixed start; seed 1 where left out.

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
    Kafka removed it in 4.1; until then it served ``--generate`` and clusters with
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
    """Where the round robin starts, and how far followers are shifted at first."""

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

    def of(self, numbers: LongArray) -> tuple[LongArray, LongArray]:
        """Return ``(P,)`` the place of the first replica, and the shift."""
        count = self.num_brokers
        # The shift grows at every partition number that is a multiple of the brokers,
        # but 0; the first number placed may be one.
        rounds = numbers // count - (max(int(numbers[0]), 1) - 1) // count
        return (numbers + self.start) % count, self.shift + rounds


def _unaware(
    first: LongArray, shift: LongArray, num_brokers: int, replication_factor: int
) -> LongArray:
    """Return ``(P, R)`` places of the replicas, wherever the racks are."""
    others = max(num_brokers - 1, 1)
    slot = np.arange(replication_factor - 1, dtype=np.int64)
    behind = 1 + (shift[:, None] + slot) % others
    followers = (first[:, None] + behind) % num_brokers
    return np.concatenate([first[:, None], followers], axis=1)


def arrange_by_rack(brokers: PlacerBrokers) -> PlacerBrokers:
    """
    Order brokers so that racks take turns, in the order of their names.

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
    """Places on brokers whose racks take turns."""

    def __init__(self, arranged: PlacerBrokers) -> None:
        self.racks = arranged.racks
        self.num_racks = len(set(arranged.racks))

    def place(
        self, first: LongArray, shift: LongArray, replication_factor: int
    ) -> LongArray:
        """Return ``(P, R)`` places of the replicas."""
        rows = zip(first.tolist(), shift.tolist(), strict=True)
        lists = [self._list(*row, replication_factor) for row in rows]
        return np.array(lists, dtype=np.int64)

    def _list(self, first: int, shift: int, replication_factor: int) -> list[int]:
        chosen = [first]
        used_racks = {self.racks[first]}
        count, tries = len(self.racks), 0
        while len(chosen) < replication_factor:
            # Tries go on counting from one follower to the next.
            behind = 1 + (shift * self.num_racks + tries) % (count - 1)
            place = (first + behind) % count
            tries += 1
            is_new = self.racks[place] not in used_racks
            if (is_new or len(used_racks) == self.num_racks) and place not in chosen:
                chosen.append(place)
                used_racks.add(self.racks[place])
        return chosen
