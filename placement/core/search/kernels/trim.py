"""Reduction of cost: items returned home or replaced by cheaper ones."""

from placement.core.search.kernels.access import (
    MAY,
    NEVER,
    bin_of,
    cost_of,
    cursor_of,
    group_of,
    home_of,
    item_at,
    kind_of,
    num_items_in,
)
from placement.core.search.kernels.changes import apply_move
from placement.core.search.kernels.jit import inner
from placement.core.search.kernels.layout import (
    COST_RESOURCE,
    COST_UNIT,
    GROUP_WEIGHTS,
    GROUP_WIDTH,
    GROUPS,
    LIMITS,
    LOAD_NOW,
    LOAD_WIDTH,
    LOADS,
    NUM_RESOURCES,
    ROW_LOWER,
    ROW_UPPER,
    ROW_WIDTH,
)
from placement.core.search.kernels.legality import may_move
from placement.core.search.kernels.penalty import arrive_change, leave_change, price_at
from placement.core.search.kernels.prefetch import AT_ONCE, touch_items
from placement.core.search.kernels.state import Memory

LEAST_SAVED = 0.01
"""Fraction of an item's cost that a replacement must be able to save."""
LEAST_OF_BAND = 1e-4
"""Fraction of a bin's lower end that a replacement must be able to save."""


@inner
def go_home(m: Memory, item: int) -> bool:
    """Return an item to its home if no node gets worse."""
    home = home_of(m, item)
    if home < 0 or bin_of(m, item) == home or kind_of(m, item) == NEVER:
        return False
    if not can_spare(m, item):
        return False
    change = leave_change(m, item, home) + arrive_change(m, item, home)
    if change > 0.0 or not may_move(m, item, home):
        return False
    apply_move(m, item, home)
    return True


@inner
def can_spare(m: Memory, item: int) -> bool:
    """Return whether a bin keeps its lower end of the cost resource without an item."""
    r, place = m.ints[COST_RESOURCE], bin_of(m, item)
    if r < 0:
        return True
    row = place * m.ints[NUM_RESOURCES] + r
    lower = m.ints[m.ints[LIMITS] + row * ROW_WIDTH + ROW_LOWER]
    load = m.ints[m.ints[LOADS] + row * LOAD_WIDTH + LOAD_NOW]
    weights = m.ints[GROUPS] + group_of(m, item) * m.ints[GROUP_WIDTH] + GROUP_WEIGHTS
    # A bin already below its band may lose the item as well.
    return load < lower or load - m.ints[weights + r] >= lower


@inner
def is_worth_replacing(m: Memory, item: int) -> bool:
    """
    Return whether a cheaper item in the place of a moved one could save enough.

    If costs are proportional to weights, the saving is at most the load of the new bin
    above its lower end, and the room of the home below its upper end.
    """
    r = m.ints[COST_RESOURCE]
    if r < 0:
        return True
    row = bin_of(m, item) * m.ints[NUM_RESOURCES] + r
    lower = m.ints[m.ints[LIMITS] + row * ROW_WIDTH + ROW_LOWER]
    spare = m.ints[m.ints[LOADS] + row * LOAD_WIDTH + LOAD_NOW] - lower
    row = home_of(m, item) * m.ints[NUM_RESOURCES] + r
    upper = m.ints[m.ints[LIMITS] + row * ROW_WIDTH + ROW_UPPER]
    room = upper - m.ints[m.ints[LOADS] + row * LOAD_WIDTH + LOAD_NOW]
    saved = min(spare, room)
    return (
        saved * m.floats[COST_UNIT] >= LEAST_SAVED * cost_of(m, item)
        and saved >= LEAST_OF_BAND * lower
    )


@inner
def replace_by_cheaper(m: Memory, item: int, scan: int) -> bool:
    """
    Replace a moved item by a cheaper one of its home, if no node gets worse.

    The cheapest of up to `scan` items is taken.
    """
    home, place = home_of(m, item), bin_of(m, item)
    if home < 0 or home == place or not is_worth_replacing(m, item):
        return False
    if not may_move(m, item, home):
        return False
    allowed = -leave_change(m, item, home) - arrive_change(m, item, home)
    apply_move(m, item, home)
    best, best_price = -1, price_at(m, item, place)
    count = num_items_in(m, home)
    cursor = cursor_of(m, home)
    for step in range(min(scan, count)):
        if step % AT_ONCE == 0:
            touch_items(m, home, cursor + step, min(AT_ONCE, scan - step))
        other = item_at(m, home, (cursor + step) % count)
        price = price_at(m, other, place)
        if price >= best_price or home_of(m, other) != home or kind_of(m, other) != MAY:
            continue
        change = leave_change(m, other, place) + arrive_change(m, other, place)
        if change <= allowed and may_move(m, other, place):
            best, best_price = other, price
    if best < 0:
        apply_move(m, item, place)
        return False
    apply_move(m, best, place)
    return True
