"""
Re-check a bound from its witness, in exact integers.

This module shares nothing with the code that finds bounds: it imports the problem
alone, and multiplies and sums without rounding. A bound that holds here holds whatever
mistakes the search or `bounds` may make.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

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
        ``side`` ("leave" or "arrive") and ``bins``: rows of a bin, the denominator of
        its multipliers, then resource and numerator by turns. A bin counts once.
    counts_moves
        Whether moves are bounded (each costs 1) or their cost.

    Returns
    -------
    A number that no arrangement within the bands can be below; 0 if the witness
    proves nothing.
    """
    entries = [_read_entry(entry) for entry in witness["bins"]]
    bins = [entry.bin for entry in entries]
    if len(set(bins)) != len(bins) or not all(entry.is_sound for entry in entries):
        return 0
    cost = problem.cost * problem.least_price
    if counts_moves:
        cost = np.ones_like(problem.cost)
    if witness["side"] == "leave":
        return _verify_leaving(problem, upper, entries, cost)
    return _verify_arriving(problem, lower, entries, cost)


class _Entry(NamedTuple):
    """The multipliers of one bin."""

    bin: int
    denominator: int
    resources: tuple[int, ...]
    numerators: tuple[int, ...]

    @property
    def is_sound(self) -> bool:
        """Whether these are multipliers at all: not negative, one per resource."""
        return (
            self.denominator >= 1
            and len(self.resources) == len(self.numerators)
            and len(set(self.resources)) == len(self.resources)
            and all(numerator >= 0 for numerator in self.numerators)
        )


def _read_entry(numbers: Sequence[Any]) -> _Entry:
    b, denominator, *pairs = (int(number) for number in numbers)
    return _Entry(b, denominator, tuple(pairs[::2]), tuple(pairs[1::2]))


def _exact_sum(values: IntArray) -> int:
    """Sum integers that are not negative, past 2^63 too."""
    high, low = int((values >> 32).sum()), int((values & 0xFFFFFFFF).sum())
    return (high << 32) + low


def _saved(weights: Sequence[IntArray], cost: IntArray, entry: _Entry) -> int:
    """Return the sum of what each item gives back: the dual of ``x <= 1``."""
    pairs = list(zip(weights, entry.numerators, strict=True))
    largest = sum(n * int(weight.max(initial=0)) for weight, n in pairs)
    largest = max(largest, entry.denominator * int(cost.max(initial=0)))
    if largest >= 1 << 63:
        pairs = [(weight.astype(object), n) for weight, n in pairs]
        cost = cost.astype(object)
        paid = sum(n * weight for weight, n in pairs)
        return sum(max(0, back) for back in paid - entry.denominator * cost)
    paid = np.zeros(len(cost), dtype=np.int64)
    for weight, n in pairs:
        paid += n * weight
    return _exact_sum(np.maximum(paid - entry.denominator * cost, 0))


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
    problem: Problem, upper: IntArray, entries: Sequence[_Entry], cost: IntArray
) -> int:
    must = np.equal(problem.movability, Movability.MUST)
    total = int(cost[problem.group_of[must]].sum())
    order, starts = _by_bin(problem)
    for entry in entries:
        b = entry.bin
        items = order[starts[b] : starts[b + 1]]
        stays = items[~must[items]]
        free = stays[np.equal(problem.movability[stays], Movability.MAY)]
        weights = [_weights(problem, free, r) for r in entry.resources]
        value = -_saved(weights, cost[problem.group_of[free]], entry)
        for r, numerator in zip(entry.resources, entry.numerators, strict=True):
            # Every role may have left, and what must leave has: the rest of the
            # excess must leave as items that may.
            load = int(problem.bins.fixed[b, r])
            load += _exact_sum(_weights(problem, stays, r))
            value += numerator * (load - int(upper[b, r]))
        total += max(0, -(-value // entry.denominator))
    return total


def _verify_arriving(
    problem: Problem, lower: IntArray, entries: Sequence[_Entry], cost: IntArray
) -> int:
    total = 0
    times = _arriving_at_most(problem)
    costs = np.repeat(cost, times)
    both: dict[int, IntArray] = {}
    saved: dict[tuple[Any, ...], int] = {}
    order, starts = _by_bin(problem)
    must = np.equal(problem.movability, Movability.MUST)
    for entry in entries:
        if not problem.may_receive[entry.bin]:
            return 0
        for r in entry.resources:
            if r not in both:
                both[r] = np.repeat(
                    problem.weight[:, r] + problem.role_weight[:, r], times
                )
        # What items give back does not depend on the bin.
        key = entry[1:]
        if key not in saved:
            saved[key] = _saved([both[r] for r in entry.resources], costs, entry)
        items = order[starts[entry.bin] : starts[entry.bin + 1]]
        value = -saved[key]
        for r, numerator in zip(entry.resources, entry.numerators, strict=True):
            load = _load_at_best(problem, entry.bin, items, must, r)
            value += numerator * (int(lower[entry.bin, r]) - load)
        total += max(0, -(-value // entry.denominator))
    return total


def _load_at_best(
    problem: Problem, b: int, items: IntArray, must: npt.NDArray[np.bool_], r: int
) -> int:
    """Return the most that a bin holds if nothing arrives: every item takes a role."""
    stays = items[~must[items]]
    groups = problem.group_of[stays]
    has_role = problem.role_home[groups] >= 0
    load = int(problem.bins.fixed[b, r])
    load += _exact_sum(problem.role_weight[groups[has_role], r])
    load += _exact_sum(_weights(problem, stays, r))
    # Generous, never too little: the role weights of items that must leave as well.
    return load + _exact_sum(
        problem.role_weight[problem.group_of[items[must[items]]], r]
    )


def _arriving_at_most(problem: Problem) -> IntArray:
    """Return for each group how many of its items may arrive in one bin."""
    moves = np.not_equal(problem.movability, Movability.NEVER)
    may = np.zeros(problem.num_groups, dtype=np.int64)
    np.add.at(may, problem.group_of[moves], 1)
    cap = problem.levels[0].group_cap
    return may if cap is None else np.minimum(may, cap)
