"""
Prefetch of table rows into the cache, before they are used.

The tables of a large problem do not fit into the cache, and the rows of a bin's items
are scattered over them. Read one item at a time, each row causes a separate memory
stall. Reading all rows first, with nothing in between, overlaps these stalls. No answer
depends on it.
"""

from placement.core.search.kernels.access import (
    first_item,
    group_of,
    item_at,
    num_items_in,
)
from placement.core.search.kernels.jit import inlined, inner
from placement.core.search.kernels.layout import (
    BIN_OF,
    GROUP_COST,
    GROUP_WEIGHTS,
    GROUP_WIDTH,
    GROUPS,
    ITEMS,
    NUM_ITEMS,
    NUM_RESOURCES,
    ROLE_OF,
    TOUCHED,
)
from placement.core.search.kernels.state import Memory

AT_ONCE = 32
"""Number of items whose rows are read at once; more would evict each other."""
MANY_ITEMS = 100_000
"""Number of items up to which the tables fit into the cache."""


@inlined
def _read_group(m: Memory, item: int) -> int:
    """Read the row of an item's group and its role holder."""
    group = group_of(m, item)
    row = m.ints[GROUPS] + group * m.ints[GROUP_WIDTH]
    read = m.ints[row + GROUP_COST] ^ m.ints[m.ints[ROLE_OF] + group]
    # The row of a group spans two or three cache lines.
    return int(read ^ m.ints[row + GROUP_WEIGHTS + m.ints[NUM_RESOURCES]])


@inner
def touch_items(m: Memory, place: int, first: int, num: int) -> None:
    """Read the rows needed to evaluate moves of `num` items of a bin's list."""
    if m.ints[NUM_ITEMS] <= MANY_ITEMS:
        return
    count = num_items_in(m, place)
    # Store a value computed from the reads, or the compiler removes them.
    read = 0
    for step in range(min(num, count)):
        read ^= m.ints[m.ints[ITEMS] + item_at(m, place, (first + step) % count)]
    for step in range(min(num, count)):
        read ^= _read_group(m, item_at(m, place, (first + step) % count))
    m.ints[TOUCHED] = read


@inner
def touch_roles(m: Memory, place: int, first: int, num: int) -> None:
    """Read the rows needed to evaluate role changes of groups in a bin."""
    if m.ints[NUM_ITEMS] <= MANY_ITEMS:
        return
    touch_items(m, place, first, num)
    count, read = num_items_in(m, place), 0
    for step in range(min(num, count)):
        group = group_of(m, item_at(m, place, (first + step) % count))
        read ^= m.ints[m.ints[BIN_OF] + first_item(m, group)]
        read ^= first_item(m, group + 1)
    m.ints[TOUCHED] = read


@inner
def touch_listed(m: Memory, order: list[int], first: int) -> None:
    """Read the rows of the next items in the order of trimming."""
    if m.ints[NUM_ITEMS] <= MANY_ITEMS or first % AT_ONCE != 0:
        return
    read, stop = 0, min(first + AT_ONCE, len(order))
    for at in range(first, stop):
        read ^= m.ints[m.ints[ITEMS] + order[at]] ^ m.ints[m.ints[BIN_OF] + order[at]]
    for at in range(first, stop):
        read ^= _read_group(m, order[at])
    m.ints[TOUCHED] = read
