"""
Loads, capacities and counts of a problem, used to verify shortfalls.

`core.verify.shortfalls` verifies the proofs. Imports the problem alone.
"""

import numpy as np

from placement.array_types import BoolArray, IntArray
from placement.core.model.problem import Level, Movability, Problem


class Facts:
    """Loads and capacities of a problem, each computed once."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.relieved = _may_be_relieved(problem)
        self.never = np.equal(problem.movability, Movability.NEVER)
        self.never &= problem.home >= 0
        self._order = np.argsort(problem.home, kind="stable")
        self._start = np.searchsorted(
            problem.home[self._order], np.arange(problem.num_bins + 1)
        )
        self._weights: dict[int, IntArray] = {}
        self._capacities: dict[int, list[int]] = {}
        self._loads: dict[int, list[int]] = {}
        self._stuck: dict[tuple[int, bool], list[int]] = {}
        self._least: dict[bytes, IntArray] = {}

    def items_at(self, b: int) -> IntArray:
        """Return the items whose home is a bin."""
        return self._order[self._start[b] : self._start[b + 1]]

    def usable_at(self, b: int) -> BoolArray:
        """Return ``(G,)`` groups with a movable item that may end in a bin."""
        problem, items = self.problem, self.items_at(b)
        column = problem.is_eligible[:, problem.bin_class[b]]
        found: BoolArray = column[problem.group_class] & problem.may_receive[b]
        kind, group = problem.movability[items], problem.group_of[items]
        found[group] = False
        found[group[np.equal(kind, Movability.MAY)]] = True
        return found

    def weights(self, r: int) -> IntArray:
        """Return ``(I,)`` weight of each item in its home bin."""
        if r not in self._weights:
            self._weights[r] = weights_at_home(self.problem, r)
        return self._weights[r]

    def stuck(self, r: int, is_transient: bool) -> list[int]:
        """Return the load that stays in each bin for good, or while copies are made."""
        if (r, is_transient) not in self._stuck:
            at_home = self.problem.home >= 0
            rows = np.nonzero(at_home if is_transient else self.never)[0]
            load = self.problem.bins.fixed[:, r].copy()
            np.add.at(load, self.problem.home[rows], self.weights(r)[rows])
            self._stuck[r, is_transient] = load.tolist()
        return self._stuck[r, is_transient]

    def home_loads(self, r: int) -> list[int]:
        """Return the load of each bin before any move, roles included."""
        if r not in self._loads:
            problem = self.problem
            load = problem.bins.fixed[:, r].copy()
            rows = np.nonzero(problem.home >= 0)[0]
            np.add.at(load, problem.home[rows], self.weights(r)[rows])
            held = np.nonzero(problem.role_home >= 0)[0]
            place = problem.home[problem.role_home[held]]
            held, place = held[place >= 0], place[place >= 0]
            np.add.at(load, place, problem.role_weight[held, r])
            self._loads[r] = load.tolist()
        return self._loads[r]

    def capacities(self, r: int) -> list[int]:
        """Return capacities, or the larger present load where nothing may leave."""
        if r not in self._capacities:
            most, load = self.problem.bins.capacity[:, r].tolist(), self.home_loads(r)
            self._capacities[r] = [
                one if may else max(one, now)
                for one, may, now in zip(
                    most, self.relieved.tolist(), load, strict=True
                )
            ]
        return self._capacities[r]

    def least_items(self, inside: BoolArray) -> IntArray:
        """Return ``(G,)`` the fewest items of each group in a set of bins."""
        key = inside.tobytes()
        if key not in self._least:
            self._least[key] = _least_items(self, inside)
        return self._least[key]


def _may_be_relieved(problem: Problem) -> BoolArray:
    """Return ``(N,)`` bins that an item or a role may leave."""
    found = np.zeros(problem.num_bins, dtype=np.bool_)
    may = np.not_equal(problem.movability, Movability.NEVER) & (problem.home >= 0)
    found[problem.home[may]] = True
    groups = np.nonzero(problem.is_role_movable & (problem.role_home >= 0))[0]
    found[problem.home[problem.role_home[groups]]] = True
    return found


def weights_at_home(problem: Problem, r: int) -> IntArray:
    """Return ``(I,)`` weight of each item in its home bin."""
    weight: IntArray = problem.weight[problem.group_of, r]
    return weight + problem.extra[:, r] if len(problem.extra) else weight


def _least_items(facts: Facts, inside: BoolArray) -> IntArray:
    problem, never = facts.problem, facts.never
    count = {"minlength": problem.num_groups}
    stuck = np.bincount(problem.group_of[never & inside[problem.home]], **count)
    movable = np.diff(problem.group_start) - np.bincount(
        problem.group_of[never], **count
    )
    most, least = movable.copy(), np.zeros_like(movable)
    for position, level in enumerate(problem.levels):
        room, forced = _room_outside(facts, position, level, ~inside)
        most, least = np.minimum(most, room), np.maximum(least, forced)
    found: IntArray = np.maximum(stuck + movable - most, least)
    return found


def _room_outside(
    facts: Facts, position: int, level: Level, where: BoolArray
) -> tuple[IntArray, IntArray]:
    """Return ``(G,)`` movable items that a level admits, and items forced out."""
    problem, never = facts.problem, facts.never
    size = np.diff(problem.group_start)
    cap = size if level.group_cap is None else level.group_cap.astype(np.int64)
    cap = np.where(cap > 0, cap, size)
    alone = problem.levels[0].group_cap
    each = size if alone is None else np.where(alone > 0, alone, size)
    room, forced = np.zeros_like(size), np.zeros_like(size)
    could_be_loose = np.zeros(len(size), dtype=np.bool_)
    all_floors = np.zeros_like(size)
    for node in range(-1, level.num_nodes):
        bins = np.nonzero(np.equal(level.node_of_bin, node))[0].tolist()
        open_in, open_all = np.zeros_like(size), np.zeros_like(size)
        for b in bins:
            here = facts.usable_at(b)
            open_all += here
            open_in += here & where[b]
        in_node = never & np.isin(problem.home, bins)
        stuck = np.bincount(problem.group_of[in_node], minlength=len(size))
        outside = in_node & where[problem.home]
        stuck_out = np.bincount(problem.group_of[outside], minlength=len(size))
        if node < 0:
            could_be_loose |= (open_all + stuck) > 0
            room += open_in * each
            continue
        if position == 0:
            room += open_in * each
            continue
        limit = size if level.group_cap is None else np.maximum(cap - stuck, 0)
        room += np.minimum(open_in * each, limit)
        if level.is_even and level.group_cap is not None:
            free = len(bins) if level.open_bins is None else int(level.open_bins[node])
            floor = np.minimum(np.maximum(level.group_cap - 1, 0), free)
            all_floors += floor
            forced += np.maximum(floor - open_in * each - stuck_out, 0)
    # If no node need hold as many items as the cap, an even spread forces none out.
    forced[could_be_loose | (all_floors >= size)] = 0
    return room, forced
