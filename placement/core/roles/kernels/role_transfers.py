"""
Transfers of roles that bring counts within bounds by the fewest changes.

A least-cost flow by shortest paths over all groups at once: a role goes from its bin to
another bin with an item of its group, at a cost of 1, 0 or -1 changes. Bins with two
admissible counts are connected to a common node, the last one. Distances are small
integers, so the nearest nodes are found without a heap, and all paths of one length are
saturated before the next length (primal-dual algorithm, Ahuja, Magnanti and Orlin,
1993, *Network Flows*, section 9.8).
"""

from typing import Any, NamedTuple

from placement.core.search.kernels.jit import inlined, inner

FAR = 2**40
"""Distance larger than that of any node."""
TO_COMMON, FROM_COMMON, NO_ROW = -1, -2, -3
Column = Any
"""One-dimensional numpy array."""


class Handing(NamedTuple):
    """
    Candidates and holders of the roles, and excess or lack of roles in bins.

    A *row* is an item that may hold its group's role; rows of a group are consecutive.

    Parameters
    ----------
    first
        ``(G + 1,)`` first row of each group.
    holder
        ``(G,)`` row that holds the role.
    place
        ``(n,)`` twice the bin of each row, plus 1 if this holder counts as a change.
    start, by_bin, group
        ``(N + 1,)`` and ``(n,)``: rows sorted by bin, and their groups in that order.
    excess
        ``(N + 1,)`` roles of a bin above its bounds; negative: roles lacking. The last
        node is the common one.
    spare, room
        ``(N,)`` roles of a bin above its lower bound, and their largest number.
    potential, distance
        ``(N + 1,)`` distance of each node from any excess: over all rounds, and in one.
    seen, next_row, queue, via, of
        ``(N + 1,)`` scratch: visited marks, next row to examine per node, nodes of the
        queue or path, and row and group of each step of the path.
    """

    first: Column
    holder: Column
    place: Column
    start: Column
    by_bin: Column
    group: Column
    excess: Column
    spare: Column
    room: Column
    potential: Column
    distance: Column
    seen: Column
    next_row: Column
    queue: Column
    via: Column
    of: Column


def hand_out(t: Handing) -> int:
    """Transfer roles until counts are within bounds; return the excess that remains."""
    left, mark = 0, 0
    for node in range(len(t.excess)):
        left += max(t.excess[node], 0)
    while left > 0:
        mark += 1
        sent = _send(t, mark)
        left -= sent
        if sent == 0 and not _measure(t):
            break
    return left


@inner
def _measure(t: Handing) -> bool:
    """Add distances to the potentials; return whether a lacking bin is in reach."""
    level, num_nodes = 0, len(t.excess)
    for node in range(num_nodes):
        t.distance[node] = 0 if t.excess[node] > 0 else FAR
        t.seen[node] = 0
    while level < FAR:
        if _pass_on(t, level):
            for node in range(num_nodes):
                t.potential[node] += min(t.distance[node], level)
            return True
        above, level = level, FAR
        for node in range(num_nodes):
            if t.distance[node] > above:
                level = min(level, t.distance[node])
    return False


@inner
def _pass_on(t: Handing, level: int) -> bool:
    """Expand all nodes at a distance; return whether one of them lacks roles."""
    size, k = 0, 0
    for node in range(len(t.excess)):
        if t.distance[node] == level:
            t.queue[size] = node
            t.seen[node] = -1
            size += 1
    while k < size:
        node = t.queue[k]
        if t.excess[node] < 0:
            return True
        if node == len(t.excess) - 1:
            size = _reach_from_common(t, size)
        else:
            size = _reach_from(t, node, size)
        k += 1
    return False


@inner
def _reach_from_common(t: Handing, size: int) -> int:
    """Update the distances of bins with spare roles, from the common node."""
    common = len(t.excess) - 1
    for b in range(common):
        if t.spare[b] > 0:
            size = _reach(t, common, b, 0, size)
    return size


@inner
def _reach_from(t: Handing, node: int, size: int) -> int:
    """Update the distances of bins that can take a role from a bin."""
    if t.spare[node] < t.room[node]:
        size = _reach(t, node, len(t.excess) - 1, 0, size)
    for at in range(t.start[node], t.start[node + 1]):
        g, row = t.group[at], t.by_bin[at]
        if t.holder[g] != row:
            continue
        paid = t.place[row] & 1
        for other in range(t.first[g], t.first[g + 1]):
            place = t.place[other]
            if other != row:
                size = _reach(t, node, place >> 1, (place & 1) - paid, size)
    return size


@inlined
def _reach(t: Handing, node: int, head: int, change: int, size: int) -> int:
    """Update the distance of a node; queue it if its distance is the same."""
    step = change + t.potential[node] - t.potential[head]
    if t.distance[node] + step < t.distance[head]:
        t.distance[head] = t.distance[node] + step
        if step == 0:
            t.seen[head] = -1
            t.queue[size] = head
            size += 1
    return size


@inner
def _send(t: Handing, mark: int) -> int:
    """Send roles along shortest paths from all bins with excess; return the count."""
    sent, common = 0, len(t.excess) - 1
    for node in range(common):
        t.next_row[node] = t.start[node]
    t.next_row[common] = 0
    for node in range(common + 1):
        while t.excess[node] > 0 and _fill(t, node, mark):
            sent += 1
    return sent


@inner
def _fill(t: Handing, source: int, mark: int) -> bool:
    """Send one role along a shortest path, if one is found."""
    depth, t.queue[0] = 0, source
    t.seen[source] = mark
    while depth >= 0:
        node = t.queue[depth]
        if t.excess[node] < 0:
            _hand_on(t, depth)
            return True
        via, head, g = _look_on(t, node, mark)
        if via == NO_ROW:
            depth -= 1
            continue
        t.via[depth], t.of[depth] = via, g
        depth += 1
        t.queue[depth] = head
        t.seen[head] = mark
    return False


@inner
def _hand_on(t: Handing, depth: int) -> None:
    """Transfer roles along the path found, and mark its nodes as not visited."""
    for k in range(depth):
        via = t.via[k]
        if via == TO_COMMON:
            t.spare[t.queue[k]] += 1
        elif via == FROM_COMMON:
            t.spare[t.queue[k + 1]] -= 1
        else:
            t.holder[t.of[k]] = via
    for k in range(depth + 1):
        t.seen[t.queue[k]] = 0
    t.excess[t.queue[0]] -= 1
    t.excess[t.queue[depth]] += 1


@inlined
def _is_next(t: Handing, node: int, head: int, change: int, mark: int) -> bool:
    """Return whether a shortest path continues to an unvisited node."""
    is_nearest = change + t.potential[node] == t.potential[head]
    return is_nearest and t.seen[head] != mark


@inlined
def _look_on(t: Handing, node: int, mark: int) -> tuple[int, int, int]:
    """Return the next step of a shortest path: row or code, node, and group."""
    common = len(t.excess) - 1
    if node == common:
        return _look_on_from_common(t, mark)
    if t.spare[node] < t.room[node] and _is_next(t, node, common, 0, mark):
        return TO_COMMON, common, 0
    for at in range(t.next_row[node], t.start[node + 1]):
        g, row = t.group[at], t.by_bin[at]
        if t.holder[g] != row:
            continue
        paid = t.place[row] & 1
        for other in range(t.first[g], t.first[g + 1]):
            place = t.place[other]
            change = (place & 1) - paid
            if other != row and _is_next(t, node, place >> 1, change, mark):
                t.next_row[node] = at
                return other, place >> 1, g
    t.next_row[node] = t.start[node + 1]
    return NO_ROW, 0, 0


@inner
def _look_on_from_common(t: Handing, mark: int) -> tuple[int, int, int]:
    common = len(t.excess) - 1
    while t.next_row[common] < common:
        b = t.next_row[common]
        if t.spare[b] > 0 and _is_next(t, common, b, 0, mark):
            return FROM_COMMON, b, 0
        t.next_row[common] += 1
    return NO_ROW, 0, 0
