"""The definitions of loads and racks per replica in plain Python, as an oracle."""

import math
from dataclasses import dataclass

from placement.model.cluster import (
    ABSENT,
    UNKNOWN,
    BrokerState,
    ClusterState,
    LogDirState,
    Storage,
)

Lists = dict[tuple[str, int], list[int]]


@dataclass(frozen=True)
class NaiveReplica:
    broker: int
    own_bytes: int
    log_dir: int
    future_log_dir: int
    is_in_sync: bool
    is_adding: bool
    is_removing: bool


def replicas_of(state: ClusterState, partition: int) -> list[NaiveReplica]:
    start, stop = state.replicas.start[partition : partition + 2].tolist()
    replicas = state.replicas
    return [
        NaiveReplica(
            broker=int(state.brokers.ids[replicas.broker_idx[row]]),
            own_bytes=int(replicas.own_bytes[row]),
            log_dir=int(replicas.log_dir_idx[row]),
            future_log_dir=int(replicas.future_log_dir_idx[row]),
            is_in_sync=bool(replicas.is_in_sync[row]),
            is_adding=bool(replicas.is_adding[row]),
            is_removing=bool(replicas.is_removing[row]),
        )
        for row in range(start, stop)
    ]


def key_of(state: ClusterState, partition: int) -> tuple[str, int]:
    topic = state.topics.names[state.partitions.topic_idx[partition]]
    return topic, int(state.partitions.partition[partition])


def lists_of(state: ClusterState) -> Lists:
    """Every partition's replica list, by topic and number."""
    return {
        key_of(state, partition): state.brokers_of(partition)
        for partition in range(state.num_partitions)
    }


def live_ids(state: ClusterState) -> set[int]:
    pairs = zip(state.brokers.ids.tolist(), state.brokers.state.tolist(), strict=True)
    return {broker for broker, code in pairs if code <= BrokerState.DEMOTED}


def failed_ids(state: ClusterState, partition: int) -> set[int]:
    """Brokers on which the partition's replica failed, live or not."""
    start, stop = state.replicas.start[partition : partition + 2].tolist()
    failed = set()
    for row in range(start, stop):
        log_dir = int(state.replicas.log_dir_idx[row])
        in_failed = (
            log_dir >= 0 and state.log_dirs.state[log_dir] == LogDirState.OFFLINE
        )
        if state.replicas.is_failed[row] or in_failed:
            failed.add(int(state.brokers.ids[state.replicas.broker_idx[row]]))
    return failed


def electable_ids(state: ClusterState, partition: int) -> set[int]:
    """Brokers that Kafka may let lead without losing records."""
    start, stop = state.replicas.start[partition : partition + 2].tolist()
    serving = live_ids(state) - failed_ids(state, partition)
    leader = int(state.partitions.leader_idx[partition])
    in_sync, eligible = set(), set()
    for row in range(start, stop):
        broker = int(state.brokers.ids[state.replicas.broker_idx[row]])
        leads = leader == int(state.replicas.broker_idx[row])
        if broker in serving and (leads or state.replicas.is_in_sync[row]):
            in_sync.add(broker)
        if broker in serving and state.replicas.is_eligible[row]:
            eligible.add(broker)
    return in_sync or eligible


def rack_of(state: ClusterState) -> dict[int, int]:
    return dict(
        zip(state.brokers.ids.tolist(), state.brokers.rack_idx.tolist(), strict=True)
    )


def naive_loads(state: ClusterState, changed: Lists) -> dict[str, dict[int, float]]:
    """Loads by resource and broker id, with some lists changed."""
    live = live_ids(state)
    loads: dict[str, dict[int, float]] = {
        name: dict.fromkeys(state.brokers.ids.tolist(), 0.0)
        for name in ("disk", "in", "out", "cpu", "replicas", "leaders")
    }
    for broker, fixed in naive_fixed_bytes(state).items():
        loads["disk"][broker] += fixed
    for partition in range(state.num_partitions):
        before = {replica.broker: replica for replica in replicas_of(state, partition)}
        key = key_of(state, partition)
        brokers = changed.get(key, list(before))
        able = live - failed_ids(state, partition)
        leader = next((broker for broker in brokers if broker in able), None)
        adding = sum(replica.is_adding for replica in before.values())
        factor = len(brokers) if key in changed else len(before) - adding
        for broker in brokers:
            bytes_ = naive_bytes(state, partition, before.get(broker))
            loads["disk"][broker] += bytes_
            for name, value in _rates(state, partition, factor, broker == leader):
                loads[name][broker] += 0.0 if math.isnan(value) else value
    return loads


def _rates(state: ClusterState, partition: int, factor: int, is_leader: bool):
    columns = state.partitions
    rate_in = float(columns.in_bytes_per_s[partition])
    rate_out = float(columns.out_bytes_per_s[partition])
    yield "in", rate_in
    yield "replicas", 1.0
    led, followed = columns.leader_cpu_cores[partition], columns.follower_cpu_cores
    is_cpu_known = not math.isnan(led) and (
        factor <= 1 or not math.isnan(followed[partition])
    )
    if is_leader:
        yield "out", rate_out + (factor - 1) * rate_in if factor > 1 else rate_out
        yield "leaders", 1.0
        yield "cpu", float(led) if is_cpu_known else math.nan
    else:
        yield "cpu", float(followed[partition]) if is_cpu_known else math.nan


def naive_bytes(
    state: ClusterState, partition: int, before: NaiveReplica | None
) -> int:
    storage = state.topics.storage[state.partitions.topic_idx[partition]]
    if storage == Storage.SHARED:
        return 0
    own = UNKNOWN if before is None else before.own_bytes
    size = int(state.partitions.size_bytes[partition]) if own == UNKNOWN else own
    return max(size, 0)


def naive_fixed_bytes(state: ClusterState) -> dict[int, int]:
    """Bytes per broker id that neither replicas nor free space explain."""
    dirs = state.log_dirs
    explained = [0] * len(dirs)
    homeless = dict.fromkeys(state.brokers.ids.tolist(), 0)
    for partition in range(state.num_partitions):
        for replica in replicas_of(state, partition):
            size = naive_bytes(state, partition, replica)
            if replica.log_dir == ABSENT:
                homeless[replica.broker] += size
            else:
                explained[replica.log_dir] += size
            if replica.future_log_dir != ABSENT:
                explained[replica.future_log_dir] += size
    fixed = dict.fromkeys(homeless, 0)
    for row in range(len(dirs)):
        size, usable = int(dirs.size_bytes[row]), int(dirs.usable_bytes[row])
        if UNKNOWN in {size, usable} or dirs.state[row] == LogDirState.OFFLINE:
            continue
        broker = int(state.brokers.ids[dirs.broker_idx[row]])
        fixed[broker] += max(0, size - usable - explained[row])
    return {broker: max(0, fixed[broker] - homeless[broker]) for broker in fixed}


def naive_kappa(factor: int, brokers_per_rack: dict[int, int]) -> int:
    """Return the least κ with Σ min(κ, n) ≥ RF; RF itself where there is none."""
    kappa = 0
    while sum(min(kappa, n) for n in brokers_per_rack.values()) < factor:
        kappa += 1
        if kappa >= factor:
            break
    return kappa


def is_rack_broken(
    state: ClusterState, brokers: list[int], leaving: frozenset[int] = frozenset()
) -> bool:
    """Apply both halves of the rack rule to one list of broker ids."""
    rack = rack_of(state)
    usable = live_ids(state) - leaving
    per_rack: dict[int, int] = {}
    for broker in usable:
        per_rack[rack[broker]] = per_rack.get(rack[broker], 0) + 1
    held = dict.fromkeys(rack.values(), 0)
    for broker in brokers:
        held[rack[broker]] += 1
    free = {rack[broker] for broker in usable if broker not in brokers}
    is_over = max(held.values()) > naive_kappa(len(brokers), per_rack)
    return is_over or any(
        held[full] >= held[other] + 2 for full in held for other in free
    )
