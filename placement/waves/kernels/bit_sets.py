"""
Sets of free colours at nodes as bits, searched from the lowest colour.

A node has `words` integers of `BITS` colours each; a bit is set where its colour is
free. Few of many waves are free, so a search skips most of them a word at a time.
"""

from typing import Any

from placement.core.search.kernels.jit import inner

Table = Any
NONE = -1
BITS = 62
"""Colours per word, so that a signed 64-bit integer is never negative."""


@inner
def lowest_bit(word: int) -> int:
    """Return the index of the lowest set bit of a word that is not 0."""
    at = 0
    if word & 0xFFFFFFFF == 0:
        word >>= 32
        at += 32
    if word & 0xFFFF == 0:
        word >>= 16
        at += 16
    if word & 0xFF == 0:
        word >>= 8
        at += 8
    if word & 0xF == 0:
        word >>= 4
        at += 4
    if word & 0x3 == 0:
        word >>= 2
        at += 2
    return at + 1 - (word & 1)


@inner
def next_common(
    free_u: Table, free_v: Table, words: int, u: int, v: int, least: int
) -> int:
    """Return the lowest colour from `least` on that is free at two nodes, or `NONE`."""
    first = least // BITS
    for w in range(first, words):
        both = free_u[u * words + w] & free_v[v * words + w]
        if w == first:
            both = (both >> (least % BITS)) << (least % BITS)
        if both != 0:
            return w * BITS + lowest_bit(both)
    return NONE


@inner
def next_free(free: Table, words: int, node: int, least: int) -> int:
    """Return the lowest colour from `least` on that is free at a node, or `NONE`."""
    return next_common(free, free, words, node, node, least)


@inner
def take(free: Table, words: int, node: int, colour: int) -> None:
    """Mark a colour as used at a node."""
    bit = 1 << (colour % BITS)
    free[node * words + colour // BITS] &= ~bit


@inner
def give(free: Table, words: int, node: int, colour: int) -> None:
    """Mark a colour as free at a node."""
    bit = 1 << (colour % BITS)
    free[node * words + colour // BITS] |= bit
