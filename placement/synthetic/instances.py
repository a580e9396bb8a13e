"""
Seeded clusters of each family, and the operation to plan on each.

The number of partitions of a topic has weight ``n^-0.9``. Bytes in per topic and per
partition are lognormal; retention and the fan-out of consumers differ by topic. Sizes
average 5 GB, and no replica takes more than 5 % of a broker's share of any resource,
unless there are too few partitions for that. Replicas start where Kafka's rack-aware
placement puts them, topic by topic from a random start. A family defines the defect of
the cluster, and the operation on it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from placement.array_types import IndexArray, RateArray
from placement.draft.draft import Settings
from placement.model.cluster import ABSENT, BrokerState, ClusterState, Storage
from placement.model.columns import (
    UNKNOWN,
    Brokers,
    LogDirs,
    Partitions,
    Replicas,
    Topics,
)
from placement.model.load import RESOURCES
from placement.operations.add_brokers import AddBrokers
from placement.operations.operation import Operation
from placement.operations.rebalance import Rebalance
from placement.operations.remove_brokers import RemoveBrokers
from placement.planning.plan import plan
from placement.synthetic.cluster_sizes import Size
from placement.synthetic.drawn_partitions import (
    FOLLOWER_CPU_PER_IN,
    LEADER_CPU_PER_IN,
    LEADER_CPU_PER_OUT,
    REPLICATION_FACTOR,
    capped,
    draw_loads,
    draw_topics,
    leader_and_total,
    place,
    racks_of_brokers,
)

MEAN_BYTES = 5e9
DISK_USE, RATE_USE = 0.55, 0.4
"""Mean used fractions of the brokers' capacities."""


FAMILIES: Mapping[str, str] = {
    "a": "10 % empty brokers added to a balanced cluster",
    "a'": "10 % empty brokers added where Kafka's placement left things",
    "b": "5 % of the brokers of a balanced cluster are to be removed",
    "c": "a skewed cluster to be rebalanced",
    "d": "brokers of 1, 1.5 and 2 times the capacity, to be rebalanced",
    "e": "one rack has half as many brokers as the others, to be rebalanced",
    "f": "one rack is lost, its replicas are to be placed anew",
    "g": "a few giant partitions, to be rebalanced",
}


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """A cluster and the operation to plan on it."""

    state: ClusterState
    operation: Operation


def make_instance(family: str, size: Size, seed: int, band: float = 0.05) -> Instance:
    """
    Make one cluster of a family.

    Parameters
    ----------
    family
        A key of `FAMILIES`.
    size
        Size of the cluster: one of `SIZES`, or another.
    seed
        Seed of the random numbers; equal seeds give equal clusters.
    band
        Width of the bands of the later plan, as a fraction; a "balanced" cluster is
        within 0.8 of it.

    Raises
    ------
    ValueError
        If there is no such family, or the size has fewer racks or brokers than the
        replication factor.
    """
    if family not in FAMILIES:
        msg = f"no family {family!r}; there are {', '.join(FAMILIES)}"
        raise ValueError(msg)
    if size.racks < REPLICATION_FACTOR or size.brokers < size.racks:
        msg = f"{size} has too few racks or brokers for {REPLICATION_FACTOR} replicas"
        raise ValueError(msg)
    rng = np.random.default_rng([seed, sorted(FAMILIES).index(family), size.replicas])
    state = _raw_cluster(family, size, rng)
    if family in {"a", "b"}:
        state = _balanced(state, 0.8 * band)
    if family in {"a", "a'"}:
        return Instance(_with_new_brokers(state, size), AddBrokers())
    if family == "b":
        count = max(1, round(0.05 * size.brokers))
        leaving = rng.choice(state.brokers.ids, size=count, replace=False)
        return Instance(state, RemoveBrokers(tuple(sorted(int(b) for b in leaving))))
    return Instance(state, Rebalance())


def _raw_cluster(family: str, size: Size, rng: np.random.Generator) -> ClusterState:
    topic_idx, partition = draw_topics(size, rng)
    rates = draw_loads(topic_idx, 1.5 if family == "c" else 1.0, rng)
    in_rate, out_rate, bytes_ = capped(rates, size.brokers)
    bytes_ *= MEAN_BYTES / bytes_.mean()
    if family == "g":
        count = max(2, size.brokers // 20)
        giants = rng.choice(len(bytes_), size=count, replace=False)
        share = REPLICATION_FACTOR * bytes_.sum() / size.brokers
        bytes_[giants] = share * rng.uniform(0.1, 0.5, size=count)
    rack_of = racks_of_brokers(size, is_uneven=family == "e")
    start, broker_idx = place(topic_idx, partition, rack_of, rng)
    scale = np.ones(len(rack_of))
    if family == "d":
        scale = rng.choice([1.0, 1.5, 2.0], size=len(rack_of))
        scale /= scale.mean()
    is_dead = np.equal(rack_of, rack_of[0]) & (family == "f")
    scale *= _strain(rack_of[~is_dead], len(rack_of))
    brokers = _brokers(rack_of, scale, (in_rate, out_rate, bytes_))
    brokers = replace(
        brokers, state=np.where(is_dead, BrokerState.DEAD, 0).astype(np.int8)
    )
    return ClusterState(
        cluster_id=f"synthetic-{family}",
        brokers=brokers,
        log_dirs=_no_log_dirs(),
        topics=_topics(int(topic_idx[-1]) + 1),
        partitions=_partitions(
            topic_idx,
            partition,
            (in_rate, out_rate, bytes_),
            _leaders(start, broker_idx, brokers.is_live),
        ),
        replicas=_replicas(start, broker_idx, brokers.is_live),
    )


def _strain(rack_of: IndexArray, brokers: int) -> float:
    """
    Return the necessary capacity of a broker as a multiple of the mean.

    The load of lost brokers has to fit on the others. With as many racks as replicas of
    a partition, each rack has to hold all partitions, however few brokers it has.
    """
    counts = np.bincount(rack_of)
    counts = counts[counts > 0]
    lost = brokers / counts.sum()
    is_tight = len(counts) == REPLICATION_FACTOR
    tight = brokers / (len(counts) * counts.min()) if is_tight else 1.0
    return float(max(lost, tight))


def _brokers(
    rack_of: IndexArray,
    scale: RateArray,
    rates: tuple[RateArray, RateArray, RateArray],
) -> Brokers:
    count, width = len(rack_of), len(str(int(rack_of.max())))
    _, total = leader_and_total(*rates)
    disk, inbound, outbound, cpu = total[:, None] * scale / count
    return Brokers(
        ids=np.arange(count, dtype=np.int32),
        rack_idx=rack_of,
        racks=tuple(f"r{rack:0{width}d}" for rack in range(int(rack_of.max()) + 1)),
        host_idx=np.arange(count, dtype=np.int32),
        hosts=tuple(f"host-{broker:05d}" for broker in range(count)),
        broker_set_idx=np.full(count, ABSENT, dtype=np.int32),
        broker_sets=(),
        state=np.zeros(count, dtype=np.int8),
        disk_bytes=(disk / DISK_USE).astype(np.int64),
        in_bytes_per_s=inbound / RATE_USE,
        out_bytes_per_s=outbound / RATE_USE,
        cpu_cores=cpu / RATE_USE,
        max_replicas=np.full(count, UNKNOWN, dtype=np.int64),
    )


def _no_log_dirs() -> LogDirs:
    none = np.zeros(0, dtype=np.int64)
    return LogDirs(
        broker_idx=none.astype(np.int32),
        paths=(),
        size_bytes=none,
        usable_bytes=none,
        state=none.astype(np.int8),
    )


def _topics(count: int) -> Topics:
    width = len(str(count - 1))
    return Topics(
        names=tuple(f"topic-{topic:0{width}d}" for topic in range(count)),
        topic_ids=(None,) * count,
        storage=np.full(count, Storage.LOCAL, dtype=np.int8),
        min_insync_replicas=np.full(count, 2, dtype=np.int32),
        configs=({"min.insync.replicas": "2"},) * count,
    )


def _partitions(
    topic_idx: IndexArray,
    partition: IndexArray,
    rates: tuple[RateArray, ...],
    leader_idx: IndexArray,
) -> Partitions:
    in_rate, out_rate, bytes_ = rates
    return Partitions(
        topic_idx=topic_idx,
        partition=partition,
        leader_idx=leader_idx,
        size_bytes=bytes_.astype(np.int64),
        remote_bytes=np.full(len(bytes_), UNKNOWN, dtype=np.int64),
        in_bytes_per_s=in_rate,
        out_bytes_per_s=out_rate,
        leader_cpu_cores=LEADER_CPU_PER_IN * in_rate + LEADER_CPU_PER_OUT * out_rate,
        follower_cpu_cores=FOLLOWER_CPU_PER_IN * in_rate,
    )


def _leaders(
    start: npt.NDArray[np.int64], broker_idx: IndexArray, is_live: npt.NDArray[np.bool_]
) -> IndexArray:
    """Return ``(P,)`` the first live replicas; racks differ, so one of the two."""
    first, second = broker_idx[start[:-1]], broker_idx[start[:-1] + 1]
    return np.where(is_live[first], first, second).astype(np.int32)


def _replicas(
    start: npt.NDArray[np.int64], broker_idx: IndexArray, is_live: npt.NDArray[np.bool_]
) -> Replicas:
    count = len(broker_idx)
    none = np.zeros(count, dtype=np.bool_)
    absent = np.full(count, ABSENT, dtype=np.int32)
    return Replicas(
        start=start,
        broker_idx=broker_idx,
        is_in_sync=is_live[broker_idx],
        is_adding=none,
        is_removing=none.copy(),
        is_eligible=none.copy(),
        is_last_known_eligible=none.copy(),
        is_failed=none.copy(),
        log_dir_idx=absent,
        future_log_dir_idx=absent.copy(),
        own_bytes=np.full(count, UNKNOWN, dtype=np.int64),
    )


def _balanced(state: ClusterState, band: float) -> ClusterState:
    """Return a cluster rebalanced to a band."""
    bands = dict.fromkeys(RESOURCES, band)
    found = plan(state, Rebalance(), Settings(bands=bands, effort="quick"))
    return found.reassignment.after()


def _with_new_brokers(state: ClusterState, size: Size) -> ClusterState:
    """Add 10 % empty brokers, in turn to every rack, each like those there."""
    count, old = max(1, round(0.1 * size.brokers)), state.brokers
    rows = np.arange(count) % size.racks

    def grown(column: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        return np.concatenate([column, column[rows]])

    ids = np.arange(len(old) + count, dtype=np.int32)
    new = np.full(count, BrokerState.NEW, dtype=np.int8)
    columns = (
        "rack_idx",
        "broker_set_idx",
        "disk_bytes",
        "in_bytes_per_s",
        "out_bytes_per_s",
        "cpu_cores",
        "max_replicas",
    )
    hosts = tuple(f"host-{broker:05d}" for broker in ids)
    return state.with_brokers(
        ids=ids,
        host_idx=ids.copy(),
        hosts=hosts,
        state=np.concatenate([old.state, new]),
        **{name: grown(getattr(old, name)) for name in columns},
    )
