"""
Cost of the cheapest bins for each group at given prices of load, in exact integers.

The greedy algorithm finds the cheapest bins for the items of a group within the cap per
node, because such sets are bases of a matroid. A different bin for the role replaces
one of these bins. Imports the problem and the reader of price witnesses alone.
"""

import numpy as np
import numpy.typing as npt

from placement.array_types import IntArray
from placement.core.model.problem import Movability, Problem
from placement.core.verify.price_witness import Prices


def _exact_sum(values: IntArray) -> int:
    """Sum integers of either sign exactly, also beyond 2^63."""
    if values.dtype == object:
        return int(values.sum())
    return (int((values >> 32).sum()) << 32) + int((values & 0xFFFFFFFF).sum())


def price_of_groups(problem: Problem, prices: Prices, groups: IntArray) -> int | None:
    """Return the total cost of each group's cheapest bins; `None`: too few bins."""
    price, is_kept = _bin_prices(problem, prices, groups)
    open_price = np.where(is_kept, prices.forbidden, price)
    others, dearest = _cheapest_of_nodes(
        problem, (open_price, prices.forbidden), is_kept, groups
    )
    wanted = np.diff(problem.group_start)[groups] - is_kept.sum(axis=1)
    taken = np.arange(others.shape[1])[None, :] < wanted[:, None]
    if (wanted > others.shape[1]).any() or (others[taken] >= prices.forbidden).any():
        return None
    base = np.where(taken, others, 0)
    kept = np.where(is_kept, price, 0)
    if (kept >= prices.forbidden).any():
        return None
    none = -prices.forbidden
    last = np.where(taken, others, none).max(axis=1, initial=none)
    replaced = np.minimum(last[:, None], dearest)
    more = np.maximum(price - replaced, 0)
    more[(price >= prices.forbidden) | (replaced <= none)] = prices.forbidden
    more[is_kept] = 0
    roles = _of_roles(problem, prices, groups, more)
    return None if roles is None else _exact_sum(base) + _exact_sum(kept) + roles


def _bin_prices(
    problem: Problem, prices: Prices, groups: IntArray
) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """Return ``(g, N)`` price of each bin for an item, and bins that keep an item."""
    first, last = int(groups[0]), int(groups[-1]) + 1
    items = np.arange(problem.group_start[first], problem.group_start[last])
    row, home = problem.group_of[items] - first, problem.home[items]
    can = problem.is_eligible[problem.group_class[groups]][:, problem.bin_class]
    can = can & problem.may_receive
    copy = prices.copy[groups]
    price = np.repeat(copy[:, None], problem.num_bins, axis=1)
    at_home = home >= 0
    must = np.equal(problem.movability[items], Movability.MUST)
    leaves, stays = at_home & must, at_home & ~must
    can[row[leaves], home[leaves]] = False
    can[row[stays], home[stays]] = True
    price[row[stays], home[stays]] = 0
    price += problem.weight[groups] @ prices.net.T
    if len(problem.extra):
        more = (problem.extra[items] * prices.net[home]).sum(axis=1)
        # Alternatively another item of the group is copied there.
        more = np.minimum(more, copy[row])
        price[row[stays], home[stays]] += more[stays]
    for rounded, sold in prices.rounded:
        price[:, rounded.bin] += sold * rounded.item[groups]
    price[~can] = prices.forbidden
    is_kept = np.zeros(price.shape, dtype=np.bool_)
    never = at_home & np.equal(problem.movability[items], Movability.NEVER)
    is_kept[row[never], home[never]] = True
    for fixing in prices.fixings:
        if fixing.group in groups and not fixing.is_role:
            place = fixing.group - first, fixing.bin
            is_kept[place] = fixing.is_there
            price[place] = price[place] if fixing.is_there else prices.forbidden
    return price, is_kept


def _cheapest_of_nodes(
    problem: Problem,
    open_price: tuple[IntArray, int],
    is_kept: npt.NDArray[np.bool_],
    groups: IntArray,
) -> tuple[IntArray, IntArray]:
    """
    Return ``(g, n)`` sorted prices, at most the remaining cap of each node.

    Also returns ``(g, N)`` the dearest price admitted in the node of each bin: another
    bin of the node can only replace an admitted one. `open_price` holds the prices of
    bins that keep no item, and a price above all others.
    """
    price, forbidden = open_price
    level = next((one for one in problem.levels[1:] if one.group_cap is not None), None)
    dearest = np.full_like(price, forbidden)
    if level is None or level.group_cap is None:
        return np.sort(price, axis=1), dearest
    cap = level.group_cap[groups]
    cap = np.where(cap > 0, cap, problem.num_bins)
    nodes = level.node_of_bin
    parts = [price[:, nodes < 0]]
    for node in np.unique(nodes[nodes >= 0]).tolist():
        is_inside = nodes == node
        inside = np.sort(price[:, is_inside], axis=1)
        kept = is_kept[:, is_inside].sum(axis=1)
        # If more items must stay than the cap allows, ignore the cap.
        left = np.where(kept > cap, problem.num_bins, cap - kept)
        inside[np.arange(inside.shape[1])[None, :] >= left[:, None]] = forbidden
        parts.append(inside)
        dearest[:, is_inside] = _last_of(inside, left, forbidden)[:, None]
    return np.sort(np.concatenate(parts, axis=1), axis=1), dearest


def _last_of(inside: IntArray, left: IntArray, forbidden: int) -> IntArray:
    """Return ``(g,)`` the dearest price a node admits; ``-forbidden``: no room."""
    width = inside.shape[1]
    place = np.clip(left - 1, 0, width - 1)[:, None]
    last = np.take_along_axis(inside, place, axis=1)[:, 0]
    last = np.where(left > width, forbidden, last)
    return np.where(left > 0, last, -forbidden)


def _of_roles(
    problem: Problem, prices: Prices, groups: IntArray, more: IntArray
) -> int | None:
    """
    Return the total cost of the roles; `None` if a role has no feasible bin.

    `more` is the ``(g, N)`` extra cost of including a bin in place of another one.
    """
    held = np.nonzero(problem.role_home[groups] >= 0)[0]
    if not len(held):
        return 0
    role = problem.role_weight[groups[held]] @ prices.net.T
    for row, price in prices.rounded:
        role[:, row.bin] += price * row.role[groups[held]]
    may = np.repeat(problem.may_hold_role[None, :], len(held), axis=0)
    holder = problem.home[problem.role_home[groups[held]]]
    at_home = np.nonzero(holder >= 0)[0]
    # An immovable role of an item that must stay has a single feasible bin.
    item = problem.role_home[groups[held]]
    is_fixed = np.equal(problem.movability[item], Movability.NEVER) & (holder >= 0)
    may[is_fixed & ~problem.is_role_movable[groups[held]]] = False
    may[at_home, holder[at_home]] = True
    for fixing in prices.fixings:
        if fixing.is_role and fixing.group in groups[held]:
            place = int(np.searchsorted(held, fixing.group - int(groups[0])))
            is_here = np.arange(problem.num_bins) == fixing.bin
            may[place] &= is_here if fixing.is_there else ~is_here
    forbidden = prices.forbidden
    total = np.where(may & (more[held] < forbidden), role + more[held], forbidden)
    best = total.min(axis=1, initial=forbidden)
    return None if (best >= forbidden).any() else _exact_sum(best)
