"""
Bins that are divided in parts, each with a capacity of its own.

A part becomes a bin and its bin a node above, so that items find a part that has room
for them while everything said of the bins holds as before. Which part an item is in
matters to no band and no bound: those are about the bins.
"""

from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np

from placement.core.model.arrangement import Arrangement, settled
from placement.core.model.objective import open_bins
from placement.core.model.problem import (
    NO_LIMIT,
    NOWHERE,
    BoolArray,
    IndexArray,
    IntArray,
    Level,
    Limits,
    Movability,
    Problem,
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Parts:
    """
    What the bins are divided in: ``D`` parts.

    Parameters
    ----------
    name
        Of the level, for messages: "log dir".
    bin_of
        ``(D,)`` the bin that each is a part of; every bin has one at least.
    home
        ``(I,)`` part each item is in now; `NOWHERE` for items without a home.
    may_receive
        ``(D,)`` parts that may take items which are not at home there.
    fixed, capacity
        ``(D, R)`` load that no item brings, and the most that a part may carry.
    is_exact
        Whether parts carry no load that might leave unseen: only then is what they
        have no room for proven to have none.
    """

    name: str
    bin_of: IndexArray
    home: IndexArray
    may_receive: BoolArray
    fixed: IntArray
    capacity: IntArray
    is_exact: bool = True


def divide(problem: Problem, parts: Parts) -> Problem:
    """Return the problem whose bins are the parts, those of `problem` nodes of them."""
    of = parts.bin_of
    count, width = len(of), problem.num_resources
    anything = np.full((count, width), NO_LIMIT, dtype=np.int64)
    lowest = Level(
        name=parts.name,
        node_of_bin=np.arange(count, dtype=np.int32),
        num_nodes=count,
        group_cap=np.ones(problem.num_groups, dtype=np.int32),
        limits=Limits(
            fixed=parts.fixed,
            capacity=parts.capacity,
            lower=np.zeros((count, width), dtype=np.int64),
            upper=anything,
            target=np.zeros((count, width)),
        ),
    )
    group_class, bin_class, is_eligible = _without_vacated(problem)
    return replace(
        problem,
        home=parts.home,
        may_receive=parts.may_receive & problem.may_receive[of],
        may_hold_role=problem.may_hold_role[of],
        must_release_role=problem.must_release_role[of],
        group_class=group_class,
        bin_class=bin_class[of],
        is_eligible=is_eligible,
        levels=(lowest, *(_above(level, of) for level in problem.levels)),
        zone_of_bin=problem.zone_of_bin[of] if problem.has_zones else np.zeros(0, "i4"),
    )


def _above(level: Level, of: IndexArray) -> Level:
    """Return a level of the bins as one of their parts."""
    has_spread = level.group_cap is not None and level.is_even
    return replace(
        level,
        node_of_bin=level.node_of_bin[of],
        open_bins=open_bins(level).astype(np.int32) if has_spread else level.open_bins,
    )


def gather(problem: Problem, parts: Parts, at: Arrangement) -> Arrangement:
    """Return an arrangement of the parts as one of the bins of `problem`."""
    bin_of = np.where(at.bin_of < 0, NOWHERE, parts.bin_of[at.bin_of])
    return settled(problem, Arrangement(bin_of.astype(np.int32), at.role_of.copy()))


def _without_vacated(problem: Problem) -> tuple[IndexArray, IndexArray, BoolArray]:
    """
    Return classes in which no group may go to a bin that one of its items must leave.

    Of the parts an item that must leave its part could otherwise go to the next one.
    """
    group_class, bin_class = problem.group_class, problem.bin_class
    must = np.equal(problem.movability, Movability.MUST) & (problem.home >= 0)
    must[must] = problem.may_receive[problem.home[must]]
    vacated: dict[int, list[int]] = defaultdict(list)
    for item in np.nonzero(must)[0].tolist():
        vacated[int(problem.group_of[item])].append(int(problem.home[item]))
    if not vacated:
        return group_class, bin_class, problem.is_eligible
    group_class, own = group_class.copy(), np.arange(problem.num_bins, dtype=np.int32)
    rows: list[BoolArray] = list(problem.is_eligible[:, bin_class])
    row_of: dict[tuple[int, ...], int] = {}
    for group, bins in vacated.items():
        key = (int(group_class[group]), *sorted(bins))
        if key not in row_of:
            row_of[key] = len(rows)
            rows.append(rows[key[0]].copy())
            rows[-1][bins] = False
        group_class[group] = row_of[key]
    return group_class, own, np.array(rows)
