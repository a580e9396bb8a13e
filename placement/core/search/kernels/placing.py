"""Placement of items that must move, and spread of groups over nodes."""

from placement.core.search.kernels.access import (
    NEVER,
    bin_of,
    cap_node,
    cap_of,
    draw,
    first_item,
    group_of,
    home_of,
    is_receiving,
    kind_of,
    role_of,
)
from placement.core.search.kernels.changes import apply_move, apply_role
from placement.core.search.kernels.jit import inner
from placement.core.search.kernels.layout import (
    IS_EVEN,
    MINDS_SPREAD,
    NODE_FIRST,
    NUM_BINS,
    NUM_RECEIVERS,
    RECEIVERS,
)
from placement.core.search.kernels.legality import (
    count_in,
    is_short,
    may_move,
    may_take_role,
)
from placement.core.search.kernels.penalty import (
    PENALTY_TO_FILL,
    arrival_score,
    leave_change,
    role_change,
)
from placement.core.search.kernels.state import Memory

ALL_BINS = 32
"""Number of bins up to which every bin is tried as a target; above, a sample."""
SAMPLE = 6
"""Number of targets sampled for one item."""
FINALISTS = 4
"""Number of items of a bin for which targets are evaluated."""


@inner
def best_bin(m: Memory, item: int) -> int:
    """Return the allowed bin with the least score for an item, or -1."""
    best, best_score = -1, 0.0
    tries = m.ints[NUM_BINS]
    is_sampled = m.ints[NUM_BINS] > 2 * ALL_BINS
    if is_sampled:
        tries = SAMPLE
    for attempt in range(tries + m.ints[NUM_BINS]):
        if attempt < tries and is_sampled and m.ints[NUM_RECEIVERS] > 0:
            target = m.ints[m.ints[RECEIVERS] + draw(m, m.ints[NUM_RECEIVERS])]
        elif attempt >= tries:
            # No allowed bin in the sample: try every bin once.
            if best >= 0 or not is_sampled:
                break
            target = attempt - tries
        else:
            target = attempt
        if not is_receiving(m, target) and target != home_of(m, item):
            continue
        score = arrival_score(m, item, target)
        if (best < 0 or score < best_score) and may_move(m, item, target):
            best, best_score = target, score
    return best


@inner
def best_successor(m: Memory, group: int) -> int:
    """Return the item that takes its group's role at least penalty, or -1."""
    best, best_change = -1, 0.0
    for item in range(first_item(m, group), first_item(m, group + 1)):
        if may_take_role(m, group, item):
            change = role_change(m, group, item)
            if best < 0 or change < best_change:
                best, best_change = item, change
    return best


@inner
def successor_of(m: Memory, group: int) -> int:
    """Return the next holder of a role, ignoring soft caps if necessary, or -1."""
    successor = best_successor(m, group)
    if successor < 0:
        minds = m.ints[MINDS_SPREAD]
        m.ints[MINDS_SPREAD] = 0
        successor = best_successor(m, group)
        m.ints[MINDS_SPREAD] = minds
    return successor


@inner
def put(m: Memory, item: int) -> bool:
    """Move an item to its best bin, without its role if necessary."""
    target = best_bin(m, item)
    if target < 0:
        # If there is no other bin, ignore the soft caps on collections.
        minds = m.ints[MINDS_SPREAD]
        m.ints[MINDS_SPREAD] = 0
        target = best_bin(m, item)
        m.ints[MINDS_SPREAD] = minds
    if target < 0 and role_of(m, item) == 1:
        group = group_of(m, item)
        successor = successor_of(m, group)
        if successor >= 0:
            apply_role(m, group, successor)
            target = best_bin(m, item)
            if target < 0:
                apply_role(m, group, item)
    if target >= 0:
        apply_move(m, item, target)
    return target >= 0


@inner
def has_short_node(m: Memory, level: int, group: int) -> bool:
    """Return whether a node holds fewer items of a group than an even spread does."""
    if m.ints[m.ints[IS_EVEN] + level] == 0 or cap_of(m, level, group) < 2:
        return False
    for node in range(
        m.ints[m.ints[NODE_FIRST] + level], m.ints[m.ints[NODE_FIRST] + level + 1]
    ):
        if is_short(m, level, node, group):
            return True
    return False


@inner
def crowded_item(m: Memory, level: int, group: int, most: int) -> int:
    """Return a movable item of the node with most items of a group, above `most`."""
    worst, worst_found, worst_ease = -1, most, 0
    for item in range(first_item(m, group), first_item(m, group + 1)):
        place_now = bin_of(m, item)
        if place_now < 0 or kind_of(m, item) == NEVER:
            continue
        node = cap_node(m, level, place_now)
        if node < 0:
            continue
        found = count_in(m, level, node, group, -1)
        # Prefer items that have moved already (free) and items without the role.
        ease = 1 - role_of(m, item)
        if place_now != home_of(m, item):
            ease += 2
        if found > worst_found or (
            worst >= 0 and found == worst_found and ease > worst_ease
        ):
            worst, worst_found, worst_ease = item, found, ease
    return worst


@inner
def best_spread_bin(m: Memory, item: int, level: int, only_short: bool) -> int:
    """Return the best allowed bin outside the item's node of a level, or -1."""
    best, best_score = -1, 0.0
    own = cap_node(m, level, bin_of(m, item))
    for target in range(m.ints[NUM_BINS]):
        node = cap_node(m, level, target)
        if node == own or not may_move(m, item, target):
            continue
        if only_short and not is_short(m, level, node, group_of(m, item)):
            continue
        score = PENALTY_TO_FILL * leave_change(m, item, target)
        score += arrival_score(m, item, target)
        if best < 0 or score < best_score:
            best, best_score = target, score
    return best


@inner
def respread_group(m: Memory, level: int, group: int) -> bool:
    """Move items of one group until no node holds too many or too few of them."""
    cap = cap_of(m, level, group)
    if cap == 0:
        return True
    for _ in range(first_item(m, group + 1) - first_item(m, group)):
        short = has_short_node(m, level, group)
        item = crowded_item(m, level, group, cap)
        if item < 0 and short:
            item = crowded_item(m, level, group, 1)
        if item < 0:
            return not short
        target = best_spread_bin(m, item, level, short)
        if target < 0:
            minds = m.ints[MINDS_SPREAD]
            m.ints[MINDS_SPREAD] = 0
            target = best_spread_bin(m, item, level, short)
            m.ints[MINDS_SPREAD] = minds
        if target < 0:
            return False
        apply_move(m, item, target)
    return True
