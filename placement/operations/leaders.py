"""Share leadership out, nothing copied."""

from dataclasses import dataclass

import numpy as np

from placement.core.model.problem import Movability
from placement.draft.draft import Draft
from placement.model.load import Resource

LED = (Resource.OUT, Resource.CPU, Resource.LEADERS)
"""Resources that depend on who leads."""
USUAL = (Resource.OUT, Resource.LEADERS)
"""Those that the leader alone takes: balanced unless others are asked for."""


@dataclass(frozen=True, slots=True)
class Leaders:
    """
    The order of replicas may change, nothing else.

    Parameters
    ----------
    orders_followers
        Whether any list may be reordered to spread those who lead next; otherwise
        only lists whose leader changes.
    """

    orders_followers: bool = False
    goal: str = "leaders"

    def fill(self, draft: Draft) -> None:
        """Keep every replica where it is, and balance what leaders take."""
        draft.movability[:] = Movability.NEVER
        # Who has no replica cannot lead, so the others share what there is.
        held = np.bincount(
            draft.state.replicas.broker_idx, minlength=draft.state.num_brokers
        )
        draft.leads &= held > 0
        draft.may_balance = USUAL
        draft.is_order_only = True
        draft.orders_followers = self.orders_followers
