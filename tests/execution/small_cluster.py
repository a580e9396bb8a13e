"""A simulated cluster of one small topic, and requests to it."""

from collections.abc import Sequence
from typing import Any

from planner.execution.cluster.running_cluster import Seen
from planner.execution.simulation.simulated_admin import SimulatedAdmin
from planner.kafka.actions.config_changes import Place
from planner.snapshot import Snapshot

MB = 10**6


RATE = 10 * MB


BROKERS = (1, 2, 3, 4)


DIRS = ("/a", "/b")


LEADER = "leader.replication.throttled"


FOLLOWER = "follower.replication.throttled"


INSIDE = "replica.alter.log.dirs.io.max.bytes.per.second"


def snapshot(
    *lists: Sequence[int],
    size: int = 100 * MB,
    free: int = 10_000 * MB,
    topic: dict[str, Any] | None = None,
    features: dict[str, int] | None = None,
    **columns: Any,
) -> Snapshot:
    """Return topic t on brokers 1 to 4, which have two log dirs each."""
    dirs = [
        {"path": path, "size_bytes": 2 * free + 1, "usable_bytes": free}
        for path in DIRS
    ]
    partitions = [
        {
            "partition": number,
            "replicas": list(row),
            "size_bytes": size,
            "log_dirs": [DIRS[0]] * len(row),
        }
        | columns
        for number, row in enumerate(lists)
    ]
    return Snapshot.from_document(
        {
            "format": "kafka-planner/snapshot",
            "version": 1,
            "cluster_id": "simulated",
            "taken_at": "2026-11-27T08:00:00Z",
            "features": features or {},
            "brokers": [{"id": b, "log_dirs": dirs} for b in BROKERS],
            "topics": [{"name": "t", "partitions": partitions} | (topic or {})],
        }
    )


def admin(*lists: Sequence[int], **more: Any) -> SimulatedAdmin:
    return SimulatedAdmin(snapshot(*lists, **more), rate_bytes_per_s=RATE)


def seen(cluster: SimulatedAdmin, number: int = 0) -> Seen:
    return cluster.partitions([("t", number)])["t", number]


def lists(cluster: SimulatedAdmin) -> list[tuple[int, ...]]:
    keys = [("t", number) for number in range(20)]
    return [one.replicas for one in cluster.partitions(keys).values()]


def held(cluster: SimulatedAdmin, broker: int, number: int = 0) -> int:
    found = cluster.log_dirs([(("t", number), broker)])[broker]
    return found.current["t", number].size_bytes


def reassign(cluster: SimulatedAdmin, *targets: Sequence[int] | None) -> dict:
    return cluster.reassign(
        {
            ("t", number): None if row is None else tuple(row)
            for number, row in enumerate(targets)
        }
    )


def configure(cluster: SimulatedAdmin, scope: str, name: object, **changes: str):
    wanted = {key.replace("__", "."): ("SET", value) for key, value in changes.items()}
    assert not cluster.set_configs({Place(scope, str(name)): wanted})


def throttle(cluster: SimulatedAdmin, broker: int, key: str, rate: int) -> None:
    changes = {key: ("SET", str(rate))}
    assert not cluster.set_configs({Place("broker", str(broker)): changes})


def throttle_replicas(cluster: SimulatedAdmin, key: str, value: str) -> None:
    changes = {f"{key}.replicas": ("SET", value)}
    assert not cluster.set_configs({Place("topic", "t"): changes})
