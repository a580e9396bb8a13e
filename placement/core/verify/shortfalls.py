"""
Verify proofs of infeasibility from their witnesses, in exact integers.

Shares no code with the modules that find the proofs: it imports the problem and its
sums (`problem_facts`) alone. A witness names bins, groups, a resource or a level. The
amounts that bins must hold and may hold are computed again here, bin by bin.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from placement.array_types import BoolArray, IntArray
from placement.core.model.problem import NO_LIMIT, Level, Movability, Problem
from placement.core.verify.problem_facts import Facts

NOTHING = (0, 0)


class Verifier:
    """
    Verifier of the shortfall witnesses of one problem.

    Parameters
    ----------
    problem
        Items, bins, and what may move.
    """

    def __init__(self, problem: Problem) -> None:
        self._facts = Facts(problem)

    def amounts(self, kind: str, witness: Mapping[str, Any]) -> tuple[int, int]:
        """
        Return the amount available and the amount needed.

        Parameters
        ----------
        kind
            ``load``: the `bins` must hold more of a `resource` than they may.
            ``count``: more items of the `groups` must be in the `bins` than fit by a
            `resource`. ``room``: a `group` has fewer places than items at a `level`.
        witness
            Rows of the problem by these names.

        Returns
        -------
        Two integers; if the second is larger, the hard rules are infeasible. Zeros for
        an unknown kind.
        """
        check = {"load": _load, "count": _pieces, "room": _places}.get(kind)
        return NOTHING if check is None else check(self._facts, witness)


def _load(facts: Facts, witness: Mapping[str, Any]) -> tuple[int, int]:
    problem, r = facts.problem, int(witness["resource"])
    inside = _chosen(problem, witness)
    items = facts.least_items(inside)
    must_lead = (problem.role_home >= 0) & ~_may_lead(facts, ~inside)
    role = _sum(problem.role_weight[must_lead, r])
    # A role with a negative weight may come to the set.
    role += _sum(np.minimum(problem.role_weight[~must_lead, r], 0))
    fixed = sum(int(one) for one in problem.bins.fixed[inside, r])
    need = fixed + role + _dot(problem.weight[:, r], items)
    at_home = (problem.home >= 0) & inside[problem.home]
    if len(problem.extra):
        extra = problem.extra[:, r]
        need += _sum(extra[at_home & facts.never])
        need += _sum(np.minimum(extra[at_home & ~facts.never], 0))
    if problem.is_transient[r]:
        held = np.bincount(problem.group_of[at_home], minlength=problem.num_groups)
        arriving = np.maximum(items - held, 0)
        now = fixed + _sum(facts.weights(r)[at_home])
        need = max(need, now + _dot(problem.weight[:, r], arriving))
    return _most_load(facts, inside, r), need


def _pieces(facts: Facts, witness: Mapping[str, Any]) -> tuple[int, int]:
    problem, r = facts.problem, int(witness["resource"])
    inside = _chosen(problem, witness)
    if problem.is_transient[r] or (problem.role_weight[:, r] < 0).any():
        return NOTHING
    stuck = np.bincount(
        problem.group_of[facts.never & inside[problem.home]],
        minlength=problem.num_groups,
    )
    need = facts.least_items(inside) - stuck
    weight = problem.weight[:, r].copy()
    if len(problem.extra):
        less = np.zeros(problem.num_groups, dtype=np.int64)
        np.minimum.at(less, problem.group_of, problem.extra[:, r])
        weight += less
    groups = sorted({int(g) for g in witness["groups"]})
    pieces = sorted(
        max(int(weight[g]), 0) for g in groups for _ in range(max(int(need[g]), 0))
    )
    stays, have = facts.stuck(r, False), 0
    for b in np.nonzero(inside)[0].tolist():
        alone = np.arange(problem.num_bins) == b
        room = _most_load(facts, alone, r) - stays[b]
        for piece in pieces:
            room -= piece
            if room < 0:
                break
            have += 1
    return have, len(pieces)


def _places(facts: Facts, witness: Mapping[str, Any]) -> tuple[int, int]:
    problem = facts.problem
    group, level = int(witness["group"]), problem.levels[int(witness["level"])]
    items = list(range(*problem.group_start[group : group + 2].tolist()))
    kinds = {int(problem.home[i]): int(problem.movability[i]) for i in items}
    kinds.pop(-1, None)
    is_alone, num_homes = problem.levels[0].group_cap, len(kinds)
    at_home = sum(problem.home[i] >= 0 for i in items)
    if is_alone is None or is_alone[group] != 1 or num_homes != at_home:
        return NOTHING
    stay = {b for b, kind in kinds.items() if kind == Movability.NEVER}
    cap = 0 if level.group_cap is None else int(level.group_cap[group])
    movable = len(items) - len(stay)
    room: dict[int, int] = {}
    held: dict[int, int] = {}
    for b in stay:
        node = int(level.node_of_bin[b])
        held[node] = held.get(node, 0) + 1
    for b in range(problem.num_bins):
        if _is_place(problem, group, kinds, b) and _fits(facts, group, b):
            node = int(level.node_of_bin[b])
            room[node] = room.get(node, 0) + 1
    have = sum(
        min(bins, max(cap - held.get(node, 0), 0)) if cap and node >= 0 else bins
        for node, bins in room.items()
    )
    return len(stay) + min(have, movable), len(items)


def _is_place(problem: Problem, group: int, kinds: dict[int, int], b: int) -> bool:
    if b in kinds:
        return kinds[b] == Movability.MAY
    row, column = problem.group_class[group], problem.bin_class[b]
    return bool(problem.may_receive[b] and problem.is_eligible[row, column])


def _fits(facts: Facts, group: int, b: int) -> bool:
    """Return whether an item fits into a bin beside the load that never leaves it."""
    problem = facts.problem
    here = facts.items_at(b)
    own = here[np.equal(problem.group_of[here], group)].tolist()
    for r in range(problem.num_resources):
        is_transient = bool(problem.is_transient[r])
        least = int(problem.weight[group, r])
        if own:
            least = min(least, 0 if is_transient else int(facts.weights(r)[own[0]]))
        if least > facts.capacities(r)[b] - facts.stuck(r, is_transient)[b]:
            return False
        if least > _room_in_nodes(facts, b, r):
            return False
    return True


def _room_in_nodes(facts: Facts, b: int, r: int) -> int:
    """Return the least capacity of a bin's nodes beside load that never leaves."""
    problem, room = facts.problem, NO_LIMIT
    stays = facts.stuck(r, False)
    for level in problem.levels[1:]:
        node = int(level.node_of_bin[b])
        if level.limits is None or node < 0:
            continue
        bins = np.nonzero(np.equal(level.node_of_bin, node))[0].tolist()
        held = sum(stays[other] - int(problem.bins.fixed[other, r]) for other in bins)
        own = int(level.limits.fixed[node, r])
        room = min(room, _node_capacity(facts, level, node, r) - own - held)
    return room


def _chosen(problem: Problem, witness: Mapping[str, Any]) -> BoolArray:
    inside = np.zeros(problem.num_bins, dtype=np.bool_)
    inside[np.asarray(witness["bins"], dtype=np.int64)] = True
    return inside


def _sum(values: IntArray) -> int:
    return (int((values >> 32).sum()) << 32) + int((values & 0xFFFFFFFF).sum())


def _dot(weight: IntArray, count: IntArray) -> int:
    rows = np.nonzero(count)[0]
    return sum(int(w) * int(n) for w, n in zip(weight[rows], count[rows], strict=True))


def _may_lead(facts: Facts, where: BoolArray) -> BoolArray:
    """Return ``(G,)`` whether the role may end in a set of bins."""
    problem = facts.problem
    found = np.zeros(problem.num_groups, dtype=np.bool_)
    for b in np.nonzero(where & problem.may_hold_role)[0].tolist():
        found |= facts.usable_at(b)
        here = facts.items_at(b)
        found[problem.group_of[here[facts.never[here]]]] = True
    groups = np.nonzero(problem.role_home >= 0)[0]
    holder = problem.role_home[groups]
    is_here = (problem.home[holder] >= 0) & where[problem.home[holder]]
    movability = problem.movability[holder]
    found[groups] |= is_here & np.not_equal(movability, Movability.MUST)
    is_fixed = ~problem.is_role_movable[groups]
    is_fixed &= np.equal(movability, Movability.NEVER)
    found[groups[is_fixed]] = is_here[is_fixed]
    return found


def _most_load(facts: Facts, inside: BoolArray, r: int) -> int:
    """Return the capacity of a set of bins; `NO_LIMIT` or more: unlimited."""
    problem = facts.problem
    capacity = [min(one, NO_LIMIT) for one in facts.capacities(r)]
    if not problem.is_transient[r]:
        for b in np.nonzero(inside & ~problem.may_receive)[0].tolist():
            capacity[b] = min(capacity[b], _most_held(facts, b, r))
    chosen = np.nonzero(inside)[0].tolist()
    most = sum(capacity[b] for b in chosen)
    for level in problem.levels[1:]:
        if level.limits is None:
            continue
        by_node: dict[int, int] = {}
        for b in chosen:
            node = int(level.node_of_bin[b])
            by_node[node] = by_node.get(node, 0) + capacity[b]
        parts = (
            total if node < 0 else min(total, _node_capacity(facts, level, node, r))
            for node, total in by_node.items()
        )
        most = min(most, sum(parts))
    return most


def _node_capacity(facts: Facts, level: Level, node: int, r: int) -> int:
    assert level.limits is not None  # noqa: S101 - chosen by the caller
    problem, load = facts.problem, facts.home_loads(r)
    bins = np.nonzero(np.equal(level.node_of_bin, node))[0].tolist()
    most = int(level.limits.capacity[node, r])
    if facts.relieved[bins].any():
        return most
    own = int(level.limits.fixed[node, r])
    return max(most, own + sum(load[b] - int(problem.bins.fixed[b, r]) for b in bins))


def _most_held(facts: Facts, b: int, r: int) -> int:
    """Return the largest final load of a bin that may not receive items."""
    problem, weights = facts.problem, facts.weights(r)
    total = int(problem.bins.fixed[b, r])
    for item in facts.items_at(b).tolist():
        if problem.movability[item] == Movability.MUST:
            continue
        group = int(problem.group_of[item])
        total += max(int(weights[item]), int(problem.weight[group, r]))
        if problem.role_home[group] >= 0:
            total += max(int(problem.role_weight[group, r]), 0)
    return total
