"""The core's rules in plain Python, and every arrangement of a small problem."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from placement.core.model.arrangement import Arrangement
from placement.core.model.problem import (
    NOWHERE,
    Level,
    Movability,
    Problem,
)


@dataclass(frozen=True)
class NaiveValue:
    """What an arrangement is worth, counted item by item."""

    unmet: int
    broken_groups: int
    over_capacity: int
    deviation: Fraction
    outside: Fraction
    cost: int
    moves: int
    role_changes: int


def items_of(problem: Problem, group: int) -> range:
    start, stop = problem.group_start[group : group + 2].tolist()
    return range(start, stop)


def naive_loads(problem: Problem, at: Arrangement) -> list[list[int]]:
    """``N`` rows of ``R`` loads."""
    total: list[list[int]] = problem.bins.fixed.tolist()
    # A list is read much faster than an array, value by value.
    bin_of, role_of, home = (x.tolist() for x in (at.bin_of, at.role_of, problem.home))
    weight, role_weight = problem.weight.tolist(), problem.role_weight.tolist()
    extra = problem.extra.tolist()
    for group in range(problem.num_groups):
        for item in items_of(problem, group):
            place = bin_of[item]
            if place == NOWHERE:
                continue
            _add(total[place], weight[group])
            if extra and place == home[item]:
                _add(total[place], extra[item])
        holder = role_of[group]
        if holder != NOWHERE and bin_of[holder] != NOWHERE:
            _add(total[bin_of[holder]], role_weight[group])
    return total


def _add(load: list[int], more: list[int]) -> None:
    for r, amount in enumerate(more):
        load[r] += amount


def naive_peaks(problem: Problem, at: Arrangement) -> list[list[int]]:
    """Loads, and what has left its home where that still fills it meanwhile."""
    total = naive_loads(problem, at)
    for item in range(problem.num_items):
        home = int(problem.home[item])
        if home in {NOWHERE, int(at.bin_of[item])}:
            continue
        group = int(problem.group_of[item])
        for r in np.nonzero(problem.is_transient)[0].tolist():
            total[home][r] += int(problem.weight[group, r])
            if len(problem.extra):
                total[home][r] += int(problem.extra[item, r])
    return total


def move_price(problem: Problem, source: int, target: int) -> int:
    """Of the lowest level that both ends share."""
    for level in problem.levels:
        node = level.node_of_bin
        if source >= 0 and node[source] == node[target] != NOWHERE:
            return level.price
    return problem.price_across


def item_cost(problem: Problem, item: int, place: int) -> int:
    home = int(problem.home[item])
    if place in {home, NOWHERE}:
        return 0
    group = int(problem.group_of[item])
    price = move_price(problem, home, place)
    return int(problem.cost[group]) * price + problem.price_per_move


def is_crowded(problem: Problem, level: Level, group: int, bins: list[int]) -> bool:
    """Whether a group's bins break a level's cap or its even spread."""
    cap = 0 if level.group_cap is None else int(level.group_cap[group])
    if cap == 0:
        return False
    held = Counter(
        int(level.node_of_bin[b])
        for b in bins
        if b != NOWHERE and level.node_of_bin[b] != NOWHERE
    )
    if any(count > cap for count in held.values()):
        return True
    if not level.is_even or cap == 1:
        return False
    open_bins = Counter(level.node_of_bin.tolist())
    free = [n for n in range(level.num_nodes) if held[n] < open_bins[n]]
    return any(held[full] - held[n] >= 2 for full in held for n in free)


def is_group_broken(problem: Problem, group: int, bins: list[int]) -> bool:
    return any(is_crowded(problem, level, group, bins) for level in problem.levels)


def is_role_unreleased(
    problem: Problem, group: int, holder: int, bins: dict[int, int]
) -> bool:
    """Whether a role that could be handed on lies where it must not."""
    if holder == NOWHERE or not problem.is_role_movable[group]:
        return False
    place = bins[holder]
    if place == NOWHERE or not problem.must_release_role[place]:
        return False
    return any(b != NOWHERE and problem.may_hold_role[b] for b in bins.values())


def naive_value(problem: Problem, at: Arrangement) -> NaiveValue:
    unmet = broken = cost = moves = changes = 0
    for group in range(problem.num_groups):
        bins = {i: int(at.bin_of[i]) for i in items_of(problem, group)}
        for item, place in bins.items():
            must = int(problem.movability[item]) == Movability.MUST
            is_home = place == problem.home[item]
            unmet += place == NOWHERE or bool(must and is_home)
            moves += place not in {NOWHERE, int(problem.home[item])}
            cost += item_cost(problem, item, place)
        broken += is_group_broken(problem, group, list(bins.values()))
        unmet += is_role_unreleased(problem, group, int(at.role_of[group]), bins)
        changes += int(at.role_of[group] != problem.role_home[group])
    off = naive_distances(problem, naive_loads(problem, at))
    return NaiveValue(
        unmet=unmet,
        broken_groups=broken,
        over_capacity=_num_over(problem, at),
        deviation=max(off, default=Fraction(0)),
        outside=sum(off, Fraction(0)),
        cost=cost,
        moves=moves,
        role_changes=changes,
    )


def naive_distances(problem: Problem, load: list[list[int]]) -> list[Fraction]:
    """Distances outside the bands, in targets, of every bin and resource in turn."""
    bins = problem.bins
    distances = []
    for b, r in np.ndindex(*bins.target.shape):
        if bins.target[b, r] > 0:
            over = load[b][r] - int(bins.upper[b, r])
            under = int(bins.lower[b, r]) - load[b][r]
            unit = Fraction(float(bins.target[b, r]))
            distances.append(Fraction(max(over, under, 0)) / unit)
    return distances


@lru_cache(maxsize=64)
def usable_capacity(problem: Problem) -> Any:
    """``(N, R)`` capacities; the load itself where that is over and nothing can go."""
    capacity = problem.bins.capacity.copy()
    before = naive_loads(problem, Arrangement(problem.home, problem.role_home))
    for b in range(problem.num_bins):
        here = [i for i in range(problem.num_items) if problem.home[i] == b]
        if not any(_may_relieve(problem, item) for item in here):
            capacity[b] = np.maximum(capacity[b], before[b])
    # The answer is kept: nothing may write into it.
    capacity.setflags(write=False)
    return capacity


def _may_relieve(problem: Problem, item: int) -> bool:
    group = problem.group_of[item]
    hands_on = problem.role_home[group] == item and problem.is_role_movable[group]
    return bool(hands_on or int(problem.movability[item]) != Movability.NEVER)


def _num_over(problem: Problem, at: Arrangement) -> int:
    capacity, peak = usable_capacity(problem), naive_peaks(problem, at)
    over = int((np.array(peak).reshape(capacity.shape) > capacity).sum())
    return over + sum(naive_over_in_nodes(problem, at))


def naive_over_in_nodes(problem: Problem, at: Arrangement) -> Iterator[int]:
    """Yield the capacities broken in each level above the bins; nothing transient."""
    load = naive_loads(problem, at)
    for level in problem.levels[1:]:
        if level.limits is not None:
            most = usable_in_nodes(problem, level)
            yield sum(
                node_load(problem, level, load, node)[r] > most[node][r]
                for node, r in np.ndindex(level.num_nodes, problem.num_resources)
            )


def node_load(
    problem: Problem, level: Level, load: list[list[int]], node: int
) -> list[int]:
    """What the bins of a node carry together, with the node's own load."""
    assert level.limits is not None
    fixed, own = problem.bins.fixed, level.limits.fixed
    bins = [b for b in range(problem.num_bins) if level.node_of_bin[b] == node]
    return [
        int(own[node, r]) + sum(load[b][r] - int(fixed[b, r]) for b in bins)
        for r in range(problem.num_resources)
    ]


@lru_cache(maxsize=64)
def usable_in_nodes(problem: Problem, level: Level) -> list[list[int]]:
    """Capacities of nodes; the load itself where that is over and nothing can go."""
    assert level.limits is not None
    before = naive_loads(problem, Arrangement(problem.home, problem.role_home))
    found = level.limits.capacity.tolist()
    for node in range(level.num_nodes):
        here = [
            item
            for item, home in enumerate(problem.home.tolist())
            if home != NOWHERE and level.node_of_bin[home] == node
        ]
        if not any(_may_relieve(problem, item) for item in here):
            load = node_load(problem, level, before, node)
            found[node] = [max(pair) for pair in zip(found[node], load, strict=True)]
    return found


def illegal_moves(problem: Problem, at: Arrangement) -> list[str]:
    """What an arrangement does that the problem does not allow at all."""
    return [
        problem_found
        for group in range(problem.num_groups)
        for problem_found in illegal_in(
            problem,
            group,
            [at.bin_of[item] for item in items_of(problem, group)],
            int(at.role_of[group]),
        )
    ]


def may_go(problem: Problem, item: int, place: int) -> bool:
    """Whether an item may end in a bin, its group's other items apart."""
    # As a plain number: an array's value is compared with an enum ten times slower.
    kind, home = int(problem.movability[item]), int(problem.home[item])
    if place == home:
        return True
    if kind == Movability.NEVER or place == NOWHERE:
        return False
    group_class = problem.group_class[problem.group_of[item]]
    is_eligible = problem.is_eligible[group_class, problem.bin_class[place]]
    return bool(is_eligible and problem.may_receive[place])


def may_lead(problem: Problem, group: int, item: int, bins: dict[int, int]) -> bool:
    """Whether an item may hold its group's role, given where the items end."""
    holder = int(problem.role_home[group])
    if holder == NOWHERE:
        return item == NOWHERE
    if item == NOWHERE:
        return False
    has_stayed = bins[holder] == problem.home[holder]
    if item == holder and has_stayed:
        return True
    if has_stayed and not problem.is_role_movable[group]:
        return False
    return bins[item] != NOWHERE and bool(problem.may_hold_role[bins[item]])


def takes_a_siblings_place(problem: Problem, bins: dict[int, int]) -> bool:
    """
    Whether an item comes to where another of its group has left.

    Items of a group are interchangeable: that would be the other one, staying.
    """
    homes = {int(problem.home[item]) for item in bins} - {NOWHERE}
    return any(
        place != problem.home[item] and place in homes for item, place in bins.items()
    )


def illegal_in(
    problem: Problem, group: int, places: Iterable[int], holder: int
) -> Iterator[str]:
    """What a group does that is not allowed, by the bins of its items."""
    items = items_of(problem, group)
    bins = {item: int(place) for item, place in zip(items, places, strict=True)}
    for item, place in bins.items():
        if not may_go(problem, item, place):
            yield f"item {item} may not go to bin {place}"
    if takes_a_siblings_place(problem, bins):
        yield f"an item of group {group} comes to where another has left"
    if holder != NOWHERE and holder not in items:
        yield f"the role of group {group} is held by item {holder} of another"
    elif not may_lead(problem, group, holder, bins):
        yield f"item {holder} may not take the role of group {group}"


@dataclass(frozen=True, eq=False)
class Everything:
    """
    Every arrangement of a small problem that obeys all rules of its groups.

    Parameters
    ----------
    loads, peaks
        ``(K, N, R)`` of each arrangement.
    cost, copied, moves
        ``(K,)``; `copied` is the cost without the price per move.
    """

    loads: Any
    peaks: Any
    cost: Any
    copied: Any
    moves: Any

    def within(self, lower: Any, upper: Any, capacity: Any) -> "Everything":
        """Those within bands and capacities."""
        kept = (self.loads >= lower) & (self.loads <= upper) & (self.peaks <= capacity)
        rows = np.nonzero(kept.all(axis=(1, 2)))[0]
        return Everything(
            self.loads[rows],
            self.peaks[rows],
            self.cost[rows],
            self.copied[rows],
            self.moves[rows],
        )

    @property
    def least_cost(self) -> float:
        return float(self.cost.min()) if len(self.cost) else float("inf")

    @property
    def least_copied(self) -> float:
        return float(self.copied.min()) if len(self.copied) else float("inf")

    @property
    def fewest_moves(self) -> float:
        return float(self.moves.min()) if len(self.moves) else float("inf")


def everything(problem: Problem) -> Everything:
    """
    Enumerate all arrangements in which each group obeys its rules.

    Items that must move have, caps and even spread hold, roles are where they may be;
    capacities and bands are left to `Everything.within`. Of arrangements of one group
    with equal loads only the cheapest and the one with fewest moves are kept.
    """
    shape = problem.bins.fixed.shape
    start = np.array(problem.bins.fixed, dtype=np.int64)[None]
    zero = np.zeros(1, dtype=np.int64)
    found = [start, start, zero, zero, zero]
    for group in range(problem.num_groups):
        ways = _ways(problem, group)
        columns = zip(*ways, strict=True) if ways else [()] * len(found)
        rows = [np.array(column, dtype=np.int64) for column in columns]
        rows[:2] = [row.reshape(-1, *shape) for row in rows[:2]]
        found = [_sums(old, new) for old, new in zip(found, rows, strict=True)]
    return Everything(*found)


def _sums(first: Any, second: Any) -> Any:
    both = first[:, None] + second[None, :]
    return both.reshape(-1, *first.shape[1:])


def _ways(problem: Problem, group: int) -> list[tuple[Any, ...]]:
    """Loads, peaks, cost and moves of what one group may do."""
    items = items_of(problem, group)
    allowed = [places_of(problem, item) for item in items]
    best: dict[tuple[int, ...], set[tuple[int, int, int]]] = {}
    for places in product(*allowed):
        if is_group_broken(problem, group, list(places)):
            continue
        bins = dict(zip(items, places, strict=True))
        if takes_a_siblings_place(problem, bins):
            continue
        cost = sum(item_cost(problem, i, b) for i, b in bins.items())
        moves = sum(int(b != problem.home[i]) for i, b in bins.items())
        copied = cost - moves * problem.price_per_move
        for holder in [NOWHERE, *items]:
            if may_lead(problem, group, holder, bins) and not is_role_unreleased(
                problem, group, holder, bins
            ):
                key = _group_loads(problem, group, bins, holder)
                best.setdefault(key, set()).add((cost, copied, moves))
    half = problem.bins.fixed.size
    return [
        (key[:half], key[half:], *found)
        for key, all_found in best.items()
        for found in {min(all_found, key=lambda f, c=c: f[c]) for c in range(3)}
    ]


def places_of(problem: Problem, item: int) -> list[int]:
    must = int(problem.movability[item]) == Movability.MUST
    return [
        b
        for b in range(problem.num_bins)
        if may_go(problem, item, b) and not (must and b == problem.home[item])
    ]


def _group_loads(
    problem: Problem, group: int, bins: dict[int, int], holder: int
) -> tuple[int, ...]:
    """Flat loads of all bins, then flat peaks, of one group alone."""
    load = np.zeros(problem.bins.fixed.shape, dtype=np.int64)
    peak = np.zeros_like(load)
    for item, place in bins.items():
        weight = problem.weight[group].copy()
        own = weight + (problem.extra[item] if len(problem.extra) else 0)
        home = int(problem.home[item])
        load[place] += own if place == home else weight
        if place != home and home != NOWHERE:
            peak[home] += own * problem.is_transient
    if holder != NOWHERE:
        load[bins[holder]] += problem.role_weight[group]
    return (*load.ravel().tolist(), *(load + peak).ravel().tolist())


def crossing_of(problem: Problem, bins: dict[int, int]) -> int:
    """What some items cost that have moved out of the zone they are copied from."""
    total = 0
    for item, place in bins.items():
        group = int(problem.group_of[item])
        source = problem.source_zone[group]
        if place in {problem.home[item], NOWHERE} or source < 0:
            continue
        if problem.zone_of_bin[place] != source:
            total += int(problem.cost[group])
    return total


def least_crossing(problem: Problem) -> float:
    """The least of `crossing_of` over all arrangements; infinite if there is none."""
    total = 0.0
    for group in range(problem.num_groups):
        items = items_of(problem, group)
        ways = (
            dict(zip(items, places, strict=True))
            for places in product(*[places_of(problem, item) for item in items])
            if not is_group_broken(problem, group, list(places))
        )
        total += min(
            (
                crossing_of(problem, bins)
                for bins in ways
                if not takes_a_siblings_place(problem, bins)
            ),
            default=float("inf"),
        )
    return total
