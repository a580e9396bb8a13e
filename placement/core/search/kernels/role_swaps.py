"""
Trades of roles: a bin hands one on to another bin, and gets one from it in return.

Where racks hold all that they can, a bin that lacks one resource of its roles and has
too much of another is not mended by any role alone: each that goes, or comes, makes one
of the two worse. A trade changes their mix, and copies nothing.
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
"""Part of a bin's penalty that a trade must gain: less would never end."""


@inner
def role_shift(m: Memory, node: int, comes: int, goes: int) -> float:
    """Return how a node's penalty changes when one role comes and another goes."""
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
    Return the change of penalty where a bin trades roles with another.

    `given` is the group of the role that it hands on, `got` of that which it gets.
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
    """Return whether a bin may get roles."""
    return m.ints[m.ints[BINS] + place * m.ints[BIN_WIDTH] + BIN_LEADS] == 1


@inner
def keeps_roles_spread(m: Memory, item: int, back: int) -> bool:
    """Return whether soft caps of collections let two items take the roles they trade."""
    given, got = group_of(m, item), group_of(m, back)
    if role_collection_of(m, given) == role_collection_of(m, got):
        return True
    place, other = bin_of(m, back), bin_of(m, item)
    return spreads_roles(m, item, place, other) and spreads_roles(m, back, other, place)


@inner
def listed(m: Memory, place: int, at: int) -> int:
    """Return an item of a bin: those that may move first, then those that never do."""
    count = num_items_in(m, place)
    if at < count:
        return item_at(m, place, at)
    return still_item(m, place, at - count)


@inner
def list_holders(m: Memory, place: int) -> int:
    """
    Write down in which bin the role is held of each item of a bin; return how many.

    -1 where it may not change. They lie where the log does, which nobody writes now.
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
    """Return which role a bin had best get for the one that goes to `item`, and why."""
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
    """Make the best trade of a bin, of up to `scan` roles that it might hand on."""
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
