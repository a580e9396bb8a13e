"""
Sets of colours as bits: which are free at a node, the lowest first.

A node has `words` integers of `BITS` colours each; a bit is set where its colour is
free. Waves are many and the free ones few, so that most are passed over by the word.
"""

from typing import Any

from placement.core.search.kernels.jit import inner

Table = Any
NONE = -1
BITS = 62
"""Colours in a word: a signed integer of 64 bits holds them, and is never below 0."""


@inner
def lowest_bit(word: int) -> int:
    """Return the place of the lowest bit that is set; there is one."""
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
    """Say that a colour is free no more."""
    bit = 1 << (colour % BITS)
    free[node * words + colour // BITS] &= ~bit


@inner
def give(free: Table, words: int, node: int, colour: int) -> None:
    """Say that a colour is free again."""
    bit = 1 << (colour % BITS)
    free[node * words + colour // BITS] |= bit
