"""Limits on the number of partitions of a topic, each as a margin per count."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from placement.array_types import BoolArray, CountArray, FloatArray
from placement.partition_counts.count_task import CountTask, Load, Readers
from placement.partition_counts.even_counts import most_leaders, most_replicas

TOLERANCE = 1e-9
"""Relative rounding error of rates."""
FILES_PER_SEGMENT = 1
"""Kafka's formula for file descriptors: one for each log segment."""
MAPS_PER_SEGMENT = 2
"""Memory maps of a segment: its offset index and its time index."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Limit:
    """
    One limit, for every count.

    Parameters
    ----------
    name
        Name of the limit, as in documents.
    unit
        Unit of both amounts.
    used, most
        ``(N,)`` required or used amount, and the largest one possible or allowed; NaN
        if unknown.
    group
        Consumer group of the limit; empty without one.
    is_need
        Whether more partitions raise `most`, instead of using more.
    is_complete
        Whether `used` is the whole amount. Otherwise it is a lower bound.
    """

    name: str
    unit: str
    used: FloatArray
    most: FloatArray
    group: str = ""
    is_need: bool = False
    is_complete: bool = True

    @property
    def margin(self) -> FloatArray:
        """``(N,)`` ``most / used``: below 1 is not met, NaN is unknown."""
        with np.errstate(divide="ignore", invalid="ignore"):
            found: FloatArray = np.where(
                np.equal(self.used, 0) & ~np.isnan(self.most),
                np.inf,
                self.most / self.used,
            )
        return found

    @property
    def is_broken(self) -> BoolArray:
        """``(N,)`` true where the limit is known not to hold."""
        broken: BoolArray = self.margin < 1 - TOLERANCE
        return broken

    @property
    def is_known(self) -> bool:
        """Whether both amounts are known in full."""
        return self.is_complete and not bool(np.isnan(self.margin).any())


def limits_of(task: CountTask, counts: CountArray) -> list[Limit]:
    """
    Return every limit of a task: needs first, then limits of brokers.

    Parameters
    ----------
    task
        The question.
    counts
        ``(N,)`` numbers of partitions, each at least 1.
    """
    return [*_needs(task, counts), *_caps(task, counts)]


def _needs(task: CountTask, counts: CountArray) -> Iterator[Limit]:
    load, hosts, count = task.load, task.hosts, counts.astype(np.float64)
    yield _need(
        "producer",
        "bytes/s",
        load.produce_rate * load.headroom,
        producer_ceiling(task, counts),
    )
    for readers in load.readers:
        backlog = 0.0 if np.isinf(load.catch_up_s) else readers.lag_bytes
        yield _need(
            "consumer",
            "bytes/s",
            readers.rate * load.headroom + backlog / load.catch_up_s,
            consumer_ceiling(readers, load, counts),
            readers.name,
        )
    for readers in load.readers:
        if readers.consumers is not None:
            used = float(readers.consumers)
            yield _need("consumers", "consumers", used, count, readers.name)
    if hosts.is_even:
        yield _need("brokers", "brokers", float(hosts.must_lead), count)
    if hosts.current:
        yield _need("current", "partitions", float(hosts.current), count)


def _need(
    name: str, unit: str, used: float, most: FloatArray, group: str = ""
) -> Limit:
    wanted = np.full(most.shape, used)
    return Limit(
        name=name, unit=unit, used=wanted, most=most, group=group, is_need=True
    )


def even_parts(load: Load, counts: CountArray) -> FloatArray:
    """
    Return ``(N,)`` the rate of the topic over that of its busiest partition.

    With equally busy partitions that is their number. The busiest has at least the
    hottest key: more partitions than one over its share change nothing.
    """
    parts = counts / load.skew
    if load.hottest_share:
        parts = np.minimum(parts, 1 / load.hottest_share)
    return parts.astype(np.float64)


def producer_ceiling(task: CountTask, counts: CountArray) -> FloatArray:
    """Return ``(N,)`` bytes/s that producers can write to the topic."""
    ceiling: FloatArray = even_parts(task.load, counts) * task.load.producer_rate
    return ceiling


def consumer_ceiling(readers: Readers, load: Load, counts: CountArray) -> FloatArray:
    """
    Return ``(N,)`` bytes/s that a group can read.

    Either the busiest partition is the limit, or the consumer with most partitions.
    """
    members = readers.consumers
    most = np.ones_like(counts) if members is None else most_leaders(counts, members)
    parallel = np.minimum(even_parts(load, counts), counts / most)
    return (parallel * readers.consumer_rate).astype(np.float64)


def _caps(task: CountTask, counts: CountArray) -> Iterator[Limit]:
    hosts, present, caps = task.hosts, task.present, task.caps

    def cap(
        name: str, unit: str, used: FloatArray, most: float, *, is_complete: bool = True
    ) -> Limit:
        return Limit(
            name=name,
            unit=unit,
            used=used,
            most=np.full(counts.shape, float(most)),
            is_complete=is_complete,
        )

    if task.is_ordered:
        yield cap("order", "partitions", counts.astype(np.float64), 1.0)
    replicas = most_replicas(counts, hosts.racks, hosts.factor)
    held = (present.replicas + replicas).astype(np.float64)
    yield cap("replicas", "replicas", held, caps.replicas)
    each, is_sized = segments_of(task, counts)
    segments = present.segments + replicas * each
    is_sized &= present.is_sized
    files = segments * FILES_PER_SEGMENT
    yield cap("files", "files", files, caps.files, is_complete=is_sized)
    maps = segments * MAPS_PER_SEGMENT
    yield cap("maps", "maps", maps, caps.maps, is_complete=is_sized)
    in_each, out_each = network_use(task, counts)
    rate = task.load.produce_rate
    yield cap("in", "bytes/s", present.in_rate + rate * in_each, caps.in_rate)
    yield cap("out", "bytes/s", present.out_rate + rate * out_each, caps.out_rate)
    yield cap("latency", "s", latency_of(task, counts), caps.latency_s)
    recovery = caps.recovery_each_s * (present.partitions + counts).astype(np.float64)
    yield cap("recovery", "s", recovery, caps.recovery_s)


def segments_of(task: CountTask, counts: CountArray) -> tuple[FloatArray, bool]:
    """
    Return ``(N,)`` log segments of one replica, and whether its size is known.

    Retention deletes whole segments, so that there is one more than the kept data
    fills. Without a size there is at least the active segment.
    """
    kept = task.retention
    rate = task.load.produce_rate
    data = rate * kept.seconds if rate else 0.0
    each = np.minimum(
        np.where(np.isnan(data), np.inf, data) / counts, kept.partition_bytes
    )
    each = np.where(np.isinf(each), kept.topic_bytes / counts, each)
    if np.isnan(each).any():
        return np.ones(counts.shape), False
    filled = np.ceil(each / kept.segment_bytes)
    # A segment is closed after segment.ms, however little it holds.
    rolled = (
        np.ceil(kept.seconds / kept.segment_s) if np.isfinite(kept.seconds) else 0.0
    )
    return 1.0 + np.maximum(filled, np.where(each > 0, rolled, 0.0)), True


def network_use(task: CountTask, counts: CountArray) -> tuple[FloatArray, FloatArray]:
    """
    Return ``(N,)`` in and out of the fullest broker, per byte that producers write.

    Out counts all groups and the followers; NaN if the rate of a group is unknown.
    """
    hosts, load = task.hosts, task.load
    replicas = most_replicas(counts, hosts.racks, hosts.factor)
    leaders = most_leaders(counts, hosts.brokers)
    read = load.read_rate
    if np.isnan(read):
        read = sum(readers.rate for readers in load.readers)
    fan_out = read / load.produce_rate if load.produce_rate else 0.0
    out = leaders / counts * (fan_out + hosts.factor - 1)
    return replicas / counts, out


def network_ceiling(task: CountTask, counts: CountArray) -> FloatArray:
    """Return ``(N,)`` bytes/s of the topic that brokers can take; NaN if unknown."""
    in_each, out_each = network_use(task, counts)
    rooms = (
        (task.caps.in_rate - task.present.in_rate, in_each),
        (task.caps.out_rate - task.present.out_rate, out_each),
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        # NaN stays NaN in `np.maximum`.
        ceilings = np.array([np.maximum(room, 0.0) / each for room, each in rooms])
    known = np.where(np.isnan(ceilings), np.inf, ceilings).min(axis=0)
    return np.where(np.isinf(known), np.nan, known)


def latency_of(task: CountTask, counts: CountArray) -> FloatArray:
    """
    Return ``(N,)`` seconds that replication adds to the end-to-end latency.

    Followers are spread over all ordered pairs of brokers.
    """
    brokers, factor = task.hosts.brokers, task.hosts.factor
    pairs = brokers * (brokers - 1)
    followers = task.present.followers + counts * (factor - 1)
    if not pairs:
        return np.zeros(counts.shape)
    latency: FloatArray = task.caps.delay_s * np.ceil(followers / pairs)
    return latency
