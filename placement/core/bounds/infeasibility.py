r"""
Proofs that the hard rules are infeasible, each with the amount missing.

* *Caps.* The items that must move or have no bin, with those that must leave bins over
  a capacity (the covers of `core.bounds.cover_bounds`), exceed the cap on the number or
  the cost of all moves; or the items without a place in their source zone exceed the
  cap on zone crossings.
* *Places.* A group has fewer places than items. Places are bins that may take an item,
  in each node of a level no more than its cap.
* *Roles.* The item that holds a group's role must move, and no bin that may have an
  item of the group in the end may hold roles.
* *Room.* A group has fewer places than items if only bins count in which an item fits
  beside the load that may not leave.
* *Sets.* A set of bins must hold more than it may (`core.bounds.overfull_sets`).

Each condition is sufficient, none is necessary: without a proof, feasibility is open.
`core.verify.shortfalls` verifies the witnesses for sets and single bins.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from placement.array_types import BoolArray, IndexArray, IntArray
from placement.core.bounds.cover_bounds import Bands, cost_bound, moves_bound
from placement.core.bounds.group_places import Places
from placement.core.bounds.occupancy import UsableBins
from placement.core.bounds.overfull_sets import overfull_sets
from placement.core.model.arrangement import home_arrangement
from placement.core.model.node_limits import node_room
from placement.core.model.objective import broken_groups, usable_capacity
from placement.core.model.problem import NO_LIMIT, NOWHERE, Movability, Problem
from placement.core.model.solution import Proof, Shortfall
from placement.core.verify.cover_and_cut import verify_cover
from placement.core.verify.shortfalls import Verifier

CAPS = ("moves", "cost", "crossing")
"""Kinds of shortfalls from caps on all moves."""
MOST_GROUPS = 2000
"""Largest number of groups whose places are counted."""
MOST_NAMED = 40
"""Largest number of groups without room that are listed."""


def prove_impossible(problem: Problem) -> list[Shortfall]:
    """
    Return the shortfalls that prove a problem infeasible; cached.

    Parameters
    ----------
    problem
        Items, bins, and what may move.

    Returns
    -------
    Shortfalls, each of which alone makes the problem infeasible; empty: no proof found.
    """
    known = _known_of.setdefault(problem, _Known())
    if known.proven is None:
        known.proven = (
            list(_proofs(problem)) if known.is_impossible is not False else []
        )
    return known.proven


def is_impossible(problem: Problem) -> bool:
    """Return whether a problem is proven infeasible; stops at the first proof."""
    known = _known_of.setdefault(problem, _Known())
    if known.is_impossible is None:
        known.is_impossible = (
            next(_proofs(problem), None) is not None
            if known.proven is None
            else bool(known.proven)
        )
    return known.is_impossible


def share_proofs(problem: Problem, other: Problem) -> None:
    """Share proofs between two problems with the same hard rules."""
    _known_of[other] = _known_of.setdefault(problem, _Known())


@dataclass(slots=True)
class _Known:
    """Cached proofs about one problem; `None` where they were not searched for yet."""

    is_impossible: bool | None = None
    proven: list[Shortfall] | None = None


# Both the search and the report of shortfalls need these proofs.
_known_of: WeakKeyDictionary[Problem, _Known] = WeakKeyDictionary()


def _proofs(problem: Problem) -> Iterator[Shortfall]:
    yield from beyond_caps(problem)
    yield from _without_places(problem)
    yield from _without_holders(problem)
    without_room = list(_without_room(problem))
    yield from without_room
    yield from overfull_sets(problem, counts_pieces=not without_room)


def beyond_caps(problem: Problem) -> Iterator[Shortfall]:
    """Yield the caps on all moves that the forced moves exceed."""
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
    """Return a lower bound on the number of items that must move or relieve a bin."""
    bound, proof = moves_bound(problem, _capacity_bands(problem))
    return max(_proven(problem, bound, proof, counts_moves=True), len(_going(problem)))


def _least_cost(problem: Problem) -> int:
    """Return a lower bound on the cost of these moves."""
    bound, proof = cost_bound(problem, _capacity_bands(problem))
    cost = int(problem.cost[problem.group_of[_going(problem)]].sum())
    proven = _proven(problem, bound, proof, counts_moves=False)
    return max(proven, cost * problem.least_price)


def _going(problem: Problem) -> IntArray:
    """Return the items that must move or have no bin."""
    must = np.equal(problem.movability, Movability.MUST)
    return np.nonzero(must | (problem.home < 0))[0]


def _capacity_bands(problem: Problem) -> Bands:
    """Return the bands that every arrangement within the capacities keeps."""
    capacity = usable_capacity(problem)
    return Bands(np.zeros_like(capacity), capacity)


def _proven(
    problem: Problem, bound: int, proof: Proof | None, *, counts_moves: bool
) -> int:
    """Return the bound computed again from its witness."""
    if proof is None:
        return bound
    bands = _capacity_bands(problem)
    return verify_cover(
        problem, bands.lower, bands.upper, proof.witness, counts_moves=counts_moves
    )


def _least_crossing(problem: Problem) -> int:
    """
    Return the least crossing cost of the items that must move.

    An item that may stay but leaves its source zone frees a place there and crosses
    itself. The free places are therefore those beside all items that need not move.
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
    """Return the number of places for new items of a group in its source zone."""
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
    """Yield groups that must change and have fewer places than items."""
    must = np.equal(problem.movability, Movability.MUST)
    groups, first = np.unique(problem.group_of[must], return_index=True)
    item_of = dict(
        zip(groups.tolist(), np.nonzero(must)[0][first].tolist(), strict=True)
    )
    crowded = np.nonzero(broken_groups(problem, home_arrangement(problem)))[0]
    asked = [*item_of, *(g for g in crowded.tolist() if g not in item_of)][:MOST_GROUPS]
    places = Places(problem, asked)
    for group in places.too_few():
        item = item_of.get(group, NOWHERE)
        yield places.shortfall(group, item)


def _without_holders(problem: Problem) -> Iterator[Shortfall]:
    """Yield groups whose role must change hands and has no bin that may hold it."""
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


def _stuck_items(problem: Problem, group: int) -> IntArray:
    """Return ``(N,)`` number of items of a group in each bin that may not leave."""
    items = _items_at_home(problem, group)
    never = np.equal(problem.movability[items], Movability.NEVER)
    return np.bincount(problem.home[items[never]], minlength=problem.num_bins)


def _usable_bins(problem: Problem, group: int) -> IntArray:
    """Return ``(N,)`` 1 for bins that may end with a movable item of the group."""
    eligible = problem.is_eligible[problem.group_class[group], problem.bin_class]
    usable: IntArray = (eligible & problem.may_receive).astype(np.int64)
    items = _items_at_home(problem, group)
    # A bin that an item must leave takes no other item of its group.
    may = np.equal(problem.movability[items], Movability.MAY)
    usable[problem.home[items]] = may
    return usable


def _items_at_home(problem: Problem, group: int) -> IntArray:
    items = np.arange(problem.group_start[group], problem.group_start[group + 1])
    return items[problem.home[items] >= 0]


def _without_room(problem: Problem) -> Iterator[Shortfall]:
    """
    Yield groups with fewer places than items if only bins with room count.

    A bin has room for an item that fits beside the load that never leaves the bin.
    """
    free = free_room(problem)
    groups = _heavy_groups(problem, free)
    if not len(groups):
        return
    usable = UsableBins(problem, groups)
    is_usable = usable.matrix()
    fits = is_usable & _has_room(problem, groups, free)
    size = np.diff(problem.group_start)[groups]
    verifier, known = Verifier(problem), set[int]()
    for position, level in enumerate(problem.levels):
        have = usable.places(level, position, fits)
        for row in np.nonzero(have < size)[0].tolist():
            group = int(groups[row])
            witness = {"group": group, "level": position}
            places, items = verifier.amounts("room", witness)
            if items <= places or group in known or len(known) == MOST_NAMED:
                continue
            known.add(group)
            r, b = _shortest(problem, group, free, is_usable[row])
            yield Shortfall(
                what="room",
                have=max(int(free[b, r]), 0),
                need=int(problem.weight[group, r]),
                item=_first_to_move(problem, group),
                group=group,
                bin=b,
                level=level.name,
                resource=problem.resources[r],
                is_proven=True,
                proof=Proof(kind="room", witness=witness),
            )


def _heavy_groups(problem: Problem, free: IntArray) -> IntArray:
    """Return ``(g,)`` groups that may change and do not fit everywhere, ascending."""
    may = np.not_equal(problem.movability, Movability.NEVER)
    groups = np.unique(problem.group_of[may])
    if not len(groups) or not problem.num_bins:
        return np.zeros(0, dtype=np.int64)
    is_heavy = (problem.weight[groups] > free.min(axis=0)).any(axis=1)
    groups = groups[is_heavy].astype(np.int64)
    unit = np.maximum(problem.weight.max(axis=0, initial=1), 1)
    weight = (problem.weight[groups] / unit).max(axis=1, initial=0.0)
    chosen = groups[np.argsort(-weight, kind="stable")][:MOST_GROUPS]
    return np.sort(chosen)


def _has_room(problem: Problem, groups: IntArray, free: IntArray) -> BoolArray:
    """
    Return ``(g, N)`` true for bins with room for one item of each group.

    An item that stays has its weight at home; in a transient resource that weight is
    already part of the load of the bin.
    """
    weight = problem.weight[groups]
    fits: BoolArray = np.logical_and.reduce(weight[:, None, :] <= free[None], axis=2)
    row_of = np.full(problem.num_groups, -1, dtype=np.int64)
    row_of[groups] = np.arange(len(groups))
    may = np.equal(problem.movability, Movability.MAY) & (problem.home >= 0)
    items = np.nonzero(may & (row_of[problem.group_of] >= 0))[0]
    home, group = problem.home[items], problem.group_of[items]
    own = problem.weight[group]
    if len(problem.extra):
        own = own + problem.extra[items]
    own = np.where(problem.is_transient, 0, own)
    row = row_of[group]
    # Another item of the group may replace one that leaves, and fit better.
    fits[row, home] |= (own <= free[home]).all(axis=1)
    return fits


def _shortest(
    problem: Problem, group: int, free: IntArray, usable: BoolArray
) -> tuple[int, int]:
    """Return the scarcest resource, and the bin with most room of it."""
    bins = np.nonzero(usable)[0]
    if not len(bins):
        bins = np.arange(problem.num_bins)
    weight = problem.weight[group].astype(np.float64)
    lack = np.maximum(weight - free[bins], 0).min(axis=0) / np.maximum(weight, 1)
    if not lack.any():
        # Some bins have room, but too few: choose the resource short in most bins.
        lack = (problem.weight[group] > free[bins]).sum(axis=0).astype(np.float64)
    r = int(np.argmax(lack))
    short = bins[problem.weight[group, r] > free[bins, r]]
    short = short if len(short) else bins
    return r, int(short[np.argmax(free[short, r])])


def _first_to_move(problem: Problem, group: int) -> int:
    items = range(*problem.group_start[group : group + 2].tolist())
    must = (i for i in items if problem.movability[i] == Movability.MUST)
    return next(must, NOWHERE)


def free_room(problem: Problem) -> IntArray:
    """Return ``(N, R)`` capacity of each bin beside the load that stays."""
    at_home = problem.home >= 0
    never = np.equal(problem.movability, Movability.NEVER) & at_home
    # An item that moves inside a node fills it once, also while copies are made.
    in_nodes = node_room(problem, _load_of(problem, never))
    free: IntArray = usable_capacity(problem) - stuck_load(problem)
    return np.minimum(free, in_nodes)


def stuck_load(problem: Problem) -> IntArray:
    """Return ``(N, R)`` load that stays in a bin until all copies are made."""
    at_home = problem.home >= 0
    stuck = np.equal(problem.movability, Movability.NEVER) & at_home
    load = _load_of(problem, stuck)
    if problem.is_transient.any():
        # An item that leaves still fills its old bin until all copies are made.
        load = np.where(problem.is_transient, _load_of(problem, at_home), load)
    return load


def _load_of(problem: Problem, chosen: BoolArray) -> IntArray:
    """Return ``(N, R)`` load of the chosen items at home, plus the fixed load."""
    load = problem.bins.fixed.copy()
    np.add.at(load, problem.home[chosen], problem.weight[problem.group_of[chosen]])
    if len(problem.extra):
        np.add.at(load, problem.home[chosen], problem.extra[chosen])
    return load
