"""What planning one operation came to."""

from collections.abc import Mapping
from dataclasses import dataclass

from placement.core.model.solution import Solution, Status
from placement.draft.draft import Draft, Note
from placement.log_dirs.dir_plan import PlannedDirs
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
        What was allowed, with its notes.
    reassignment
        What changes.
    solution
        The core's answer with its certificate and shortfalls.
    balanced
        Resources that were balanced.
    shares
        What targets are computed from, for the brokers that stay.
    targets
        Targets and bands in the state after.
    columns
        Resources that the core saw, in the order of its columns.
    notes
        What a reader should know.
    seconds
        Time spent on ``solve`` and ``bound``, for people; no part of the plan.
    log_dirs
        Where replicas lie inside their brokers, where that was planned.
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
        """Whether no partition's list changes."""
        return not self.reassignment.is_changed.any()

    @property
    def weights_before(self) -> Weights:
        """What the replicas of the cluster before weigh, row by row."""
        draft = self.draft
        # What an operation has decided has rows, and factors, of its own.
        is_as_before = draft.decided is None
        return draft.weights if is_as_before else weigh(self.reassignment.before)

    @property
    def has_met_rules(self) -> bool:
        """Whether all hard rules hold that this operation could see to."""
        return self.solution.status in {Status.OPTIMAL, Status.FEASIBLE}
