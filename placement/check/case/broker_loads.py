"""Load of every broker by resource, computed from the formulas alone."""

from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from placement.array_types import BytesArray, IntArray, RateArray
from placement.check.case.placed_replicas import Placed, placed_before
from placement.model.cluster import ABSENT, UNKNOWN, ClusterState, LogDirState, Storage

Loads = dict[str, npt.NDArray[np.float64]]


def broker_loads(state: ClusterState, placed: Placed) -> Loads:
    """
    Sum the loads of the replicas on each broker, by resource.

    Parameters
    ----------
    state
        Cluster before the plan: sizes, rates, log dirs.
    placed
        Placement whose loads are summed.

    Returns
    -------
    ``(B,)`` each: ``disk`` bytes, fixed loads of log dirs included; ``in`` and ``out``
    bytes/s; ``cpu`` cores; ``replicas`` and ``leaders`` counts. Unknown values count
    as 0, so each load is a lower bound: a load over a limit certainly breaks it.
    """
    partitions, rows = state.partitions, placed.partition_idx
    followers = placed.replication_factor - 1
    # A single replica has no followers: an unknown rate in does not affect out.
    copied = np.where(followers > 0, partitions.in_bytes_per_s * followers, 0.0)
    sent = partitions.out_bytes_per_s + copied
    # A partition's CPU counts only where both leader and follower cores are known.
    led = partitions.leader_cpu_cores + 0 * np.where(
        followers > 0, partitions.follower_cpu_cores, 0.0
    )
    followed = partitions.follower_cpu_cores + 0 * partitions.leader_cpu_cores
    cpu = np.where(placed.is_leader, led[rows], followed[rows])
    return {
        "disk": _per_broker(state, placed, replica_bytes(state, placed))
        + fixed_bytes(state),
        "in": _per_broker(state, placed, partitions.in_bytes_per_s[rows]),
        "out": _per_broker(state, placed, np.where(placed.is_leader, sent[rows], 0.0)),
        "cpu": _per_broker(state, placed, cpu),
        "replicas": _per_broker(state, placed, np.ones(len(rows))),
        "leaders": _per_broker(state, placed, placed.is_leader),
    }


def _per_broker(
    state: ClusterState, placed: Placed, weights: npt.NDArray[np.generic]
) -> RateArray:
    # Sums of bytes stay below 2**53 up to 9 PB per broker, where float64 is exact.
    known = np.nan_to_num(weights.astype(np.float64), nan=0.0)
    summed = np.bincount(placed.broker_idx, known, minlength=state.num_brokers)
    return summed.astype(np.float64)


def replica_bytes(state: ClusterState, placed: Placed) -> BytesArray:
    """
    Return ``(R,)`` bytes of each replica on its disk; 0 where unknown.

    The result is cached per placement, since several rules use it.
    """
    if placed not in _sized:
        _sized[placed] = _replica_bytes(state, placed)
    return _sized[placed]


_sized: WeakKeyDictionary[Placed, BytesArray] = WeakKeyDictionary()


def _replica_bytes(state: ClusterState, placed: Placed) -> BytesArray:
    own = np.append(state.replicas.own_bytes, UNKNOWN)[placed.from_idx]
    size = state.partitions.size_bytes[placed.partition_idx]
    topic = state.partitions.topic_idx[placed.partition_idx]
    takes = np.where(np.equal(own, UNKNOWN), size, own)
    # Shared storage takes no bytes of a broker's disk.
    is_shared = np.equal(state.topics.storage, Storage.SHARED)[topic]
    weights: BytesArray = np.where(is_shared, 0, np.maximum(takes, 0))
    weights.setflags(write=False)
    return weights


def fixed_bytes(state: ClusterState) -> IntArray:
    """
    Return ``(B,)`` bytes in log dirs that no replica accounts for.

    Only log dirs that are not offline and whose size and usable bytes are known count.
    Bytes of replicas in an unknown log dir are subtracted from the sum of their broker,
    so the result is a lower bound.
    """
    dirs = state.log_dirs
    is_counted = (
        np.not_equal(dirs.size_bytes, UNKNOWN)
        & np.not_equal(dirs.usable_bytes, UNKNOWN)
        & np.not_equal(dirs.state, LogDirState.OFFLINE)
    )
    explained, homeless = explained_bytes(state)
    unexplained = np.maximum(dirs.size_bytes - dirs.usable_bytes - explained, 0)
    left = np.where(is_counted, unexplained, 0)
    by_broker = _sum_at(dirs.broker_idx, left, state.num_brokers)
    least: IntArray = np.maximum(by_broker - homeless, 0)
    return least


def explained_bytes(state: ClusterState) -> tuple[IntArray, IntArray]:
    """
    Return replica bytes per log dir, and per broker for replicas in no known one.

    The result is cached per cluster.
    """
    if state not in _explained:
        _explained[state] = _explained_bytes(state)
    return _explained[state]


_explained: WeakKeyDictionary[ClusterState, tuple[IntArray, IntArray]]
_explained = WeakKeyDictionary()


def _explained_bytes(state: ClusterState) -> tuple[IntArray, IntArray]:
    replicas, num_dirs = state.replicas, len(state.log_dirs)
    size = replica_bytes(state, placed_before(state))
    # The last row sums the replicas in no known log dir.
    lying = _sum_at(replicas.log_dir_idx, size, num_dirs + 1)
    coming = _sum_at(replicas.future_log_dir_idx, size, num_dirs + 1)
    is_homeless = np.equal(replicas.log_dir_idx, ABSENT)
    homeless = _sum_at(
        replicas.broker_idx[is_homeless], size[is_homeless], state.num_brokers
    )
    return (lying + coming)[:num_dirs], homeless


def _sum_at(rows: npt.NDArray[np.integer], values: IntArray, length: int) -> IntArray:
    summed = np.zeros(length, dtype=np.int64)
    np.add.at(summed, rows, values)
    return summed
