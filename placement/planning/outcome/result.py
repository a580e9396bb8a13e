"""The result of planning one operation."""

from collections.abc import Mapping
from dataclasses import dataclass

from placement.core.model.solution import Solution, Status
from placement.draft.draft import Draft, Note
from placement.log_dirs.planned_dirs import PlannedDirs
from placement.model.load import Resource, Weights, weigh
from placement.model.reassignment import Reassignment
from placement.model.targets import Shares, Targets


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PlannedPlacement:
    """
    The outcome of planning one operation.

    Parameters
    ----------
    draft
        Tables of what the plan may move, and the notes on them.
    reassignment
        The replica lists before and after.
    solution
        The core's solution with its certificate and shortfalls.
    balanced
        Resources that were balanced.
    shares
        Fair shares of the brokers that stay, from which targets are computed.
    targets
        Targets and bands in the state after the plan.
    columns
        Resources of the core's problem, in the order of its columns.
    notes
        Remarks for the reader of the plan.
    seconds
        Time spent on ``solve`` and ``bound``, for information; no part of the plan.
    log_dirs
        Plan of the log dirs, if log dirs were planned.
    """

    draft: Draft
    reassignment: Reassignment
    solution: Solution
    balanced: tuple[Resource, ...]
    shares: Shares
    targets: Targets
    columns: tuple[str, ...]
    notes: tuple[Note, ...]
    seconds: Mapping[str, float]
    log_dirs: PlannedDirs | None = None

    @property
    def is_nothing(self) -> bool:
        """Whether no replica list changes."""
        return not self.reassignment.is_changed.any()

    @property
    def weights_before(self) -> Weights:
        """Weights of the replicas of the cluster before the plan."""
        draft = self.draft
        # An operation that decides lists changes rows and replication factors.
        is_as_before = draft.decided is None
        return draft.weights if is_as_before else weigh(self.reassignment.before)

    @property
    def has_met_rules(self) -> bool:
        """Whether all hard rules hold that the operation controls."""
        return self.solution.status in {Status.OPTIMAL, Status.FEASIBLE}
