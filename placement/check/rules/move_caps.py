"""Caps on all copies of a plan: their number, bytes, and bytes between racks."""

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
    Return the rule that all copies of a plan stay within caps.

    The source of a copy is the leader; without a live leader, the first live in-sync
    replica, or the first live replica if none is in sync. A copy crosses racks if its
    source is in another rack than its target.

    Parameters
    ----------
    max_moves
        Maximum number of copies; `None`: any number.
    max_bytes, max_cross_rack_bytes
        Maximum bytes of all copies, and of copies that cross racks; `None`: any.
    """

    def check(before: ClusterState, target: Target) -> Iterator[Finding]:
        made = list(_copies(before, target))
        capped = {
            "max-moves": (max_moves, len(made), "copies"),
            "max-bytes": (max_bytes, sum(size for size, _ in made), "bytes copied"),
            "max-cross-rack-bytes": (
                max_cross_rack_bytes,
                sum(size for size, crosses in made if crosses),
                "bytes copied between racks",
            ),
        }
        for rule, (most, have, what) in capped.items():
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
    """Return the row of the source broker of a partition's copies, or `None`."""
    is_live = before.brokers.is_live
    leader = int(before.partitions.leader_idx[partition])
    if leader != ABSENT and is_live[leader]:
        return leader
    replicas = before.replicas
    start, stop = replicas.start[partition : partition + 2].tolist()
    live = [row for row in range(start, stop) if is_live[replicas.broker_idx[row]]]
    # In-sync replicas first, each kind in the order of the list.
    live.sort(key=lambda row: not replicas.is_in_sync[row])
    return int(replicas.broker_idx[live[0]]) if live else None


def _size(before: ClusterState, partition: int) -> int:
    """Return the bytes of a copy; 0 for shared storage or an unknown size."""
    topic = before.partitions.topic_idx[partition]
    if np.equal(before.topics.storage[topic], Storage.SHARED):
        return 0
    return max(int(before.partitions.size_bytes[partition]), 0)
