"""Bins that are empty are filled in bulk, evenly in all resources."""

from placement.core.kernels.access import (
    MAY,
    draw,
    group_of,
    home_of,
    item_at,
    kind_of,
    num_items_in,
    role_of,
)
from placement.core.kernels.changes import apply_move
from placement.core.kernels.jit import inner
from placement.core.kernels.layout import (
    EXCESS,
    FAT,
    FILL_UNIT,
    GROUP_WEIGHTS,
    GROUP_WIDTH,
    GROUPS,
    LIMITS,
    LOAD_NOW,
    LOAD_WIDTH,
    LOADS,
    NUM_RESOURCES,
    ROW_CAPACITY,
    ROW_UPPER,
    ROW_WIDTH,
    SCALE,
)
from placement.core.kernels.legal import may_move
from placement.core.kernels.memory import Memory


@inner
def mean_fill(m: Memory, place: int) -> float:
    """Return the mean part of its goals that a bin holds; -1 if it has none."""
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
    Return how badly an item aligns with what a bin still lacks, and whether it fits.

    A bin is filled evenly: after the item, the parts of the goal that are filled
    should be alike in all resources. What the donor has above its share counts in
    favour. Both per size, so that large items, hence few moves, win among equals.
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
    # The change of the sum of squares around the mean, written out.
    uneven = 2.0 * across + squares - parts * (2.0 * filled + parts) / counted
    return (uneven + relief) / parts, True


@inner
def excess_of(m: Memory, place: int) -> float:
    """Return the sum of what a bin has above its shares, in targets."""
    total = 0.0
    for r in range(m.ints[NUM_RESOURCES]):
        row = place * m.ints[NUM_RESOURCES] + r
        limit = row * ROW_WIDTH
        if (
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
    """Tell whether a bin has reached its goal in what it is measured by."""
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
    """Draw two donors and return the one with more above its shares."""
    donor, rival = (
        m.ints[m.ints[FAT] + draw(m, num)],
        m.ints[m.ints[FAT] + draw(m, num)],
    )
    if m.floats[m.ints[EXCESS] + rival] > m.floats[m.ints[EXCESS] + donor]:
        return rival
    return donor


@inner
def pull(m: Memory, place: int, num: int, samples: int) -> bool:
    """Move the item that aligns best of a sample from the donors into a bin."""
    best, best_score, giver = -1, 0.0, -1
    for _ in range(samples):
        donor = draw_donor(m, num)
        count = num_items_in(m, donor)
        if count == 0:
            continue
        item = item_at(m, donor, draw(m, count))
        if kind_of(m, item) != MAY or home_of(m, item) != donor:
            continue
        score, fits = fits_fill(m, item, place, donor)
        if fits and (best < 0 or score < best_score) and may_move(m, item, place):
            best, best_score, giver = item, score, donor
    if best < 0:
        return False
    apply_move(m, best, place)
    m.floats[m.ints[EXCESS] + giver] = excess_of(m, giver)
    return True
