"""Lower bound on the number of brokers of one kind, and its proof."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from placement.array_types import RateArray
from placement.demand.broker_demand import (
    SIZED,
    Demand,
    Need,
    Wanted,
    bins_needed,
    even_fleet,
    needs_of,
)
from placement.model.load import Resource

MOST_BROKERS = 1_000_000
"""Stands for infeasible: no number of brokers is enough."""
MOST_TRIED = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerBound:
    """
    Lower bound on the number of brokers.

    Parameters
    ----------
    brokers
        Minimum number of brokers.
    kind
        ``volume`` (capacity of all together), ``pigeonhole`` (few replicas fit on a
        broker), ``replication-factor``, ``racks``, ``heaviest`` (one replica is too
        large for any number).
    resource
        Resource of the bound; empty where there is none.
    lost
        Kind of loss in the binding case: "", ``broker`` or ``rack``.
    need
        Need that one broker fewer would not meet, where that is a level.
    is_in_order
        Whether the bound assumes that brokers leave in a fixed order. With unequal
        present brokers, another choice might need fewer.
    """

    brokers: int
    kind: str
    resource: str = ""
    lost: str = ""
    need: Need | None = None
    is_in_order: bool = False


def least_brokers(
    demand: Demand,
    capacity: RateArray,
    num_racks: int,
    wanted: Wanted,
    max_replicas: float = np.inf,
) -> BrokerBound:
    """
    Return the best lower bound on the number of equal brokers, evenly in racks.

    Parameters
    ----------
    demand
        Load to carry.
    capacity
        ``(4,)`` capacity of one broker.
    num_racks
        Number of racks, with brokers spread as evenly as possible.
    wanted
        Thresholds, and losses to survive.
    max_replicas
        Maximum number of replicas of one broker.
    """
    found = [
        *_counted(demand, num_racks, wanted),
        *_packed(demand, capacity, num_racks, wanted),
    ]
    least = max([1, *(bound.brokers for bound in found)])

    def is_met(count: int) -> bool:
        fleet = even_fleet(capacity, count, num_racks, max_replicas)
        return all(need.is_met for need in needs_of(demand, fleet, wanted))

    if least < MOST_BROKERS and not is_met(least):
        count = _first(is_met, least)
        below = min(count, least + MOST_TRIED) - 1
        fleet = even_fleet(capacity, below, num_racks, max_replicas)
        hardest = needs_of(demand, fleet, wanted)[0]
        found.append(
            BrokerBound(
                brokers=count,
                kind="volume",
                resource=hardest.resource,
                lost=hardest.lost,
                need=hardest,
            )
        )
    if not found:
        return BrokerBound(brokers=1, kind="replication-factor")
    best = max(found, key=lambda bound: bound.brokers)
    return _with_need(best, demand, capacity, num_racks, wanted, max_replicas)


def _first(is_met: Callable[[int], bool], low: int) -> int:
    """Return the first number of brokers from `low` on that meets all needs."""
    for count in range(low, low + MOST_TRIED):
        if is_met(count):
            return count
    return MOST_BROKERS


def _with_need(
    bound: BrokerBound,
    demand: Demand,
    capacity: RateArray,
    num_racks: int,
    wanted: Wanted,
    max_replicas: float,
) -> BrokerBound:
    """Add the need that one broker fewer does not meet, if there is one."""
    if bound.need is not None or bound.brokers < 2 or bound.brokers >= MOST_BROKERS:
        return bound
    fleet = even_fleet(capacity, bound.brokers - 1, num_racks, max_replicas)
    broken = [n for n in needs_of(demand, fleet, wanted) if not n.is_met]
    need = broken[0] if broken else None
    return BrokerBound(
        brokers=bound.brokers,
        kind=bound.kind,
        resource=bound.resource,
        lost=bound.lost,
        need=need,
    )


def _counted(demand: Demand, num_racks: int, wanted: Wanted) -> list[BrokerBound]:
    """Return bounds from distinct brokers for replicas, also after a loss."""
    factor = demand.largest_factor
    kind = "replication-factor"
    found = [BrokerBound(brokers=factor, kind=kind)]
    if "broker" in wanted.survives:
        found.append(BrokerBound(brokers=factor + 1, kind=kind, lost="broker"))
    if "rack" in wanted.survives:
        left = least_with_rack_lost(factor, num_racks)
        found.append(BrokerBound(brokers=left, kind=kind, lost="rack"))
    return found


def least_with_rack_lost(left: int, num_racks: int) -> int:
    """
    Return the minimum number of brokers with `left` outside their largest rack.

    Examples
    --------
    >>> least_with_rack_lost(4, 3), least_with_rack_lost(4, 1) == MOST_BROKERS
    (6, True)
    """
    if num_racks < 2:
        return MOST_BROKERS
    count = left
    while count - -(-count // num_racks) < left:
        count += 1
    return count


def _packed(
    demand: Demand, capacity: RateArray, num_racks: int, wanted: Wanted
) -> list[BrokerBound]:
    """Return bin-packing bounds, since replicas cannot be split."""
    found = []
    for y, resource in enumerate(SIZED):
        usable = capacity[y] * wanted.threshold(y)
        if not demand.is_known[y] or not np.isfinite(usable) or not demand.total[y]:
            continue
        if demand.items[y][0] > usable * (1 + 1e-9):
            found.append(
                BrokerBound(
                    brokers=MOST_BROKERS, kind="heaviest", resource=str(resource)
                )
            )
            continue
        bins, kind = bins_needed(demand.items[y], usable)
        found += _with_losses(bins, kind, resource, num_racks, wanted)
    return found


def _with_losses(
    bins: int, kind: str, resource: Resource, num_racks: int, wanted: Wanted
) -> list[BrokerBound]:
    found = [BrokerBound(brokers=bins, kind=kind, resource=str(resource))]
    if resource is Resource.CPU:
        return found
    if "broker" in wanted.survives:
        found.append(
            BrokerBound(
                brokers=bins + 1, kind=kind, resource=str(resource), lost="broker"
            )
        )
    if "rack" in wanted.survives:
        found.append(
            BrokerBound(
                brokers=least_with_rack_lost(bins, num_racks),
                kind=kind,
                resource=str(resource),
                lost="rack",
            )
        )
    return found
