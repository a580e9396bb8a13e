"""Making an answer cheaper: what need not have moved, or could be smaller."""

from placement.core.kernels.access import (
    MAY,
    NEVER,
    bin_of,
    cost_of,
    home_of,
    item_at,
    kind_of,
    num_items_in,
)
from placement.core.kernels.changes import apply_move
from placement.core.kernels.jit import inner
from placement.core.kernels.layout import (
    COST_RESOURCE,
    COST_UNIT,
    LIMITS,
    LIST_CURSOR,
    LIST_WIDTH,
    LISTS,
    LOAD_NOW,
    LOAD_WIDTH,
    LOADS,
    NUM_RESOURCES,
    ROW_LOWER,
    ROW_UPPER,
    ROW_WIDTH,
)
from placement.core.kernels.legal import may_move
from placement.core.kernels.memory import Memory
from placement.core.kernels.penalty import arrive_change, leave_change

LEAST_SAVED = 0.01
"""Part of an item's cost that a replacement must be able to save."""


@inner
def go_home(m: Memory, item: int) -> bool:
    """Send an item home if no node gets worse."""
    home = home_of(m, item)
    if home < 0 or bin_of(m, item) == home or kind_of(m, item) == NEVER:
        return False
    change = leave_change(m, item, home) + arrive_change(m, item, home)
    if change > 0.0 or not may_move(m, item, home):
        return False
    apply_move(m, item, home)
    return True


@inner
def most_saved(m: Memory, item: int) -> float:
    """
    Return how much cheaper a replacement of a moved item may be at most.

    Where costs are weights, what the new bin holds above its lower end and what the
    old one has left below its upper end.
    """
    r = m.ints[COST_RESOURCE]
    if r < 0:
        return 1.0 * cost_of(m, item)
    row = bin_of(m, item) * m.ints[NUM_RESOURCES] + r
    spare = (
        m.ints[m.ints[LOADS] + row * LOAD_WIDTH + LOAD_NOW]
        - m.ints[m.ints[LIMITS] + row * ROW_WIDTH + ROW_LOWER]
    )
    row = home_of(m, item) * m.ints[NUM_RESOURCES] + r
    room = (
        m.ints[m.ints[LIMITS] + row * ROW_WIDTH + ROW_UPPER]
        - m.ints[m.ints[LOADS] + row * LOAD_WIDTH + LOAD_NOW]
    )
    return m.floats[COST_UNIT] * min(spare, room)


@inner
def replace_by_cheaper(m: Memory, item: int, scan: int) -> bool:
    """
    Send an item home and a cheaper one from there in its place, if no node gets worse.

    Of up to `scan` items the one that costs least is taken.
    """
    home, place = home_of(m, item), bin_of(m, item)
    if home < 0 or home == place or not may_move(m, item, home):
        return False
    if most_saved(m, item) < LEAST_SAVED * cost_of(m, item):
        return False
    allowed = -leave_change(m, item, home) - arrive_change(m, item, home)
    apply_move(m, item, home)
    best, best_cost = -1, cost_of(m, item)
    count = num_items_in(m, home)
    cursor = m.ints[m.ints[LISTS] + home * LIST_WIDTH + LIST_CURSOR]
    for step in range(min(scan, count)):
        other = item_at(m, home, (cursor + step) % count)
        cost = cost_of(m, other)
        if cost >= best_cost or home_of(m, other) != home or kind_of(m, other) != MAY:
            continue
        change = leave_change(m, other, place) + arrive_change(m, other, place)
        if change <= allowed and may_move(m, other, place):
            best, best_cost = other, cost
    if best < 0:
        apply_move(m, item, place)
        return False
    apply_move(m, best, place)
    return True
