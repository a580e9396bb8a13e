"""
Rules for records without keys: random, round robin, and sticky by batches.

The draws of a client are not those of another run, so these are simulations: shares
come out as a producer's would, single partitions do not.
"""

from typing import Any

import numpy as np

from placement.array_types import BytesArray, IndexArray
from placement.core.search.kernels.jit import compiled, is_running

PLAIN_RECORDS = 50_000
"""Records that Python places before the compiled loop would be loaded."""


def place_at_random(
    sizes: BytesArray, num_partitions: int, rng: np.random.Generator
) -> IndexArray:
    """Draw the partition of each record anew."""
    return rng.integers(num_partitions, size=len(sizes), dtype=np.int32)


def place_in_turn(sizes: BytesArray, num_partitions: int) -> IndexArray:
    """Deal records to the partitions in turn, from partition 0 on."""
    return (np.arange(len(sizes)) % num_partitions).astype(np.int32)


def place_in_sticky_batches(
    sizes: BytesArray,
    num_partitions: int,
    rng: np.random.Generator,
    *,
    batch_bytes: int,
) -> IndexArray:
    """
    Fill a batch of one partition, then draw another partition, as KIP-480 does.

    A record that does not fit into the batch begins the next one, on any partition but
    the last, each as likely as the others [1]_.

    References
    ----------
    .. [1] KIP-480: Sticky Partitioner. Apache Kafka 2.4.
    """
    draws = rng.random(len(sizes) + 1)
    return run_rows(_sticky_rows, sizes, draws, num_partitions, batch_bytes)


def run_rows(rows: Any, sizes: BytesArray, draws: Any, *numbers: int) -> IndexArray:  # noqa: ANN401 - a kernel
    """Run a loop over records, compiled if there are many."""
    if len(sizes) < PLAIN_RECORDS and not is_running([rows]):
        placed = [0] * len(sizes)
        rows(sizes.tolist(), draws.tolist(), *numbers, placed)
        return np.array(placed, np.int32)
    found = np.empty(len(sizes), np.int32)
    compiled(rows)(sizes.astype(np.int64), draws, *numbers, found)
    return found


def _sticky_rows(
    sizes: Any,  # noqa: ANN401 - a kernel
    draws: Any,  # noqa: ANN401 - a kernel
    num_partitions: int,
    batch_bytes: int,
    placed: Any,  # noqa: ANN401 - a kernel
) -> None:
    partition = int(draws[0] * num_partitions)
    filled = 0
    for row in range(len(sizes)):
        if filled > 0 and filled + sizes[row] > batch_bytes:
            if num_partitions > 1:
                # Uniform over all but the partition of the batch before.
                step = 1 + int(draws[row + 1] * (num_partitions - 1))
                partition = (partition + step) % num_partitions
            filled = 0
        filled += sizes[row]
        placed[row] = partition
