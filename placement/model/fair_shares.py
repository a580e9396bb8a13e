"""
Inputs of fair shares: counted brokers, capacities, and limits of racks.

A rack can hold only as many replicas of a partition as the rack rule allows. The
resulting limit of each resource per rack is the level up to which
`placement.model.targets` fills the rack.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray, RateArray
from placement.model.cluster import UNKNOWN, ClusterState
from placement.model.disk_bytes import fixed_disk_bytes
from placement.model.load import (
    LEADING,
    RESOURCES,
    UNITS,
    Resource,
    WeightArray,
    Weights,
)

DEFAULT_BAND = 0.10
COUNTS = (Resource.REPLICAS, Resource.LEADERS)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Members:
    """
    The brokers that share the load.

    Parameters
    ----------
    holds
        ``(B,)`` brokers that count for replicas: ``A``.
    leads
        ``(B,)`` those of them that may lead.
    """

    holds: BoolArray
    leads: BoolArray

    def of(self, r: int) -> BoolArray:
        """Return ``(B,)`` the brokers that count for one resource."""
        return self.leads if LEADING[r] else self.holds


def rack_limit(
    replication_factor: npt.NDArray[np.int64], brokers_in_rack: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    r"""
    Return the most replicas of a partition that the rack rule allows in a rack.

    Parameters
    ----------
    replication_factor
        ``(P,)`` replication factor of each partition.
    brokers_in_rack
        ``(K,)`` number of brokers of each rack that count.

    Returns
    -------
    ``(P,)`` the least :math:`\kappa` with
    :math:`\sum_k \min(\kappa, n_k) \ge RF`; the size of the largest rack if none is
    sufficient.
    """
    largest = int(brokers_in_rack.max(initial=0))
    steps = np.arange(largest + 1)
    room = np.minimum(steps[:, None], brokers_in_rack[None, :]).sum(axis=1)
    limit = np.searchsorted(room, replication_factor)
    return np.minimum(limit, largest).astype(np.int64)


def share_capacities(state: ClusterState, members: Members) -> npt.NDArray[np.float64]:
    """Return ``(B, R)`` capacities for shares (docs/theory.md, "Fair share")."""
    brokers = state.brokers
    given = {
        Resource.DISK: _known(brokers.disk_bytes),
        Resource.IN: brokers.in_bytes_per_s,
        Resource.OUT: brokers.out_bytes_per_s,
        Resource.CPU: brokers.cpu_cores,
    }
    counted = [_known(brokers.max_replicas), given[Resource.DISK]]
    capacity = np.zeros((state.num_brokers, len(RESOURCES)))
    for r, resource in enumerate(RESOURCES):
        member = members.of(r)
        columns = [given[resource]] if resource in given else counted
        share = _first_known(columns, member)
        capacity[:, r] = np.where(member, share, 0.0) * UNITS[resource]
    return capacity


def _known(values: npt.NDArray[np.int64]) -> RateArray:
    return np.where(np.equal(values, UNKNOWN), np.nan, values.astype(np.float64))


def _first_known(columns: list[RateArray], member: BoolArray) -> RateArray:
    """Return the first column known and positive for every member, else ones."""
    for column in columns:
        of_members = column[member]
        if len(of_members) and np.all(np.isfinite(of_members) & (of_members > 0)):
            return np.where(np.isfinite(column), column, 0.0)
    return np.ones(len(member))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Pool:
    """
    Brokers that share the load of some partitions among themselves.

    Parameters
    ----------
    holds
        ``(B,)`` true for the brokers.
    rack_most
        ``(K, R)`` maximum load of each resource that a rack can hold.
    total
        ``(R,)`` the load; `None` for the present load of the brokers.
    """

    holds: BoolArray
    rack_most: RateArray
    total: RateArray | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Shares:
    """
    Inputs from which fair shares are computed, independent of the placement.

    Parameters
    ----------
    members
        The brokers that count.
    capacity
        ``(B, R)`` capacities to which shares are proportional.
    rack_idx
        ``(B,)`` rack of each broker.
    rack_most
        ``(K, R)`` maximum load of each resource that a rack can hold.
    bands
        ``(R,)`` width of the bands, as fractions.
    pools
        Sets of brokers that each share their own load; empty if all brokers share one.
    has_plain_counts
        Whether replicas and leaders are shared equally, independent of capacities, in
        bands with ends rounded outwards, as Cruise Control's are.
    """

    members: Members
    capacity: RateArray
    rack_idx: npt.NDArray[np.int32]
    rack_most: RateArray
    bands: RateArray
    pools: tuple[Pool, ...] = ()
    has_plain_counts: bool = False

    @property
    def every_pool(self) -> tuple[Pool, ...]:
        """The pools, or one pool of all brokers."""
        whole = Pool(holds=self.members.holds, rack_most=self.rack_most)
        return self.pools or (whole,)


def share_out(
    state: ClusterState,
    weights: Weights,
    members: Members,
    bands: Mapping[Resource, float],
    pools: tuple[WeightArray, WeightArray] | None = None,
    *,
    spreads_racks: bool = True,
    has_plain_counts: bool = False,
) -> Shares:
    """
    Return the inputs of fair shares for one cluster and one choice of ``A``.

    Parameters
    ----------
    state, weights
        The cluster, and the weights of its replicas.
    members
        The brokers that count.
    bands
        Width of the bands by resource.
    pools
        ``(B,)`` and ``(P,)`` pool of each broker and partition; `None` for one pool.
    spreads_racks
        Whether the rack rule holds, which limits the load of a rack.
    has_plain_counts
        Value of this field in `Shares`.
    """
    capacity = share_capacities(state, members)
    if has_plain_counts:
        for r in (RESOURCES.index(resource) for resource in COUNTS):
            capacity[:, r] = members.of(r)
    limit = rack_limit if spreads_racks else _brokers_alone
    every = np.ones(state.num_partitions, dtype=np.bool_)
    return Shares(
        members=members,
        capacity=capacity,
        rack_idx=state.brokers.rack_idx,
        rack_most=_rack_most(state, weights, members.holds, every, limit),
        bands=np.array([bands.get(resource, DEFAULT_BAND) for resource in RESOURCES]),
        pools=()
        if pools is None
        else tuple(_pools(state, weights, members, pools, limit)),
        has_plain_counts=has_plain_counts,
    )


RackLimit = Callable[
    [npt.NDArray[np.int64], npt.NDArray[np.int64]], npt.NDArray[np.int64]
]


def _brokers_alone(
    replication_factor: npt.NDArray[np.int64], brokers_in_rack: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return ``(P,)`` the most replicas in a rack limited only by its brokers."""
    largest = int(brokers_in_rack.max(initial=0))
    return np.minimum(replication_factor, largest).astype(np.int64)


def _rack_most(
    state: ClusterState,
    weights: Weights,
    holds: BoolArray,
    chosen: BoolArray,
    rack_limit: RackLimit,
) -> RateArray:
    """Return ``(K, R)`` the maximum load of chosen partitions in each rack."""
    in_rack = np.bincount(state.brokers.rack_idx[holds], minlength=state.num_racks)
    limit = rack_limit(state.replication_factor, in_rack)
    most = np.zeros((state.num_racks, len(RESOURCES)))
    most[:, LEADING] = np.inf
    for value in np.unique(limit[chosen]):
        here = np.equal(limit, value) & chosen
        for r in np.nonzero(~LEADING)[0]:
            held = float(weights.replica[here, r].sum())
            most[:, r] += held * np.minimum(value, in_rack)
    # The rack rule does not spread the additional load of leaders.
    cpu = RESOURCES.index(Resource.CPU)
    most[:, cpu] += float(weights.leader[chosen, cpu].sum())
    most[:, 0] += np.bincount(
        state.brokers.rack_idx,
        weights=fixed_disk_bytes(state) * holds,
        minlength=state.num_racks,
    )
    return most


def _pools(
    state: ClusterState,
    weights: Weights,
    members: Members,
    pools: tuple[WeightArray, WeightArray],
    limit: RackLimit,
) -> Iterator[Pool]:
    """Yield a pool for each set of brokers that counts."""
    of_broker, of_partition = pools
    # Replicas that are being added have weights too.
    fixed, count = fixed_disk_bytes(state), state.num_replicas
    for pool in np.unique(of_broker[members.holds]).tolist():
        holds = members.holds & np.equal(of_broker, pool)
        chosen = np.equal(of_partition, pool)
        total = (weights.replica[chosen] * count[chosen, None]).sum(axis=0)
        total = (total + weights.leader[chosen].sum(axis=0)).astype(np.float64)
        total[0] += float(fixed[holds].sum())
        rack_most = _rack_most(state, weights, holds, chosen, limit)
        yield Pool(holds=holds, rack_most=rack_most, total=total)
