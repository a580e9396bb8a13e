"""Rules on topics whose replicas, or whose leaders, stay."""

from collections.abc import Iterator

import numpy as np

from placement.check.case.check_settings import CustomRule
from placement.check.case.finding import Finding
from placement.check.case.target_placement import Target
from placement.check.rules.entries import entries_of
from placement.model.cluster import ABSENT, ClusterState, LogDirState


def kept_topics(topics: frozenset[str], leaving: frozenset[int]) -> CustomRule:
    """
    Return the rule that replicas of some topics stay, except those that must go.

    A list that loses replicas and gains none meets the rule. Replicas must go from
    brokers that leave or are not live, and from offline log dirs.

    Parameters
    ----------
    topics
        Names of the topics.
    leaving
        Ids of brokers that are emptied.
    """

    def check(before: ClusterState, target: Target) -> Iterator[Finding]:
        gone = leaving | _not_live(before)
        offline = _in_offline_dirs(before)
        for entry in entries_of(before, target):
            left = set(entry.old) - set(entry.new) - gone
            moved = sorted(b for b in left if (*entry.key, b) not in offline)
            comes = set(entry.new) - set(entry.old)
            if entry.topic in topics and moved and comes:
                message = f"its replicas stay, and broker {moved[0]} gives one away"
                yield entry.finding("keep-topics", message, moved[0])

    return check


def kept_leaders(topics: frozenset[str], leaving: frozenset[int]) -> CustomRule:
    """
    Return the rule that leaders of some topics stay, except those that must go.

    The current leader keeps its replica. The first live replica of the list after the
    plan is the first live one before it, which would be elected, or the current leader.
    Neither must stay on a broker that leaves, is not live or may not lead, nor where
    its replica is out of sync or in an offline log dir.

    Parameters
    ----------
    topics
        Names of the topics.
    leaving
        Ids of brokers that are emptied.
    """

    def check(before: ClusterState, target: Target) -> Iterator[Finding]:
        brokers = before.brokers
        down = _not_live(before)
        out = leaving | down | set(brokers.ids[~brokers.may_lead].tolist())
        excused = _in_offline_dirs(before) | _out_of_sync(before)
        leaders = _leaders(before)
        for entry in entries_of(before, target):
            old, new = (
                [b for b in row if b not in down] for row in (entry.old, entry.new)
            )
            if entry.topic not in topics or not old or not new:
                continue
            led_by = leaders[entry.key]
            stays = [
                b
                for b in dict.fromkeys((led_by, old[0]))
                if b is not None and b not in out and (*entry.key, b) not in excused
            ]
            if led_by in stays and led_by not in new:
                message = f"its leader stays, and broker {led_by} loses its replica"
                yield entry.finding("keep-leaders", message, led_by)
            elif old[0] in stays and new[0] not in (old[0], led_by):
                message = f"its leader stays, and broker {new[0]} stands first"
                yield entry.finding("keep-leaders", message, new[0])

    return check


def _not_live(before: ClusterState) -> set[int]:
    return set(before.brokers.ids[~before.brokers.is_live].tolist())


def _in_offline_dirs(before: ClusterState) -> set[tuple[str, int, int]]:
    """Return topic, partition and broker of each replica in an offline log dir."""
    state = np.append(before.log_dirs.state, LogDirState.ONLINE)
    is_off = np.equal(state, LogDirState.OFFLINE)[before.replicas.log_dir_idx]
    return _named(before, np.flatnonzero(is_off).tolist())


def _out_of_sync(before: ClusterState) -> set[tuple[str, int, int]]:
    """Return topic, partition and broker of each replica out of sync."""
    return _named(before, np.flatnonzero(~before.replicas.is_in_sync).tolist())


def _named(before: ClusterState, rows: list[int]) -> set[tuple[str, int, int]]:
    partitions, replicas = before.partitions, before.replicas
    found = set()
    for row in rows:
        of = int(replicas.partition_idx[row])
        topic = before.topics.names[partitions.topic_idx[of]]
        broker = int(before.brokers.ids[replicas.broker_idx[row]])
        found.add((topic, int(partitions.partition[of]), broker))
    return found


def _leaders(before: ClusterState) -> dict[tuple[str, int], int | None]:
    """Return the id of the current leader of each partition, or `None`."""
    partitions = before.partitions
    return {
        (before.topics.names[topic], number): None
        if leader == ABSENT
        else int(before.brokers.ids[leader])
        for topic, number, leader in zip(
            partitions.topic_idx.tolist(),
            partitions.partition.tolist(),
            partitions.leader_idx.tolist(),
            strict=True,
        )
    }
