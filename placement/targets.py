r"""
The share of the load that each broker should have, and the band around it.

Formulas of interface.md, "Loads, targets, bands". With :math:`W` the load on the
brokers that count (``A``), :math:`C_b` capacities and :math:`L_k` the most that rack
``k`` can hold, :math:`u` solves :math:`\sum_k \min(u C_k, L_k) = W` and
:math:`T_b = C_b \min(u, L_k / C_k)`: water poured into racks until those that are full
by the rack rule take no more.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.cluster import UNKNOWN, BoolArray, ClusterState, RateArray
from placement.load import (
    LEADING,
    RESOURCES,
    UNITS,
    Resource,
    WeightArray,
    Weights,
    fixed_disk_bytes,
)

DEFAULT_BAND = 0.10
COUNTS = (Resource.REPLICAS, Resource.LEADERS)
TOLERANCE = 1e-9
"""Relative slack of float comparisons: a band's end itself is inside the band."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Members:
    """
    The brokers among which load is shared out.

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


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Targets:
    """
    Targets and bands of every broker, in integer units of load.

    Parameters
    ----------
    capacity
        ``(B, R)`` shares are proportional to these; 0 outside ``A``.
    target
        ``(B, R)`` floats; 0 where a broker does not count.
    lower, upper
        ``(B, R)`` floats. In band: ``lower <= load <= upper``.
    heaviest
        ``(B, R)`` the heaviest single replica on each broker.
    is_aside
        ``(B, R)`` true for brokers set aside for a replica heavier than their band.
    """

    capacity: RateArray
    target: RateArray
    lower: RateArray
    upper: RateArray
    heaviest: WeightArray
    is_aside: BoolArray

    def deviation(self, load: WeightArray) -> RateArray:
        """Return ``(B, R)`` ``load / target - 1``; 0 where the target is 0."""
        has_target = self.target > 0
        unit = np.where(has_target, self.target, 1.0)
        return np.where(has_target, load / unit - 1, 0.0)

    def outside(self, load: WeightArray) -> RateArray:
        """Return ``(B, R)`` distance outside the band, in targets; 0 inside."""
        slack = TOLERANCE * np.maximum(self.target, 1.0)
        off = np.maximum(load - self.upper, self.lower - load)
        unit = np.where(self.target > 0, self.target, 1.0)
        return np.where((off > slack) & (self.target > 0), off / unit, 0.0)

    def is_out(self, load: WeightArray) -> BoolArray:
        """Return ``(B, R)`` true where a load lies outside its band."""
        return self.outside(load) > 0


def rack_limit(
    replication_factor: npt.NDArray[np.int64], brokers_in_rack: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    r"""
    Return the most replicas of a partition that the rack rule lets a rack hold.

    Parameters
    ----------
    replication_factor
        ``(P,)`` of each partition.
    brokers_in_rack
        ``(K,)`` brokers of each rack among those that count.

    Returns
    -------
    ``(P,)`` the least :math:`\kappa` with
    :math:`\sum_k \min(\kappa, n_k) \ge RF`; the largest rack where none is enough.
    """
    largest = int(brokers_in_rack.max(initial=0))
    steps = np.arange(largest + 1)
    room = np.minimum(steps[:, None], brokers_in_rack[None, :]).sum(axis=1)
    limit = np.searchsorted(room, replication_factor)
    return np.minimum(limit, largest).astype(np.int64)


def share_capacities(state: ClusterState, members: Members) -> npt.NDArray[np.float64]:
    """Return ``(B, R)`` what shares are proportional to, as interface.md defines."""
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
    Brokers among which the load of some partitions is shared out by itself.

    Parameters
    ----------
    holds
        ``(B,)`` the brokers.
    rack_most
        ``(K, R)`` the most of each resource that a rack can hold of it.
    total
        ``(R,)`` the load; `None`: what the brokers hold now.
    """

    holds: BoolArray
    rack_most: RateArray
    total: RateArray | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Shares:
    """
    What shares are computed from, whatever the placement.

    Parameters
    ----------
    members
        The brokers that count.
    capacity
        ``(B, R)`` what shares are proportional to.
    rack_idx
        ``(B,)`` rack of each broker.
    rack_most
        ``(K, R)`` the most of each resource that a rack can hold.
    bands
        ``(R,)`` width of the bands, as fractions.
    pools
        Sets of brokers that share load out each by itself; none: all together.
    """

    members: Members
    capacity: RateArray
    rack_idx: npt.NDArray[np.int32]
    rack_most: RateArray
    bands: RateArray
    pools: tuple[Pool, ...] = ()

    @property
    def every_pool(self) -> tuple[Pool, ...]:
        """The pools, or one of all brokers."""
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
) -> Shares:
    """
    Return what targets are computed from, for one cluster and one choice of A.

    Parameters
    ----------
    state, weights
        The cluster, and what its replicas weigh.
    members
        The brokers that count.
    bands
        Width of the bands by resource.
    pools
        ``(B,)`` and ``(P,)`` which pool brokers and partitions belong to; `None`:
        all are one.
    spreads_racks
        Whether the rack rule holds, which limits what a rack can hold.
    """
    limit = rack_limit if spreads_racks else _brokers_alone
    every = np.ones(state.num_partitions, dtype=np.bool_)
    return Shares(
        members=members,
        capacity=share_capacities(state, members),
        rack_idx=state.brokers.rack_idx,
        rack_most=_rack_most(state, weights, members.holds, every, limit),
        bands=np.array([bands.get(resource, DEFAULT_BAND) for resource in RESOURCES]),
        pools=()
        if pools is None
        else tuple(_pools(state, weights, members, pools, limit)),
    )


RackLimit = Callable[
    [npt.NDArray[np.int64], npt.NDArray[np.int64]], npt.NDArray[np.int64]
]


def _brokers_alone(
    replication_factor: npt.NDArray[np.int64], brokers_in_rack: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return ``(P,)`` the most replicas in a rack where only its brokers limit it."""
    largest = int(brokers_in_rack.max(initial=0))
    return np.minimum(replication_factor, largest).astype(np.int64)


def _rack_most(
    state: ClusterState,
    weights: Weights,
    holds: BoolArray,
    chosen: BoolArray,
    rack_limit: RackLimit,
) -> RateArray:
    """Return ``(K, R)`` the most that racks can hold of chosen partitions."""
    in_rack = np.bincount(state.brokers.rack_idx[holds], minlength=state.num_racks)
    limit = rack_limit(state.replication_factor, in_rack)
    most = np.zeros((state.num_racks, len(RESOURCES)))
    most[:, LEADING] = np.inf
    for value in np.unique(limit[chosen]):
        here = np.equal(limit, value) & chosen
        for r in np.nonzero(~LEADING)[0]:
            held = float(weights.replica[here, r].sum())
            most[:, r] += held * np.minimum(value, in_rack)
    # The leader's extra load is not spread by the rack rule.
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
    fixed, factor = fixed_disk_bytes(state), state.replication_factor
    for pool in np.unique(of_broker[members.holds]).tolist():
        holds = members.holds & np.equal(of_broker, pool)
        chosen = np.equal(of_partition, pool)
        total = (weights.replica[chosen] * factor[chosen, None]).sum(axis=0)
        total = (total + weights.leader[chosen].sum(axis=0)).astype(np.float64)
        total[0] += float(fixed[holds].sum())
        rack_most = _rack_most(state, weights, holds, chosen, limit)
        yield Pool(holds=holds, rack_most=rack_most, total=total)


def find_targets(
    shares: Shares,
    load: WeightArray,
    heaviest: WeightArray,
    incoming: WeightArray | None = None,
) -> Targets:
    """
    Compute targets and bands for loads.

    Parameters
    ----------
    shares
        What does not depend on the placement.
    load
        ``(B, R)`` loads of the brokers; their sum over A is shared out.
    heaviest
        ``(B, R)`` the heaviest single replica on each broker.
    incoming
        ``(R,)`` load on brokers outside A that must move to A, shared out with it.

    Notes
    -----
    A broker with a replica heavier than its band is set aside with its load; for the
    counts, where every replica weighs one, floor and ceiling of the target do instead.
    """
    if incoming is None:
        incoming = np.zeros(load.shape[1], dtype=np.int64)
    target = np.zeros(load.shape)
    is_aside = np.zeros(load.shape, dtype=np.bool_)
    for r in range(load.shape[1]):
        heavy = heaviest[:, r] * (RESOURCES[r] not in COUNTS)
        target[:, r], is_aside[:, r] = _targets_of(
            shares, load[:, r], heavy, int(incoming[r]), r
        )
    band = shares.bands[None, :]
    lower = (1 - band) * target
    upper = np.maximum(target, heaviest) + band * target
    for r, resource in enumerate(RESOURCES):
        if resource in COUNTS:
            lower[:, r] = np.minimum(lower[:, r], _floor(target[:, r]))
            upper[:, r] = np.maximum(upper[:, r], _ceil(target[:, r]))
    return Targets(
        capacity=shares.capacity,
        target=target,
        lower=lower,
        upper=upper,
        heaviest=heaviest,
        is_aside=is_aside,
    )


def _floor(values: RateArray) -> RateArray:
    return np.floor(values + TOLERANCE * np.maximum(values, 1.0))


def _ceil(values: RateArray) -> RateArray:
    return np.ceil(values - TOLERANCE * np.maximum(values, 1.0))


def _targets_of(
    shares: Shares, load: WeightArray, heaviest: WeightArray, incoming: int, r: int
) -> tuple[RateArray, BoolArray]:
    """Share one resource out; brokers with too heavy a replica keep what they have."""
    target = np.zeros(len(load))
    aside = np.zeros(len(load), dtype=np.bool_)
    for pool in shares.every_pool:
        given = None if pool.total is None else float(pool.total[r])
        member = shares.members.of(r) & pool.holds
        kept = np.zeros_like(aside)
        while True:
            if given is None:
                total = float(load[member].sum()) + incoming
            else:
                total = max(given - float(load[kept].sum()), 0.0)
            poured = _pour(shares, pool, load, total, (member, kept), r)
            target[member] = poured[member]
            too_heavy = member & (load > 0)
            too_heavy &= heaviest > (1 + shares.bands[r]) * target
            if not too_heavy.any():
                break
            kept |= too_heavy
            member &= ~too_heavy
        target[kept] = load[kept]
        aside |= kept
    return target, aside


def _pour(
    shares: Shares,
    pool: Pool,
    load: WeightArray,
    total: float,
    split: tuple[BoolArray, BoolArray],
    r: int,
) -> RateArray:
    """Fill racks with a load up to one level; return ``(B,)`` each broker's part."""
    member, aside = split
    num_racks = len(pool.rack_most)
    capacity = np.where(member, shares.capacity[:, r], 0.0)
    in_rack = np.bincount(shares.rack_idx, weights=capacity, minlength=num_racks)
    taken = np.bincount(
        shares.rack_idx, weights=np.where(aside, load, 0), minlength=num_racks
    )
    most = np.maximum(pool.rack_most[:, r] - taken, 0.0)
    level = _level(in_rack.astype(np.float64), most, total)
    unit = np.where(in_rack > 0, in_rack, 1.0)
    rack_level = np.where(in_rack > 0, np.minimum(level, most / unit), 0.0)
    poured: RateArray = capacity * rack_level[shares.rack_idx]
    return poured


def _level(capacity: RateArray, most: RateArray, total: float) -> float:
    r"""Solve :math:`\sum_k \min(u C_k, L_k) = W` for :math:`u`."""
    open_racks = np.nonzero(capacity > 0)[0]
    full_at = most[open_racks] / capacity[open_racks]
    order = open_racks[np.argsort(full_at, kind="stable")]
    left, width = total, float(capacity[order].sum())
    level = 0.0
    for rack in order:
        level = left / width
        if most[rack] >= level * capacity[rack] * (1 - TOLERANCE):
            return level
        left -= float(most[rack])
        width -= float(capacity[rack])
        if width <= 0:
            return np.inf
    return level
