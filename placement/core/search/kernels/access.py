"""Accessors of the flat tables: one small function per field."""

from placement.core.search.kernels.jit import inner
from placement.core.search.kernels.layout import (
    BIN_NODES,
    BIN_OF,
    BIN_RECEIVES,
    BIN_WIDTH,
    BINS,
    COLLECTION_OF,
    GROUP_COST,
    GROUP_KIND,
    GROUP_START,
    GROUP_WEIGHTS,
    GROUP_WIDTH,
    GROUPS,
    HAS_ROLE_CAPS,
    HOME_BITS,
    ITEMS,
    KIND_BITS,
    LIST_COUNT,
    LIST_CURSOR,
    LIST_START,
    LIST_WIDTH,
    LISTS,
    NOISE,
    NUM_BINS,
    NUM_LOAD_LEVELS,
    NUM_RESOURCES,
    PENALTY,
    ROLE_OF,
    SLOTS,
    SOURCE_ZONE,
    STILL_COUNT,
    STILL_CURSOR,
    STILL_START,
    ZONE_OF_BIN,
)
from placement.core.search.kernels.state import Memory

MAY, MUST, NEVER = 0, 1, 2
"""Codes of `Movability`."""
LOW_HALF = 0xFFFFFFFF
"""Mask of one of the two collection counts packed into a number, to save memory."""


@inner
def draw(m: Memory, below: int) -> int:
    """Draw from ``0 .. below - 1`` by a portable linear congruential generator."""
    m.ints[NOISE] = (m.ints[NOISE] * 1103515245 + 12345) & 0x7FFFFFFF
    return (m.ints[NOISE] >> 8) % below


@inner
def bin_of(m: Memory, item: int) -> int:
    """Return the bin an item is in now, or -1."""
    return m.ints[m.ints[BIN_OF] + item]


@inner
def holder_of(m: Memory, group: int) -> int:
    """Return the item that holds a group's role now, or -1."""
    return m.ints[m.ints[ROLE_OF] + group]


@inner
def is_away(m: Memory, item: int, place: int) -> int:
    """Return 1 if an item that ends in the bin `place` has moved, else 0."""
    if place >= 0 and place != home_of(m, item):
        return 1
    return 0


@inner
def penalty_of(m: Memory, place: int) -> float:
    """Return the penalty of a bin at level 0."""
    return m.floats[m.ints[PENALTY] + load_node(m, 0, place)]


@inner
def group_of(m: Memory, item: int) -> int:
    """Return the group of an item."""
    return m.ints[m.ints[ITEMS] + item] >> (KIND_BITS + HOME_BITS)


@inner
def home_of(m: Memory, item: int) -> int:
    """Return the home bin of an item, or -1."""
    packed = m.ints[m.ints[ITEMS] + item] >> KIND_BITS
    return (packed & ((1 << HOME_BITS) - 1)) - 1


@inner
def kind_of(m: Memory, item: int) -> int:
    """Return an item's movability."""
    return m.ints[m.ints[ITEMS] + item] & ((1 << KIND_BITS) - 1)


@inner
def class_of(m: Memory, group: int) -> int:
    """Return the class of a group, which determines the eligible bins."""
    return m.ints[m.ints[GROUPS] + group * m.ints[GROUP_WIDTH] + GROUP_KIND] >> 1


@inner
def role_moves(m: Memory, group: int) -> bool:
    """Return whether a group's role may be handed on."""
    return m.ints[m.ints[GROUPS] + group * m.ints[GROUP_WIDTH] + GROUP_KIND] & 1 == 1


@inner
def first_item(m: Memory, group: int) -> int:
    """Return the first item of a group; that of ``group + 1`` is its end."""
    return m.ints[m.ints[GROUPS] + group * m.ints[GROUP_WIDTH] + GROUP_START]


@inner
def cap_of(m: Memory, level: int, group: int) -> int:
    """Return the most items of a group in one node of a level with caps."""
    field = GROUP_WEIGHTS + 2 * m.ints[NUM_RESOURCES] + level
    return m.ints[m.ints[GROUPS] + group * m.ints[GROUP_WIDTH] + field]


@inner
def load_node(m: Memory, level: int, place: int) -> int:
    """Return the node of a bin at a level with limits, or -1."""
    return m.ints[m.ints[BINS] + place * m.ints[BIN_WIDTH] + BIN_NODES + level]


@inner
def cap_node(m: Memory, level: int, place: int) -> int:
    """Return the node of a bin at a level with caps, or -1."""
    return m.ints[
        m.ints[BINS]
        + place * m.ints[BIN_WIDTH]
        + BIN_NODES
        + m.ints[NUM_LOAD_LEVELS]
        + level
    ]


@inner
def role_of(m: Memory, item: int) -> int:
    """Return 1 if the item holds its group's role, else 0."""
    if m.ints[m.ints[ROLE_OF] + group_of(m, item)] == item:
        return 1
    return 0


@inner
def item_at(m: Memory, place: int, slot: int) -> int:
    """Return the item at a place of a bin's list."""
    return m.ints[
        m.ints[SLOTS] + m.ints[m.ints[LISTS] + place * LIST_WIDTH + LIST_START] + slot
    ]


@inner
def num_items_in(m: Memory, place: int) -> int:
    """Return the number of movable items in a bin."""
    return m.ints[m.ints[LISTS] + place * LIST_WIDTH + LIST_COUNT]


@inner
def cursor_of(m: Memory, place: int) -> int:
    """Return the slot of a bin's list where the next scan starts."""
    return m.ints[m.ints[LISTS] + place * LIST_WIDTH + LIST_CURSOR]


@inner
def pass_on(m: Memory, place: int, looked: int) -> None:
    """Advance the start of the next scan of a bin's list by `looked` items."""
    row = m.ints[LISTS] + place * LIST_WIDTH
    count = m.ints[row + LIST_COUNT]
    if count > 0:
        m.ints[row + LIST_CURSOR] = (m.ints[row + LIST_CURSOR] + looked) % count


@inner
def still_item(m: Memory, place: int, step: int) -> int:
    """Return the immovable item of a bin at `step` after the cursor."""
    row = m.ints[LISTS] + place * LIST_WIDTH
    slot = (m.ints[row + STILL_CURSOR] + step) % m.ints[row + STILL_COUNT]
    return m.ints[m.ints[SLOTS] + m.ints[row + STILL_START] + slot]


@inner
def num_still_in(m: Memory, place: int) -> int:
    """Return the number of immovable items in a bin."""
    return m.ints[m.ints[LISTS] + place * LIST_WIDTH + STILL_COUNT]


@inner
def is_receiving(m: Memory, place: int) -> bool:
    """Return whether a bin may take items that are not at home there."""
    return m.ints[m.ints[BINS] + place * m.ints[BIN_WIDTH] + BIN_RECEIVES] == 1


@inner
def cost_of(m: Memory, item: int) -> int:
    """Return the cost of copying an item, without the price of the move."""
    return m.ints[m.ints[GROUPS] + group_of(m, item) * m.ints[GROUP_WIDTH] + GROUP_COST]


@inner
def crossing_at(m: Memory, item: int, place: int) -> int:
    """Return the crossing cost of an item that ends in the bin `place`."""
    source = m.ints[m.ints[SOURCE_ZONE] + group_of(m, item)]
    if source < 0 or is_away(m, item, place) == 0:
        return 0
    if m.ints[m.ints[ZONE_OF_BIN] + place] == source:
        return 0
    return cost_of(m, item)


@inner
def collection_of(m: Memory, item: int) -> int:
    """Return the collection of an item's group, or -1 where none is counted."""
    return m.ints[m.ints[COLLECTION_OF] + group_of(m, item)]


@inner
def role_collection_of(m: Memory, group: int) -> int:
    """Return the collection of a group, or -1 where its roles are not counted."""
    if m.ints[HAS_ROLE_CAPS] == 0:
        return -1
    return m.ints[m.ints[COLLECTION_OF] + group]


@inner
def num_of_collection(m: Memory, counts: int, collection: int, place: int) -> int:
    """
    Return the number of items or roles of a collection in a bin.

    `counts` is `COLLECTION_COUNT` for items or `COLLECTION_ROLES` for roles.
    """
    cell = collection * m.ints[NUM_BINS] + place
    return (m.ints[m.ints[counts] + cell // 2] >> (32 * (cell % 2))) & LOW_HALF


@inner
def add_to_collection(
    m: Memory, counts: int, collection: int, place: int, sign: int
) -> None:
    """Add `sign` (1 or -1) to the count of items or roles of a collection in a bin."""
    cell = collection * m.ints[NUM_BINS] + place
    m.ints[m.ints[counts] + cell // 2] += sign << (32 * (cell % 2))
