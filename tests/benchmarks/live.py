"""
How long a snapshot of a running cluster takes: `make bench-live`.

Starts three brokers on loopback, makes 10,000 partitions in 100 topics of RF 3, waits
until every leader answers for them, and times the whole command, without and with
rates. The first run of each is not counted: brokers compile what they run often.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from kafka import KafkaAdminClient, TopicPartition
from kafka.admin import OffsetSpec
from kafka.errors import KafkaError

from integration.kafka.cluster import Cluster
from integration.kafka.jars import kafka_jars

NUM_TOPICS, PARTITIONS_PER_TOPIC, RUNS = 100, 100, 5
# What Kafka's own start script gives a broker. With the 256 MB of the tests, brokers of
# 10,000 replicas each are busy with collecting garbage and with little else.
BROKER_HEAP_MB = 1024


def fill(cluster: Cluster) -> None:
    """Make the topics, some at a time: a controller request has its limits."""
    admin = KafkaAdminClient(bootstrap_servers=cluster.bootstrap)
    new = {"num_partitions": PARTITIONS_PER_TOPIC, "replication_factor": 3}
    names = [f"bench-{number:03d}" for number in range(NUM_TOPICS)]
    for first in range(0, NUM_TOPICS, 10):
        admin.create_topics(dict.fromkeys(names[first : first + 10], new))
    wait_until_known(admin)
    for name in names:
        wait_until_led(admin, name)
    admin.close()


def wait_until_known(admin: Any) -> None:
    """Wait until the replicas of all partitions are in sync."""
    wanted = NUM_TOPICS * PARTITIONS_PER_TOPIC
    while True:
        topics = admin.describe_topics()
        in_sync = sum(
            len(partition["isr_nodes"]) == 3
            for topic in topics
            for partition in topic["partitions"]
        )
        if in_sync >= wanted:
            return
        time.sleep(1)


def wait_until_led(admin: Any, topic: str) -> None:
    """Wait until the leader of every partition answers for it."""
    wanted = {
        TopicPartition(topic, number): OffsetSpec.LATEST
        for number in range(PARTITIONS_PER_TOPIC)
    }
    while True:
        try:
            admin.list_partition_offsets(wanted, timeout_ms=2000)
        except KafkaError:
            time.sleep(1)
        else:
            return


def time_command(cluster: Cluster, output: Path, sample_seconds: int) -> float:
    """Return the seconds that one `snapshot live` takes."""
    command = [
        *(sys.executable, "-c", "from planner.cli.main import run; run()"),
        *("snapshot", "live", "--bootstrap-server", cluster.bootstrap),
        *("--sample-seconds", str(sample_seconds), "-o", str(output)),
    ]
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return time.perf_counter() - began


def _start(base: Path) -> Cluster:
    return Cluster(kafka_jars(), base, heap_mb=BROKER_HEAP_MB)


def main() -> None:
    """Print a line per setting: the median, and every run."""
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        with _start(base / "kafka") as cluster:
            fill(cluster)
            for sample_seconds in (0, 10):
                times = [
                    time_command(cluster, base / "live.json", sample_seconds)
                    for _ in range(1 + RUNS)
                ][1:]
                print(  # noqa: T201 - this is its output
                    f"{NUM_TOPICS * PARTITIONS_PER_TOPIC} partitions, "
                    f"--sample-seconds {sample_seconds}: "
                    f"{statistics.median(times):.1f} s "
                    f"({', '.join(f'{t:.1f}' for t in times)})",
                    flush=True,
                )


if __name__ == "__main__":
    main()
