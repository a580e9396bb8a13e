"""
Re-check a bound from its witness, in exact integers.

This module shares nothing with the code that finds bounds: it imports the problem
alone, and multiplies and sums without rounding. A bound that holds here holds whatever
mistakes the search or `bounds` may make.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from placement.core.problem import Movability, Problem

IntArray = npt.NDArray[np.int64]


def verify_cover(
    problem: Problem,
    lower: IntArray,
    upper: IntArray,
    witness: Mapping[str, Any],
    *,
    counts_moves: bool,
) -> int:
    """
    Return the value that a cover witness proves.

    Parameters
    ----------
    problem
        What the bound is about.
    lower, upper
        ``(N, R)`` the bands for which it is claimed.
    witness
        ``side`` ("leave" or "arrive") and ``bins``: rows of bin, resource, numerator
        and denominator of the multiplier. A bin counts once.
    counts_moves
        Whether moves are bounded (each costs 1) or their cost.

    Returns
    -------
    A number that no arrangement within the bands can be below; 0 if the witness
    proves nothing.
    """
    entries = [tuple(int(x) for x in entry) for entry in witness["bins"]]
    bins = [entry[0] for entry in entries]
    if len(set(bins)) != len(bins) or any(n < 0 or d < 1 for _, _, n, d in entries):
        return 0
    cost = problem.cost * problem.least_price
    if counts_moves:
        cost = np.ones_like(problem.cost)
    if witness["side"] == "leave":
        return _verify_leaving(problem, upper, entries, cost)
    return _verify_arriving(problem, lower, entries, cost)


def _exact_sum(values: IntArray) -> int:
    """Sum integers that are not negative, past 2^63 too."""
    high, low = int((values >> 32).sum()), int((values & 0xFFFFFFFF).sum())
    return (high << 32) + low


def _saved(weight: IntArray, cost: IntArray, numerator: int, denominator: int) -> int:
    """Return the sum of what each item gives back: the dual of ``x <= 1``."""
    largest = max(
        numerator * int(weight.max(initial=0)), denominator * int(cost.max(initial=0))
    )
    if largest >= 1 << 63:
        weight, cost = weight.astype(object), cost.astype(object)
        pairs = zip(weight, cost, strict=True)
        return sum(max(0, numerator * w - denominator * c) for w, c in pairs)
    return _exact_sum(np.maximum(numerator * weight - denominator * cost, 0))


def _weights(problem: Problem, items: IntArray, resource: int) -> IntArray:
    weight: IntArray = problem.weight[problem.group_of[items], resource]
    if len(problem.extra):
        weight = weight + problem.extra[items, resource]
    return weight


def _by_bin(problem: Problem) -> tuple[IntArray, IntArray]:
    """Return items sorted by home bin, and where each bin starts."""
    order = np.argsort(problem.home, kind="stable")
    starts = np.searchsorted(problem.home[order], np.arange(problem.num_bins + 1))
    return order, starts


def _verify_leaving(
    problem: Problem,
    upper: IntArray,
    entries: Sequence[tuple[int, ...]],
    cost: IntArray,
) -> int:
    must = np.equal(problem.movability, Movability.MUST)
    total = int(cost[problem.group_of[must]].sum())
    order, starts = _by_bin(problem)
    for b, r, numerator, denominator in entries:
        items = order[starts[b] : starts[b + 1]]
        stays = items[~must[items]]
        # Every role may have left, and what must leave has: the rest of the excess
        # must leave as items that may.
        load = int(problem.bins.fixed[b, r]) + _exact_sum(_weights(problem, stays, r))
        free = stays[np.equal(problem.movability[stays], Movability.MAY)]
        value = numerator * (load - int(upper[b, r])) - _saved(
            _weights(problem, free, r),
            cost[problem.group_of[free]],
            numerator,
            denominator,
        )
        total += max(0, -(-value // denominator))
    return total


def _verify_arriving(
    problem: Problem,
    lower: IntArray,
    entries: Sequence[tuple[int, ...]],
    cost: IntArray,
) -> int:
    total = 0
    times = _arriving_at_most(problem)
    order, starts = _by_bin(problem)
    must = np.equal(problem.movability, Movability.MUST)
    for b, r, numerator, denominator in entries:
        if not problem.may_receive[b]:
            return 0
        items = order[starts[b] : starts[b + 1]]
        stays = items[~must[items]]
        # At best every item that need not leave stays and takes its group's role.
        groups = problem.group_of[stays]
        has_role = problem.role_home[groups] >= 0
        held = problem.role_weight[groups[has_role], r]
        load = int(problem.bins.fixed[b, r]) + _exact_sum(held)
        load += _exact_sum(_weights(problem, stays, r))
        load += _roles_that_leave(problem, items[must[items]], r)
        both = problem.weight[:, r] + problem.role_weight[:, r]
        value = numerator * (int(lower[b, r]) - load) - _saved(
            np.repeat(both, times), np.repeat(cost, times), numerator, denominator
        )
        total += max(0, -(-value // denominator))
    return total


def _roles_that_leave(problem: Problem, items: IntArray, r: int) -> int:
    """Return the role weights of items that must leave: generous, never too little."""
    groups = problem.group_of[items]
    return _exact_sum(problem.role_weight[groups, r])


def _arriving_at_most(problem: Problem) -> IntArray:
    """Return for each group how many of its items may arrive in one bin."""
    moves = np.not_equal(problem.movability, Movability.NEVER)
    may = np.zeros(problem.num_groups, dtype=np.int64)
    np.add.at(may, problem.group_of[moves], 1)
    cap = problem.levels[0].group_cap
    return may if cap is None else np.minimum(may, cap)
