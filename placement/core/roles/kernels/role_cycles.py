"""
Exchanges of roles around cycles of bins, or by single steps between two bins.

All exchanges through a bin are evaluated together: the roles that the bin can hand on,
the roles it can receive, and the handovers from receiving to giving bins. The best
exchanges are then applied one by one, while they still reduce penalties.
"""

from typing import Any, NamedTuple

from placement.core.search.kernels.jit import inlined, inner

MOST_TRIED = 64
"""Largest number of exchanges through a bin that are kept and tried, best first."""
LEAST_GAIN = 1e-9
"""Fraction by which an exchange must reduce the penalty of its bins."""
OVER_CAPACITY = 1e6
"""Weight of a load over capacity, relative to a load outside its band."""
FREE = 0.25
"""Number of changes assumed for an exchange with no net role change."""
WORTHLESS, FORBIDDEN = 0.0, 1e300
NO_ITEM = -1
Column = Any
"""One-dimensional numpy array or list."""


class Roles(NamedTuple):
    """
    Holders of the roles and resulting loads of the bins, as arrays or lists.

    ``C`` is the number of resources with a band or capacity and with role weights.

    Parameters
    ----------
    weight
        ``(h * C,)`` weight of the role of each handover, by handover and not by group,
        for sequential memory access.
    lower, upper, capacity, scale
        ``(N * C,)`` band, capacity, and factor of distances.
    share
        ``(N,)`` share of the count of roles.
    counts_matter
        ``(1,)`` whether counts must stay as even as they are.
    goes_home
        ``(1,)`` whether roles are to return to their initial holders.
    holder, led_at
        ``(G,)`` item that holds the role, and its bin; -1: none.
    load, penalty, count
        ``(N * C,)``, ``(N,)`` and ``(N,)``: loads of the bins, penalty for loads out of
        band, and number of roles.
    best_worth, best_hops
        ``(M,)`` and ``(3 * M,)``: values and handovers of the best exchanges of a bin.
    first_into, next_into
        ``(N,)`` and ``(h,)``: linked lists of the handovers to a bin, by source bin.
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
    Possible handovers of roles as columns, sorted by source bin.

    Parameters
    ----------
    start, into_start
        ``(N + 1,)`` start of the handovers from each bin, and of each bin in `into`.
    into
        ``(h,)`` handover rows sorted by target bin.
    item, group, tail, head
        ``(h,)`` new holder, its group, source bin and target bin.
    cost
        ``(h,)`` 1 if the role leaves its initial holder, -1 if it returns, else 0.
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
    Apply the best exchanges through each of some bins; return their number.

    An exchange must reduce penalties, and bins without penalty are skipped. If roles
    are to return home, an exchange must reduce the number of changes instead and may
    leave penalties equal.
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
    """Compute the penalties of all bins."""
    for b in range(len(t.penalty)):
        t.penalty[b] = _penalty(t, b, NO_ITEM, NO_ITEM)


@inlined
def _penalty(t: Roles, b: int, comes: int, goes: int) -> float:
    """Return the penalty of a bin after one handover to it and one from it."""
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
    """Return whether one role may move between bins with counts as even as before."""
    if t.counts_matter[0] == 0:
        return True
    if t.count[tail] != t.count[head] + 1 or t.share[tail] <= 0.0:
        return False
    return abs(t.share[tail] - t.share[head]) <= 1e-11 * t.share[head]


@inlined
def _worth(
    t: Roles, hops: Hops, gain: float, first: int, second: int, third: int
) -> float:
    """Return the value of an exchange, lower is better; `WORTHLESS`: no gain."""
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
    """Insert an exchange into the list of the best; return the length of the list."""
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
    """Return whether the role is still in the source bin of the handover."""
    return t.led_at[hops.group[hop]] == hops.tail[hop]


@inner
def _collect(t: Roles, hops: Hops, b: int) -> int:
    """Find the best exchanges through a bin; return their number."""
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
    """Return the change of penalties by one handover."""
    gone = _change(t, hops.tail[hop], NO_ITEM, hop)
    return gone + _change(t, hops.head[hop], hop, NO_ITEM)


@inner
def _collect_steps(t: Roles, hops: Hops, b: int) -> int:
    """Evaluate single handovers between bins whose counts may be exchanged."""
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
    """Evaluate the cycles of two and three bins that begin with a handover."""
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
        # At best the penalties of the other two bins become zero.
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
    """Apply an exchange if it is still possible and still an improvement."""
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
    """Return the change of the penalties of an exchange's bins, and their sum."""
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
    """Apply one handover of a role."""
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
