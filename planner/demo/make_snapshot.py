"""
Generate the bundled cluster: ``python -m planner.demo.make_snapshot [FILE]``.

*Goals*: a plausible cluster of a shop. Nine brokers have all replicas, three were just
added; broker 4 is over its disk threshold; a few topics are hot.
*Constraints*: one copy of each partition in each of the three racks; 104 replicas and
34 or 35 leaders on each old broker; the same document from the same seed, on every
machine (only ``Random.random`` and IEEE sums and products are used).
*Algorithm*: draw sizes and rates around the means of each topic, place partitions at
random with the wanted counts, then swap pairs of replicas, and of leaders, that bring
the brokers nearer to the wanted uses.
"""

import base64
import gzip
import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from planner.demo import SNAPSHOT_FILE
from planner.demo.topics import COMPACTED, TOPICS, Topic

SEED = 20261121
RACKS = "abc"
OLD_BROKERS_OF_RACK = ((1, 4, 7), (2, 5, 8), (3, 6, 9))
NUM_BROKERS = 12
NUM_OLD_BROKERS = 9
LOG_DIRS = ("/data/d1", "/data/d2")

DISK_BYTES = 1_000_000_000_000
IN_CAPACITY_BYTES_PER_S = 100_000_000
OUT_CAPACITY_BYTES_PER_S = 150_000_000
# Size of one replica of all partitions: three replicas make 5.4 TB.
TOTAL_BYTES = 1_800_000_000_000
TOTAL_IN_BYTES_PER_S = 165_000_000

# Wanted uses of brokers 1 to 9, as fractions; the totals determine the sum of a rack.
DISK_USE = (0.473, 0.745, 0.662, 0.813, 0.552, 0.601, 0.514, 0.503, 0.537)
IN_USE = (0.45, 0.63, 0.66, 0.66, 0.54, 0.58, 0.54, 0.48, 0.41)
OUT_USE = (0.39, 0.58, 0.70, 0.63, 0.44, 0.52, 0.49, 0.61, 0.41)

SIZE_SCATTER = 0.30
RATE_SCATTER = 0.20
NUM_SWAPS_TRIED = 40_000


@dataclass(slots=True)
class Partition:
    """One partition while it is being placed; `replicas` has one broker per rack."""

    topic: Topic
    number: int
    size_bytes: int
    in_bytes_per_s: int
    replicas: list[int]

    @property
    def out_bytes_per_s(self) -> int:
        """Rate of consumers."""
        return int(self.in_bytes_per_s * self.topic.fan_out)

    @property
    def leader_out_bytes_per_s(self) -> int:
        """Rate of consumers and two followers, which read from the leader."""
        return self.out_bytes_per_s + 2 * self.in_bytes_per_s


def make_document() -> dict[str, Any]:
    """Return the snapshot as its JSON document."""
    rng = Random(SEED)  # noqa: S311 - scatter, not secrets
    partitions = _draw_partitions(rng)
    for slot, brokers in enumerate(OLD_BROKERS_OF_RACK):
        _place_in_rack(partitions, slot, brokers, rng)
    _choose_leaders(partitions, rng)
    return {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "cluster_id": "orders-eu",
        "taken_at": "2026-11-21T08:00:00Z",
        "kafka_version": "4.3.1",
        "configs": {"default.replication.factor": "3", "min.insync.replicas": "2"},
        "features": {"eligible.leader.replicas.version": 1},
        "rates": {
            "source": "prometheus",
            "window_s": 604800,
            "quantile": 0.95,
            "split": "high-watermark",
        },
        "controllers": [
            {"id": 100 + i, "rack": rack, "voter": True} for i, rack in enumerate(RACKS)
        ],
        "brokers": _broker_records(partitions),
        "topics": [_topic_record(topic, partitions) for topic in TOPICS],
    }


def make_bytes() -> bytes:
    """Return the bundled file: gzipped JSON without a timestamp."""
    text = json.dumps(make_document(), separators=(",", ":"))
    return gzip.compress(text.encode(), compresslevel=9, mtime=0)


def _draw_partitions(rng: Random) -> list[Partition]:
    drawn = [
        Partition(
            topic=topic,
            number=number,
            size_bytes=int(topic.size_gb * 1e9 * _scatter(SIZE_SCATTER, rng)),
            in_bytes_per_s=int(topic.in_kb_per_s * 1e3 * _scatter(RATE_SCATTER, rng)),
            replicas=[0, 0, 0],
        )
        for topic in TOPICS
        for number in range(topic.num_partitions)
    ]
    size_factor = TOTAL_BYTES / sum(p.size_bytes for p in drawn)
    rate_factor = TOTAL_IN_BYTES_PER_S / sum(p.in_bytes_per_s for p in drawn)
    for partition in drawn:
        partition.size_bytes = int(partition.size_bytes * size_factor)
        partition.in_bytes_per_s = int(partition.in_bytes_per_s * rate_factor)
    return drawn


def _scatter(width: float, rng: Random) -> float:
    return 1 + width * (2 * rng.random() - 1)


def _shuffled(items: Sequence[int], rng: Random) -> list[int]:
    # Python guarantees the stream of `Random.random` only.
    keys = [rng.random() for _ in items]
    return [item for _, item in sorted(zip(keys, items, strict=True))]


def _place_in_rack(
    partitions: list[Partition], slot: int, brokers: Sequence[int], rng: Random
) -> None:
    equal_counts = [brokers[i % len(brokers)] for i in range(len(partitions))]
    for partition, broker in zip(partitions, _shuffled(equal_counts, rng), strict=True):
        partition.replicas[slot] = broker

    use = _Use(
        [_over(DISK_USE, DISK_BYTES), _over(IN_USE, IN_CAPACITY_BYTES_PER_S)],
        [(p.size_bytes, p.in_bytes_per_s) for p in partitions],
    )
    for partition_idx, partition in enumerate(partitions):
        use.put(partition_idx, partition.replicas[slot])
    for one, other in _pairs(len(partitions), rng):
        p, q = partitions[one], partitions[other]
        if use.swap_if_better(one, p.replicas[slot], other, q.replicas[slot]):
            p.replicas[slot], q.replicas[slot] = q.replicas[slot], p.replicas[slot]


def _choose_leaders(partitions: list[Partition], rng: Random) -> None:
    use = _Use(
        [_over(OUT_USE, OUT_CAPACITY_BYTES_PER_S)],
        [(p.leader_out_bytes_per_s,) for p in partitions],
    )
    num_led = dict.fromkeys(range(1, NUM_OLD_BROKERS + 1), 0)
    for partition_idx in _shuffled(range(len(partitions)), rng):
        replicas = partitions[partition_idx].replicas
        leader = min(replicas, key=lambda broker: (num_led[broker], broker))
        _lead(partitions[partition_idx], leader)
        num_led[leader] += 1
        use.put(partition_idx, leader)
    for one, other in _pairs(len(partitions), rng):
        p, q = partitions[one], partitions[other]
        first, second = p.replicas[0], q.replicas[0]
        can_swap = second in p.replicas and first in q.replicas
        if can_swap and use.swap_if_better(one, first, other, second):
            _lead(p, second)
            _lead(q, first)


def _lead(partition: Partition, broker: int) -> None:
    place = partition.replicas.index(broker)
    partition.replicas = partition.replicas[place:] + partition.replicas[:place]


def _pairs(num_partitions: int, rng: Random) -> Iterator[tuple[int, int]]:
    for _ in range(NUM_SWAPS_TRIED):
        yield int(rng.random() * num_partitions), int(rng.random() * num_partitions)


def _over(use: Sequence[float], capacity: int) -> Callable[[int], tuple[float, int]]:
    """Return a function from a broker to its wanted load and its capacity."""
    return lambda broker: (use[broker - 1] * capacity, capacity)


class _Use:
    """Loads of brokers, with squared distances from the wanted uses."""

    def __init__(
        self,
        wanted: Sequence[Callable[[int], tuple[float, int]]],
        weights: Sequence[tuple[int, ...]],
    ) -> None:
        self.wanted = wanted
        self.weights = weights
        self.loads: dict[int, list[int]] = {}

    def put(self, partition_idx: int, broker: int) -> None:
        """Add the load of a partition to a broker."""
        load = self.loads.setdefault(broker, [0] * len(self.wanted))
        for resource, weight in enumerate(self.weights[partition_idx]):
            load[resource] += weight

    def swap_if_better(self, one: int, first: int, other: int, second: int) -> bool:
        """Swap two partitions between brokers if that lowers their distances."""
        if first == second:
            return False
        differences = [
            b - a for a, b in zip(self.weights[one], self.weights[other], strict=True)
        ]
        before = self._distance(first) + self._distance(second)
        self._add(first, differences, 1)
        self._add(second, differences, -1)
        if self._distance(first) + self._distance(second) < before:
            return True
        self._add(first, differences, -1)
        self._add(second, differences, 1)
        return False

    def _add(self, broker: int, amounts: Sequence[int], sign: int) -> None:
        for resource, amount in enumerate(amounts):
            self.loads[broker][resource] += sign * amount

    def _distance(self, broker: int) -> float:
        total = 0.0
        for target_of, load in zip(self.wanted, self.loads[broker], strict=True):
            target, capacity = target_of(broker)
            off = (load - target) / capacity
            total += off * off
        return total


def _log_dirs_of_replicas(
    partitions: list[Partition],
) -> dict[tuple[str, int, int], str]:
    """Return the log dir of each (topic, partition, broker), the emptier one."""
    used = {(b, d): 0 for b in range(1, NUM_BROKERS + 1) for d in LOG_DIRS}
    chosen = {}
    for partition in partitions:
        for broker in partition.replicas:
            path = min(LOG_DIRS, key=lambda d, b=broker: used[b, d])  # type: ignore[misc]
            used[broker, path] += partition.size_bytes
            chosen[partition.topic.name, partition.number, broker] = path
    return chosen


def _broker_records(partitions: list[Partition]) -> list[dict[str, Any]]:
    used = {(b, d): 0 for b in range(1, NUM_BROKERS + 1) for d in LOG_DIRS}
    sizes = {(p.topic.name, p.number): p.size_bytes for p in partitions}
    for (topic, number, broker), path in _log_dirs_of_replicas(partitions).items():
        used[broker, path] += sizes[topic, number]
    return [_broker_record(broker, used) for broker in range(1, NUM_BROKERS + 1)]


def _broker_record(broker: int, used: dict[tuple[int, str], int]) -> dict[str, Any]:
    dir_bytes = DISK_BYTES // len(LOG_DIRS)
    return {
        "id": broker,
        "rack": RACKS[(broker - 1) % len(RACKS)],
        "host": f"kafka-{broker}.orders.example",
        "state": "alive" if broker <= NUM_OLD_BROKERS else "new",
        "disk_bytes": DISK_BYTES,
        "in_bytes_per_s": float(IN_CAPACITY_BYTES_PER_S),
        "out_bytes_per_s": float(OUT_CAPACITY_BYTES_PER_S),
        "log_dirs": [
            {
                "path": path,
                "size_bytes": dir_bytes,
                "usable_bytes": dir_bytes - used[broker, path],
                "state": "online",
            }
            for path in LOG_DIRS
        ],
    }


def _topic_record(topic: Topic, partitions: list[Partition]) -> dict[str, Any]:
    log_dirs = _log_dirs_of_replicas(partitions)
    return {
        "name": topic.name,
        "topic_id": _topic_id(topic.name),
        "storage": "local",
        "tags": {"owner": topic.owner},
        "configs": _configs(topic),
        "partitions": [
            _partition_record(partition, log_dirs)
            for partition in partitions
            if partition.topic is topic
        ],
    }


def _configs(topic: Topic) -> dict[str, str]:
    if topic.retention_h == COMPACTED:
        return {"cleanup.policy": "compact"}
    return {"retention.ms": str(topic.retention_h * 3_600_000)}


def _topic_id(name: str) -> str:
    digest = hashlib.sha256(name.encode()).digest()[:16]
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def _partition_record(
    partition: Partition, log_dirs: dict[tuple[str, int, int], str]
) -> dict[str, Any]:
    key = partition.topic.name, partition.number
    return {
        "partition": partition.number,
        "replicas": partition.replicas,
        "leader": partition.replicas[0],
        "isr": sorted(partition.replicas),
        "log_dirs": [log_dirs[*key, broker] for broker in partition.replicas],
        "size_bytes": partition.size_bytes,
        "in_bytes_per_s": float(partition.in_bytes_per_s),
        "out_bytes_per_s": float(partition.out_bytes_per_s),
    }


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else SNAPSHOT_FILE
    target.write_bytes(make_bytes())
