"""Topics whose partitions have different replication factors."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from placement.model.cluster import ClusterState


@dataclass(frozen=True, slots=True)
class MixedFactors:
    """
    A topic with more than one replication factor.

    Parameters
    ----------
    topic
        Name of the topic.
    partitions
        Partition numbers by replication factor, the most frequent factor first.
    """

    topic: str
    partitions: Mapping[int, tuple[int, ...]]

    @property
    def usual(self) -> int:
        """Replication factor of most partitions; of equally many the largest."""
        return next(iter(self.partitions))


def mixed_factors(state: ClusterState) -> Iterator[MixedFactors]:
    """
    Yield the topics with more than one replication factor.

    Partitions being reassigned are left out, because their factor may be changing.
    """
    settled = np.nonzero(~state.is_reassigning)[0]
    if not len(settled):
        return
    topic, factor = state.partitions.topic_idx, state.replication_factor
    first, last = (np.full(len(state.topics), end) for end in (2**31 - 1, 0))
    np.minimum.at(first, topic[settled], factor[settled])
    np.maximum.at(last, topic[settled], factor[settled])
    for row in np.nonzero(last > first)[0].tolist():
        rows = settled[np.equal(topic[settled], row)]
        numbers = {
            value: tuple(
                state.partitions.partition[rows[factor[rows] == value]].tolist()
            )
            for value in np.unique(factor[rows]).tolist()
        }
        ranked = sorted(numbers, key=lambda value: (-len(numbers[value]), -value))
        yield MixedFactors(
            topic=state.topics.names[row],
            partitions={value: numbers[value] for value in ranked},
        )
