"""List schedule of copies, each started as soon as both ends are free."""

from typing import Any

from placement.core.search.kernels.jit import inner

Table = Any
NONE = -1


def list_schedule(
    source: Table,
    target: Table,
    duration: Table,
    start_of: Table,
    edges_of: Table,
    first: Table,
    caps: Table,
    busy: Table,
    heap_time: Table,
    heap_edge: Table,
    began: Table,
) -> float:
    """
    Start copies as soon as both ends are free, in the order of each node's list.

    Nodes are senders, then receivers. `start_of` and `edges_of` hold the copies of each
    node, `first` the start of each list, and `caps` the number of copies that each node
    runs at a time. `busy` is 0 for each node, and `began` below 0 for each copy at the
    start. Returns the end of the last copy.
    """
    size, now = 0, 0.0
    for node in range(len(busy)):
        size = _start(
            node,
            now,
            size,
            source,
            target,
            duration,
            start_of,
            edges_of,
            first,
            caps,
            busy,
            heap_time,
            heap_edge,
            began,
        )
    while size > 0:
        now = heap_time[0]
        done = heap_edge[0]
        size = _pop(size, heap_time, heap_edge)
        for node in (source[done], target[done]):
            busy[node] -= 1
        for node in (source[done], target[done]):
            size = _start(
                node,
                now,
                size,
                source,
                target,
                duration,
                start_of,
                edges_of,
                first,
                caps,
                busy,
                heap_time,
                heap_edge,
                began,
            )
    return now


@inner
def _start(
    node: int,
    now: float,
    size: int,
    source: Table,
    target: Table,
    duration: Table,
    start_of: Table,
    edges_of: Table,
    first: Table,
    caps: Table,
    busy: Table,
    heap_time: Table,
    heap_edge: Table,
    began: Table,
) -> int:
    """Start copies of a node while possible: the first with both ends free."""
    while busy[node] < caps[node]:
        best = NONE
        # Copies started at the front of the list are skipped permanently.
        while first[node] < start_of[node + 1] and began[edges_of[first[node]]] >= 0.0:
            first[node] += 1
        for k in range(first[node], start_of[node + 1]):
            e = edges_of[k]
            if began[e] >= 0.0:
                continue
            other = source[e] if target[e] == node else target[e]
            if busy[other] < caps[other]:
                best = e
                break
        if best == NONE:
            return size
        began[best] = now
        busy[source[best]] += 1
        busy[target[best]] += 1
        _push(size, now + duration[best], best, heap_time, heap_edge)
        size += 1
    return size


@inner
def _push(at: int, time: float, edge: int, heap_time: Table, heap_edge: Table) -> None:
    while at > 0 and heap_time[(at - 1) // 2] > time:
        heap_time[at] = heap_time[(at - 1) // 2]
        heap_edge[at] = heap_edge[(at - 1) // 2]
        at = (at - 1) // 2
    heap_time[at] = time
    heap_edge[at] = edge


@inner
def _pop(size: int, heap_time: Table, heap_edge: Table) -> int:
    """Remove the first entry of the heap, and return the number left."""
    size -= 1
    time, edge = heap_time[size], heap_edge[size]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and heap_time[child + 1] < heap_time[child]:
            child += 1
        if heap_time[child] >= time:
            break
        heap_time[at] = heap_time[child]
        heap_edge[at] = heap_edge[child]
        at = child
    heap_time[at] = time
    heap_edge[at] = edge
    return size
