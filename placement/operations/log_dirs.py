"""Balance and empty log dirs inside brokers."""

from dataclasses import dataclass

import numpy as np

from placement.core.model.problem import Movability
from placement.draft.draft import Draft
from placement.model.cluster import ABSENT, LogDirState


@dataclass(frozen=True, slots=True)
class LogDirs:
    """
    Change the log dirs of replicas; brokers and list order stay.

    Parameters
    ----------
    to_empty
        Rows of the log dirs to empty.
    """

    to_empty: tuple[int, ...] = ()

    def fill(self, draft: Draft) -> None:
        """Allow replicas to leave their log dir for another one of the same broker."""
        state, replicas = draft.state, draft.state.replicas
        dirs = state.log_dirs
        draft.may_balance = ()
        draft.may_lead_anew[:] = False
        draft.is_emptied_dir = np.zeros(len(dirs), dtype=np.bool_)
        draft.is_emptied_dir[list(self.to_empty)] = True
        row = replicas.log_dir_idx
        is_known = row != ABSENT
        serves = np.append(np.not_equal(dirs.state, LogDirState.OFFLINE), False)[row]
        is_emptied = np.append(draft.is_emptied_dir, False)[row]
        is_free = np.append(np.equal(dirs.state, LogDirState.ONLINE), False)[row]
        # A replica on its way to another log dir is not redirected.
        settled = is_known & serves & (replicas.future_log_dir_idx == ABSENT)
        draft.movability[:] = np.where(
            settled & is_emptied,
            Movability.MUST,
            np.where(settled & is_free, Movability.MAY, Movability.NEVER),
        )
