"""Partitions that the general sticky algorithm has moved so far."""

from assignment.group import Group
from placement.kafka_java.java_orders import HashSet, unsigned_partition_hash

Pair = tuple[int, int]


class Movements:
    """
    Moves of one run, kept to avoid opposite moves of partitions of one topic.

    A partition that moved several times counts as moved from its first member to its
    current member; a partition back on its first member counts as not moved.

    Parameters
    ----------
    group
        Group of the partitions that are moved.
    """

    def __init__(self, group: Group) -> None:
        self._group = group
        self._topic_of = group.partitions.topic_idx
        self._pair_of: dict[int, Pair] = {}
        self._moved: dict[tuple[int, Pair], HashSet] = {}

    def instead_of(self, row: int, source: int, target: int) -> int:
        """
        Return the row of the partition to move.

        If a partition of the same topic has moved in the opposite direction, that one
        moves back instead. Of several such partitions, the first in the order of a Java
        ``HashSet`` moves.
        """
        source = self._pair_of.get(row, (source, source))[0]
        opposite = self._moved.get((int(self._topic_of[row]), (target, source)))
        return opposite.first() if opposite else row

    def add(self, row: int, source: int, target: int) -> None:
        """Record the move of a partition from one member to another."""
        earlier = self._pair_of.pop(row, None)
        if earlier is not None:
            self._forget(row, earlier)
            source = earlier[0]
        if source == target:
            return
        self._pair_of[row] = (source, target)
        key = int(self._topic_of[row]), (source, target)
        if key not in self._moved:
            self._moved[key] = HashSet(self._hash_code)
        self._moved[key].add(row)

    def _forget(self, row: int, pair: Pair) -> None:
        key = int(self._topic_of[row]), pair
        self._moved[key].remove(row)
        if not self._moved[key]:
            del self._moved[key]

    def _hash_code(self, row: int) -> int:
        topic = int(self._topic_of[row])
        number = row - int(self._group.topics.start[topic])
        return unsigned_partition_hash(self._group.topics.names[topic], number)
