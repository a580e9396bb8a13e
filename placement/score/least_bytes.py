r"""
Lower bound on the bytes to move until every broker is in its bands.

This is the cover bound of `placement.core.bounds.cover_bounds`, for bytes and before
any plan. A broker over its band by :math:`e` in some resource must lose replicas with a
total load of :math:`e`, and a broker under its band must gain such replicas. By weak
duality of the fractional knapsack, for any :math:`\lambda \ge 0`, these have at least

.. math::

    \lambda e - \sum_i \max(0, \lambda w_i - c_i)

bytes. With replicas sorted by :math:`c_i / w_i`, prefix sums give the best
:math:`\lambda` of every broker at once, so a million replicas take a fraction of a
second. Brokers lose and gain distinct replicas, so their bounds add up.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from placement.array_types import IndexArray
from placement.core.model.problem import Limits, Movability
from placement.draft.draft import Draft
from placement.model.load import RESOURCES, Resource, WeightArray, first_live_replica
from placement.model.targets import Targets
from placement.rules.hard_levels import broker_limits

_ROUNDING = 1e-12
"""Relative rounding error of a bound, which is subtracted from it."""


_EVEN = 1e-9
"""Largest relative difference of shares that are alike."""


@dataclass(frozen=True, slots=True, eq=False)
class _Cover:
    """Prefix sums of items in the order of bytes per weight."""

    weight: npt.NDArray[np.float64]
    cost: npt.NDArray[np.float64]
    ratio: npt.NDArray[np.float64]

    @classmethod
    def of(cls, weight: WeightArray, cost: WeightArray) -> Self:
        rows = np.nonzero(weight > 0)[0]
        w, c = weight[rows].astype(np.float64), cost[rows].astype(np.float64)
        ratio = c / w
        order = np.argsort(ratio, kind="stable")
        return cls(np.cumsum(w[order]), np.cumsum(c[order]), ratio[order])

    def least(self, excess: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return a lower bound on the bytes that cover each excess."""
        if not len(self.weight):
            return np.zeros(len(excess))
        last = np.minimum(np.searchsorted(self.weight, excess), len(self.weight) - 1)
        value = self.cost[last] + self.ratio[last] * (excess - self.weight[last])
        least: npt.NDArray[np.float64] = np.where(excess > 0, value, 0.0)
        return np.maximum(least, 0.0)


def least_bytes(draft: Draft, targets: Targets, balanced: tuple[Resource, ...]) -> int:
    """
    Return a lower bound on the bytes of any plan with every broker in its bands.

    Parameters
    ----------
    draft
        Draft with the operation and all rules filled in, which decide what may move.
    targets
        Bands of the brokers.
    balanced
        Resources with a band.

    Returns
    -------
    Bytes. Replicas that must move, whatever the bands, count in full.
    """
    limits = broker_limits(draft, targets, balanced)
    leaving = _leaving(draft, limits)
    arriving = _arriving(draft, limits)
    return int(max(leaving, arriving) * (1 - _ROUNDING))


def drifting_bands(draft: Draft, targets: Targets) -> Targets:
    """
    Widen the disk bands by what copies may change of all sizes together.

    A copy has the size of the leader, the replica that it replaces may have another
    one. So the disk load of a plan, and with it every target, may differ from that of
    now. Where no rack or set of brokers limits a share, targets shrink in proportion;
    else one broker may lose, or gain, the whole difference.
    """
    own = draft.weights.own
    if not len(own):
        return targets
    changes = own[np.not_equal(draft.movability, Movability.NEVER)].astype(np.float64)
    shrinks, grows = np.maximum(changes, 0).sum(), np.maximum(-changes, 0).sum()
    disk = RESOURCES.index(Resource.DISK)
    target, capacity = targets.target[:, disk], targets.capacity[:, disk]
    use = np.divide(target, capacity, out=np.zeros(len(target)), where=capacity > 0)
    counts = target > 0
    if not counts.any():
        return targets
    is_even = np.ptp(use[counts]) <= _EVEN * use.max()
    is_even &= not draft.state.brokers.broker_sets
    part = target / target.sum() if is_even else counts.astype(np.float64)
    lower, upper = targets.lower.copy(), targets.upper.copy()
    lower[:, disk] -= shrinks * part
    upper[:, disk] += grows * counts * (1 + draft.settings.band(Resource.DISK))
    return replace(targets, lower=lower, upper=upper)


def _leaving(draft: Draft, limits: Limits) -> float:
    """Return a bound on bytes that leave brokers, with forced moves in full."""
    weights, replicas = draft.weights, draft.state.replicas
    of = replicas.partition_idx
    must = np.equal(draft.movability, Movability.MUST)
    value = float(weights.copy_bytes[of[must]].sum())
    excess = _kept(draft, weights.replica, weights.own) + limits.fixed - limits.upper
    over = np.any(excess > 0, axis=1, keepdims=True)[:, 0]
    may = np.equal(draft.movability, Movability.MAY) & over[replicas.broker_idx]
    rows = np.nonzero(may)[0]
    rows = rows[np.argsort(replicas.broker_idx[rows], kind="stable")]
    first = np.searchsorted(replicas.broker_idx[rows], np.arange(len(over) + 1))
    for b in np.nonzero(over)[0]:
        own = rows[first[b] : first[b + 1]]
        value += _of_broker(draft, own, of[own], excess[b])
    return value


def _of_broker(
    draft: Draft, rows: npt.NDArray[np.int64], of: IndexArray, excess: WeightArray
) -> float:
    """Return the largest bound of one broker over the resources."""
    weights = draft.weights
    cost, best = weights.copy_bytes[of], 0.0
    for r in np.nonzero(excess > 0)[0]:
        weight = weights.replica[of, r]
        if r == 0 and len(weights.own):
            weight = weight + weights.own[rows]
        cover = _Cover.of(weight, cost)
        best = max(best, float(cover.least(excess[r : r + 1].astype(np.float64))[0]))
    return best


def _arriving(draft: Draft, limits: Limits) -> float:
    """Return a bound on the bytes that arrive at brokers under their band."""
    weights, start = draft.weights, draft.state.replicas.start
    # Upper bound on the load that a broker keeps: it leads all that it can lead.
    is_led = (first_live_replica(draft.state) >= 0) | ~draft.is_left_alone
    leads = weights.leader * is_led[:, None]
    full = _kept(draft, weights.replica, weights.own) + _kept(draft, leads, None)
    missing = limits.lower - limits.fixed - full
    missing[~draft.may_receive] = 0
    moves = np.not_equal(draft.movability, Movability.NEVER)
    some = np.nonzero(np.add.reduceat(moves, start[:-1]) if len(start) > 1 else [])[0]
    # A broker gets at most one replica of a partition, and may lead the partition.
    weight = (weights.replica + weights.leader)[some]
    cost = weights.copy_bytes[some]
    least = np.zeros(missing.shape)
    for r in np.nonzero((missing > 0).any(axis=0))[0]:
        cover = _Cover.of(weight[:, r], cost)
        least[:, r] = cover.least(missing[:, r].astype(np.float64))
    return float(least.max(axis=1, initial=0.0).sum())


def _kept(draft: Draft, weight: WeightArray, own: WeightArray | None) -> WeightArray:
    """Return ``(B, R)`` load of the replicas that need not leave each broker."""
    replicas = draft.state.replicas
    stays = np.nonzero(np.not_equal(draft.movability, Movability.MUST))[0]
    broker, of = replicas.broker_idx[stays], replicas.partition_idx[stays]
    kept = np.zeros((draft.state.num_brokers, len(RESOURCES)), dtype=np.int64)
    for r in range(len(RESOURCES)):
        column = weight[:, r]
        if column.any():
            np.add.at(kept[:, r], broker, column[of])
    if own is not None and len(own):
        np.add.at(kept[:, 0], broker, own[stays])
    return kept
