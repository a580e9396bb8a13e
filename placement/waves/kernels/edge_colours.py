"""Edge colouring: optimal for bipartite graphs, and with a cap for other graphs."""

from typing import Any

from placement.core.search.kernels.jit import inner
from placement.waves.kernels.bit_sets import give, next_common, next_free, take

Table = Any
NONE = -1
MOST_TRIES = 40
"""Maximum pairs of colours to try for an edge before adding a colour."""


def colour_edges(
    source: Table,
    target: Table,
    num_colours: int,
    words: int,
    free_source: Table,
    free_target: Table,
    at_source: Table,
    at_target: Table,
    colour: Table,
    path: Table,
    previous: Table,
) -> None:
    """
    Colour the edges of a bipartite graph so that no two at a node have one colour.

    Edges take the lowest colour free at both ends. If there is none, some colour ``a``
    is free at the source and some ``b`` at the target: swapping ``a`` and ``b`` along
    the path that starts at the target frees ``a`` there. The path reaches sources by
    edges of ``a`` alone, so it never reaches the source of the edge (König 1916).

    Where possible, an edge gets a colour above that of its earlier edge in `previous`
    (`NONE`: no such edge).

    `at_source` and `at_target` hold ``num_colours`` edges for each node, initially
    `NONE`. `free_source` and `free_target` hold the free colours of each node as
    `words` words of bits, initially all. `path` has room for every edge. No node has
    more edges than colours.
    """
    for edge in range(len(source)):
        u, v = source[edge], target[edge]
        chosen = NONE
        if previous[edge] != NONE:
            least = colour[previous[edge]] + 1
            chosen = next_common(free_source, free_target, words, u, v, least)
        if chosen == NONE:
            chosen = next_common(free_source, free_target, words, u, v, 0)
        if chosen == NONE:
            chosen = next_free(free_source, words, u, 0)
            b = next_free(free_target, words, v, 0)
            tables = (free_source, free_target, at_source, at_target, colour, path)
            _swap(source, target, num_colours, words, tables, v, chosen, b)
        colour[edge] = chosen
        at_source[u * num_colours + chosen] = edge
        at_target[v * num_colours + chosen] = edge
        take(free_source, words, u, chosen)
        take(free_target, words, v, chosen)


@inner
def _swap(
    source: Table,
    target: Table,
    num_colours: int,
    words: int,
    tables: Table,
    node: int,
    a: int,
    b: int,
) -> None:
    """Swap two colours along the path from a target that begins with colour `a`."""
    free_source, free_target, at_source, at_target, colour, path = tables
    length, hue = 0, a
    edge = at_target[node * num_colours + hue]
    while edge != NONE:
        path[length] = edge
        length += 1
        hue = a + b - hue
        # Odd steps end at sources, even ones at targets.
        if length % 2 == 1:
            edge = at_source[source[edge] * num_colours + hue]
        else:
            edge = at_target[target[edge] * num_colours + hue]
    for k in range(length):
        edge = path[k]
        at_source[source[edge] * num_colours + colour[edge]] = NONE
        at_target[target[edge] * num_colours + colour[edge]] = NONE
    for k in range(length):
        edge = path[k]
        colour[edge] = a + b - colour[edge]
        at_source[source[edge] * num_colours + colour[edge]] = edge
        at_target[target[edge] * num_colours + colour[edge]] = edge
    # Inner nodes of the path still use both colours; its two ends change one.
    give(free_target, words, node, a)
    take(free_target, words, node, b)
    last = path[length - 1]
    if length % 2 == 1:
        give(free_source, words, source[last], a + b - colour[last])
        take(free_source, words, source[last], colour[last])
    else:
        give(free_target, words, target[last], a + b - colour[last])
        take(free_target, words, target[last], colour[last])


def colour_shared(
    first: Table,
    second: Table,
    num_colours: int,
    most_colours: int,
    cap: int,
    words: int,
    free: Table,
    held: Table,
    places: Table,
    colour: Table,
    seen: Table,
    trail: Table,
    previous: Table,
) -> int:
    """
    Colour the edges of any graph so that at most `cap` at a node have one colour.

    Works as `colour_edges`, but a node has room for several edges of a colour, and a
    trail may return to an end of its edge. Another pair of colours is tried then, and
    after `MOST_TRIES` pairs a colour is added. `previous` is as in `colour_edges`.
    Returns the number of colours used.

    `held` counts the edges of each node and colour, ``most_colours`` for each node,
    initially 0. `places` lists these edges, ``cap`` for each pair, initially `NONE`.
    `free` holds the colours with room left as `words` words of bits, initially all.
    `seen` is 0 for each edge, and the length of `trail` limits the steps of a trail.
    """
    stamp = 0
    tables = (free, held, places, colour, seen, trail)
    for edge in range(len(first)):
        u, v = first[edge], second[edge]
        chosen = NONE
        if previous[edge] != NONE:
            least = colour[previous[edge]] + 1
            chosen = next_common(free, free, words, u, v, least)
        if chosen == NONE or chosen >= num_colours:
            chosen = next_common(free, free, words, u, v, 0)
        if chosen == NONE or chosen >= num_colours:
            chosen, tries = NONE, 0
            a = next_free(free, words, u, 0)
            while a != NONE and a < num_colours and chosen == NONE:
                b = next_free(free, words, v, 0)
                while b != NONE and b < num_colours and chosen == NONE:
                    if tries == MOST_TRIES:
                        break
                    tries += 1
                    stamp += 1
                    length = _find_trail(
                        first, second, most_colours, cap, tables, edge, a, b, stamp
                    )
                    if length > 0:
                        _swap_shared(
                            first,
                            second,
                            most_colours,
                            cap,
                            words,
                            tables,
                            length,
                            a + b,
                        )
                        chosen = a
                    b = next_free(free, words, v, b + 1)
                a = next_free(free, words, u, a + 1)
                if tries == MOST_TRIES:
                    break
        if chosen == NONE:
            chosen = num_colours
            num_colours += 1
        colour[edge] = chosen
        _put(tables, most_colours, cap, words, u, chosen, edge)
        _put(tables, most_colours, cap, words, v, chosen, edge)
    return num_colours


@inner
def _find_trail(
    first: Table,
    second: Table,
    most_colours: int,
    cap: int,
    tables: Table,
    edge: int,
    a: int,
    b: int,
    stamp: int,
) -> int:
    """Return the length of a trail that makes room for `a` at the second end, or 0."""
    _, held, places, _, seen, trail = tables
    length, node, hue = 0, second[edge], a
    while length < len(trail):
        start = (node * most_colours + hue) * cap
        step = NONE
        for k in range(cap):
            found = places[start + k]
            if found != NONE and seen[found] != stamp:
                step = found
                break
        if step == NONE:
            return 0
        seen[step] = stamp
        trail[length] = step
        length += 1
        node = second[step] if first[step] == node else first[step]
        if node == first[edge] or node == second[edge]:
            return 0
        # The edge changes to the other colour, for which its far end needs room.
        hue = a + b - hue
        if held[node * most_colours + hue] < cap:
            return length
    return 0


@inner
def _swap_shared(
    first: Table,
    second: Table,
    most_colours: int,
    cap: int,
    words: int,
    tables: Table,
    length: int,
    both: int,
) -> None:
    free, held, places, colour, _, trail = tables
    for k in range(length):
        step = trail[k]
        for node in (first[step], second[step]):
            at = node * most_colours + colour[step]
            held[at] -= 1
            give(free, words, node, colour[step])
            for j in range(at * cap, at * cap + cap):
                if places[j] == step:
                    places[j] = NONE
                    break
    for k in range(length):
        step = trail[k]
        colour[step] = both - colour[step]
        for node in (first[step], second[step]):
            _put(tables, most_colours, cap, words, node, colour[step], step)


@inner
def _put(
    tables: Table,
    most_colours: int,
    cap: int,
    words: int,
    node: int,
    hue: int,
    edge: int,
) -> None:
    free, held, places, _, _, _ = tables
    at = node * most_colours + hue
    held[at] += 1
    if held[at] >= cap:
        take(free, words, node, hue)
    for j in range(at * cap, at * cap + cap):
        if places[j] == NONE:
            places[j] = edge
            return
