"""
Arrangement of the items of a problem, and the loads of its bins.

Loads are exact sums of integers.
"""

from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np

from placement.array_types import BoolArray, IndexArray, IntArray
from placement.core.model.problem import NOWHERE, Problem

EXACT = 2.0**52
"""Limit below which sums of integers are exact in float64."""
MOST_CHANGED = 0.2
"""Share of moved items (0-1) up to which loads are updated from the home loads."""
AT_ONCE = 2**16
"""Number of items summed at once, so that their table rows stay in the cache."""


@dataclass(frozen=True, slots=True, eq=False)
class Arrangement:
    """
    Bin of every item and holder of every role.

    Parameters
    ----------
    bin_of
        ``(I,)`` bin of each item, or `NOWHERE`.
    role_of
        ``(G,)`` item that holds each group's role, or `NOWHERE`.
    """

    bin_of: IndexArray
    role_of: IntArray
    _loads: "tuple[ref[Problem], IntArray] | None" = field(
        init=False, default=None, repr=False
    )

    def __post_init__(self) -> None:
        self.bin_of.setflags(write=False)
        self.role_of.setflags(write=False)

    def kept_loads(self, problem: Problem) -> IntArray | None:
        """Return the loads cached for a problem, or `None`."""
        if self._loads is not None and self._loads[0]() is problem:
            return self._loads[1]
        return None

    def keep_loads(self, problem: Problem, total: IntArray) -> None:
        """Cache the loads for a problem and make the array read-only."""
        total.setflags(write=False)
        object.__setattr__(self, "_loads", (ref(problem), total))


def home_arrangement(problem: Problem) -> Arrangement:
    """Return the arrangement in which nothing has moved."""
    return Arrangement(problem.home.copy(), problem.role_home.copy())


def settled(problem: Problem, at: Arrangement) -> Arrangement:
    """
    Replace exchanges within a group by fewer moves.

    Items of a group are interchangeable. If an item leaves its home and another item of
    its group arrives there, the first item stays and the other one takes the place that
    the first item had gone to.
    """
    bin_of, role_of = at.bin_of.copy(), at.role_of.copy()
    is_settled = False
    while not is_settled:
        is_settled = True
        for item, other in _exchanges(problem, bin_of):
            home = problem.home[item]
            if bin_of[other] != home or bin_of[item] == home:
                continue
            is_settled = False
            bin_of[item], bin_of[other] = home, bin_of[item]
            group = problem.group_of[item]
            holder = role_of[group]
            if holder in {item, other} and problem.is_role_movable[group]:
                role_of[group] = item + other - holder
    return Arrangement(bin_of, role_of)


def _exchanges(problem: Problem, bin_of: IndexArray) -> list[tuple[int, int]]:
    """Return pairs of an item that left and one of its group that came to its home."""
    moved = np.nonzero(np.not_equal(bin_of, problem.home) & (bin_of >= 0))[0]
    if not len(moved):
        return []
    group = problem.group_of[moved].astype(np.int64) * problem.num_bins
    came = group + bin_of[moved]
    order = np.argsort(came, kind="stable")
    free = np.not_equal(problem.movability[moved], 1) & (problem.home[moved] >= 0)
    left, items = (group + problem.home[moved])[free], moved[free]
    # If several came to one place, the last one counts.
    row = np.searchsorted(came[order], left, side="right") - 1
    found = (row >= 0) & np.equal(came[order][row], left)
    others = moved[order][row[found]]
    return list(zip(items[found].tolist(), others.tolist(), strict=True))


_home_loads: WeakKeyDictionary[Problem, IntArray] = WeakKeyDictionary()


def home_loads(problem: Problem) -> IntArray:
    """Return ``(N, R)`` loads of the bins before any move; computed once."""
    known = _home_loads.get(problem)
    return loads(problem, home_arrangement(problem)) if known is None else known


def loads(problem: Problem, at: Arrangement) -> IntArray:
    """
    Sum the loads of the bins, in integers.

    Returns
    -------
    ``(N, R)`` loads of the bins, fixed ones included; read-only.
    """
    kept = at.kept_loads(problem)
    if kept is not None:
        return kept
    total = _sum_loads(problem, at)
    at.keep_loads(problem, total)
    if problem not in _home_loads and _is_home(problem, at):
        _home_loads[problem] = total
    return total


def _is_home(problem: Problem, at: Arrangement) -> bool:
    has_moved = np.not_equal(at.bin_of, problem.home).any()
    return not has_moved and np.array_equal(at.role_of, problem.role_home)


def _changed_loads(
    problem: Problem, at: Arrangement, before: IntArray
) -> IntArray | None:
    """Update the home loads by the changes; `None` where too much has changed."""
    moved = np.nonzero(np.not_equal(at.bin_of, problem.home))[0]
    if len(problem.extra) or len(moved) > MOST_CHANGED * problem.num_items:
        return None
    total = before.copy()
    led = _holders(problem.home, problem.role_home)
    leads = _holders(at.bin_of, at.role_of)
    handed = np.nonzero(np.not_equal(led, leads))[0]
    changes = (
        (
            problem.home[moved],
            at.bin_of[moved],
            problem.weight,
            problem.group_of[moved],
        ),
        (led[handed], leads[handed], problem.role_weight, handed),
    )
    for source, target, weight, group in changes:
        # Select rows first: a row is contiguous in memory, a column is not.
        rows = weight[group]
        for r in np.nonzero(rows.any(axis=0))[0]:
            total[:, r] -= sum_into(source, rows[:, r], problem.num_bins)
            total[:, r] += sum_into(target, rows[:, r], problem.num_bins)
    return total


def _holders(bin_of: IndexArray, role_of: IntArray) -> IndexArray:
    """Return ``(G,)`` the bin of each role's holder, `NOWHERE` where there is none."""
    if not len(bin_of):
        return np.full(len(role_of), NOWHERE, dtype=np.int32)
    holders: IndexArray = bin_of[role_of]
    holders[role_of < 0] = NOWHERE
    return holders


def _sum_loads(problem: Problem, at: Arrangement) -> IntArray:
    before = _home_loads.get(problem)
    if before is not None:
        changed = _changed_loads(problem, at, before)
        if changed is not None:
            return changed
    total = problem.bins.fixed.copy()
    _add_weights(total, at.bin_of, problem.weight, problem.group_of)
    held = _chosen(np.greater_equal(at.role_of, 0))
    leading = at.bin_of[at.role_of[held]]
    for r in range(problem.num_resources):
        role_weight = problem.role_weight[:, r]
        if role_weight.any():
            total[:, r] += sum_into(leading, role_weight[held], problem.num_bins)
    if len(problem.extra):
        stays = np.nonzero(at.bin_of == problem.home)[0]
        stays = stays[at.bin_of[stays] >= 0]
        np.add.at(total, at.bin_of[stays], problem.extra[stays])
    return total


def _add_weights(
    total: IntArray, bin_of: IndexArray, weight: IntArray, group_of: IndexArray
) -> None:
    """Add the weights of all items to the loads of their bins."""
    columns = {
        r: np.ascontiguousarray(column)
        for r, column in enumerate(weight.T)
        if column.any()
    }
    for start in range(0, len(bin_of), AT_ONCE):
        some = slice(start, start + AT_ONCE)
        # With native-size indices, numpy need not convert them for every column.
        place, group = bin_of[some].astype(np.intp), group_of[some].astype(np.intp)
        for r, column in columns.items():
            total[:, r] += sum_into(place, column[group], len(total))


def sum_rows_into(rows: IndexArray, values: IntArray, count: int) -> IntArray:
    """Sum ``(n, R)`` integers into ``(count, R)`` by row, exactly; -1 is no row."""
    total = np.zeros((count, values.shape[1]), dtype=np.int64)
    for r in range(values.shape[1]):
        if values[:, r].any():
            total[:, r] = sum_into(rows, values[:, r], count)
    return total


def _chosen(flags: BoolArray) -> Any:  # noqa: ANN401 - slice or rows
    """Return an index that picks the flagged rows; all of them without a copy."""
    return slice(None) if flags.all() else np.nonzero(flags)[0]


def sum_into(rows: IndexArray | IntArray, values: IntArray, count: int) -> IntArray:
    """Sum integers per row, exactly; rows of -1 do not count."""
    if len(rows) and rows.min() < 0:
        values, rows = values[rows >= 0], rows[rows >= 0]
    amounts = values.astype(np.float64)
    if np.abs(amounts).sum() < EXACT:
        # All sums are integers that float64 represents exactly: no rounding.
        return np.bincount(rows, weights=amounts, minlength=count).astype(np.int64)
    total = np.zeros(count, dtype=np.int64)
    np.add.at(total, rows, values)
    return total


def rows_by_bin(bins: IndexArray | IntArray, num_bins: int) -> IntArray:
    """Return rows sorted by bin; 16-bit keys sort in a tenth of the time."""
    kind = np.uint16 if num_bins < 2**16 else np.int64
    return np.argsort(bins.astype(kind), kind="stable")
