"""Weighted items dealt out to bins, the heaviest first."""

from collections.abc import Callable
from typing import Any

import numpy.typing as npt

from placement.core.search.kernels.jit import compiled
from placement.core.search.kernels.state import Column

NOWHERE = -1
MAX_PAIRED = 300
"""Items of a bin of which all pairs are looked at."""
MIN_ITEMS_COMPILED = 20_000
"""Below, the same code runs uncompiled: it takes less than compiling would."""


def deal_to_lowest(
    order: Column, weight: Column, load: Column, share: Column, line: Column, to: Column
) -> None:
    """
    Give each item of `order` to the bin that is least full, any bin will do.

    ``line`` holds the bins as a binary heap by load over share, the lowest bin first of
    equals; ``to[item]`` is set, and loads grow.
    """
    size = len(line)
    for item in order:
        taker = line[0]
        to[item] = taker
        load[taker] += weight[item]
        full = load[taker] / share[taker]
        at = 0
        while True:
            child = 2 * at + 1
            if child >= size:
                break
            best = line[child]
            fullness = load[best] / share[best]
            if child + 1 < size:
                other = line[child + 1]
                others = load[other] / share[other]
                if others < fullness or (others == fullness and other < best):
                    child += 1
                    best = other
                    fullness = others
            if full < fullness or (full == fullness and taker < best):
                break
            line[at] = best
            at = child
        line[at] = taker


def deal_to_readers(
    order: Column,
    weight: Column,
    load: Column,
    share: Column,
    item_class: Column,
    class_start: Column,
    edge_bin: Column,
    to: Column,
) -> None:
    """Give each item of `order` to the least full of the bins of its class."""
    for item in order:
        first = item_class[item]
        taker = NOWHERE
        lowest = 0.0
        for edge in range(class_start[first], class_start[first + 1]):
            other = edge_bin[edge]
            full = load[other] / share[other]
            if taker == NOWHERE or full < lowest:
                taker = other
                lowest = full
        to[item] = taker
        load[taker] += weight[item]


def release(
    order: Column,
    weight: Column,
    start: Column,
    load: Column,
    limit: Column,
    to: Column,
) -> None:
    """
    Take items out of bins that hold more than their limit, as little as covers it.

    The items of bin ``b``, heaviest first, are ``order[start[b]:start[b + 1]]``. What
    fits the excess is taken; what is then left of it is covered by the lightest item
    that does, and what was taken before is put back where it is covered without.
    """
    for b in range(len(limit)):
        excess = load[b] - limit[b]
        if excess <= 0:
            continue
        taken = 0.0
        for place in range(start[b], start[b + 1]):
            item = order[place]
            if weight[item] <= excess - taken:
                to[item] = NOWHERE
                taken += weight[item]
        if taken < excess:
            missing = excess - taken
            cover = NOWHERE
            for place in range(start[b], start[b + 1]):
                item = order[place]
                if to[item] != NOWHERE and weight[item] >= missing:
                    cover = item
            # Or one goes instead of another that is lighter by what is missing.
            back = NOWHERE
            if cover != NOWHERE and start[b + 1] - start[b] <= MAX_PAIRED:
                least = weight[cover] - missing
                for place in range(start[b], start[b + 1]):
                    item = order[place]
                    if to[item] == NOWHERE:
                        for other_place in range(start[b], place):
                            other = order[other_place]
                            over = weight[other] - weight[item] - missing
                            if to[other] != NOWHERE and 0 <= over < least:
                                least = over
                                cover = other
                                back = item
            if back != NOWHERE:
                to[back] = b
                taken -= weight[back]
            if cover != NOWHERE:
                to[cover] = NOWHERE
                taken += weight[cover]
                for place in range(start[b], start[b + 1]):
                    item = order[place]
                    if (
                        to[item] == NOWHERE
                        and item != cover
                        and taken - weight[item] >= excess
                    ):
                        to[item] = b
                        taken -= weight[item]
        load[b] -= taken


def deal_in_turn(
    items: Column,
    kind: Column,
    first_pair: Column,
    most: Column,
    held: Column,
    lack: Column,
    takers: Column,
    to: Column,
) -> None:
    """
    Give each item to the next of the takers that has not enough of its kind.

    ``held[first_pair[k] + bin]`` is what a bin has of kind ``k``, of which ``most[k]``
    is enough; where all have enough, the next takes it. ``lack[bin]`` is used up: in
    sum as many as there are items.
    """
    size = len(takers)
    at = 0
    for item in items:
        first = first_pair[kind[item]]
        place = at
        for turn in range(size):
            place = (at + turn) % size
            if held[first + takers[place]] < most[kind[item]]:
                break
        else:
            place = at
        taker = takers[place]
        to[item] = taker
        held[first + taker] += 1
        lack[taker] -= 1
        if lack[taker] == 0:
            size -= 1
            takers[place] = takers[size]
        elif place == at:
            at += 1
        if at >= size:
            at = 0


def run_sized(
    kernel: Callable[..., Any], size: int, *columns: npt.NDArray[Any]
) -> None:
    """Run a kernel compiled on arrays, or on lists where there are few items."""
    if size >= MIN_ITEMS_COMPILED:
        compiled(kernel)(*columns)
        return
    lists = [column.tolist() for column in columns]
    kernel(*lists)
    for column, changed in zip(columns, lists, strict=True):
        if column.flags.writeable:
            column[:] = changed
