"""
Sets of bins that must hold more than they may, with proofs.

*Load.* The items that the set must hold (`core.bounds.occupancy`) exceed its capacity:
"rack c must hold 5 TB, and may hold 4.5". A node with its own capacity limits the sum
over its bins; a bin that may not receive items holds no more than it does now.
*Count.* Each bin of the set takes at most as many items above some weight as the
lightest of them fit: five items of 50 GB do not fit into four bins of 80 GB.

The sets are: all bins, the bins open to a class of groups, and each node of a level,
whole and its open bins alone. For small levels, all unions of nodes are sets, too.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from placement.array_types import BoolArray, IntArray
from placement.core.bounds.occupancy import Occupancy
from placement.core.bounds.set_bounds import least_load
from placement.core.model.arrangement import home_loads
from placement.core.model.node_limits import limited_levels, set_capacity
from placement.core.model.objective import usable_capacity
from placement.core.model.problem import NO_LIMIT, Level, Movability, Problem
from placement.core.model.solution import Proof, Shortfall
from placement.core.verify.shortfalls import Verifier

OPEN = "open"
"""Level name of a set of the bins open to a class of groups."""
UNION = "union"
"""Level name of a set of several nodes together."""
BIN = "bin"
"""Level name of a set of one bin."""
MOST_NODES = 64
"""Largest number of nodes of a level to try, the fullest first."""
FEW_NODES = 5
"""Largest number of nodes of a level for which all unions are tried."""
MOST_WEIGHTS = 24
"""Largest number of weight thresholds to try, the heaviest first."""


class _Set(NamedTuple):
    """Set of bins: its level, its node (-1: none), and ``(N,)`` members."""

    level: str
    node: int
    bins: BoolArray


def overfull_sets(
    problem: Problem, *, counts_pieces: bool = True
) -> Iterator[Shortfall]:
    """
    Yield sets of bins that must hold more than they may.

    `counts_pieces`: if no load is too large, also yield a set of too many large items.
    """
    capacity = np.minimum(usable_capacity(problem), _most_held(problem))
    found = np.zeros(problem.num_resources, dtype=np.bool_)
    verifier, has_load = Verifier(problem), False
    occupancy = Occupancy(problem)
    chosen = list(_different(_sets(problem, capacity)))
    in_nodes = found.copy()
    for one in chosen:
        # Shortfalls of nodes or of all bins make those of derived sets redundant.
        known = found | in_nodes if one.level in {OPEN, UNION, BIN} else found
        if known.all():
            continue
        items = occupancy.least(one.bins)
        for shortfall in _overfull(problem, verifier, one, items, (capacity, known)):
            r = problem.resources.index(shortfall.resource)
            (found if one.node < 0 else in_nodes)[r] = True
            has_load = True
            yield shortfall
    if counts_pieces and not has_load:
        yield from _crowded_sets(problem, verifier, capacity, (chosen, occupancy))


def _overfull(
    problem: Problem,
    verifier: Verifier,
    one: _Set,
    items: IntArray,
    limits: tuple[IntArray, BoolArray],
) -> Iterator[Shortfall]:
    """
    Yield the capacity shortfalls of one set.

    `items`: fewest items of each group in the set. `limits`: capacities, and the
    resources whose shortfall is already known, which are skipped.
    """
    capacity, known = limits
    least = np.maximum(
        least_load(problem, one.bins, items),
        _least_while_copying(problem, one.bins, items),
    )
    most = set_capacity(problem, capacity, one.bins)
    for r in np.nonzero(~known)[0].tolist():
        if int(least[r]) <= most[r]:
            continue
        witness = {"resource": r, "bins": np.nonzero(one.bins)[0].tolist()}
        proof = Proof(kind="load", witness=witness)
        have, need = verifier.amounts(proof.kind, witness)
        if need > have:
            yield _shortfall(problem, one, r, (have, need), proof)


def _shortfall(
    problem: Problem, one: _Set, r: int, amounts: tuple[int, int], proof: Proof
) -> Shortfall:
    have, need = amounts
    return Shortfall(
        what="capacity",
        have=have,
        need=need,
        node=one.node,
        level=one.level,
        resource=problem.resources[r],
        is_proven=True,
        proof=proof,
    )


def _least_while_copying(
    problem: Problem, inside: BoolArray, least: IntArray
) -> IntArray:
    """Return ``(R,)`` load of a set during copying; 0 where not transient."""
    if not problem.is_transient.any():
        return np.zeros(problem.num_resources, dtype=np.int64)
    items = np.nonzero((problem.home >= 0) & inside[problem.home])[0]
    held = np.bincount(problem.group_of[items], minlength=problem.num_groups)
    arriving = np.maximum(least - held, 0)
    weight = problem.weight[problem.group_of[items]]
    if len(problem.extra):
        weight = weight + problem.extra[items]
    load = problem.bins.fixed[inside].sum(axis=0) + weight.sum(axis=0)
    load = load + (problem.weight * arriving[:, None]).sum(axis=0)
    return np.where(problem.is_transient, load, 0)


def _most_held(problem: Problem) -> IntArray:
    """Return ``(N, R)`` largest final load of bins that may not receive items."""
    stays = (problem.home >= 0) & np.not_equal(problem.movability, Movability.MUST)
    items = np.nonzero(stays)[0]
    group = problem.group_of[items]
    weight = problem.weight[group]
    if len(problem.extra):
        weight = weight + np.maximum(problem.extra[items], 0)
    has_role = (problem.role_home[group] >= 0)[:, None]
    weight = weight + np.where(has_role, np.maximum(problem.role_weight[group], 0), 0)
    most = problem.bins.fixed.copy()
    np.add.at(most, problem.home[items], weight)
    takes = problem.may_receive[:, None] | problem.is_transient[None, :]
    return np.where(takes, NO_LIMIT, most)


def _different(sets: Iterator[_Set]) -> Iterator[_Set]:
    """Yield each set of bins once."""
    seen: set[bytes] = set()
    for one in sets:
        key = one.bins.tobytes()
        if key not in seen and one.bins.any():
            seen.add(key)
            yield one


def _sets(problem: Problem, capacity: IntArray) -> Iterator[_Set]:
    """Yield the candidate sets."""
    limited: BoolArray = np.less(capacity.min(axis=1), NO_LIMIT)
    for other, limits in limited_levels(problem):
        inside = other.node_of_bin >= 0
        has_limit = np.less(limits.capacity.min(axis=1), NO_LIMIT)
        limited[inside] |= has_limit[other.node_of_bin[inside]]
    yield _Set(problem.levels[0].name, -1, limited)
    classes = [
        limited & is_eligible[problem.bin_class] & problem.may_receive
        for is_eligible in problem.is_eligible
    ]
    for open_to in classes:
        yield _Set(OPEN, -1, open_to)
    for level in problem.levels[1:]:
        if level.num_nodes > 1:
            yield from _of_nodes(problem, level, limited, classes)
    yield from _single(problem, limited)


def _of_nodes(
    problem: Problem, level: Level, limited: BoolArray, classes: list[BoolArray]
) -> Iterator[_Set]:
    nodes = _fullest(problem, level)[:MOST_NODES]
    for node in nodes:
        yield _Set(level.name, node, limited & np.equal(level.node_of_bin, node))
    for node in nodes:
        for open_to in classes:
            yield _Set(level.name, node, open_to & np.equal(level.node_of_bin, node))
    if level.num_nodes <= FEW_NODES:
        for count in range(2, level.num_nodes):
            for some in combinations(range(level.num_nodes), count):
                yield _Set(UNION, -1, limited & np.isin(level.node_of_bin, some))


def _single(problem: Problem, limited: BoolArray) -> Iterator[_Set]:
    """Yield single bins, at most `MOST_NODES`."""
    rows = np.nonzero(limited)[0]
    for b in rows[:MOST_NODES].tolist():
        yield _Set(BIN, b, np.arange(problem.num_bins) == b)


def _fullest(problem: Problem, level: Level) -> list[int]:
    """Return nodes by relative load, the fullest first."""
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


def _crowded_sets(
    problem: Problem,
    verifier: Verifier,
    capacity: IntArray,
    tried: tuple[list[_Set], Occupancy],
) -> Iterator[Shortfall]:
    """Yield a set that must take more items above some weight than fit in its bins."""
    free = capacity - _least_of_stuck(problem)
    sets, occupancy = tried
    for one in sets:
        need = occupancy.least(one.bins) - occupancy.stuck(one.bins)
        # Items without any usable bin lack places, not room.
        need = np.minimum(need, int((one.bins & problem.may_receive).sum()))
        for r in np.nonzero(~problem.is_transient)[0].tolist():
            groups = _most_crowded(problem, free[:, r], need, one.bins, r)
            if groups is None:
                continue
            witness = {
                "resource": r,
                "bins": np.nonzero(one.bins)[0].tolist(),
                "groups": groups.tolist(),
            }
            have, items = verifier.amounts("count", witness)
            if items > have:
                heaviest = int(groups[np.argmin(problem.weight[groups, r])])
                short = _shortfall(
                    problem, one, r, (have, items), Proof(kind="count", witness=witness)
                )
                yield _counted(problem, short, heaviest)
                return


def _counted(problem: Problem, short: Shortfall, group: int) -> Shortfall:
    """Return a capacity shortfall as one of places for items above some weight."""
    return Shortfall(
        what="pieces",
        have=short.have,
        need=short.need,
        group=group,
        node=short.node,
        level=short.level,
        resource=short.resource,
        is_proven=True,
        proof=short.proof,
    )


def _least_of_stuck(problem: Problem) -> IntArray:
    """Return ``(N, R)`` weight of the items that never leave, plus fixed load."""
    never = np.equal(problem.movability, Movability.NEVER) & (problem.home >= 0)
    items = np.nonzero(never)[0]
    weight = problem.weight[problem.group_of[items]]
    if len(problem.extra):
        weight = weight + problem.extra[items]
    load = problem.bins.fixed.copy()
    np.add.at(load, problem.home[items], weight)
    return load


def _most_crowded(
    problem: Problem, free: IntArray, need: IntArray, inside: BoolArray, r: int
) -> IntArray | None:
    """Return ``(k,)`` groups above a weight with too many items in a set, if any."""
    if (problem.role_weight[:, r] < 0).any() or (free[inside] >= NO_LIMIT // 2).any():
        return None
    weight = problem.weight[:, r].copy()
    if len(problem.extra):
        less = np.zeros(problem.num_groups, dtype=np.int64)
        np.minimum.at(less, problem.group_of, problem.extra[:, r])
        weight = np.maximum(weight + less, 0)
    asked = np.nonzero((need > 0) & (weight > 0))[0]
    if not len(asked):
        return None
    order = asked[np.argsort(weight[asked], kind="stable")]
    values = np.unique(weight[order])[::-1][:MOST_WEIGHTS]
    for value in values.tolist():
        groups = order[weight[order] >= value]
        items = np.repeat(weight[groups], need[groups])
        filled = np.cumsum(items)
        room = np.maximum(free[inside], 0)
        if int(np.searchsorted(filled, room, side="right").sum()) < len(items):
            return np.sort(groups)
    return None
