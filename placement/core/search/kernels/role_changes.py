"""Role changes, which copy nothing and therefore come before any move."""

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
    role_moves,
    still_item,
)
from placement.core.search.kernels.changes import apply_role
from placement.core.search.kernels.jit import inner
from placement.core.search.kernels.layout import (
    DISTANCE,
    IS_OF_ROLE,
    LIST_WIDTH,
    LISTS,
    NUM_LOAD_LEVELS,
    NUM_RESOURCES,
    PENALTY,
    STILL_CURSOR,
)
from placement.core.search.kernels.legality import may_take_role
from placement.core.search.kernels.penalty import is_better, role_change
from placement.core.search.kernels.prefetch import touch_roles
from placement.core.search.kernels.state import Memory


@inner
def wants_roles(m: Memory, place: int) -> bool:
    """Return whether a bin is out of band in a resource with role weights."""
    for level in range(m.ints[NUM_LOAD_LEVELS]):
        node = load_node(m, level, place)
        if node >= 0 and m.floats[m.ints[PENALTY] + node] > 0.0:
            for r in range(m.ints[NUM_RESOURCES]):
                if (
                    m.ints[m.ints[IS_OF_ROLE] + r] == 1
                    and m.floats[m.ints[DISTANCE] + node * m.ints[NUM_RESOURCES] + r]
                    > 0
                ):
                    return True
    return False


@inner
def improve_role(m: Memory, group: int) -> bool:
    """Give a group's role to the item with the largest gain; return whether."""
    holder = holder_of(m, group)
    if holder < 0 or not role_moves(m, group):
        return False
    place = bin_of(m, holder)
    if place < 0:
        return False
    best, best_gain = -1, 0.0
    relieves = wants_roles(m, place)
    for item in range(first_item(m, group), first_item(m, group + 1)):
        target = bin_of(m, item)
        if item == holder or target < 0:
            continue
        if not relieves and not wants_roles(m, target):
            continue
        gain = -role_change(m, group, item)
        if gain > best_gain and may_take_role(m, group, item):
            best, best_gain = item, gain
    if best < 0:
        return False
    node, other = load_node(m, 0, place), load_node(m, 0, bin_of(m, best))
    if not is_better(
        best_gain, m.floats[m.ints[PENALTY] + node] + m.floats[m.ints[PENALTY] + other]
    ):
        return False
    apply_role(m, group, best)
    return True


@inner
def improve_roles_of(m: Memory, place: int, scan: int) -> bool:
    """Improve the roles of groups of a bin: `scan` movable, `scan` immovable items."""
    if not wants_roles(m, place):
        return False
    count, cursor = num_items_in(m, place), cursor_of(m, place)
    found = False
    touch_roles(m, place, cursor, scan)
    for step in range(min(scan, count)):
        slot = (cursor + step) % count
        if improve_role(m, group_of(m, item_at(m, place, slot))):
            found = True
            if not wants_roles(m, place):
                return True
    return improve_roles_of_still(m, place, scan) or found


@inner
def improve_roles_of_still(m: Memory, place: int, scan: int) -> bool:
    """Improve the roles of groups with an immovable item in a bin."""
    found, looked = False, min(scan, num_still_in(m, place))
    for step in range(looked):
        if improve_role(m, group_of(m, still_item(m, place, step))):
            found = True
            if not wants_roles(m, place):
                break
    if looked > 0:
        m.ints[m.ints[LISTS] + place * LIST_WIDTH + STILL_CURSOR] += looked
    return found
