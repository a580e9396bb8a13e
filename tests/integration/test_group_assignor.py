"""Real consumers with our assignor: join, leave, crash, new partitions, a new topic."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaAdminClient, KafkaProducer

from integration.kafka.cluster import Cluster, wait_until

pytestmark = pytest.mark.kafka

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
        assert self.process.poll() is None, self.path.with_suffix(".err").read_text()
        said = self.told("has")
        return {(topic, number) for topic, number in said[-1]} if said else set()

    def leave(self) -> None:
        """Let it leave in order."""
        self.process.terminate()
        assert self.process.wait(60) == 0, self.path.with_suffix(".err").read_text()

    def crash(self) -> None:
        """Kill it."""
        self.process.kill()
        self.process.wait(60)


@pytest.fixture
def start(
    shared_cluster: Cluster, tmp_path: Path
) -> Iterator[Callable[[str, str, str], Reader]]:
    """Start consumers, and end those that a test leaves behind."""
    readers: list[Reader] = []

    def started(group: str, pattern: str, kind: str) -> Reader:
        path = tmp_path / f"reader-{len(readers)}.jsonl"
        reader = Reader(path, shared_cluster.bootstrap, group, pattern, kind)
        readers.append(reader)
        return reader

    yield started
    for reader in readers:
        reader.crash()


def settled(readers: list[Reader], counts: list[int]) -> None:
    """Wait until the members read so many partitions, nothing twice."""

    def is_so() -> bool:
        has = [reader.has for reader in readers]
        all_of_them = set().union(*has)
        return sorted(len(each) for each in has) == counts and len(all_of_them) == sum(
            counts
        )

    wait_until(is_so, f"the members to read {counts} partitions")


def produce(cluster: Cluster, topic: str, partitions: range, count: int) -> None:
    """Write so many messages into each partition."""
    producer = KafkaProducer(bootstrap_servers=cluster.bootstrap.split(","))
    for partition in partitions:
        for _ in range(count):
            producer.send(topic, b"x", partition=partition)
    producer.flush()
    producer.close()


def read(readers: list[Reader]) -> Counter[tuple[Any, ...]]:
    """Return how often each message was read."""
    return Counter(tuple(at) for reader in readers for at in reader.told("read"))


def create(cluster: Cluster, topic: str, partitions: int) -> None:
    with KafkaAdminClient(bootstrap_servers=cluster.bootstrap) as admin:
        admin.create_topics(
            {topic: {"num_partitions": partitions, "replication_factor": 1}},
            wait_for_metadata=True,
        )


@pytest.mark.parametrize("kind", ["BalancedAssignor", "StickyAssignor"])
def test_a_group_lives_through_everything(
    shared_cluster: Cluster, start: Callable[[str, str, str], Reader], kind: str
) -> None:
    name = f"plugged-{kind.lower()}"
    topic, later, pattern = f"{name}-a", f"{name}-b", f"^{name}-.*"
    create(shared_cluster, topic, 6)
    produce(shared_cluster, topic, range(6), 50)

    # Join, one after the other, while there is something to read.
    first = start(name, pattern, kind)
    settled([first], [6])
    second = start(name, pattern, kind)
    settled([first, second], [3, 3])
    third = start(name, pattern, kind)
    produce(shared_cluster, topic, range(6), 50)
    settled([first, second, third], [2, 2, 2])

    # New partitions, and a topic that matches the pattern.
    shared_cluster.topics("--alter", "--topic", topic, "--partitions", "9")
    settled([first, second, third], [3, 3, 3])
    create(shared_cluster, later, 3)
    settled([first, second, third], [4, 4, 4])
    produce(shared_cluster, later, range(3), 50)

    # Leave in order: whatever was written has been read exactly once.
    second.leave()
    settled([first, third], [6, 6])
    wait_until(
        lambda: len(read([first, second, third])) == 6 * 100 + 3 * 50,
        "all messages to be read",
    )
    assert set(read([first, second, third]).values()) == {1}

    # Crash: the session times out, and the other takes everything over.
    third.crash()
    settled([first], [12])
    produce(shared_cluster, topic, range(9), 10)
    wait_until(
        lambda: len(read([first, second, third])) == 6 * 100 + 3 * 50 + 90,
        "what was written after the crash to be read",
    )
