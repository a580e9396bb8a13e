r"""
Even counts of roles determined by shares alone, by the fewest changes of many groups.

If places leave enough choice, the optimal counts are known in advance: the roles of
least key among all that the bins could hold. Bins with equal keys may swap such a role,
so each count has a lower and an upper bound. A least-cost flow within the bounds
(`kernels.role_transfers`) has costs of 0 and 1 only and covers all groups at once. Its
result is optimal, and its potentials are the dual prices. If no flow keeps the bounds,
places leave too little choice, and `role_counts` continues with prices of counts.
"""

from dataclasses import dataclass

import numpy as np

from placement.array_types import BoolArray, IntArray
from placement.core.model.arrangement import rows_by_bin
from placement.core.roles.kernels.role_transfers import Handing, hand_out
from placement.core.search.kernels.jit import compiled


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Places:
    """
    Candidates of each role, and initial holders.

    Parameters
    ----------
    item, bin, group
        ``(n,)`` items that may hold the role of their group, ascending; bin and group
        of each.
    is_change
        ``(n,)`` whether the item as holder counts as a change.
    start
        ``(A,)`` initial holder of each of these groups.
    """

    item: IntArray
    bin: IntArray
    group: IntArray
    is_change: BoolArray
    start: IntArray


def hand_within(
    places: Places, counts: IntArray, least: IntArray, most: IntArray
) -> tuple[IntArray, IntArray] | None:
    """
    Transfer roles until every count is within its bounds, by the fewest changes.

    Parameters
    ----------
    places
        Candidates of the roles.
    counts, least, most
        ``(N,)`` initial number of roles of each bin, and its bounds.

    Returns
    -------
    ``(A,)`` holder of each role, and ``(N + 1,)`` potentials: distances of the bins
    from bins with excess, in changes. Each holder has the least cost minus potential of
    its group. The last potential is that of the common node of bins with two admissible
    counts. `None` if no choice keeps the bounds.
    """
    table = _lay_out(places, counts, least, most)
    if compiled(hand_out)(table) or (table.excess < 0).any():
        return None
    return places.item[table.holder], table.potential


def _lay_out(
    places: Places, counts: IntArray, least: IntArray, most: IntArray
) -> Handing:
    num_bins = len(counts)
    # Number the groups that take part consecutively.
    is_first = np.diff(places.group, prepend=-1) > 0
    first = np.append(np.nonzero(is_first)[0], len(places.group))
    group = np.cumsum(is_first, dtype=np.int32) - np.int32(1)
    holder = np.searchsorted(places.item, places.start)
    by_bin = rows_by_bin(places.bin, num_bins)
    degree = np.bincount(places.bin, minlength=num_bins)
    over = np.maximum(counts - most, 0) - np.maximum(least - counts, 0)
    excess = np.append(over, -over.sum())
    none = np.zeros(num_bins + 1, dtype=np.int64)
    # If all roles are with their initial holders, the first step is always a change.
    is_near = (excess > 0) | places.is_change[holder].any()
    return Handing(
        first=first.astype(np.int32),
        holder=holder.astype(np.int32),
        place=2 * places.bin.astype(np.int32) + places.is_change,
        start=np.append(0, np.cumsum(degree)),
        by_bin=by_bin.astype(np.int32),
        group=group[by_bin],
        excess=excess,
        spare=np.clip(counts - least, 0, most - least),
        room=most - least,
        potential=np.where(is_near, 0, 1),
        distance=none,
        seen=none.copy(),
        next_row=none.copy(),
        queue=none.copy(),
        via=none.copy(),
        of=none.copy(),
    )
