"""Balance a cluster: every replica that is not excluded may move."""

from dataclasses import dataclass

import numpy as np

from placement.core.model.problem import Movability
from placement.draft.draft import Draft
from placement.model.cluster import BrokerState
from placement.operations.steps.evacuate import evacuate


@dataclass(frozen=True, slots=True)
class Rebalance:
    """Allow every replica that is not excluded to move, and evacuate dead brokers."""

    def fill(self, draft: Draft) -> None:
        """Evacuate dead brokers; leave all other replicas free to move."""
        draft.repairs_racks = draft.repairs_capacity = True
        draft.leaves |= np.equal(draft.state.brokers.state, BrokerState.DEAD)
        evacuate(draft, rest=Movability.MAY)
