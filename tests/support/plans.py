"""Clusters worth planning, and plan folders as a reader sees them."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np

from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import Planned, make
from planner.snapshot import Snapshot

Lists = dict[tuple[str, int], list[int]]


def skewed_document(
    *, num_brokers: int = 6, num_partitions: int = 30, seed: int = 1
) -> dict[str, Any]:
    """
    Return a snapshot of three racks, the last broker new, the first ones too full.

    Two log dirs per broker; factors 2 and 3; the second replica leads here and there.
    """
    rng = np.random.default_rng(seed)
    racks = "abc"
    brokers = [
        {
            "id": b + 1,
            "rack": racks[b % 3],
            "state": "new" if b == num_brokers - 1 else "alive",
            "in_bytes_per_s": 1000.0 * num_partitions,
            "out_bytes_per_s": 4000.0 * num_partitions,
            "log_dirs": [
                {"path": path, "size_bytes": 500 * num_partitions}
                for path in ("/d1", "/d2")
            ],
        }
        for b in range(num_brokers)
    ]
    partitions = [_partition(rng, n, num_brokers - 1) for n in range(num_partitions)]
    half = num_partitions // 2
    for number, partition in enumerate(partitions):
        partition["partition"] = number if number < half else number - half
    return {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "cluster_id": "skewed",
        "taken_at": "2026-11-21T08:00:00Z",
        "brokers": brokers,
        "topics": [
            {"name": "a", "topic_id": "id-a", "partitions": partitions[:half]},
            {"name": "b", "topic_id": "id-b", "partitions": partitions[half:]},
        ],
    }


def _partition(rng: np.random.Generator, number: int, num_old: int) -> dict[str, Any]:
    factor = int(rng.integers(2, 4))
    racks = rng.permutation(3)[:factor]
    # Squared draws: the first brokers of each rack get more than their share.
    rows = [
        int(rack + 3 * int(rng.random() ** 2 * len(range(int(rack), num_old, 3))))
        for rack in racks
    ]
    replicas = [row + 1 for row in rows]
    return {
        "partition": number,
        "replicas": replicas,
        "leader": replicas[int(rng.random() < 0.3)],
        "log_dirs": [f"/d{rng.integers(1, 3)}" for _ in replicas],
        "size_bytes": int(rng.integers(1, 60)),
        "in_bytes_per_s": float(rng.integers(0, 90)),
        "out_bytes_per_s": float(rng.integers(0, 180)),
    }


def many_document(num_partitions: int) -> dict[str, Any]:
    """
    Return partitions of factor one, all on the first of two brokers.

    A thousand to a topic: Kafka can throttle these together.
    """
    return {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "brokers": [{"id": 1, "rack": "a"}, {"id": 2, "rack": "b"}],
        "topics": [
            {
                "name": f"t{began}",
                "partitions": [
                    {"partition": n, "replicas": [1], "size_bytes": 1}
                    for n in range(min(num_partitions - began, 1000))
                ],
            }
            for began in range(0, num_partitions, 1000)
        ],
    }


def planned_for(
    document: dict[str, Any], goal: str = "rebalance", **options: Any
) -> Planned:
    """Plan on a snapshot document."""
    snapshot = Snapshot.from_document(document)
    request = PlanRequest(goal=goal, **options)
    return make(snapshot.to_state(), request, taken_at=snapshot.taken_at)


def write_document(document: dict[str, Any], path: Path) -> Path:
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def lists_in(path: Path) -> Lists:
    """Return the replica lists of a reassignment file."""
    entries = json.loads(path.read_text(encoding="utf-8"))["partitions"]
    found = {(e["topic"], e["partition"]): e["replicas"] for e in entries}
    assert len(found) == len(entries)
    return found


def lists_of_document(document: dict[str, Any]) -> Lists:
    return {
        (topic["name"], partition["partition"]): partition["replicas"]
        for topic in document["topics"]
        for partition in topic["partitions"]
    }


def moves_in(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file of a folder, by its path in there."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
