r"""
Targets: the share of the load that each broker should have, with a band around it.

Formulas of docs/theory.md, "Fair share" and "Band". With :math:`W` the load on the
brokers that count (``A``), :math:`C_b` capacities and :math:`L_k` the maximum load of
rack ``k``, :math:`u` solves :math:`\sum_k \min(u C_k, L_k) = W` and
:math:`T_b = C_b \min(u, L_k / C_k)`: racks are filled like vessels, up to one level,
until those that are full by the rack rule take no more. If no :math:`u` solves this,
because the load is larger than replication factors imply (replicas being added, or
larger than their leader), all racks are full and the excess is spread over them in
proportion.
"""

from dataclasses import dataclass

import numpy as np

from placement.array_types import BoolArray, RateArray
from placement.model.fair_shares import (
    COUNTS,
    DEFAULT_BAND,
    Members,
    Pool,
    Shares,
    rack_limit,
    share_capacities,
    share_out,
)
from placement.model.load import RESOURCES, WeightArray

__all__ = [
    "COUNTS",
    "DEFAULT_BAND",
    "MARGIN",
    "TOLERANCE",
    "Members",
    "Shares",
    "Targets",
    "find_targets",
    "rack_limit",
    "share_capacities",
    "share_out",
]

MARGIN = 0.9
"""Ratio of Cruise Control's bands to its balance thresholds."""
TOLERANCE = 1e-9
"""Relative tolerance of float comparisons: the end of a band is inside the band."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Targets:
    """
    Targets and bands of every broker, in integer units of load.

    Parameters
    ----------
    capacity
        ``(B, R)`` capacities to which shares are proportional; 0 outside ``A``.
    target
        ``(B, R)`` floats; 0 for brokers that do not count.
    lower, upper
        ``(B, R)`` floats. In band: ``lower <= load <= upper``.
    heaviest
        ``(B, R)`` the weight of the heaviest replica on each broker.
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
        """Return ``(B, R)`` true for loads outside their band."""
        return self.outside(load) > 0


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
        Inputs that do not depend on the placement.
    load
        ``(B, R)`` loads of the brokers; their sum over ``A`` is shared.
    heaviest
        ``(B, R)`` the weight of the heaviest replica on each broker.
    incoming
        ``(R,)`` load on brokers outside ``A`` that must move to ``A``, shared with it.

    Notes
    -----
    A broker with a replica heavier than its band is set aside with its load. Counts,
    where every replica weighs one, use floor and ceiling of the target instead.
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
        if resource in COUNTS and shares.has_plain_counts:
            lower[:, r], upper[:, r] = _rounded_outwards(target[:, r], shares.bands[r])
        elif resource in COUNTS:
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


def _rounded_outwards(target: RateArray, band: float) -> tuple[RateArray, RateArray]:
    """
    Return the ends of a band of counts as computed by Cruise Control.

    It multiplies the excess of its threshold, 1.10, by a margin of 0.9, in doubles. Of
    a mean of 100 it accepts 90 to 110, because 109.00000000000001 is rounded up.
    """
    part = ((1 + band / MARGIN) - 1) * MARGIN
    return np.floor(target * max(0.0, 1 - part)), np.ceil(target * (1 + part))


def _floor(values: RateArray) -> RateArray:
    return np.floor(values + TOLERANCE * np.maximum(values, 1.0))


def _ceil(values: RateArray) -> RateArray:
    return np.ceil(values - TOLERANCE * np.maximum(values, 1.0))


def _targets_of(
    shares: Shares, load: WeightArray, heaviest: WeightArray, incoming: int, r: int
) -> tuple[RateArray, BoolArray]:
    """Share one resource; brokers with too heavy a replica keep their load."""
    target = np.zeros(len(load))
    aside = np.zeros(len(load), dtype=np.bool_)
    for pool in shares.every_pool:
        member = shares.members.of(r) & pool.holds
        kept = np.zeros_like(aside)
        whole = float(load[member].sum()) + incoming
        if pool.total is not None:
            whole = float(pool.total[r])
        most = _most_of_all(shares, pool, member, whole, r)
        while True:
            total = max(whole - float(load[kept].sum()), 0.0)
            poured = _pour(shares, most, load, total, (member, kept), r)
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


def _most_of_all(
    shares: Shares, pool: Pool, member: BoolArray, total: float, r: int
) -> RateArray:
    """Return ``(K,)`` the maximum load of each rack, scaled up to hold the total."""
    most = pool.rack_most[:, r]
    has_capacity = member & (shares.capacity[:, r] > 0)
    held = float(most[np.unique(shares.rack_idx[has_capacity])].sum())
    return most * (total / held) if 0 < held < total else most


def _pour(
    shares: Shares,
    most: RateArray,
    load: WeightArray,
    total: float,
    split: tuple[BoolArray, BoolArray],
    r: int,
) -> RateArray:
    """Fill racks with a load up to one level; return ``(B,)`` each broker's part."""
    member, aside = split
    num_racks = len(most)
    capacity = np.where(member, shares.capacity[:, r], 0.0)
    in_rack = np.bincount(shares.rack_idx, weights=capacity, minlength=num_racks)
    taken = np.bincount(
        shares.rack_idx, weights=np.where(aside, load, 0), minlength=num_racks
    )
    most = np.maximum(most - taken, 0.0)
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
