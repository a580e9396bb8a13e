"""Optional rules, for `CheckSettings.custom`."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from placement.check.case.check_settings import CustomRule
from placement.check.case.finding import Finding, Where
from placement.check.case.target_placement import Target
from placement.model.cluster import ABSENT, ClusterState, LogDirState


@dataclass(frozen=True, slots=True)
class _Entry:
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
        where = Where(topic=self.topic, partition=self.partition, broker=broker)
        return Finding(
            rule=rule, where=where, message=f"{self.topic}-{self.partition}: {message}"
        )


def _entries(before: ClusterState, target: Target) -> Iterator[_Entry]:
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
        yield _Entry(topic, number, tuple(old), tuple(new))


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
        for entry in _entries(before, target):
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
        for entry in _entries(before, target):
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


def broker_sets(set_of_topic: Mapping[str, str | None]) -> CustomRule:
    """
    Return the rule that new replicas go to brokers of their topic's set only.

    Parameters
    ----------
    set_of_topic
        Name of the broker set of each topic; `None`: brokers without a set.
    """

    def check(before: ClusterState, target: Target) -> Iterator[Finding]:
        brokers = before.brokers
        names = [*brokers.broker_sets, None]
        # Row -1 means no set, and indexes the last name, None.
        rows = brokers.broker_set_idx.tolist()
        own = {b: names[row] for b, row in zip(brokers.ids.tolist(), rows, strict=True)}
        for entry in _entries(before, target):
            wanted = set_of_topic.get(entry.topic)
            for broker in entry.new:
                if broker not in entry.old and own.get(broker) != wanted:
                    message = (
                        f"broker {broker} is of set {own.get(broker) or '(none)'}, "
                        f"and the topic of {wanted or '(none)'}"
                    )
                    yield entry.finding("broker-set", message, broker)

    return check


def within_rack() -> CustomRule:
    """
    Return the rule that each partition keeps its number of replicas per rack.

    A longer list may gain replicas in any rack, and a shorter list may lose replicas
    in any rack. Neither may lose one in a rack and gain one in another.
    """

    def check(before: ClusterState, target: Target) -> Iterator[Finding]:
        brokers = before.brokers
        rack = dict(zip(brokers.ids.tolist(), brokers.rack_idx.tolist(), strict=True))
        for entry in _entries(before, target):
            old = Counter(rack.get(broker) for broker in entry.old)
            new = Counter(rack.get(broker) for broker in entry.new)
            if (old - new) and (new - old):
                yield entry.finding("locality-scoped", "a replica changes its rack")

    return check


def strict_racks() -> CustomRule:
    """
    Return the rule that no two replicas of a partition share a rack.

    A violation is existing if no fewer replicas shared a rack before.
    """

    def check(before: ClusterState, target: Target) -> Iterator[Finding]:
        brokers = before.brokers
        rack = dict(zip(brokers.ids.tolist(), brokers.rack_idx.tolist(), strict=True))

        def num_shared(listed: tuple[int, ...]) -> int:
            return len(listed) - len({rack.get(broker) for broker in listed})

        for entry in _entries(before, target):
            old, new = num_shared(entry.old), num_shared(entry.new)
            if new > 0:
                finding = entry.finding("rack", "two replicas share a rack")
                yield replace(finding, existing=new <= old)

    return check


def only_trades() -> CustomRule:
    """Return the rule that no broker holds more replicas than before."""

    def check(before: ClusterState, target: Target) -> Iterator[Finding]:
        gained: Counter[int] = Counter()
        for entry in _entries(before, target):
            gained.update(entry.new)
            gained.subtract(entry.old)
        for broker in sorted(gained):
            if gained[broker] > 0:
                yield Finding(
                    rule="only-trades",
                    where=Where(broker=broker, resource="replicas"),
                    message=f"broker {broker}: {gained[broker]} replicas more, and "
                    "brokers only trade",
                )

    return check


def replica_cap(most: int) -> CustomRule:
    """
    Return the rule that no broker holds more than a number of replicas.

    Parameters
    ----------
    most
        Maximum number of replicas of any broker.
    """

    def check(before: ClusterState, target: Target) -> Iterator[Finding]:
        brokers, rows = before.brokers, before.replicas.broker_idx
        held = np.bincount(rows, minlength=len(brokers))
        count = dict(zip(brokers.ids.tolist(), held.tolist(), strict=True))
        after = Counter(count)
        for entry in _entries(before, target):
            after.subtract(entry.old)
            after.update(entry.new)
        for broker in sorted(after):
            had = count.get(broker, 0)
            if after[broker] > most:
                yield Finding(
                    rule="max-replicas",
                    where=Where(broker=broker, resource="replicas"),
                    message=f"broker {broker}: {after[broker]} replicas (before: "
                    f"{had}), and {most} are the most of any broker",
                    existing=after[broker] <= had,
                )

    return check
