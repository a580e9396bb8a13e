"""Fingerprint of a cluster, by which a stale plan is detected."""

import hashlib
from threading import Thread
from weakref import WeakKeyDictionary

from placement.model.cluster import ClusterState
from planner.text.text_columns import (
    lists_joined,
    numerals,
    picked,
    side_by_side,
    whole,
)

MANY_REPLICAS = 100_000
"""Number of replicas from which on the fingerprint is computed in a thread."""
LINES_AT_ONCE = 50_000
"""Number of lines that are joined before they are hashed."""

_fingerprints: WeakKeyDictionary[ClusterState, str] = WeakKeyDictionary()


def fingerprint(state: ClusterState) -> str:
    r"""
    Return SHA-256 over brokers with racks and partitions with replicas.

    Lines ``broker\tID\tRACK`` by id, then ``TOPIC\tTOPIC_ID\tPARTITION\tR1,R2`` by
    topic and partition, each ended by a line feed; what is unknown is empty.
    """
    if state not in _fingerprints:
        digest = hashlib.sha256(_broker_lines(state).encode())
        for start in range(0, state.num_partitions, LINES_AT_ONCE):
            lines = _partition_lines(state, start, start + LINES_AT_ONCE)
            digest.update(lines.encode())
        _fingerprints[state] = digest.hexdigest()
    return _fingerprints[state]


def fingerprint_ahead(state: ClusterState) -> None:
    """Compute a large cluster's fingerprint in a thread, before plan.json needs it."""
    if len(state.replicas) > MANY_REPLICAS:
        # Search kernels release the global interpreter lock.
        Thread(target=fingerprint, args=(state,), name="fingerprint").start()


def _broker_lines(state: ClusterState) -> str:
    brokers = state.brokers
    ids_and_racks = zip(brokers.ids, brokers.rack_idx, strict=True)
    return "".join(
        f"broker\t{broker_id}\t{brokers.racks[rack] or ''}\n"
        for broker_id, rack in ids_and_racks
    )


def _partition_lines(state: ClusterState, first: int, last: int) -> str:
    """Return the lines of some partitions."""
    topics, partitions, replicas = state.topics, state.partitions, state.replicas
    start = replicas.start[first : last + 1]
    brokers = replicas.broker_idx[start[0] : start[-1]]
    heads = [
        f"{name}\t{topic_id or ''}\t"
        for name, topic_id in zip(topics.names, topics.topic_ids, strict=True)
    ]
    lines = side_by_side(
        picked(heads, partitions.topic_idx[first:last]),
        numerals(partitions.partition[first:last]),
        "\t",
        lists_joined(start - start[0], numerals(state.brokers.ids[brokers])),
        "\n",
    )
    return whole(lines)
