"""Rules on the entries themselves; Kafka refuses most violations."""

from collections.abc import Iterator

import numpy as np

from placement.check.case.finding import Finding
from placement.check.case.plan_case import Case, is_twice, slot_keys
from placement.model.cluster import ABSENT


def unknown_topic(case: Case) -> Iterator[Finding]:
    """Yield the entries whose topic the cluster does not have."""
    for entry in np.flatnonzero(np.equal(case.entry_topic, ABSENT)).tolist():
        yield case.entry_finding(
            "unknown-topic", entry, f"no topic {case.target.topics[entry]!r}"
        )


def unknown_partition(case: Case) -> Iterator[Finding]:
    """Yield the entries whose topic has no partition of that number."""
    is_missing = np.equal(case.entry_partition, ABSENT)
    is_missing &= np.not_equal(case.entry_topic, ABSENT)
    counts = np.bincount(
        case.state.partitions.topic_idx, minlength=len(case.state.topics)
    )
    for entry in np.flatnonzero(is_missing).tolist():
        count = counts[case.entry_topic[entry]]
        message = f"the topic has no such partition, only {count} others"
        yield case.entry_finding("unknown-partition", entry, message)


def duplicate_partition(case: Case) -> Iterator[Finding]:
    """Yield the partitions named by more than one entry."""
    names = [*zip(case.target.topics, case.target.partitions.tolist(), strict=True)]
    if len(set(names)) == len(names):
        return
    seen: set[tuple[str, int]] = set()
    said: set[tuple[str, int]] = set()
    for entry, name in enumerate(names):
        if name in seen and name not in said:
            said.add(name)
            message = "named by more than one entry; Kafka refuses that"
            yield case.entry_finding("duplicate-partition", entry, message)
        seen.add(name)


def empty_replicas(case: Case) -> Iterator[Finding]:
    """Yield the entries with an empty replica list."""
    for entry in np.flatnonzero(np.equal(np.diff(case.target.start), 0)).tolist():
        message = "an empty list of replicas; at least one is needed"
        yield case.entry_finding("empty-replicas", entry, message)


def unknown_broker(case: Case) -> Iterator[Finding]:
    """Yield the brokers in the target that the cluster does not have."""
    is_missing = np.equal(case.slot_broker, ABSENT)
    is_missing &= ~is_twice(slot_keys(case.target, case.slot_entry))
    for slot in np.flatnonzero(is_missing).tolist():
        broker = int(case.target.broker_ids[slot])
        yield case.entry_finding(
            "unknown-broker",
            int(case.slot_entry[slot]),
            f"broker {broker} is not in the cluster",
            broker,
        )


def duplicate_broker(case: Case) -> Iterator[Finding]:
    """Yield the lists that name a broker more than once."""
    is_repeated = is_twice(slot_keys(case.target, case.slot_entry))
    said: set[tuple[int, int]] = set()
    for slot in np.flatnonzero(is_repeated).tolist():
        entry, broker = int(case.slot_entry[slot]), int(case.target.broker_ids[slot])
        if (entry, broker) not in said:
            said.add((entry, broker))
            message = f"broker {broker} stands in the list more than once"
            yield case.entry_finding("duplicate-broker", entry, message, broker)


def replication_factor(case: Case) -> Iterator[Finding]:
    """Yield the lists that change the replication factor, where it must stay."""
    if case.settings.allow_replication_factor_change:
        return
    counts = np.diff(case.target.start)
    known = np.append(case.before.replication_factor, 0)[case.entry_partition]
    is_changed = np.not_equal(counts, known) & np.greater(counts, 0)
    is_changed &= np.not_equal(case.entry_partition, ABSENT)
    for entry in np.flatnonzero(is_changed).tolist():
        message = (
            f"{counts[entry]} replicas instead of {known[entry]}; a change of the "
            "replication factor must be allowed"
        )
        yield case.entry_finding("replication-factor", entry, message)


def stale(case: Case) -> Iterator[Finding]:
    """Yield the changes of the cluster since the plan was made."""
    yield from _stale_lists(case)
    yield from _stale_topics(case)
    if case.settings.rollback is not None:
        for finding in unknown_broker(case):
            if finding.where.broker in case.settings.brokers_to_come:
                continue
            message = f"{finding.message}, though it was when the plan was made"
            yield Finding(rule="stale", where=finding.where, message=message)


def _stale_lists(case: Case) -> Iterator[Finding]:
    rollback = case.settings.rollback
    if rollback is None:
        return
    names = zip(rollback.topics, rollback.partitions.tolist(), strict=True)
    row_of = {name: row for row, name in enumerate(names)}
    wanted = zip(case.target.topics, case.target.partitions.tolist(), strict=True)
    for entry, name in enumerate(wanted):
        row, partition = row_of.get(name), int(case.entry_partition[entry])
        # The rollback leaves out lists with a broker that was not live.
        if row is None or partition == ABSENT:
            continue
        was = rollback.broker_ids[rollback.start[row] : rollback.start[row + 1]]
        now = case.state.brokers_of(partition)
        if was.tolist() != now:
            message = f"replicas are {now} now, were {was.tolist()} in the plan"
            yield case.entry_finding("stale", entry, message)


def _stale_topics(case: Case) -> Iterator[Finding]:
    topic_ids = case.state.topics.topic_ids
    is_other = [
        name in case.settings.topic_ids
        and topic_id is not None
        and topic_id != case.settings.topic_ids[name]
        for name, topic_id in zip(case.state.topics.names, topic_ids, strict=True)
    ]
    topic_rows = np.append(np.array(is_other, dtype=np.bool_), False)
    for entry in np.flatnonzero(topic_rows[case.entry_topic]).tolist():
        name = case.target.topics[entry]
        message = (
            f"the topic has been made anew: its id is "
            f"{topic_ids[case.entry_topic[entry]]}, was {case.settings.topic_ids[name]}"
        )
        yield case.entry_finding("stale", entry, message)
