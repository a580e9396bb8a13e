"""Consumers in processes of their own, and topics with messages for them."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kafka import KafkaAdminClient, KafkaProducer, TopicPartition
from kafka.errors import CoordinatorNotAvailableError, NoError
from kafka.structs import OffsetAndMetadata

from integration.kafka.cluster import Cluster, wait_until

SCRIPT = Path(__file__).with_name("consumer.py")


class Reader:
    """A consumer process, and what it has said so far."""

    def __init__(self, path: Path, *arguments: str) -> None:
        self.path = path
        with path.open("wb") as out, path.with_suffix(".err").open("wb") as err:
            # Not from its own folder: modules there are named as the packages are.
            self.process = subprocess.Popen(
                [sys.executable, "-P", str(SCRIPT), *arguments],
                stdout=out,
                stderr=err,
            )

    def told(self, what: str) -> list[Any]:
        """Return all that it said of one kind."""
        # A killed process may have left half a line.
        lines = self.path.read_text().split("\n")[:-1]
        return [told[what] for line in lines if what in (told := json.loads(line))]

    @property
    def has(self) -> set[tuple[str, int]]:
        """What it reads now."""
        assert self.process.poll() is None, self.log()
        said = self.told("has")
        return {(topic, number) for topic, number in said[-1]} if said else set()

    def log(self) -> str:
        """Return what its client logged."""
        return self.path.with_suffix(".err").read_text()

    def leave(self) -> None:
        """Let it leave in order."""
        self.process.terminate()
        assert self.process.wait(60) == 0, self.log()

    def crash(self) -> None:
        """Kill it."""
        self.process.kill()
        self.process.wait(60)


def settled(readers: list[Reader], counts: list[int]) -> None:
    """Wait until the members read so many partitions, nothing twice."""

    def is_so() -> bool:
        has = [reader.has for reader in readers]
        all_of_them = set().union(*has)
        return sorted(len(each) for each in has) == counts and len(all_of_them) == sum(
            counts
        )

    try:
        wait_until(is_so, f"the members to read {counts} partitions")
    except TimeoutError as error:
        for reader in readers:
            error.add_note(f"{sorted(reader.has)}\n{reader.log()[-6000:]}")
        raise


def produce(cluster: Cluster, topic: str, partitions: range, count: int) -> None:
    """Write so many messages into each partition."""
    producer = KafkaProducer(bootstrap_servers=cluster.bootstrap.split(","))
    for partition in partitions:
        for _ in range(count):
            producer.send(topic, b"x", partition=partition)
    producer.flush()
    producer.close()


def create(cluster: Cluster, topic: str, partitions: int) -> None:
    """Make a topic."""
    with KafkaAdminClient(bootstrap_servers=cluster.bootstrap) as admin:
        admin.create_topics(
            {topic: {"num_partitions": partitions, "replication_factor": 1}},
            wait_for_metadata=True,
        )


def commit(cluster: Cluster, group: str, topic: str, offsets: Sequence[int]) -> None:
    """Let a group without members have read so far."""
    wanted = {
        TopicPartition(topic, number): OffsetAndMetadata(offset, "", None)
        for number, offset in enumerate(offsets)
    }

    def is_committed() -> bool:
        try:
            answers = admin.alter_group_offsets(group, wanted)
        except CoordinatorNotAvailableError:  # the first group of the cluster
            return False
        return set(answers.values()) == {NoError}

    with KafkaAdminClient(bootstrap_servers=cluster.bootstrap) as admin:
        wait_until(is_committed, f"offsets of {group} to be committed")
