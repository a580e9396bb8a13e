r"""
Proofs that no arrangement at all keeps the hard rules, with what is short by how much.

* *Caps.* The items that must move, or lie nowhere, with those that have to leave bins
  over a capacity (the covers of `core.bounds`), are more, or cost more, than all moves
  may; those that find no place in the zone they are copied from cost more than may
  cross zones.
* *Places.* A group has fewer places than items: bins that may take them, no more per
  node of a level than its cap.
* *Roles.* The item that holds a group's role must move, and no bin where one of the
  group may end may hold roles.
* *Room.* An item that must move is heavier than the freest bin it may go to, with all
  that may not leave that bin in it.
* *Sets.* A set of bins must hold more than its capacities. What it must hold is the
  cut of `core.cuts`: what does not fit elsewhere by the caps. Tried are all bins, those
  that may receive, and each node of a level: "rack c must hold 5 TB, and may 4.5".
  Bins of a node that has capacities of its own hold together no more than these.

Each is sufficient, none necessary: where none is found, nothing is proven.
"""

from collections.abc import Iterator

import numpy as np

from placement.core.arrangement import home_arrangement, home_loads
from placement.core.bounds import Bands, cost_bound, moves_bound
from placement.core.cuts import least_load
from placement.core.nodes import limited_levels, node_room, set_capacity
from placement.core.problem import (
    NO_LIMIT,
    NOWHERE,
    BoolArray,
    IndexArray,
    IntArray,
    Level,
    Movability,
    Problem,
)
from placement.core.solution import Proof, Shortfall
from placement.core.value import broken_groups, usable_capacity
from placement.core.verify import verify_cover

CAPS = ("moves", "cost", "crossing")
"""What caps on all moves are about."""
MOST_GROUPS = 2000
"""Groups whose places are counted one by one."""
OPEN = "open"
"""Stands for a level where a set is those bins that may take some of the groups."""
MOST_NODES = 64
"""Nodes of a level that are looked at, the fullest first."""


def prove_impossible(problem: Problem) -> list[Shortfall]:
    """
    Return what is proven to be missing, whatever the arrangement; often nothing.

    Parameters
    ----------
    problem
        What is to be arranged.

    Returns
    -------
    Shortfalls, each of which alone makes the problem impossible.
    """
    return list(_proofs(problem))


def is_impossible(problem: Problem) -> bool:
    """Tell whether anything is proven to be missing; stops at the first proof."""
    return next(_proofs(problem), None) is not None


def _proofs(problem: Problem) -> Iterator[Shortfall]:
    yield from beyond_caps(problem)
    yield from _without_places(problem)
    yield from _without_holders(problem)
    yield from _too_heavy(problem)
    yield from _overfull_sets(problem)


def beyond_caps(problem: Problem) -> Iterator[Shortfall]:
    """Yield the caps on all moves that are less than what has to move."""
    if not problem.has_caps:
        return
    for what, most, least in (
        ("moves", problem.max_moves, _least_moves),
        ("cost", problem.max_cost, _least_cost),
        ("crossing", problem.max_crossing, _least_crossing),
    ):
        need = least(problem) if most < NO_LIMIT else 0
        if need > most:
            yield Shortfall(what=what, have=most, need=need, is_proven=True)


def _least_moves(problem: Problem) -> int:
    """Return how many items must move, or leave bins that are over a capacity."""
    bound, proof = moves_bound(problem, _capacity_bands(problem))
    return max(_proven(problem, bound, proof, counts_moves=True), len(_going(problem)))


def _least_cost(problem: Problem) -> int:
    """Return what these cost at the least."""
    bound, proof = cost_bound(problem, _capacity_bands(problem))
    cost = int(problem.cost[problem.group_of[_going(problem)]].sum())
    proven = _proven(problem, bound, proof, counts_moves=False)
    return max(proven, cost * problem.least_price)


def _going(problem: Problem) -> IntArray:
    """Return the items that must move, or lie nowhere."""
    must = np.equal(problem.movability, Movability.MUST)
    return np.nonzero(must | (problem.home < 0))[0]


def _capacity_bands(problem: Problem) -> Bands:
    """Return what any arrangement that keeps the capacities is within."""
    capacity = usable_capacity(problem)
    return Bands(np.zeros_like(capacity), capacity)


def _proven(
    problem: Problem, bound: int, proof: Proof | None, *, counts_moves: bool
) -> int:
    """Return what a witness proves, worked out again."""
    if proof is None:
        return bound
    bands = _capacity_bands(problem)
    return verify_cover(
        problem, bands.lower, bands.upper, proof.witness, counts_moves=counts_moves
    )


def _least_crossing(problem: Problem) -> int:
    """
    Return the least that items which must move cost out of their source's zone.

    One that may stay and leaves that zone all the same makes room there for another,
    and crosses itself; so the room is what those leave that need not move.
    """
    if not problem.has_zones:
        return 0
    must = np.equal(problem.movability, Movability.MUST)
    groups, counts = np.unique(problem.group_of[must], return_counts=True)
    return sum(
        int(problem.cost[group]) * max(count - _places_in_source(problem, group), 0)
        for group, count in zip(groups.tolist(), counts.tolist(), strict=True)
        if problem.source_zone[group] >= 0
    )


def _places_in_source(problem: Problem, group: int) -> int:
    """Return how many new items of a group its source's zone has places for."""
    inside = np.equal(problem.zone_of_bin, problem.source_zone[group])
    free = problem.is_eligible[problem.group_class[group], problem.bin_class]
    free = free & problem.may_receive & inside
    items = _items_at_home(problem, group)
    free[problem.home[items]] = False
    need_not = items[np.not_equal(problem.movability[items], Movability.MUST)]
    most = int(free.sum())
    for level in problem.levels[1:]:
        cap = 0 if level.group_cap is None else int(level.group_cap[group])
        if cap:
            node = level.node_of_bin
            shape = {"minlength": level.num_nodes}
            held = np.bincount(_inside(node[problem.home[need_not]]), **shape)
            room = np.bincount(_inside(node[free]), **shape)
            outside = int(np.less(node[free], 0).sum())
            room = np.minimum(room, np.maximum(cap - held, 0))
            most = min(most, outside + int(room.sum()))
    return most


def _inside(node: IndexArray) -> IndexArray:
    return node[node >= 0]


def _without_places(problem: Problem) -> Iterator[Shortfall]:
    """Yield groups that must change and have too few places for all of their items."""
    must = np.equal(problem.movability, Movability.MUST)
    groups, first = np.unique(problem.group_of[must], return_index=True)
    item_of = dict(
        zip(groups.tolist(), np.nonzero(must)[0][first].tolist(), strict=True)
    )
    crowded = np.nonzero(broken_groups(problem, home_arrangement(problem)))[0]
    for group in [*item_of, *(g for g in crowded.tolist() if g not in item_of)][
        :MOST_GROUPS
    ]:
        have, level = places_of(problem, group)
        need = int(problem.group_start[group + 1] - problem.group_start[group])
        item = item_of.get(group, NOWHERE)
        if have < need:
            yield Shortfall(
                what="bins" if level is problem.levels[0] else "spread",
                have=have,
                need=need,
                item=item,
                group=group,
                bin=int(problem.home[item]) if item >= 0 else NOWHERE,
                level=level.name,
                is_proven=True,
            )


def _without_holders(problem: Problem) -> Iterator[Shortfall]:
    """Yield groups whose role must go where none of their items may hold it."""
    if problem.may_hold_role.all():
        return
    held = np.nonzero(problem.role_home >= 0)[0]
    holder = problem.role_home[held]
    must = np.equal(problem.movability[holder], Movability.MUST)
    for group in held[must | (problem.home[holder] < 0)][:MOST_GROUPS].tolist():
        ends = (_usable_bins(problem, group) + _stuck_items(problem, group)) > 0
        if not (ends & problem.may_hold_role).any():
            item = int(problem.role_home[group])
            yield Shortfall(
                what="roles",
                have=0,
                need=1,
                item=item,
                group=group,
                bin=int(problem.home[item]),
                level=problem.levels[0].name,
                is_proven=True,
            )


def places_of(problem: Problem, group: int) -> tuple[int, Level]:
    """Return how many items of a group have places, and the level that decides it."""
    have, level = places_in(problem, 0, group), problem.levels[0]
    for position, other in enumerate(problem.levels):
        places = places_in(problem, position, group)
        if places < have:
            have, level = places, other
    return have, level


def places_in(problem: Problem, position: int, group: int) -> int:
    """Return how many items of a group the nodes of one level can take in all."""
    level = problem.levels[position]
    cap = 0 if level.group_cap is None else int(level.group_cap[group])
    if position and not cap:
        return NO_LIMIT
    usable, stuck = _usable_bins(problem, group), _stuck_items(problem, group)
    size = int(problem.group_start[group + 1] - problem.group_start[group])
    movable = size - int(stuck.sum())
    inside = level.node_of_bin >= 0
    node = level.node_of_bin[inside]
    held = np.bincount(node, weights=stuck[inside], minlength=level.num_nodes)
    open_bins = np.bincount(node, weights=usable[inside], minlength=level.num_nodes)
    most = cap or NO_LIMIT
    # Bins outside the level (that stay as they are) are not capped by it.
    kept = np.minimum(held, most).sum() + stuck[~inside].sum()
    room = np.minimum(open_bins, np.maximum(most - held, 0)).sum()
    return int(kept) + min(movable, int(room + usable[~inside].sum()))


def _stuck_items(problem: Problem, group: int) -> IntArray:
    """Return ``(N,)`` how many items of a group lie in each bin and may not leave."""
    items = _items_at_home(problem, group)
    never = np.equal(problem.movability[items], Movability.NEVER)
    return np.bincount(problem.home[items[never]], minlength=problem.num_bins)


def _usable_bins(problem: Problem, group: int) -> IntArray:
    """Return ``(N,)`` 1 for bins that may have a movable item of the group at last."""
    eligible = problem.is_eligible[problem.group_class[group], problem.bin_class]
    usable: IntArray = (eligible & problem.may_receive).astype(np.int64)
    items = _items_at_home(problem, group)
    # Where an item leaves, none of its group comes: that would be the item, staying.
    may = np.equal(problem.movability[items], Movability.MAY)
    usable[problem.home[items]] = may
    return usable


def _items_at_home(problem: Problem, group: int) -> IntArray:
    items = np.arange(problem.group_start[group], problem.group_start[group + 1])
    return items[problem.home[items] >= 0]


def _too_heavy(problem: Problem) -> Iterator[Shortfall]:
    """Yield items that must move and fit into no bin beside what may not leave it."""
    must = np.equal(problem.movability, Movability.MUST)
    groups, first = np.unique(problem.group_of[must], return_index=True)
    if not len(groups):
        return
    items = np.nonzero(must)[0][first]
    stuck = _stuck_load(problem)
    free = np.minimum(usable_capacity(problem) - stuck, node_room(problem, stuck))
    for group, item in zip(
        groups[:MOST_GROUPS].tolist(), items[:MOST_GROUPS].tolist(), strict=True
    ):
        bins = np.nonzero(_open_bins(problem, group))[0]
        if not len(bins):
            continue
        most = free[bins].max(axis=0)
        short = problem.weight[group] - most
        r = int(np.argmax(short))
        if short[r] > 0:
            yield Shortfall(
                what="room",
                have=max(int(most[r]), 0),
                need=int(problem.weight[group, r]),
                item=item,
                group=group,
                bin=int(bins[np.argmax(free[bins, r])]),
                resource=problem.resources[r],
                is_proven=True,
            )


def _open_bins(problem: Problem, group: int) -> BoolArray:
    """Return ``(N,)`` bins that an item of the group could come to by the caps."""
    stuck = _stuck_items(problem, group)
    open_to = (_usable_bins(problem, group) > 0) & problem.may_receive
    for level in problem.levels:
        cap = 0 if level.group_cap is None else int(level.group_cap[group])
        if not cap:
            continue
        inside = level.node_of_bin >= 0
        node = level.node_of_bin[inside]
        held = np.bincount(node, weights=stuck[inside], minlength=level.num_nodes)
        open_to[inside] &= held[node] < cap
    return open_to


def _stuck_load(problem: Problem) -> IntArray:
    """Return ``(N, R)`` load that no arrangement takes off a bin before all is done."""
    at_home = problem.home >= 0
    stuck = np.equal(problem.movability, Movability.NEVER) & at_home
    load = _load_of(problem, stuck)
    if problem.is_transient.any():
        # What leaves goes on filling its old bin until all copies are made.
        load = np.where(problem.is_transient, _load_of(problem, at_home), load)
    return load


def _load_of(problem: Problem, chosen: BoolArray) -> IntArray:
    """Return ``(N, R)`` load of the chosen items at home, and the fixed one."""
    load = problem.bins.fixed.copy()
    np.add.at(load, problem.home[chosen], problem.weight[problem.group_of[chosen]])
    if len(problem.extra):
        np.add.at(load, problem.home[chosen], problem.extra[chosen])
    return load


def _overfull_sets(problem: Problem) -> Iterator[Shortfall]:
    """Yield sets of bins that must hold more than they may."""
    capacity = usable_capacity(problem)
    found = np.zeros(problem.num_resources, dtype=np.bool_)
    for name, node, chosen in _sets(problem, capacity):
        least = least_load(problem, chosen)
        most = set_capacity(problem, capacity, chosen)
        for r in np.nonzero(~found)[0].tolist():
            have = most[r]
            if int(least[r]) > have:
                # All bins are too small together: of which, is then no news.
                found[r] = node < 0
                yield Shortfall(
                    what="capacity",
                    have=have,
                    need=int(least[r]),
                    node=node,
                    level=name,
                    resource=problem.resources[r],
                    is_proven=True,
                )


def _sets(problem: Problem, capacity: IntArray) -> Iterator[tuple[str, int, BoolArray]]:
    """Yield level, node (-1: none) and ``(N,)`` bins of each set that is tried."""
    limited: BoolArray = np.less(capacity.min(axis=1), NO_LIMIT)
    for other, limits in limited_levels(problem):
        inside = other.node_of_bin >= 0
        has_limit = np.less(limits.capacity.min(axis=1), NO_LIMIT)
        limited[inside] |= has_limit[other.node_of_bin[inside]]
    yield problem.levels[0].name, -1, limited
    for group_class in range(len(problem.is_eligible)):
        open_to: BoolArray = problem.is_eligible[group_class, problem.bin_class]
        yield OPEN, -1, limited & open_to & problem.may_receive
    for level in problem.levels[1:]:
        if level.num_nodes < 2:
            continue
        for node in _fullest(problem, level)[:MOST_NODES]:
            yield level.name, node, limited & np.equal(level.node_of_bin, node)


def _fullest(problem: Problem, level: Level) -> list[int]:
    """Return nodes by their fill, the fullest first."""
    inside = level.node_of_bin >= 0
    held = np.zeros((level.num_nodes, problem.num_resources))
    room = np.zeros((level.num_nodes, problem.num_resources))
    capacity = np.minimum(problem.bins.capacity, 2.0**60)
    np.add.at(held, level.node_of_bin[inside], home_loads(problem)[inside])
    np.add.at(room, level.node_of_bin[inside], capacity[inside])
    if level.limits is not None:
        room = np.minimum(room, level.limits.capacity)
    fill = (held / np.maximum(room, 1.0)).max(axis=1)
    return [int(node) for node in np.argsort(-fill, kind="stable") if room[node].any()]
