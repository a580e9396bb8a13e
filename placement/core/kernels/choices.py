"""Which move, role change or pair of moves is best: the choices of the stages."""

from placement.core.kernels.jit import inner
from placement.core.kernels.moves import (
    NEVER,
    apply_move,
    apply_role,
    arrive_change,
    cap_node,
    cap_of,
    count_in,
    draw,
    first_item,
    group_of,
    home_of,
    is_short,
    kind_of,
    leave_change,
    load_node,
    may_move,
    may_take_role,
    price_at,
    role_change,
    role_of,
)
from placement.core.kernels.tables import (
    BIN_RECEIVES,
    END_CURSOR,
    END_HEAD,
    END_WIDTH,
    GROUP_ROLE_MOVES,
    GROUP_WEIGHTS,
    LINK_AFTER,
    LINK_WIDTH,
    LOAD_NOW,
    LOAD_WIDTH,
    ROW_LOWER,
    ROW_UPPER,
    ROW_WIDTH,
    State,
    Tables,
)

ALL_BINS = 32
"""Up to so many bins, every one is tried as a target; above, a sample."""
SAMPLE = 24
"""Targets sampled for one item."""
TINY = 1e-9
"""Least relative gain: below it, float noise could make moves go in circles."""


@inner
def is_better(gain: float, scale: float) -> bool:
    """Tell a real gain from the noise of float sums."""
    return gain > TINY * scale and gain > 1e-18


@inner
def fill_change(t: Tables, s: State, item: int, target: int) -> float:
    """Return the change of the summed squared fill of a bin when an item comes."""
    width = t.num_resources
    first = group_of(t, item) * t.group_width + GROUP_WEIGHTS
    role = role_of(t, s, item)
    change = 0.0
    node = load_node(t, 0, target)
    for r in range(width):
        row = node * width + r
        weight = t.groups[first + r] + role * t.groups[first + width + r]
        if weight > 0:
            unit = t.scale[row]
            load = s.loads[row * LOAD_WIDTH + LOAD_NOW]
            change += (2.0 * load + weight) * weight * unit * unit
    return change


@inner
def best_bin(t: Tables, s: State, item: int) -> int:
    """Return the legal bin where an item adds least to penalty and fill, or -1."""
    best, best_score = -1, 0.0
    tries = t.num_bins
    is_sampled = t.num_bins > 2 * ALL_BINS
    if is_sampled:
        tries = 2 * SAMPLE
    for attempt in range(tries + t.num_bins):
        if attempt < tries and is_sampled:
            target = draw(s, t.num_bins)
        elif attempt >= tries:
            # Nothing legal among those tried: look at every bin, once.
            if best >= 0 or not is_sampled:
                break
            target = attempt - tries
        else:
            target = attempt
        if not may_move(t, s, item, target):
            continue
        score = 1000.0 * arrive_change(t, s, item, target)
        score += fill_change(t, s, item, target)
        if best < 0 or score < best_score:
            best, best_score = target, score
    return best


@inner
def best_heir(t: Tables, s: State, group: int) -> int:
    """Return the item that takes its group's role with least penalty, or -1."""
    best, best_change = -1, 0.0
    for item in range(first_item(t, group), first_item(t, group + 1)):
        if may_take_role(t, s, group, item):
            change = role_change(t, s, group, item)
            if best < 0 or change < best_change:
                best, best_change = item, change
    return best


@inner
def put(t: Tables, s: State, item: int) -> bool:
    """Put an item where it fits best; without its role where that goes nowhere."""
    target = best_bin(t, s, item)
    if target < 0 and role_of(t, s, item) == 1:
        group = group_of(t, item)
        heir = best_heir(t, s, group)
        if heir >= 0:
            apply_role(t, s, group, heir)
            target = best_bin(t, s, item)
            if target < 0:
                apply_role(t, s, group, item)
    if target >= 0:
        apply_move(t, s, item, target)
    return target >= 0


@inner
def has_short_node(t: Tables, s: State, level: int, group: int) -> bool:
    """Tell whether some node holds fewer items of a group than an even spread does."""
    if t.is_even[level] == 0 or cap_of(t, level, group) < 2:
        return False
    for node in range(t.node_first[level], t.node_first[level + 1]):
        if is_short(t, s, level, node, group):
            return True
    return False


@inner
def crowded_item(t: Tables, s: State, level: int, group: int, most: int) -> int:
    """Return a movable item of the node that holds most of a group, over `most`."""
    worst, worst_found, worst_ease = -1, most, 0
    for item in range(first_item(t, group), first_item(t, group + 1)):
        place_now = s.bin_of[item]
        if place_now < 0 or kind_of(t, item) == NEVER:
            continue
        node = cap_node(t, level, place_now)
        if node < 0:
            continue
        found = count_in(t, s, level, node, group, -1)
        # One that has moved already costs nothing more, a follower no role change.
        ease = 1 - role_of(t, s, item)
        if place_now != home_of(t, item):
            ease += 2
        if found > worst_found or (
            worst >= 0 and found == worst_found and ease > worst_ease
        ):
            worst, worst_found, worst_ease = item, found, ease
    return worst


@inner
def best_spread_bin(
    t: Tables, s: State, item: int, level: int, only_short: bool
) -> int:
    """Return the best legal bin outside the item's node of a level, or -1."""
    best, best_score = -1, 0.0
    own = cap_node(t, level, s.bin_of[item])
    for target in range(t.num_bins):
        node = cap_node(t, level, target)
        if node == own or not may_move(t, s, item, target):
            continue
        if only_short and not is_short(t, s, level, node, group_of(t, item)):
            continue
        score = 1000.0 * (
            arrive_change(t, s, item, target) + leave_change(t, s, item, target)
        )
        score += fill_change(t, s, item, target)
        if best < 0 or score < best_score:
            best, best_score = target, score
    return best


@inner
def respread_group(t: Tables, s: State, level: int, group: int) -> bool:
    """Move items of one group until no node holds too many or too few of them."""
    cap = cap_of(t, level, group)
    if cap == 0:
        return True
    for _ in range(first_item(t, group + 1) - first_item(t, group)):
        short = has_short_node(t, s, level, group)
        item = crowded_item(t, s, level, group, cap)
        if item < 0 and short:
            item = crowded_item(t, s, level, group, 1)
        if item < 0:
            return not short
        target = best_spread_bin(t, s, item, level, short)
        if target < 0:
            return False
        apply_move(t, s, item, target)
    return True


@inner
def wants_roles(t: Tables, s: State, place_now: int) -> bool:
    """Tell whether a bin is out of band where role changes could help."""
    for level in range(t.num_load_levels):
        node = load_node(t, level, place_now)
        if node >= 0:
            for r in range(t.num_resources):
                if t.is_of_role[r] == 1 and s.distance[node * t.num_resources + r] > 0:
                    return True
    return False


@inner
def improve_roles(t: Tables, s: State, place_now: int) -> bool:
    """Do the best role change that touches a bin; it costs nothing to copy."""
    best_group, best_item, best_gain = -1, -1, 0.0
    if not wants_roles(t, s, place_now):
        return False
    scale = 0.0
    for level in range(t.num_load_levels):
        node = load_node(t, level, place_now)
        if node >= 0:
            scale += s.penalty[node]
    item = s.ends[place_now * END_WIDTH + END_HEAD]
    while item >= 0:
        group = group_of(t, item)
        if (
            t.groups[group * t.group_width + GROUP_ROLE_MOVES] == 1
            and s.role_of[group] >= 0
        ):
            if s.role_of[group] == item:
                for other in range(first_item(t, group), first_item(t, group + 1)):
                    if other != item and s.bin_of[other] >= 0:
                        gain = -role_change(t, s, group, other)
                        if gain > best_gain and may_take_role(t, s, group, other):
                            best_group, best_item, best_gain = group, other, gain
            else:
                gain = -role_change(t, s, group, item)
                if gain > best_gain and may_take_role(t, s, group, item):
                    best_group, best_item, best_gain = group, item, gain
        item = s.links[item * LINK_WIDTH + LINK_AFTER]
    if best_group < 0 or not is_better(best_gain, scale):
        return False
    apply_role(t, s, best_group, best_item)
    return True


@inner
def score_of(t: Tables, s: State, item: int, target: int, gain: float) -> float:
    """Return the gain per unit of price; a move that costs nothing beats all others."""
    price = price_at(t, item, target) - price_at(t, item, s.bin_of[item])
    if price <= 0:
        return gain * 1e30
    return gain / (price + t.base_price)


@inner
def shed_best(
    t: Tables, s: State, place_now: int, hungry: list[int], num: int, scan: int
) -> bool:
    """Do the best move out of a bin, by gain per price."""
    best_item, best_target, best_score = -1, -1, 0.0
    scale = s.penalty[load_node(t, 0, place_now)]
    item = s.ends[place_now * END_WIDTH + END_CURSOR]
    if item < 0:
        item = s.ends[place_now * END_WIDTH + END_HEAD]
    first = item
    scanned = 0
    while item >= 0 and scanned < scan:
        scanned += 1
        if kind_of(t, item) != NEVER:
            tries = t.num_bins
            if t.num_bins > ALL_BINS:
                tries = SAMPLE
            leave = leave_change(t, s, item, -1)
            if leave >= 0.0:
                tries = 0
            for attempt in range(tries):
                target = attempt
                if t.num_bins > ALL_BINS:
                    if attempt % 2 == 0 and num > 0:
                        target = hungry[draw(s, num)]
                    else:
                        target = draw(s, t.num_bins)
                if target == place_now:
                    continue
                if t.num_load_levels > 1:
                    leave = leave_change(t, s, item, target)
                gain = -leave - arrive_change(t, s, item, target)
                if not is_better(gain, scale):
                    continue
                score = score_of(t, s, item, target, gain)
                if score > best_score and may_move(t, s, item, target):
                    best_item, best_target, best_score = item, target, score
        item = s.links[item * LINK_WIDTH + LINK_AFTER]
        if item < 0:
            item = s.ends[place_now * END_WIDTH + END_HEAD]
        if item == first:
            break
    s.ends[place_now * END_WIDTH + END_CURSOR] = item
    if best_item < 0:
        return False
    apply_move(t, s, best_item, best_target)
    return True


@inner
def draw_best(
    t: Tables, s: State, place_now: int, fat: list[int], num: int, scan: int
) -> bool:
    """Do the best move into a bin, by gain per price."""
    if t.bins[place_now * t.bin_width + BIN_RECEIVES] == 0:
        return False
    best_item, best_score = -1, 0.0
    scale = s.penalty[load_node(t, 0, place_now)]
    tries = t.num_bins
    if t.num_bins > ALL_BINS:
        tries = SAMPLE
    share = max(4, scan * 4 // tries)
    for attempt in range(tries):
        source = attempt
        if t.num_bins > ALL_BINS:
            if attempt % 2 == 0 and num > 0:
                source = fat[draw(s, num)]
            else:
                source = draw(s, t.num_bins)
        if source == place_now:
            continue
        item = s.ends[source * END_WIDTH + END_CURSOR]
        if item < 0:
            item = s.ends[source * END_WIDTH + END_HEAD]
        first, scanned = item, 0
        while item >= 0 and scanned < share:
            scanned += 1
            if kind_of(t, item) != NEVER:
                gain = -arrive_change(t, s, item, place_now)
                if gain > 0.0:
                    gain -= leave_change(t, s, item, place_now)
                    if is_better(gain, scale):
                        score = score_of(t, s, item, place_now, gain)
                        if score > best_score and may_move(t, s, item, place_now):
                            best_item, best_score = item, score
            item = s.links[item * LINK_WIDTH + LINK_AFTER]
            if item < 0:
                item = s.ends[source * END_WIDTH + END_HEAD]
            if item == first:
                break
        s.ends[source * END_WIDTH + END_CURSOR] = item
    if best_item < 0:
        return False
    apply_move(t, s, best_item, place_now)
    return True


@inner
def chain_best(t: Tables, s: State, place_now: int, scan: int) -> bool:
    """
    Move an item out of a bin while another one makes room for it, where that gains.

    The other item takes the first one's old place, or goes home: the latter is how
    bins that may only lose items are brought level.
    """
    scale = s.penalty[load_node(t, 0, place_now)]
    best_item, best_other, best_end, best_score = -1, -1, -1, 0.0
    tries = t.num_bins
    if t.num_bins > ALL_BINS:
        tries = SAMPLE // 2
    item = s.ends[place_now * END_WIDTH + END_HEAD]
    scanned = 0
    while item >= 0 and scanned < scan:
        following = s.links[item * LINK_WIDTH + LINK_AFTER]
        scanned += 1
        if kind_of(t, item) == NEVER:
            item = following
            continue
        for attempt in range(tries):
            target = attempt
            if t.num_bins > ALL_BINS:
                target = draw(s, t.num_bins)
            if target == place_now or not may_move(t, s, item, target):
                continue
            first = leave_change(t, s, item, target) + arrive_change(t, s, item, target)
            price = price_at(t, item, target) - price_at(t, item, place_now)
            apply_move(t, s, item, target)
            other, looked = s.links[item * LINK_WIDTH + LINK_AFTER], 0
            while other >= 0 and looked < scan // 2:
                looked += 1
                leave = leave_change(t, s, other, -1)
                for choice in range(2):
                    end = place_now
                    if choice == 1:
                        end = home_of(t, other)
                    if end < 0 or end == target:
                        continue
                    if t.num_load_levels > 1:
                        leave = leave_change(t, s, other, end)
                    gain = -first - leave - arrive_change(t, s, other, end)
                    if not is_better(gain, scale):
                        continue
                    both = price + price_at(t, other, end) - price_at(t, other, target)
                    score = gain * 1e30
                    if both > 0:
                        score = gain / (both + t.base_price)
                    if score > best_score and may_move(t, s, other, end):
                        best_item, best_other, best_end = item, other, end
                        best_score = score
                other = s.links[other * LINK_WIDTH + LINK_AFTER]
            apply_move(t, s, item, place_now)
        item = following
    if best_item < 0:
        return False
    target = s.bin_of[best_other]
    apply_move(t, s, best_item, target)
    apply_move(t, s, best_other, best_end)
    return True


@inner
def worst_bin(t: Tables, s: State, stuck: list[int]) -> int:
    """Return the bin with the largest penalty over its nodes that is not stuck."""
    best, best_penalty = -1, 0.0
    for place_now in range(t.num_bins):
        if stuck[place_now] == 0:
            penalty = 0.0
            for level in range(t.num_load_levels):
                node = load_node(t, level, place_now)
                if node >= 0:
                    penalty += s.penalty[node]
            if penalty > best_penalty:
                best, best_penalty = place_now, penalty
    return best


@inner
def split_bins(
    t: Tables, s: State, hungry: list[int], fat: list[int]
) -> tuple[int, int]:
    """List the bins under a band and those over one; return how many of each."""
    num_hungry, num_fat = 0, 0
    width = t.num_resources
    for place_now in range(t.num_bins):
        node = load_node(t, 0, place_now)
        if node < 0 or s.penalty[node] == 0.0:
            continue
        under, over = False, False
        for row in range(node * width, (node + 1) * width):
            load = s.loads[row * LOAD_WIDTH + LOAD_NOW]
            if load < t.limits[row * ROW_WIDTH + ROW_LOWER]:
                under = True
            elif load > t.limits[row * ROW_WIDTH + ROW_UPPER]:
                over = True
        if under:
            hungry[num_hungry] = place_now
            num_hungry += 1
        if over:
            fat[num_fat] = place_now
            num_fat += 1
    return num_hungry, num_fat
