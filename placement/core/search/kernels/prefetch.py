"""
Rows that are about to be looked at, read ahead of it, all at once.

The tables of a large problem do not fit into the cache, and the rows of the items of a
bin lie anywhere in them. Looked at one item after the other, each waits for memory in
turn. Reading all of them first, with nothing else in between, lets a processor wait for
many at a time. It changes no answer.
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
"""Items whose rows are read at once: more would push each other out of the cache."""
MANY_ITEMS = 100_000
"""Up to so many items tables are in the cache as it is."""


@inlined
def _read_group(m: Memory, item: int) -> int:
    """Read the row of an item's group, and who has its role."""
    group = group_of(m, item)
    row = m.ints[GROUPS] + group * m.ints[GROUP_WIDTH]
    read = m.ints[row + GROUP_COST] ^ m.ints[m.ints[ROLE_OF] + group]
    # A row of a group lies in two lines of the cache or three.
    return int(read ^ m.ints[row + GROUP_WEIGHTS + m.ints[NUM_RESOURCES]])


@inner
def touch_items(m: Memory, place: int, first: int, num: int) -> None:
    """Read what leaving and arriving of `num` items of a bin's list is judged by."""
    if m.ints[NUM_ITEMS] <= MANY_ITEMS:
        return
    count = num_items_in(m, place)
    # What was read has to count for something, or the compiler leaves it out.
    read = 0
    for step in range(min(num, count)):
        read ^= m.ints[m.ints[ITEMS] + item_at(m, place, (first + step) % count)]
    for step in range(min(num, count)):
        read ^= _read_group(m, item_at(m, place, (first + step) % count))
    m.ints[TOUCHED] = read


@inner
def touch_roles(m: Memory, place: int, first: int, num: int) -> None:
    """Read what handing on roles of groups with items in a bin is judged by."""
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
    """Read the rows of the next items in an order that are to be trimmed."""
    if m.ints[NUM_ITEMS] <= MANY_ITEMS or first % AT_ONCE != 0:
        return
    read, stop = 0, min(first + AT_ONCE, len(order))
    for at in range(first, stop):
        read ^= m.ints[m.ints[ITEMS] + order[at]] ^ m.ints[m.ints[BIN_OF] + order[at]]
    for at in range(first, stop):
        read ^= _read_group(m, order[at])
    m.ints[TOUCHED] = read
