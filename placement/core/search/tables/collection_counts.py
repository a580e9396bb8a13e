"""Counts of items and roles of each collection in each bin."""

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from placement.array_types import IndexArray
from placement.core.model.arrangement import Arrangement
from placement.core.model.problem import Problem

MOST_CELLS = 2**23
"""Largest number of (collection, bin) cells; the largest collections are counted."""


def collection_columns(problem: Problem) -> dict[str, npt.NDArray[Any]]:
    """
    Return the columns of the counted collections, one row each, by size.

    Returns
    -------
    ``COLLECTION_OF`` (G,) row of each group's collection, or -1, and
    ``COLLECTION_CAP``, ``COLLECTION_ROLE_CAP`` (rows,). A collection with no more items
    than its cap is not counted.
    """
    count = len(problem.collection_cap)
    role_cap = problem.collection_role_cap
    if not count:
        none = np.zeros(0, dtype=np.int64)
        return {
            "COLLECTION_OF": np.full(problem.num_groups, -1, dtype=np.int32),
            "COLLECTION_CAP": none,
            "COLLECTION_ROLE_CAP": none,
        }
    chosen, row = _chosen(problem)
    return {
        "COLLECTION_OF": row[problem.collection_of],
        "COLLECTION_CAP": problem.collection_cap[chosen],
        "COLLECTION_ROLE_CAP": role_cap[chosen] if len(role_cap) else role_cap,
    }


Chosen = tuple[npt.NDArray[np.int64], IndexArray]
"""Counted collections, and ``(C,)`` the row of each collection, or -1."""
_kept: WeakKeyDictionary[Problem, Chosen] = WeakKeyDictionary()


def _chosen(problem: Problem) -> Chosen:
    """Return the counted collections; cached for each problem."""
    if problem not in _kept:
        _kept[problem] = _choose(problem)
    return _kept[problem]


def _choose(problem: Problem) -> Chosen:
    count = len(problem.collection_cap)
    size = np.bincount(
        problem.collection_of,
        weights=np.diff(problem.group_start),
        minlength=count,
    )
    size += np.bincount(problem.collection_fixed[0], minlength=count)
    chosen = np.nonzero(size > problem.collection_cap)[0]
    chosen = chosen[np.argsort(-size[chosen], kind="stable")]
    chosen = chosen[: MOST_CELLS // max(problem.num_bins, 1)]
    row = np.full(count, -1, dtype=np.int32)
    row[chosen] = np.arange(len(chosen), dtype=np.int32)
    return chosen, row


def num_collection_cells(problem: Problem) -> int:
    """Return the number of integers that hold the counts of items, two in each."""
    rows = len(collection_columns(problem)["COLLECTION_CAP"])
    return (rows * problem.num_bins + 1) // 2


def num_role_cells(problem: Problem) -> int:
    """Return the number of integers that hold the counts of roles, or 0."""
    return num_collection_cells(problem) if len(problem.collection_role_cap) else 0


def count_collections(
    problem: Problem, at: Arrangement, into: npt.NDArray[np.int64]
) -> None:
    """Count items of each counted collection in each bin, two counts per integer."""
    if len(into):
        row = _chosen(problem)[1]
        _count(problem, row[problem.collection_of][problem.group_of], at.bin_of, into)
        collection, place = problem.collection_fixed
        _count(problem, row[collection], place, into)


def count_collection_roles(
    problem: Problem, at: Arrangement, into: npt.NDArray[np.int64]
) -> None:
    """Count roles of each counted collection in each bin, two counts per integer."""
    if len(into):
        row = _chosen(problem)[1]
        held = np.nonzero(at.role_of >= 0)[0]
        of = row[problem.collection_of[held]]
        _count(problem, of, at.bin_of[at.role_of[held]], into)
        collection, place = problem.collection_fixed_roles
        _count(problem, row[collection], place, into)


def _count(
    problem: Problem, row: IndexArray, place: IndexArray, into: npt.NDArray[np.int64]
) -> None:
    counts = np.nonzero((row >= 0) & (place >= 0))[0]
    # No overflow of 32 bits: there are at most `MOST_CELLS` cells.
    cell = row[counts] * np.int32(problem.num_bins) + place[counts]
    np.add.at(into, cell >> 1, np.where(cell & 1, 1 << 32, 1))
