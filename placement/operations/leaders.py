"""Balance leadership without copying replicas."""

from dataclasses import dataclass

import numpy as np

from placement.core.model.problem import Movability
from placement.draft.draft import Draft
from placement.model.load import Resource

LED = (Resource.OUT, Resource.CPU, Resource.LEADERS)
"""Resources whose load depends on the leader."""
USUAL = (Resource.OUT, Resource.LEADERS)
"""Resources with load on the leader alone: balanced unless others are requested."""


@dataclass(frozen=True, slots=True)
class Leaders:
    """
    Change the order of replicas in their lists, and nothing else.

    Parameters
    ----------
    orders_followers
        Whether any list may be reordered to spread the next leaders; otherwise only
        lists whose leader changes.
    """

    orders_followers: bool = False

    def fill(self, draft: Draft) -> None:
        """Keep every replica on its broker, and balance the load of leaders."""
        draft.movability[:] = Movability.NEVER
        # A broker without replicas cannot lead; the others share all leadership.
        held = np.bincount(
            draft.state.replicas.broker_idx, minlength=draft.state.num_brokers
        )
        draft.leads &= held > 0
        draft.may_balance = USUAL
        draft.is_order_only = True
        draft.orders_followers = self.orders_followers
