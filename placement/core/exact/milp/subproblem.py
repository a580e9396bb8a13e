"""
Sub-problem of a few bins and the items that may move among them.

Other items in these bins are fixed load. Caps of nodes that extend beyond these bins
are reduced by the items outside.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from placement.array_types import BoolArray, IndexArray, IntArray
from placement.core.bounds.cover_bounds import Bands
from placement.core.model.arrangement import Arrangement, loads, sum_rows_into
from placement.core.model.problem import (
    NO_LIMIT,
    NOWHERE,
    Level,
    Limits,
    Movability,
    Problem,
)


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """
    Sub-problem of a few bins and the items that may move among them.

    Parameters
    ----------
    whole, at
        Whole problem and its present arrangement.
    bins
        ``(n,)`` bins of the sub-problem, sorted.
    items
        ``(k,)`` items that may move, by group.
    groups
        ``(g,)`` groups of these items, sorted.
    problem
        Sub-problem as a `Problem`.
    """

    whole: Problem
    at: Arrangement
    bins: IntArray
    items: IntArray
    groups: IntArray
    problem: Problem

    @classmethod
    def of(
        cls, whole: Problem, at: Arrangement, bins: IntArray, groups: IntArray
    ) -> Self:
        """Return the sub-problem in which some groups may move among some bins."""
        inside = np.isin(at.bin_of, bins)
        items = np.nonzero(inside & np.isin(whole.group_of, groups))[0]
        problem = _problem_of(whole, at, bins, items)
        return cls(whole, at, bins, items, groups, problem)

    def solved(
        self, bands: Bands, objective: str, max_nodes: int
    ) -> Arrangement | None:
        """Return the whole arrangement with this part solved; `None`: no solution."""
        from placement.core.exact.milp.small_model import solve_model

        own = Bands(bands.lower[self.bins], bands.upper[self.bins])
        if objective == "deviation":
            limits = self.problem.bins
            own = Bands(
                limits.lower, np.where(limits.target > 0, limits.upper, NO_LIMIT)
            )
        found = solve_model(self.problem, own, objective, max_nodes).at
        return None if found is None else self.whole_with(found)

    def whole_with(self, found: Arrangement) -> Arrangement:
        """Return the whole arrangement with a new arrangement of this part."""
        bin_of, role_of = self.at.bin_of.copy(), self.at.role_of.copy()
        bin_of[self.items] = self.bins[found.bin_of]
        has_role = np.not_equal(found.role_of, NOWHERE)
        role_of[self.groups[has_role]] = self.items[found.role_of[has_role]]
        return Arrangement(bin_of, role_of)


def spanned_levels(problem: Problem, bins: IntArray) -> list[Level]:
    """Return the levels with caps in which some bins are in more than one node."""
    return [
        level
        for level in problem.levels[1:]
        if level.group_cap is not None and len(np.unique(level.node_of_bin[bins])) > 1
    ]


def caps_of(level: Level) -> IntArray:
    """Return ``(G,)`` caps of a level with caps; 0: no cap."""
    assert level.group_cap is not None  # noqa: S101 - asked of such levels alone
    return level.group_cap.astype(np.int64)


def room_in(
    problem: Problem, at: Arrangement, level: Level, bins: IntArray
) -> IntArray:
    """Return ``(nodes, G)`` number of items of a group that fit into some bins."""
    nodes = np.unique(level.node_of_bin[bins])
    outside = ~np.isin(at.bin_of, bins)
    left = np.zeros((len(nodes), problem.num_groups), dtype=np.int64)
    for row, node in enumerate(nodes):
        here = outside & np.equal(level.node_of_bin[at.bin_of], node)
        held = np.bincount(problem.group_of[here], minlength=problem.num_groups)
        left[row] = caps_of(level) - held if node >= 0 else problem.num_bins
    return left


def _problem_of(
    whole: Problem, at: Arrangement, bins: IntArray, items: IntArray
) -> Problem:
    """Return a problem of some bins and items, with all other items as fixed load."""
    groups, first = np.unique(whole.group_of[items], return_index=True)
    start = np.append(first, len(items)).astype(np.int64)
    home = _homes(whole, bins, items)
    has_home = np.not_equal(home, NOWHERE)
    must = np.equal(whole.movability[items], Movability.MUST) & has_home
    movability = np.where(must, Movability.MUST, Movability.MAY)
    role_home, is_role_movable = _roles(whole, at, groups, items)
    no_extra = np.zeros((0, whole.num_resources), dtype=np.int64)
    extra = whole.extra[items] * has_home[:, None] if len(whole.extra) else no_extra
    part = Problem(
        resources=whole.resources,
        group_start=start,
        group_class=whole.group_class[groups],
        weight=whole.weight[groups],
        role_weight=whole.role_weight[groups],
        cost=whole.cost[groups],
        home=home,
        extra=extra,
        movability=movability.astype(whole.movability.dtype),
        role_home=role_home,
        is_role_movable=is_role_movable,
        may_receive=whole.may_receive[bins],
        may_hold_role=whole.may_hold_role[bins],
        must_release_role=np.zeros(len(bins), dtype=np.bool_),
        bin_class=whole.bin_class[bins],
        is_eligible=whole.is_eligible,
        levels=_levels(whole, at, bins, groups.astype(np.int64)),
        is_transient=whole.is_transient,
        price_across=whole.price_across,
        price_per_move=whole.price_per_move,
    )
    return _with_fixed(part, whole, at, (bins, items))


def _homes(whole: Problem, bins: IntArray, items: IntArray) -> IndexArray:
    """Return ``(k,)`` index of the home bin of each item; `NOWHERE`: outside."""
    row_of = np.full(whole.num_bins, NOWHERE, dtype=np.int32)
    row_of[bins] = np.arange(len(bins), dtype=np.int32)
    return row_of[whole.home[items]]


def _roles(
    whole: Problem, at: Arrangement, groups: IndexArray, items: IntArray
) -> tuple[IntArray, BoolArray]:
    """Return the initial role holders in the sub-problem, and role movability."""
    row_of = np.full(whole.num_items + 1, NOWHERE, dtype=np.int64)
    row_of[items] = np.arange(len(items))
    now = row_of[at.role_of[groups]]
    before = row_of[whole.role_home[groups]]
    is_here = np.not_equal(now, NOWHERE)
    was_here = is_here & np.not_equal(before, NOWHERE)
    role_home = np.where(was_here, before, np.where(is_here, now, NOWHERE))
    return role_home, whole.is_role_movable[groups] | ~was_here


def _levels(
    whole: Problem, at: Arrangement, bins: IntArray, groups: IntArray
) -> tuple[Level, ...]:
    limits = whole.bins
    own = Limits(
        **{
            name: getattr(limits, name)[bins]
            for name in ("fixed", "capacity", "lower", "upper", "target")
        }
    )
    lowest = replace(
        whole.levels[0],
        node_of_bin=np.arange(len(bins), dtype=np.int32),
        num_nodes=len(bins),
        group_cap=np.ones(len(groups), dtype=np.int32),
        open_bins=None,
        limits=own,
    )
    above = []
    for level in spanned_levels(whole, bins):
        nodes, node_of = np.unique(level.node_of_bin[bins], return_inverse=True)
        cap = room_in(whole, at, level, bins).min(axis=0)[groups]
        cap[caps_of(level)[groups] == 0] = 0
        one = replace(
            level,
            node_of_bin=node_of.astype(np.int32),
            num_nodes=len(nodes),
            group_cap=cap.astype(np.int32),
            is_even=False,
            open_bins=None,
        )
        above.append(one)
    return (lowest, *above)


def _with_fixed(
    part: Problem,
    whole: Problem,
    at: Arrangement,
    chosen: tuple[IntArray, IntArray],
) -> Problem:
    """Return the part with the load of all other items as fixed load."""
    bins, items = chosen
    row_of = np.full(whole.num_bins, NOWHERE, dtype=np.int32)
    row_of[bins] = np.arange(len(bins), dtype=np.int32)
    load = loads(whole, at)[bins]
    place, group = row_of[at.bin_of[items]], whole.group_of[items]
    weight = whole.weight[group]
    leads = np.equal(at.role_of[group], items)
    weight = weight + whole.role_weight[group] * leads[:, None]
    if len(whole.extra):
        stays = np.equal(at.bin_of[items], whole.home[items])
        weight = weight + whole.extra[items] * stays[:, None]
    fixed = load - sum_rows_into(place, weight, len(bins))
    lowest = part.levels[0]
    limits = replace(part.bins, fixed=fixed)
    return replace(part, levels=(replace(lowest, limits=limits), *part.levels[1:]))
