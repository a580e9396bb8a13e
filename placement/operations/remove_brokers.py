"""Empty brokers."""

from dataclasses import dataclass

import numpy as np

from placement.core.model.problem import Movability
from placement.draft.draft import Draft
from placement.model.cluster import BrokerState
from placement.operations.steps.evacuate import evacuate


@dataclass(frozen=True, slots=True)
class RemoveBrokers:
    """
    Empty brokers: only their replicas are copied; leadership may change anywhere.

    Parameters
    ----------
    broker_ids
        Ids of the brokers to empty, in any state.
    """

    broker_ids: tuple[int, ...]

    def fill(self, draft: Draft) -> None:
        """Mark every replica on the leaving brokers as one that must move."""
        brokers = draft.state.brokers
        draft.to_empty |= np.isin(brokers.ids, self.broker_ids)
        draft.leaves |= draft.to_empty
        draft.leaves |= np.equal(brokers.state, BrokerState.DEAD)
        rest = Movability.MAY if draft.settings.frees_the_rest else Movability.NEVER
        evacuate(draft, rest=rest)
        draft.may_lead_anew[:] = True
