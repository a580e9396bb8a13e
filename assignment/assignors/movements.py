"""Which partitions the general sticky algorithm has moved so far."""

from assignment.group import Group
from assignment.java_orders import HashSet, topic_partition_hash

Pair = tuple[int, int]


class Movements:
    """
    The moves of one run, so that none goes against another of the same topic.

    A partition that moved several times counts as moved from where it was first to
    where it is now; one that came back counts as not moved.

    Parameters
    ----------
    group
        Whose partitions are moved.
    """

    def __init__(self, group: Group) -> None:
        self._group = group
        self._topic_of = group.partitions.topic_idx
        self._pair_of: dict[int, Pair] = {}
        self._moved: dict[tuple[int, Pair], HashSet] = {}

    def instead_of(self, row: int, source: int, target: int) -> int:
        """
        Return the partition to be moved.

        Another of the same topic that had been moved the opposite way, if there is one:
        then that one goes back. Of several the first in the order of a ``HashSet``.
        """
        source = self._pair_of.get(row, (source, source))[0]
        opposite = self._moved.get((int(self._topic_of[row]), (target, source)))
        return opposite.first() if opposite else row

    def add(self, row: int, source: int, target: int) -> None:
        """Note that a partition moves from one member to another."""
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
        return topic_partition_hash(self._group.topics.names[topic], number)
