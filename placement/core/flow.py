"""
Flows, where they are exact: counts of items per bin, and roles at given places.

A problem in which every item weighs the same in the resources that have a band is a
transport problem (theory T2): groups supply their items, nodes of the higher levels
and bins take them within their caps and bands, and staying at home costs nothing. Its
least-cost flow is integral, so it is the least cost of moving for balanced counts.
Roles at given places are another one (T2b): one unit per group, to a bin of its items.
"""

from dataclasses import dataclass

import numpy as np

from placement.core.arrangement import Arrangement
from placement.core.problem import (
    NO_LIMIT,
    IntArray,
    Level,
    Movability,
    Problem,
)
from placement.core.value import open_bins

MAX_ARCS = 2_000_000
"""About two seconds of flow; above, the search answers alone."""


def fits_flow(problem: Problem) -> bool:
    """Tell whether counts are all that is to be balanced, and the flow is exact."""
    level = problem.levels[0]
    higher = [level for level in problem.levels[1:] if level.group_cap is not None]
    return (
        problem.num_groups * problem.num_bins <= MAX_ARCS
        and counted_resource(problem) is not None
        and level.group_cap is not None
        and bool((level.group_cap == 1).all())
        and len(higher) <= 1
        and all(level.limits is None for level in problem.levels[1:])
        and all(level.price == problem.price_across for level in problem.levels)
        and bool((problem.home >= 0).all())
    )


def counted_resource(problem: Problem) -> int | None:
    """Return the one resource of equal weights that has limits, roles apart."""
    found = None
    bins = problem.bins
    for r in range(problem.num_resources):
        has_limits = (bins.target[:, r] > 0).any() or (
            bins.capacity[:, r] < NO_LIMIT
        ).any()
        weight, role = problem.weight[:, r], problem.role_weight[:, r]
        if not has_limits or not (weight.any() or role.any()):
            continue
        is_role = not weight.any() and bool((role == role[0]).all())
        is_count = not role.any() and bool((weight == weight[0]).all())
        if not (is_role or is_count) or (is_count and found is not None):
            return None
        if is_count:
            found = r
    return found


@dataclass(frozen=True, slots=True)
class _Arcs:
    """Arcs of a flow network, gathered before they are handed to the solver."""

    tails: list[int]
    heads: list[int]
    capacities: list[int]
    costs: list[int]

    def add(self, tail: int, head: int, capacity: int, cost: int) -> int:
        if capacity <= 0:
            return -1
        self.tails.append(tail)
        self.heads.append(head)
        self.capacities.append(capacity)
        self.costs.append(cost)
        return len(self.tails) - 1

    def add_bounded(
        self, tail: int, head: int, bounds: tuple[int, int], force: int, room: int
    ) -> None:
        """Add an arc whose flow should lie within bounds, at a price outside them."""
        lower, upper = bounds
        self.add(tail, head, min(lower, room), -force)
        self.add(tail, head, min(upper, room) - min(lower, room), 0)
        self.add(tail, head, room - min(upper, room), force)


def solve_counts(problem: Problem) -> Arrangement | None:
    """
    Place the items by the least-cost flow.

    Returns
    -------
    The arrangement that keeps every count within its band at the least cost, or the
    one that is least outside in sum where none does; `None` where the caps let no
    placement exist at all.
    """
    network = _CountNetwork(problem)
    flow = _solve(network.arcs, network.supplies)
    if flow is None:
        return None
    return network.arrangement(flow)


class _CountNetwork:
    """Groups, their nodes at the capped level, bins and the sink."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.arcs = _Arcs([], [], [], [])
        self.force = _force(problem)
        self.level = next(
            (level for level in problem.levels[1:] if level.group_cap is not None),
            None,
        )
        groups, bins = problem.num_groups, problem.num_bins
        self.sink = groups + bins
        self.supplies = {g: int(n) for g, n in enumerate(np.diff(problem.group_start))}
        self.supplies[self.sink] = -problem.num_items
        self._next = self.sink + 1
        self.choices: dict[int, tuple[int, int]] = {}
        for group in range(groups):
            self._add_group(group)
        self._add_bins()

    def _add_group(self, group: int) -> None:
        problem = self.problem
        items = range(*problem.group_start[group : group + 2].tolist())
        home = {int(problem.home[item]): item for item in items}
        node_of: dict[int, int] = {}
        for b in range(problem.num_bins):
            if not self._may_hold(group, b, home):
                continue
            cost = 0 if b in home else self._move_cost(group)
            if b in home and problem.movability[home[b]] == Movability.NEVER:
                cost = -self.force * 4
            tail = self._tail(group, b, node_of)
            arc = self.arcs.add(tail, problem.num_groups + b, 1, cost)
            self.choices[arc] = (group, b)

    def _may_hold(self, group: int, b: int, home: dict[int, int]) -> bool:
        problem = self.problem
        if b in home:
            return bool(problem.movability[home[b]] != Movability.MUST)
        allowed = problem.is_eligible[problem.group_class[group], problem.bin_class[b]]
        return bool(allowed and problem.may_receive[b])

    def _move_cost(self, group: int) -> int:
        # One more than the cost: of plans of equal cost, the one with fewer moves.
        cost = int(self.problem.cost[group]) * self.problem.price_across
        return (cost + self.problem.price_per_move) * self._scale + 1

    @property
    def _scale(self) -> int:
        return _cost_scale(self.problem)

    def _tail(self, group: int, b: int, node_of: dict[int, int]) -> int:
        """Return the network's node from which the group reaches a bin."""
        level = self.level
        if level is None or level.group_cap is None or level.group_cap[group] == 0:
            return group
        node = int(level.node_of_bin[b])
        if node < 0:
            return group
        if node not in node_of:
            node_of[node] = self._next
            self._next += 1
            self._add_node(group, node, node_of[node], level)
        return node_of[node]

    def _add_node(self, group: int, node: int, number: int, level: Level) -> None:
        assert level.group_cap is not None  # noqa: S101 - as the caller made sure
        cap = int(level.group_cap[group])
        floor = 0
        if level.is_even:
            floor = max(0, min(cap - 1, int(open_bins(level)[node])))
        size = int(np.diff(self.problem.group_start[group : group + 2])[0])
        self.arcs.add_bounded(group, number, (floor, cap), self.force * 2, size)

    def _add_bins(self) -> None:
        problem, bins = self.problem, self.problem.bins
        r = counted_resource(problem)
        assert r is not None  # noqa: S101 - as `fits_flow` made sure
        unit = int(problem.weight[0, r])
        has_band = bins.target[:, r] > 0
        lower = np.where(has_band, -(-bins.lower[:, r] // unit), 0)
        upper = np.where(has_band, bins.upper[:, r] // unit, NO_LIMIT)
        capacity = bins.capacity[:, r] // unit
        for b in range(problem.num_bins):
            low = min(int(lower[b]), problem.num_groups)
            high = min(int(upper[b]), int(capacity[b]), problem.num_groups)
            self.arcs.add_bounded(
                problem.num_groups + b,
                self.sink,
                (max(low, 0), max(high, low, 0)),
                self.force,
                problem.num_groups,
            )

    def arrangement(self, flow: IntArray) -> Arrangement:
        """Read the placement off: items whose bin is kept stay, the rest fill up."""
        problem = self.problem
        chosen: dict[int, list[int]] = {}
        for arc, (group, b) in self.choices.items():
            if flow[arc]:
                chosen.setdefault(group, []).append(b)
        bin_of = problem.home.copy()
        for group, bins in chosen.items():
            items = range(*problem.group_start[group : group + 2].tolist())
            stay = {int(problem.home[item]) for item in items} & set(bins)
            rest = iter(sorted(b for b in bins if b not in stay))
            for item in items:
                if int(problem.home[item]) not in stay:
                    bin_of[item] = next(rest)
        return Arrangement(bin_of, problem.role_home.copy())


def _cost_scale(problem: Problem) -> int:
    """Return what a cost is multiplied by so that a move more breaks ties."""
    return problem.num_items + 1


def _force(problem: Problem) -> int:
    """Return a price above all moves together: bands go before cost."""
    dearest = int(problem.cost.max(initial=0)) * problem.price_across
    dearest = (dearest + problem.price_per_move) * _cost_scale(problem) + 1
    return dearest * (problem.num_items + 1)


def solve_roles(problem: Problem, at: Arrangement) -> Arrangement:
    """
    Hand out the roles at given places by the least-cost flow.

    Exact for the resource in which every role weighs the same; a change costs one.
    Where there is no such resource, roles only go to where they may be.
    """
    r = _role_resource(problem)
    arcs = _Arcs([], [], [], [])
    groups, sink = problem.num_groups, problem.num_groups + problem.num_bins
    choices: dict[int, tuple[int, int]] = {}
    supplies: dict[int, int] = {}
    for group in range(groups):
        candidates = _role_candidates(problem, at, group)
        for item in candidates:
            cost = int(item != problem.role_home[group])
            arc = arcs.add(group, groups + int(at.bin_of[item]), 1, cost)
            choices[arc] = (group, item)
        if candidates:
            supplies[group] = 1
    supplies[sink] = -len(supplies)
    _add_role_bins(problem, arcs, r)
    flow = _solve(arcs, supplies)
    if flow is None:
        return at
    role_of = at.role_of.copy()
    for arc, (group, item) in choices.items():
        if flow[arc]:
            role_of[group] = item
    return Arrangement(at.bin_of, role_of)


def _role_resource(problem: Problem) -> int | None:
    for r in range(problem.num_resources):
        role = problem.role_weight[:, r]
        is_only_role = not problem.weight[:, r].any() and role.any()
        if is_only_role and bool((role == role[0]).all()):
            return r
    return None


def _role_candidates(problem: Problem, at: Arrangement, group: int) -> list[int]:
    holder = int(at.role_of[group])
    if holder < 0:
        return []
    items = range(*problem.group_start[group : group + 2].tolist())
    if not problem.is_role_movable[group]:
        return [holder]
    may = [item for item in items if problem.may_hold_role[at.bin_of[item]]]
    if at.bin_of[holder] == problem.home[holder] and holder not in may:
        released = problem.must_release_role[at.bin_of[holder]]
        return may if may and released else [*may, holder]
    return may or [holder]


def _add_role_bins(problem: Problem, arcs: _Arcs, r: int | None) -> None:
    bins, groups = problem.bins, problem.num_groups
    unit = 1 if r is None else int(problem.role_weight[:, r].max())
    for b in range(problem.num_bins):
        low, high = 0, groups
        if r is not None and bins.target[b, r] > 0:
            low = max(0, int(-(-bins.lower[b, r] // unit)))
            high = min(groups, int(bins.upper[b, r] // unit))
        force = groups + 1
        arcs.add_bounded(
            groups + b, groups + problem.num_bins, (low, max(low, high)), force, groups
        )


def _solve(arcs: _Arcs, supplies: dict[int, int]) -> IntArray | None:
    """Return the flow of each arc, or `None` where the supplies cannot be met."""
    from ortools.graph.python import min_cost_flow

    solver = min_cost_flow.SimpleMinCostFlow()
    solver.add_arcs_with_capacity_and_unit_cost(
        np.array(arcs.tails, dtype=np.int32),
        np.array(arcs.heads, dtype=np.int32),
        np.array(arcs.capacities, dtype=np.int64),
        np.array(arcs.costs, dtype=np.int64),
    )
    for node, supply in supplies.items():
        solver.set_node_supply(node, supply)
    if solver.solve() != solver.OPTIMAL:
        return None
    flow: IntArray = solver.flows(np.arange(len(arcs.tails)))
    return flow
