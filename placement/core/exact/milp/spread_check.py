"""Checks of the spread of groups and collections after a change of a few bins."""

import numpy as np

from placement.array_types import BoolArray, IndexArray, IntArray
from placement.core.exact.milp.subproblem import caps_of, room_in, spanned_levels
from placement.core.model.arrangement import Arrangement
from placement.core.model.problem import NOWHERE, Problem


def is_free_to_spread(
    problem: Problem, at: Arrangement, groups: IntArray, bins: IntArray
) -> BoolArray:
    """Return ``(g,)`` groups with room in all nodes and no rule of even spread."""
    free = np.ones(len(groups), dtype=np.bool_)
    for level in spanned_levels(problem, bins):
        left = room_in(problem, at, level, bins)[:, groups]
        cap = caps_of(level)[groups]
        free &= (left.min(axis=0) > 0) | (cap == 0)
        free &= (cap <= 1) if level.is_even else True
    return free


def crowds(problem: Problem, before: Arrangement, after: Arrangement) -> bool:
    """Return whether a change raises a count of a collection above its soft cap."""
    if not len(problem.collection_cap):
        return False
    of = problem.collection_of
    items = of[problem.group_of], (before.bin_of, after.bin_of)
    if _passes(problem, items, problem.collection_cap, problem.collection_fixed):
        return True
    roles = of, tuple(_places_of_roles(at) for at in (before, after))
    has_caps = len(problem.collection_role_cap) > 0
    return has_caps and _passes(
        problem, roles, problem.collection_role_cap, problem.collection_fixed_roles
    )


def most_of_collections(problem: Problem, at: Arrangement) -> IntArray:
    """Return ``(C, N)`` limits of items: soft cap, or present count if larger."""
    of = problem.collection_of[problem.group_of]
    fixed = problem.collection_fixed
    return _most(problem, (of, at.bin_of), problem.collection_cap, fixed)


def most_roles_of_collections(problem: Problem, at: Arrangement) -> IntArray:
    """Return ``(C, N)`` limits of roles: soft cap, or present count if larger."""
    counted, cap = (
        (problem.collection_of, _places_of_roles(at)),
        problem.collection_role_cap,
    )
    return _most(problem, counted, cap, problem.collection_fixed_roles)


def _most(
    problem: Problem,
    counted: tuple[IndexArray, IndexArray],
    cap: IntArray,
    fixed_at: IndexArray,
) -> IntArray:
    of, place = counted
    held = np.zeros((len(cap), problem.num_bins), dtype=np.int64)
    fixed = held.copy()
    np.add.at(held, (of[place >= 0], place[place >= 0]), 1)
    np.add.at(fixed, tuple(fixed_at), 1)
    most: IntArray = np.maximum(cap[:, None], held + fixed) - fixed
    return most


def _places_of_roles(at: Arrangement) -> IndexArray:
    """Return ``(G,)`` the bin of each role holder; `NOWHERE`: none."""
    return np.where(at.role_of >= 0, at.bin_of[at.role_of], NOWHERE)


def _passes(
    problem: Problem,
    counted: tuple[IndexArray, tuple[IndexArray, ...]],
    cap: IntArray,
    fixed: IndexArray,
) -> bool:
    """Return whether a count rises above both its cap and its former value."""
    of, (before, after) = counted
    touched = np.unique(of[np.not_equal(before, after)])
    most = np.repeat(cap[touched], problem.num_bins)
    stays = np.bincount(
        _cells(problem, fixed[0], fixed[1], touched), minlength=len(most)
    )
    was, now = (
        stays + np.bincount(_cells(problem, of, place, touched), minlength=len(most))
        for place in (before, after)
    )
    return bool(((now > most) & (now > was)).any())


def _cells(
    problem: Problem, of: IndexArray, place: IndexArray, touched: IndexArray
) -> IntArray:
    """Return collection and bin as one number, for every item with a bin."""
    rows = np.nonzero(np.isin(of, touched) & (place >= 0))[0]
    cells: IntArray = np.searchsorted(touched, of[rows]) * problem.num_bins
    return cells + place[rows]
