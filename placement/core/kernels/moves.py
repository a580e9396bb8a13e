"""
One move or role change: what it does to the penalty, whether it is legal, doing it.

The penalty of a node is the sum over its resources of the squared distance from the
band, in targets; excess over a hard capacity weighs a thousand times more. It is zero
inside the band, so a move costs O(resources) to judge and no second look at others.
"""

from placement.core.kernels.jit import inner
from placement.core.kernels.tables import (
    BIN_CLASS,
    BIN_LEADS,
    BIN_NODES,
    BIN_RECEIVES,
    END_CURSOR,
    END_HEAD,
    END_WIDTH,
    GROUP_CLASS,
    GROUP_COST,
    GROUP_ROLE_HOME,
    GROUP_ROLE_MOVES,
    GROUP_START,
    GROUP_WEIGHTS,
    ITEM_GROUP,
    ITEM_HOME,
    ITEM_KIND,
    ITEM_WIDTH,
    LINK_AFTER,
    LINK_BEFORE,
    LINK_WIDTH,
    LOAD_NOW,
    LOAD_PEAK,
    LOAD_WIDTH,
    ROW_CAPACITY,
    ROW_LOWER,
    ROW_UPPER,
    ROW_WIDTH,
    State,
    Tables,
)

MAY, MUST, NEVER = 0, 1, 2
CAPACITY_WEIGHT = 1000.0


@inner
def draw(s: State, below: int) -> int:
    """Draw from ``0 .. below - 1``: a linear congruential generator, same anywhere."""
    s.noise[0] = (s.noise[0] * 1103515245 + 12345) & 0x7FFFFFFF
    return (s.noise[0] >> 8) % below


@inner
def group_of(t: Tables, item: int) -> int:
    """Return the group of an item."""
    return t.items[item * ITEM_WIDTH + ITEM_GROUP]


@inner
def home_of(t: Tables, item: int) -> int:
    """Return the bin an item is in at the start, or -1."""
    return t.items[item * ITEM_WIDTH + ITEM_HOME]


@inner
def kind_of(t: Tables, item: int) -> int:
    """Return an item's movability."""
    return t.items[item * ITEM_WIDTH + ITEM_KIND]


@inner
def first_item(t: Tables, group: int) -> int:
    """Return the first item of a group; that of ``group + 1`` is where it ends."""
    return t.groups[group * t.group_width + GROUP_START]


@inner
def cap_of(t: Tables, level: int, group: int) -> int:
    """Return the most items of a group in one node of a level with caps."""
    field = GROUP_WEIGHTS + 2 * t.num_resources + level
    return t.groups[group * t.group_width + field]


@inner
def load_node(t: Tables, level: int, place: int) -> int:
    """Return the node of a bin at a level with limits, or -1."""
    return t.bins[place * t.bin_width + BIN_NODES + level]


@inner
def cap_node(t: Tables, level: int, place: int) -> int:
    """Return the node of a bin at a level with caps, or -1."""
    return t.bins[place * t.bin_width + BIN_NODES + t.num_load_levels + level]


@inner
def role_of(t: Tables, s: State, item: int) -> int:
    """Return 1 if the item holds its group's role, else 0."""
    if s.role_of[group_of(t, item)] == item:
        return 1
    return 0


@inner
def distance(t: Tables, row: int, load: int) -> float:
    """Return the squared distance of one load from its band."""
    off = load - t.limits[row * ROW_WIDTH + ROW_UPPER]
    if off <= 0:
        off = t.limits[row * ROW_WIDTH + ROW_LOWER] - load
        if off <= 0:
            return 0.0
        part = off * t.scale[row]
        return part * part
    part = off * t.scale[row]
    over = load - t.limits[row * ROW_WIDTH + ROW_CAPACITY]
    if over > 0:
        part += CAPACITY_WEIGHT * over * t.scale[row]
    return part * part


@inner
def refresh(t: Tables, s: State, node: int) -> float:
    """Compute the distances and the penalty of one node afresh; return the latter."""
    total = 0.0
    for row in range(node * t.num_resources, (node + 1) * t.num_resources):
        s.distance[row] = distance(t, row, s.loads[row * LOAD_WIDTH + LOAD_NOW])
        total += s.distance[row]
    s.penalty[node] = total
    return total


@inner
def refresh_all(t: Tables, s: State) -> float:
    """Compute every node's penalty afresh and return their sum."""
    total = 0.0
    for node in range(t.num_nodes):
        total += refresh(t, s, node)
    return total


@inner
def shift(
    t: Tables, s: State, node: int, group: int, extra: int, has_item: int, has_role: int
) -> float:
    """
    Return how a node's penalty changes when an item or a role comes or goes.

    `has_item` and `has_role` are 1 (comes), -1 (goes) or 0; `extra` is the item whose
    extra weight counts, or -1.
    """
    change = 0.0
    width = t.num_resources
    first = group * t.group_width + GROUP_WEIGHTS
    for r in range(width):
        weight = has_item * t.groups[first + r]
        if has_role != 0:
            weight += has_role * t.groups[first + width + r]
        if extra >= 0:
            weight += has_item * t.extra[extra * width + r]
        if weight != 0:
            row = node * width + r
            change -= s.distance[row]
            # `distance`, written out: this line runs more often than all others.
            load = s.loads[row * LOAD_WIDTH] + weight
            limit = row * ROW_WIDTH
            off = load - t.limits[limit + ROW_UPPER]
            if off <= 0:
                off = t.limits[limit] - load
                if off > 0:
                    part = off * t.scale[row]
                    change += part * part
            else:
                part = off * t.scale[row]
                over = load - t.limits[limit + ROW_CAPACITY]
                if over > 0:
                    part += CAPACITY_WEIGHT * over * t.scale[row]
                change += part * part
    return change


@inner
def extra_at(t: Tables, item: int, place: int) -> int:
    """Return `item` where its extra weight counts in the bin `place`, else -1."""
    if t.has_extra == 1 and place == home_of(t, item):
        return item
    return -1


@inner
def leave_change(t: Tables, s: State, item: int, target: int) -> float:
    """Return the change of penalty where `item` leaves for the bin `target`."""
    source = s.bin_of[item]
    change = 0.0
    if source < 0:
        return change
    for level in range(t.num_load_levels):
        node = load_node(t, level, source)
        if node >= 0 and (target < 0 or node != load_node(t, level, target)):
            change += shift(
                t,
                s,
                node,
                group_of(t, item),
                extra_at(t, item, source),
                -1,
                -role_of(t, s, item),
            )
    return change


@inner
def arrive_change(t: Tables, s: State, item: int, target: int) -> float:
    """Return the change of penalty where `item` arrives in the bin `target`."""
    source = s.bin_of[item]
    change = 0.0
    for level in range(t.num_load_levels):
        node = load_node(t, level, target)
        if node >= 0 and (source < 0 or node != load_node(t, level, source)):
            change += shift(
                t,
                s,
                node,
                group_of(t, item),
                extra_at(t, item, target),
                1,
                role_of(t, s, item),
            )
    return change


@inner
def price_at(t: Tables, item: int, place: int) -> int:
    """Return what it costs that the item ends in the bin `place`."""
    home = home_of(t, item)
    if place == home or place < 0:
        return 0
    price = t.price_across
    if home >= 0:
        first = BIN_NODES + t.num_load_levels + t.num_cap_levels
        for level in range(t.num_price_levels):
            node = t.bins[place * t.bin_width + first + level]
            if node >= 0 and node == t.bins[home * t.bin_width + first + level]:
                price = t.price[level]
                break
    cost = t.groups[group_of(t, item) * t.group_width + GROUP_COST]
    return cost * price + t.price_per_move


@inner
def count_in(t: Tables, s: State, level: int, node: int, group: int, but: int) -> int:
    """Count the items of a group in a node of a level with caps, one left out."""
    found = 0
    for item in range(first_item(t, group), first_item(t, group + 1)):
        place = s.bin_of[item]
        if item != but and place >= 0 and cap_node(t, level, place) == node:
            found += 1
    return found


@inner
def floor_of(t: Tables, level: int, node: int, group: int) -> int:
    """
    Return the fewest items of a group that an even spread leaves in a node.

    With the cap κ the least that fits the group, some node holds κ, so every other
    one with a free bin must hold κ - 1.
    """
    if t.is_even[level] == 0:
        return 0
    return min(cap_of(t, level, group) - 1, t.open_bins[node])


@inner
def is_short(t: Tables, s: State, level: int, node: int, group: int) -> bool:
    """Tell whether a node holds fewer items of a group than an even spread does."""
    floor = floor_of(t, level, node, group)
    return floor > 0 and count_in(t, s, level, node, group, -1) < floor


@inner
def keeps_caps(t: Tables, s: State, item: int, target: int) -> bool:
    """Tell whether the caps of the item's group hold, or get better, in `target`."""
    group = group_of(t, item)
    source = s.bin_of[item]
    for level in range(t.num_cap_levels):
        node = cap_node(t, level, target)
        old = -1
        if source >= 0:
            old = cap_node(t, level, source)
        if node < 0 or node == old:
            continue
        cap = cap_of(t, level, group)
        if cap == 0:
            continue
        found = count_in(t, s, level, node, group, item)
        left = 1 << 30
        if old >= 0:
            left = count_in(t, s, level, old, group, item)
        # Over the cap, or short: only where the other end is worse off.
        if found + 1 > cap and (old < 0 or left + 1 <= cap or found >= left):
            return False
        if old >= 0 and left < floor_of(t, level, old, group) and found >= left:
            return False
    return True


@inner
def has_room(
    t: Tables, s: State, group: int, item: int, target: int, has_item: int, role: int
) -> bool:
    """Tell whether hard capacities hold when an item or a role comes to `target`."""
    width = t.num_resources
    source = -1
    comes_home = False
    if item >= 0:
        source = s.bin_of[item]
        comes_home = home_of(t, item) == target
    first = group * t.group_width + GROUP_WEIGHTS
    for level in range(t.num_load_levels):
        node = load_node(t, level, target)
        if node < 0 or (source >= 0 and node == load_node(t, level, source)):
            continue
        for r in range(width):
            weight = has_item * t.groups[first + r] + role * t.groups[first + width + r]
            if weight <= 0:
                continue
            row = node * width + r
            load = s.loads[row * LOAD_WIDTH + LOAD_NOW]
            if t.is_transient[r] == 1 and not comes_home:
                load = s.loads[row * LOAD_WIDTH + LOAD_PEAK]
            if load + weight > t.limits[row * ROW_WIDTH + ROW_CAPACITY]:
                return False
    return True


@inner
def may_bring_role(t: Tables, item: int, target: int) -> bool:
    """Tell whether an item may take its group's role along to the bin `target`."""
    if t.bins[target * t.bin_width + BIN_LEADS] == 1:
        return True
    # Who held it there from the start may hold it there again.
    first = group_of(t, item) * t.group_width
    return target == home_of(t, item) and t.groups[first + GROUP_ROLE_HOME] == item


@inner
def is_vacated(t: Tables, item: int, target: int) -> bool:
    """
    Tell whether another item of the group must leave the bin `target`.

    Items of a group are interchangeable: one that came would be that one, staying.
    """
    group = group_of(t, item)
    for other in range(first_item(t, group), first_item(t, group + 1)):
        if kind_of(t, other) == MUST and home_of(t, other) == target:
            return True
    return False


@inner
def may_move(t: Tables, s: State, item: int, target: int) -> bool:
    """Tell whether every hard rule lets `item` go to the bin `target`."""
    kind = kind_of(t, item)
    source = s.bin_of[item]
    if kind == NEVER or target == source:
        return False
    if target == home_of(t, item):
        if kind == MUST:
            return False
    elif t.bins[target * t.bin_width + BIN_RECEIVES] == 0 or is_vacated(
        t, item, target
    ):
        return False
    group = group_of(t, item)
    group_class = t.groups[group * t.group_width + GROUP_CLASS]
    bin_class = t.bins[target * t.bin_width + BIN_CLASS]
    if t.is_eligible[group_class * t.num_bin_classes + bin_class] == 0:
        return False
    role = role_of(t, s, item)
    if role == 1 and not may_bring_role(t, item, target):
        return False
    return keeps_caps(t, s, item, target) and has_room(
        t, s, group, item, target, 1, role
    )


@inner
def role_change(t: Tables, s: State, group: int, item: int) -> float:
    """Return the change of penalty where `item` takes its group's role."""
    source = s.bin_of[s.role_of[group]]
    target = s.bin_of[item]
    change = 0.0
    for level in range(t.num_load_levels):
        old = load_node(t, level, source)
        new = load_node(t, level, target)
        if old == new:
            continue
        if old >= 0:
            change += shift(t, s, old, group, -1, 0, -1)
        if new >= 0:
            change += shift(t, s, new, group, -1, 0, 1)
    return change


@inner
def may_take_role(t: Tables, s: State, group: int, item: int) -> bool:
    """Tell whether every hard rule lets `item` take its group's role."""
    holder = s.role_of[group]
    place = s.bin_of[item]
    if holder < 0 or holder == item or place < 0 or s.bin_of[holder] < 0:
        return False
    if t.groups[group * t.group_width + GROUP_ROLE_MOVES] == 0:
        return False
    if t.bins[place * t.bin_width + BIN_LEADS] == 0:
        return False
    return has_room(t, s, group, -1, place, 0, 1)


@inner
def unlink(s: State, item: int) -> None:
    """Take an item out of the list of its bin."""
    place = s.bin_of[item]
    if place < 0:
        return
    after = s.links[item * LINK_WIDTH + LINK_AFTER]
    before = s.links[item * LINK_WIDTH + LINK_BEFORE]
    if s.ends[place * END_WIDTH + END_CURSOR] == item:
        s.ends[place * END_WIDTH + END_CURSOR] = after
    if before >= 0:
        s.links[before * LINK_WIDTH + LINK_AFTER] = after
    else:
        s.ends[place * END_WIDTH + END_HEAD] = after
    if after >= 0:
        s.links[after * LINK_WIDTH + LINK_BEFORE] = before


@inner
def link(s: State, item: int, target: int) -> None:
    """Put an item at the head of the list of a bin."""
    head = s.ends[target * END_WIDTH + END_HEAD]
    s.links[item * LINK_WIDTH + LINK_BEFORE] = -1
    s.links[item * LINK_WIDTH + LINK_AFTER] = head
    if head >= 0:
        s.links[head * LINK_WIDTH + LINK_BEFORE] = item
    s.ends[target * END_WIDTH + END_HEAD] = item


@inner
def add_item(t: Tables, s: State, node: int, item: int, place: int, sign: int) -> None:
    """Add an item with its role to a node's loads, or take it away."""
    width = t.num_resources
    first = group_of(t, item) * t.group_width + GROUP_WEIGHTS
    role = role_of(t, s, item)
    extra = extra_at(t, item, place)
    at_home = place == home_of(t, item)
    for r in range(width):
        weight = t.groups[first + r]
        if extra >= 0:
            weight += t.extra[extra * width + r]
        held = role * t.groups[first + width + r]
        row = (node * width + r) * LOAD_WIDTH
        s.loads[row + LOAD_NOW] += sign * (weight + held)
        # What leaves its home still fills it until the copy is done; a role does not.
        if at_home and t.is_transient[r] == 1:
            weight = 0
        s.loads[row + LOAD_PEAK] += sign * (weight + held)
    refresh(t, s, node)


@inner
def apply_move(t: Tables, s: State, item: int, target: int) -> None:
    """Move an item, its role with it, and bring loads and penalties up to date."""
    source = s.bin_of[item]
    for level in range(t.num_load_levels):
        old = -1
        if source >= 0:
            old = load_node(t, level, source)
        new = load_node(t, level, target)
        if old == new:
            continue
        if old >= 0:
            add_item(t, s, old, item, source, -1)
        if new >= 0:
            add_item(t, s, new, item, target, 1)
    unlink(s, item)
    link(s, item, target)
    s.bin_of[item] = target


@inner
def add_role(t: Tables, s: State, node: int, group: int, sign: int) -> None:
    """Add a group's role to a node's loads, or take it away."""
    width = t.num_resources
    first = group * t.group_width + GROUP_WEIGHTS + width
    for r in range(width):
        row = (node * width + r) * LOAD_WIDTH
        s.loads[row + LOAD_NOW] += sign * t.groups[first + r]
        s.loads[row + LOAD_PEAK] += sign * t.groups[first + r]
    refresh(t, s, node)


@inner
def apply_role(t: Tables, s: State, group: int, item: int) -> None:
    """Hand a group's role to `item`, and bring loads and penalties up to date."""
    source, target = s.bin_of[s.role_of[group]], s.bin_of[item]
    for level in range(t.num_load_levels):
        old = load_node(t, level, source)
        new = load_node(t, level, target)
        if old == new:
            continue
        if old >= 0:
            add_role(t, s, old, group, -1)
        if new >= 0:
            add_role(t, s, new, group, 1)
    s.role_of[group] = item
