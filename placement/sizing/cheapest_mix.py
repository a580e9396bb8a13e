"""The cheapest mix of kinds of brokers that carries a cluster, with a placement."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from placement.array_types import CountArray
from placement.demand.broker_demand import Demand, Need, demand_of, needs_of
from placement.sizing.broker_kinds import BrokerKind, Mix, mix_fleet
from placement.sizing.cluster_size import (
    Attempt,
    Shown,
    Sizing,
    SizingTask,
    needs_today,
    try_variant,
)
from placement.sizing.mix_model import cheapest_mix
from placement.sizing.replacement_brokers import replaced

TIGHTER = (1.0, 1.01, 1.02, 1.04, 1.08, 1.16, 1.32)
"""Factors of the load for which mixes are tried until one has a placement."""
TOLERANCE = 1e-9
"""Relative rounding error of prices."""
MOST_LEFT_OUT = 16
"""Maximum number of attempts to leave one broker out of a mix."""


def cheapest_of(task: SizingTask, kinds: Sequence[BrokerKind]) -> Sizing:
    """
    Return the cheapest mix of brokers that replaces the present ones.

    The load is increased in small steps until the cheapest mix for it has a placement.
    Then brokers are removed one by one while a placement exists. The lower bound is
    that for the actual load.
    """
    demand = demand_of(task.variant.state)
    attempts: list[Attempt] = []
    num_racks, least = max(len(task.racks), 1), np.inf
    shown: Shown | None = None
    mix: Mix | None = None
    tried: set[bytes] = set()
    for factor in TIGHTER:
        mix = cheapest_mix(_larger(demand, factor), kinds, num_racks, task.wanted)
        if mix is None:
            break
        least = min(least, mix.least_price)
        if mix.counts.tobytes() in tried:
            continue
        tried.add(mix.counts.tobytes())
        tried_now = try_variant(task, replaced(task.variant, kinds, mix, task.racks))
        attempts.append(Attempt(int(mix.counts.sum()), tried_now[1]))
        if not tried_now[1]:
            shown = tried_now[0]
            break
    counts: CountArray = np.zeros((len(kinds), num_racks), dtype=np.int64)
    if shown is not None and mix is not None:
        found = (shown, mix.counts)
        shown, counts = _cheaper(task, kinds, demand, found, attempts, float(least))
    prices = np.array([kind.price for kind in kinds])
    return Sizing(
        kinds=tuple(kinds),
        counts=counts,
        value=float((counts.sum(axis=1) * prices).sum()),
        least=float(least),
        bound=None,
        shown=shown,
        attempts=tuple(attempts),
        demand=demand,
        wanted=task.wanted,
        today=needs_today(task, demand),
    )


def _cheaper(
    task: SizingTask,
    kinds: Sequence[BrokerKind],
    demand: Demand,
    found: tuple[Shown, CountArray],
    attempts: list[Attempt],
    least: float,
) -> tuple[Shown, CountArray]:
    """
    Remove brokers one by one, most expensive first, while a placement exists.

    No mix goes below the lower bound. The bound counts whole replicas on the survivors
    of a loss, which the levels and the found placement do not.
    """
    prices = np.array([kind.price for kind in kinds])
    shown, counts = found
    failed: set[int] = set()
    for _ in range(MOST_LEFT_OUT):
        rows = [t for t in _dearest(kinds) if t not in failed and counts[t].any()]
        if not rows:
            break
        fewer = _without_one(counts, rows[0])
        if float((fewer.sum(axis=1) * prices).sum()) < least * (1 - TOLERANCE):
            failed.add(rows[0])
            continue
        mix = Mix(counts=fewer, price=0.0, least_price=0.0)
        needs = needs_of(demand, mix_fleet(kinds, mix), task.wanted)
        if not all(need.is_met for need in needs):
            failed.add(rows[0])
            continue
        made, reason = try_variant(task, replaced(task.variant, kinds, mix, task.racks))
        attempts.append(Attempt(int(fewer.sum()), reason))
        if made is None:
            failed.add(rows[0])
        else:
            shown, counts = made, fewer
    return shown, counts


def _dearest(kinds: Sequence[BrokerKind]) -> list[int]:
    return sorted(range(len(kinds)), key=lambda t: (-kinds[t].price, t))


def _without_one(counts: CountArray, kind: int) -> CountArray:
    """Return counts without one broker of a kind, from its rack with most brokers."""
    racks = np.nonzero(counts[kind])[0]
    fewer = counts.copy()
    fewer[kind, racks[int(counts.sum(axis=0)[racks].argmax())]] -= 1
    return fewer


def needs_without_one(sizing: Sizing) -> list[tuple[str, Need | None]]:
    """
    Return, for each kind of a mix, the need that one broker fewer does not meet.

    The broker is removed from its rack with the most brokers. The need is the hardest
    one that is not met. It is `None` where all levels are met, so that another limit
    decides, such as the number of brokers or a placement.
    """
    found: list[tuple[str, Need | None]] = []
    for t, kind in enumerate(sizing.kinds):
        if not sizing.counts[t].any() or sizing.counts.sum() < 2:
            continue
        counts = _without_one(sizing.counts, t)
        fleet = mix_fleet(sizing.kinds, Mix(counts=counts, price=0.0, least_price=0.0))
        hardest = needs_of(sizing.demand, fleet, sizing.wanted)[:1]
        found.append((kind.name, next((n for n in hardest if not n.is_met), None)))
    return found


def _larger(demand: Demand, factor: float) -> Demand:
    if factor == 1.0:
        return demand
    return replace(
        demand,
        total=demand.total * factor,
        factor_weight=demand.factor_weight * factor,
    )
