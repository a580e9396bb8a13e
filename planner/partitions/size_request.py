"""Options of `partitions size`, unparsed and parsed."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import TypedDict

from placement.partition_counts.choose_count import MOST_PARTITIONS
from planner.partitions.option_values import (
    Amount,
    Grouped,
    ValueReader,
    grouped_texts,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountRequest:
    """
    Options of `partitions size`, unparsed.

    Parameters
    ----------
    topic
        Topic of the snapshot whose count is asked for; `None` for a new topic.
    throughput, producer_rate
        Bytes/s that producers write to the topic, and one of them to one partition.
    read, consumer_rate, consumers
        Bytes/s that a consumer group reads, bytes/s that one consumer processes, and
        number of consumers, by group.
    headroom, skew
        Factor of growth, and rate of the busiest partition by the mean.
    lag, catch_up
        Backlog as a size, or as a duration of reading, and time to work it off.
    keyed
        Whether records have keys; `None` if unknown.
    brokers, racks, replication_factor
        Brokers, racks of equal size, and replicas of each partition.
    uneven
        Whether brokers may lead different numbers of partitions.
    leading_brokers
        Brokers that must lead a partition, if there are as many.
    candidates
        Counts to compare.
    retention, retention_bytes, segment_bytes, segment_time
        retention.ms, retention.bytes, segment.bytes and segment.ms.
    max_replicas, instance_type
        Replicas of one broker, or the type of an Amazon MSK broker that sets them.
    max_open_files, max_map_count
        Open files and memory maps of a broker process.
    broker_in, broker_out, max_use
        Network of one broker, and the fraction of it to use.
    max_latency, latency_per_partition
        Delay that replication may add, and delay per partition between two brokers.
    max_recovery, recovery_per_partition
        Recovery after an unclean stop, and its time per partition.
    """

    topic: str | None = None
    throughput: Amount = None
    producer_rate: Amount = None
    read: Grouped = None
    consumer_rate: Grouped = None
    consumers: Grouped = None
    headroom: float | None = None
    skew: float = 1.0
    lag: Amount = None
    catch_up: Amount = None
    keyed: bool | None = None
    brokers: int | None = None
    racks: int | None = None
    replication_factor: int | None = None
    uneven: bool = False
    leading_brokers: int | None = None
    candidates: str | Sequence[int] = ()
    retention: Amount = None
    retention_bytes: Amount = None
    segment_bytes: Amount = None
    segment_time: Amount = None
    max_replicas: int | None = None
    instance_type: str | None = None
    max_open_files: int | None = None
    max_map_count: int | None = None
    broker_in: Amount = None
    broker_out: Amount = None
    max_use: float = 0.8
    max_latency: Amount = None
    latency_per_partition: Amount = None
    max_recovery: Amount = None
    recovery_per_partition: Amount = None


class PartitionsSizeOptions(TypedDict, total=False):
    """
    Arguments of `planner.partitions_size`, as the fields of `CountRequest`.

    Quantities are numbers in bytes, bytes/s and seconds, or texts with a unit.
    """

    topic: str
    throughput: str | float
    producer_rate: str | float
    read: Grouped
    consumer_rate: Grouped
    consumers: Grouped
    headroom: float
    skew: float
    lag: str | float
    catch_up: str | float
    keyed: bool
    brokers: int
    racks: int
    replication_factor: int
    uneven: bool
    leading_brokers: int
    candidates: Sequence[int]
    retention: str | float
    retention_bytes: str | float
    segment_bytes: str | float
    segment_time: str | float
    max_replicas: int
    instance_type: str
    max_open_files: int
    max_map_count: int
    broker_in: str | float
    broker_out: str | float
    max_use: float
    max_latency: str | float
    latency_per_partition: str | float
    max_recovery: str | float
    recovery_per_partition: str | float


@dataclass(frozen=True, slots=True, kw_only=True)
class CountOptions:
    """
    Parsed options of `partitions size`; absent amounts are NaN.

    The parameters are those of `CountRequest`, in bytes, bytes/s and seconds. `lag_s`
    is a backlog that was given as a duration.
    """

    throughput: float
    producer_rate: float
    read: dict[str, float]
    consumer_rate: dict[str, float]
    consumers: dict[str, float]
    headroom: float
    skew: float
    lag_bytes: float
    lag_s: float
    catch_up: float
    brokers: int | None
    racks: int | None
    replication_factor: int | None
    leading_brokers: int | None
    candidates: tuple[int, ...]
    retention: float
    retention_bytes: float
    segment_bytes: float
    segment_time: float
    max_replicas: float
    max_open_files: float
    max_map_count: float
    broker_in: float
    broker_out: float
    max_use: float
    max_latency: float
    latency_per_partition: float
    max_recovery: float
    recovery_per_partition: float


def parse_request(request: CountRequest, reader: ValueReader) -> CountOptions:
    """
    Parse the options; problems go to the reader.

    Parameters
    ----------
    request
        Unparsed options.
    reader
        Reader that keeps the problems.
    """
    lag_bytes, lag_s = _lag(request, reader)
    return CountOptions(
        throughput=reader.rate("--throughput", request.throughput),
        producer_rate=reader.rate("--producer-rate", request.producer_rate),
        read=reader.by_group("--read", grouped_texts(request.read), reader.rate),
        consumer_rate=reader.by_group(
            "--consumer-rate", grouped_texts(request.consumer_rate), reader.rate
        ),
        consumers=reader.by_group(
            "--consumers", grouped_texts(request.consumers), reader.whole
        ),
        headroom=reader.number("--headroom", request.headroom, 1),
        skew=reader.number("--skew", request.skew, 1),
        lag_bytes=lag_bytes,
        lag_s=lag_s,
        catch_up=reader.seconds("--catch-up", request.catch_up),
        brokers=reader.count("--brokers", request.brokers),
        racks=_racks(request, reader),
        replication_factor=reader.count(
            "--replication-factor", request.replication_factor
        ),
        leading_brokers=reader.count("--leading-brokers", request.leading_brokers),
        candidates=_candidates(request, reader),
        retention=reader.seconds("--retention", request.retention),
        retention_bytes=reader.size("--retention-bytes", request.retention_bytes),
        segment_bytes=reader.size("--segment-bytes", request.segment_bytes),
        segment_time=reader.seconds("--segment-time", request.segment_time),
        max_replicas=_max_replicas(request, reader),
        max_open_files=reader.number("--max-open-files", request.max_open_files, 1),
        max_map_count=reader.number("--max-map-count", request.max_map_count, 1),
        broker_in=reader.rate("--broker-in", request.broker_in),
        broker_out=reader.rate("--broker-out", request.broker_out),
        max_use=_max_use(request, reader),
        max_latency=reader.seconds("--max-latency", request.max_latency),
        latency_per_partition=reader.seconds(
            "--latency-per-partition", request.latency_per_partition
        ),
        max_recovery=reader.seconds("--max-recovery", request.max_recovery),
        recovery_per_partition=reader.seconds(
            "--recovery-per-partition", request.recovery_per_partition
        ),
    )


def _lag(request: CountRequest, reader: ValueReader) -> tuple[float, float]:
    """Return the backlog as bytes and as seconds of reading; one of them is NaN."""
    if (request.lag is None) != (request.catch_up is None):
        given = request.lag if request.catch_up is None else request.catch_up
        rule = "a backlog and the time to work it off must be given together"
        reader.refuse("--lag, --catch-up", given, rule, "give both, or neither")
    trial = ValueReader()
    seconds = float("nan")
    if isinstance(request.lag, str):
        seconds = trial.seconds("--lag", request.lag)
        if not isnan(seconds):
            return float("nan"), seconds
    return reader.size("--lag", request.lag), seconds


def _racks(request: CountRequest, reader: ValueReader) -> int | None:
    racks = reader.count("--racks", request.racks)
    if racks is not None and request.brokers is None:
        rule = "racks are those of the snapshot unless --brokers is given"
        reader.refuse("--racks", racks, rule, "give --brokers too, or leave it out")
    elif racks is not None and request.brokers and racks > request.brokers:
        rule = f"each rack must have a broker, and there are {request.brokers}"
        reader.refuse("--racks", racks, rule, f"give at most {request.brokers}")
    return racks


def _candidates(request: CountRequest, reader: ValueReader) -> tuple[int, ...]:
    given = request.candidates
    texts = given.split(",") if isinstance(given, str) else map(str, given)
    found = [reader.whole("--candidates", text.strip()) for text in texts]
    for count in found:
        if count > MOST_PARTITIONS:
            rule = f"must be at most {MOST_PARTITIONS:,}"
            reader.refuse("--candidates", int(count), rule, "give smaller counts")
    return tuple(int(n) for n in found if n <= MOST_PARTITIONS)


def _max_use(request: CountRequest, reader: ValueReader) -> float:
    if not 0 < request.max_use <= 1:
        rule = "must be above 0 and at most 1"
        reader.refuse("--max-use", request.max_use, rule, "give 0.8 or 80%")
    return request.max_use


def _max_replicas(request: CountRequest, reader: ValueReader) -> float:
    """Return the replicas of one broker, given or by the type of an MSK broker."""
    from planner.snapshot.importers.hardware.broker_table import max_replicas_of_type

    most = reader.number("--max-replicas-per-broker", request.max_replicas, 1)
    if request.instance_type is None:
        return most
    by_type = max_replicas_of_type(request.instance_type)
    if by_type is None:
        rule = "must be an MSK type m5 or m7g, large or larger"
        remedy = "give kafka.m7g.large, or --max-replicas-per-broker"
        reader.refuse("--instance-type", request.instance_type, rule, remedy)
    elif not isnan(most):
        rule = "sets the replicas of a broker, and --max-replicas-per-broker does too"
        reader.refuse("--instance-type", request.instance_type, rule, "give one")
    return most if by_type is None else float(by_type)
