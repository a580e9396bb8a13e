"""
Verify cover bounds and cut bounds from their witnesses, in exact integers.

The module imports `core.model.problem` alone and shares no code with the modules that
find bounds. Products and sums are exact. A bound verified here therefore holds despite
any mistake in the search or in `core.bounds`.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from placement.array_types import IntArray
from placement.core.model.problem import Movability, Problem


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
        Problem whose arrangements the bound covers.
    lower, upper
        ``(N, R)`` ends of the bands for which the bound is claimed.
    witness
        ``side`` ("leave" or "arrive") and ``bins``: per bin its row, the denominator
        of its multipliers, then resource and numerator alternately. No bin twice.
    counts_moves
        Whether the bound is on the number of moves (each costs 1) or on their cost.

    Returns
    -------
    Lower bound on moves or cost for every arrangement within the bands; 0 if the
    witness proves nothing.
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
    """Multipliers of one bin, as fractions with a common denominator."""

    bin: int
    denominator: int
    resources: tuple[int, ...]
    numerators: tuple[int, ...]

    @property
    def is_sound(self) -> bool:
        """Whether the multipliers are valid: not negative, one per resource."""
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
    """Sum non-negative integers exactly, also beyond 2^63."""
    high, low = int((values >> 32).sum()), int((values & 0xFFFFFFFF).sum())
    return (high << 32) + low


def _saved(weights: Sequence[IntArray], cost: IntArray, entry: _Entry) -> int:
    """Return the sum of the dual values of ``x <= 1`` over the items."""
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


def _by_bin(problem: Problem, entries: Sequence[_Entry]) -> tuple[IntArray, IntArray]:
    """Return the items of the bins in the witness, by bin, and each bin's start."""
    # An item without a home (-1) reads the entry behind the last bin.
    is_named = np.zeros(problem.num_bins + 1, dtype=np.bool_)
    is_named[[entry.bin for entry in entries]] = True
    items = np.nonzero(is_named[problem.home])[0]
    order = items[np.argsort(problem.home[items], kind="stable")]
    starts = np.searchsorted(problem.home[order], np.arange(problem.num_bins + 1))
    return order, starts


def _verify_leaving(
    problem: Problem, upper: IntArray, entries: Sequence[_Entry], cost: IntArray
) -> int:
    must = np.equal(problem.movability, Movability.MUST)
    total = int(cost[problem.group_of[must]].sum())
    order, starts = _by_bin(problem, entries)
    for entry in entries:
        b = entry.bin
        items = order[starts[b] : starts[b + 1]]
        stays = items[~must[items]]
        free = stays[np.equal(problem.movability[stays], Movability.MAY)]
        weights = [_weights(problem, free, r) for r in entry.resources]
        value = -_saved(weights, cost[problem.group_of[free]], entry)
        for r, numerator in zip(entry.resources, entry.numerators, strict=True):
            # At best every role and every item that must leave has left. Items that
            # may leave must carry the remaining excess.
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
    order, starts = _by_bin(problem, entries)
    must = np.equal(problem.movability, Movability.MUST)
    for entry in entries:
        if not problem.may_receive[entry.bin]:
            return 0
        for r in entry.resources:
            if r not in both:
                both[r] = np.repeat(
                    problem.weight[:, r] + problem.role_weight[:, r], times
                )
        # The dual values of the items do not depend on the bin.
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
    """Return the largest load of a bin without arrivals: every item takes a role."""
    stays = items[~must[items]]
    groups = problem.group_of[stays]
    has_role = problem.role_home[groups] >= 0
    load = int(problem.bins.fixed[b, r])
    load += _exact_sum(problem.role_weight[groups[has_role], r])
    load += _exact_sum(_weights(problem, stays, r))
    # Overestimate safely: include the role weights of items that must leave.
    return load + _exact_sum(
        problem.role_weight[problem.group_of[items[must[items]]], r]
    )


def _arriving_at_most(problem: Problem) -> IntArray:
    """Return ``(G,)`` the most items of each group that may arrive in one bin."""
    moves = np.not_equal(problem.movability, Movability.NEVER)
    may = np.zeros(problem.num_groups, dtype=np.int64)
    np.add.at(may, problem.group_of[moves], 1)
    cap = problem.levels[0].group_cap
    return may if cap is None else np.minimum(may, cap)


def verify_cut(problem: Problem, witness: Mapping[str, Any]) -> float:
    """
    Return the lower bound on the distance outside the bands that a set of bins proves.

    Parameters
    ----------
    problem
        Problem whose arrangements the bound covers.
    witness
        ``side`` ("over": the bins must hold more than their bands allow, "under":
        less), ``resource`` and the rows of the ``bins``.

    Returns
    -------
    Distance in targets, rounded down: every arrangement that meets the hard rules has
    a bin at least this far outside its band. 0 if the witness proves nothing.
    """
    r, inside = int(witness["resource"]), np.zeros(problem.num_bins, dtype=np.bool_)
    inside[np.asarray(witness["bins"], dtype=np.int64)] = True
    bins, rows = problem.bins, np.nonzero(inside)[0].tolist()
    if not rows or (bins.target[inside, r] <= 0).any():
        return 0.0
    weight, role = problem.weight[:, r].astype(object), problem.role_weight[:, r]
    has_role = problem.role_home >= 0
    held = sum(int(bins.fixed[b, r]) for b in rows)
    if witness["side"] == "over":
        items = np.diff(problem.group_start) - _most_items(problem, ~inside)
        has_role &= ~_may_hold_role(problem, ~inside)
        limit = sum(int(bins.upper[b, r]) for b in rows)
    else:
        items = _most_items(problem, inside)
        has_role &= _may_hold_role(problem, inside)
        limit = sum(int(bins.lower[b, r]) for b in rows)
    held += int(np.dot(weight, items)) + _exact_sum(role[has_role])
    sign = 1 if witness["side"] == "over" else -1
    held += _own_weights(problem, inside, r, sign)
    unit = sum(Fraction(float(bins.target[b, r])) for b in rows)
    beyond = Fraction(sign * (held - limit))
    return max(0.0, float(beyond / unit) * (1 - 2**-50))


def _most_items(problem: Problem, where: npt.NDArray[np.bool_]) -> IntArray:
    """Return ``(G,)`` the largest number of items of each group that a set can hold."""
    here = (problem.home >= 0) & where[problem.home]
    never = np.equal(problem.movability, Movability.NEVER)
    stay = np.zeros(problem.num_groups, dtype=np.int64)
    np.add.at(stay, problem.group_of[never & here], 1)
    movable = np.zeros(problem.num_groups, dtype=np.int64)
    np.add.at(movable, problem.group_of[~never], 1)
    arrive = movable.copy()
    for c in np.unique(problem.group_class).tolist():
        groups = np.nonzero(problem.group_class == c)[0]
        free = where & problem.may_receive & problem.is_eligible[c][problem.bin_class]
        for position in range(len(problem.levels)):
            let_in = _let_in(problem, position, free, groups)
            arrive[groups] = np.minimum(arrive[groups], let_in)
    # Also count an item that may stay in a bin that may not receive items.
    may_stay = here & np.equal(problem.movability, Movability.MAY)
    takes = problem.is_eligible[
        problem.group_class[problem.group_of], problem.bin_class[problem.home]
    ]
    may_stay &= ~(takes & problem.may_receive[problem.home])
    np.add.at(arrive, problem.group_of[may_stay], 1)
    return stay + np.minimum(arrive, movable)


def _let_in(
    problem: Problem, position: int, free: npt.NDArray[np.bool_], groups: IntArray
) -> IntArray:
    """Return the most items of each group that one level's caps admit to free bins."""
    level = problem.levels[position]
    size = np.diff(problem.group_start)[groups]
    if level.group_cap is None:
        return size if free.any() else np.zeros_like(size)
    cap = level.group_cap[groups].astype(np.int64)
    cap = np.where(cap > 0, cap, size)
    if position == 0:
        return cap * int(free.sum())
    inside = free & (level.node_of_bin >= 0)
    bins_of = np.sort(np.bincount(level.node_of_bin[inside]))
    alone = problem.levels[0].group_cap
    if alone is None or not (alone[groups] == 1).all():
        let_in = cap * int((bins_of > 0).sum())
    else:
        # A node takes its number of free bins or the cap, whichever is smaller.
        few = np.searchsorted(bins_of, cap)
        sums = np.concatenate([[0], np.cumsum(bins_of)])
        let_in = sums[few] + cap * (len(bins_of) - few)
    return let_in + (size if (free & ~inside).any() else 0)


def _may_hold_role(
    problem: Problem, where: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Return ``(G,)`` whether the role may end in a set of bins."""
    found = _most_items(problem, where & problem.may_hold_role) > 0
    groups = np.nonzero(problem.role_home >= 0)[0]
    holder = problem.role_home[groups]
    is_here = (problem.home[holder] >= 0) & where[problem.home[holder]]
    movability = problem.movability[holder]
    found[groups] |= is_here & np.not_equal(movability, Movability.MUST)
    is_fixed = ~problem.is_role_movable[groups]
    is_fixed &= np.equal(movability, Movability.NEVER)
    found[groups[is_fixed]] = is_here[is_fixed]
    return found


def _own_weights(
    problem: Problem, inside: npt.NDArray[np.bool_], r: int, sign: int
) -> int:
    """Return the extra weights in a set: largest sum for "under", else smallest."""
    if not len(problem.extra):
        return 0
    total = 0
    for item in np.nonzero((problem.home >= 0) & inside[problem.home])[0].tolist():
        own = int(problem.extra[item, r])
        if problem.movability[item] != Movability.NEVER:
            own = min(own, 0) if sign > 0 else max(own, 0)
        total += own
    return total
