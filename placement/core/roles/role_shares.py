r"""
Counts of roles as even as shares alone allow, by the fewest changes of many groups.

Where places leave enough choice, the counts that are as even as can be are known
beforehand: of all that the bins could hold, the roles of least worth. Some may be held
by one bin or by another one of the same worth, so each count has two bounds. A flow of
least cost within these (`kernels.role_transfers`) has costs of 0 and 1 only, and looks
at all groups at once; what is found is as even as can be, and its potentials are the
prices that prove it. Where no flow keeps the bounds places leave less choice than that,
and `role_counts` goes on with prices of counts.
"""

from dataclasses import dataclass

import numpy as np

from placement.core.model.arrangement import rows_by_bin
from placement.core.model.problem import BoolArray, IntArray
from placement.core.roles.kernels.role_transfers import Handing, hand_out
from placement.core.search.kernels.jit import compiled


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Places:
    """
    Who could have each role, and who has it at first.

    Parameters
    ----------
    item, bin, group
        ``(n,)`` items that may have the role of their group, ascending; the bin and
        the group of each.
    is_change
        ``(n,)`` whether it is a change that the item has it.
    start
        ``(A,)`` item that has the role of each of these groups at first.
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
    Hand roles on until every count is within its bounds, by the fewest changes.

    Parameters
    ----------
    places
        Who could have the roles.
    counts, least, most
        ``(N,)`` roles that each bin has at first, and should have.

    Returns
    -------
    ``(A,)`` the item that has each role, and ``(N + 1,)`` how far bins are from where
    there was too much, in changes: a role is held where changes less this are least.
    The last is that of a bin that could do with one more or less. `None` where no
    choice keeps the bounds.
    """
    table = _lay_out(places, counts, least, most)
    if compiled(hand_out)(table) or (table.excess < 0).any():
        return None
    return places.item[table.holder], table.potential


def _lay_out(
    places: Places, counts: IntArray, least: IntArray, most: IntArray
) -> Handing:
    num_bins = len(counts)
    # Groups that take part, numbered one after the other.
    is_first = np.diff(places.group, prepend=-1) > 0
    first = np.append(np.nonzero(is_first)[0], len(places.group))
    group = np.cumsum(is_first, dtype=np.int32) - np.int32(1)
    holder = np.searchsorted(places.item, places.start)
    by_bin = rows_by_bin(places.bin, num_bins)
    degree = np.bincount(places.bin, minlength=num_bins)
    over = np.maximum(counts - most, 0) - np.maximum(least - counts, 0)
    excess = np.append(over, -over.sum())
    none = np.zeros(num_bins + 1, dtype=np.int64)
    # Where all roles are where they were every step is a change: that far are all bins.
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
