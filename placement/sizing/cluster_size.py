"""How many brokers a cluster needs: a number, a proof, and a placement to show it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from placement.draft.draft import Settings
from placement.model.cluster import ClusterState
from placement.planning.result import PlannedPlacement
from placement.scenarios.changes.broker_changes import with_count
from placement.scenarios.changes.variant import Variant
from placement.scenarios.scenario_figures import Assumptions, Figures, figures_of
from placement.scenarios.scenario_outcome import Afterwards, play
from placement.sizing.broker_kinds import BrokerKind, usual_kind
from placement.sizing.demand.broker_demand import (
    Demand,
    Need,
    Wanted,
    demand_of,
    fleet_of,
    needs_of,
)
from placement.sizing.fewest_brokers import MOST_BROKERS, BrokerBound, least_brokers
from placement.sizing.follower_spread import spread_successors
from placement.sizing.survival_check import unfit

CountArray = npt.NDArray[np.int64]
STEPS = (0, 1, 2, 3, 5, 8, 13, 21, 34, 55)
"""How far above the bound a placement is looked for."""
MOST_MORE = 1000
"""So many more brokers than there are may be found to be needed."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """
    A fleet that was tried.

    Parameters
    ----------
    brokers
        How many.
    reason
        Why its best placement does not do; empty where it does.
    """

    brokers: int
    reason: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Shown:
    """
    A placement that carries the load.

    Parameters
    ----------
    variant
        The cluster that it was planned for: the brokers of the answer, and those of
        today that leave.
    placed
        The plan.
    state
        The placement, followers in the order that spreads what a loss hands on.
    figures
        Of that.
    """

    variant: Variant
    placed: PlannedPlacement
    state: ClusterState
    figures: Figures


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Sizing:
    """
    How many brokers a load needs.

    Parameters
    ----------
    kinds
        What could be had.
    counts
        ``(T, K)`` how many of each kind in each rack; all 0 where none will do.
    value, least
        Brokers, or the price of a mix, of the placement shown; and the proven bound.
    bound
        What proves it, for one kind.
    shown
        The placement, `None` where none was found.
    attempts
        What was tried, in order.
    demand, wanted
        What was to be carried, and stood.
    today
        What today's brokers stand: the hardest need first.
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
        """How many brokers there are in all."""
        return int(self.counts.sum())

    @property
    def is_exact(self) -> bool:
        """Whether nothing less will do, proven."""
        return self.shown is not None and self.value <= self.least * (1 + 1e-9)

    @property
    def gap(self) -> float | None:
        """``value / least - 1``; `None` where no placement was found."""
        if self.shown is None:
            return None
        return self.value / self.least - 1 if self.least else 0.0

    @property
    def fewer(self) -> Attempt | None:
        """What was found out about one broker fewer by trying."""
        tried = [a for a in self.attempts if a.brokers == self.brokers - 1]
        return tried[-1] if tried else None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SizingTask:
    """
    What is to be sized, and how.

    Parameters
    ----------
    variant
        The cluster whose load is carried.
    wanted
        Thresholds, and what may be lost.
    settings
        Of the plans.
    assumptions
        Of the figures.
    racks
        Names of the racks that brokers stand in; empty where racks are unknown.
    """

    variant: Variant
    wanted: Wanted
    settings: Settings
    assumptions: Assumptions
    racks: tuple[str, ...]


def fewest_like(task: SizingTask, broker_id: int) -> Sizing:
    """
    Return the fewest brokers like one of today's; those there are stay.

    Brokers that come stand where fewest are; those that go are the latest ids of the
    racks that have most.
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
    """Return whether all brokers that stay are of one kind."""
    fleet = fleet_of(variant.state, variant.leaving)
    same = np.equal(fleet.capacity, kind.capacity[None, :]).all()
    return bool(same and np.equal(fleet.max_replicas, kind.max_replicas).all())


def _least_in_order(task: SizingTask, demand: Demand, broker_id: int) -> BrokerBound:
    """
    Bound the brokers where those there are differ.

    Fewer are always some of more, so what a number cannot carry, none below it can.
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
    """Return what today's brokers need to carry, the hardest first."""
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
    """Try numbers of brokers from the bound on, then those skipped on the way."""
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
    """Place everything, and say why that does not do; nothing where it does."""
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
    """Yield settings, the quick ones first, then with narrower bands."""
    yield settings
    narrow = dict.fromkeys(settings.bands, 0.05)
    yield replace(settings, bands=narrow)


def _counts_of(state: ClusterState, racks: Sequence[str]) -> CountArray:
    """Return ``(1, K)`` live brokers of each rack; one column without racks."""
    live = state.brokers.is_live
    if not racks:
        return np.array([[int(live.sum())]], dtype=np.int64)
    names = [state.brokers.racks[k] for k in state.brokers.rack_idx[live].tolist()]
    return np.array([[names.count(rack) for rack in racks]], dtype=np.int64)


def headroom(sizing: Sizing) -> float | None:
    """
    Return how often today's load today's brokers could carry at most.

    No placement on today's brokers carries more; `None` where no capacity is known.
    """
    strains = [need.strain for need in sizing.today if need.level > 0]
    return 1 / max(strains) if strains else None
