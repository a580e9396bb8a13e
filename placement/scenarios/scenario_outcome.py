"""Plan of a scenario: copies, their duration, and the figures of the result."""

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray, IndexArray
from placement.cluster_changes.variant import Data, Variant, held_by, without_brokers
from placement.core.model.solution import Status
from placement.demand.broker_demand import (
    Need,
    Wanted,
    demand_of,
    fleet_of,
    needs_of,
)
from placement.draft.draft import Settings
from placement.model.cluster import ABSENT, UNKNOWN
from placement.model.load import weigh
from placement.operations.fix import Defect, Fix
from placement.operations.operation import Operation
from placement.operations.rebalance import Rebalance
from placement.operations.remove_brokers import RemoveBrokers
from placement.planning.outcome.result import PlannedPlacement
from placement.planning.plan import plan
from placement.scenarios.scenario_figures import Assumptions, Figures, figures_of


class Afterwards(StrEnum):
    """Planning after the changes of a scenario."""

    REBALANCE = "rebalance"
    """The plan brings every broker into its band."""
    NEEDED = "needed"
    """The plan moves only replicas that must move, off leaving and dead brokers."""
    NOTHING = "nothing"
    """There is no plan."""


@dataclass(frozen=True, slots=True)
class Copying:
    """
    Copies of a scenario, and a lower bound on their duration.

    Parameters
    ----------
    replicas, size_bytes
        Number and bytes of the copies, by the changes and the plan together.
    seconds
        Seconds that the busiest broker needs to send or receive its copies.
    broker_id
        Id of the busiest broker; -1 where nothing is copied.
    cross_rack_bytes
        Part of `size_bytes` that is copied between racks.
    """

    replicas: int
    size_bytes: int
    seconds: float
    broker_id: int
    cross_rack_bytes: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Outcome:
    """
    Outcome of a scenario.

    Parameters
    ----------
    variant
        Cluster after the changes.
    placed
        Plan, or `None` without one.
    figures
        Figures of the final cluster.
    copying
        Copies that lead to the final cluster.
    proof
        Need over its threshold in every placement, where infeasibility was proven
        without a plan.
    """

    variant: Variant
    placed: PlannedPlacement | None
    figures: Figures
    copying: Copying
    proof: Need | None = None

    @property
    def is_copying_known(self) -> bool:
        """Whether the bytes of the copies are known; unknown bytes are not 0."""
        sizes = self.figures.state.partitions.size_bytes
        has_sizes = bool(np.not_equal(sizes, UNKNOWN).any())
        return has_sizes or not self.copying.replicas

    @property
    def status(self) -> str:
        """Status of the plan; ``as-is`` without one."""
        if self.proof is not None:
            return str(Status.INFEASIBLE)
        return "as-is" if self.placed is None else str(self.placed.solution.status)


def operation_of(variant: Variant, afterwards: Afterwards) -> Operation | None:
    """Return the operation of the plan for a variant, or `None`."""
    if afterwards is Afterwards.NOTHING:
        return None
    if afterwards is Afterwards.NEEDED and _has_failed_dirs(variant):
        return Fix(only=frozenset({Defect.OFFLINE, Defect.LOG_DIRS}))
    if afterwards is Afterwards.NEEDED or variant.leaving:
        return RemoveBrokers(tuple(sorted(variant.leaving)))
    return Rebalance()


def _has_failed_dirs(variant: Variant) -> bool:
    """Return whether no broker leaves and live ones have replicas in failed dirs."""
    state = variant.state
    is_failed = state.is_offline & state.brokers.is_live[state.replicas.broker_idx]
    return bool(is_failed.any()) and not variant.leaving


def settings_of(
    settings: Settings, variant: Variant, afterwards: Afterwards
) -> Settings:
    """Return the settings of the plan for a variant."""
    known = frozenset(variant.state.brokers.ids.tolist())
    destination = settings.destination_brokers
    return replace(
        settings,
        frees_the_rest=afterwards is Afterwards.REBALANCE,
        destination_brokers=None if destination is None else destination & known,
    )


def play(
    variant: Variant,
    afterwards: Afterwards,
    settings: Settings,
    assumptions: Assumptions,
) -> Outcome:
    """
    Plan a variant, and return the outcome.

    Parameters
    ----------
    variant
        Cluster after the changes.
    afterwards
        Planning after the changes.
    settings
        Settings of the plan.
    assumptions
        Assumptions of the figures.
    """
    operation = operation_of(variant, afterwards)
    if operation is None:
        return weighed(variant, None, assumptions)
    wanted = settings_of(settings, variant, afterwards)
    found = weighed(variant, plan(variant.state, operation, wanted), assumptions)
    full = len(found.figures.full_dirs)
    if not full or afterwards is not Afterwards.REBALANCE:
        return found
    # Brokers with room may have full log dirs, which only moves inside them relieve.
    naming = replace(wanted, names_log_dirs=True)
    named = weighed(variant, plan(variant.state, operation, naming), assumptions)
    return named if len(named.figures.full_dirs) < full else found


def impossible(variant: Variant, assumptions: Assumptions) -> Need | None:
    """Return a need that no placement on the variant's brokers meets, or `None`."""
    wanted = Wanted(thresholds=assumptions.thresholds, survives=frozenset())
    fleet = fleet_of(variant.state, variant.leaving)
    if not len(fleet):
        return None
    found = needs_of(demand_of(variant.state), fleet, wanted)
    return found[0] if found and not found[0].is_met else None


def weighed(
    variant: Variant, placed: PlannedPlacement | None, assumptions: Assumptions
) -> Outcome:
    """Return the outcome of a variant after its plan."""
    state = variant.state if placed is None else placed.reassignment.after()
    empty = frozenset(b for b in variant.leaving if not held_by(state, frozenset({b})))
    left = without_brokers(state, empty)
    # What a plan does not rebuild fetches nothing, as without a plan.
    stays_lost = placed is None or bool(left.is_offline.any())
    return Outcome(
        variant=variant,
        placed=placed,
        figures=figures_of(
            left,
            assumptions,
            leaving=variant.leaving - empty,
            is_gone=variant.has_lost and stays_lost,
        ),
        copying=copying_of(variant, placed, assumptions.bandwidth_bytes_per_s),
    )


def copying_of(
    variant: Variant, placed: PlannedPlacement | None, bandwidth_bytes_per_s: float
) -> Copying:
    """
    Return the copies of a scenario, and the seconds that the busiest broker needs.

    A replica that the changes create and the plan moves is copied once. Replicas of new
    topics have no bytes to copy. Copies come from leaders.
    """
    state = variant.state
    target, copied = _copies(variant, placed)
    rows = np.nonzero(copied)[0]
    of = state.replicas.partition_idx[rows]
    size = weigh(state).copy_bytes[of]
    arrives = np.bincount(target[rows], weights=size, minlength=state.num_brokers)
    source = state.partitions.leader_idx[of]
    is_led = source != ABSENT
    leaves = np.bincount(
        source[is_led], weights=size[is_led], minlength=state.num_brokers
    )
    busiest = np.maximum(arrives, leaves)
    broker = int(busiest.argmax()) if len(busiest) else ABSENT
    is_copying = len(rows) > 0 and bool(busiest.any())
    racks = state.brokers.rack_idx
    crosses = is_led & (racks[source] != racks[target[rows]])
    return Copying(
        replicas=len(rows),
        size_bytes=int(size.sum()),
        seconds=float(busiest[broker]) / bandwidth_bytes_per_s if is_copying else 0.0,
        broker_id=int(state.brokers.ids[broker]) if is_copying else ABSENT,
        cross_rack_bytes=int(size[crosses].sum()),
    )


def _copies(
    variant: Variant, placed: PlannedPlacement | None
) -> tuple[IndexArray, BoolArray]:
    """Return the final broker of each replica, and true for replicas copied there."""
    by_change: npt.NDArray[np.bool_] = np.equal(variant.data, Data.COPIED)
    if placed is None:
        return variant.state.replicas.broker_idx, by_change
    reassignment = placed.reassignment
    origin = reassignment.origin
    has_data = np.not_equal(variant.data[origin], Data.EMPTY)
    moved = reassignment.is_copied & has_data
    return reassignment.broker_idx, moved | by_change[origin]


def continued(outcome: Outcome) -> Variant:
    """Return the final cluster of a scenario, as the start of another one."""
    variant, placed = outcome.variant, outcome.placed
    state = variant.state if placed is None else placed.reassignment.after()
    there = np.zeros(len(state.replicas), dtype=np.int8)
    return replace(variant, state=state, data=there)
