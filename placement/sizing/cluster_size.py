"""Number of brokers that a cluster needs, with a lower bound and a placement."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from placement.array_types import CountArray
from placement.cluster_changes.broker_changes import with_count
from placement.cluster_changes.variant import Variant
from placement.demand.broker_demand import (
    Demand,
    Need,
    Wanted,
    demand_of,
    fleet_of,
    needs_of,
)
from placement.draft.draft import Settings
from placement.model.cluster import ClusterState
from placement.planning.outcome.result import PlannedPlacement
from placement.scenarios.scenario_figures import Assumptions, Figures, figures_of
from placement.scenarios.scenario_outcome import Afterwards, play
from placement.sizing.broker_kinds import BrokerKind, usual_kind
from placement.sizing.fewest_brokers import MOST_BROKERS, BrokerBound, least_brokers
from placement.sizing.follower_spread import spread_successors
from placement.sizing.survival_check import unfit

STEPS = (0, 1, 2, 3, 5, 8, 13, 21, 34, 55)
"""Numbers of brokers above the lower bound for which a placement is sought."""
MOST_MORE = 1000
"""Maximum number of brokers to consider beyond the present ones."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """
    Fleet that was tried.

    Parameters
    ----------
    brokers
        Number of brokers.
    reason
        Reason why its best placement is unfit; empty where it is fit.
    """

    brokers: int
    reason: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Shown:
    """
    Placement that carries the load.

    Parameters
    ----------
    variant
        Cluster of the plan: the brokers of the answer, and present ones that leave.
    placed
        Plan of the placement.
    state
        Placement, with followers in the order that spreads leadership after a loss.
    figures
        Figures of the placement.
    """

    variant: Variant
    placed: PlannedPlacement
    state: ClusterState
    figures: Figures


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Sizing:
    """
    Number of brokers that a load needs.

    Parameters
    ----------
    kinds
        Available kinds of brokers.
    counts
        ``(T, K)`` number of brokers of each kind in each rack; all 0 without a
        placement.
    value, least
        Number of brokers, or price of the mix, of the placement, and its proven lower
        bound.
    bound
        Proof of the lower bound, for one kind.
    shown
        Placement, or `None` where none was found.
    attempts
        Fleets that were tried, in order.
    demand, wanted
        Load to carry, and requirements on the fleet.
    today
        Needs of the present brokers, hardest first.
    """

    kinds: tuple[BrokerKind, ...]
    counts: CountArray
    value: float
    least: float
    bound: BrokerBound | None
    shown: Shown | None
    attempts: tuple[Attempt, ...]
    demand: Demand
    wanted: Wanted
    today: tuple[Need, ...]

    @property
    def brokers(self) -> int:
        """Total number of brokers."""
        return int(self.counts.sum())

    @property
    def is_exact(self) -> bool:
        """Whether the placement found meets the lower bound, so is proven optimal."""
        return self.shown is not None and self.value <= self.least * (1 + 1e-9)

    @property
    def gap(self) -> float | None:
        """``value / least - 1``; `None` where no placement was found."""
        if self.shown is None:
            return None
        return self.value / self.least - 1 if self.least else 0.0

    @property
    def fewer(self) -> Attempt | None:
        """Last attempt with one broker fewer, or `None`."""
        tried = [a for a in self.attempts if a.brokers == self.brokers - 1]
        return tried[-1] if tried else None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SizingTask:
    """
    Cluster to size, and settings of the sizing.

    Parameters
    ----------
    variant
        Cluster whose load is carried.
    wanted
        Thresholds, and losses to survive.
    settings
        Settings of the plans.
    assumptions
        Assumptions of the figures.
    racks
        Names of the brokers' racks; empty where racks are unknown.
    """

    variant: Variant
    wanted: Wanted
    settings: Settings
    assumptions: Assumptions
    racks: tuple[str, ...]


def fewest_like(task: SizingTask, broker_id: int) -> Sizing:
    """
    Return the minimum number of brokers, where new ones are like a present one.

    New brokers go to the rack with the fewest brokers. Brokers leave from the rack with
    the most brokers, highest ids first.
    """
    state = task.variant.state
    kind = usual_kind(state, broker_id)
    demand = demand_of(state)
    bound = (
        least_brokers(
            demand, kind.capacity, len(task.racks), task.wanted, kind.max_replicas
        )
        if _is_uniform(task.variant, kind)
        else _least_in_order(task, demand, broker_id)
    )
    attempts: list[Attempt] = []
    shown = None
    if bound.brokers < MOST_BROKERS:
        shown = _search(
            bound.brokers,
            lambda count: try_variant(
                task, with_count(task.variant, count, like=broker_id)
            ),
            attempts,
        )
    counts: CountArray = np.zeros((1, max(len(task.racks), 1)), dtype=np.int64)
    if shown is not None:
        counts = _counts_of(shown.figures.state, task.racks)
    return Sizing(
        kinds=(kind,),
        counts=counts,
        value=float(counts.sum()),
        least=float(bound.brokers),
        bound=bound,
        shown=shown,
        attempts=tuple(attempts),
        demand=demand,
        wanted=task.wanted,
        today=needs_today(task, demand),
    )


def _is_uniform(variant: Variant, kind: BrokerKind) -> bool:
    """Return whether all brokers that stay are of a given kind."""
    fleet = fleet_of(variant.state, variant.leaving)
    same = np.equal(fleet.capacity, kind.capacity[None, :]).all()
    return bool(same and np.equal(fleet.max_replicas, kind.max_replicas).all())


def _least_in_order(task: SizingTask, demand: Demand, broker_id: int) -> BrokerBound:
    """
    Return a lower bound on the brokers where the present ones differ.

    Each smaller fleet is a subset of the larger ones, so if a number of brokers cannot
    carry the load, no smaller number can.
    """

    def hardest(count: int) -> Need | None:
        after = with_count(task.variant, count, like=broker_id)
        needs = needs_of(demand, fleet_of(after.state, after.leaving), task.wanted)
        return needs[0] if needs and not needs[0].is_met else None

    extra = 1 if "broker" in task.wanted.survives else 0
    least = max(demand.largest_factor + extra, 1)
    count = max(len(fleet_of(task.variant.state, task.variant.leaving)), least)
    most = count + MOST_MORE
    while count < most and hardest(count) is not None:
        count += 1
    if count == most:
        return BrokerBound(brokers=MOST_BROKERS, kind="volume", is_in_order=True)
    fewer = hardest(count - 1) if count > least else None
    while count > least and fewer is None:
        count -= 1
        fewer = hardest(count - 1) if count > least else None
    if fewer is None:
        kind = "replication-factor"
        return BrokerBound(brokers=count, kind=kind, is_in_order=True)
    return BrokerBound(
        brokers=count,
        kind="volume",
        resource=fewer.resource,
        lost=fewer.lost,
        need=fewer,
        is_in_order=True,
    )


def needs_today(task: SizingTask, demand: Demand) -> tuple[Need, ...]:
    """Return the needs of the present brokers, hardest first."""
    fleet = fleet_of(task.variant.state, task.variant.leaving)
    if not len(fleet):
        return ()
    survives = task.wanted.survives if task.racks else frozenset({"broker"})
    wanted = replace(task.wanted, survives=task.wanted.survives & survives)
    return tuple(needs_of(demand, fleet, wanted))


def _search(
    low: int,
    attempt: Callable[[int], tuple[Shown | None, str]],
    attempts: list[Attempt],
) -> Shown | None:
    """Try numbers of brokers from the lower bound on, then bisect skipped ones."""
    found: dict[int, Shown] = {}

    def does(count: int) -> bool:
        shown, reason = attempt(count)
        attempts.append(Attempt(count, reason))
        if shown is not None:
            found[count] = shown
        return shown is not None

    failed = low - 1
    for step in STEPS:
        if does(low + step):
            break
        failed = low + step
    if not found:
        return None
    best = min(found)
    while best - failed > 1:
        middle = (best + failed) // 2
        if does(middle):
            best = middle
        else:
            failed = middle
    return found[best]


def try_variant(task: SizingTask, variant: Variant) -> tuple[Shown | None, str]:
    """Return a fit placement of all replicas, or `None` with the reason."""
    reason = "no replica could be placed"
    for settings in _efforts(task.settings):
        outcome = play(variant, Afterwards.REBALANCE, settings, task.assumptions)
        if outcome.placed is None:  # pragma: no cover - a rebalance always plans
            continue
        if outcome.status in {"partial", "infeasible"}:
            reason = f"the plan is {outcome.status}"
            continue
        state = spread_successors(outcome.figures.state)
        reason = unfit(state, task.wanted)
        if reason:
            continue
        figures = figures_of(state, task.assumptions)
        shown = Shown(
            variant=variant, placed=outcome.placed, state=state, figures=figures
        )
        return shown, ""
    return None, reason


def _efforts(settings: Settings) -> Iterator[Settings]:
    """Yield the settings, then the same with narrower bands."""
    yield settings
    narrow = dict.fromkeys(settings.bands, 0.05)
    yield replace(settings, bands=narrow)


def _counts_of(state: ClusterState, racks: Sequence[str]) -> CountArray:
    """Return ``(1, K)`` number of live brokers by rack; one column without racks."""
    live = state.brokers.is_live
    if not racks:
        return np.array([[int(live.sum())]], dtype=np.int64)
    names = [state.brokers.racks[k] for k in state.brokers.rack_idx[live].tolist()]
    return np.array([[names.count(rack) for rack in racks]], dtype=np.int64)


def headroom(sizing: Sizing) -> float | None:
    """
    Return the largest factor of the present load that present brokers may carry.

    No placement on these brokers carries more. `None` where no capacity is known.
    """
    strains = [need.strain for need in sizing.today if need.level > 0]
    return 1 / max(strains) if strains else None
