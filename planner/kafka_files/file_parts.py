"""
Division of files for Kafka's tool by the size of a request, or of a config.

With ``--throttle`` the tool writes two configs of each topic in its file:
``leader.replication.throttled.replicas`` lists every replica that the partitions of the
file have now, ``follower.replication.throttled.replicas`` every added one, each as
``partition:broker``. Kafka cannot store a value of over 32,767 bytes (KAFKA-17993).
"""

import numpy as np
import numpy.typing as npt

from placement.array_types import RowArray
from placement.model.cluster import ABSENT, ClusterState
from placement.waves.broker_lists import Lists

MOST_PARTITIONS_PER_FILE = 5000
"""Largest number of partitions in a file: a controller request holds 10,000 records."""
MOST_THROTTLE_BYTES = 32_767
"""Largest size of a config's value, and so of a topic's list of replicas, in bytes."""


def throttle_bytes(state: ClusterState, now: Lists, then: Lists) -> RowArray:
    """
    Return ``(2, N)`` bytes that each partition takes in the lists of its topic.

    A comma after each replica is counted, also after the last one, which has none.

    Parameters
    ----------
    state
        The cluster, for the ids of its brokers.
    now, then
        Lists of the same partitions before and after a file has run.
    """
    row = np.repeat(np.arange(len(then)), then.counts)
    comes = np.equal(now.slots_of(row, then.broker_idx), ABSENT)
    every = np.ones(len(now.broker_idx), dtype=np.bool_)
    chosen = ((now, every), (then, comes))
    return np.stack([_list_bytes(state, *one) for one in chosen])


def _list_bytes(
    state: ClusterState, lists: Lists, taken: npt.NDArray[np.bool_]
) -> RowArray:
    """Return ``(N,)`` bytes of some of the replicas of each partition."""
    number = _digits(state.partitions.partition[lists.partition_idx])
    row = np.repeat(np.arange(len(lists)), lists.counts)[taken]
    each = number[row] + _digits(state.brokers.ids)[lists.broker_idx[taken]] + 2
    found = np.zeros(len(lists), dtype=np.int64)
    np.add.at(found, row, each)
    return found


def _digits(numbers: npt.NDArray[np.int32]) -> RowArray:
    """Return the number of digits of each number."""
    powers = 10 ** np.arange(1, 10)
    return np.searchsorted(powers, numbers, side="right").astype(np.int64) + 1


def there_and_back(state: ClusterState, now: Lists, then: Lists) -> RowArray:
    """
    Return ``(2, N)`` the larger bytes of a file's run in either direction.

    A rollback runs after the plan is done, or while it still runs.
    """
    there = throttle_bytes(state, now, then)
    return np.maximum(there, throttle_bytes(state, then, now))


def part_starts(
    state: ClusterState, partition_idx: RowArray, sizes: RowArray
) -> list[int]:
    """
    Return the starts of the parts of a file; a single one if Kafka takes the whole.

    Parameters
    ----------
    state
        The cluster.
    partition_idx
        ``(N,)`` rows of the partitions.
    sizes
        ``(2, N)`` bytes in the lists of the topic, from `throttle_bytes`.
    """
    count = len(partition_idx)
    if not long_topics(state, partition_idx, sizes):
        return [*range(0, count, MOST_PARTITIONS_PER_FILE)] or [0]
    topic = state.partitions.topic_idx[partition_idx]
    order = file_order(state, partition_idx)
    return _cut_greedily(topic[order].tolist(), sizes[:, order].T.tolist())


def _cut_greedily(topics: list[int], sizes: list[list[int]]) -> list[int]:
    """Return the starts of parts that are each as long as possible."""
    starts, leaders, followers = [0], 0, 0
    for row, (topic, (leader, follower)) in enumerate(zip(topics, sizes, strict=True)):
        if row and topic != topics[row - 1]:
            leaders = followers = 0
        leaders, followers = leaders + leader, followers + follower
        is_long = max(leaders, followers) - 1 > MOST_THROTTLE_BYTES
        if row > starts[-1] and (
            is_long or row - starts[-1] == MOST_PARTITIONS_PER_FILE
        ):
            starts.append(row)
            leaders, followers = leader, follower
    return starts


def long_topics(
    state: ClusterState, partition_idx: RowArray, sizes: RowArray
) -> list[int]:
    """Return the rows of topics with a list that Kafka cannot store, ascending."""
    topic = state.partitions.topic_idx[partition_idx]
    total = np.zeros((2, len(state.topics)), dtype=np.int64)
    for whole, each in zip(total, sizes, strict=True):
        np.add.at(whole, topic, each)
    is_long = (total - 1 > MOST_THROTTLE_BYTES).any(axis=0)
    found: list[int] = np.nonzero(is_long)[0].tolist()
    return found


def file_order(state: ClusterState, partition_idx: RowArray) -> RowArray:
    """Return the order of partitions by topic name and number, as in a file."""
    names = state.topics.names
    rank = np.empty(len(names), dtype=np.int64)
    rank[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    partitions = state.partitions
    topic = partitions.topic_idx[partition_idx]
    return np.lexsort((partitions.partition[partition_idx], rank[topic]))
