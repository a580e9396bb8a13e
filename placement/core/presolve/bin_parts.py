"""
Bins divided into parts, each with its own capacity.

Each part becomes a bin and its former bin a node above it, so that items find a part
with room while all constraints of the bins still hold. Bands and bounds concern bins
alone and do not depend on the part of an item.
"""

from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np

from placement.array_types import BoolArray, IndexArray, IntArray
from placement.core.model.arrangement import Arrangement, settled
from placement.core.model.objective import open_bins
from placement.core.model.problem import (
    NO_LIMIT,
    NOWHERE,
    Level,
    Limits,
    Movability,
    Problem,
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Parts:
    """
    Division of the bins into ``D`` parts.

    Parameters
    ----------
    name
        Name of the level in messages: "log dir".
    bin_of
        ``(D,)`` bin of each part; every bin has at least one part.
    home
        ``(I,)`` present part of each item; `NOWHERE` for items without a home.
    may_receive
        ``(D,)`` whether the part may take items whose home is elsewhere.
    fixed, capacity
        ``(D, R)`` load that no item brings, and hard capacity of each part.
    is_exact
        Whether the fixed load of the parts cannot leave; only then do the parts prove
        infeasibility.
    """

    name: str
    bin_of: IndexArray
    home: IndexArray
    may_receive: BoolArray
    fixed: IntArray
    capacity: IntArray
    is_exact: bool = True


def divide(problem: Problem, parts: Parts) -> Problem:
    """Return the problem whose bins are the parts, with the old bins as nodes."""
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
    """Return a level of the bins as a level of their parts."""
    has_spread = level.group_cap is not None and level.is_even
    return replace(
        level,
        node_of_bin=level.node_of_bin[of],
        open_bins=open_bins(level).astype(np.int32) if has_spread else level.open_bins,
    )


def gather(problem: Problem, parts: Parts, at: Arrangement) -> Arrangement:
    """Return an arrangement on the parts as one on the bins of `problem`."""
    bin_of = np.where(at.bin_of < 0, NOWHERE, parts.bin_of[at.bin_of])
    return settled(problem, Arrangement(bin_of.astype(np.int32), at.role_of.copy()))


def _without_vacated(problem: Problem) -> tuple[IndexArray, IndexArray, BoolArray]:
    """
    Return classes in which no group may go to a bin that one of its items must leave.

    Otherwise an item that must leave its part could go to another part of the bin.
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
