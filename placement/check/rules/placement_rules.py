"""Rules on the brokers and log dirs of replicas, on leaders and on in-sync replicas."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from placement.array_types import BoolArray, IntArray
from placement.check.case.finding import Finding
from placement.check.case.placed_replicas import serves
from placement.check.case.plan_case import Case
from placement.model.cluster import ABSENT, BrokerState, LogDirState


def dead_broker(case: Case) -> Iterator[Finding]:
    """Yield the replicas on brokers that are not live."""
    after, brokers = case.after, case.state.brokers
    for row in np.flatnonzero(~brokers.is_live[after.broker_idx]).tolist():
        broker = int(after.broker_idx[row])
        state = BrokerState(int(brokers.state[broker])).name.lower().replace("_", "-")
        yield case.finding(
            "dead-broker",
            int(after.partition_idx[row]),
            f"a replica on broker {case.broker_id(broker)}, which is {state}",
            broker=case.broker_id(broker),
        )


def min_isr(case: Case) -> Iterator[Finding]:
    """Yield partitions that fall below min.insync.replicas or lose in-sync replicas."""
    yield from _below_min_isr(case)
    yield from _in_sync_dropped(case)
    yield from _eligible_dropped(case)


def _min_isr_of(case: Case) -> IntArray:
    topics, partitions = case.state.topics, case.state.partitions
    return topics.min_insync_replicas.astype(np.int64)[partitions.topic_idx]


def _below_min_isr(case: Case) -> Iterator[Finding]:
    least, factor = _min_isr_of(case), case.after.replication_factor
    was = case.before.replication_factor
    for partition in np.flatnonzero(factor < least).tolist():
        finding = case.finding(
            "min-isr",
            partition,
            f"replication factor {factor[partition]} (before: {was[partition]}) is "
            f"below min.insync.replicas {least[partition]}",
        )
        yield replace(finding, existing=bool(factor[partition] >= was[partition]))


def _kept(case: Case, flags: BoolArray) -> IntArray:
    """Return ``(P,)`` number of replicas with a flag that stay after the plan."""
    stays = case.after.from_idx[~case.is_new]
    return _count(case, case.before.partition_idx[stays[flags[stays]]])


def _count(case: Case, partition_idx: IntArray) -> IntArray:
    return np.bincount(partition_idx, minlength=case.state.num_partitions)


def _in_sync_dropped(case: Case) -> Iterator[Finding]:
    in_sync = case.state.replicas.is_in_sync
    had = _count(case, case.before.partition_idx[in_sync])
    num_new = _count(case, case.after.partition_idx[case.is_new])
    is_lost = (had > 0) & np.equal(_kept(case, in_sync), 0) & np.equal(num_new, 0)
    for partition in np.flatnonzero(is_lost & case.is_touched).tolist():
        message = "every in-sync replica is dropped, and no copy is made"
        yield case.finding("min-isr", partition, message)
    yield from _fewer_in_sync(case, ~is_lost & case.is_touched)


def _fewer_in_sync(case: Case, chosen: BoolArray) -> Iterator[Finding]:
    """Yield the chosen partitions, ``(P,)``, with too few live replicas in sync."""
    is_live = case.state.brokers.is_live
    in_sync = case.state.replicas.is_in_sync & serves(case.state)
    had = _count(case, case.before.partition_idx[in_sync])
    comes = case.is_new & is_live[case.after.broker_idx]
    # New replicas are in sync before any is removed; out-of-sync ones may stay so.
    left = _kept(case, in_sync) + _count(case, case.after.partition_idx[comes])
    least = np.minimum(_min_isr_of(case), case.after.replication_factor)
    least = np.minimum(least, had)
    for partition in np.flatnonzero((left < least) & chosen).tolist():
        message = (
            f"{had[partition]} replicas are in sync, and {left[partition]} of those "
            f"that are left: {least[partition]} must be"
        )
        yield case.finding("min-isr", partition, message)


def _eligible_dropped(case: Case) -> Iterator[Finding]:
    replicas = case.state.replicas
    in_sync = _count(case, case.before.partition_idx[replicas.is_in_sync])
    eligible = _count(case, case.before.partition_idx[replicas.is_eligible])
    is_lost = (in_sync < _min_isr_of(case)) & (
        _kept(case, replicas.is_eligible) < eligible
    )
    for partition in np.flatnonzero(is_lost & case.is_touched).tolist():
        message = "an eligible leader (ELR) is dropped while the ISR is below its least"
        yield case.finding("min-isr", partition, message)


def excluded(case: Case) -> Iterator[Finding]:
    """Yield excluded topics that change, and excluded brokers that gain a role."""
    yield from _excluded_topics(case)
    yield from _excluded_replicas(case)
    yield from _excluded_leaders(case)


def _is_changed(case: Case) -> BoolArray:
    """Return ``(P,)`` true where the plan changes the list or a log dir."""
    after, before = case.after, case.before
    slots = np.arange(len(after.from_idx)) - after.start[after.partition_idx]
    is_moved = np.not_equal(after.from_idx, before.start[after.partition_idx] + slots)
    lay_in = np.append(before.log_dir_idx, ABSENT)[after.from_idx]
    is_moved |= np.not_equal(lay_in, after.log_dir_idx)
    changed = _count(case, after.partition_idx[is_moved]) > 0
    return changed | np.not_equal(np.diff(after.start), np.diff(before.start))


def _excluded_topics(case: Case) -> Iterator[Finding]:
    names = case.state.topics.names
    is_out = np.array([name in case.settings.excluded_topics for name in names], bool)
    is_moved = is_out[case.state.partitions.topic_idx] & _is_changed(case)
    for partition in np.flatnonzero(is_moved).tolist():
        yield case.finding("excluded", partition, "the topic is excluded, and is moved")


def _excluded_replicas(case: Case) -> Iterator[Finding]:
    is_out = case.rows_of(case.settings.excluded_for_replicas)
    is_out |= case.rows_of(case.settings.leaving_brokers)
    for row in np.flatnonzero(is_out[case.after.broker_idx] & case.is_new).tolist():
        broker = case.broker_id(int(case.after.broker_idx[row]))
        partition = int(case.after.partition_idx[row])
        message = f"a new replica on broker {broker}, which takes none"
        yield case.finding("excluded", partition, message, broker=broker)


def _excluded_leaders(case: Case) -> Iterator[Finding]:
    is_out = case.rows_of(case.settings.excluded_for_leaders)
    is_out |= case.state.brokers.is_live & ~case.state.brokers.may_lead
    led_by = case.after.broker_idx[case.after.is_leader]
    partition = case.after.partition_idx[case.after.is_leader]
    was_led_by = np.full(case.state.num_partitions, ABSENT, dtype=np.int64)
    had = case.before.is_leader
    was_led_by[case.before.partition_idx[had]] = case.before.broker_idx[had]
    is_wrong = is_out[led_by] & np.not_equal(led_by, was_led_by[partition])
    for row in np.flatnonzero(is_wrong).tolist():
        broker = case.broker_id(int(led_by[row]))
        message = f"broker {broker} becomes the leader, and may not lead"
        yield case.finding("excluded", int(partition[row]), message, broker=broker)


def log_dir(case: Case) -> Iterator[Finding]:
    """Yield replicas in log dirs that are unknown, offline or take no new replica."""
    yield from _unknown_dirs(case)
    yield from _unfit_dirs(case)
    yield from _nowhere_to_go(case)


def _unknown_dirs(case: Case) -> Iterator[Finding]:
    if case.target.log_dirs is None:
        return
    # The check needs the log dirs of a broker; a snapshot may list none.
    lists_dirs = np.zeros(case.state.num_brokers + 1, dtype=np.bool_)
    lists_dirs[case.state.log_dirs.broker_idx] = True
    is_missing = np.equal(case.slot_dir, ABSENT) & lists_dirs[case.slot_broker]
    for slot in np.flatnonzero(is_missing).tolist():
        path, partition = case.target.log_dirs[slot], _partition_of(case, slot)
        if path is None or partition is None:
            continue
        broker = int(case.target.broker_ids[slot])
        message = f"broker {broker} has no log dir {path}"
        yield case.finding("log-dir", partition, message, broker=broker, log_dir=path)


def _partition_of(case: Case, slot: int) -> int | None:
    partition = int(case.entry_partition[case.slot_entry[slot]])
    is_done = partition != ABSENT and bool(case.is_touched[partition])
    return partition if is_done else None


def _unfit_dirs(case: Case) -> Iterator[Finding]:
    after, dirs = case.after, case.state.log_dirs
    states = np.append(dirs.state, LogDirState.ONLINE)[after.log_dir_idx]
    lay_in = np.append(case.before.log_dir_idx, ABSENT)[after.from_idx]
    is_new_here = np.not_equal(lay_in, after.log_dir_idx)
    is_offline = np.equal(states, LogDirState.OFFLINE)
    is_closed = np.equal(states, LogDirState.CORDONED) & is_new_here
    for row in np.flatnonzero(is_offline | is_closed).tolist():
        path = dirs.paths[after.log_dir_idx[row]]
        broker = case.broker_id(int(after.broker_idx[row]))
        what = "is offline" if is_offline[row] else "is cordoned and takes nothing new"
        finding = case.finding(
            "log-dir",
            int(after.partition_idx[row]),
            f"log dir {path} of broker {broker} {what}",
            broker=broker,
            log_dir=path,
        )
        # A replica that stays in its log dir is an existing finding.
        yield replace(finding, existing=not is_new_here[row])


def _nowhere_to_go(case: Case) -> Iterator[Finding]:
    """Yield copies to brokers whose listed log dirs all take no new replica."""
    dirs, num_brokers = case.state.log_dirs, case.state.num_brokers
    is_open = np.equal(dirs.state, LogDirState.ONLINE)
    num_dirs = np.bincount(dirs.broker_idx, minlength=num_brokers)
    num_open = np.bincount(dirs.broker_idx[is_open], minlength=num_brokers)
    is_shut = (num_dirs > 0) & np.equal(num_open, 0)
    is_anywhere = case.is_new & np.equal(case.after.log_dir_idx, ABSENT)
    for row in np.flatnonzero(is_shut[case.after.broker_idx] & is_anywhere).tolist():
        broker = case.broker_id(int(case.after.broker_idx[row]))
        message = f"no log dir of broker {broker} takes a new replica"
        partition = int(case.after.partition_idx[row])
        yield case.finding("log-dir", partition, message, broker=broker)
