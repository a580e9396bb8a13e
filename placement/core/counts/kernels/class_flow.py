"""
Flows of interchangeable items between bins, over classes of items.

Nodes are the bins ``0 … B - 1``, then the classes. An edge joins a class and a bin that
may hold it; it holds ``count[e]`` items, of which the first ``home[e]`` are at home. A
class can put an item on an edge at the price of the edge, plus 1 if the edge holds at
least the items at home, plus ``share_price`` for each of ``low[e]`` and ``high[e]``
reached. A bin can give an item back along an edge at the negated cost. The reduced cost
of an arc is its cost plus the potential of its tail minus that of its head. Reduced
costs are never negative, and flow may use only arcs of reduced cost 0.

Nodes of different parts do not exchange items.
"""

import heapq

from placement.core.search.kernels.jit import inlined
from placement.core.search.kernels.state import Column

UNREACHED = 1 << 60


@inlined
def next_cost(
    edge: int,
    items: int,
    price: Column,
    home: Column,
    low: Column,
    high: Column,
    share_price: int,
) -> int:
    """Return the marginal cost of one more item on an edge that holds `items`."""
    outside = (items >= low[edge]) + (items >= high[edge])
    return price[edge] + (items >= home[edge]) + share_price * outside


@inlined
def num_alike(count: int, home: int, low: int, high: int, is_more: bool) -> int:
    """Return the number of items with the cost of the next one; 0: unlimited."""
    found = 0
    for mark in (home, low, high):
        alike = mark - count if is_more else count - mark
        if alike > 0 and (found == 0 or alike < found):
            found = alike
    return found


def find_levels(
    num_bins: int,
    bin_start: Column,
    bin_edge: Column,
    class_start: Column,
    edge_bin: Column,
    edge_class: Column,
    count: Column,
    home: Column,
    price: Column,
    low: Column,
    high: Column,
    share_price: int,
    potential: Column,
    part: Column,
    level: Column,
    queue: Column,
    num_queued: int,
) -> int:
    """
    Set the level of every node that can be reached along arcs of reduced cost 0.

    The first `num_queued` nodes of the queue are the sources; their levels are set.
    Returns the number of reached nodes, which are then in the queue.
    """
    at = 0
    while at < num_queued:
        node = queue[at]
        at += 1
        if node < num_bins:
            for place in range(bin_start[node], bin_start[node + 1]):
                edge = bin_edge[place]
                other = num_bins + edge_class[edge]
                if level[other] >= 0 or count[edge] == 0 or part[other] != part[node]:
                    continue
                cost = -next_cost(
                    edge, count[edge] - 1, price, home, low, high, share_price
                )
                if cost + potential[node] == potential[other]:
                    level[other] = level[node] + 1
                    queue[num_queued] = other
                    num_queued += 1
        else:
            first = node - num_bins
            for edge in range(class_start[first], class_start[first + 1]):
                other = edge_bin[edge]
                if level[other] >= 0 or part[other] != part[node]:
                    continue
                cost = next_cost(edge, count[edge], price, home, low, high, share_price)
                if cost + potential[node] == potential[other]:
                    level[other] = level[node] + 1
                    queue[num_queued] = other
                    num_queued += 1
    return num_queued


def push_along_levels(
    num_bins: int,
    bin_start: Column,
    bin_edge: Column,
    class_start: Column,
    edge_bin: Column,
    edge_class: Column,
    count: Column,
    home: Column,
    price: Column,
    low: Column,
    high: Column,
    share_price: int,
    potential: Column,
    part: Column,
    level: Column,
    cursor: Column,
    path: Column,
    given: Column,
    room: Column,
    sources: Column,
) -> int:
    """
    Push items from sources to bins with room, along arcs that go one level up.

    ``given[node]`` is the number of items that a source has to give and ``room[bin]``
    the number that a bin may take; both are reduced. ``cursor`` holds the first arc of
    every node; ``path`` has space for each node and each arc between. Returns the
    number of items pushed.
    """
    pushed = 0
    for source in sources:
        path[0] = source
        depth = 0
        while given[source] > 0:
            node = path[2 * depth]
            if node < num_bins and room[node] > 0 and depth > 0:
                amount = min(given[source], room[node])
                for step in range(depth):
                    edge = path[2 * step + 1]
                    is_more = path[2 * step] >= num_bins
                    alike = num_alike(
                        count[edge], home[edge], low[edge], high[edge], is_more
                    )
                    if alike > 0:
                        amount = min(amount, alike)
                    elif not is_more:
                        amount = min(amount, count[edge])
                for step in range(depth):
                    edge = path[2 * step + 1]
                    if path[2 * step] < num_bins:
                        count[edge] -= amount
                    else:
                        count[edge] += amount
                given[source] -= amount
                room[node] -= amount
                pushed += amount
                depth = 0
                continue
            if node < num_bins:
                stop = bin_start[node + 1]
            else:
                stop = class_start[node - num_bins + 1]
            has_advanced = False
            while cursor[node] < stop and not has_advanced:
                if node < num_bins:
                    edge = bin_edge[cursor[node]]
                    other = num_bins + edge_class[edge]
                    may = count[edge] > 0
                    cost = -next_cost(
                        edge, count[edge] - 1, price, home, low, high, share_price
                    )
                else:
                    edge = cursor[node]
                    other = edge_bin[edge]
                    may = True
                    cost = next_cost(
                        edge, count[edge], price, home, low, high, share_price
                    )
                if (
                    may
                    and level[other] == level[node] + 1
                    and part[other] == part[node]
                    and cost + potential[node] == potential[other]
                ):
                    has_advanced = True
                    path[2 * depth + 1] = edge
                    depth += 1
                    path[2 * depth] = other
                else:
                    cursor[node] += 1
            if not has_advanced:
                if depth == 0:
                    break
                depth -= 1
                cursor[path[2 * depth]] += 1
    return pushed


def find_distances(
    num_bins: int,
    bin_start: Column,
    bin_edge: Column,
    class_start: Column,
    edge_bin: Column,
    edge_class: Column,
    count: Column,
    home: Column,
    price: Column,
    low: Column,
    high: Column,
    share_price: int,
    potential: Column,
    label: Column,
    sources: Column,
) -> None:
    """
    Set the shortest distance of every node by reduced costs, from labels of sources.

    Dijkstra's algorithm; labels of other nodes are `UNREACHED` at first.
    """
    num_nodes = num_bins + len(class_start) - 1
    heap = [0]
    heap.pop()
    for source in sources:
        heapq.heappush(heap, label[source] * num_nodes + source)
    while len(heap) > 0:
        key = heapq.heappop(heap)
        distance = key // num_nodes
        node = key - distance * num_nodes
        if distance > label[node]:
            continue
        if node < num_bins:
            for place in range(bin_start[node], bin_start[node + 1]):
                edge = bin_edge[place]
                if count[edge] == 0:
                    continue
                other = num_bins + edge_class[edge]
                cost = -next_cost(
                    edge, count[edge] - 1, price, home, low, high, share_price
                )
                reached = distance + cost + potential[node] - potential[other]
                if reached < label[other]:
                    label[other] = reached
                    heapq.heappush(heap, reached * num_nodes + other)
        else:
            first = node - num_bins
            for edge in range(class_start[first], class_start[first + 1]):
                other = edge_bin[edge]
                cost = next_cost(edge, count[edge], price, home, low, high, share_price)
                reached = distance + cost + potential[node] - potential[other]
                if reached < label[other]:
                    label[other] = reached
                    heapq.heappush(heap, reached * num_nodes + other)


def fill_lowest(
    class_start: Column, edge_bin: Column, count: Column, load: Column, left: Column
) -> None:
    """
    Put the remaining items of each class into its bins, the least loaded first.

    Each class in turn is spread as evenly as its bins allow; ``left`` becomes 0.
    """
    for first in range(len(class_start) - 1):
        begin, stop = class_start[first], class_start[first + 1]
        if left[first] == 0 or begin == stop:
            continue
        heap = [(load[edge_bin[begin]], begin)]
        for edge in range(begin + 1, stop):
            heapq.heappush(heap, (load[edge_bin[edge]], edge))
        # Raise the lowest bins together to the level of the next, while items remain.
        lowest = [heapq.heappop(heap)]
        level = lowest[0][0]
        rest = left[first]
        while len(heap) > 0 and (heap[0][0] - level) * len(lowest) <= rest:
            rest -= (heap[0][0] - level) * len(lowest)
            level = heap[0][0]
            lowest.append(heapq.heappop(heap))
        level += rest // len(lowest)
        extras = rest % len(lowest)
        for at in range(len(lowest)):
            edge = lowest[at][1]
            amount = level - lowest[at][0] + (1 if at < extras else 0)
            count[edge] += amount
            load[edge_bin[edge]] += amount
        left[first] = 0
