"""What is missing where hard rules do not hold, and whether that is proven."""

import numpy as np

from placement.core.problem import (
    NO_LIMIT,
    Arrangement,
    IntArray,
    Level,
    Movability,
    Problem,
    loads,
)
from placement.core.solution import Shortfall
from placement.core.value import (
    broken_groups,
    is_moved,
    open_bins,
    over_capacity,
    peaks,
    usable_capacity,
)

MAX_SHORTFALLS = 1000
"""So many are listed; the status tells the rest."""


def find_shortfalls(problem: Problem, at: Arrangement) -> tuple[Shortfall, ...]:
    """Return what each hard rule that does not hold lacks, proven ones first."""
    found = [
        *_unplaced(problem, at),
        *_crowded(problem, at),
        *_over_capacity(problem, at),
    ]
    found.sort(key=lambda shortfall: not shortfall.is_proven)
    return tuple(found[:MAX_SHORTFALLS])


def _unplaced(problem: Problem, at: Arrangement) -> list[Shortfall]:
    must = np.equal(problem.movability, Movability.MUST)
    waiting = np.nonzero((must & ~is_moved(problem, at)) | np.less(at.bin_of, 0))[0]
    return [_group_shortfall(problem, int(item)) for item in waiting[:MAX_SHORTFALLS]]


def _group_shortfall(problem: Problem, item: int) -> Shortfall:
    """Compare the items of a group with the places that any arrangement has."""
    group = int(problem.group_of[item])
    need = int(problem.group_start[group + 1] - problem.group_start[group])
    usable = _usable_bins(problem, group)
    have, level = int(usable.sum()), problem.levels[0]
    for other in problem.levels:
        places = _places(other, usable, group)
        if places < have:
            have, level = places, other
    return Shortfall(
        what="bins" if level is problem.levels[0] else "spread",
        have=have,
        need=need,
        item=item,
        group=group,
        bin=int(problem.home[item]),
        level=level.name,
        is_proven=have < need,
    )


def _usable_bins(problem: Problem, group: int) -> IntArray:
    """Return ``(N,)`` 1 for bins where an item of the group may be in the end."""
    eligible = problem.is_eligible[problem.group_class[group], problem.bin_class]
    usable: IntArray = (eligible & problem.may_receive).astype(np.int64)
    items = np.arange(problem.group_start[group], problem.group_start[group + 1])
    items = items[problem.home[items] >= 0]
    # Where an item leaves, none of its group comes: that would be the item, staying.
    must = np.equal(problem.movability[items], Movability.MUST)
    usable[problem.home[items]] = ~must
    return usable


def _places(level: Level, usable: IntArray, group: int) -> int:
    """Return how many items of a group the nodes of a level can take in all."""
    if level.group_cap is None or level.group_cap[group] == 0:
        return NO_LIMIT
    inside = level.node_of_bin >= 0
    in_node = np.bincount(
        level.node_of_bin[inside], weights=usable[inside], minlength=level.num_nodes
    )
    # Bins outside the level (that stay as they are) are not capped by it.
    outside = int(usable[~inside].sum())
    return outside + int(np.minimum(in_node, level.group_cap[group]).sum())


def _crowded(problem: Problem, at: Arrangement) -> list[Shortfall]:
    found = []
    for group in np.nonzero(broken_groups(problem, at))[0][:MAX_SHORTFALLS]:
        start, stop = problem.group_start[group : group + 2]
        for level in problem.levels:
            if level.group_cap is None or level is problem.levels[0]:
                continue
            places = _places(level, _usable_bins(problem, int(group)), int(group))
            is_proven = bool(places < stop - start)
            nodes = int((open_bins(level) > 0).sum())
            found.append(
                Shortfall(
                    what="spread",
                    have=places if is_proven else nodes,
                    need=int(stop - start),
                    group=int(group),
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
                # More load than all bins together may hold: nothing can help.
                is_proven=int(least[r]) > int(capacity[:, r].sum()),
            )
        )
    return found


def _least_load(problem: Problem, at: Arrangement) -> IntArray:
    """Return ``(R,)`` load of all bins together, extra weights shed by moving."""
    total = loads(problem, at).sum(axis=0)
    if len(problem.extra):
        stays = np.equal(at.bin_of, problem.home) & (problem.home >= 0)
        total -= np.maximum(problem.extra[stays], 0).sum(axis=0)
        gone = ~stays & (problem.home >= 0)
        total += np.minimum(problem.extra[gone], 0).sum(axis=0)
    least: IntArray = total
    return least
