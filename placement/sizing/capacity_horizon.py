"""Days that the present brokers last: as they are, rebalanced, and at most."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from placement.cluster_changes.load_changes import TRAFFIC, grow
from placement.cluster_changes.variant import Variant
from placement.demand.broker_demand import Need, demand_of, fleet_of, needs_of
from placement.demand.topic_growth import (
    HORIZON_DAYS,
    Crossing,
    Growth,
    crossings,
)
from placement.draft.draft import Settings
from placement.model.cluster import ClusterState
from placement.model.load import MOST_LOAD, Resource, broker_loads, weigh
from placement.scenarios.scenario_outcome import Afterwards, Outcome, play
from placement.sizing.cluster_size import SizingTask
from placement.sizing.survival_check import unfit

HALVINGS = 24
MOST_GROWTH = 1e5
PLANS = 7
"""Bisection steps by plans: the day found is exact to 1/128 of the last day."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Lasting:
    """
    Days from now that a cluster lasts; infinite beyond the horizon.

    Parameters
    ----------
    crossings
        First crossing of a threshold per resource in the present placement, soonest
        first.
    stands_days
        Last day on which the present placement tolerates the loss and rebuild of any
        one broker, or rack.
    shown_days
        Last day for which a rebalanced placement within every threshold was found.
    most_days
        Upper bound: after this day, no placement on these brokers keeps every
        threshold.
    limit
        First need that exceeds its threshold after that day.
    """

    crossings: tuple[Crossing, ...]
    stands_days: float
    shown_days: float
    most_days: float
    limit: Need | None

    @property
    def as_is_days(self) -> float:
        """Days until the first crossing of a threshold in the present placement."""
        return self.crossings[0].days if self.crossings else np.inf


def on_day(variant: Variant, growth: Growth, days: float) -> Variant:
    """Return a cluster with the loads of a day, and its present placement."""
    busier = grow(variant, growth.traffic(days), TRAFFIC)
    return grow(busier, growth.disk(days), frozenset({Resource.DISK}))


def lasting_of(task: SizingTask, growth: Growth) -> Lasting:
    """
    Return the days that a cluster lasts.

    Parameters
    ----------
    task
        Cluster, thresholds, and losses to survive.
    growth
        Growth of the topics.

    Notes
    -----
    Loads are convex in time, so a limit that holds now and fails on some day fails from
    that day on, and bisection finds the day. The day found by plans is a lower bound.
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
    Return the last day of the forecast: ten years, or a growth of a factor of 100,000.

    Up to that day, loads are small enough for integer sums.
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
    """Return the last day on which a condition holds; 0 if it does not hold now."""
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
    """Return whether a placement may keep every threshold without a loss, and why."""
    later = on_day(task.variant, growth, days).state
    wanted = replace(task.wanted, survives=frozenset())
    fleet = fleet_of(later, task.variant.leaving)
    found = needs_of(demand_of(later), fleet, wanted)
    hardest = found[0] if found else None
    return hardest is None or hardest.is_met, hardest


def _rebalanced(task: SizingTask, variant: Variant, settings: Settings) -> Outcome:
    return play(variant, Afterwards.REBALANCE, settings, task.assumptions)


def _shown(task: SizingTask, growth: Growth, most: float, horizon: float) -> float:
    """Return the last day, up to `most`, for which a plan was found."""

    def does(days: float) -> bool:
        later = on_day(task.variant, growth, days)
        found = _rebalanced(task, later, task.settings)
        if len(found.figures.full_dirs):
            # The default leaves replicas in the log dirs where they are.
            named = replace(task.settings, names_log_dirs=True)
            found = _rebalanced(task, later, named)
        is_met = found.status not in {"partial", "infeasible"}
        return is_met and not found.figures.num_over

    if most <= 0 or not does(0.0):
        return 0.0
    if np.isinf(most) and does(horizon):
        return most
    # On the last day itself all brokers are exactly full, and plans take long.
    low, high = 0.0, min(most, horizon)
    nearly = high * (1 - 0.5**PLANS)
    if does(nearly):
        return nearly
    for _ in range(PLANS):
        middle = (low + high) / 2
        low, high = (middle, high) if does(middle) else (low, middle)
    return low
