"""
Log dirs as parts of the brokers, for plans that choose both together.

A log dir takes a replica where it has room for all of it, so a broker with room in sum
may have none for it.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from placement.core.model.problem import (
    NO_LIMIT,
    NOWHERE,
    IntArray,
    Movability,
    Problem,
)
from placement.core.presolve.bin_parts import Parts
from placement.draft.draft import Draft
from placement.log_dirs.dir_problem import LOG_DIR, Tables, as_before
from placement.model.cluster import ABSENT, BoolArray, IndexArray
from placement.model.load import Resource
from placement.model.reassignment import Reassignment


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DirParts:
    """
    What the brokers are divided in: their log dirs, and a part for what lies in none.

    Parameters
    ----------
    broker_idx
        ``(D + B,)`` the broker of each.
    home
        ``(R,)`` part that each replica of the draft lies in.
    may_receive
        ``(D + B,)`` log dirs that take replicas, and brokers without any log dir.
    fixed_bytes, capacity_bytes
        ``(D + B,)`` bytes that no replica explains, and the most there may be.
    is_exact
        Whether it is known in which log dir each replica lies that may leave; what
        lies in an unknown one counts as bytes that stay.
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
            What may move.
        reassignment
            Any that the draft led to: it knows the cluster as it is.
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
        """Return the parts of a draft's problem; `None` where disks do not count."""
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
    """Return ``(R,)`` the part that each replica of a draft lies in."""
    replicas = draft.state.replicas
    future = replicas.future_log_dir_idx
    home = np.where(future != ABSENT, future, replicas.log_dir_idx)
    home = np.where(home == ABSENT, num_dirs + replicas.broker_idx, home)
    if draft.is_unplaced is not None:
        home = np.where(draft.is_unplaced, NOWHERE, home)
    found: IndexArray = home.astype(np.int32)
    return found
