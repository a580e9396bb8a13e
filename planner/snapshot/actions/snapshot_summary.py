"""Summary of a snapshot for `snapshot show`."""

from collections import Counter
from typing import Any

import numpy as np
import pyarrow.compute as pc

from placement.failures.partition_health import health_of
from placement.model.cluster import BrokerState, ClusterState, sum_rows
from placement.model.mixed_factors import mixed_factors
from placement.score.incomplete_tables import incomplete_notes, is_complete
from planner.snapshot.snapshot_document import Snapshot
from planner.snapshot.tables.snapshot_columns import BROKER_STATES

_RATES = (
    "in_bytes_per_s",
    "out_bytes_per_s",
    "leader_cpu_cores",
    "follower_cpu_cores",
)
_MAX_TOPICS = 5


def summarize(snapshot: Snapshot, state: ClusterState) -> dict[str, Any]:
    """
    Return the facts of a snapshot as one JSON document.

    Parameters
    ----------
    snapshot
        The snapshot.
    state
        Its cluster.
    """
    return {
        "cluster_id": snapshot.cluster_id,
        "taken_at": snapshot.taken_at,
        "kafka_version": snapshot.kafka_version,
        "controllers": len(snapshot.controllers),
        "brokers": len(snapshot.brokers),
        "broker_states": _broker_states(state),
        "brokers_not_live": _not_live(state),
        "racks": _racks(state),
        "log_dirs": _log_dirs(state),
        "topics": len(snapshot.topics),
        "partitions": state.num_partitions,
        "replicas": len(state.replicas),
        "replication_factors": _replication_factors(state),
        "mixed_factors": _mixed_factors(state),
        "sizes": _sizes(state),
        "rates": _rates(snapshot),
        "health": _health(state),
        "biggest_topics": _biggest_topics(state),
        "complete": is_complete(state),
        "notes": [note.message for note in incomplete_notes(state)],
    }


def _broker_states(state: ClusterState) -> dict[str, int]:
    return {
        code.name.lower().replace("_", "-"): count
        for code in BrokerState
        if (count := int(np.equal(state.brokers.state, code).sum()))
    }


def _not_live(state: ClusterState) -> list[dict[str, Any]]:
    """Return the brokers that are not live, by id, and the replicas they hold."""
    brokers = state.brokers
    held = np.bincount(state.replicas.broker_idx, minlength=len(brokers))
    return [
        {
            "broker": int(brokers.ids[b]),
            "state": BROKER_STATES[brokers.state[b]],
            "replicas": int(held[b]),
        }
        for b in np.nonzero(~brokers.is_live)[0].tolist()
    ]


def _racks(state: ClusterState) -> list[dict[str, Any]]:
    """Return brokers and replicas by rack; `None` stands for brokers without one."""
    racks = state.brokers.racks
    brokers = np.bincount(state.brokers.rack_idx, minlength=len(racks))
    rack_of = state.brokers.rack_idx[state.replicas.broker_idx]
    replicas = np.bincount(rack_of, minlength=len(racks))
    num_named = sum(rack is not None for rack in racks)
    named: list[dict[str, Any]] = [
        {"rack": racks[k], "brokers": int(brokers[k]), "replicas": int(replicas[k])}
        for k in range(num_named)
    ]
    if num_named < len(racks):
        rest = {"brokers": brokers, "replicas": replicas}
        named.append(
            {"rack": None} | {k: int(v[num_named:].sum()) for k, v in rest.items()}
        )
    return named


def _log_dirs(state: ClusterState) -> dict[str, int]:
    names = ("online", "offline", "cordoned")
    counts = np.bincount(state.log_dirs.state, minlength=len(names))
    return {name: int(counts[code]) for code, name in enumerate(names)}


def _replication_factors(state: ClusterState) -> dict[str, int]:
    counts = Counter(state.replication_factor.tolist())
    return {str(factor): counts[factor] for factor in sorted(counts)}


def _mixed_factors(state: ClusterState) -> list[dict[str, Any]]:
    """Return the topics of several replication factors, with the partitions of each."""
    return [
        {
            "topic": mixed.topic,
            "partitions": {str(k): list(v) for k, v in mixed.partitions.items()},
        }
        for mixed in mixed_factors(state)
    ]


def replica_bytes(state: ClusterState) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return ``(R,)`` bytes of each replica: its own, or the partition's, or -1."""
    shared = np.repeat(state.partitions.size_bytes, state.num_replicas)
    return np.where(state.replicas.own_bytes >= 0, state.replicas.own_bytes, shared)


def _sizes(state: ClusterState) -> dict[str, int | float | None]:
    sizes, replicas = state.partitions.size_bytes, replica_bytes(state)
    disks = state.brokers.disk_bytes
    return {
        "partition_bytes": int(sizes[sizes >= 0].sum()),
        "replica_bytes": int(replicas[replicas >= 0].sum()),
        "disk_bytes": int(disks.sum()) if len(disks) and disks.min() >= 0 else None,
        "known_fraction": _fraction(np.greater_equal(sizes, 0)),
    }


def _fraction(is_known: np.ndarray[Any, np.dtype[np.bool_]]) -> float:
    return round(float(is_known.mean()), 4) if len(is_known) else 1.0


def _rates(snapshot: Snapshot) -> dict[str, Any]:
    table, known = snapshot.partitions, {}
    for name in _RATES:
        column = table.column(name)
        fraction = (len(column) - column.null_count) / max(len(column), 1)
        total = pc.sum(column).as_py()
        known[name] = {"known_fraction": round(fraction, 4), "total": total}
    return {**(snapshot.rates or {"source": None}), **known}


def _health(state: ClusterState) -> dict[str, int]:
    """Return replicas and partitions in trouble; only live replicas are in sync."""
    health = health_of(state).counts()
    return {
        "offline_replicas": int(state.is_offline.sum()),
        "offline_partitions": int(np.equal(state.partitions.leader_idx, -1).sum()),
        "under_replicated": health["under_replicated"],
        "under_min_isr": health["under_min_isr"],
        "reassigning": int(state.is_reassigning.sum()),
    }


def _biggest_topics(state: ClusterState) -> list[dict[str, Any]]:
    sizes = replica_bytes(state).clip(min=0)
    by_partition = sum_rows(sizes, state.replicas.start)
    total = np.zeros(len(state.topics), dtype=np.int64)
    np.add.at(total, state.partitions.topic_idx, by_partition)
    count = np.bincount(state.partitions.topic_idx, minlength=len(total))
    largest = np.argsort(-total, kind="stable")[:_MAX_TOPICS]
    return [
        {
            "topic": state.topics.names[t],
            "partitions": int(count[t]),
            "replica_bytes": int(total[t]),
        }
        for t in largest.tolist()
    ]
