"""
Exact assignment of partitions of different weights in a small group.

In the core's model, partitions are groups of one item and members are bins whose bands
end at the limit of each load. CP-SAT minimises the largest excess over the limits, as a
fraction of the member's fair share, then the sum of all excesses, then the partitions
that change owner (`placement.core.exact.improvement.objective_levels`). The first
incumbent is the assignment of `balanced_weights`, which stays unless it is improved.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from assignment.balanced.partition_classes import Classes
from assignment.group import ABSENT, Group
from placement.array_types import BoolArray, IndexArray, RateArray, RowArray
from placement.core.model.arrangement import Arrangement
from placement.core.model.objective import evaluate
from placement.core.model.problem import (
    NO_LIMIT,
    NOWHERE,
    Level,
    Limits,
    Movability,
    Problem,
)

MOST_PAIRS = 1_500
"""Largest number of pairs of a partition and a member that the core solves."""
WORK = 0.3
"""Work limit in deterministic seconds of CP-SAT, each about two CPU seconds."""
PARTS = float(1 << 40)
"""Sum of all weights after scaling to integers."""


@dataclass(frozen=True, slots=True)
class Said:
    """
    Lower bounds on every assignment, as stated by CP-SAT.

    Parameters
    ----------
    excess
        Lower bound on the largest excess of a load over its limit, in fair shares.
    moved
        Lower bound on the number of owned partitions that change owner, at the minimal
        excess; `None` if not proven.
    solver
        Name and version of the solver.
    """

    excess: float
    moved: int | None
    solver: str


class Exact(NamedTuple):
    """Assignment with the bounds that CP-SAT states."""

    member_idx: IndexArray
    said: Said | None


def exactly(
    group: Group,
    classes: Classes,
    member_idx: IndexArray,
    limit: RateArray,
    share: RateArray,
) -> Exact:
    """
    Return the best assignment found for a small group, else the incumbent.

    Parameters
    ----------
    group, classes
        The group, and its partitions by the members that may read them.
    member_idx
        ``(P,)`` member of each partition, the first incumbent.
    limit, share
        ``(M,)`` upper limit and fair share of the load of each member.
    """
    rows = np.nonzero(np.not_equal(classes.class_idx, ABSENT))[0]
    is_small = len(rows) * group.num_members <= MOST_PAIRS
    if not (is_small and group.partitions.weight[rows].any()):
        return Exact(member_idx, None)
    problem = _problem(group, classes, rows, limit, share)
    at = _arrangement(member_idx[rows])
    before = evaluate(problem, at)
    if before.is_in_band and not before.cost:
        return Exact(member_idx, None)
    from placement.core.exact.improvement.objective_levels import by_levels
    from placement.core.exact.solver_names import cp_sat

    levels = by_levels(problem, at, WORK, lambda: None)
    said = Said(levels.deviation, levels.cost, cp_sat())
    if evaluate(problem, levels.at).key[:4] >= before.key[:4]:
        return Exact(member_idx, said)
    found = member_idx.copy()
    found[rows] = levels.at.bin_of
    return Exact(found, said)


def _arrangement(bin_of: IndexArray) -> Arrangement:
    """Return members as bins; no item has a role."""
    roles = np.full(len(bin_of), NOWHERE, dtype=np.int64)
    return Arrangement(bin_of.astype(np.int32), roles)


def _problem(
    group: Group,
    classes: Classes,
    rows: RowArray,
    limit: RateArray,
    share: RateArray,
) -> Problem:
    """Return the core problem: partitions are groups of one item, members are bins."""
    items, members = len(rows), group.num_members
    part = PARTS / float(group.partitions.weight[rows].sum())
    owner = classes.owner_idx[rows]
    is_owned = np.not_equal(owner, ABSENT)
    every = np.ones(members, dtype=np.bool_)
    return Problem(
        resources=("weight",),
        group_start=np.arange(items + 1, dtype=np.int64),
        group_class=classes.class_idx[rows],
        weight=_whole(group.partitions.weight[rows] * part),
        role_weight=np.zeros((items, 1), dtype=np.int64),
        # Assigning a partition without an owner costs nothing.
        cost=is_owned.astype(np.int64),
        home=np.where(is_owned, owner, NOWHERE).astype(np.int32),
        extra=np.zeros((0, 1), dtype=np.int64),
        movability=np.full(items, Movability.MAY, dtype=np.int8),
        role_home=np.full(items, NOWHERE, dtype=np.int64),
        is_role_movable=np.zeros(items, dtype=np.bool_),
        may_receive=every,
        may_hold_role=every.copy(),
        must_release_role=~every,
        bin_class=np.arange(members, dtype=np.int32),
        is_eligible=_readers(classes, members),
        levels=(_level(items, limit * part, share * part),),
        is_transient=np.zeros(1, dtype=np.bool_),
    )


def _whole(parts: RateArray) -> RowArray:
    return np.rint(parts).astype(np.int64)[:, None]


def _readers(classes: Classes, members: int) -> BoolArray:
    """Return ``(K, M)`` true where a member may read partitions of a class."""
    may_read = np.zeros((classes.num_classes, members), dtype=np.bool_)
    of_class = np.repeat(np.arange(classes.num_classes), np.diff(classes.start))
    may_read[of_class, classes.member_idx] = True
    return may_read


def _level(items: int, limit: RateArray, share: RateArray) -> Level:
    """Return the level of members, with bands from 0 to the limits."""
    members = len(limit)
    limits = Limits(
        fixed=np.zeros((members, 1), dtype=np.int64),
        capacity=np.full((members, 1), NO_LIMIT, dtype=np.int64),
        lower=np.zeros((members, 1), dtype=np.int64),
        # Rounding up of weights must not put a load over its limit.
        upper=_whole(limit) + items,
        target=np.maximum(share, 1.0)[:, None],
    )
    return Level(
        name="member",
        node_of_bin=np.arange(members, dtype=np.int32),
        num_nodes=members,
        group_cap=np.ones(items, dtype=np.int32),
        limits=limits,
    )
