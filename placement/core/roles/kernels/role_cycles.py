"""
Roles handed on around cycles of bins, or along single steps between two.

What passes through a bin is looked at together: the roles it could hand on, those it
could get, and those that the bins which get one could hand on to the bins which give
one. The best exchanges are then carried out one after the other, while they still help.
"""

from typing import Any, NamedTuple

from placement.core.search.kernels.jit import inlined, inner

MOST_TRIED = 64
"""Exchanges through a bin that are carried out, best first, while they still help."""
LEAST_GAIN = 1e-9
"""What an exchange makes of the penalty of its bins must be less by this fraction."""
OVER_CAPACITY = 1e6
"""What being over a capacity weighs against being out of a band."""
FREE = 0.25
"""An exchange that changes no more roles than it hands back counts as this many."""
WORTHLESS, FORBIDDEN = 0.0, 1e300
NO_ITEM = -1
Column = Any
"""A one-dimensional numpy array, or the same as a list."""


class Roles(NamedTuple):
    """
    Who holds each role, and what that makes of the bins: arrays or lists.

    ``C`` is the number of resources with a band or capacity that roles have a part in.

    Parameters
    ----------
    weight
        ``(h * C,)`` what the role of each handover adds to the bin that has it. Beside
        the handovers, and not by group: so one after the other lies in memory.
    lower, upper, capacity, scale
        ``(N * C,)`` band and capacity, and what distances are multiplied by.
    share
        ``(N,)`` share of the count of roles.
    counts_matter
        ``(1,)`` whether counts must stay as even as they are.
    goes_home
        ``(1,)`` whether roles are to go back to those that had them at first.
    holder, led_at
        ``(G,)`` item that has the role, and its bin; -1: none.
    load, penalty, count
        ``(N * C,)``, ``(N,)`` and ``(N,)``: loads of the bins, what being out of bands
        costs, and the number of roles.
    best_worth, best_hops
        ``(M,)`` and ``(3 * M,)``: the best exchanges through a bin.
    first_into, next_into
        ``(N,)`` and ``(h,)``: lists of what a bin could get, by who has it.
    """

    weight: Column
    lower: Column
    upper: Column
    capacity: Column
    scale: Column
    share: Column
    counts_matter: Column
    goes_home: Column
    holder: Column
    led_at: Column
    load: Column
    penalty: Column
    count: Column
    best_worth: Column
    best_hops: Column
    first_into: Column
    next_into: Column


class Hops(NamedTuple):
    """
    Handovers that were possible when they were listed, side by side in memory.

    Parameters
    ----------
    start, into_start
        ``(N + 1,)`` rows of what each bin could hand on, and of `into`.
    into
        ``(h,)`` the same rows by the bin that would get the role.
    item, group, tail, head
        ``(h,)`` who would take the role of what group, from what bin, to what bin.
    cost
        ``(h,)`` 1 where a role leaves who had it at first, -1 where it comes back.
    """

    start: Column
    into_start: Column
    into: Column
    item: Column
    group: Column
    tail: Column
    head: Column
    cost: Column


def relieve(t: Roles, hops: Hops, bins: Column) -> int:
    """
    Carry out the best exchanges through each of some bins; return how many.

    Penalties must get less, and a bin without any is left alone; but where roles are to
    go home penalties may stay as they are, and the number of changes must get less.
    """
    done, goes_home = 0, t.goes_home[0] == 1
    for b in bins:
        if not goes_home and t.penalty[b] == 0.0:
            continue
        for k in range(_collect(t, hops, b)):
            if not goes_home and t.penalty[b] == 0.0:
                break
            if _carry_out(t, hops, 3 * k):
                done += 1
    return done


def measure(t: Roles) -> None:
    """Work out the penalties of all bins."""
    for b in range(len(t.penalty)):
        t.penalty[b] = _penalty(t, b, NO_ITEM, NO_ITEM)


@inlined
def _penalty(t: Roles, b: int, comes: int, goes: int) -> float:
    """Return what a bin's loads cost if the roles of two handovers come and go."""
    total, width = 0.0, len(t.load) // len(t.penalty)
    for r in range(width):
        row = b * width + r
        load = t.load[row]
        if comes >= 0:
            load += t.weight[comes * width + r]
        if goes >= 0:
            load -= t.weight[goes * width + r]
        off = max(load - t.upper[row], t.lower[row] - load)
        if off > 0.0:
            off *= t.scale[row]
            total += off * off
        if load > t.capacity[row]:
            over = (load - t.capacity[row]) * t.scale[row]
            total += OVER_CAPACITY * over * over
    return total


@inlined
def _change(t: Roles, b: int, comes: int, goes: int) -> float:
    return _penalty(t, b, comes, goes) - t.penalty[b]


@inner
def _may_exchange(t: Roles, tail: int, head: int) -> bool:
    """Return whether two bins could exchange counts and be as even as they are."""
    if t.counts_matter[0] == 0:
        return True
    if t.count[tail] != t.count[head] + 1 or t.share[tail] <= 0.0:
        return False
    return abs(t.share[tail] - t.share[head]) <= 1e-11 * t.share[head]


@inlined
def _worth(
    t: Roles, hops: Hops, gain: float, first: int, second: int, third: int
) -> float:
    """Return what an exchange is worth, less is better; `WORTHLESS`: nothing."""
    cost = hops.cost[first]
    if second >= 0:
        cost += hops.cost[second]
    if third >= 0:
        cost += hops.cost[third]
    if t.goes_home[0] == 1:
        return float(cost) if cost < 0 and gain <= 0.0 else WORTHLESS
    return gain / max(float(cost), FREE) if gain < 0.0 else WORTHLESS


@inlined
def _note(
    t: Roles, found: int, worth: float, first: int, second: int, third: int
) -> int:
    """Put an exchange among the best if it is one; return how many there are."""
    most, k = len(t.best_worth), found
    if worth >= WORTHLESS:
        return found
    if found == most:
        k -= 1
        if worth >= t.best_worth[k]:
            return found
    while k > 0 and worth < t.best_worth[k - 1]:
        t.best_worth[k] = t.best_worth[k - 1]
        for j in range(3):
            t.best_hops[3 * k + j] = t.best_hops[3 * k - 3 + j]
        k -= 1
    t.best_worth[k] = worth
    t.best_hops[3 * k] = first
    t.best_hops[3 * k + 1] = second
    t.best_hops[3 * k + 2] = third
    return min(found + 1, most)


@inlined
def _is_open(t: Roles, hops: Hops, hop: int) -> bool:
    """Return whether the role still is where it was when the handover was listed."""
    return t.led_at[hops.group[hop]] == hops.tail[hop]


@inner
def _collect(t: Roles, hops: Hops, b: int) -> int:
    """Find the best exchanges through a bin; return how many there are."""
    first, last = hops.into_start[b], hops.into_start[b + 1]
    for row in range(first, last):
        hop = hops.into[row]
        if _is_open(t, hops, hop):
            t.next_into[hop] = t.first_into[hops.tail[hop]]
            t.first_into[hops.tail[hop]] = hop
    found = _collect_steps(t, hops, b)
    for hop in range(hops.start[b], hops.start[b + 1]):
        if _is_open(t, hops, hop):
            found = _collect_cycles(t, hops, b, hop, found)
    for row in range(first, last):
        t.first_into[hops.tail[hops.into[row]]] = NO_ITEM
    return found


@inner
def _step_change(t: Roles, hops: Hops, hop: int) -> float:
    """Return how penalties change when one role changes hands."""
    gone = _change(t, hops.tail[hop], NO_ITEM, hop)
    return gone + _change(t, hops.head[hop], hop, NO_ITEM)


@inner
def _collect_steps(t: Roles, hops: Hops, b: int) -> int:
    """Find what one role alone makes of two bins whose counts may be exchanged."""
    found = 0
    for hop in range(hops.start[b], hops.start[b + 1]):
        if _may_exchange(t, b, hops.head[hop]) and _is_open(t, hops, hop):
            gain = _step_change(t, hops, hop)
            worth = _worth(t, hops, gain, hop, NO_ITEM, NO_ITEM)
            found = _note(t, found, worth, hop, NO_ITEM, NO_ITEM)
    for row in range(hops.into_start[b], hops.into_start[b + 1]):
        hop = hops.into[row]
        if _may_exchange(t, hops.tail[hop], b) and _is_open(t, hops, hop):
            gain = _step_change(t, hops, hop)
            worth = _worth(t, hops, gain, hop, NO_ITEM, NO_ITEM)
            found = _note(t, found, worth, hop, NO_ITEM, NO_ITEM)
    return found


@inner
def _collect_cycles(t: Roles, hops: Hops, b: int, first: int, found: int) -> int:
    """Find the cycles of two and of three bins that begin with a handover."""
    other = hops.head[first]
    k = t.first_into[other]
    while k >= 0:
        gain = _change(t, b, k, first) + _change(t, other, first, k)
        worth = _worth(t, hops, gain, first, k, NO_ITEM)
        found = _note(t, found, worth, first, k, NO_ITEM)
        k = t.next_into[k]
    for second in range(hops.start[other], hops.start[other + 1]):
        last = hops.head[second]
        k = t.first_into[last]
        if k < 0:
            continue
        between = _change(t, other, first, second)
        # At best the other two are out of their bands no more.
        if between > t.penalty[b] + t.penalty[last] or not _is_open(t, hops, second):
            continue
        while k >= 0:
            gain = between + _change(t, b, k, first) + _change(t, last, second, k)
            worth = _worth(t, hops, gain, first, second, k)
            found = _note(t, found, worth, first, second, k)
            k = t.next_into[k]
    return found


@inner
def _carry_out(t: Roles, hops: Hops, row: int) -> bool:
    """Carry out an exchange if it still is one, and still helps."""
    for j in range(3):
        if t.best_hops[row + j] >= 0 and not _is_open(t, hops, t.best_hops[row + j]):
            return False
    change, before = _total_change(t, hops, row)
    is_less = change < -LEAST_GAIN * before
    if not is_less and (t.goes_home[0] == 0 or change > 0.0):
        return False
    for j in range(3):
        if t.best_hops[row + j] >= 0:
            _hand_over(t, hops, t.best_hops[row + j])
    return True


@inner
def _total_change(t: Roles, hops: Hops, row: int) -> tuple[float, float]:
    """Return how the penalties of an exchange's bins change, and what they are."""
    first, second, third = t.best_hops[row], t.best_hops[row + 1], t.best_hops[row + 2]
    start, middle = hops.tail[first], hops.head[first]
    before = t.penalty[start] + t.penalty[middle]
    if second < 0:
        if not _may_exchange(t, start, middle):
            return FORBIDDEN, before
        return _step_change(t, hops, first), before
    change = _change(t, middle, first, second)
    if third < 0:
        return change + _change(t, start, second, first), before
    end = hops.head[second]
    change += _change(t, end, second, third) + _change(t, start, third, first)
    return change, before + t.penalty[end]


@inner
def _hand_over(t: Roles, hops: Hops, hop: int) -> None:
    """Hand a role on."""
    group, tail, head = hops.group[hop], hops.tail[hop], hops.head[hop]
    width = len(t.load) // len(t.penalty)
    for r in range(width):
        t.load[tail * width + r] -= t.weight[hop * width + r]
        t.load[head * width + r] += t.weight[hop * width + r]
    t.holder[group], t.led_at[group] = hops.item[hop], head
    t.count[tail] -= 1
    t.count[head] += 1
    for b in (tail, head):
        t.penalty[b] = _penalty(t, b, NO_ITEM, NO_ITEM)
