"""Roles by a least-cost flow (docs/theory.md, "Roles at fixed places")."""

import numpy as np

from placement.array_types import BoolArray, IntArray
from placement.core.flow.equitable_flow import Arcs
from placement.core.model.arrangement import Arrangement
from placement.core.model.problem import Problem


def solve_roles(problem: Problem, at: Arrangement) -> Arrangement:
    """
    Choose the role holders at given places by a least-cost flow.

    Exact for the resource in which every role weighs the same; a change costs 1. If
    there is no such resource, the flow only moves roles to bins that may hold them.
    """
    items = np.nonzero(_may_hold(problem, at))[0]
    group = problem.group_of[items]
    held, tails = np.unique(group, return_inverse=True)
    first_bin, sink = len(held), len(held) + problem.num_bins
    arcs = Arcs()
    cost = np.not_equal(items, problem.role_home[group]).astype(np.int64)
    arcs.add(tails, first_bin + at.bin_of[items].astype(np.int64), 1, cost)
    low, high = _role_limits(problem, len(held))
    bins = np.arange(first_bin, sink)
    # The price exceeds that of all changes: bands have priority over changes.
    force = len(held) + 1
    arcs.add(bins, sink, low, -force)
    arcs.add(bins, sink, high - low, 0)
    arcs.add(bins, sink, len(held) - high, force)
    supplies = np.zeros(sink + 1, dtype=np.int64)
    supplies[:first_bin], supplies[sink] = 1, -len(held)
    flow = arcs.solve(supplies) if len(held) else None
    if flow is None:
        return at
    role_of = at.role_of.copy()
    takes = flow[: len(items)] > 0
    role_of[group[takes]] = items[takes]
    return Arrangement(at.bin_of, role_of)


def _may_hold(problem: Problem, at: Arrangement) -> BoolArray:
    """Return ``(I,)`` true for items that may hold the role of their group."""
    held = np.nonzero(at.role_of >= 0)[0]
    holder = at.role_of[held]
    place = at.bin_of[holder]
    may = problem.may_hold_role[at.bin_of] & (at.bin_of >= 0)
    may &= (at.role_of >= 0)[problem.group_of]
    may &= problem.is_role_movable[problem.group_of]
    others = np.zeros(problem.num_groups, dtype=np.bool_)
    others[problem.group_of[may]] = True
    # A role may stay in its bin, unless it must leave and can.
    stays = np.equal(place, problem.home[holder])
    stays &= ~(problem.must_release_role[place] & others[held])
    may[holder[stays | ~others[held]]] = True
    return may


def _role_limits(problem: Problem, roles: int) -> tuple[IntArray, IntArray]:
    """Return ``(N,)`` the fewest and the most roles in bins."""
    low = np.zeros(problem.num_bins, dtype=np.int64)
    high = np.full(problem.num_bins, roles, dtype=np.int64)
    r = _role_resource(problem)
    if r is not None:
        bins, unit = problem.bins, int(problem.role_weight[:, r].max())
        has_band = bins.target[:, r] > 0
        fixed = bins.fixed[:, r]
        least = np.where(has_band, -((fixed - bins.lower[:, r]) // unit), 0)
        most = np.where(has_band, (bins.upper[:, r] - fixed) // unit, roles)
        low = np.clip(least, 0, roles)
        high = np.clip(most, low, roles)
    return low, high


def _role_resource(problem: Problem) -> int | None:
    for r in range(problem.num_resources):
        role = problem.role_weight[:, r]
        is_only_role = not problem.weight[:, r].any() and role.any()
        if is_only_role and bool((role == role[0]).all()):
            return r
    return None
