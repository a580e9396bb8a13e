"""Leader, in-sync replicas and bytes of a partition before the first wave."""

from placement.model.cluster import ABSENT, UNKNOWN, ClusterState, Storage


def leader_of(before: ClusterState, partition: int) -> int | None:
    """Return the id of the live leader of a partition, by row; `None`: it has none."""
    row = int(before.partitions.leader_idx[partition])
    is_led = row != ABSENT and before.brokers.is_live[row]
    return int(before.brokers.ids[row]) if is_led else None


def in_sync_of(before: ClusterState, partition: int) -> set[int]:
    """Return the ids of the live brokers with an in-sync replica of a partition."""
    replicas, ids = before.replicas, before.brokers.ids
    is_live = before.brokers.is_live
    return {
        int(ids[replicas.broker_idx[row]])
        for row in _rows(before, partition)
        if replicas.is_in_sync[row] and is_live[replicas.broker_idx[row]]
    }


def size_of(before: ClusterState, partition: int) -> int:
    """Return the bytes of a copy of a partition; 0 for storage that brokers share."""
    if _is_shared(before, partition):
        return 0
    return max(int(before.partitions.size_bytes[partition]), 0)


def own_bytes_of(before: ClusterState, partition: int) -> dict[int, int]:
    """Return the bytes, by broker id, of replicas that differ from their leader's."""
    replicas, ids = before.replicas, before.brokers.ids
    if _is_shared(before, partition):
        return {}
    return {
        int(ids[replicas.broker_idx[row]]): int(replicas.own_bytes[row])
        for row in _rows(before, partition)
        if replicas.own_bytes[row] != UNKNOWN
    }


def _is_shared(before: ClusterState, partition: int) -> bool:
    topic = before.partitions.topic_idx[partition]
    return bool(before.topics.storage[topic] == Storage.SHARED)


def _rows(before: ClusterState, partition: int) -> range:
    start = before.replicas.start
    return range(int(start[partition]), int(start[partition + 1]))
