"""Messages written before, during and after a fault, and read back by checksum."""

import hashlib
import random
import threading
from collections.abc import Iterable
from typing import Self

from kafka import KafkaConsumer, KafkaProducer, TopicPartition

PAUSE_S = 0.1


class Messages:
    """
    Messages of a topic.

    In a ``with`` block a thread writes one to each partition, again and again; what is
    acknowledged by all replicas in sync has to be there in the end.

    Parameters
    ----------
    bootstrap
        Brokers of the cluster.
    topic, num_partitions
        The topic, and how many of its partitions are written to.
    """

    def __init__(self, bootstrap: str, topic: str, num_partitions: int) -> None:
        self._bootstrap, self._topic = bootstrap, topic
        self._numbers = range(num_partitions)
        self._acknowledged: set[tuple[int, str]] = set()
        self._sent: set[tuple[int, str]] = set()
        self._is_over = threading.Event()
        self._thread: threading.Thread | None = None

    def write(
        self,
        num_messages: int,
        num_bytes: int = 10_000,
        numbers: Iterable[int] | None = None,
    ) -> Self:
        """Write so many messages to each partition, or to some."""
        with self._producer() as producer:
            for _ in range(num_messages):
                self._send(producer, num_bytes, numbers)
        return self

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._keep_writing, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        if self._thread is not None:
            self._thread.join(90)

    def _keep_writing(self) -> None:
        with self._producer() as producer:
            while not self._is_over.wait(PAUSE_S):
                self._send(producer, 100)

    def _producer(self) -> KafkaProducer:
        return KafkaProducer(
            bootstrap_servers=self._bootstrap,
            acks="all",
            max_block_ms=60_000,
            request_timeout_ms=5000,
            delivery_timeout_ms=60_000,
        )

    def _send(
        self,
        producer: KafkaProducer,
        num_bytes: int,
        numbers: Iterable[int] | None = None,
    ) -> None:
        for number in self._numbers if numbers is None else numbers:
            value = random.randbytes(num_bytes)
            one = number, hashlib.sha256(value).hexdigest()
            self._sent.add(one)
            sent = producer.send(self._topic, value, partition=number)
            sent.add_callback(lambda _, one=one: self._acknowledged.add(one))

    def check(self) -> None:
        """Write no more, read every partition, and look for what was acknowledged."""
        self.__exit__()
        names = [TopicPartition(self._topic, number) for number in self._numbers]
        found: set[tuple[int, str]] = set()
        with KafkaConsumer(bootstrap_servers=self._bootstrap) as consumer:
            consumer.assign(names)
            consumer.seek_to_beginning(*names)
            ends = consumer.end_offsets(names)
            while any(consumer.position(name) < ends[name] for name in names):
                for name, records in consumer.poll(1000).items():
                    found |= {
                        (name.partition, hashlib.sha256(one.value).hexdigest())
                        for one in records
                    }
        assert self._acknowledged
        assert not self._acknowledged - found, "messages are lost"
        assert not found - self._sent, "messages were changed"
