"""The planned log dirs of replicas, with the costs and bounds of the plan."""

from dataclasses import dataclass

import numpy as np

from placement.array_types import BoolArray, FloatArray, IndexArray, IntArray
from placement.core.model.solution import Bounded, Shortfall, Status
from placement.draft.draft import Note
from placement.log_dirs.dir_problem import disk_alone
from placement.model.cluster import ABSENT
from placement.model.targets import Targets


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PlannedDirs:
    """
    Log dirs of replicas inside their brokers, with the costs.

    Parameters
    ----------
    log_dir_idx
        ``(R,)`` row of the new log dir of each replica; `ABSENT` if it stays or if any
        log dir will do.
    before, after
        ``(D,)`` bytes on each log dir, bytes besides replicas included.
    targets_before, targets
        Shares and bands of the log dirs, before and after, in the first resource: disk.
    is_member
        ``(D,)`` log dirs that share the bytes of their broker.
    cost, deviation
        Bytes copied between log dirs, and the largest distance outside a band, with
        their lower bounds.
    status
        Status of the solution.
    shortfalls
        Emptied log dirs that are not empty, and overfull log dirs; their bins are rows
        of log dirs, their items rows of replicas.
    is_homeless
        ``(R,)`` copies for which no log dir of their broker has room.
    seconds
        Time spent on ``solve`` and ``bound``.
    notes
        Notes on the log dirs in which a soft rule is relaxed.
    """

    log_dir_idx: IndexArray
    before: IntArray
    after: IntArray
    targets_before: Targets
    targets: Targets
    is_member: BoolArray
    cost: Bounded
    deviation: Bounded
    status: Status
    shortfalls: tuple[Shortfall, ...]
    is_homeless: BoolArray
    seconds: dict[str, float]
    notes: tuple[Note, ...] = ()

    @property
    def is_moved(self) -> BoolArray:
        """``(R,)`` true for replicas that change their log dir."""
        moved: BoolArray = np.not_equal(self.log_dir_idx, ABSENT)
        return moved

    @property
    def outside(self) -> FloatArray:
        """``(D,)`` distances from the bands, as fractions of the targets."""
        return self.targets.outside(disk_alone(self.after))[:, 0]
