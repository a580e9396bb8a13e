"""
Changes of penalty and cost by a move or a role change.

The penalty of a node is the sum over its resources of the squared distance from the
band, in targets; excess over a hard capacity weighs a thousand times more. The penalty
is zero inside the band, so evaluating a move takes O(resources) time. Outside, the
distance starts at `HAIR`: otherwise the square of a few bytes out of terabytes would be
lost in float noise.
"""

from placement.core.search.kernels.access import (
    bin_of,
    group_of,
    holder_of,
    home_of,
    load_node,
    role_of,
)
from placement.core.search.kernels.jit import inner
from placement.core.search.kernels.layout import (
    BIN_NODES,
    BIN_OF,
    BIN_WIDTH,
    BINS,
    BLOCK,
    BLOCK_IS_KNOWN,
    DISTANCE,
    EXTRA,
    GROUP_COST,
    GROUP_WEIGHTS,
    GROUP_WIDTH,
    GROUPS,
    HAS_EXTRA,
    LIMITS,
    LOAD_NOW,
    LOAD_WIDTH,
    LOADS,
    NUM_BINS,
    NUM_CAP_LEVELS,
    NUM_LOAD_LEVELS,
    NUM_NODES,
    NUM_PRICE_LEVELS,
    NUM_RESOURCES,
    PENALTY,
    PRICE,
    PRICE_ACROSS,
    PRICE_PER_MOVE,
    ROW_CAPACITY,
    ROW_LOWER,
    ROW_UPPER,
    ROW_WIDTH,
    SCALE,
)
from placement.core.search.kernels.state import Memory

CAPACITY_WEIGHT = 1000.0
HAIR = 1e-7
"""Offset added to any distance, in targets; its square exceeds `is_better`'s noise."""


@inner
def distance(m: Memory, row: int, load: int) -> float:
    """Return the squared distance of one load from its band."""
    off = load - m.ints[m.ints[LIMITS] + row * ROW_WIDTH + ROW_UPPER]
    if off <= 0:
        off = m.ints[m.ints[LIMITS] + row * ROW_WIDTH + ROW_LOWER] - load
        if off <= 0:
            return 0.0
        part = off * m.floats[m.ints[SCALE] + row] + HAIR
        return part * part
    part = off * m.floats[m.ints[SCALE] + row] + HAIR
    over = load - m.ints[m.ints[LIMITS] + row * ROW_WIDTH + ROW_CAPACITY]
    if over > 0:
        part += CAPACITY_WEIGHT * over * m.floats[m.ints[SCALE] + row]
    return part * part


@inner
def refresh(m: Memory, node: int) -> float:
    """Recompute the distances and the penalty of one node; return the penalty."""
    total = 0.0
    for row in range(node * m.ints[NUM_RESOURCES], (node + 1) * m.ints[NUM_RESOURCES]):
        m.floats[m.ints[DISTANCE] + row] = distance(
            m, row, m.ints[m.ints[LOADS] + row * LOAD_WIDTH + LOAD_NOW]
        )
        total += m.floats[m.ints[DISTANCE] + row]
    if total != m.floats[m.ints[PENALTY] + node]:
        m.floats[m.ints[PENALTY] + node] = total
        forget_worst(m, node)
    return total


@inner
def forget_worst(m: Memory, node: int) -> None:
    """Invalidate the cached worst bin of a node's block."""
    if node < m.ints[NUM_BINS]:
        m.ints[m.ints[BLOCK_IS_KNOWN] + node // BLOCK] = 0
    else:
        forget_all_worst(m)


@inner
def forget_all_worst(m: Memory) -> None:
    """Invalidate the cached worst bins of all blocks."""
    for block in range((m.ints[NUM_BINS] + BLOCK - 1) // BLOCK):
        m.ints[m.ints[BLOCK_IS_KNOWN] + block] = 0


@inner
def refresh_all(m: Memory) -> float:
    """Recompute the penalties of all nodes and return their sum."""
    total = 0.0
    for node in range(m.ints[NUM_NODES]):
        total += refresh(m, node)
    return total


@inner
def shift(
    m: Memory, node: int, group: int, extra: int, has_item: int, has_role: int
) -> float:
    """
    Return the change of a node's penalty if an item or a role comes or goes.

    `has_item` and `has_role` are 1 (comes), -1 (goes) or 0; `extra` is the item whose
    extra weight counts, or -1.
    """
    change = 0.0
    width = m.ints[NUM_RESOURCES]
    first = group * m.ints[GROUP_WIDTH] + GROUP_WEIGHTS
    for r in range(width):
        weight = has_item * m.ints[m.ints[GROUPS] + first + r]
        if has_role != 0:
            weight += has_role * m.ints[m.ints[GROUPS] + first + width + r]
        if extra >= 0:
            weight += has_item * m.ints[m.ints[EXTRA] + extra * width + r]
        if weight != 0:
            row = node * width + r
            change -= m.floats[m.ints[DISTANCE] + row]
            # Inlined `distance`: this line runs more often than all others.
            load = m.ints[m.ints[LOADS] + row * LOAD_WIDTH + LOAD_NOW] + weight
            limit = row * ROW_WIDTH
            off = load - m.ints[m.ints[LIMITS] + limit + ROW_UPPER]
            if off <= 0:
                off = m.ints[m.ints[LIMITS] + limit + ROW_LOWER] - load
                if off > 0:
                    part = off * m.floats[m.ints[SCALE] + row] + HAIR
                    change += part * part
            else:
                part = off * m.floats[m.ints[SCALE] + row] + HAIR
                over = load - m.ints[m.ints[LIMITS] + limit + ROW_CAPACITY]
                if over > 0:
                    part += CAPACITY_WEIGHT * over * m.floats[m.ints[SCALE] + row]
                change += part * part
    return change


@inner
def extra_at(m: Memory, item: int, place: int) -> int:
    """Return `item` if its extra weight counts in the bin `place`, else -1."""
    if m.ints[HAS_EXTRA] == 1 and place == home_of(m, item):
        return item
    return -1


@inner
def leave_change(m: Memory, item: int, target: int) -> float:
    """Return the change of penalty in the source if `item` leaves for `target`."""
    source = bin_of(m, item)
    change = 0.0
    if source < 0:
        return change
    for level in range(m.ints[NUM_LOAD_LEVELS]):
        node = load_node(m, level, source)
        if node >= 0 and (target < 0 or node != load_node(m, level, target)):
            change += shift(
                m,
                node,
                group_of(m, item),
                extra_at(m, item, source),
                -1,
                -role_of(m, item),
            )
    return change


@inner
def arrive_change(m: Memory, item: int, target: int) -> float:
    """Return the change of penalty in `target` if `item` arrives there."""
    change = 0.0
    for level in range(m.ints[NUM_LOAD_LEVELS]):
        change += arrive_change_at(m, item, target, level)
    return change


@inner
def arrive_change_at(m: Memory, item: int, target: int, level: int) -> float:
    """Return the change of `arrive_change` for the node of one level."""
    source, node = bin_of(m, item), load_node(m, level, target)
    if node < 0 or (source >= 0 and node == load_node(m, level, source)):
        return 0.0
    extra = extra_at(m, item, target)
    return shift(m, node, group_of(m, item), extra, 1, role_of(m, item))


@inner
def role_change(m: Memory, group: int, item: int) -> float:
    """Return the change of penalty if `item` takes its group's role."""
    source = m.ints[m.ints[BIN_OF] + holder_of(m, group)]
    target = bin_of(m, item)
    change = 0.0
    for level in range(m.ints[NUM_LOAD_LEVELS]):
        old = load_node(m, level, source)
        new = load_node(m, level, target)
        if old == new:
            continue
        if old >= 0:
            change += shift(m, old, group, -1, 0, -1)
        if new >= 0:
            change += shift(m, new, group, -1, 0, 1)
    return change


@inner
def price_at(m: Memory, item: int, place: int) -> int:
    """Return the cost of an item that ends in the bin `place`, price included."""
    home = home_of(m, item)
    if place == home or place < 0:
        return 0
    price = m.ints[PRICE_ACROSS]
    if home >= 0:
        first = BIN_NODES + m.ints[NUM_LOAD_LEVELS] + m.ints[NUM_CAP_LEVELS]
        for level in range(m.ints[NUM_PRICE_LEVELS]):
            node = m.ints[m.ints[BINS] + place * m.ints[BIN_WIDTH] + first + level]
            if (
                node >= 0
                and node
                == m.ints[m.ints[BINS] + home * m.ints[BIN_WIDTH] + first + level]
            ):
                price = m.ints[m.ints[PRICE] + level]
                break
    cost = m.ints[m.ints[GROUPS] + group_of(m, item) * m.ints[GROUP_WIDTH] + GROUP_COST]
    return cost * price + m.ints[PRICE_PER_MOVE]


TINY = 1e-9
"""Least relative gain; below it, float noise could make moves cycle."""


@inner
def is_better(gain: float, scale: float) -> bool:
    """Return whether a gain exceeds the noise of float sums."""
    return gain > TINY * scale and gain > 1e-18


@inner
def total_penalty(m: Memory) -> float:
    """Sum the penalties of all nodes."""
    total = 0.0
    for node in range(m.ints[NUM_NODES]):
        total += m.floats[m.ints[PENALTY] + node]
    return total


PENALTY_TO_FILL = 1000.0
"""Weight of a unit of penalty relative to a unit of squared fill."""


@inner
def arrival_score(m: Memory, item: int, target: int) -> float:
    """
    Return the misfit of an item in a bin that it is not in; lower is better.

    The score is the change of the penalties plus, with far less weight, the change of
    the bin's summed squared fill, both in one pass over the resources.
    """
    group, role = group_of(m, item), role_of(m, item)
    node, width = load_node(m, 0, target), m.ints[NUM_RESOURCES]
    first = group * m.ints[GROUP_WIDTH] + GROUP_WEIGHTS
    extra = extra_at(m, item, target)
    change, fill = 0.0, 0.0
    for r in range(width):
        weight = m.ints[m.ints[GROUPS] + first + r]
        weight += role * m.ints[m.ints[GROUPS] + first + width + r]
        if extra >= 0:
            weight += m.ints[m.ints[EXTRA] + extra * width + r]
        if weight != 0:
            row = node * width + r
            load = m.ints[m.ints[LOADS] + row * LOAD_WIDTH + LOAD_NOW]
            unit = m.floats[m.ints[SCALE] + row]
            fill += (2.0 * load + weight) * weight * unit * unit
            # Inlined `distance`, here as well.
            change -= m.floats[m.ints[DISTANCE] + row]
            load += weight
            off = load - m.ints[m.ints[LIMITS] + row * ROW_WIDTH + ROW_UPPER]
            if off <= 0:
                off = m.ints[m.ints[LIMITS] + row * ROW_WIDTH + ROW_LOWER] - load
                if off > 0:
                    change += (off * unit + HAIR) * (off * unit + HAIR)
            else:
                over = load - m.ints[m.ints[LIMITS] + row * ROW_WIDTH + ROW_CAPACITY]
                part = (off + CAPACITY_WEIGHT * max(over, 0)) * unit + HAIR
                change += part * part
    for level in range(1, m.ints[NUM_LOAD_LEVELS]):
        change += arrive_change_at(m, item, target, level)
    return PENALTY_TO_FILL * change + fill
