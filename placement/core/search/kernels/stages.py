"""
Stages of the search, each an entry point for the compiler.

`place` places items that must move, `respread` repairs group caps, `fill` fills empty
bins, `level_roles`, `balance` and `trade_roles` bring nodes into their bands, `trim`
reduces the cost, `shake` ruins and recreates parts of the answer.
"""

from placement.core.search.kernels.access import (
    MUST,
    bin_of,
    draw,
    holder_of,
    home_of,
    is_receiving,
    kind_of,
    num_items_in,
)
from placement.core.search.kernels.bulk_fill import (
    GIFTS,
    draw_donor,
    excess_of,
    give_some,
    mean_fill,
)
from placement.core.search.kernels.changes import (
    apply_move,
    apply_role,
    start_log,
    take_back,
)
from placement.core.search.kernels.jit import inner
from placement.core.search.kernels.layout import (
    BASE_PRICE,
    BIN_RELEASES,
    BIN_WIDTH,
    BINS,
    COST,
    EXCESS,
    FAT,
    HUNGRY,
    IS_LOGGING,
    LOG,
    LOG_SIZE,
    LOG_WHAT,
    LOG_WIDTH,
    LOGGED,
    NUM_BINS,
    NUM_CAP_LEVELS,
    NUM_GROUPS,
    NUM_ITEMS,
)
from placement.core.search.kernels.legality import may_move, may_take_role
from placement.core.search.kernels.penalty import (
    refresh_all,
    role_change,
    total_penalty,
)
from placement.core.search.kernels.placing import put, respread_group, successor_of
from placement.core.search.kernels.prefetch import touch_listed
from placement.core.search.kernels.relocate import (
    give_up,
    relieve,
    relieve_at_any_price,
    split_bins,
    unstick,
    worst_bin,
)
from placement.core.search.kernels.role_changes import (
    improve_role,
    improve_roles_of,
    wants_roles,
)
from placement.core.search.kernels.role_swaps import trade_roles_of
from placement.core.search.kernels.state import Memory
from placement.core.search.kernels.trim import go_home, replace_by_cheaper

FEWER = 8
"""Ratio of role changes of the first sweep to those of the last one."""
FEW = 32
"""Ratio of bins tried to bins that gain from which a round counts as fruitless."""
PARTS = 1024
"""Number of steps between none and all of the slack."""
DEAR = 1e6
"""Factor of the price of any move at which differences of cost hardly count."""
NO_LIMIT = 1 << 62
"""Cost that no arrangement reaches."""
TRIM_SWEEPS = 3
"""Largest number of sweeps over moved items: one trim may enable another."""


def place(m: Memory, order: list[int]) -> int:
    """
    Place items that must leave their bin, or have none, in the order given.

    Returns the number of items without an allowed bin, which stay where they are.
    """
    refresh_all(m)
    stuck = 0
    # Two passes: the next holder of a role may have to be placed first.
    for _ in range(2):
        stuck = 0
        for item in order:
            now = bin_of(m, item)
            must = kind_of(m, item) == MUST and now == home_of(m, item)
            if (must or now < 0) and not put(m, item):
                stuck += 1
        if stuck == 0:
            break
    return stuck


def release(m: Memory) -> int:
    """
    Hand on the roles held in bins that must release them.

    Returns the number of roles that found no other holder.
    """
    refresh_all(m)
    stuck = 0
    for group in range(m.ints[NUM_GROUPS]):
        holder = holder_of(m, group)
        if holder < 0 or bin_of(m, holder) < 0:
            continue
        if (
            m.ints[m.ints[BINS] + bin_of(m, holder) * m.ints[BIN_WIDTH] + BIN_RELEASES]
            == 0
        ):
            continue
        successor = successor_of(m, group)
        if successor < 0:
            stuck += 1
        else:
            apply_role(m, group, successor)
    return stuck


def respread(m: Memory, groups: list[int]) -> int:
    """
    Move items of groups that break a cap or are unevenly spread.

    Returns the number of given groups that still break a rule.
    """
    refresh_all(m)
    broken = 0
    for level in range(m.ints[NUM_CAP_LEVELS]):
        for group in groups:
            if not respread_group(m, level, group):
                broken += 1
    return broken


def fill(m: Memory) -> int:
    """
    Fill bins that hold less than half of their goal from bins above their shares.

    Returns the number of items moved.
    """
    refresh_all(m)
    num_empty, num_donors, moved = 0, 0, 0
    for now in range(m.ints[NUM_BINS]):
        m.floats[m.ints[EXCESS] + now] = 0.0
        if is_receiving(m, now) and 0.0 <= mean_fill(m, now) < 0.5:
            m.ints[m.ints[HUNGRY] + num_empty] = now
            num_empty += 1
        elif num_items_in(m, now) > 0 and excess_of(m, now) > 0.0:
            m.ints[m.ints[FAT] + num_donors] = now
            m.floats[m.ints[EXCESS] + now] = excess_of(m, now)
            num_donors += 1
    if num_donors == 0:
        return 0
    turn = 0
    while num_empty > 0:
        donor = draw_donor(m, num_donors)
        given, num_empty = give_some(m, donor, num_empty, turn)
        moved += given
        turn += GIFTS
    return moved


def level_roles(m: Memory, sweeps: int) -> int:
    """
    Change role holders wherever that brings nodes nearer to their bands.

    A sweep with far fewer changes than the first one is the last: balancing examines
    the roles of a few bins in less time than a sweep. Returns the number of role
    changes.
    """
    refresh_all(m)
    changed, at_first = 0, 0
    for sweep in range(sweeps):
        before = changed
        for group in range(m.ints[NUM_GROUPS]):
            if improve_role(m, group):
                changed += 1
        if sweep == 0:
            at_first = changed
        if (changed - before) * FEWER <= at_first:
            break
    return changed


@inner
def balance(
    m: Memory,
    max_steps: int,
    scan: int,
    is_thorough: int,
    patience: int,
    max_cost: int,
) -> int:
    """
    Bring nodes into their bands, the worst first, each by its best move.

    Role changes come first, because they copy nothing; then moves out or in by gain per
    price; then pairs of moves. A bin without a gain is skipped for the rest of the
    round. The search ends after `patience` rounds over all bins with hardly any gain:
    among very many bins some always gain, and all others would be tried again. It also
    ends once the cost reaches `max_cost`. Every gain lowers the total penalty. Returns
    the number of steps.
    """
    steps, tried, gained, fruitless = 0, 0, 0, 0
    unstick(m)
    num_hungry, num_fat = split_bins(m)
    while (
        steps < max_steps
        and m.ints[LOGGED] <= LOG_SIZE // 8
        and m.ints[COST] < max_cost
    ):
        now = worst_bin(m)
        if now < 0:
            # Targets are sampled among many bins: another sample may find a gain.
            fruitless = 0 if gained * FEW > tried else fruitless + 1
            if fruitless >= patience:
                break
            tried, gained = 0, 0
            unstick(m)
            num_hungry, num_fat = split_bins(m)
            continue
        steps, tried = steps + 1, tried + 1
        # Scanning all bins must not take longer than the steps in between.
        if steps % max(64, m.ints[NUM_BINS] // 16) == 0:
            num_hungry, num_fat = split_bins(m)
        if (
            improve_roles_of(m, now, min(scan // 4, 16))
            or relieve(m, now, num_hungry, num_fat, scan)
            or (is_thorough == 1 and relieve_at_any_price(m, now, num_hungry, scan))
        ):
            gained += 1
        else:
            give_up(m, now)
    return steps


def balance_all(
    m: Memory, max_steps: int, scan: int, is_thorough: int, patience: int
) -> int:
    """Recompute all penalties, then balance; see `balance`."""
    refresh_all(m)
    return balance(m, max_steps, scan, is_thorough, patience, NO_LIMIT)


def trade_roles(m: Memory, max_steps: int, scan: int) -> int:
    """
    Swap roles between bins, the worst first, until no swap gains.

    Returns the number of swaps, at most `max_steps`.
    """
    refresh_all(m)
    unstick(m)
    steps, gained = 0, 0
    while steps < max_steps:
        now = worst_bin(m)
        if now < 0:
            if gained == 0:
                break
            gained = 0
            unstick(m)
        elif wants_roles(m, now) and trade_roles_of(m, now, scan):
            steps, gained = steps + 1, gained + 1
        else:
            give_up(m, now)
    return steps


def trim(m: Memory, order: list[int], scan: int) -> int:
    """
    Return items home if possible, and replace moved items by cheaper ones.

    `order` holds the items to try, the dearest first, and `scan` is the number of other
    items examined as a replacement. Returns the number of items returned home.
    """
    refresh_all(m)
    sent = 0
    for _ in range(TRIM_SWEEPS):
        before = sent
        for at in range(len(order)):
            touch_listed(m, order, at)
            item = order[at]
            if bin_of(m, item) == home_of(m, item) or kind_of(m, item) == MUST:
                continue
            if go_home(m, item) or (scan > 0 and replace_by_cheaper(m, item, scan)):
                sent += 1
        if sent == before:
            break
        scan = 0
    return sent


def return_roles(m: Memory, role_home: list[int]) -> int:
    """Return roles to their initial holders where no node gets worse."""
    refresh_all(m)
    returned = 0
    for group in range(m.ints[NUM_GROUPS]):
        item = role_home[group]
        if item < 0 or holder_of(m, group) == item or holder_of(m, group) < 0:
            continue
        if may_take_role(m, group, item) and role_change(m, group, item) <= 0.0:
            apply_role(m, group, item)
            returned += 1
    return returned


def shake(
    m: Memory,
    moved: list[int],
    rounds: int,
    scan: int,
    slack: int,
) -> int:
    """
    Ruin and recreate parts of an answer, and keep improvements.

    Each round returns some moved items that share a bin to their homes, balances the
    result with another price of a move, and trims the changes. A round is undone unless
    it lowers the penalty, or keeps it and adds less than a random part of `slack` to
    the cost (threshold accepting; 0: only improvements are kept). Returns the number of
    rounds kept.
    """
    refresh_all(m)
    kept, num_moved, usual = 0, 0, m.floats[BASE_PRICE]
    for turn in range(rounds):
        if turn % 64 == 0:
            num_moved = 0
            for item in range(m.ints[NUM_ITEMS]):
                now, home = bin_of(m, item), home_of(m, item)
                if now != home and home >= 0 and kind_of(m, item) != MUST:
                    moved[num_moved] = item
                    num_moved += 1
            if num_moved == 0:
                break
        before, cost = total_penalty(m), m.ints[COST]
        if slack > 0:
            cost += slack * draw(m, PARTS) // PARTS * draw(m, PARTS) // PARTS
        start_log(m)
        ruin(m, moved, num_moved)
        # Two rounds in five ignore costs: a few steps by gain alone succeed more
        # often, and the trim lowers the cost. Near the optimum costs matter more.
        m.floats[BASE_PRICE] = usual * (0.1, 1.0, 10.0, DEAR, DEAR)[draw(m, 5)]
        # Out of band a dearer answer counts as well, if it is nearer.
        max_cost = NO_LIMIT if before > 0.0 else cost
        # Successful rounds take two steps; the others would take all there are.
        balance(m, 3 + 2 * m.ints[LOGGED], scan, 0, 1, max_cost)
        trim_logged(m, scan)
        after = total_penalty(m)
        is_kept = after <= before and (m.ints[COST] < cost or after < before)
        if m.ints[LOGGED] >= LOG_SIZE or not is_kept:
            take_back(m)
        else:
            kept += 1
    m.ints[IS_LOGGING] = 0
    m.ints[LOGGED] = 0
    m.floats[BASE_PRICE] = usual
    return kept


@inner
def ruin(m: Memory, moved: list[int], num_moved: int) -> None:
    """Return a few moved items home that share the old or new bin of one of them."""
    seed = moved[draw(m, num_moved)]
    home, now = home_of(m, seed), bin_of(m, seed)
    # Rounds with more than four items take longer, and hardly ever succeed.
    wanted = 1 + draw(m, 1 + draw(m, 4))
    first = draw(m, num_moved)
    for step in range(num_moved):
        item = moved[(first + step) % num_moved]
        place, origin = bin_of(m, item), home_of(m, item)
        is_near = place in (now, home) or origin in (now, home)
        if is_near and place != origin and may_move(m, item, origin):
            apply_move(m, item, origin)
            wanted -= 1
            if wanted == 0:
                break


@inner
def trim_logged(m: Memory, scan: int) -> None:
    """Trim the items that moved according to the log."""
    for entry in range(min(m.ints[LOGGED], LOG_SIZE // 8)):
        item = m.ints[m.ints[LOG] + entry * LOG_WIDTH + LOG_WHAT]
        is_away = item >= 0 and bin_of(m, item) != home_of(m, item)
        if is_away and kind_of(m, item) != MUST and not go_home(m, item):
            replace_by_cheaper(m, item, scan)
