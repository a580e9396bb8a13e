"""Checks of the rules for moves and role changes."""

from placement.core.search.kernels.access import (
    MUST,
    NEVER,
    bin_of,
    cap_node,
    cap_of,
    class_of,
    collection_of,
    crossing_at,
    first_item,
    group_of,
    holder_of,
    home_of,
    is_away,
    kind_of,
    load_node,
    num_of_collection,
    role_collection_of,
    role_moves,
    role_of,
)
from placement.core.search.kernels.jit import inner
from placement.core.search.kernels.layout import (
    BIN_CLASS,
    BIN_LEADS,
    BIN_RECEIVES,
    BIN_WIDTH,
    BINS,
    COLLECTION_CAP,
    COLLECTION_COUNT,
    COLLECTION_ROLE_CAP,
    COLLECTION_ROLES,
    COST,
    CROSSED,
    GROUP_ROLE_HOME,
    GROUP_WEIGHTS,
    GROUP_WIDTH,
    GROUPS,
    HAS_CAPS,
    IS_ELIGIBLE,
    IS_EVEN,
    IS_FULL,
    IS_TRANSIENT,
    LIMITS,
    LIST_COUNT,
    LIST_ROOM,
    LIST_WIDTH,
    LISTS,
    LOAD_NOW,
    LOAD_PEAK,
    LOAD_WIDTH,
    LOADS,
    MAX_COST,
    MAX_CROSSING,
    MAX_MOVES,
    MINDS_SPREAD,
    MOVED,
    NUM_BIN_CLASSES,
    NUM_CAP_LEVELS,
    NUM_LOAD_LEVELS,
    NUM_RESOURCES,
    NUM_SLOTS,
    OPEN_BINS,
    PRICE_PER_MOVE,
    ROW_CAPACITY,
    ROW_WIDTH,
    SLOT_TOP,
)
from placement.core.search.kernels.penalty import price_at
from placement.core.search.kernels.state import Memory


@inner
def count_in(m: Memory, level: int, node: int, group: int, but: int) -> int:
    """Count the items of a group in a node of a level with caps, except `but`."""
    found = 0
    for item in range(first_item(m, group), first_item(m, group + 1)):
        place = bin_of(m, item)
        if item != but and place >= 0 and cap_node(m, level, place) == node:
            found += 1
    return found


@inner
def floor_of(m: Memory, level: int, node: int, group: int) -> int:
    """
    Return the fewest items of a group that an even spread leaves in a node.

    The cap κ is the least that fits the group, so a node holds κ items and every other
    node with a free bin must hold κ - 1.
    """
    if m.ints[m.ints[IS_EVEN] + level] == 0:
        return 0
    return min(cap_of(m, level, group) - 1, m.ints[m.ints[OPEN_BINS] + node])


@inner
def is_short(m: Memory, level: int, node: int, group: int) -> bool:
    """Return whether a node holds fewer items of a group than an even spread does."""
    floor = floor_of(m, level, node, group)
    return floor > 0 and count_in(m, level, node, group, -1) < floor


@inner
def keeps_cap(m: Memory, level: int, node: int, old: int, item: int) -> bool:
    """
    Return whether a cap of an item's group holds, or improves, in a node.

    `old`: node that the item leaves, or -1.
    """
    group = group_of(m, item)
    cap = cap_of(m, level, group)
    if cap == 0:
        return True
    found = count_in(m, level, node, group, item)
    is_over = found + 1 > cap
    if old < 0:
        return not is_over
    floor = floor_of(m, level, old, group)
    if not is_over and floor <= 0:
        return True
    left = count_in(m, level, old, group, item)
    # Over the cap, or short: allow the move only if the source is worse.
    if found >= left and (is_over or left < floor):
        return False
    return not is_over or left + 1 > cap


@inner
def keeps_caps(m: Memory, item: int, target: int) -> bool:
    """Return whether the caps of an item's group hold, or improve, in `target`."""
    source = bin_of(m, item)
    for level in range(m.ints[NUM_CAP_LEVELS]):
        node = cap_node(m, level, target)
        old = -1
        if source >= 0:
            old = cap_node(m, level, source)
        if node >= 0 and node != old and not keeps_cap(m, level, node, old, item):
            return False
    return True


@inner
def has_room(
    m: Memory, group: int, item: int, target: int, has_item: int, role: int
) -> bool:
    """Return whether hard capacities hold if an item or a role comes to `target`."""
    width = m.ints[NUM_RESOURCES]
    source = -1
    comes_home = False
    if item >= 0:
        source = bin_of(m, item)
        comes_home = home_of(m, item) == target
    first = group * m.ints[GROUP_WIDTH] + GROUP_WEIGHTS
    for level in range(m.ints[NUM_LOAD_LEVELS]):
        node = load_node(m, level, target)
        if node < 0 or (source >= 0 and node == load_node(m, level, source)):
            continue
        for r in range(width):
            weight = (
                has_item * m.ints[m.ints[GROUPS] + first + r]
                + role * m.ints[m.ints[GROUPS] + first + width + r]
            )
            if weight <= 0:
                continue
            row = node * width + r
            load = m.ints[m.ints[LOADS] + row * LOAD_WIDTH + LOAD_NOW]
            if m.ints[m.ints[IS_TRANSIENT] + r] == 1 and not comes_home:
                load = m.ints[m.ints[LOADS] + row * LOAD_WIDTH + LOAD_PEAK]
            if load + weight > m.ints[m.ints[LIMITS] + row * ROW_WIDTH + ROW_CAPACITY]:
                return False
    return True


@inner
def may_bring_role(m: Memory, item: int, target: int) -> bool:
    """Return whether an item may bring its group's role to the bin `target`."""
    if m.ints[m.ints[BINS] + target * m.ints[BIN_WIDTH] + BIN_LEADS] == 1:
        return True
    # The initial holder may hold the role at home again.
    first = group_of(m, item) * m.ints[GROUP_WIDTH]
    return (
        target == home_of(m, item)
        and m.ints[m.ints[GROUPS] + first + GROUP_ROLE_HOME] == item
    )


@inner
def is_vacated(m: Memory, item: int, target: int) -> bool:
    """
    Return whether another item of the group must leave the bin `target`.

    Items of a group are interchangeable: an arrival would undo the departure.
    """
    group = group_of(m, item)
    for other in range(first_item(m, group), first_item(m, group + 1)):
        if kind_of(m, other) == MUST and home_of(m, other) == target:
            return True
    return False


@inner
def keeps_spread(m: Memory, item: int, target: int) -> bool:
    """
    Return whether a bin is under the soft cap of an item's collection.

    A move from a bin that has more of the collection than the target would have is
    always allowed.
    """
    collection = collection_of(m, item)
    if collection < 0 or m.ints[MINDS_SPREAD] == 0 or target == home_of(m, item):
        return True
    held = num_of_collection(m, COLLECTION_COUNT, collection, target)
    if held < m.ints[m.ints[COLLECTION_CAP] + collection]:
        return True
    source = bin_of(m, item)
    if source < 0:
        return False
    return num_of_collection(m, COLLECTION_COUNT, collection, source) > held + 1


@inner
def spreads_roles(m: Memory, item: int, source: int, target: int) -> bool:
    """
    Return whether a bin keeps the soft cap of roles when `item` brings or takes one.

    As `keeps_spread`; in addition the initial holder may always hold the role at home.
    """
    group = group_of(m, item)
    collection = role_collection_of(m, group)
    if collection < 0 or m.ints[MINDS_SPREAD] == 0 or source == target:
        return True
    first = group * m.ints[GROUP_WIDTH]
    is_holder = m.ints[m.ints[GROUPS] + first + GROUP_ROLE_HOME] == item
    if is_holder and target == home_of(m, item):
        return True
    held = num_of_collection(m, COLLECTION_ROLES, collection, target)
    if held < m.ints[m.ints[COLLECTION_ROLE_CAP] + collection]:
        return True
    if source < 0:
        return False
    return num_of_collection(m, COLLECTION_ROLES, collection, source) > held + 1


@inner
def may_move(m: Memory, item: int, target: int) -> bool:
    """Return whether all rules, soft spread included, let `item` go to `target`."""
    kind = kind_of(m, item)
    source = bin_of(m, item)
    if kind == NEVER or target == source:
        return False
    if target == home_of(m, item):
        if kind == MUST:
            return False
    elif m.ints[
        m.ints[BINS] + target * m.ints[BIN_WIDTH] + BIN_RECEIVES
    ] == 0 or is_vacated(m, item, target):
        return False
    group = group_of(m, item)
    bin_class = m.ints[m.ints[BINS] + target * m.ints[BIN_WIDTH] + BIN_CLASS]
    row = class_of(m, group) * m.ints[NUM_BIN_CLASSES]
    if m.ints[m.ints[IS_ELIGIBLE] + row + bin_class] == 0:
        return False
    role = role_of(m, item)
    if role == 1 and not may_bring_role(m, item, target):
        return False
    return (
        keeps_caps(m, item, target)
        and has_room(m, group, item, target, 1, role)
        and is_affordable(m, item, target)
        and keeps_spread(m, item, target)
        and (role == 0 or spreads_roles(m, item, source, target))
        and has_slot(m, target)
    )


@inner
def may_take_role(m: Memory, group: int, item: int) -> bool:
    """Return whether all rules, soft spread included, let `item` take the role."""
    holder = holder_of(m, group)
    place = bin_of(m, item)
    if holder < 0 or holder == item or place < 0 or bin_of(m, holder) < 0:
        return False
    if not role_moves(m, group):
        return False
    if m.ints[m.ints[BINS] + place * m.ints[BIN_WIDTH] + BIN_LEADS] == 0:
        return False
    if not spreads_roles(m, item, bin_of(m, holder), place):
        return False
    return has_room(m, group, -1, place, 0, 1)


@inner
def is_affordable(m: Memory, item: int, target: int) -> bool:
    """Return whether the caps on cost, number and crossings of moves still hold."""
    if m.ints[HAS_CAPS] == 0:
        return True
    now = bin_of(m, item)
    if m.ints[MAX_CROSSING] >= 0:
        crosses = crossing_at(m, item, target) - crossing_at(m, item, now)
        if crosses > 0 and m.ints[CROSSED] + crosses > m.ints[MAX_CROSSING]:
            return False
    more = is_away(m, item, target) - is_away(m, item, now)
    if more > 0 and m.ints[MOVED] + more > m.ints[MAX_MOVES]:
        return False
    price = price_at(m, item, target) - price_at(m, item, now)
    # The cap is on the copied cost, without the price per move.
    price -= m.ints[PRICE_PER_MOVE] * more
    copied = m.ints[COST] - m.ints[PRICE_PER_MOVE] * m.ints[MOVED]
    return price <= 0 or copied + price <= m.ints[MAX_COST]


@inner
def has_slot(m: Memory, place: int) -> bool:
    """Return whether a bin's list can take one more item; else set `IS_FULL`."""
    row = place * LIST_WIDTH
    if (
        m.ints[m.ints[LISTS] + row + LIST_COUNT]
        < m.ints[m.ints[LISTS] + row + LIST_ROOM]
    ):
        return True
    if (
        m.ints[SLOT_TOP] + 2 * m.ints[m.ints[LISTS] + row + LIST_ROOM] + 16
        <= m.ints[NUM_SLOTS]
    ):
        return True
    m.ints[IS_FULL] = 1
    return False
