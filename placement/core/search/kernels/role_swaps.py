"""
Swaps of roles: a bin gives one role to another bin and gets one in return.

If racks are full, a bin may have too little of one resource of its roles and too much
of another. No single role change helps then: each one makes one of the two worse. A
swap changes the mix of roles and copies nothing.
"""

from placement.core.search.kernels.access import (
    bin_of,
    cursor_of,
    first_item,
    group_of,
    holder_of,
    item_at,
    load_node,
    num_items_in,
    num_still_in,
    pass_on,
    role_collection_of,
    role_moves,
    still_item,
)
from placement.core.search.kernels.changes import apply_role
from placement.core.search.kernels.jit import inner
from placement.core.search.kernels.layout import (
    BIN_LEADS,
    BIN_WIDTH,
    BINS,
    DISTANCE,
    GROUP_WEIGHTS,
    GROUP_WIDTH,
    GROUPS,
    IS_TRANSIENT,
    LIMITS,
    LOAD_NOW,
    LOAD_PEAK,
    LOAD_WIDTH,
    LOADS,
    LOG,
    LOG_SIZE,
    LOG_WIDTH,
    NUM_LOAD_LEVELS,
    NUM_RESOURCES,
    PENALTY,
    ROW_CAPACITY,
    ROW_WIDTH,
)
from placement.core.search.kernels.legality import spreads_roles
from placement.core.search.kernels.penalty import distance
from placement.core.search.kernels.state import Memory

FORBIDDEN = 1e300
LEAST_GAIN = 1e-3
"""Fraction of a bin's penalty that a swap must gain, for termination."""


@inner
def role_shift(m: Memory, node: int, comes: int, goes: int) -> float:
    """Return the change of a node's penalty if one role comes and another goes."""
    width, change = m.ints[NUM_RESOURCES], 0.0
    first_new = m.ints[GROUPS] + comes * m.ints[GROUP_WIDTH] + GROUP_WEIGHTS + width
    first_old = m.ints[GROUPS] + goes * m.ints[GROUP_WIDTH] + GROUP_WEIGHTS + width
    for r in range(width):
        weight = m.ints[first_new + r] - m.ints[first_old + r]
        if weight == 0:
            continue
        row = node * width + r
        load = m.ints[m.ints[LOADS] + row * LOAD_WIDTH + LOAD_NOW] + weight
        most = m.ints[m.ints[LIMITS] + row * ROW_WIDTH + ROW_CAPACITY]
        if weight > 0:
            peak = load
            if m.ints[m.ints[IS_TRANSIENT] + r] == 1:
                peak = m.ints[m.ints[LOADS] + row * LOAD_WIDTH + LOAD_PEAK] + weight
            if peak > most:
                return FORBIDDEN
        change += distance(m, row, load) - m.floats[m.ints[DISTANCE] + row]
    return change


@inner
def trade_change(m: Memory, given: int, got: int, place: int, other: int) -> float:
    """
    Return the change of penalty if a bin swaps roles with another bin.

    `given` is the group of the role that `place` gives, `got` of the role it gets.
    """
    change = 0.0
    for level in range(m.ints[NUM_LOAD_LEVELS]):
        here, there = load_node(m, level, place), load_node(m, level, other)
        if here == there:
            continue
        if here >= 0:
            change += role_shift(m, here, got, given)
        if there >= 0:
            change += role_shift(m, there, given, got)
    return change


@inner
def leads(m: Memory, place: int) -> bool:
    """Return whether a bin may take roles."""
    return m.ints[m.ints[BINS] + place * m.ints[BIN_WIDTH] + BIN_LEADS] == 1


@inner
def keeps_roles_spread(m: Memory, item: int, back: int) -> bool:
    """Return whether soft caps of collections let two items swap their roles."""
    given, got = group_of(m, item), group_of(m, back)
    if role_collection_of(m, given) == role_collection_of(m, got):
        return True
    place, other = bin_of(m, back), bin_of(m, item)
    return spreads_roles(m, item, place, other) and spreads_roles(m, back, other, place)


@inner
def listed(m: Memory, place: int, at: int) -> int:
    """Return an item of a bin by index, movable items first."""
    count = num_items_in(m, place)
    if at < count:
        return item_at(m, place, at)
    return still_item(m, place, at - count)


@inner
def list_holders(m: Memory, place: int) -> int:
    """
    Write the bin of the role holder for each item of a bin; return their number.

    The entry is -1 if the role may not change hands. The entries use the memory of the
    log, which is not in use during this stage.
    """
    total = min(num_items_in(m, place) + num_still_in(m, place), LOG_SIZE * LOG_WIDTH)
    for at in range(total):
        group = group_of(m, listed(m, place, at))
        holder = holder_of(m, group)
        m.ints[m.ints[LOG] + at] = -1
        if holder >= 0 and role_moves(m, group):
            m.ints[m.ints[LOG] + at] = bin_of(m, holder)
    return total


@inner
def best_return(
    m: Memory, item: int, place: int, total: int, least: float
) -> tuple[int, float]:
    """Return the best role in return for one given to `item`, and the gain."""
    best, best_gain = -1, least
    given, other = group_of(m, item), bin_of(m, item)
    for at in range(total):
        if m.ints[m.ints[LOG] + at] == other:
            back = listed(m, place, at)
            gain = -trade_change(m, given, group_of(m, back), place, other)
            if gain > best_gain and keeps_roles_spread(m, item, back):
                best, best_gain = back, gain
    return best, best_gain


@inner
def trade_roles_of(m: Memory, place: int, scan: int) -> bool:
    """Apply the best swap of a bin over up to `scan` roles that it may give."""
    if not leads(m, place):
        return False
    total = list_holders(m, place)
    node = load_node(m, 0, place)
    best_item, best_back = -1, -1
    best_gain = LEAST_GAIN * m.floats[m.ints[PENALTY] + node]
    cursor, looked = cursor_of(m, place), min(scan, total)
    for step in range(looked):
        at = (cursor + step) % total
        if m.ints[m.ints[LOG] + at] != place:
            continue
        given = group_of(m, listed(m, place, at))
        for item in range(first_item(m, given), first_item(m, given + 1)):
            other = bin_of(m, item)
            if other >= 0 and other != place and leads(m, other):
                back, gain = best_return(m, item, place, total, best_gain)
                if back >= 0:
                    best_item, best_back, best_gain = item, back, gain
    pass_on(m, place, looked)
    if best_item < 0:
        return False
    apply_role(m, group_of(m, best_item), best_item)
    apply_role(m, group_of(m, best_back), best_back)
    return True
