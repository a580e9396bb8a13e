"""Snapshots that scores on Spark are tried on."""

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from planner.snapshot import Snapshot
from support.snapshots import small_document

JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m"
"""Tables of a few rows are done before the JVM's second compiler has paid for itself:
with it, and a collector of several threads, Spark takes twice the processor time. In a
code cache of 48 MB, as the JVM chooses then, each method is thrown out and compiled
again six times."""


def snapshot(
    cluster_id: str = "c", taken_at: str = "2026-11-21T08:00:00Z", **changes: Any
) -> Snapshot:
    """Return a small snapshot."""
    named = {"cluster_id": cluster_id, "taken_at": taken_at}
    return Snapshot.from_document(small_document(**named, **changes))


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def tamed(value: Any, key: str = "") -> Any:
    """Return a document without amounts that no cluster has: they cannot be summed."""
    if isinstance(value, dict):
        # A capacity that is the sum of the log dirs' must not be cut on its own.
        cut = {"disk_bytes"} if value.get("log_dirs") else set()
        return {k: tamed(each, k) for k, each in value.items() if k not in cut}
    if isinstance(value, list):
        return [tamed(each, key) for each in value]
    is_amount = key.endswith(("bytes", "bytes_per_s", "cpu_cores"))
    return round(min(value, 10**6)) if is_amount and value is not None else value


def skewed_snapshot() -> Snapshot:
    """Half of all replicas are of one topic; a broker is dead, one empty, one new."""
    topics = [
        {
            "name": "half",
            "configs": {"min.insync.replicas": "2"},
            "partitions": [
                {
                    "partition": n,
                    "replicas": [1, 2, 3],
                    "isr": [1, 2],
                    "size_bytes": 10 + n,
                    "in_bytes_per_s": None,
                    "log_dirs": ["/d1", "/d2", None],
                    "future_log_dirs": ["/d2", None, None],
                }
                for n in range(40)
            ],
        },
        *(
            {
                "name": f"t{n}",
                "storage": "shared" if n == 3 else "local",
                "partitions": [
                    {
                        "partition": 0,
                        "replicas": [4, 1, 2],
                        "leader": -1 if n == 1 else None,
                        "replica_bytes": [5, None, 7],
                        "in_bytes_per_s": 1.1 * n,
                        "out_bytes_per_s": 2.3,
                        "leader_cpu_cores": 0.01,
                        "follower_cpu_cores": 0.002,
                        "adding_replicas": [2] if n == 2 else [],
                    }
                ],
            }
            for n in range(40)
        ),
        {"name": "without-partitions", "partitions": []},
    ]
    for topic in topics:
        for partition in topic["partitions"]:
            if partition.get("leader") == -1:
                partition["leader"] = None
            elif "leader" in partition:
                del partition["leader"]
    dirs = [
        {"path": "/d1", "size_bytes": 9000, "usable_bytes": 100},
        {"path": "/d2", "size_bytes": 500, "state": "offline"},
    ]
    brokers = [
        {"id": 1, "rack": "a", "log_dirs": dirs},
        {"id": 2, "rack": "a", "state": "demoted"},
        {"id": 3, "rack": "b", "max_replicas": 50},
        {"id": 4, "state": "dead"},
        {"id": 2**31 - 1, "rack": "c", "state": "new", "cpu_cores": 4},
    ]
    return snapshot("skewed", brokers=brokers, topics=topics)


def few_snapshots() -> list[Snapshot]:
    """Return a skewed snapshot, and two of another cluster at different times."""
    return [
        skewed_snapshot(),
        snapshot("small"),
        snapshot("small", "2026-11-22T08:00Z"),
    ]


@contextmanager
def jobs_of(spark: Any, group: str) -> Iterator[Callable[[], Sequence[int]]]:
    """Yield a function that returns the jobs started so far."""
    spark.sparkContext.setJobGroup(group, group)
    status = spark.sparkContext.statusTracker()
    try:
        yield lambda: status.getJobIdsForGroup(group)
    finally:
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)
