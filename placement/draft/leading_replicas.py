"""Leading replica of each partition, as a plan counts it."""

import numpy as np
import numpy.typing as npt

from placement.draft.draft import Draft
from placement.model.cluster import ABSENT
from placement.model.load import first_live_replica


def leading_replicas(draft: Draft) -> npt.NDArray[np.int64]:
    """
    Return ``(P,)`` the leading replica, or the future leader if all must move.

    This is the first live replica, or none if no copy can be fetched. If no replica is
    live and the partition is not left alone, its replicas are evacuated and the first
    one leads on its new broker.
    """
    state = draft.state
    leading = np.where(state.has_source, first_live_replica(state), ABSENT)
    will_lead = (leading == ABSENT) & ~draft.is_left_alone
    return np.where(will_lead, state.replicas.start[:-1], leading)
