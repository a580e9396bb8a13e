"""
The stages of the search, each an entry point for the compiler.

`place` puts items that must move, `respread` repairs group caps, `balance` brings
nodes into their bands worst first, `trim` sends home what need not have moved.
"""

from placement.core.kernels.choices import (
    best_heir,
    chain_best,
    draw_best,
    improve_roles,
    put,
    respread_group,
    shed_best,
    split_bins,
    worst_bin,
)
from placement.core.kernels.moves import (
    MUST,
    apply_move,
    apply_role,
    arrive_change,
    home_of,
    kind_of,
    leave_change,
    may_move,
    may_take_role,
    refresh_all,
    role_change,
)
from placement.core.kernels.tables import (
    BIN_RELEASES,
    State,
    Tables,
)


def place(t: Tables, s: State, order: list[int]) -> int:
    """
    Put items that must leave their bin, or have none, in the order given.

    Returns how many found no legal bin; they stay where they are.
    """
    refresh_all(t, s)
    stuck = 0
    # Twice: a role may find its next holder once that item has been placed itself.
    for _ in range(2):
        stuck = 0
        for item in order:
            place_now = s.bin_of[item]
            must = kind_of(t, item) == MUST and place_now == home_of(t, item)
            if (must or place_now < 0) and not put(t, s, item):
                stuck += 1
        if stuck == 0:
            break
    return stuck


def release(t: Tables, s: State) -> int:
    """
    Hand on the roles held in bins that must release them.

    Returns the number of roles that found no other holder.
    """
    refresh_all(t, s)
    stuck = 0
    for group in range(t.num_groups):
        holder = s.role_of[group]
        if holder < 0 or s.bin_of[holder] < 0:
            continue
        if t.bins[s.bin_of[holder] * t.bin_width + BIN_RELEASES] == 0:
            continue
        heir = best_heir(t, s, group)
        if heir < 0:
            stuck += 1
        else:
            apply_role(t, s, group, heir)
    return stuck


def respread(t: Tables, s: State) -> int:
    """
    Move items of groups that break a cap, or lie unevenly, until they do not.

    Returns the number of groups that stay broken.
    """
    refresh_all(t, s)
    broken = 0
    for level in range(t.num_cap_levels):
        for group in range(t.num_groups):
            if not respread_group(t, s, level, group):
                broken += 1
    return broken


def balance(
    t: Tables,
    s: State,
    stuck: list[int],
    hungry: list[int],
    fat: list[int],
    max_steps: int,
    scan: int,
    has_chains: int,
) -> int:
    """
    Bring nodes into their bands, the worst first, each by its best move.

    Role changes go first, for they copy nothing; then moves out or in by gain per
    price; then pairs of moves. A bin without any is left until something has changed.
    Every step lowers the total penalty, so the loop ends. Returns the steps taken.
    """
    refresh_all(t, s)
    steps, gained = 0, 0
    for place_now in range(t.num_bins):
        stuck[place_now] = 0
    num_hungry, num_fat = split_bins(t, s, hungry, fat)
    while steps < max_steps:
        place_now = worst_bin(t, s, stuck)
        if place_now < 0:
            if gained == 0:
                break
            gained = 0
            for other in range(t.num_bins):
                stuck[other] = 0
            num_hungry, num_fat = split_bins(t, s, hungry, fat)
            continue
        steps += 1
        if steps % 64 == 0:
            num_hungry, num_fat = split_bins(t, s, hungry, fat)
        if (
            improve_roles(t, s, place_now)
            or shed_best(t, s, place_now, hungry, num_hungry, scan)
            or draw_best(t, s, place_now, fat, num_fat, scan)
            or (has_chains == 1 and chain_best(t, s, place_now, scan))
        ):
            gained += 1
        else:
            stuck[place_now] = 1
    return steps


def trim(t: Tables, s: State, order: list[int]) -> int:
    """
    Send home every item, and every role, that need not have moved.

    Parameters are the tables, the state and the items to try in order, dearest first.
    Returns how many went home.
    """
    refresh_all(t, s)
    sent, again = 0, True
    while again:
        again = False
        for item in order:
            home = home_of(t, item)
            if home < 0 or s.bin_of[item] == home or not may_move(t, s, item, home):
                continue
            change = leave_change(t, s, item, home) + arrive_change(t, s, item, home)
            if change <= 0.0:
                apply_move(t, s, item, home)
                sent += 1
                again = True
    return sent


def return_roles(t: Tables, s: State, role_home: list[int]) -> int:
    """Hand roles back to those who held them where no node gets worse."""
    refresh_all(t, s)
    returned = 0
    for group in range(t.num_groups):
        item = role_home[group]
        if item < 0 or s.role_of[group] == item or s.role_of[group] < 0:
            continue
        if may_take_role(t, s, group, item) and role_change(t, s, group, item) <= 0.0:
            apply_role(t, s, group, item)
            returned += 1
    return returned
