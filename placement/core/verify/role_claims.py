r"""
Verify claims about roles from a witness alone.

Shares no code with the modules that find answers. There are two kinds of witness:

* Dual prices :math:`d_b` of the bins prove "as even as possible by the fewest changes".
  Costs :math:`c` are 1 for a change, else 0, and :math:`\phi_b(k)` is the price of the
  k-th role of a bin, ascending with its rank (see `core.roles.role_counts`). An answer
  is optimal if every holder has the least :math:`c_i - d_{b_i}` of its group and every
  count :math:`y_b` the least :math:`\sum_{k \le y_b} \phi_b(k) + d_b y_b`
  (complementary slackness).
* A set of bins proves a bound on the distance outside the bands. The set must hold the
  roles that no bin outside can hold, and can hold the role of a group only if an item
  of the group is in the set.
"""

import numpy as np

from placement.array_types import BoolArray, FloatArray, IntArray
from placement.core.model.problem import NO_LIMIT, Problem


def proves_even_roles(
    problem: Problem, column: int, role_of: IntArray, prices: IntArray
) -> bool:
    """
    Return whether prices prove roles as even as possible by the fewest changes.

    Parameters
    ----------
    problem
        Problem whose items all stay; roles may change hands.
    column
        Resource in which every role weighs 1; its targets are the shares.
    role_of
        ``(G,)`` item that holds each role.
    prices
        ``(N,)`` dual price of each bin.
    """
    share = np.where(problem.may_hold_role, problem.bins.target[:, column], 0.0)
    may_hold = may_take_role(problem) & (share[problem.home] > 0)
    has_role = role_of >= 0
    counts = np.bincount(problem.home[role_of[has_role]], minlength=problem.num_bins)
    kept = has_role & ~_any_of(problem, may_hold)
    held = np.bincount(problem.home[role_of[kept]], minlength=problem.num_bins)
    # The step exceeds the cost of all changes: evenness has priority over changes.
    step = problem.num_groups + 1
    return _holders_are_least(problem, may_hold, role_of, prices) and _counts_are_least(
        share, counts, held, prices, step
    )


def may_take_role(problem: Problem) -> BoolArray:
    """
    Return ``(I,)`` items that may hold their group's role in the end.

    A role stays if it may not change hands, or if its bin may keep a role but not take
    one. A role that must be released may go to every item that may hold one.
    """
    holder = problem.role_home
    at = problem.home[np.maximum(holder, 0)]
    is_free = (holder >= 0) & problem.is_role_movable
    is_free &= problem.may_hold_role[at] | problem.must_release_role[at]
    found: BoolArray = is_free[problem.group_of] & problem.may_hold_role[problem.home]
    return found


def _any_of(problem: Problem, flags: BoolArray) -> BoolArray:
    return np.bincount(problem.group_of[flags], minlength=problem.num_groups) > 0


def _holders_are_least(
    problem: Problem, may_hold: BoolArray, role_of: IntArray, prices: IntArray
) -> bool:
    items = np.nonzero(may_hold)[0]
    group = problem.group_of[items]
    cost = np.not_equal(items, problem.role_home[group]) - prices[problem.home[items]]
    chosen = role_of[group]
    paid = np.not_equal(chosen, problem.role_home[group]) - prices[problem.home[chosen]]
    asked = _any_of(problem, may_hold)
    is_among = np.zeros(problem.num_groups, dtype=np.bool_)
    is_among[group[items == chosen]] = True
    stays = np.equal(role_of, problem.role_home)
    return bool((paid <= cost).all() and np.where(asked, is_among, stays).all())


def _counts_are_least(
    share: FloatArray, counts: IntArray, held: IntArray, prices: IntArray, step: int
) -> bool:
    """
    Return whether prices of the k-th roles exist under which the counts are optimal.

    The last role of a bin costs at most minus its dual price; one more role costs at
    least that. Prices rise by `step` or more from each rank to the next. The condition
    compares every last role with every additional role of no larger rank.
    """
    sharing = np.nonzero(share > 0)[0]
    taken = sharing[counts[sharing] > held[sharing]]
    last = _worth(counts[taken], share[taken])
    more = _worth(counts[sharing] + 1, share[sharing])
    rank_of = {worth: rank for rank, worth in enumerate(sorted({*last, *more}))}
    ends = [
        (rank_of[worth], is_last, -int(prices[b]))
        for is_last, worths, bins in ((False, more, sharing), (True, last, taken))
        for worth, b in zip(worths, bins, strict=True)
    ]
    floor: int | None = None
    for rank, is_last, value in sorted(ends):
        above = value - step * rank
        if not is_last:
            floor = above if floor is None else max(floor, above)
        elif floor is not None and above < floor:
            return False
    return True


def _worth(steps: IntArray, share: FloatArray) -> list[tuple[float, float]]:
    """Return the sort key of the k-th roles, rounded to remove floating-point noise."""
    pairs = zip((steps / share).tolist(), ((steps - 1) / share).tolist(), strict=True)
    return [
        (float(f"{first:.10e}"), float(f"{second:.10e}")) for first, second in pairs
    ]


def proven_distance(
    problem: Problem, column: int, bins: IntArray, *, is_upper: bool
) -> float:
    """
    Return a lower bound on the distance outside its band of some bin of a set.

    Parameters
    ----------
    problem
        Problem whose items all stay; roles may change hands.
    column
        Resource whose bands count.
    bins
        Rows of the bins in the set.
    is_upper
        Whether the set must exceed its bands; else whether it must fall below them.

    Returns
    -------
    Distance in targets; 0 or less proves nothing.
    """
    limits = problem.bins
    inside = np.zeros(problem.num_bins, dtype=np.bool_)
    inside[bins] = True
    inside &= limits.target[:, column] > 0
    if not inside.any():
        return 0.0
    reach = float(limits.target[inside, column].sum())
    here = inside[problem.home]
    fixed = _fixed_load(problem, column, inside)
    roles = problem.role_weight[:, column]
    may_hold = may_take_role(problem)
    asked = _any_of(problem, may_hold)
    keeps = (problem.role_home >= 0) & ~asked
    kept_here = keeps & here[np.maximum(problem.role_home, 0)]
    if is_upper:
        if (limits.upper[inside, column] >= NO_LIMIT).any():
            return 0.0
        must = (asked & ~_any_of(problem, may_hold & ~here)) | kept_here
        over = fixed + int(roles[must].sum()) - int(limits.upper[inside, column].sum())
        return over / reach
    can = _any_of(problem, may_hold & here) | kept_here
    lacks = int(limits.lower[inside, column].sum()) - fixed - int(roles[can].sum())
    return lacks / reach


def _fixed_load(problem: Problem, column: int, inside: BoolArray) -> int:
    """Return the load of the set without roles."""
    here = inside[problem.home]
    load = int(problem.bins.fixed[inside, column].sum())
    load += int(problem.weight[problem.group_of[here], column].sum())
    if len(problem.extra):
        load += int(problem.extra[here, column].sum())
    return load
