"""Load of a cluster's topics today, as the base and the measure of a new count."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, nan

import numpy as np

from placement.array_types import BoolArray, CountArray, RateArray
from placement.model.cluster import ClusterState
from placement.partition_counts.count_task import DAY_S, GIB, Present, Retention

MOST_SECONDS = 2**63 / 1000
"""Largest retention.ms in seconds; longer ones are no limit."""


def config_number(configs: Mapping[str, str], *names: str) -> float:
    """Return the first numeric config; NaN without one, infinite below 0."""
    for name in names:
        try:
            value = float(int(configs[name]))
        except (KeyError, ValueError):
            continue
        return inf if value < 0 else value
    return nan


def segments_of_partitions(state: ClusterState) -> CountArray:
    """
    Return ``(P,)`` log segments of one replica of each partition.

    Those that its data fills, and the open one; a partition of unknown size counts one.
    """
    sizes = [config_number(each, "segment.bytes") for each in state.topics.configs]
    segment = np.array(sizes, dtype=np.float64)
    segment = np.where((segment > 0) & np.isfinite(segment), segment, GIB)
    data = np.maximum(state.partitions.size_bytes, 0)
    filled = np.ceil(data / segment[state.partitions.topic_idx])
    return 1 + filled.astype(np.int64)


def present_load(state: ClusterState, topic: int | None = None) -> Present:
    """
    Return the load of a cluster without one topic.

    Parameters
    ----------
    state
        The cluster.
    topic
        Row of the topic to leave out; `None` for none.
    """
    parts, replicas = state.partitions, state.replicas
    is_other = np.ones(len(parts), dtype=np.bool_)
    if topic is not None:
        is_other = np.not_equal(parts.topic_idx, topic)
    counts = is_other[replicas.partition_idx] & ~replicas.is_removing
    broker = replicas.broker_idx[counts]
    segments = segments_of_partitions(state)[replicas.partition_idx[counts]]
    num, live = state.num_brokers, state.brokers.is_live
    held = np.bincount(broker, minlength=num)[live]
    kept = np.bincount(broker, weights=segments, minlength=num)[live]
    factor = state.target_factor
    in_rate, out_rate = _network(state, is_other, factor)
    return Present(
        replicas=int(held.max(initial=0)),
        segments=int(kept.max(initial=0)),
        partitions=int(is_other.sum()),
        followers=int((factor - 1)[is_other].sum()),
        in_rate=in_rate,
        out_rate=out_rate,
        is_sized=bool((parts.size_bytes[is_other] >= 0).all()),
    )


def _network(
    state: ClusterState, is_other: BoolArray, factor: CountArray
) -> tuple[float, float]:
    """Return in and out of the mean live broker; NaN if a rate is unknown."""
    brokers = max(int(state.brokers.is_live.sum()), 1)
    write = state.partitions.in_bytes_per_s[is_other]
    read = state.partitions.out_bytes_per_s[is_other]
    copies = factor[is_other]
    into = float((write * copies).sum()) / brokers
    out = float((read + write * (copies - 1)).sum()) / brokers
    return into, out


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenRates:
    """
    Highest rates of one partition in a cluster.

    Parameters
    ----------
    producer_rate
        Bytes/s of the partition that is written most; NaN if no rate is known.
    producer_name
        That partition; empty without one.
    consumer_rate, consumer_name
        The same among partitions that are read at least as fast as they are written, so
        that some consumer keeps pace.
    """

    producer_rate: float
    producer_name: str
    consumer_rate: float
    consumer_name: str


def seen_rates(state: ClusterState) -> SeenRates:
    """Return the highest rates of one partition, as measures of one client."""
    write = state.partitions.in_bytes_per_s
    read = state.partitions.out_bytes_per_s
    produced, producer = _highest(state, write)
    # NaN compares false: a partition of unknown out does not count.
    consumed, consumer = _highest(state, np.where(read >= write, write, np.nan))
    return SeenRates(
        producer_rate=produced,
        producer_name=producer,
        consumer_rate=consumed,
        consumer_name=consumer,
    )


def _highest(state: ClusterState, rates: RateArray) -> tuple[float, str]:
    known = np.where(rates > 0, rates, -1.0)
    if not len(known) or known.max() <= 0:
        return nan, ""
    row = int(known.argmax())
    return float(known[row]), state.name_of(row)


def topic_retention(
    configs: Mapping[str, str], cluster: Mapping[str, str], topic_bytes: float
) -> Retention:
    """
    Return the data that a topic keeps on the brokers' disks, by its configs.

    Parameters
    ----------
    configs, cluster
        Configs of the topic, and of the cluster that hold where it has none.
    topic_bytes
        Bytes of one replica of the topic today; NaN if unknown.
    """
    if configs.get("cleanup.policy") == "compact":
        seconds, most = inf, inf
    else:
        seconds, most = _kept(configs, cluster)
    segment = config_number(configs, "segment.bytes")
    closed = config_number(configs, "segment.ms") / 1000
    return Retention(
        seconds=seconds,
        partition_bytes=most,
        segment_bytes=segment if segment > 0 else float(GIB),
        segment_s=closed if closed > 0 else 7 * DAY_S,
        topic_bytes=topic_bytes,
    )


def _kept(
    configs: Mapping[str, str], cluster: Mapping[str, str]
) -> tuple[float, float]:
    """Return the retention in seconds and in bytes; locally for a tiered topic."""
    seconds = config_number(configs, "retention.ms") / 1000
    if np.isnan(seconds):
        seconds = config_number(cluster, "log.retention.ms") / 1000
    if np.isnan(seconds):
        seconds = config_number(cluster, "log.retention.hours") * 3600
    most = config_number(configs, "retention.bytes")
    if np.isnan(most):
        most = config_number(cluster, "log.retention.bytes")
    seconds = 7 * DAY_S if np.isnan(seconds) else seconds
    most = inf if np.isnan(most) else most
    if configs.get("remote.storage.enable") == "true":
        seconds = min(seconds, _local(configs, "local.retention.ms") / 1000)
        most = min(most, _local(configs, "local.retention.bytes"))
    return (inf if seconds > MOST_SECONDS else seconds), most


def _local(configs: Mapping[str, str], name: str) -> float:
    """Return a local retention; -2, the default, is that of the topic."""
    value = config_number(configs, name)
    return inf if np.isnan(value) else value
