"""
Partitioners of the user: a function, or a class with a method ``partition``.

::

    def by_customer(key: bytes | None, num_partitions: int) -> int: ...
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from assignment.errors import UserPartitionerError
from assignment.partitioners.key_column import KeyColumn
from assignment.partitioners.keyless import place_at_random
from assignment.partitioners.partitioner import KEYLESS, PartitionsFor
from placement.array_types import BytesArray, IndexArray

PartitionOf = Callable[[bytes | None, int], object]


@dataclass(frozen=True, slots=True)
class UserPartitioner:
    """
    A partitioner of the user, called for each key.

    Parameters
    ----------
    name
        ``package.module:Class`` or ``package.module:function``.
    partition
        Function of the serialized key, `None` for none, and of the number of
        partitions. It returns a partition, or `None` for a partition drawn at random.
    """

    name: str
    partition: PartitionOf

    def partitions_for(self, keys: KeyColumn) -> PartitionsFor:
        """Return the function that asks the user's code for each key."""

        def partitions(num_partitions: int) -> IndexArray:
            found = (
                self._partition(keys[row], num_partitions) for row in range(len(keys))
            )
            return np.fromiter(found, np.int32, len(keys))

        return partitions

    def place_keyless(
        self, sizes: BytesArray, num_partitions: int, rng: np.random.Generator
    ) -> IndexArray:
        """Draw the partition of each record."""
        return place_at_random(sizes, num_partitions, rng)

    def _partition(self, key: bytes | None, num_partitions: int) -> int:
        try:
            found = self.partition(key, num_partitions)
        except Exception as error:
            msg = f"{self.name} raised {type(error).__name__} for {key!r}: {error}"
            raise UserPartitionerError(msg) from error
        if found is None:
            return KEYLESS
        if not isinstance(found, int | np.integer) or not 0 <= found < num_partitions:
            msg = (
                f"{self.name} returned {found!r} for {key!r}; it must return a "
                f"partition from 0 to {num_partitions - 1}, or None"
            )
            raise UserPartitionerError(msg)
        return int(found)
