"""Relocation: the move or pair of moves with the largest gain per price."""

from placement.core.search.kernels.access import (
    bin_of,
    cost_of,
    cursor_of,
    draw,
    home_of,
    is_receiving,
    item_at,
    load_node,
    num_items_in,
    pass_on,
    penalty_of,
)
from placement.core.search.kernels.changes import apply_move
from placement.core.search.kernels.jit import inner
from placement.core.search.kernels.layout import (
    BASE_PRICE,
    BLOCK,
    BLOCK_IS_KNOWN,
    BLOCK_WORST,
    FAT,
    HUNGRY,
    IS_WIDE,
    LIMITS,
    LOAD_NOW,
    LOAD_WIDTH,
    LOADS,
    NUM_BINS,
    NUM_LOAD_LEVELS,
    NUM_RECEIVERS,
    NUM_RESOURCES,
    PENALTY,
    PRICE_PER_MOVE,
    RECEIVERS,
    ROW_LOWER,
    ROW_UPPER,
    ROW_WIDTH,
    SHORT,
    STUCK,
    WORTH,
)
from placement.core.search.kernels.legality import may_move
from placement.core.search.kernels.penalty import (
    arrive_change,
    forget_all_worst,
    forget_worst,
    is_better,
    leave_change,
    price_at,
)
from placement.core.search.kernels.placing import ALL_BINS, FINALISTS, SAMPLE
from placement.core.search.kernels.prefetch import AT_ONCE, touch_items
from placement.core.search.kernels.state import Memory

CHAIN_GAIN = 1e-3
"""Fraction of a bin's penalty that a pair of moves must gain, for termination."""
WIDE_SCAN = 256
"""Number of items of a bin for which all bins are tried; each scan takes others."""
CHAIN_SCAN = 24
"""Number of items of a bin from which pairs of moves start."""


@inner
def score_of(m: Memory, item: int, target: int, gain: float) -> float:
    """Return the gain per unit of price; a free move beats all others."""
    price = price_at(m, item, target) - price_at(m, item, bin_of(m, item))
    if price <= 0:
        return gain * 1e30
    return gain / (price + m.floats[BASE_PRICE])


@inner
def shorten(m: Memory, kept: int, item: int, worth: float) -> int:
    """Insert an item into the short list if it is worth more than the last one."""
    if kept == FINALISTS and worth <= m.floats[m.ints[WORTH] + kept - 1]:
        return kept
    at = kept
    if kept == FINALISTS:
        at = kept - 1
    while at > 0 and m.floats[m.ints[WORTH] + at - 1] < worth:
        m.floats[m.ints[WORTH] + at], m.ints[m.ints[SHORT] + at] = (
            m.floats[m.ints[WORTH] + at - 1],
            m.ints[m.ints[SHORT] + at - 1],
        )
        at -= 1
    m.floats[m.ints[WORTH] + at], m.ints[m.ints[SHORT] + at] = worth, item
    return min(kept + 1, FINALISTS)


@inner
def short_list(m: Memory, place: int, scan: int) -> int:
    """Collect the items of a bin whose departure gains most; return their number."""
    kept, count, cursor = 0, num_items_in(m, place), cursor_of(m, place)
    looked = min(scan, count)
    for step in range(looked):
        if step % AT_ONCE == 0:
            touch_items(m, place, cursor + step, min(AT_ONCE, looked - step))
        item = item_at(m, place, (cursor + step) % count)
        gain = -leave_change(m, item, -1)
        if gain > 0.0:
            price = m.floats[BASE_PRICE]
            if home_of(m, item) == place:
                price += cost_of(m, item) + m.ints[PRICE_PER_MOVE]
            kept = shorten(m, kept, item, gain / price)
    pass_on(m, place, looked)
    return kept


@inner
def num_tries(m: Memory) -> int:
    """Return the number of bins to try: all of few, a sample of many."""
    if tries_all(m):
        return m.ints[NUM_BINS]
    return SAMPLE


@inner
def tries_all(m: Memory) -> bool:
    """Return whether every bin is tried as the other end of a move."""
    return m.ints[NUM_BINS] <= ALL_BINS or m.ints[IS_WIDE] == 1


@inner
def other_bin(m: Memory, attempt: int, liked: int, num: int) -> int:
    """Return the bin to try: the next, or a random one, every second from a list."""
    if tries_all(m):
        return attempt
    if attempt % 2 == 0 and num > 0:
        return m.ints[liked + draw(m, num)]
    return draw(m, m.ints[NUM_BINS])


@inner
def bin_to_fill(m: Memory, attempt: int, num: int) -> int:
    """Return a bin to try as a target: as `other_bin`, among receiving bins."""
    if tries_all(m) or (attempt % 2 == 0 and num > 0):
        return other_bin(m, attempt, m.ints[HUNGRY], num)
    if m.ints[NUM_RECEIVERS] == 0:
        return -1
    return m.ints[m.ints[RECEIVERS] + draw(m, m.ints[NUM_RECEIVERS])]


@inner
def best_out(m: Memory, place: int, num: int, scan: int) -> tuple[int, int, float]:
    """Return the best move out of a bin by gain per price: item, target, score."""
    best_item, best_target, best_score = -1, -1, 0.0
    scale = penalty_of(m, place)
    for rank in range(short_list(m, place, scan)):
        item = m.ints[m.ints[SHORT] + rank]
        leave = leave_change(m, item, -1)
        for attempt in range(-1, num_tries(m)):
            target = home_of(m, item)
            if attempt >= 0:
                target = bin_to_fill(m, attempt, num)
            if target < 0 or target == place:
                continue
            if not is_receiving(m, target) and target != home_of(m, item):
                continue
            if m.ints[NUM_LOAD_LEVELS] > 1:
                leave = leave_change(m, item, target)
            gain = -leave - arrive_change(m, item, target)
            if not is_better(gain, scale):
                continue
            score = score_of(m, item, target, gain)
            if score > best_score and may_move(m, item, target):
                best_item, best_target, best_score = item, target, score
    return best_item, best_target, best_score


@inner
def best_in(m: Memory, place: int, num: int, scan: int) -> tuple[int, float]:
    """Return the best move into a bin by gain per price: item, score."""
    best_item, best_score = -1, 0.0
    if not is_receiving(m, place):
        return best_item, best_score
    scale = penalty_of(m, place)
    tries = num_tries(m)
    if not tries_all(m):
        tries = SAMPLE // 2
    share = max(2, scan // tries)
    for attempt in range(tries):
        source = other_bin(m, attempt, m.ints[FAT], num)
        if source == place:
            continue
        count, cursor = num_items_in(m, source), cursor_of(m, source)
        looked = min(share, count)
        for step in range(looked):
            if step % AT_ONCE == 0:
                touch_items(m, source, cursor + step, min(AT_ONCE, looked - step))
            item = item_at(m, source, (cursor + step) % count)
            gain = -arrive_change(m, item, place)
            if gain > 0.0:
                gain -= leave_change(m, item, place)
                if is_better(gain, scale):
                    score = score_of(m, item, place, gain)
                    if score > best_score and may_move(m, item, place):
                        best_item, best_score = item, score
        pass_on(m, source, looked)
    return best_item, best_score


@inner
def is_outside(m: Memory, place: int, field: int) -> bool:
    """Return whether a bin is above its band (`ROW_UPPER`) or below it."""
    width = m.ints[NUM_RESOURCES]
    for level in range(m.ints[NUM_LOAD_LEVELS]):
        node = load_node(m, level, place)
        if node < 0:
            continue
        for row in range(node * width, (node + 1) * width):
            load = m.ints[m.ints[LOADS] + row * LOAD_WIDTH + LOAD_NOW]
            limit = m.ints[m.ints[LIMITS] + row * ROW_WIDTH + field]
            if (field == ROW_UPPER and load > limit) or (
                field == ROW_LOWER and load < limit
            ):
                return True
    return False


@inner
def relieve(
    m: Memory,
    place: int,
    num_hungry: int,
    num_fat: int,
    scan: int,
) -> bool:
    """Apply the best move out of a bin or into it, by gain per price."""
    item, target, score = -1, -1, 0.0
    if is_outside(m, place, ROW_UPPER):
        item, target, score = best_out(m, place, num_hungry, scan)
    if is_outside(m, place, ROW_LOWER):
        other, worth = best_in(m, place, num_fat, scan)
        if worth > score:
            item, target = other, place
    if item < 0:
        return False
    apply_move(m, item, target)
    return True


@inner
def relieve_at_any_price(m: Memory, place: int, num_hungry: int, scan: int) -> bool:
    """Try every bin as a target of a move, then pairs of moves."""
    if is_outside(m, place, ROW_UPPER):
        m.ints[IS_WIDE] = 1
        item, target, _ = best_out(m, place, num_hungry, WIDE_SCAN)
        m.ints[IS_WIDE] = 0
        if item >= 0:
            apply_move(m, item, target)
            return True
    return relieve_by_chain(m, place, min(scan, CHAIN_SCAN))


@inner
def best_follower(
    m: Memory, item: int, back: int, price: int, first: float, scan: int
) -> tuple[int, int, float]:
    """
    Return the best second move after an item has just moved: item, end, score.

    The second item goes to the first one's old bin `back`, or to its home. The latter
    evens out bins that may only lose items.
    """
    target = bin_of(m, item)
    best_other, best_end, best_score = -1, -1, 0.0
    scale = m.floats[m.ints[PENALTY] + load_node(m, 0, back)] - first
    count, cursor = num_items_in(m, target), cursor_of(m, target)
    slot, looked = 0, 0
    touch_items(m, target, cursor, scan)
    while slot < count and looked < scan:
        other = item_at(m, target, (cursor + slot) % count)
        slot += 1
        if other == item:
            continue
        looked += 1
        for choice in range(2):
            end = back
            if choice == 1:
                end = home_of(m, other)
            if end < 0 or end == target:
                continue
            leave = leave_change(m, other, end)
            gain = -first - leave - arrive_change(m, other, end)
            if gain < CHAIN_GAIN * scale or not is_better(gain, scale):
                continue
            both = price + price_at(m, other, end) - price_at(m, other, target)
            score = gain * 1e30
            if both > 0:
                score = gain / (both + m.floats[BASE_PRICE])
            if score > best_score and may_move(m, other, end):
                best_other, best_end, best_score = other, end, score
    return best_other, best_end, best_score


@inner
def relieve_by_chain(m: Memory, place: int, scan: int) -> bool:
    """Apply the best pair of moves: an item out of a bin, and another in return."""
    best_item, best_target, best_other, best_end = -1, -1, -1, -1
    best_score = 0.0
    tries = min(m.ints[NUM_BINS], SAMPLE // 2)
    if m.ints[NUM_BINS] <= ALL_BINS:
        tries = m.ints[NUM_BINS]
    count, cursor = num_items_in(m, place), cursor_of(m, place)
    looked = min(scan, count)
    for step in range(looked):
        item = item_at(m, place, (cursor + step) % count)
        for attempt in range(tries):
            target = bin_to_fill(m, attempt, 0)
            if target < 0 or target == place or not may_move(m, item, target):
                continue
            first = leave_change(m, item, target) + arrive_change(m, item, target)
            price = price_at(m, item, target) - price_at(m, item, place)
            apply_move(m, item, target)
            other, end, score = best_follower(m, item, place, price, first, scan // 2)
            apply_move(m, item, place)
            if score > best_score:
                best_item, best_target, best_score = item, target, score
                best_other, best_end = other, end
    pass_on(m, place, looked)
    if best_item < 0:
        return False
    apply_move(m, best_item, best_target)
    apply_move(m, best_other, best_end)
    return True


@inner
def penalty_over_levels(m: Memory, place: int) -> float:
    """Return the sum of the penalties of a bin and of its nodes."""
    total = 0.0
    for level in range(m.ints[NUM_LOAD_LEVELS]):
        node = load_node(m, level, place)
        if node >= 0:
            total += m.floats[m.ints[PENALTY] + node]
    return total


@inner
def worst_of_block(m: Memory, block: int) -> int:
    """Return the bin of a block with the largest penalty and not stuck, or -1."""
    if m.ints[m.ints[BLOCK_IS_KNOWN] + block] == 1:
        return m.ints[m.ints[BLOCK_WORST] + block]
    best, best_penalty = -1, 0.0
    for place in range(block * BLOCK, min((block + 1) * BLOCK, m.ints[NUM_BINS])):
        if m.ints[m.ints[STUCK] + place] == 0:
            penalty = penalty_over_levels(m, place)
            if penalty > best_penalty:
                best, best_penalty = place, penalty
    m.ints[m.ints[BLOCK_WORST] + block] = best
    m.ints[m.ints[BLOCK_IS_KNOWN] + block] = 1
    return best


@inner
def worst_bin(m: Memory) -> int:
    """Return the bin with the largest penalty over its nodes and not stuck, or -1."""
    best, best_penalty = -1, 0.0
    for block in range((m.ints[NUM_BINS] + BLOCK - 1) // BLOCK):
        place = worst_of_block(m, block)
        if place >= 0:
            penalty = penalty_over_levels(m, place)
            if penalty > best_penalty:
                best, best_penalty = place, penalty
    return best


@inner
def give_up(m: Memory, place: int) -> None:
    """Mark a bin as stuck, to be skipped until `unstick`."""
    m.ints[m.ints[STUCK] + place] = 1
    forget_worst(m, place)


@inner
def unstick(m: Memory) -> None:
    """Mark all bins as not stuck."""
    for place in range(m.ints[NUM_BINS]):
        m.ints[m.ints[STUCK] + place] = 0
    forget_all_worst(m)


@inner
def split_bins(m: Memory) -> tuple[int, int]:
    """List the bins below a band and those above one; return both numbers."""
    num_hungry, num_fat = 0, 0
    for place in range(m.ints[NUM_BINS]):
        node = load_node(m, 0, place)
        if node < 0 or m.floats[m.ints[PENALTY] + node] == 0.0:
            continue
        if is_outside(m, place, ROW_LOWER):
            m.ints[m.ints[HUNGRY] + num_hungry] = place
            num_hungry += 1
        if is_outside(m, place, ROW_UPPER):
            m.ints[m.ints[FAT] + num_fat] = place
            num_fat += 1
    return num_hungry, num_fat
