"""Place partitions that do not exist yet; what exists stays."""

from dataclasses import dataclass, replace

import numpy as np

from placement.cluster import BoolArray
from placement.core.problem import Movability
from placement.rules.draft import Draft


@dataclass(frozen=True, slots=True, eq=False)
class NewPartitions:
    """
    New replicas alone have no place yet.

    Parameters
    ----------
    is_new
        ``(P,)`` partitions of the cluster as it will be that do not exist yet.
    is_fixed
        Whether somebody has said where these lie.
    """

    is_new: BoolArray
    is_fixed: bool = False
    goal: str = "new-topic"

    def fill(self, draft: Draft) -> None:
        """Let new replicas go anywhere, for nothing: there are no bytes yet."""
        replicas = draft.state.replicas
        may = self.is_new & (not self.is_fixed)
        draft.movability[:] = np.where(
            may[replicas.partition_idx], Movability.MAY, Movability.NEVER
        )
        draft.may_lead_anew &= may
        copy_bytes = np.where(self.is_new, 0, draft.weights.copy_bytes)
        draft.weights = replace(draft.weights, copy_bytes=copy_bytes)
