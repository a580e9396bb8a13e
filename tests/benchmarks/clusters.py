"""
Large clusters for the benchmarks, written as a Parquet folder with plain pyarrow.

Only the documented format is used, so what is measured is what any writer's file costs.
"""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

REPLICATION_FACTOR = 3
NUM_RACKS = 10
PARTITIONS_PER_TOPIC = 64
BROKERS_PER_REPLICA = 0.001
SEED = 1


def write_cluster(folder: Path, *, num_replicas: int) -> None:
    """
    Write a seeded cluster of RF 3 as a snapshot.

    Parameters
    ----------
    folder
        Made anew.
    num_replicas
        About how many; a broker carries about a thousand, with 64 partitions a topic.
    """
    rng = np.random.default_rng(SEED)
    num_partitions = -(-num_replicas // REPLICATION_FACTOR)
    num_brokers = max(int(num_replicas * BROKERS_PER_REPLICA), NUM_RACKS)
    folder.mkdir(parents=True)
    header = {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "cluster_id": "benchmark",
        "taken_at": "2026-11-21T08:00:00Z",
    }
    (folder / "snapshot.json").write_text(json.dumps(header))
    pq.write_table(_brokers(num_brokers), folder / "brokers.parquet")
    pq.write_table(_log_dirs(num_brokers), folder / "log_dirs.parquet")
    partitions = _partitions(num_partitions, num_brokers, rng)
    pq.write_table(partitions, folder / "partitions.parquet")


def _brokers(num_brokers: int) -> pa.Table:
    ids = np.arange(num_brokers)
    return pa.table(
        {
            "id": pa.array(ids, pa.int32()),
            "rack": [f"r{broker % NUM_RACKS}" for broker in range(num_brokers)],
            "host": [f"kafka-{broker}.example" for broker in range(num_brokers)],
            "in_bytes_per_s": np.full(num_brokers, 1e9),
            "out_bytes_per_s": np.full(num_brokers, 2e9),
        }
    )


def _log_dirs(num_brokers: int) -> pa.Table:
    return pa.table(
        {
            "broker_id": pa.array(np.repeat(np.arange(num_brokers), 2), pa.int32()),
            "path": ["/data/d1", "/data/d2"] * num_brokers,
            "size_bytes": np.full(2 * num_brokers, 10**13),
            "state": ["online"] * (2 * num_brokers),
        }
    )


def _partitions(
    num_partitions: int, num_brokers: int, rng: np.random.Generator
) -> pa.Table:
    row = np.arange(num_partitions)
    topic = row // PARTITIONS_PER_TOPIC
    first = rng.integers(num_brokers, size=num_partitions)
    # Neighbouring brokers stand in different racks.
    brokers = (first[:, None] + np.arange(REPLICATION_FACTOR)) % num_brokers
    start = np.arange(num_partitions + 1) * REPLICATION_FACTOR
    replicas = pa.ListArray.from_arrays(
        pa.array(start, pa.int32()), pa.array(brokers.ravel(), pa.int32())
    )
    paths = pa.array(["/data/d1", "/data/d2"])
    dirs = pa.DictionaryArray.from_arrays(
        pa.array(rng.integers(2, size=brokers.size), pa.int32()), paths
    ).dictionary_decode()
    names = pa.array([f"topic-{t:05d}" for t in range(topic[-1] + 1)])
    rates = rng.lognormal(11, 1, num_partitions)
    return pa.table(
        {
            "topic": names.take(pa.array(topic)),
            "partition": pa.array(row % PARTITIONS_PER_TOPIC, pa.int32()),
            "replicas": replicas,
            "leader": pa.array(brokers[:, 0], pa.int32()),
            "isr": replicas,
            "log_dirs": pa.ListArray.from_arrays(pa.array(start, pa.int32()), dirs),
            "size_bytes": rng.lognormal(22, 1, num_partitions).astype(np.int64),
            "in_bytes_per_s": rates,
            "out_bytes_per_s": rates * rng.integers(1, 5, num_partitions),
        }
    )
