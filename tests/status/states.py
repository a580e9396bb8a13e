"""Snapshots in trouble, as documents."""

from typing import Any

RATE = "leader.replication.throttled.rate"


def partition(number: int, replicas: list[int], **more: Any) -> dict[str, Any]:
    """Return a partition of which everything is known, and nothing wrong."""
    known = {
        "leader": replicas[0],
        "isr": replicas,
        "adding_replicas": [],
        "removing_replicas": [],
        "size_bytes": 100,
    }
    return {"partition": number, "replicas": replicas} | known | more


def broker(number: int, **more: Any) -> dict[str, Any]:
    """Return a live broker of which everything is known."""
    known = {
        "rack": "abc"[number % 3],
        "host": f"h{number}",
        "state": "alive",
        "configs": {},
        "log_dirs": [{"path": path, "size_bytes": 1000} for path in ("/d1", "/d2")],
    }
    return {"id": number} | known | more


def quorum(*ages_ms: int | None) -> list[dict[str, Any]]:
    """Return voters from 100 on, the first the leader, with these ages."""
    return [
        {"id": 100 + n, "voter": True, "leader": not n}
        | ({} if age is None else {"fetch_age_ms": age})
        for n, age in enumerate(ages_ms)
    ]


def document(
    partitions: list[dict[str, Any]],
    *,
    brokers: dict[int, dict[str, Any]] | None = None,
    topic: dict[str, Any] | None = None,
    configs: dict[str, str] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Return a cluster of six brokers; `brokers` changes some of them."""
    changed = brokers or {}
    return {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "cluster_id": "c",
        "taken_at": "2026-11-21T08:00:00Z",
        "configs": {"min.insync.replicas": "1"} | (configs or {}),
        "controllers": quorum(0),
        "brokers": [broker(b) | changed.get(b, {}) for b in range(1, 7)],
        "topics": [{"name": "t", "configs": topic or {}, "partitions": partitions}],
    } | more
