"""Plan resolved against its cluster, the input of every rule."""

from dataclasses import dataclass

import numpy as np

from placement.array_types import BoolArray, IntArray
from placement.check.case.check_settings import CheckSettings
from placement.check.case.finding import Finding, Where
from placement.check.case.placed_replicas import Placed, placed_after, placed_before
from placement.check.case.target_placement import Target
from placement.model.cluster import ABSENT, ClusterState


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Case:
    """
    Cluster, target, and the target's names as rows of the cluster.

    An entry that Kafka would refuse (unknown or doubled names, no replicas) is not
    applied: its partition counts as untouched, and findings name the entry only.

    Parameters
    ----------
    state, target, settings
        Cluster before the plan, target placement, and limits of the plan.
    entry_topic, entry_partition
        ``(N,)`` row of the topic and of the partition of each entry, or `ABSENT`.
    slot_entry, slot_broker, slot_dir
        ``(M,)`` entry, broker and log dir of each target replica; `ABSENT` where none
        has that name, or any log dir is allowed.
    is_touched
        ``(P,)`` true where an entry is applied.
    before, after
        Placement without and with the plan, led by the first live replica.
    """

    state: ClusterState
    target: Target
    settings: CheckSettings
    entry_topic: IntArray
    entry_partition: IntArray
    slot_entry: IntArray
    slot_broker: IntArray
    slot_dir: IntArray
    is_touched: BoolArray
    before: Placed
    after: Placed

    def finding(
        self, rule: str, partition: int, message: str, **where: object
    ) -> Finding:
        """Return a finding on a partition, `existing` if the plan does not touch it."""
        return Finding(
            rule=rule,
            where=Where(
                topic=self.topic_of(partition),
                partition=int(self.state.partitions.partition[partition]),
                **where,  # type: ignore[arg-type] # names of fields of Where
            ),
            message=f"{self.state.name_of(partition)}: {message}",
            existing=not self.is_touched[partition],
        )

    def entry_finding(
        self, rule: str, entry: int, message: str, broker: int | None = None
    ) -> Finding:
        """Return a finding on an entry of the target, by the names in the target."""
        topic, number = self.target.topics[entry], int(self.target.partitions[entry])
        where = Where(topic=topic, partition=number, broker=broker)
        return Finding(rule=rule, where=where, message=f"{topic}-{number}: {message}")

    def topic_of(self, partition: int) -> str:
        """Return the topic name of a partition."""
        return self.state.topics.names[int(self.state.partitions.topic_idx[partition])]

    def broker_id(self, row: int) -> int:
        """Return Kafka's id of a broker."""
        return int(self.state.brokers.ids[row])

    def rows_of(self, broker_ids: frozenset[int]) -> BoolArray:
        """Return ``(B,)`` true for the brokers with the given ids."""
        return np.isin(self.state.brokers.ids, sorted(broker_ids))

    @property
    def is_new(self) -> BoolArray:
        """``(R,)`` true for the replicas after the plan that are new copies."""
        return np.equal(self.after.from_idx, ABSENT)


def look_up(state: ClusterState, target: Target, settings: CheckSettings) -> Case:
    """Resolve the names of the target in the cluster, and apply the target."""
    slot_entry = np.repeat(np.arange(len(target)), np.diff(target.start))
    slot_broker = state.brokers.rows_of(target.broker_ids).astype(np.int64)
    slot_dir = _slot_dirs(state, target, slot_broker)
    entry_topic = _entry_topics(state, target)
    entry_partition = _entry_partitions(state, target, entry_topic)
    entry_of = _entry_of(state, target, entry_partition, slot_entry, slot_broker)
    return Case(
        state=state,
        target=target,
        settings=settings,
        entry_topic=entry_topic,
        entry_partition=entry_partition,
        slot_entry=slot_entry,
        slot_broker=slot_broker,
        slot_dir=slot_dir,
        is_touched=np.not_equal(entry_of, ABSENT),
        before=placed_before(state),
        after=placed_after(state, target, entry_of, slot_broker, slot_dir),
    )


def _entry_topics(state: ClusterState, target: Target) -> IntArray:
    row_of = {name: row for row, name in enumerate(state.topics.names)}
    rows = (row_of.get(topic, ABSENT) for topic in target.topics)
    return np.fromiter(rows, np.int64, len(target))


def _entry_partitions(
    state: ClusterState, target: Target, entry_topic: IntArray
) -> IntArray:
    if not state.num_partitions:
        return np.full(len(target), ABSENT, dtype=np.int64)
    known = _partition_keys(state.partitions.topic_idx, state.partitions.partition)
    wanted = _partition_keys(entry_topic, target.partitions)
    spot = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    is_found = np.equal(known[spot], wanted) & np.greater_equal(target.partitions, 0)
    return np.where(is_found & np.not_equal(entry_topic, ABSENT), spot, ABSENT)


def _partition_keys(topic: object, number: object) -> IntArray:
    # Kafka's partition numbers are 32 bits wide.
    keys: IntArray = np.asarray(topic, np.int64) * 2**32 + np.asarray(number, np.int64)
    return keys


def _slot_dirs(state: ClusterState, target: Target, slot_broker: IntArray) -> IntArray:
    if target.log_dirs is None:
        return np.full(len(slot_broker), ABSENT, dtype=np.int64)
    owners = state.log_dirs.broker_idx.tolist()
    dirs = zip(owners, state.log_dirs.paths, strict=True)
    # None (any log dir) is not a key, so its row is ABSENT too.
    row_of: dict[tuple[int, str | None], int] = {
        key: row for row, key in enumerate(dirs)
    }
    wanted = zip(slot_broker.tolist(), target.log_dirs, strict=True)
    rows = (row_of.get(key, ABSENT) for key in wanted)
    return np.fromiter(rows, np.int64, len(slot_broker))


def is_twice(keys: IntArray) -> BoolArray:
    """Return true for each key that repeats an earlier one."""
    order = np.argsort(keys, kind="stable")
    repeats = np.equal(keys[order[1:]], keys[order[:-1]])
    found = np.zeros(len(keys), dtype=np.bool_)
    found[order[1:][repeats]] = True
    return found


def slot_keys(target: Target, slot_entry: IntArray) -> IntArray:
    """Return ``(M,)`` the unique number of each pair of entry and broker id."""
    return slot_entry * 2**32 + target.broker_ids


def _entry_of(
    state: ClusterState,
    target: Target,
    entry_partition: IntArray,
    slot_entry: IntArray,
    slot_broker: IntArray,
) -> IntArray:
    """Return ``(P,)`` the valid entry of each partition, or `ABSENT`."""
    is_bad_slot = np.equal(slot_broker, ABSENT) | is_twice(
        slot_keys(target, slot_entry)
    )
    is_bad = np.equal(np.diff(target.start), 0)
    is_bad[slot_entry[is_bad_slot]] = True
    is_bad |= np.equal(entry_partition, ABSENT)
    # A partition named twice is ambiguous: neither entry applies.
    _, first, times = np.unique(
        entry_partition, return_inverse=True, return_counts=True
    )
    is_bad |= np.greater(times[first], 1)
    sound = np.flatnonzero(~is_bad)
    entry_of = np.full(state.num_partitions, ABSENT, dtype=np.int64)
    entry_of[entry_partition[sound]] = sound
    return entry_of


def stays(case: Case) -> BoolArray:
    """Return ``(B,)`` true for brokers that share the load: live and not leaving."""
    leaving = case.rows_of(case.settings.leaving_brokers)
    found: BoolArray = case.state.brokers.is_live & ~leaving
    return found
