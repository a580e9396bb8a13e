r"""
What a load asks of any brokers that carry it, wherever its replicas lie.

A fleet is a number of brokers with capacities, in racks. For the fleet as it is, for
the loss of each broker and of each rack, and for each resource, :math:`u` with
:math:`\sum_k \min(u C_k, L_k) = W` is the least use of the fullest survivor that any
placement reaches: ``C`` the capacity left in rack ``k``, ``L`` the most that it can
hold by the rack rule. A fleet for which some :math:`u` exceeds its threshold cannot do.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.failures.survivor_loads import MOST_RACKS, Pools, even_levels
from placement.model.cluster import ABSENT, UNKNOWN, ClusterState, IndexArray, RateArray
from placement.model.load import RESOURCES, UNIT_ROW, Resource, weigh

SIZED = (Resource.DISK, Resource.IN, Resource.OUT, Resource.CPU)
COLUMNS = [RESOURCES.index(resource) for resource in SIZED]
HELD = 2
"""The first so many of `SIZED` lie on every replica; racks limit where."""
MOST_EACH = 20
"""Bins are counted by how many items fit into one, up to so many."""
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Demand:
    """
    What is to be carried.

    Parameters
    ----------
    total
        ``(4,)`` of disk, in, out, cpu, in units people read.
    items
        Per resource the weights of everything that lies on one broker as a whole,
        largest first: replicas, leading ones with what leading adds.
    factors, factor_weight
        ``(F,)`` the replication factors there are, and ``(F, 2)`` disk and in of one
        replica of every partition of each.
    replicas
        How many there are.
    is_known
        ``(4,)`` whether enough is known to size by a resource.
    """

    total: RateArray
    items: tuple[RateArray, ...]
    factors: npt.NDArray[np.int64]
    factor_weight: RateArray
    replicas: int
    is_known: npt.NDArray[np.bool_]

    @property
    def largest_factor(self) -> int:
        """The largest replication factor."""
        return int(self.factors.max(initial=0))


def demand_of(state: ClusterState, least_known: float = 0.95) -> Demand:
    """
    Return what the partitions of a cluster ask of any brokers.

    Parameters
    ----------
    state
        The cluster; where its replicas lie does not matter.
    least_known
        A resource known for less than this fraction of the partitions is not sized by.
    """
    weights = weigh(state)
    count, of = state.num_replicas, state.replicas.partition_idx
    factors, at = np.unique(state.replication_factor, return_inverse=True)
    factor_weight = np.zeros((len(factors), HELD))
    units = UNIT_ROW[COLUMNS[:HELD]]
    np.add.at(factor_weight, at, weights.replica[:, COLUMNS[:HELD]] / units)
    items, total = [], np.zeros(len(SIZED))
    for y, r in enumerate(COLUMNS):
        lead = (weights.replica[:, r] + weights.leader[:, r]).astype(np.float64)
        follow = np.repeat(weights.replica[:, r], np.maximum(count - 1, 0))
        each = np.concatenate([lead, follow]) / UNIT_ROW[r]
        items.append(-np.sort(-each))
        total[y] = each.sum()
    # A replica that stays where it is may be smaller than a copy of it would be.
    own = state.replicas.own_bytes
    spared = np.where(own == UNKNOWN, 0, weights.replica[of, 0] - own)
    total[0] -= float(np.maximum(spared, 0).sum())
    known = weights.is_known.mean(axis=0) if state.num_partitions else np.ones(6)
    return Demand(
        total=total,
        items=tuple(items),
        factors=factors.astype(np.int64),
        factor_weight=factor_weight,
        replicas=len(of),
        is_known=known[COLUMNS] >= least_known,
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Fleet:
    """
    Brokers that may carry it.

    Parameters
    ----------
    capacity
        ``(N, 4)`` of disk, in, out, cpu in units people read; infinite where a broker
        has no limit.
    rack_idx
        ``(N,)`` rack of each, from 0.
    max_replicas
        ``(N,)`` most replicas of each, infinite where there is no limit.
    """

    capacity: RateArray
    rack_idx: IndexArray
    max_replicas: RateArray

    def __len__(self) -> int:
        return len(self.rack_idx)

    @property
    def num_racks(self) -> int:
        """Number of racks."""
        return int(self.rack_idx.max(initial=-1)) + 1


def even_fleet(
    capacity: RateArray, count: int, num_racks: int, max_replicas: float = np.inf
) -> Fleet:
    """Return brokers that are all the same, in turn over the racks; 0: one each."""
    return Fleet(
        capacity=np.tile(capacity, (count, 1)),
        rack_idx=(np.arange(count) % (num_racks or max(count, 1))).astype(np.int32),
        max_replicas=np.full(count, max_replicas),
    )


@dataclass(frozen=True, slots=True)
class Need:
    """
    How far a fleet is used at least.

    Parameters
    ----------
    lost
        What is lost: nothing (""), ``broker`` or ``rack``.
    idx
        Row of the broker or rack lost; -1 for nothing.
    resource
        Name, or ``replicas``.
    level
        Least use of the fullest survivor, as a fraction of its capacity.
    threshold
        What it may be used.
    """

    lost: str
    idx: int
    resource: str
    level: float
    threshold: float

    @property
    def is_met(self) -> bool:
        """Whether the level keeps to the threshold."""
        return self.level <= self.threshold * (1 + TOLERANCE)

    @property
    def strain(self) -> float:
        """The level in thresholds."""
        return self.level / self.threshold if self.threshold else np.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """
    What a fleet has to stand.

    Parameters
    ----------
    thresholds
        Fraction of each capacity that may be used.
    survives
        Some of ``broker`` and ``rack``: what may be lost, and rebuilt on the others.
    """

    thresholds: Mapping[Resource, float]
    survives: frozenset[str] = frozenset({"broker", "rack"})

    def threshold(self, y: int) -> float:
        """Return the threshold of a column of `SIZED`."""
        return float(self.thresholds.get(SIZED[y], 1.0))


def needs_of(demand: Demand, fleet: Fleet, wanted: Wanted) -> list[Need]:
    """Return the worst need of each resource and each kind of loss, hardest first."""
    found = []
    for lost, gone in _cases(fleet, wanted.survives):
        brokers_in, left = _left_in_racks(fleet, gone)
        for y in range(len(SIZED)):
            if not demand.is_known[y] or not np.isfinite(fleet.capacity[:, y]).all():
                continue
            if lost and SIZED[y] is Resource.CPU:
                # Survivors carry less of it until all is rebuilt.
                continue
            level = _levels(demand, brokers_in, left[:, :, y], y)
            worst = int(np.argmax(level))
            found.append(
                Need(
                    lost=lost,
                    idx=worst if lost else ABSENT,
                    resource=str(SIZED[y]),
                    level=float(level[worst]),
                    threshold=wanted.threshold(y),
                )
            )
    most = fleet.max_replicas.sum()
    if np.isfinite(most):
        part = demand.replicas / float(most) if most else np.inf
        found.append(Need("", ABSENT, "replicas", part, 1.0))
    return sorted(found, key=lambda need: -need.strain)


def _cases(
    fleet: Fleet, survives: frozenset[str]
) -> list[tuple[str, npt.NDArray[np.bool_]]]:
    """Return kinds of loss, and ``(X, N)`` which brokers each takes."""
    cases = [("", np.zeros((1, len(fleet)), dtype=np.bool_))]
    if "broker" in survives:
        # Brokers of one rack and capacity are lost alike.
        kinds = np.column_stack([fleet.rack_idx, fleet.capacity])
        _, first = np.unique(kinds, axis=0, return_index=True)
        gone = np.zeros((len(first), len(fleet)), dtype=np.bool_)
        gone[np.arange(len(first)), first] = True
        cases.append(("broker", gone))
    if "rack" in survives:
        racks = np.arange(fleet.num_racks)[:, None]
        cases.append(("rack", np.equal(racks, fleet.rack_idx[None, :])))
    return cases


def _left_in_racks(
    fleet: Fleet, gone: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.int64], RateArray]:
    """Return ``(X, K)`` brokers and ``(X, K, 4)`` capacity left in each rack."""
    stays = ~gone
    brokers = np.zeros((len(gone), fleet.num_racks), dtype=np.int64)
    capacity = np.zeros((len(gone), fleet.num_racks, len(SIZED)))
    for k in range(fleet.num_racks):
        here = np.equal(fleet.rack_idx, k)
        brokers[:, k] = stays[:, here].sum(axis=1)
        each = fleet.capacity[here]
        for y in range(len(SIZED)):
            kept = np.where(stays[:, here], each[:, y], 0.0)
            capacity[:, k, y] = kept.sum(axis=1)
    return brokers, capacity


def _levels(
    demand: Demand, brokers_in: npt.NDArray[np.int64], left: RateArray, y: int
) -> RateArray:
    total = np.full(len(left), demand.total[y])
    if y >= HELD:
        whole = left.sum(axis=1)
        use = np.full(len(whole), np.inf)
        np.divide(total, whole, out=use, where=whole > 0)
        return use
    num_racks = left.shape[1]
    pools = Pools(
        of_broker=np.zeros(0, dtype=np.int32),
        num=num_racks,
        factors=demand.factors if num_racks <= MOST_RACKS else demand.factors[:0],
        weight=demand.factor_weight,
        fixed=np.zeros(num_racks),
    )
    level = even_levels(pools, brokers_in, left, total, y)
    return np.where(np.isnan(level), np.inf, level)


def bins_needed(items: RateArray, size: float) -> tuple[int, str]:
    r"""
    Return how many bins items need at least, and what proves it.

    Parameters
    ----------
    items
        Weights, largest first.
    size
        Of a bin. Positive.

    Notes
    -----
    The bound :math:`L_2`: for :math:`\alpha \le 1/2`, items above :math:`1 - \alpha`
    have a bin each, those above 1/2 too, and what is at least :math:`\alpha` fills what
    these leave [1]_. And for :math:`k = 1, 2, \ldots`, where :math:`k` items above
    :math:`1/(k+1)` of a bin fill it, the dual feasible functions :math:`u^{(k)}(x) =
    \lfloor (k+1) x \rfloor / k`, and :math:`x` itself where :math:`(k+1) x` is whole
    [2]_: whatever fits into a bin adds up to 1 at most, so that their sum bounds the
    bins.

    References
    ----------
    .. [1] Martello, S., Toth, P. (1990). Lower bounds and reduction procedures for the
           bin packing problem. *Discrete Applied Mathematics* 28(1): 59-70.
           https://doi.org/10.1016/0166-218X(90)90094-S
    .. [2] Fekete, S. P., Schepers, J. (2001). New classes of fast lower bounds for bin
           packing problems. *Mathematical Programming* 91(1): 11-31.
           https://doi.org/10.1007/s101070100243

    Examples
    --------
    >>> bins_needed(np.array([6.0, 6.0, 6.0, 1.0]), 10.0)
    (3, 'pigeonhole')
    """
    part = np.minimum(items / size * (1 - TOLERANCE), 1.0)
    volume = int(np.ceil(part.sum() * (1 - TOLERANCE)))
    running = np.concatenate([[0.0], np.cumsum(part)])
    above_half = int(np.searchsorted(-part, -0.5, side="left"))
    best = volume
    # Of all numbers that leave the same items alone the least counts most of the rest.
    candidates = np.concatenate([1 - part[:above_half], part[part > 0][-1:]])
    for alpha in np.unique(candidates[(candidates > 0) & (candidates <= 0.5)]).tolist():
        alone = int(np.searchsorted(-part, -(1 - alpha), side="left"))
        small = int(np.searchsorted(-part, -alpha, side="right"))
        middle = running[above_half] - running[alone]
        room = (above_half - alone) - middle
        rest = running[small] - running[above_half] - room
        best = max(best, above_half + max(int(np.ceil(rest - 1e-6)), 0))
    best = max(best, above_half, *(_counted_bins(part, k) for k in range(2, MOST_EACH)))
    return best, "volume" if best == volume else "pigeonhole"


def _counted_bins(part: RateArray, k: int) -> int:
    """Return the bins that items (as parts of one, largest first) need by `u_k`."""
    large = part[: int(np.searchsorted(-part, -1 / (k + 1), side="right"))]
    scaled = (k + 1) * large
    whole = np.floor(scaled)
    value = np.where(np.equal(scaled, whole), large, whole / k)
    return int(np.ceil(float(value.sum()) - 1e-6))


def capacity_of(
    disk_bytes: float, in_rate: float, out_rate: float, cpu_cores: float
) -> RateArray:
    """Return ``(4,)`` capacities; what is unknown has no limit."""
    given = np.array([disk_bytes, in_rate, out_rate, cpu_cores], dtype=np.float64)
    return np.where(np.isfinite(given) & (given > 0), given, np.inf)


def fleet_of(state: ClusterState, leaving: frozenset[int] = frozenset()) -> Fleet:
    """Return the live brokers of a cluster as a fleet."""
    brokers = state.brokers
    stays = brokers.is_live & ~np.isin(brokers.ids, sorted(leaving))
    rows = np.nonzero(stays)[0]
    _, rack = np.unique(brokers.rack_idx[rows], return_inverse=True)
    capacity = [
        capacity_of(
            float(brokers.disk_bytes[b]),
            float(brokers.in_bytes_per_s[b]),
            float(brokers.out_bytes_per_s[b]),
            float(brokers.cpu_cores[b]),
        )
        for b in rows
    ]
    most = brokers.max_replicas[rows].astype(np.float64)
    return Fleet(
        capacity=np.array(capacity, dtype=np.float64).reshape(-1, len(SIZED)),
        rack_idx=np.asarray(rack).reshape(-1).astype(np.int32),
        max_replicas=np.where(most == UNKNOWN, np.inf, most),
    )
