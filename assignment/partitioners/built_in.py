"""
Built-in partitioner of Kafka's producer since 3.3, for records without keys (KIP-794).

The producer stays on a partition until it has sent ``batch.size`` bytes to it, and then
draws the next one. The draw is uniform while all queues of batches are equally long. If
they are not, a partition's chance is the longest queue plus one minus its own queue.
"""

from dataclasses import dataclass

import numpy as np

from assignment.partitioners.keyless import run_rows
from placement.array_types import BoolArray, BytesArray, FloatArray, IndexArray

BATCH_BYTES = 16_384
"""Default of ``batch.size``."""


@dataclass(frozen=True, slots=True, eq=False)
class SlowBrokers:
    """
    Brokers that fall behind the producer.

    Parameters
    ----------
    drained
        ``(P,)`` batches of a partition that its broker takes in the time in which the
        producer fills one batch. At least 1 on average keeps the queues empty.
    stalled_batches
        Batches filled, after which a queue whose broker takes nothing counts as
        unavailable (``partitioner.availability.timeout.ms`` at the producer's pace); 0
        for never, the default of Kafka.
    """

    drained: FloatArray
    stalled_batches: int = 0


def draw_weights(queues: FloatArray, is_available: BoolArray) -> FloatArray:
    """
    Return the chance of each partition, not normalised.

    Parameters
    ----------
    queues
        ``(P,)`` batches that wait, by partition.
    is_available
        ``(P,)`` partitions whose brokers take batches in time.

    Examples
    --------
    The example of Kafka's ``BuiltInPartitioner``:

    >>> draw_weights(np.array([0.0, 3.0, 1.0]), np.ones(3, bool)).tolist()
    [4.0, 1.0, 3.0]
    """
    if not is_available.any():
        return np.ones(len(queues))
    longest = np.floor(queues[is_available]).max()
    weights = longest + 1 - np.floor(queues)
    return np.where(is_available, weights, 0.0)


def place_in_batches(
    sizes: BytesArray,
    num_partitions: int,
    rng: np.random.Generator,
    *,
    batch_bytes: int = BATCH_BYTES,
) -> IndexArray:
    """
    Place records while all queues are equally long.

    Parameters
    ----------
    sizes
        ``(R,)`` bytes of each record.
    num_partitions
        Partitions of the topic.
    rng
        Random numbers of the client.
    batch_bytes
        ``batch.size``.

    References
    ----------
    .. [1] KIP-794: Strictly Uniform Sticky Partitioner. Apache Kafka 3.3.
    """
    draws = rng.random(len(sizes) + 1)
    return run_rows(_batch_rows, sizes, draws, num_partitions, batch_bytes)


def place_adaptively(
    sizes: BytesArray,
    slow: SlowBrokers,
    rng: np.random.Generator,
    *,
    batch_bytes: int = BATCH_BYTES,
) -> IndexArray:
    """
    Place records while some brokers fall behind, and queues grow.

    Parameters
    ----------
    sizes
        ``(R,)`` bytes of each record.
    slow
        Pace of the brokers; as many entries as partitions.
    rng, batch_bytes
        As in `place_in_batches`.
    """
    starts = _batch_starts(sizes, batch_bytes)
    partitions = _draw_batches(len(starts), slow, rng)
    lengths = np.diff(np.append(starts, len(sizes)))
    placed: IndexArray = np.repeat(partitions, lengths)
    return placed


def _batch_starts(sizes: BytesArray, batch_bytes: int) -> list[int]:
    """Return the first record after each change of partition."""
    starts, filled = [], batch_bytes
    for row, size in enumerate(sizes.tolist()):
        if filled >= batch_bytes:
            starts.append(row)
            filled = 0
        filled += size
    return starts


def _draw_batches(
    num_batches: int, slow: SlowBrokers, rng: np.random.Generator
) -> IndexArray:
    num_partitions = len(slow.drained)
    queues, stalled = np.zeros(num_partitions), np.zeros(num_partitions)
    drawn = np.empty(num_batches, np.int32)
    for batch in range(num_batches):
        limit = slow.stalled_batches or np.inf
        weights = draw_weights(queues, stalled < limit)
        drawn[batch] = rng.choice(num_partitions, p=weights / weights.sum())
        queues[drawn[batch]] += 1
        is_stuck = (queues > 0) & (slow.drained == 0)
        stalled = np.where(is_stuck, stalled + 1, 0)
        queues = np.maximum(queues - slow.drained, 0)
    return drawn


def _batch_rows(
    sizes: BytesArray,
    draws: FloatArray,
    num_partitions: int,
    batch_bytes: int,
    placed: IndexArray,
) -> None:
    partition = int(draws[0] * num_partitions)
    filled = 0
    for row in range(len(sizes)):
        placed[row] = partition
        filled += sizes[row]
        if filled >= batch_bytes:
            partition = int(draws[row + 1] * num_partitions)
            filled = 0
