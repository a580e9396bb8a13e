"""
How long a snapshot of a running cluster takes: `make bench-live`.

Starts three brokers on loopback, makes 10,000 partitions in 100 topics of RF 3, waits
until every leader answers for them, and times the whole command, without and with
rates. The first run of each is not counted: brokers compile what they run often.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from kafka import KafkaAdminClient, TopicPartition
from kafka.admin import OffsetSpec
from kafka.errors import KafkaError

from integration.kafka.cluster import Cluster
from integration.kafka.jars import kafka_jars

NUM_TOPICS, PARTITIONS_PER_TOPIC, RUNS = 100, 100, 5
QUIET_S = 5
# What Kafka's own start script gives a broker. With the 256 MB of the tests, brokers of
# 10,000 replicas each are busy with collecting garbage and with little else.
BROKER_HEAP_MB = 1024
# Kafka's defaults: what the tests set to notice a failure in no time keeps brokers of
# so many replicas busy.
BROKER_CONFIG = {
    "replica.fetch.wait.max.ms": "500",
    "replica.lag.time.max.ms": "30000",
    "broker.heartbeat.interval.ms": "2000",
    "broker.session.timeout.ms": "9000",
}


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
    wait_until_quiet(admin)
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


def wait_until_quiet(admin: Any) -> None:
    """
    Wait until the cluster's metadata stand still.

    Brokers go on telling the controller the log dir of each replica, for minutes, and
    take in what the others told.
    """
    before = 0
    # An idle controller writes two records a second.
    while (now := metadata_end(admin)) - before > 2 * QUIET_S + 5:
        before = now
        time.sleep(QUIET_S)


def metadata_end(admin: Any) -> int:
    """Return the end of the log of metadata."""
    (topic,) = admin.describe_metadata_quorum()["topics"]
    return int(topic["partitions"][0]["high_watermark"])


def _start(base: Path) -> Cluster:
    jars = kafka_jars()
    return Cluster(jars, base, heap_mb=BROKER_HEAP_MB, config=BROKER_CONFIG)


class Timing(NamedTuple):
    """Seconds that one command took, and seconds of CPU that it used itself."""

    wall_s: float
    cpu_s: float


def _cpu_s() -> float:
    # Of children that have ended: not of the brokers.
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def time_command(cluster: Cluster, output: Path, sample_seconds: int) -> Timing:
    """Run one `snapshot live`."""
    command = [
        *(sys.executable, "-c", "from planner.cli.main import run; run()"),
        *("snapshot", "live", "--bootstrap-server", cluster.bootstrap),
        *("--sample-seconds", str(sample_seconds), "-o", str(output)),
    ]
    began_s, used_s = time.perf_counter(), _cpu_s()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return Timing(time.perf_counter() - began_s, _cpu_s() - used_s)


def report(sample_seconds: int, timings: list[Timing]) -> str:
    """Return a line: the median, every run, and how busy the machine was."""
    median_s = statistics.median(one.wall_s for one in timings)
    cpu_s = statistics.median(one.cpu_s for one in timings)
    runs = ", ".join(f"{one.wall_s:.1f}" for one in timings)
    return (
        f"{NUM_TOPICS * PARTITIONS_PER_TOPIC} partitions, --sample-seconds "
        f"{sample_seconds}: {median_s:.1f} s ({runs}), {cpu_s:.1f} s of CPU; "
        f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    )


def main() -> None:
    """Print a line per setting."""
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        with _start(base / "kafka") as cluster:
            fill(cluster)
            for sample_seconds in (0, 10):
                timings = [
                    time_command(cluster, base / "live.json", sample_seconds)
                    for _ in range(1 + RUNS)
                ]
                print(report(sample_seconds, timings[1:]), flush=True)  # noqa: T201 - output


if __name__ == "__main__":
    main()
