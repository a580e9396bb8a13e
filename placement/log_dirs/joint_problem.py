"""
Log dirs as parts of brokers, for plans that choose brokers and log dirs together.

A log dir takes a replica only if it has room for all of it. A broker with enough room
in sum may therefore have no room for a replica.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from placement.array_types import BoolArray, IndexArray, IntArray
from placement.core.model.problem import NO_LIMIT, NOWHERE, Movability, Problem
from placement.core.presolve.bin_parts import Parts
from placement.draft.draft import Draft
from placement.log_dirs.dir_problem import LOG_DIR, Tables, as_before
from placement.model.cluster import ABSENT
from placement.model.load import Resource
from placement.model.reassignment import Reassignment


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DirParts:
    """
    Parts of the brokers: their log dirs, and one part for replicas in no log dir.

    Parameters
    ----------
    broker_idx
        ``(D + B,)`` broker of each part.
    home
        ``(R,)`` part of each replica of the draft.
    may_receive
        ``(D + B,)`` log dirs that may receive replicas, and brokers without any log
        dir.
    fixed_bytes, capacity_bytes
        ``(D + B,)`` bytes besides replicas, and the capacity in bytes.
    is_exact
        Whether the log dir of each replica that may leave is known; replicas in unknown
        log dirs count as bytes that stay.
    """

    broker_idx: IndexArray
    home: IndexArray
    may_receive: BoolArray
    fixed_bytes: IntArray
    capacity_bytes: IntArray
    is_exact: bool

    @classmethod
    def of(cls, draft: Draft, reassignment: Reassignment) -> Self:
        """
        Return the log dirs of a draft's brokers.

        Parameters
        ----------
        draft
            Draft with the allowed moves.
        reassignment
            Any reassignment made from the draft, the source of the present cluster.
        """
        table = Tables(draft, as_before(draft, reassignment))
        count = draft.state.num_brokers
        none = np.zeros(count, dtype=np.int64)
        owners = np.arange(count, dtype=np.int32)
        has_none = ~np.isin(owners, table.dirs.broker_idx)
        home = _home(draft, len(table.dirs))
        may_leave = np.not_equal(draft.movability, Movability.NEVER)
        is_lost = (home >= len(table.dirs)) & ~has_none[draft.state.replicas.broker_idx]
        return cls(
            broker_idx=np.concatenate([table.dirs.broker_idx, owners]),
            home=home,
            may_receive=np.concatenate([table.is_member, has_none]),
            fixed_bytes=np.concatenate([table.fixed, none]),
            capacity_bytes=np.concatenate([table.capacity(), none + NO_LIMIT]),
            is_exact=not (is_lost & may_leave).any(),
        )

    def parts(self, problem: Problem) -> Parts | None:
        """Return the parts of a draft's problem; `None` if it has no disk column."""
        if Resource.DISK not in problem.resources:
            return None
        shape = (len(self.broker_idx), problem.num_resources)
        fixed = np.zeros(shape, dtype=np.int64)
        capacity = np.full(shape, NO_LIMIT, dtype=np.int64)
        column = problem.resources.index(Resource.DISK)
        fixed[:, column], capacity[:, column] = self.fixed_bytes, self.capacity_bytes
        return Parts(
            name=LOG_DIR,
            bin_of=self.broker_idx,
            home=self.home,
            may_receive=self.may_receive,
            fixed=fixed,
            capacity=capacity,
            is_exact=self.is_exact,
        )


def _home(draft: Draft, num_dirs: int) -> IndexArray:
    """Return ``(R,)`` the part of each replica of a draft."""
    replicas = draft.state.replicas
    future = replicas.future_log_dir_idx
    home = np.where(future != ABSENT, future, replicas.log_dir_idx)
    home = np.where(home == ABSENT, num_dirs + replicas.broker_idx, home)
    if draft.is_unplaced is not None:
        home = np.where(draft.is_unplaced, NOWHERE, home)
    found: IndexArray = home.astype(np.int32)
    return found
