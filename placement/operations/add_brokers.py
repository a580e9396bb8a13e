"""Fill brokers that are new."""

from dataclasses import dataclass

import numpy as np

from placement.draft.draft import Draft


@dataclass(frozen=True, slots=True)
class AddBrokers:
    """
    Fill brokers that are new; copies go nowhere else, leadership anywhere.

    Parameters
    ----------
    broker_ids
        The brokers to fill besides those whose state is `new`.
    """

    broker_ids: tuple[int, ...] = ()
    goal: str = "add-brokers"

    def fill(self, draft: Draft) -> None:
        """Let copies go to the new brokers alone."""
        added = np.isin(draft.state.brokers.ids, self.broker_ids)
        # Named brokers are the ones added; without names, those whose state is new.
        draft.is_new = added if self.broker_ids else draft.is_new
        if not draft.settings.frees_the_rest:
            draft.may_receive &= draft.is_new
            draft.old_may_be_low = True
