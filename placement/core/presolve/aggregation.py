"""
Aggregation of colocated groups into one group with the sum of their weights.

The items of the first group of a bundle represent those of all its groups. The smaller
problem omits the other groups; its answer places their items with those of the first.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from placement.array_types import BoolArray, IndexArray, IntArray
from placement.core.bounds.infeasibility import CAPS, beyond_caps
from placement.core.model.arrangement import Arrangement
from placement.core.model.problem import NO_LIMIT, NOWHERE, Level, Movability, Problem
from placement.core.model.solution import Bounded, Solution, Status
from placement.core.presolve.restriction import extended, restricted

Bundle = tuple[int, ...]
"""Groups that must be colocated, the representative first."""


@dataclass(frozen=True, slots=True, eq=False)
class Bundled:
    """
    Problem in which each bundle is one group.

    Parameters
    ----------
    whole
        Original problem with every group.
    problem
        Aggregated problem.
    bundles
        Groups of `whole` that are one group in `problem`.
    groups, items
        Rows of `whole` that remain in `problem`, in order.
    """

    whole: Problem
    problem: Problem
    bundles: tuple[Bundle, ...]
    groups: IntArray
    items: IntArray

    def unbundled(self, solution: Solution) -> Solution:
        """
        Return a solution of the aggregated problem as one of the original problem.

        Bounds on cost and moves hold if the groups of every bundle were colocated
        before. Otherwise only the cost of colocating them is a bound.
        """
        lacks = tuple(
            replace(
                one,
                group=int(self.groups[one.group]) if one.group >= 0 else one.group,
                item=int(self.items[one.item]) if one.item >= 0 else one.item,
            )
            for one in solution.shortfalls
        )
        found = replace(solution, best=self._spread(solution.best), shortfalls=lacks)
        are_gathered = self._are_gathered()
        if any(one.what in CAPS for one in lacks):
            found = self._by_own_caps(found, are_gathered=are_gathered)
        return self._without_bounds(found) if are_gathered else found

    def _by_own_caps(self, solution: Solution, *, are_gathered: bool) -> Solution:
        """
        Return a solution with shortfalls of the caps of the original problem.

        The aggregated problem has lower caps, so its shortfalls prove nothing.
        """
        # If a bundle is not colocated yet, the forced moves of its groups are unknown.
        own = [] if are_gathered else list(beyond_caps(self.whole))
        others = [one for one in solution.shortfalls if one.what not in CAPS]
        lacks = (*own, *others)
        status = solution.status
        if status is Status.INFEASIBLE and not any(one.is_proven for one in lacks):
            status = Status.PARTIAL
        return replace(solution, status=status, shortfalls=lacks)

    def _spread(self, at: Arrangement) -> Arrangement:
        """Place the items of each bundle with those of its first group."""
        whole = self.whole
        found = extended(whole, self.items, self.groups, at)
        bin_of, role_of = found.bin_of.copy(), found.role_of.copy()
        for first, *others in self.bundles:
            rows = _items(whole, first)
            places = bin_of[rows]
            stuck = np.equal(places, whole.home[rows]) & np.equal(
                whole.movability[rows], Movability.MUST
            )
            holder = role_of[first]
            led = bin_of[holder] if holder >= 0 else NOWHERE
            for other in others:
                own = _items(whole, other)
                if np.array_equal(whole.home[own], whole.home[rows]):
                    bin_of[own] = places
                elif stuck.any():
                    continue
                else:
                    bin_of[own] = _kept_where_they_are(whole.home[own], places)
                at_lead = own[np.equal(bin_of[own], led)]
                if led >= 0 and len(at_lead):
                    role_of[other] = at_lead[0]
        return Arrangement(bin_of, role_of)

    def _are_gathered(self) -> bool:
        """Return whether the groups of any bundle are not colocated yet."""
        whole = self.whole
        return any(
            not np.array_equal(
                whole.home[_items(whole, first)], whole.home[_items(whole, other)]
            )
            for first, *others in self.bundles
            for other in others
        )

    def _without_bounds(self, solution: Solution) -> Solution:
        proven = solution.certificate
        least = sum(_least_to_gather(self.whole, bundle) for bundle in self.bundles)
        nothing = Bounded(value=proven.moves.value, lower_bound=0)
        return replace(
            solution,
            status=Status.FEASIBLE
            if solution.status is Status.OPTIMAL
            else solution.status,
            certificate=replace(
                proven,
                cost=Bounded(value=max(proven.cost.value, least), lower_bound=least),
                moves=nothing,
                deviation=Bounded(value=proven.deviation.value, lower_bound=0.0),
            ),
        )


def _items(problem: Problem, group: int) -> IntArray:
    return np.arange(problem.group_start[group], problem.group_start[group + 1])


def _kept_where_they_are(home: IndexArray, places: IndexArray) -> IndexArray:
    """Return places for items: an item stays if its home is among the places."""
    stays = np.isin(home, places)
    found = home.copy()
    found[~stays] = places[~np.isin(places, home)]
    return found


def _least_to_gather(problem: Problem, bundle: Bundle) -> int:
    """Return the least cost of colocating a bundle in any bins."""
    worth: dict[int, int] = {}
    total = 0
    for group in bundle:
        cost = int(problem.cost[group])
        for place in problem.home[_items(problem, group)].tolist():
            total += cost
            if place >= 0:
                worth[place] = worth.get(place, 0) + cost
    size = len(_items(problem, bundle[0]))
    return total - sum(sorted(worth.values(), reverse=True)[:size])


def bundle_groups(whole: Problem, bundles: Sequence[Bundle]) -> Bundled:
    """
    Return a problem in which each bundle is one group.

    Parameters
    ----------
    whole
        Problem with every group.
    bundles
        Disjoint bundles of groups with equal numbers of items. A bundle that is not
        colocated gets the homes of its first group.
    """
    left_out = np.zeros(whole.num_groups, dtype=np.bool_)
    left_out[[other for _, *others in bundles for other in others]] = True
    groups = np.nonzero(~left_out)[0]
    items = np.nonzero(~left_out[whole.group_of])[0]
    sums = {name: getattr(whole, name).copy() for name in ("weight", "role_weight")}
    cost, zone = whole.cost.copy(), whole.source_zone.copy()
    movable = whole.is_role_movable.copy()
    for first, *others in bundles:
        for table in sums.values():
            table[first] += table[others].sum(axis=0)
        cost[first] += cost[others].sum()
        movable[first] &= movable[others].all()
        if len(zone) and (zone[others] != zone[first]).any():
            # The sources are in several zones: part of the bundle crosses zones anyway.
            zone[first] = int(whole.zone_of_bin.max(initial=0)) + 1
    classes, eligible = _classes(whole, bundles)
    summed = replace(
        whole,
        **sums,
        group_class=classes,
        is_eligible=eligible,
        cost=cost,
        extra=_extra(whole, bundles) if len(whole.extra) else whole.extra,
        is_role_movable=movable,
        levels=tuple(_level(level, bundles) for level in whole.levels),
        source_zone=zone,
    )
    problem = replace(restricted(summed, items, groups), **_caps(whole, bundles))
    return Bundled(whole, problem, tuple(bundles), groups, items)


def _caps(whole: Problem, bundles: Sequence[Bundle]) -> dict[str, Any]:
    """
    Return the caps that remain after colocating the bundles.

    A move of a bundle is one move of each of its groups. In the worst case all moves
    that colocate bundles cross zones.
    """
    moves = cost = 0
    for first, *others in bundles:
        places = whole.home[_items(whole, first)]
        for other in others:
            come = int((~np.isin(places, whole.home[_items(whole, other)])).sum())
            moves, cost = moves + come, cost + come * int(whole.cost[other])
    largest = max(len(bundle) for bundle in bundles)
    caps = {
        "max_moves": (whole.max_moves, moves, largest),
        "max_cost": (whole.max_cost, cost, 1),
        "max_crossing": (whole.max_crossing, cost, 1),
    }
    return {
        name: max(most - spent, 0) // each
        for name, (most, spent, each) in caps.items()
        if most < NO_LIMIT
    }


def _classes(whole: Problem, bundles: Sequence[Bundle]) -> tuple[IndexArray, BoolArray]:
    """Return classes and eligibility; a bundle may go where all its groups may."""
    classes = whole.group_class.copy()
    row_of: dict[tuple[int, ...], int] = {}
    for bundle in bundles:
        key = tuple(sorted(set(whole.group_class[list(bundle)].tolist())))
        classes[bundle[0]] = row_of.setdefault(
            key, len(whole.is_eligible) + len(row_of)
        )
    more = [whole.is_eligible[list(key)].all(axis=0) for key in row_of]
    rows = np.array(more, dtype=np.bool_).reshape(len(more), -1)
    if not more:
        return classes, whole.is_eligible
    return classes, np.concatenate([whole.is_eligible, rows])


def _level(level: Level, bundles: Sequence[Bundle]) -> Level:
    """Return a level with the least cap of each bundle, at its first group."""
    if level.group_cap is None:
        return level
    cap = level.group_cap.copy()
    for bundle in bundles:
        # 0 is no cap.
        some = cap[list(bundle)]
        cap[bundle[0]] = some[some > 0].min() if (some > 0).any() else 0
    return replace(level, group_cap=cap)


def _extra(whole: Problem, bundles: Sequence[Bundle]) -> IntArray:
    """Return ``(I, R)`` extra weights, summed over the items of a bundle in a bin."""
    extra = whole.extra.copy()
    for first, *others in bundles:
        for item in _items(whole, first).tolist():
            for other in others:
                own = _items(whole, other)
                at_home = own[np.equal(whole.home[own], whole.home[item])]
                extra[item] += whole.extra[at_home].sum(axis=0)
    return extra
