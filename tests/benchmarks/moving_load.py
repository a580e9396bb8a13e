"""
A producer and a consumer at a fixed rate, which note how long each message takes.

``python -m benchmarks.moving_load BOOTSTRAP TOPIC PARTITIONS RATE FILE`` runs until its
stdin ends. Each line of the file has the kind, the time at which the message was due,
and the seconds from then until it was acknowledged by all replicas in sync
(``produced``), or read (``consumed``). Counting from when it was due, a producer that
is held up counts against every message that it holds up.
"""

import struct
import sys
import threading
import time
from itertools import count
from pathlib import Path
from queue import SimpleQueue

from kafka import KafkaConsumer, KafkaProducer, TopicPartition

MESSAGE_BYTES = 1000
Note = tuple[str, float, float]


def produce(
    bootstrap: str,
    topic: str,
    partitions: int,
    rate: float,
    notes: "SimpleQueue[Note]",
    is_over: threading.Event,
) -> None:
    """Send messages when they are due."""
    padding = bytes(MESSAGE_BYTES - 8)
    began = time.time()
    with KafkaProducer(bootstrap_servers=bootstrap, acks="all") as producer:
        for number in count():
            due = began + number / rate
            if is_over.wait(max(0.0, due - time.time())):
                return

            def note(_: object, due: float = due) -> None:
                notes.put(("produced", due, time.time() - due))

            value = struct.pack(">d", due) + padding
            sent = producer.send(topic, value, partition=number % partitions)
            sent.add_callback(note)


def consume(
    bootstrap: str,
    topic: str,
    partitions: int,
    notes: "SimpleQueue[Note]",
    is_over: threading.Event,
) -> None:
    """Read what is sent."""
    names = [TopicPartition(topic, number) for number in range(partitions)]
    with KafkaConsumer(bootstrap_servers=bootstrap) as consumer:
        consumer.assign(names)
        consumer.seek_to_end(*names)
        while not is_over.is_set():
            for records in consumer.poll(200).values():
                now = time.time()
                for one in records:
                    (due,) = struct.unpack(">d", one.value[:8])
                    notes.put(("consumed", due, now - due))


def main() -> None:
    """Run until stdin ends, then write the notes."""
    bootstrap, topic, partitions, rate, path = sys.argv[1:]
    notes: SimpleQueue[Note] = SimpleQueue()
    is_over = threading.Event()
    shared = (bootstrap, topic, int(partitions))
    threads = [
        threading.Thread(target=consume, args=(*shared, notes, is_over)),
        threading.Thread(target=produce, args=(*shared, float(rate), notes, is_over)),
    ]
    for thread in threads:
        thread.start()
    sys.stdin.read()
    is_over.set()
    for thread in threads:
        thread.join()
    with Path(path).open("w", encoding="ascii") as file:
        while not notes.empty():
            kind, due, seconds = notes.get()
            file.write(f"{kind} {due:.6f} {seconds:.6f}\n")


if __name__ == "__main__":
    main()
