"""Replication factors with which topics outlast a loss, and the brokers for them."""

from collections.abc import Iterator

import numpy as np

from placement.failures.partition_health import health_of
from placement.model.cluster import ClusterState
from planner.text.format import plural


def too_few_replicas(now: ClusterState, lost: ClusterState) -> tuple[int, list[str]]:
    """
    Return the replication factor that the stopped topics need, and their names.

    Topics stop for want of replicas where min.insync.replicas is not below the
    replication factor.

    Parameters
    ----------
    now, lost
        Cluster before and after a loss.
    """
    before, after = health_of(now), health_of(lost)
    hurt = (after.is_offline & ~before.is_offline) | (
        after.is_under_min_isr & ~before.is_under_min_isr
    )
    of = now.partitions.topic_idx
    least = now.topics.min_insync_replicas[of]
    few = np.nonzero(hurt & (now.replication_factor <= least))[0]
    if not len(few):
        return 0, []
    names = [now.topics.names[t] for t in np.unique(of[few]).tolist()]
    return max(int(least[few].max()) + 1, 2), names


def lacks_brokers(now: ClusterState, factor: int) -> bool:
    """Return whether fewer brokers are live than a replication factor needs."""
    return factor > int(now.brokers.is_live.sum())


def factor_notes(now: ClusterState, lost: ClusterState) -> Iterator[str]:
    """Yield what helps where too few brokers are live for the replicas needed."""
    factor, topics = too_few_replicas(now, lost)
    if not lacks_brokers(now, factor):
        return
    live = int(now.brokers.is_live.sum())
    named = f"{topics[0]} needs" if len(topics) == 1 else f"{len(topics)} topics need"
    lower = f", or lower min.insync.replicas to {factor - 2}" if factor > 2 else ""
    yield (
        f"{named} {factor} replicas, and {plural(live, 'broker')} "
        f"{'is' if live == 1 else 'are'} live: add brokers{lower}"
    )
