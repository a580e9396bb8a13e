r"""
Minimum number of waves for caps on copies in and out of a broker.

A broker with cap ``c`` is split into nodes of at most ``D`` copies each, which needs at
most ``c`` nodes, where

.. math:: D = \max_b \max(\lceil out_b / c_{out} \rceil, \lceil in_b / c_{in} \rceil).

No node has more than ``D`` edges, and a bipartite graph of degree ``D`` has an edge
colouring with ``D`` colours [1]_: the colours are waves. ``D`` is also a lower bound,
so it is the minimum.

References
----------
.. [1] König, D. (1916). Über Graphen und ihre Anwendung auf Determinantentheorie und
       Mengenlehre. *Mathematische Annalen* 77: 453-465.
       https://doi.org/10.1007/BF01456961
"""

from collections.abc import Callable
from heapq import heapreplace
from typing import Any

import numpy as np

from placement.array_types import RowArray
from placement.core.search.kernels.jit import compiled
from placement.waves.kernels.bit_sets import BITS
from placement.waves.kernels.edge_colours import colour_edges, colour_shared

COMPILED_FROM = 3000
"""Minimum number of copies for which compilation pays off."""
DIGIT = 2**16
"""Upper bound, exclusive, of numbers that fit two bytes."""
MOST_STEPS = 2000
"""Maximum steps of a trail where one cap covers both directions of a broker."""


def run_kernel(entry: Callable[..., Any], num_edges: int, *tables: Any) -> Any:  # noqa: ANN401 - a kernel's own
    """Run a kernel on lists, or compiled on arrays; arrays are changed in place."""
    if num_edges >= COMPILED_FROM:
        return compiled(entry)(*tables)
    listed = [t.tolist() if isinstance(t, np.ndarray) else t for t in tables]
    result = entry(*listed)
    for table, now in zip(tables, listed, strict=True):
        if isinstance(table, np.ndarray) and len(table):
            table[:] = now
    return result


def least_waves(nodes: RowArray, cap: int) -> int:
    """Return the waves that the busiest node needs: its copies over the cap."""
    if not len(nodes):
        return 0
    return int(-(-np.bincount(nodes).max() // cap))


def colour_copies(
    source: RowArray,
    target: RowArray,
    cap_out: int,
    cap_in: int,
    previous: RowArray | None = None,
    group: RowArray | None = None,
) -> RowArray:
    """
    Assign copies to the minimum number of waves.

    Parameters
    ----------
    source, target
        ``(E,)`` sending and receiving broker of each copy; a source below 0 has no cap.
        Copies early in the list get early waves where possible.
    cap_out, cap_in
        Maximum number of copies that a broker sends, and receives, in one wave. At
        least 1.
    previous
        ``(E,)`` index of an earlier copy in the list that should run in an earlier
        wave, as far as that costs no wave; -1: none. `None`: no copy has one.
    group
        ``(E,)`` group number of each copy. No two copies of a group, which have one
        sender, may run in one wave. `None`: no groups.

    Returns
    -------
    ``(E,)`` wave of each copy, from 0.

    Raises
    ------
    ValueError
        If a cap is below 1.

    Notes
    -----
    Takes ``O(E (D + path))`` time, where paths of swapped colours are short.

    A group stays in one node of its sender, whose edges all differ in colour. Where
    groups do not fill the nodes evenly, the result has a wave or two more than the
    minimum.
    """
    if cap_out < 1 or cap_in < 1:
        msg = f"caps must be at least 1, got {cap_out} out and {cap_in} in."
        raise ValueError(msg)
    count = len(source)
    if not count:
        return np.zeros(0, dtype=np.int64)
    known = source >= 0
    num = max(least_waves(source[known], cap_out), least_waves(target, cap_in))
    # Each unknown source is a node of its own.
    alone = np.arange(count) if group is None else group
    sender = np.where(known, source, source.max() + 1 + alone)
    if group is None:
        first, num_first = _cut(sender, num)
    else:
        num = max(num, least_waves(group, 1))
        first, num_first = _cut_apart(sender, group, cap_out, num)
        num = max(num, least_waves(first, 1))
    second, num_second = _cut(target, num)
    colour = np.full(count, -1, dtype=np.int64)
    run_kernel(
        colour_edges,
        count,
        first,
        second,
        num,
        -(-num // BITS),
        all_free(num_first, num),
        all_free(num_second, num),
        np.full(num_first * num, -1, dtype=np.int64),
        np.full(num_second * num, -1, dtype=np.int64),
        colour,
        np.zeros(count, dtype=np.int64),
        np.full(count, -1, dtype=np.int64) if previous is None else previous,
    )
    return colour


def all_free(num_nodes: int, num_colours: int) -> RowArray:
    """Return words of bits for each node, with one bit set per colour."""
    full, rest = divmod(num_colours, BITS)
    words = [2**BITS - 1] * full + [2**rest - 1] * (rest > 0)
    return np.tile(np.array(words, dtype=np.int64), num_nodes)


def stable_order(values: RowArray) -> RowArray:
    """Return the stable order of non-negative numbers, by radix below four bytes."""
    largest = int(values.max(initial=0))
    if largest >= DIGIT**2:
        return np.argsort(values, kind="stable")
    # Numpy sorts two-byte integers in linear time.
    order = np.argsort((values % DIGIT).astype(np.uint16), kind="stable")
    if largest < DIGIT:
        return order
    high = (values[order] // DIGIT).astype(np.uint16)
    return order[np.argsort(high, kind="stable")]


def _cut(nodes: RowArray, most: int) -> tuple[RowArray, int]:
    """Split each node into parts of at most `most` edges, in the order of the edges."""
    order = stable_order(nodes)
    ordered = nodes[order]
    starts = np.searchsorted(ordered, ordered)
    stops = np.searchsorted(ordered, ordered, side="right")
    # Round robin: consecutive copies can run in one wave.
    num_parts = -(-(stops - starts) // most)
    part = np.empty(len(nodes), dtype=np.int64)
    part[order] = (np.arange(len(nodes)) - starts) % num_parts
    key = nodes * (len(nodes) + 1) + part
    distinct, at = np.unique(key, return_inverse=True)
    return at.astype(np.int64), len(distinct)


def _cut_apart(
    nodes: RowArray, group: RowArray, most_parts: int, most: int
) -> tuple[RowArray, int]:
    """
    Split each node into parts with whole groups of edges, as evenly as possible.

    Parameters
    ----------
    nodes, group
        ``(E,)`` node and group of each edge; the edges of a group share one node.
    most_parts
        Maximum number of parts of a node.
    most
        Maximum edges of a part of a node whose groups have one edge each.
    """
    part, count = _cut(nodes, most)
    size = np.bincount(group)[group]
    crowded = np.unique(nodes[size > 1])
    if not len(crowded):
        return part, count
    order = stable_order(nodes)
    ends = np.searchsorted(nodes[order], [crowded, crowded + 1])
    for begin, end in ends.T.tolist():
        rows = order[begin:end]
        own = _even_parts(group[rows], most_parts)
        part[rows] = count + own
        count += int(own.max()) + 1
    distinct, at = np.unique(part, return_inverse=True)
    return at.astype(np.int64), len(distinct)


def _even_parts(group: RowArray, most_parts: int) -> RowArray:
    """Return the part of each edge; groups go to the emptiest part, largest first."""
    distinct, at, sizes = np.unique(group, return_inverse=True, return_counts=True)
    emptiest = [(0, part) for part in range(min(most_parts, len(distinct)))]
    part_of = np.zeros(len(distinct), dtype=np.int64)
    for row in np.argsort(-sizes, kind="stable").tolist():
        held, part = emptiest[0]
        part_of[row] = part
        heapreplace(emptiest, (held + int(sizes[row]), part))
    found: RowArray = part_of[at]
    return found


def colour_shared_copies(
    source: RowArray,
    target: RowArray,
    cap: int,
    previous: RowArray | None = None,
) -> RowArray:
    """
    Assign copies to few waves where one cap covers both directions of a broker.

    Parameters
    ----------
    source, target
        ``(E,)`` as in `colour_copies`; a source below 0 has no cap.
    cap
        Maximum number of copies that a broker sends and receives together in one wave.
        At least 1.
    previous
        ``(E,)`` as in `colour_copies`.

    Returns
    -------
    ``(E,)`` wave of each copy, from 0.

    Raises
    ------
    ValueError
        If the cap is below 1.

    Notes
    -----
    ``max ceil(copies / cap)`` is a lower bound on the waves. Reaching it is hard in
    general (a cap of 1 is edge colouring of any graph), but trails of swapped colours
    come within a wave or two of it.
    """
    if cap < 1:
        msg = f"the cap must be at least 1, got {cap}."
        raise ValueError(msg)
    count = len(source)
    if not count:
        return np.zeros(0, dtype=np.int64)
    nodes = int(max(source.max(), target.max())) + 1
    sender = np.where(source >= 0, source, nodes + np.arange(count))
    distinct, at = np.unique(np.concatenate([sender, target]), return_inverse=True)
    first, second = at[:count].astype(np.int64), at[count:].astype(np.int64)
    degree = np.bincount(at, minlength=len(distinct))
    least = int(-(-degree.max() // cap))
    # Shannon: 3/2 of the lower bound always suffices. A greedy choice, edge by edge,
    # finds a colour among twice the lower bound.
    most = 2 * least + 1
    colour = np.full(count, -1, dtype=np.int64)
    run_kernel(
        colour_shared,
        count,
        first,
        second,
        least,
        most,
        cap,
        -(-most // BITS),
        all_free(len(distinct), most),
        np.zeros(len(distinct) * most, dtype=np.int64),
        np.full(len(distinct) * most * cap, -1, dtype=np.int64),
        colour,
        np.zeros(count, dtype=np.int64),
        np.zeros(min(count, MOST_STEPS) + 1, dtype=np.int64),
        np.full(count, -1, dtype=np.int64) if previous is None else previous,
    )
    return colour
