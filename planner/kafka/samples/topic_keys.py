"""Keys of a topic of a running cluster: the last records of every partition."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from kafka import TopicPartition
from kafka.errors import TopicAuthorizationFailedError

from placement.array_types import FloatArray
from planner.errors import BadInputError, ClusterUnavailableError
from planner.io.problems import problem
from planner.kafka.client.admin_client import ClusterClient
from planner.kafka.client.cluster_errors import not_authorised
from planner.kafka.groups.live_group import leaders_of
from planner.kafka.groups.log_offsets import LogEnd, log_offsets
from planner.kafka.read.log_dirs import Partition
from planner.kafka.read.topic_metadata import read_topics, refuse_hidden
from planner.keys.formats.read_sample import SampleBuilder
from planner.keys.key_sample import KeySample
from planner.keys.sample_options import SampleOptions
from planner.keys.sample_rows import SampleRows
from planner.progress import stage

_POLL_MS = 500
MOST_NAMED = 5
"""Partitions that a message names."""


@dataclass(frozen=True, slots=True)
class Span:
    """
    Offsets of a partition: its log, and the part that is read.

    Parameters
    ----------
    start, first, end
        First offset of the log, first offset read, and the end of both.
    """

    start: int
    first: int
    end: int

    @property
    def weight(self) -> float:
        """Offsets of the log over those of the part read."""
        return (self.end - self.start) / max(self.end - self.first, 1)


@dataclass(slots=True)
class _Records:
    """Records read so far."""

    keys: list[bytes | None] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    partitions: list[int] = field(default_factory=list)

    def add(self, record: Any) -> None:  # noqa: ANN401 - kafka-python is not typed
        self.keys.append(record.key)
        headers = sum(len(name) + len(value or b"") for name, value in record.headers)
        size = len(record.key or b"") + len(record.value or b"") + headers
        self.sizes.append(size)
        self.partitions.append(record.partition)

    def ordered(self) -> "_Records":
        """Return the records by partition and offset, however brokers answered."""
        order = np.argsort(np.array(self.partitions, np.int64), kind="stable").tolist()
        return _Records(
            keys=[self.keys[row] for row in order],
            sizes=[self.sizes[row] for row in order],
            partitions=[self.partitions[row] for row in order],
        )


def read_topic_keys(
    client: ClusterClient, options: SampleOptions, max_messages: int
) -> KeySample:
    """
    Return a sample of a topic: the last records of every partition.

    Parameters
    ----------
    client
        Client of the cluster.
    options
        Topic, and the type of its keys.
    max_messages
        Records to read of each partition. If a log has more, its records in the sample
        stand for more: a hot partition is not underrated.

    Raises
    ------
    BadInputError
        If there is no such topic, or it has no record.
    ClusterUnavailableError
        If the cluster does not answer in time, or a partition has no leader, so that
        its share is not known; `NotAuthorisedError` if the user may not read the topic.
    """
    topic = options.topic or ""
    names = _partitions(client, topic)
    starts = log_offsets(client, names, LogEnd.EARLIEST)
    ends = log_offsets(client, names, LogEnd.LATEST)
    spans = {
        name.partition: Span(
            starts[name], max(starts[name], ends[name] - max_messages), ends[name]
        )
        for name in names
        if name in starts and ends.get(name, 0) > starts[name]
    }
    records = _read(client, topic, spans).ordered()
    return _sample(client, options, len(names), spans, records)


def _partitions(client: ClusterClient, topic: str) -> list[Partition]:
    """Return the partitions of the topic, in order; each has a leader."""
    topics = read_topics(client, [topic])
    refuse_hidden(client, topics)
    found = topics.get(topic)
    if not found or not found["partitions"]:
        wrong = problem(client.servers, "topics", topic, "has no such topic")
        msg = f"no topic {topic}"
        raise BadInputError(msg, [wrong])
    leaders = leaders_of({topic: found})
    lost = [str(name) for name, leader in leaders.items() if leader < 0]
    if lost:
        shown = ", ".join(sorted(lost)[:MOST_NAMED])
        msg = (
            f"{client.servers}: without a leader, and so not to be read: {shown} "
            f"({len(lost)} of {len(leaders)} partitions); try again once they have one"
        )
        raise ClusterUnavailableError(msg)
    return sorted(leaders)


def _read(client: ClusterClient, topic: str, spans: Mapping[int, Span]) -> _Records:
    records = _Records()
    wanted = {TopicPartition(topic, p): span for p, span in spans.items()}
    if not wanted:
        return records
    stage(f"reading {topic}")
    with client.consumer() as consumer:
        consumer.assign(list(wanted))
        for name, span in wanted.items():
            consumer.seek(name, span.first)
        try:
            _poll(client, consumer, wanted, records)
        except TopicAuthorizationFailedError:
            raise not_authorised(client.servers, f"Read on Topic {topic}") from None
    return records


def _poll(
    client: ClusterClient,
    consumer: Any,  # noqa: ANN401 - kafka-python is not typed
    wanted: Mapping[Any, Span],
    records: _Records,
) -> None:
    """Read until every partition is at the end that it had."""
    deadline = time.monotonic() + client.timeout_s
    left = set(wanted)
    while left:
        for name, batch in consumer.poll(timeout_ms=_POLL_MS).items():
            for record in batch:
                if record.offset < wanted[name].end:
                    records.add(record)
            deadline = time.monotonic() + client.timeout_s
        # The last offsets of a log may be transaction markers, or compacted away.
        left = {name for name in left if consumer.position(name) < wanted[name].end}
        consumer.pause(*(set(wanted) - left))
        if left and time.monotonic() > deadline:
            name = next(iter(left))
            msg = (
                f"{client.servers}: {name.topic}-{name.partition}: no records for "
                f"{client.timeout_s:g} s"
            )
            raise ClusterUnavailableError(msg)


def _sample(
    client: ClusterClient,
    options: SampleOptions,
    count: int,
    spans: Mapping[int, Span],
    records: _Records,
) -> KeySample:
    builder = SampleBuilder(
        f"{client.servers} {options.topic}", options, is_serialized=True
    )
    builder.add(
        SampleRows(
            keys=pa.array(records.keys, pa.large_binary()),
            sizes=pa.array(records.sizes, pa.int64()),
            partitions=pa.array(records.partitions, pa.int32()),
            first=0,
            unit="record",
        )
    )
    weights = _weights(spans, records, count)
    notes = []
    if weights is not None:
        notes.append(
            "shares are estimates from the last records of each partition, with bounds "
            "at 95 % that hold if older records have the same mix of keys"
        )
    return builder.build(weights=weights, num_partitions=count, notes=notes)


def _weights(
    spans: Mapping[int, Span], records: _Records, count: int
) -> FloatArray | None:
    """Return records of the topic per record read; `None` if all were read."""
    if all(span.first == span.start for span in spans.values()):
        return None
    by_partition = np.ones(count)
    for number, span in spans.items():
        by_partition[number] = span.weight
    weights: FloatArray = by_partition[np.array(records.partitions, np.int64)]
    return weights
