"""How long the brokers there are will do: as they are, rebalanced, and at most."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from placement.model.cluster import ClusterState
from placement.model.load import MOST_LOAD, Resource, broker_loads, weigh
from placement.scenarios.changes.load_changes import TRAFFIC, grow
from placement.scenarios.changes.variant import Variant
from placement.scenarios.scenario_outcome import Afterwards, play
from placement.sizing.cluster_size import SizingTask
from placement.sizing.demand.broker_demand import Need, demand_of, fleet_of, needs_of
from placement.sizing.demand.topic_growth import (
    HORIZON_DAYS,
    Crossing,
    Growth,
    crossings,
)
from placement.sizing.survival_check import unfit

HALVINGS = 24
MOST_GROWTH = 1e5
PLANS = 7
"""So often a plan is tried; what is found is then this near to the last day: 1/128."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Lasting:
    """
    How long a cluster lasts, in days from now; infinite beyond ten years.

    Parameters
    ----------
    crossings
        As it is: the first threshold passed, per resource, soonest first.
    stands_days
        As it is: how long any one broker, or rack, may be lost and rebuilt.
    shown_days
        Rebalanced: up to this day a placement was found that keeps every threshold.
    most_days
        From this day on no placement on these brokers does.
    limit
        What is first passed then.
    """

    crossings: tuple[Crossing, ...]
    stands_days: float
    shown_days: float
    most_days: float
    limit: Need | None

    @property
    def as_is_days(self) -> float:
        """Until the first threshold is passed, with nothing moved."""
        return self.crossings[0].days if self.crossings else np.inf


def on_day(variant: Variant, growth: Growth, days: float) -> Variant:
    """Return a cluster as it will be on a day, its replicas where they are."""
    busier = grow(variant, growth.traffic(days), TRAFFIC)
    return grow(busier, growth.disk(days), frozenset({Resource.DISK}))


def lasting_of(task: SizingTask, growth: Growth) -> Lasting:
    """
    Return how long a cluster lasts.

    Parameters
    ----------
    task
        The cluster, its thresholds, and what may be lost.
    growth
        How its topics grow.

    Notes
    -----
    Loads are convex in time, so what holds today and fails some day fails from then on:
    halving finds the day. What plans find is no more than a day up to which it works.
    """
    variant = task.variant
    state = variant.state
    holds = state.brokers.is_live & ~np.isin(state.brokers.ids, sorted(variant.leaving))
    thresholds = task.wanted.thresholds
    horizon = horizon_of(state, growth)
    most = _last_day(lambda days: _fits_at_best(task, growth, days)[0], horizon)
    limit = None
    if np.isfinite(most):
        limit = _fits_at_best(task, growth, most + max(most, 1.0) * 1e-3)[1]
    return Lasting(
        crossings=tuple(crossings(state, growth, thresholds, holds)),
        stands_days=_last_day(
            lambda days: not unfit(on_day(variant, growth, days).state, task.wanted),
            horizon,
        ),
        shown_days=_shown(task, growth, most, horizon),
        most_days=most,
        limit=limit,
    )


def horizon_of(state: ClusterState, growth: Growth) -> float:
    """
    Return up to which day growth is followed: ten years, or a hundred thousandfold.

    Loads stay small enough to be added up in integers.
    """
    weights = weigh(state)
    load = broker_loads(state, weights, state.partitions.leader_idx)
    total = float(load.sum(axis=0).max(initial=1))
    most = min(MOST_GROWTH, MOST_LOAD / 16 / max(total, 1.0))
    low, high = 0.0, HORIZON_DAYS
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        factors = [growth.traffic(middle), growth.disk(middle)]
        is_less = max(factor.max(initial=0.0) for factor in factors) <= most
        low, high = (middle, high) if is_less else (low, middle)
    return HORIZON_DAYS if high == HORIZON_DAYS else low


def _last_day(does: Callable[[float], bool], horizon: float) -> float:
    """Return the last day on which something holds; 0 where not even today."""
    if not does(0.0):
        return 0.0
    if does(horizon):
        return np.inf
    low, high = 0.0, horizon
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if does(middle) else (low, middle)
    return low


def _fits_at_best(
    task: SizingTask, growth: Growth, days: float
) -> tuple[bool, Need | None]:
    """Return whether some placement might keep every threshold, with nothing lost."""
    later = on_day(task.variant, growth, days).state
    wanted = replace(task.wanted, survives=frozenset())
    fleet = fleet_of(later, task.variant.leaving)
    found = needs_of(demand_of(later), fleet, wanted)
    hardest = found[0] if found else None
    return hardest is None or hardest.is_met, hardest


def _shown(task: SizingTask, growth: Growth, most: float, horizon: float) -> float:
    """Return the last day, up to the most, for which a plan was found."""

    def does(days: float) -> bool:
        later = on_day(task.variant, growth, days)
        outcome = play(later, Afterwards.REBALANCE, task.settings, task.assumptions)
        is_met = outcome.status not in {"partial", "infeasible"}
        return is_met and not outcome.figures.num_over

    if most <= 0 or not does(0.0):
        return 0.0
    last = min(most, horizon)
    if does(last):
        return most
    low, high = 0.0, last
    for _ in range(PLANS):
        middle = (low + high) / 2
        low, high = (middle, high) if does(middle) else (low, middle)
    return low
