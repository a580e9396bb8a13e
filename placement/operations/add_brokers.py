"""Fill new brokers."""

from dataclasses import dataclass

import numpy as np

from placement.draft.draft import Draft


@dataclass(frozen=True, slots=True)
class AddBrokers:
    """
    Fill new brokers: copies go to these alone, leadership to any broker.

    Parameters
    ----------
    broker_ids
        Ids of the brokers to fill. If empty, the brokers whose state is `new` are
        filled.
    """

    broker_ids: tuple[int, ...] = ()

    def fill(self, draft: Draft) -> None:
        """Restrict copies to the new brokers."""
        added = np.isin(draft.state.brokers.ids, self.broker_ids)
        # Named brokers are the new ones; without names, those whose state is new.
        draft.is_new = added if self.broker_ids else draft.is_new
        if not draft.settings.frees_the_rest:
            draft.may_receive &= draft.is_new
            draft.old_may_be_low = True
