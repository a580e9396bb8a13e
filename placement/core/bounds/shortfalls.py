"""Shortfalls of an arrangement that breaks hard rules, proven ones first."""

import numpy as np

from placement.array_types import IntArray
from placement.core.bounds.group_places import Places
from placement.core.bounds.infeasibility import prove_impossible
from placement.core.model.arrangement import Arrangement, loads
from placement.core.model.node_limits import node_loads
from placement.core.model.objective import (
    broken_groups,
    is_moved,
    open_bins,
    over_capacity,
    peaks,
    usable_capacity,
)
from placement.core.model.problem import NO_LIMIT, Movability, Problem
from placement.core.model.solution import Shortfall

MAX_SHORTFALLS = 1000
"""Largest number of shortfalls listed."""
RANKS = {"capacity": 1, "pieces": 2, "room": 3, "packing": 4}
"""Sort rank of each kind, the most informative first; 0 for other kinds."""


def find_shortfalls(problem: Problem, at: Arrangement) -> tuple[Shortfall, ...]:
    """Return the shortfalls of the hard rules that do not hold, proven ones first."""
    found = [
        *_unplaced(problem, at),
        *_crowded(problem, at),
        *_over_capacity(problem, at),
        *_over_in_nodes(problem, at),
    ]
    if found:
        found = [*_beyond(found, prove_impossible(problem)), *found]
    found.sort(key=lambda one: (not one.is_proven, RANKS.get(one.what, 0)))
    return tuple(found[:MAX_SHORTFALLS])


def _beyond(found: list[Shortfall], proven: list[Shortfall]) -> list[Shortfall]:
    """Return the proven shortfalls that are not among those found."""
    known = {(one.what, one.group) for one in found if one.group >= 0}
    return [one for one in proven if (one.what, one.group) not in known]


def _unplaced(problem: Problem, at: Arrangement) -> list[Shortfall]:
    must = np.equal(problem.movability, Movability.MUST)
    waiting = np.nonzero((must & ~is_moved(problem, at)) | np.less(at.bin_of, 0))[0]
    items = waiting[:MAX_SHORTFALLS]
    groups = problem.group_of[items].tolist()
    places = Places(problem, groups)
    return [
        places.shortfall(group, item)
        for group, item in zip(groups, items.tolist(), strict=True)
    ]


def _crowded(problem: Problem, at: Arrangement) -> list[Shortfall]:
    found = []
    crowded = np.nonzero(broken_groups(problem, at))[0][:MAX_SHORTFALLS].tolist()
    places_of = Places(problem, crowded)
    for group in crowded:
        start, stop = problem.group_start[group : group + 2]
        for position, level in enumerate(problem.levels):
            if level.group_cap is None or not position:
                continue
            places = places_of.at(position, group)
            is_proven = bool(places < stop - start)
            nodes = int((open_bins(level) > 0).sum())
            found.append(
                Shortfall(
                    what="spread",
                    have=places if is_proven else nodes,
                    need=int(stop - start),
                    group=group,
                    level=level.name,
                    is_proven=is_proven,
                )
            )
    return found


def _over_capacity(problem: Problem, at: Arrangement) -> list[Shortfall]:
    load, bins = peaks(problem, at), problem.bins
    capacity = np.minimum(usable_capacity(problem), NO_LIMIT // max(len(load), 1))
    least = _least_load(problem, at)
    found = []
    for b, r in np.argwhere(over_capacity(problem, load))[:MAX_SHORTFALLS]:
        found.append(
            Shortfall(
                what="capacity",
                have=int(bins.capacity[b, r]),
                need=int(load[b, r]),
                bin=int(b),
                resource=problem.resources[r],
                level=problem.levels[0].name,
                # The least load of all bins exceeds their joint capacity.
                is_proven=int(least[r]) > int(capacity[:, r].sum()),
            )
        )
    return found


def _over_in_nodes(problem: Problem, at: Arrangement) -> list[Shortfall]:
    """Return the shortfalls of nodes over their capacity."""
    return [
        Shortfall(
            what="capacity",
            have=int(nodes.capacity[node, r]),
            need=int(nodes.load[node, r]),
            node=int(node),
            resource=problem.resources[r],
            level=nodes.level.name,
        )
        for nodes in node_loads(problem, at)
        for node, r in np.argwhere(nodes.is_over)[:MAX_SHORTFALLS]
    ]


def _least_load(problem: Problem, at: Arrangement) -> IntArray:
    """Return ``(R,)`` least load of all bins together, without extra weights."""
    total = loads(problem, at).sum(axis=0)
    if len(problem.extra):
        stays = np.equal(at.bin_of, problem.home) & (problem.home >= 0)
        total -= np.maximum(problem.extra[stays], 0).sum(axis=0)
        gone = ~stays & (problem.home >= 0)
        total += np.minimum(problem.extra[gone], 0).sum(axis=0)
    least: IntArray = total
    return least
