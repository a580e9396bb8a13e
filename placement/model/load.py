"""
Weights of replicas, and loads of brokers.

Weights are integers, so that sums are exact and the same on every machine: bytes,
millibytes per second, nanocores, counts. `UNITS` gives the number of them in one unit
of display.
"""

from dataclasses import dataclass, fields
from enum import StrEnum
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray, IndexArray, RateArray
from placement.errors import InvalidClusterError
from placement.model.cluster import (
    ABSENT,
    UNKNOWN,
    ClusterState,
)
from placement.model.disk_bytes import disk_weights, fixed_disk_bytes

WeightArray = npt.NDArray[np.int64]

MOST_LOAD = 2**61
"""Sums of weights stay below this value, so that no intermediate integer overflows."""


class Resource(StrEnum):
    """A resource that plans balance."""

    DISK = "disk"
    IN = "in"
    OUT = "out"
    CPU = "cpu"
    REPLICAS = "replicas"
    LEADERS = "leaders"


RESOURCES = tuple(Resource)
"""All resources, in the order of every ``R`` axis here."""

UNITS = {
    Resource.DISK: 1,
    Resource.IN: 1000,
    Resource.OUT: 1000,
    Resource.CPU: 10**9,
    Resource.REPLICAS: 1,
    Resource.LEADERS: 1,
}
"""Integer weights per byte, byte/s, core, or one."""

UNIT_ROW = np.array([UNITS[resource] for resource in RESOURCES], dtype=np.int64)
EXACT = 2**53
"""Integers below this value are exact as floats."""
LEADING = np.array([r in {Resource.OUT, Resource.LEADERS} for r in RESOURCES])
"""``(R,)`` true for resources that the leader alone uses."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Weights:
    """
    Weights of the replicas of each partition.

    Parameters
    ----------
    replica
        ``(P, R)`` weight of each replica, leader or not.
    leader
        ``(P, R)`` additional weight of the leader.
    own
        ``(replicas,)`` bytes by which a replica differs from its leader's size; empty
        if none differs.
    copy_bytes
        ``(P,)`` bytes. Size of one copied replica.
    is_known
        ``(P, R)`` false for weights that were not measured, which are 0.
    """

    replica: WeightArray
    leader: WeightArray
    own: WeightArray
    copy_bytes: WeightArray
    is_known: BoolArray

    def __post_init__(self) -> None:
        for field in fields(self):
            getattr(self, field.name).setflags(write=False)


_weighed: WeakKeyDictionary[ClusterState, Weights] = WeakKeyDictionary()


def weigh(state: ClusterState) -> Weights:
    """
    Weigh the replicas of every partition (docs/theory.md, "Load of a replica").

    disk: the bytes of the replica; in: the writes of producers, on every replica; out:
    reads of consumers and fetches of followers, on the leader; cpu as given; replicas
    1; leaders 1 on the leader. Topics on shared storage have no weight on a disk.

    Raises
    ------
    InvalidClusterError
        If the sum of a resource over all replicas is 2^61 units or more.

    Notes
    -----
    Computed once for each cluster.
    """
    if state not in _weighed:
        _weighed[state] = _weigh(state)
    return _weighed[state]


def _weigh(state: ClusterState) -> Weights:
    partitions = state.partitions
    shape = (len(partitions), len(RESOURCES))
    replica, leader = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    is_known = np.ones(shape, dtype=np.bool_)
    factor = state.replication_factor
    copy_bytes, own = disk_weights(state)
    replica[:, 0] = copy_bytes
    is_known[:, 0] = np.not_equal(partitions.size_bytes, UNKNOWN)

    inbound, outbound = partitions.in_bytes_per_s, partitions.out_bytes_per_s
    replica[:, 1], is_known[:, 1] = _scaled(inbound, Resource.IN)
    # Without followers there are no fetches: the incoming rate may be unknown.
    served = outbound + np.where(factor > 1, (factor - 1) * inbound, 0.0)
    leader[:, 2], is_known[:, 2] = _scaled(served, Resource.OUT)

    follows = np.where(factor > 1, partitions.follower_cpu_cores, 0.0)
    replica[:, 3], _ = _scaled(follows, Resource.CPU)
    both, is_known[:, 3] = _scaled(
        partitions.leader_cpu_cores + 0 * follows, Resource.CPU
    )
    leader[:, 3] = np.maximum(both - replica[:, 3], 0)
    replica[~is_known[:, 3], 3] = 0

    replica[:, 4] = 1
    leader[:, 5] = 1
    _refuse_overflow(state, replica, leader)
    return Weights(
        replica=replica,
        leader=leader,
        own=own,
        copy_bytes=copy_bytes,
        is_known=is_known,
    )


def _scaled(rates: RateArray, resource: Resource) -> tuple[WeightArray, BoolArray]:
    """Convert rates to integers, rounded up: no sum is below that of the rates."""
    known = np.isfinite(rates)
    scaled = np.minimum(np.where(known, rates, 0.0) * UNITS[resource], MOST_LOAD)
    # A value that is an integer up to floating-point error is not rounded up.
    return np.ceil(scaled * (1 - 1e-12)).astype(np.int64), known


def _refuse_overflow(
    state: ClusterState, replica: WeightArray, leader: WeightArray
) -> None:
    total = (replica.astype(float) * state.num_replicas[:, None] + leader).sum(axis=0)
    problems = [
        f"{resource} sums to {total[r] / UNITS[resource]:.3g}, too much to add up"
        for r, resource in enumerate(RESOURCES)
        if total[r] >= MOST_LOAD
    ]
    if problems:
        raise InvalidClusterError(problems)


def preferred_leaders(state: ClusterState) -> IndexArray:
    """
    Return ``(P,)`` row of the broker that leads after preferred elections.

    This is the broker of the first live replica; `ABSENT` without a live replica that
    may lead, since no election elects a leader then.
    """
    first = np.where(state.has_source, first_live_replica(state), ABSENT)
    return state.replicas.broker_idx_at(first)


def first_live_replica(state: ClusterState) -> WeightArray:
    """Return ``(P,)`` row of the first replica that is not offline, or `ABSENT`."""
    return first_true(~state.is_offline, state.replicas.start)


def first_true(flags: BoolArray, start: WeightArray) -> WeightArray:
    """Return ``(P,)`` the first row of each compressed row that is true, or -1."""
    if flags.all():
        return np.where(start[:-1] < start[1:], start[:-1], ABSENT)
    rows = np.nonzero(flags)[0]
    position = np.searchsorted(rows, start[:-1])
    found = position < len(rows)
    first = np.full(len(start) - 1, ABSENT, dtype=np.int64)
    first[found] = rows[position[found]]
    inside: WeightArray = np.where(first < start[1:], first, ABSENT)
    return inside


def broker_loads(
    state: ClusterState, weights: Weights, leader_idx: IndexArray
) -> WeightArray:
    """
    Sum the loads of the brokers.

    Parameters
    ----------
    state, weights
        The cluster, and the weights of its replicas.
    leader_idx
        ``(P,)`` row of the broker that leads each partition, or `ABSENT`.

    Returns
    -------
    ``(B, R)`` integer loads, fixed loads of log dirs included.
    """
    load = np.zeros((state.num_brokers, len(RESOURCES)), dtype=np.int64)
    broker, of = state.replicas.broker_idx, state.replicas.partition_idx
    led = np.nonzero(np.not_equal(leader_idx, ABSENT))[0]
    load[:, 0] = disk_loads(state, weights)
    for r in range(1, len(RESOURCES)):
        if weights.replica[:, r].any():
            add_to(load[:, r], broker, weights.replica[of, r])
        if weights.leader[:, r].any():
            add_to(load[:, r], leader_idx[led], weights.leader[led, r])
    return load


def disk_loads(state: ClusterState, weights: Weights) -> WeightArray:
    """
    Return ``(B,)`` bytes on the disks of each broker, fixed loads included.

    Parameters
    ----------
    state, weights
        The cluster, and the weights of its replicas. The disk of a leader holds no more
        than that of a follower.
    """
    load = np.zeros(state.num_brokers, dtype=np.int64)
    broker, of = state.replicas.broker_idx, state.replicas.partition_idx
    add_to(load, broker, weights.replica[of, 0])
    if len(weights.own):
        add_to(load, broker, weights.own)
    return load + fixed_disk_bytes(state)


def add_to(
    total: WeightArray, rows: IndexArray | WeightArray, values: WeightArray
) -> None:
    """Add ``values`` to the ``rows`` of a total, exact even beyond float precision."""
    if not len(rows):
        return
    most = max(int(values.max()), -int(values.min()))
    if most * int(np.bincount(rows).max()) < EXACT:
        summed = np.bincount(rows, weights=values, minlength=len(total))
        total += summed.astype(np.int64)
        return
    low = np.bincount(rows, weights=values & 0xFFFFFF, minlength=len(total))
    high = np.bincount(rows, weights=values >> 24, minlength=len(total))
    # Each part is an integer below 2^53 as a float: 24 bits times up to 2^29 rows.
    total += low.astype(np.int64) + (high.astype(np.int64) << 24)


def heaviest_replicas(
    state: ClusterState, weights: Weights, leader_idx: IndexArray
) -> WeightArray:
    """Return ``(B, R)`` the weight of the heaviest replica on each broker."""
    heaviest = np.zeros((state.num_brokers, len(RESOURCES)), dtype=np.int64)
    broker, of = state.replicas.broker_idx, state.replicas.partition_idx
    leading = np.nonzero(np.equal(broker, leader_idx[of]))[0]
    led, led_by = of[leading], broker[leading]
    for r in range(len(RESOURCES)):
        weight = weights.replica[:, r]
        if r == 0 and len(weights.own):
            np.maximum.at(heaviest[:, r], broker, weight[of] + weights.own)
        elif weight.any():
            np.maximum.at(heaviest[:, r], broker, weight[of])
        if weights.leader[:, r].any():
            both = weight[led] + weights.leader[led, r]
            np.maximum.at(heaviest[:, r], led_by, both)
    return heaviest


_carried: WeakKeyDictionary[ClusterState, tuple[WeightArray, WeightArray]]
_carried = WeakKeyDictionary()


def loads_of(state: ClusterState) -> tuple[WeightArray, WeightArray]:
    """
    Return ``(B, R)`` loads and heaviest replicas under the leaders of a cluster.

    Computed once for each cluster: its plan, its score and the reasons of its moves use
    the same arrays.
    """
    if state not in _carried:
        _carried[state] = _loads_led(state, weigh(state), state.partitions.leader_idx)
    return _carried[state]


def loads_led(
    state: ClusterState, weights: Weights, leader_idx: IndexArray
) -> tuple[WeightArray, WeightArray]:
    """Return the result of `loads_of` under other leaders, or with other weights."""
    is_usual = weights is weigh(state)
    if is_usual and np.array_equal(leader_idx, state.partitions.leader_idx):
        return loads_of(state)
    return _loads_led(state, weights, leader_idx)


def _loads_led(
    state: ClusterState, weights: Weights, leader_idx: IndexArray
) -> tuple[WeightArray, WeightArray]:
    found = (
        broker_loads(state, weights, leader_idx),
        heaviest_replicas(state, weights, leader_idx),
    )
    for array in found:
        array.setflags(write=False)
    return found


def known_fractions(state: ClusterState, weights: Weights) -> RateArray:
    """Return ``(R,)`` the fraction of partitions for which each weight is known."""
    if not len(state.partitions):
        return np.ones(len(RESOURCES))
    known: RateArray = weights.is_known.mean(axis=0)
    return known


def as_units(load: WeightArray | RateArray) -> RateArray:
    """Return loads in units of display: bytes, bytes/s, cores, counts."""
    readable: RateArray = load / UNIT_ROW
    return readable
