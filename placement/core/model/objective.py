"""Objective of an arrangement: hard rules broken, distance from bands, cost."""

from dataclasses import dataclass
from functools import total_ordering

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray, FloatArray, IndexArray, IntArray
from placement.core.model.arrangement import Arrangement, home_loads, loads
from placement.core.model.node_limits import can_relieve, node_distances, node_loads
from placement.core.model.problem import NOWHERE, Level, Movability, Problem

MANY = 16
"""Largest group size for which comparing neighbouring rows is faster than sorting."""


@total_ordering
@dataclass(frozen=True, slots=True)
class Value:
    """
    Value of the lexicographic objective, most important part first.

    Parameters
    ----------
    unmet
        Number of items that must move and have not, or have no bin, plus roles not
        released or in a bin that may not hold them.
    broken_groups
        Number of groups over a cap or unevenly spread.
    over_capacity
        Number of loads of bins and nodes over a hard capacity; a load that has grown
        counts twice.
    deviation
        Largest distance outside a band, in targets.
    outside
        Sum of all distances outside bands, in targets.
    cost
        Cost of all moves, with the price per move.
    moves
        Number of items that end in another bin.
    role_changes
        Number of groups whose role another item holds.
    """

    unmet: int
    broken_groups: int
    over_capacity: int
    deviation: float
    outside: float
    cost: int
    moves: int
    role_changes: int

    @property
    def key(self) -> tuple[float, ...]:
        """Parts in order; distances are rounded so that float noise decides nothing."""
        return (
            self.unmet + self.broken_groups + self.over_capacity,
            round(self.deviation, 9),
            round(self.outside, 7),
            self.cost,
            self.moves,
            self.role_changes,
        )

    @property
    def is_outside(self) -> bool:
        """Whether a load is outside its band by more than rounding of `key`."""
        return self.key[1] > 0

    @property
    def is_in_band(self) -> bool:
        """Whether all hard rules hold and every load is in its band."""
        return self.key[:3] == (0, 0.0, 0.0)

    def __lt__(self, other: "Value") -> bool:
        return self.key < other.key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Value) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


def evaluate(problem: Problem, at: Arrangement) -> Value:
    """Evaluate an arrangement from scratch."""
    load = loads(problem, at)
    distance = np.concatenate(
        [distances(problem, load), *node_distances(problem, load)]
    )
    moved = is_moved(problem, at)
    peak = _with_departed(problem, at, load)
    must = np.equal(problem.movability, Movability.MUST)
    unmet = (must & ~moved) | np.less(at.bin_of, 0) | refills(problem, at)
    return Value(
        unmet=int(unmet.sum())
        + int((unreleased_roles(problem, at) | misplaced_roles(problem, at)).sum()),
        broken_groups=int(broken_groups(problem, at).sum()),
        over_capacity=_count_over_capacity(problem, peak)
        + sum(nodes.num_over for nodes in node_loads(problem, at)),
        deviation=float(distance.max(initial=0.0)),
        outside=float(np.sum(distance)),
        cost=int(move_costs(problem, at).sum()),
        moves=int(moved.sum()),
        role_changes=int(np.not_equal(at.role_of, problem.role_home).sum()),
    )


def peaks(problem: Problem, at: Arrangement) -> IntArray:
    """Return ``(N, R)`` peak loads: departed items still fill their old bin."""
    return _with_departed(problem, at, loads(problem, at))


def _with_departed(problem: Problem, at: Arrangement, load: IntArray) -> IntArray:
    if not problem.is_transient.any():
        return load
    load = load.copy()
    left = np.nonzero(np.not_equal(at.bin_of, problem.home) & (problem.home >= 0))[0]
    weight = problem.weight[problem.group_of[left]]
    if len(problem.extra):
        weight = weight + problem.extra[left]
    np.add.at(load, problem.home[left], weight * problem.is_transient)
    return load


def _count_over_capacity(problem: Problem, load: IntArray) -> int:
    """Count peaks over capacity; a peak above the home load counts twice."""
    if np.less_equal(load, problem.bins.capacity).all():
        return 0
    over = over_capacity(problem, load)
    is_worse = over & (load > home_loads(problem))
    return int(over.sum()) + int(is_worse.sum())


def over_capacity(problem: Problem, load: IntArray) -> BoolArray:
    """Return ``(N, R)`` true where a peak exceeds a capacity that could be kept."""
    broken: BoolArray = load > usable_capacity(problem)
    return broken


def usable_capacity(problem: Problem) -> IntArray:
    """
    Return ``(N, R)`` capacities, or a larger present load that nothing can relieve.

    A bin that is over its capacity, and whose items and roles must all stay, breaks no
    rule as long as its load does not grow.
    """
    if np.less_equal(home_loads(problem), problem.bins.capacity).all():
        return problem.bins.capacity
    capacity = problem.bins.capacity
    start = np.maximum(capacity, home_loads(problem))
    return np.where(can_relieve(problem)[:, None], capacity, start)


def unreleased_roles(problem: Problem, at: Arrangement) -> BoolArray:
    """Return ``(G,)`` true where a role is in a bin that must release it."""
    held = np.nonzero((at.role_of >= 0) & problem.is_role_movable)[0]
    place = at.bin_of[at.role_of[held]]
    waiting = np.zeros(problem.num_groups, dtype=np.bool_)
    waiting[held] = (place >= 0) & problem.must_release_role[place]
    if waiting.any():
        could_hold = problem.may_hold_role[at.bin_of] & (at.bin_of >= 0)
        could = np.zeros(problem.num_groups, dtype=np.bool_)
        could[problem.group_of[could_hold]] = True
        waiting &= could
    return waiting


def misplaced_roles(problem: Problem, at: Arrangement) -> BoolArray:
    """Return ``(G,)`` true where a role has come to a bin that may not hold it."""
    held = np.nonzero(at.role_of >= 0)[0]
    holder = at.role_of[held]
    place = at.bin_of[holder]
    was_there = (holder == problem.role_home[held]) & (place == problem.home[holder])
    misplaced = np.zeros(problem.num_groups, dtype=np.bool_)
    misplaced[held] = ~was_there & ~problem.may_hold_role[place] & (place >= 0)
    return misplaced


def refills(problem: Problem, at: Arrangement) -> BoolArray:
    """
    Return ``(I,)`` true for items that came to a bin another of their group must leave.

    Items of a group are interchangeable: the effect is as if the item had stayed.
    """
    must = np.equal(problem.movability, Movability.MUST) & (problem.home >= 0)
    found = np.zeros(problem.num_items, dtype=np.bool_)
    if not must.any():
        return found
    moved = np.nonzero(is_moved(problem, at))[0]
    place, group = at.bin_of[moved], problem.group_of[moved]
    if _largest_group(problem) > MANY:
        left = problem.group_of[must].astype(np.int64) * problem.num_bins
        came = group.astype(np.int64) * problem.num_bins + place
        found[moved] = np.isin(came, left + problem.home[must])
        return found
    left = np.where(must, problem.home, NOWHERE)
    for step in _steps_to_siblings(problem):
        # Wrapping past an end reads another group, or a sibling, which is correct.
        other = (moved + step) % problem.num_items
        found[moved] |= np.equal(left[other], place) & np.equal(
            problem.group_of[other], group
        )
    return found


def _largest_group(problem: Problem) -> int:
    return int(np.diff(problem.group_start).max(initial=0))


def _steps_to_siblings(problem: Problem) -> list[int]:
    """Return the row distances between two items of a group, in both directions."""
    most = _largest_group(problem)
    return [*range(1 - most, 0), *range(1, most)]


def is_moved(problem: Problem, at: Arrangement) -> BoolArray:
    """Return ``(I,)`` true for items that end in a bin other than their home."""
    return np.not_equal(at.bin_of, problem.home) & np.greater_equal(at.bin_of, 0)


def distances(problem: Problem, load: IntArray) -> FloatArray:
    """Return ``(N, R)`` distances outside the bands of the bins, in targets."""
    bins = problem.bins
    has_band = bins.target > 0
    outside = np.maximum(np.maximum(load - bins.upper, bins.lower - load), 0)
    unit = np.where(has_band, bins.target, 1.0)
    result: FloatArray = np.where(has_band, outside / unit, 0.0)
    return result


def move_costs(problem: Problem, at: Arrangement) -> IntArray:
    """Return ``(I,)`` cost of each item's move, price per move included."""
    moved = np.nonzero(is_moved(problem, at))[0]
    price = np.full(len(moved), problem.price_across, dtype=np.int64)
    source, target = problem.home[moved], at.bin_of[moved]
    for level in reversed(problem.levels):
        node = level.node_of_bin
        shared = (source >= 0) & (node[source] == node[target]) & (node[target] >= 0)
        price[shared] = level.price
    costs = np.zeros(problem.num_items, dtype=np.int64)
    costs[moved] = problem.cost[problem.group_of[moved]] * price
    costs[moved] += problem.price_per_move
    return costs


def crossing_costs(problem: Problem, at: Arrangement) -> IntArray:
    """Return ``(I,)`` cost of each item moved to a bin outside its source zone."""
    costs = np.zeros(problem.num_items, dtype=np.int64)
    if not problem.has_zones:
        return costs
    moved = np.nonzero(is_moved(problem, at))[0]
    group = problem.group_of[moved]
    source = problem.source_zone[group]
    crosses = (source >= 0) & np.not_equal(
        source, problem.zone_of_bin[at.bin_of[moved]]
    )
    costs[moved[crosses]] = problem.cost[group[crosses]]
    return costs


def keeps_caps(problem: Problem, at: Arrangement) -> bool:
    """Return whether moves keep the caps on their number, cost and zone crossings."""
    if not problem.has_caps:
        return True
    moved = int(is_moved(problem, at).sum())
    cost = int(move_costs(problem, at).sum()) - problem.price_per_move * moved
    crossing = int(crossing_costs(problem, at).sum())
    used = (moved, cost, crossing)
    most = (problem.max_moves, problem.max_cost, problem.max_crossing)
    return all(have <= cap for have, cap in zip(used, most, strict=True))


def broken_groups(problem: Problem, at: Arrangement) -> BoolArray:
    """Return ``(G,)`` true for groups that break a cap or are unevenly spread."""
    broken = np.zeros(problem.num_groups, dtype=np.bool_)
    for level in problem.levels:
        if level.group_cap is not None:
            broken |= _broken_at(problem, at, level)
    return broken


def _broken_at(problem: Problem, at: Arrangement, level: Level) -> BoolArray:
    assert level.group_cap is not None  # noqa: S101 - chosen by the caller
    # An item without a bin (-1) reads the entry behind the last bin.
    node = np.append(level.node_of_bin, np.int32(NOWHERE))[at.bin_of]
    capped = level.group_cap[level.group_cap > 0]
    if not len(capped):
        return np.zeros(problem.num_groups, dtype=np.bool_)
    together = _num_together(problem, node)
    crowded = np.nonzero(together > capped.min())[0]
    cap = level.group_cap[problem.group_of[crowded]]
    crowded = crowded[(cap > 0) & (together[crowded] > cap)]
    broken = np.zeros(problem.num_groups, dtype=np.bool_)
    broken[problem.group_of[crowded]] = True
    if level.is_even:
        for g in np.nonzero((level.group_cap > 1) & ~broken)[0]:
            rows = node[problem.group_start[g] : problem.group_start[g + 1]]
            broken[g] = _is_uneven(level, rows[rows >= 0])
    return broken


def _num_together(problem: Problem, node: IndexArray) -> npt.NDArray[np.signedinteger]:
    """Return ``(I,)`` number of items of its group in the node of each item."""
    group, most = problem.group_of, _largest_group(problem)
    if most > MANY:
        key = group.astype(np.int64) * (int(node.max(initial=0)) + 2) + node + 1
        _, position, counts = np.unique(key, return_inverse=True, return_counts=True)
        return np.where(node >= 0, counts[position], 0)
    together = (node >= 0).astype(np.int8)
    # Items of a group are consecutive rows: pairs are less than `most` rows apart.
    for step in range(1, most):
        same = np.equal(node[step:], node[:-step]) & (node[step:] >= 0)
        same &= np.equal(group[step:], group[:-step])
        together[step:] += same
        together[:-step] += same
    return together


def _is_uneven(level: Level, nodes: IndexArray) -> bool:
    """Return whether a node with a free bin holds two items fewer than another one."""
    held = np.bincount(nodes, minlength=level.num_nodes)
    free = held < open_bins(level)
    return bool(free.any() and held.max() - held[free].min() > 1)


def open_bins(level: Level) -> IntArray:
    """Return ``(M,)`` bins of each node that count for an even spread."""
    if level.open_bins is not None:
        return level.open_bins.astype(np.int64)
    inside = level.node_of_bin[level.node_of_bin >= 0]
    return np.bincount(inside, minlength=level.num_nodes)
