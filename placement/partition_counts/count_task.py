"""The question of how many partitions a topic needs: load, brokers, limits."""

from dataclasses import dataclass
from math import inf, nan

REPLICATION_DELAY_S = 0.02 / 1000
"""
Delay per partition that one broker replicates from another.

Replication of 1,000 partitions from one broker to another adds about 20 ms to the end-
to-end latency (J. Rao, *How to choose the number of topics/partitions in a Kafka
cluster*, 2015).
"""
RECOVERY_S = 37 / 2_000_000
"""
Recovery after an unclean stop, per partition of the cluster, with KRaft.

A cluster of two million partitions took 37 s, and 503 s with ZooKeeper (B. Svingen and
C. McCabe, *Apache Kafka made simple: a first glimpse of a Kafka without ZooKeeper*,
2021).
"""
MOST_LEADING = 12
"""Brokers over which a topic is spread at least, if there are as many."""
GIB = 2**30
DAY_S = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Readers:
    """
    Consumer group of a topic.

    Parameters
    ----------
    name
        Name of the group; empty for an unnamed one.
    rate
        Bytes/s that the group reads; NaN if unknown.
    consumer_rate
        Bytes/s that one consumer processes; NaN if unknown.
    consumers
        Number of consumers at work; `None` for as many as there are partitions.
    lag_bytes
        Backlog of the group to work off within `Load.catch_up_s`; NaN if unknown.
    """

    name: str = ""
    rate: float = nan
    consumer_rate: float = nan
    consumers: int | None = None
    lag_bytes: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """
    Load of a topic.

    Parameters
    ----------
    produce_rate
        Bytes/s that producers write to the topic; NaN if unknown.
    producer_rate
        Bytes/s that one producer writes to one partition; NaN if unknown.
    readers
        Consumer groups.
    read_rate
        Bytes/s that all groups read together; NaN for the sum of their rates.
    headroom
        Factor of growth to be prepared for, at least 1. It counts for producers and
        consumers alone: brokers, disks and limits can follow the growth, the number of
        partitions of a keyed topic cannot.
    skew
        Rate of the busiest partition divided by the mean, at least 1.
    hottest_share
        Share of the hottest key, from 0 to 1: one partition has it, whatever their
        number.
    catch_up_s
        Seconds in which each group works off its backlog; infinite without backlog.
    """

    produce_rate: float = nan
    producer_rate: float = nan
    readers: tuple[Readers, ...] = ()
    read_rate: float = nan
    headroom: float = 1.0
    skew: float = 1.0
    hottest_share: float = 0.0
    catch_up_s: float = inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosts:
    """
    Brokers of a topic.

    Parameters
    ----------
    racks
        Number of brokers in each rack; a broker without a rack is a rack of its own.
    factor
        Replication factor.
    is_even
        Whether each broker must lead the same number of partitions of the topic, or on
        a large cluster some brokers one each.
    leading
        Brokers that must lead a partition then, if there are as many.
    current
        Present number of partitions, which cannot become smaller; 0 for a new topic.
    """

    racks: tuple[int, ...]
    factor: int = 3
    is_even: bool = True
    leading: int = MOST_LEADING
    current: int = 0

    @property
    def brokers(self) -> int:
        """Number of brokers."""
        return sum(self.racks)

    @property
    def must_lead(self) -> int:
        """Number of brokers that must lead a partition."""
        return min(self.brokers, self.leading)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """
    Data that a topic keeps on disk, and its segments.

    Parameters
    ----------
    seconds
        retention.ms in seconds; infinite without a limit.
    partition_bytes
        retention.bytes; infinite without a limit.
    segment_bytes, segment_s
        segment.bytes, and segment.ms in seconds.
    topic_bytes
        Bytes of one replica of the whole topic today; NaN if unknown. Used where rate
        and retention do not give the size.
    """

    seconds: float = 7 * DAY_S
    partition_bytes: float = inf
    segment_bytes: float = GIB
    segment_s: float = 7 * DAY_S
    topic_bytes: float = nan


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """
    Load of the other topics.

    Parameters
    ----------
    replicas, segments
        Replicas and log segments of the broker with most of them.
    partitions, followers
        Partitions and follower replicas of the cluster.
    in_rate, out_rate
        Bytes/s of the mean broker, replication included; NaN if unknown.
    is_sized
        Whether all sizes are known; each replica without one counts one segment.
    """

    replicas: int = 0
    segments: int = 0
    partitions: int = 0
    followers: int = 0
    in_rate: float = 0.0
    out_rate: float = 0.0
    is_sized: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """
    Limits of a broker and of the cluster; NaN where unknown.

    Parameters
    ----------
    replicas
        Replicas of one broker.
    files, maps
        Open files and memory maps (vm.max_map_count) of one broker process.
    in_rate, out_rate
        Usable bytes/s of one broker's network.
    latency_s
        Delay that replication may add to the end-to-end latency.
    recovery_s
        Time that the cluster may take to recover from an unclean stop.
    delay_s
        Delay for each partition that one broker replicates from another.
    recovery_each_s
        Recovery for each partition of the cluster.
    """

    replicas: float = 4000.0
    files: float = 100_000.0
    maps: float = 65_530.0
    in_rate: float = nan
    out_rate: float = nan
    latency_s: float = nan
    recovery_s: float = nan
    delay_s: float = REPLICATION_DELAY_S
    recovery_each_s: float = RECOVERY_S


@dataclass(frozen=True, slots=True, kw_only=True)
class CountTask:
    """
    The question of how many partitions a topic needs.

    Parameters
    ----------
    load, hosts, retention
        Rates of the topic, the brokers that hold it, and the data that it keeps.
    present
        Load of the other topics.
    caps
        Limits of brokers and of the cluster.
    is_ordered
        Whether all records have one order, for which there must be one partition.
    """

    hosts: Hosts
    load: Load = Load()
    retention: Retention = Retention()
    present: Present = Present()
    caps: Caps = Caps()
    is_ordered: bool = False
