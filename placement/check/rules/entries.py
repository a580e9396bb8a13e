"""Partitions that a target names, with their brokers before and after."""

from collections.abc import Iterator
from dataclasses import dataclass

from placement.check.case.finding import Finding, Where
from placement.check.case.target_placement import Target
from placement.model.cluster import ClusterState


@dataclass(frozen=True, slots=True)
class Entry:
    """Partition named by the target, with its broker ids before and after."""

    topic: str
    partition: int
    old: tuple[int, ...]
    new: tuple[int, ...]

    @property
    def key(self) -> tuple[str, int]:
        """Topic and partition."""
        return self.topic, self.partition

    def finding(self, rule: str, message: str, broker: int | None = None) -> Finding:
        """Return a finding on the partition."""
        where = Where(topic=self.topic, partition=self.partition, broker=broker)
        return Finding(
            rule=rule, where=where, message=f"{self.topic}-{self.partition}: {message}"
        )


def entries_of(before: ClusterState, target: Target) -> Iterator[Entry]:
    """Yield the entries that name a partition of the cluster."""
    row_of = {name: row for row, name in enumerate(before.topics.names)}
    partitions, replicas = before.partitions, before.replicas
    keys = zip(
        partitions.topic_idx.tolist(), partitions.partition.tolist(), strict=True
    )
    rows = {key: row for row, key in enumerate(keys)}
    ids, start = target.broker_ids.tolist(), target.start.tolist()
    for entry, topic in enumerate(target.topics):
        number = int(target.partitions[entry])
        row = rows.get((row_of.get(topic, -1), number))
        if row is None:
            continue
        first, last = replicas.start[row : row + 2].tolist()
        old = before.brokers.ids[replicas.broker_idx[first:last]].tolist()
        new = ids[start[entry] : start[entry + 1]]
        yield Entry(topic, number, tuple(old), tuple(new))
