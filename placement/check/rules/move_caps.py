"""Caps on a plan as a whole: the copies, their bytes, and the bytes between racks."""

from collections.abc import Iterator

import numpy as np

from placement.check.case.check_settings import CustomRule
from placement.check.case.finding import Finding, Where
from placement.check.case.target_placement import Target
from placement.model.cluster import ABSENT, ClusterState, Storage


def move_caps(
    max_moves: int | None = None,
    max_bytes: int | None = None,
    max_cross_rack_bytes: int | None = None,
) -> CustomRule:
    """
    Return the rule that a plan copies no more than this in all.

    A copy comes from the leader; where no live broker leads, from the first live
    replica in sync, or the first live one where none is. It crosses racks where it goes
    to another rack than that one's.

    Parameters
    ----------
    max_moves
        Copies; `None`: any number.
    max_bytes, max_cross_rack_bytes
        Bytes of all copies, and of those that cross racks; `None`: any.
    """

    def check(before: ClusterState, target: Target) -> Iterator[Finding]:
        made = list(_copies(before, target))
        told = {
            "max-moves": (max_moves, len(made), "copies"),
            "max-bytes": (max_bytes, sum(size for size, _ in made), "bytes copied"),
            "max-cross-rack-bytes": (
                max_cross_rack_bytes,
                sum(size for size, crosses in made if crosses),
                "bytes copied between racks",
            ),
        }
        for rule, (most, have, what) in told.items():
            if most is not None and have > most:
                message = f"{have:,} {what}, and {most:,} are the most"
                yield Finding(rule=rule, where=Where(), message=message)

    return check


def _copies(before: ClusterState, target: Target) -> Iterator[tuple[int, bool]]:
    """Yield the bytes of each copy, and whether it crosses racks."""
    brokers, partitions = before.brokers, before.partitions
    row_of = {broker: row for row, broker in enumerate(brokers.ids.tolist())}
    names = before.topics.names
    topics, numbers = partitions.topic_idx.tolist(), partitions.partition.tolist()
    of = {
        (names[topic], number): row
        for row, (topic, number) in enumerate(zip(topics, numbers, strict=True))
    }
    start, ids = target.start.tolist(), target.broker_ids.tolist()
    for entry, topic in enumerate(target.topics):
        row = of.get((topic, int(target.partitions[entry])))
        if row is None:
            continue
        old = set(before.brokers_of(row))
        source, size = _source(before, row), _size(before, row)
        for broker in ids[start[entry] : start[entry + 1]]:
            if broker not in old:
                lands = row_of.get(broker)
                is_known = source is not None and lands is not None
                crosses = (
                    is_known and brokers.rack_idx[source] != brokers.rack_idx[lands]
                )
                yield size, bool(crosses)


def _source(before: ClusterState, partition: int) -> int | None:
    """Return the row of the broker that copies of a partition come from."""
    is_live = before.brokers.is_live
    leader = int(before.partitions.leader_idx[partition])
    if leader != ABSENT and is_live[leader]:
        return leader
    replicas = before.replicas
    start, stop = replicas.start[partition : partition + 2].tolist()
    live = [row for row in range(start, stop) if is_live[replicas.broker_idx[row]]]
    # Those in sync come first, each kind in the order of the list.
    live.sort(key=lambda row: not replicas.is_in_sync[row])
    return int(replicas.broker_idx[live[0]]) if live else None


def _size(before: ClusterState, partition: int) -> int:
    """Return what a copy takes: nothing of what is shared, or what nobody knows."""
    topic = before.partitions.topic_idx[partition]
    if np.equal(before.topics.storage[topic], Storage.SHARED):
        return 0
    return max(int(before.partitions.size_bytes[partition]), 0)
