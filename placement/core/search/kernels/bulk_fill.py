"""Bulk fill of empty bins, even in all resources."""

from placement.core.search.kernels.access import (
    MAY,
    bin_of,
    draw,
    group_of,
    home_of,
    item_at,
    kind_of,
    num_items_in,
    role_of,
)
from placement.core.search.kernels.changes import apply_move
from placement.core.search.kernels.jit import inner
from placement.core.search.kernels.layout import (
    EXCESS,
    FAT,
    FILL_UNIT,
    GROUP_WEIGHTS,
    GROUP_WIDTH,
    GROUPS,
    HUNGRY,
    IS_SHARED,
    LIMITS,
    LOAD_NOW,
    LOAD_WIDTH,
    LOADS,
    NUM_RESOURCES,
    ROW_CAPACITY,
    ROW_UPPER,
    ROW_WIDTH,
    SCALE,
    SHORT,
    SHORT_LIST,
)
from placement.core.search.kernels.legality import may_move
from placement.core.search.kernels.state import Memory

GIFTS = 6
"""Number of items a donor gives while its sample is in the cache."""
PATIENCE = 16.0
"""Number of failures in a row after which a bin counts as full."""


@inner
def mean_fill(m: Memory, place: int) -> float:
    """Return the mean ratio of loads to goals of a bin; -1 without goals."""
    total, counted = 0.0, 0
    for row in range(
        place * m.ints[NUM_RESOURCES], (place + 1) * m.ints[NUM_RESOURCES]
    ):
        if m.floats[m.ints[FILL_UNIT] + row] > 0.0:
            total += (
                m.ints[m.ints[LOADS] + row * LOAD_WIDTH + LOAD_NOW]
                * m.floats[m.ints[FILL_UNIT] + row]
            )
            counted += 1
    if counted == 0:
        return -1.0
    return total / counted


@inner
def fits_fill(m: Memory, item: int, place: int, donor: int) -> tuple[float, bool]:
    """
    Return the misfit of an item in a bin being filled, and whether the item fits.

    A bin is filled evenly: after the move, the ratios of load to goal should be equal
    in all resources. Loads of the donor above its shares reduce the misfit. Both terms
    are relative to the size of the item, so that large items, hence few moves, win.
    """
    width = m.ints[NUM_RESOURCES]
    first = group_of(m, item) * m.ints[GROUP_WIDTH] + GROUP_WEIGHTS
    role = role_of(m, item)
    counted, parts, filled, across, squares, relief = 0, 0.0, 0.0, 0.0, 0.0, 0.0
    for r in range(width):
        row = place * width + r
        unit = m.floats[m.ints[FILL_UNIT] + row]
        if unit > 0.0:
            weight = (
                m.ints[m.ints[GROUPS] + first + r]
                + role * m.ints[m.ints[GROUPS] + first + width + r]
            )
            load = m.ints[m.ints[LOADS] + row * LOAD_WIDTH + LOAD_NOW]
            if load + weight > m.ints[m.ints[LIMITS] + row * ROW_WIDTH + ROW_UPPER]:
                return 0.0, False
            part, now = weight * unit, load * unit
            counted += 1
            parts += part
            filled += now
            across += part * now
            squares += part * part
            away = donor * width + r
            lost = weight * m.floats[m.ints[SCALE] + away]
            over = (
                m.ints[m.ints[LOADS] + away * LOAD_WIDTH + LOAD_NOW]
                * m.floats[m.ints[SCALE] + away]
                - 1.0
            )
            relief += lost * (lost - 2.0 * over)
    if parts <= 0.0:
        return 0.0, False
    # Change of the sum of squared deviations from the mean.
    uneven = 2.0 * across + squares - parts * (2.0 * filled + parts) / counted
    return (uneven + relief) / parts, True


@inner
def excess_of(m: Memory, place: int) -> float:
    """
    Return the summed load of a bin above its shares, in targets.

    Resources without a lower end in any bin (such as limits per topic) do not count.
    """
    total = 0.0
    for r in range(m.ints[NUM_RESOURCES]):
        row = place * m.ints[NUM_RESOURCES] + r
        limit = row * ROW_WIDTH
        if m.ints[m.ints[IS_SHARED] + r] == 1 and (
            m.ints[m.ints[LIMITS] + limit + ROW_UPPER]
            < m.ints[m.ints[LIMITS] + limit + ROW_CAPACITY]
        ):
            total += (
                m.ints[m.ints[LOADS] + row * LOAD_WIDTH + LOAD_NOW]
                * m.floats[m.ints[SCALE] + row]
                - 1.0
            )
    return total


@inner
def is_filled(m: Memory, place: int) -> bool:
    """Return whether a bin has reached its goal in any resource."""
    for r in range(m.ints[NUM_RESOURCES]):
        row = place * m.ints[NUM_RESOURCES] + r
        if (
            m.ints[m.ints[LOADS] + row * LOAD_WIDTH + LOAD_NOW]
            * m.floats[m.ints[FILL_UNIT] + row]
            >= 1.0
        ):
            return True
    return False


@inner
def draw_donor(m: Memory, num: int) -> int:
    """Draw two donors and return the one with the larger excess."""
    donor, rival = (
        m.ints[m.ints[FAT] + draw(m, num)],
        m.ints[m.ints[FAT] + draw(m, num)],
    )
    if m.floats[m.ints[EXCESS] + rival] > m.floats[m.ints[EXCESS] + donor]:
        return rival
    return donor


@inner
def sample_items(m: Memory, donor: int) -> int:
    """Draw movable items of a donor into the short list; return their number."""
    count, kept = num_items_in(m, donor), 0
    if count == 0:
        return 0
    for rank in range(SHORT_LIST):
        m.ints[m.ints[SHORT] + rank] = item_at(m, donor, draw(m, count))
    for rank in range(SHORT_LIST):
        item = m.ints[m.ints[SHORT] + rank]
        if kind_of(m, item) == MAY and home_of(m, item) == donor:
            m.ints[m.ints[SHORT] + kept] = item
            kept += 1
    return kept


@inner
def give(m: Memory, donor: int, place: int, kept: int) -> int:
    """Move the best fitting item of the short list; return its rank, or -1."""
    best, best_score = -1, 0.0
    for rank in range(kept):
        item = m.ints[m.ints[SHORT] + rank]
        score, fits = fits_fill(m, item, place, donor)
        is_best = fits and (best < 0 or score < best_score)
        if is_best and bin_of(m, item) == donor and may_move(m, item, place):
            best, best_score = rank, score
    if best >= 0:
        apply_move(m, m.ints[m.ints[SHORT] + best], place)
    return best


@inner
def give_some(m: Memory, donor: int, num_empty: int, turn: int) -> tuple[int, int]:
    """
    Move a few items of a donor to bins being filled, to one bin after the other.

    `num_empty` bins of the list are still to be filled. A bin that is full, or has
    failed too often, is dropped. Returns the numbers of items moved and of bins left.
    """
    kept, moved = sample_items(m, donor), 0
    for step in range(GIFTS):
        if num_empty == 0:
            break
        row = m.ints[HUNGRY] + (turn + step) % num_empty
        place = m.ints[row]
        rank = -1
        if not is_filled(m, place):
            rank = give(m, donor, place, kept)
            m.floats[m.ints[EXCESS] + place] += 1.0
        if rank >= 0:
            moved += 1
            kept -= 1
            m.ints[m.ints[SHORT] + rank] = m.ints[m.ints[SHORT] + kept]
            m.floats[m.ints[EXCESS] + place] = 0.0
        elif is_filled(m, place) or m.floats[m.ints[EXCESS] + place] > PATIENCE:
            num_empty -= 1
            m.ints[row] = m.ints[m.ints[HUNGRY] + num_empty]
    m.floats[m.ints[EXCESS] + donor] = excess_of(m, donor)
    return moved, num_empty
