"""Edge colouring: of bipartite graphs exactly, of others with several per node."""

from typing import Any

from placement.core.kernels.jit import inner

Table = Any
NONE = -1
MOST_TRIES = 40
"""Pairs of colours tried for an edge before one more colour is taken."""


def colour_edges(
    source: Table,
    target: Table,
    num_colours: int,
    at_source: Table,
    at_target: Table,
    colour: Table,
    path: Table,
    previous: Table,
) -> None:
    """
    Colour the edges of a bipartite graph so that no two at a node are the same.

    Edges take the lowest colour free at both ends. Where there is none, colour ``a`` is
    free at the source and ``b`` at the target: along the path of ``a`` and ``b`` that
    starts at the target both are swapped, which frees ``a`` there. The path comes to
    sources by ``a`` alone, so it never reaches this one (König 1916).

    Where there is a choice, an edge gets a colour above that of the edge that
    `previous` names, or `NONE`, and that stands before it.

    `at_source` and `at_target` hold ``num_colours`` edges for each node, `NONE` at
    first; `path` has room for every edge. No node has more edges than colours.
    """
    for edge in range(len(source)):
        u, v = source[edge] * num_colours, target[edge] * num_colours
        a, b, chosen = NONE, NONE, NONE
        least = 0 if previous[edge] == NONE else colour[previous[edge]] + 1
        for c in range(num_colours):
            is_free = at_source[u + c] == NONE
            if is_free and a == NONE:
                a = c
            if at_target[v + c] == NONE:
                if b == NONE:
                    b = c
                if is_free and (chosen == NONE or chosen < least):
                    chosen = c if c >= least or chosen == NONE else chosen
                if chosen >= least:
                    break
        if chosen == NONE:
            tables = (at_source, at_target, colour, path)
            _swap(source, target, num_colours, tables, v, a, b)
            chosen = a
        colour[edge] = chosen
        at_source[u + chosen] = edge
        at_target[v + chosen] = edge


@inner
def _swap(
    source: Table,
    target: Table,
    num_colours: int,
    tables: Table,
    node: int,
    a: int,
    b: int,
) -> None:
    """Swap two colours along the path from a target that begins with the first."""
    at_source, at_target, colour, path = tables
    length, hue = 0, a
    edge = at_target[node + hue]
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


def colour_shared(
    first: Table,
    second: Table,
    num_colours: int,
    most_colours: int,
    cap: int,
    held: Table,
    places: Table,
    colour: Table,
    seen: Table,
    trail: Table,
) -> int:
    """
    Colour the edges of any graph so that at most `cap` at a node are the same.

    As `colour_edges`, but a node has room for several edges of a colour, and a trail
    may come back to where it began; then another pair of colours is tried, and at last
    one more colour is taken. Returns how many colours are used.

    `held` counts the edges of each node and colour, ``most_colours`` for each node, 0
    at first; `places` lists them, ``cap`` for each, `NONE` at first. `seen` holds 0 for
    each edge; `trail` bounds the steps of a trail by its length.
    """
    stamp = 0
    for edge in range(len(first)):
        u, v = first[edge] * most_colours, second[edge] * most_colours
        chosen, tries = NONE, 0
        for c in range(num_colours):
            if held[u + c] < cap and held[v + c] < cap:
                chosen = c
                break
        for pair in range(num_colours * num_colours):
            if chosen != NONE or tries == MOST_TRIES:
                break
            a, b = pair // num_colours, pair % num_colours
            if held[u + a] >= cap or held[v + b] >= cap:
                continue
            tries += 1
            stamp += 1
            length = _find_trail(
                first,
                second,
                most_colours,
                cap,
                held,
                places,
                seen,
                trail,
                edge,
                a,
                b,
                stamp,
            )
            if length > 0:
                _swap_shared(
                    first,
                    second,
                    most_colours,
                    cap,
                    held,
                    places,
                    colour,
                    trail,
                    length,
                    a + b,
                )
                chosen = a
        if chosen == NONE:
            chosen = num_colours
            num_colours += 1
        colour[edge] = chosen
        _put(held, places, cap, u + chosen, edge)
        _put(held, places, cap, v + chosen, edge)
    return num_colours


@inner
def _find_trail(
    first: Table,
    second: Table,
    most_colours: int,
    cap: int,
    held: Table,
    places: Table,
    seen: Table,
    trail: Table,
    edge: int,
    a: int,
    b: int,
    stamp: int,
) -> int:
    """Find edges to swap so that the second end has room for colour a; 0: none."""
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
        # The step takes the other colour, and so does its far end.
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
    held: Table,
    places: Table,
    colour: Table,
    trail: Table,
    length: int,
    both: int,
) -> None:
    for k in range(length):
        step = trail[k]
        for node in (first[step], second[step]):
            at = node * most_colours + colour[step]
            held[at] -= 1
            for j in range(at * cap, at * cap + cap):
                if places[j] == step:
                    places[j] = NONE
                    break
    for k in range(length):
        step = trail[k]
        colour[step] = both - colour[step]
        for node in (first[step], second[step]):
            _put(held, places, cap, node * most_colours + colour[step], step)


@inner
def _put(held: Table, places: Table, cap: int, at: int, edge: int) -> None:
    held[at] += 1
    for j in range(at * cap, at * cap + cap):
        if places[j] == NONE:
            places[j] = edge
            return
