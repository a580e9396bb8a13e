"""
A consumer in a process of its own: it says what it has and what it reads.

``consumer.py BOOTSTRAP GROUP PATTERN CLASS``; a line of JSON each on stdout. On
SIGTERM it leaves in order.
"""

import json
import logging
import signal
import sys
from typing import Any

from kafka import ConsumerRebalanceListener, KafkaConsumer, TopicPartition
from kafka.errors import CommitFailedError, RebalanceInProgressError
from kafka.structs import OffsetAndMetadata

from planner.kafka.consumer import assignor


class Reader(ConsumerRebalanceListener):
    """Reads, says so, and commits; what it gives up it commits before."""

    def __init__(self, bootstrap: str, group: str, pattern: str, kind: str) -> None:
        self.done: dict[TopicPartition, OffsetAndMetadata] = {}
        self.is_over = False
        self.consumer = KafkaConsumer(
            bootstrap_servers=bootstrap.split(","),
            group_id=group,
            client_id="reader",
            partition_assignment_strategy=[getattr(assignor, kind)()],
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            session_timeout_ms=6000,
            heartbeat_interval_ms=500,
            metadata_max_age_ms=1000,
            max_poll_records=20,
        )
        self.consumer.subscribe(pattern=pattern, listener=self)

    def on_partitions_revoked(self, revoked: Any) -> None:
        """Nothing to do: each batch is committed before the next poll."""

    def on_partitions_assigned(self, assigned: Any) -> None:
        """Nothing to do: what is had is said after each poll."""

    def run(self) -> None:
        """Read until told to stop."""
        had: list[Any] = []
        while not self.is_over:
            # With short polls a client whose metadata come late never gets to join:
            # each starts by asking for them anew.
            for at, records in self.consumer.poll(timeout_ms=2000).items():
                for record in records:
                    tell(read=[at.topic, at.partition, record.offset])
                end = records[-1].offset + 1
                self.done[at] = OffsetAndMetadata(end, "", -1)
            self.finish_joining()
            self.commit()
            has = sorted([*at] for at in self.consumer.assignment())
            if has != had:
                tell(has=has)
                had = has
        self.consumer.close()
        tell(closed=True)

    def finish_joining(self) -> None:
        """
        Let the next poll go on with a join that the last one had no time left for.

        Where the consumer itself asked for it, since it saw a new topic, kafka-python
        (3.0) forgets it then: without a heartbeat the group goes on without the member.
        """
        coordinator = self.consumer._coordinator
        if coordinator.rejoining:
            coordinator.request_rejoin()

    def commit(self) -> None:
        """Commit what was read; in the middle of a rebalance, after the next poll."""
        if not self.done:
            return
        try:
            self.consumer.commit(self.done)
        except (CommitFailedError, RebalanceInProgressError) as error:
            tell(not_committed=type(error).__name__)
        else:
            self.done = {}


def tell(**what: Any) -> None:
    """Say something on stdout, at once."""
    print(json.dumps(what), flush=True)  # noqa: T201 - this is what it is for


def main() -> None:
    """Run one consumer."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    logging.getLogger("kafka.cluster").setLevel(logging.WARNING)  # one a second
    reader = Reader(*sys.argv[1:])

    def stop(*_: object) -> None:
        reader.is_over = True

    signal.signal(signal.SIGTERM, stop)
    reader.run()


if __name__ == "__main__":
    main()
