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
        producer fills one batch. At least 1 keeps the queue empty.
    is_away
        ``(P,)`` partitions without a leader, which receive nothing; `None` for none.
    stalled_batches
        Batches filled, after which a queue whose broker takes nothing counts as
        unavailable (``partitioner.availability.timeout.ms`` at the producer's pace); 0
        for never, the default of Kafka.
    """

    drained: FloatArray
    stalled_batches: int = 0
    is_away: BoolArray | None = None

    @property
    def has_leader(self) -> BoolArray:
        """``(P,)`` partitions that have a leader."""
        if self.is_away is None:
            return np.ones(len(self.drained), np.bool_)
        return ~self.is_away


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
    is_adaptive: bool = True,
) -> IndexArray:
    """
    Place records while some brokers fall behind, and queues grow, or are away.

    Parameters
    ----------
    sizes
        ``(R,)`` bytes of each record.
    slow
        Pace of the brokers; as many entries as partitions.
    rng, batch_bytes
        As in `place_in_batches`.
    is_adaptive
        Whether queues count (``partitioner.adaptive.partitioning.enable``).
    """
    starts = _batch_starts(sizes, batch_bytes)
    draws = rng.random(len(starts))
    if is_adaptive:
        partitions = _draw_batches(draws, slow)
    else:
        led = np.flatnonzero(slow.has_leader)
        partitions = led[(draws * len(led)).astype(np.int64)].astype(np.int32)
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


def _draw_batches(draws: FloatArray, slow: SlowBrokers) -> IndexArray:
    """
    Return the partition of each batch, by a number from 0 to 1 for each.

    Kafka draws uniformly until every partition has had a batch. Partitions without a
    leader count as having had one before they lost it.
    """
    num_partitions, has_leader = len(slow.drained), slow.has_leader
    queues, stalled = np.zeros(num_partitions), np.zeros(num_partitions)
    limit = slow.stalled_batches or np.inf
    drawn = np.empty(len(draws), np.int32)
    missing = set(np.flatnonzero(has_leader).tolist())
    for batch, draw in enumerate(draws.tolist()):
        is_available = has_leader & (stalled < limit)
        known = np.zeros(num_partitions) if missing else queues
        weights = draw_weights(known, is_available | bool(missing)) * has_leader
        table = np.cumsum(weights)
        drawn[batch] = np.searchsorted(table, draw * table[-1], side="right")
        missing.discard(int(drawn[batch]))
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
