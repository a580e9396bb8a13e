"""Moves and role changes: updates of loads, penalties, lists and cost, and undo."""

from placement.core.search.kernels.access import (
    add_to_collection,
    bin_of,
    collection_of,
    crossing_at,
    group_of,
    holder_of,
    home_of,
    is_away,
    load_node,
    role_collection_of,
    role_of,
)
from placement.core.search.kernels.jit import inner
from placement.core.search.kernels.layout import (
    BIN_OF,
    COLLECTION_COUNT,
    COLLECTION_ROLES,
    COST,
    CROSSED,
    EXTRA,
    GROUP_WEIGHTS,
    GROUP_WIDTH,
    GROUPS,
    IS_LOGGING,
    IS_TRANSIENT,
    LIST_COUNT,
    LIST_ROOM,
    LIST_START,
    LIST_WIDTH,
    LISTS,
    LOAD_NOW,
    LOAD_PEAK,
    LOAD_WIDTH,
    LOADS,
    LOG,
    LOG_SIZE,
    LOG_WAS,
    LOG_WHAT,
    LOG_WIDTH,
    LOGGED,
    MAX_CROSSING,
    MOVED,
    NUM_LOAD_LEVELS,
    NUM_RESOURCES,
    ROLE_OF,
    SLOT_OF,
    SLOT_TOP,
    SLOTS,
)
from placement.core.search.kernels.penalty import extra_at, price_at, refresh
from placement.core.search.kernels.state import Memory


@inner
def unlist(m: Memory, item: int) -> None:
    """Remove an item from the list of its bin; the last item takes its slot."""
    place = bin_of(m, item)
    if place < 0:
        return
    row = place * LIST_WIDTH
    first = m.ints[m.ints[LISTS] + row + LIST_START]
    last = m.ints[m.ints[LISTS] + row + LIST_COUNT] - 1
    moved = m.ints[m.ints[SLOTS] + first + last]
    m.ints[m.ints[SLOTS] + first + m.ints[m.ints[SLOT_OF] + item]] = moved
    m.ints[m.ints[SLOT_OF] + moved] = m.ints[m.ints[SLOT_OF] + item]
    m.ints[m.ints[LISTS] + row + LIST_COUNT] = last


@inner
def enlist(m: Memory, item: int, target: int) -> None:
    """Append an item to the list of a bin; a list without room moves to the end."""
    row = target * LIST_WIDTH
    count = m.ints[m.ints[LISTS] + row + LIST_COUNT]
    if count == m.ints[m.ints[LISTS] + row + LIST_ROOM]:
        old, new = m.ints[m.ints[LISTS] + row + LIST_START], m.ints[SLOT_TOP]
        for slot in range(count):
            m.ints[m.ints[SLOTS] + new + slot] = m.ints[m.ints[SLOTS] + old + slot]
        m.ints[m.ints[LISTS] + row + LIST_START] = new
        m.ints[m.ints[LISTS] + row + LIST_ROOM] = 2 * count + 16
        m.ints[SLOT_TOP] = new + 2 * count + 16
    m.ints[m.ints[SLOTS] + m.ints[m.ints[LISTS] + row + LIST_START] + count] = item
    m.ints[m.ints[SLOT_OF] + item] = count
    m.ints[m.ints[LISTS] + row + LIST_COUNT] = count + 1


@inner
def write_log(m: Memory, what: int, was: int) -> None:
    """Record a change in the log for undo."""
    entry = m.ints[LOGGED]
    if m.ints[IS_LOGGING] == 1 and entry < LOG_SIZE:
        m.ints[m.ints[LOG] + entry * LOG_WIDTH + LOG_WHAT] = what
        m.ints[m.ints[LOG] + entry * LOG_WIDTH + LOG_WAS] = was
        m.ints[LOGGED] = entry + 1


@inner
def add_item(m: Memory, node: int, item: int, place: int, sign: int) -> None:
    """Add an item with its role to a node's loads, or subtract it."""
    width = m.ints[NUM_RESOURCES]
    first = group_of(m, item) * m.ints[GROUP_WIDTH] + GROUP_WEIGHTS
    role = role_of(m, item)
    extra = extra_at(m, item, place)
    at_home = place == home_of(m, item)
    for r in range(width):
        weight = m.ints[m.ints[GROUPS] + first + r]
        if extra >= 0:
            weight += m.ints[m.ints[EXTRA] + extra * width + r]
        held = role * m.ints[m.ints[GROUPS] + first + width + r]
        row = (node * width + r) * LOAD_WIDTH
        m.ints[m.ints[LOADS] + row + LOAD_NOW] += sign * (weight + held)
        # An item that leaves home fills it until the copy is done; a role does not.
        if at_home and m.ints[m.ints[IS_TRANSIENT] + r] == 1:
            weight = 0
        m.ints[m.ints[LOADS] + row + LOAD_PEAK] += sign * (weight + held)
    refresh(m, node)


@inner
def recount(m: Memory, counts: int, collection: int, source: int, target: int) -> None:
    """Update the counts of a collection for an item or role that changes its bin."""
    if collection < 0:
        return
    if source >= 0:
        add_to_collection(m, counts, collection, source, -1)
    if target >= 0:
        add_to_collection(m, counts, collection, target, 1)


@inner
def apply_move(m: Memory, item: int, target: int) -> None:
    """Move an item with its role, and update loads and penalties."""
    source = bin_of(m, item)
    for level in range(m.ints[NUM_LOAD_LEVELS]):
        old = -1
        if source >= 0:
            old = load_node(m, level, source)
        new = load_node(m, level, target)
        if old == new:
            continue
        if old >= 0:
            add_item(m, old, item, source, -1)
        if new >= 0:
            add_item(m, new, item, target, 1)
    m.ints[COST] += price_at(m, item, target) - price_at(m, item, source)
    m.ints[MOVED] += is_away(m, item, target) - is_away(m, item, source)
    if m.ints[MAX_CROSSING] >= 0:
        m.ints[CROSSED] += crossing_at(m, item, target) - crossing_at(m, item, source)
    write_log(m, item, source)
    unlist(m, item)
    enlist(m, item, target)
    recount(m, COLLECTION_COUNT, collection_of(m, item), source, target)
    if role_of(m, item) == 1:
        collection = role_collection_of(m, group_of(m, item))
        recount(m, COLLECTION_ROLES, collection, source, target)
    m.ints[m.ints[BIN_OF] + item] = target


@inner
def add_role(m: Memory, node: int, group: int, sign: int) -> None:
    """Add a group's role to a node's loads, or subtract it."""
    width = m.ints[NUM_RESOURCES]
    first = group * m.ints[GROUP_WIDTH] + GROUP_WEIGHTS + width
    for r in range(width):
        row = (node * width + r) * LOAD_WIDTH
        m.ints[m.ints[LOADS] + row + LOAD_NOW] += (
            sign * m.ints[m.ints[GROUPS] + first + r]
        )
        m.ints[m.ints[LOADS] + row + LOAD_PEAK] += (
            sign * m.ints[m.ints[GROUPS] + first + r]
        )
    refresh(m, node)


@inner
def apply_role(m: Memory, group: int, item: int) -> None:
    """Give a group's role to `item`, and update loads and penalties."""
    source, target = m.ints[m.ints[BIN_OF] + holder_of(m, group)], bin_of(m, item)
    for level in range(m.ints[NUM_LOAD_LEVELS]):
        old = load_node(m, level, source)
        new = load_node(m, level, target)
        if old == new:
            continue
        if old >= 0:
            add_role(m, old, group, -1)
        if new >= 0:
            add_role(m, new, group, 1)
    recount(m, COLLECTION_ROLES, role_collection_of(m, group), source, target)
    write_log(m, -1 - group, holder_of(m, group))
    m.ints[m.ints[ROLE_OF] + group] = item


@inner
def start_log(m: Memory) -> None:
    """Start to record changes."""
    m.ints[LOGGED] = 0
    m.ints[IS_LOGGING] = 1


@inner
def take_back(m: Memory) -> None:
    """Undo the recorded changes, the last one first."""
    m.ints[IS_LOGGING] = 0
    for step in range(m.ints[LOGGED]):
        entry = (m.ints[LOGGED] - 1 - step) * LOG_WIDTH
        what = m.ints[m.ints[LOG] + entry + LOG_WHAT]
        if what >= 0:
            apply_move(m, what, m.ints[m.ints[LOG] + entry + LOG_WAS])
        else:
            apply_role(m, -1 - what, m.ints[m.ints[LOG] + entry + LOG_WAS])
    m.ints[LOGGED] = 0
