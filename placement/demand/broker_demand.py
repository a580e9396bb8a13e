r"""
Demand of a load on any brokers that carry it, in any placement.

A fleet is a set of brokers with capacities, in racks. For each resource, :math:`u` with
:math:`\sum_k \min(u C_k, L_k) = W` is a lower bound on the use of the fullest survivor
in any placement. ``C`` is the capacity left in rack ``k``, and ``L`` the most that the
rack can hold by the rack rule. The cases are no loss, the loss of each broker, and the
loss of each rack. A fleet for which some :math:`u` exceeds its threshold is infeasible.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.array_types import IndexArray, RateArray
from placement.failures.survivor_loads import MOST_RACKS, Pools, even_levels
from placement.model.cluster import ABSENT, UNKNOWN, ClusterState
from placement.model.load import RESOURCES, UNIT_ROW, Resource, weigh

SIZED = (Resource.DISK, Resource.IN, Resource.OUT, Resource.CPU)
COLUMNS = [RESOURCES.index(resource) for resource in SIZED]
HELD = 2
"""Number of leading resources in `SIZED` with a load on every replica."""
MOST_EACH = 20
"""Upper limit, exclusive, of the items per bin in the counting bounds."""
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Demand:
    """
    Load to carry.

    Parameters
    ----------
    total
        ``(4,)`` total load of disk, in, out, cpu, in display units.
    items
        Loads of single replicas per resource, largest first; those of leaders include
        the load of leadership.
    factors, factor_weight
        ``(F,)`` distinct replication factors, and ``(F, 2)`` disk and in load of one
        replica of every partition of each factor.
    replicas
        Number of replicas.
    is_known
        ``(4,)`` true for resources known well enough to size by.
    """

    total: RateArray
    items: tuple[RateArray, ...]
    factors: npt.NDArray[np.int64]
    factor_weight: RateArray
    replicas: int
    is_known: npt.NDArray[np.bool_]

    @property
    def largest_factor(self) -> int:
        """Largest replication factor."""
        return int(self.factors.max(initial=0))


def demand_of(state: ClusterState, least_known: float = 0.95) -> Demand:
    """
    Return the demand of a cluster's partitions on any brokers.

    Parameters
    ----------
    state
        Cluster with the load, in any placement.
    least_known
        Minimum fraction of partitions with a known load for a resource to size by.
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
    # A replica that stays on its broker may be smaller than a new copy.
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
    Brokers that may carry a load.

    Parameters
    ----------
    capacity
        ``(N, 4)`` capacity for disk, in, out, cpu in display units; infinite without a
        limit.
    rack_idx
        ``(N,)`` rack of each broker, from 0.
    max_replicas
        ``(N,)`` maximum number of replicas of each broker; infinite without a limit.
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
    """Return equal brokers, in turn over the racks; `num_racks` 0: one rack each."""
    return Fleet(
        capacity=np.tile(capacity, (count, 1)),
        rack_idx=(np.arange(count) % (num_racks or max(count, 1))).astype(np.int32),
        max_replicas=np.full(count, max_replicas),
    )


@dataclass(frozen=True, slots=True)
class Need:
    """
    Lower bound on the use of a fleet, and its threshold.

    Parameters
    ----------
    lost
        Kind of loss: none (""), ``broker`` or ``rack``.
    idx
        Row of the lost broker or rack; -1 for none.
    resource
        Name of the resource, or ``replicas``.
    level
        Lower bound on the use of the fullest survivor, as a fraction of its capacity.
    threshold
        Usable fraction of the capacity.
    """

    lost: str
    idx: int
    resource: str
    level: float
    threshold: float

    @property
    def is_met(self) -> bool:
        """Whether the level is within the threshold."""
        return self.level <= self.threshold * (1 + TOLERANCE)

    @property
    def strain(self) -> float:
        """Ratio of the level to the threshold."""
        return self.level / self.threshold if self.threshold else np.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """
    Requirements on a fleet.

    Parameters
    ----------
    thresholds
        Usable fraction of each capacity.
    survives
        Kinds of loss, of ``broker`` and ``rack``, that the others must be able to
        rebuild.
    """

    thresholds: Mapping[Resource, float]
    survives: frozenset[str] = frozenset({"broker", "rack"})

    def threshold(self, y: int) -> float:
        """Return the threshold of a column of `SIZED`."""
        return float(self.thresholds.get(SIZED[y], 1.0))


def needs_of(demand: Demand, fleet: Fleet, wanted: Wanted) -> list[Need]:
    """Return the worst need per resource and kind of loss, hardest first."""
    found = []
    for lost, gone in _cases(fleet, wanted.survives):
        brokers_in, left = _left_in_racks(fleet, gone)
        for y in range(len(SIZED)):
            if not demand.is_known[y] or not np.isfinite(fleet.capacity[:, y]).all():
                continue
            if lost and SIZED[y] is Resource.CPU:
                # Survivors have less CPU load until all replicas are rebuilt.
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
    """Return kinds of loss, with ``(X, N)`` true for the brokers of each loss."""
    cases = [("", np.zeros((1, len(fleet)), dtype=np.bool_))]
    if "broker" in survives:
        # Losses of brokers of one rack and capacity are equivalent.
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
    Return a lower bound on the bins that items need, and the kind of its proof.

    Parameters
    ----------
    items
        Weights, largest first.
    size
        Size of a bin, in the unit of `items`. Positive.

    Notes
    -----
    The bound :math:`L_2`: for :math:`\alpha \le 1/2`, each item above 1/2 of a bin has
    a bin of its own. Items above :math:`1 - \alpha` leave no room for others of at
    least :math:`\alpha`, and the remaining items fill the room in the other bins first
    [1]_. Further bounds use the dual feasible functions :math:`u^{(k)}(x) =
    \lfloor (k+1) x \rfloor / k`, and :math:`x` itself where :math:`(k+1) x` is an
    integer [2]_, for :math:`k = 1, 2, \ldots`: at most :math:`k` items above
    :math:`1/(k+1)` of a bin fit into it. The values of items that fit into a bin add up
    to at most 1, so the sum over all items is a lower bound on the bins.

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
    # Of all alpha with the same lone items, the smallest counts most of the others.
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
    """Return the bound by `u_k` for items as fractions of a bin, largest first."""
    large = part[: int(np.searchsorted(-part, -1 / (k + 1), side="right"))]
    scaled = (k + 1) * large
    whole = np.floor(scaled)
    value = np.where(np.equal(scaled, whole), large, whole / k)
    return int(np.ceil(float(value.sum()) - 1e-6))


def capacity_of(
    disk_bytes: float, in_rate: float, out_rate: float, cpu_cores: float
) -> RateArray:
    """Return ``(4,)`` capacities; unknown ones are infinite."""
    given = np.array([disk_bytes, in_rate, out_rate, cpu_cores], dtype=np.float64)
    return np.where(np.isfinite(given) & (given > 0), given, np.inf)


def fleet_of(state: ClusterState, leaving: frozenset[int] = frozenset()) -> Fleet:
    """Return the live brokers of a cluster that do not leave, as a fleet."""
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
