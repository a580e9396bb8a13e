"""Distribution of weighted items over bins, the heaviest first."""

from collections.abc import Callable
from typing import Any

import numpy.typing as npt

from placement.core.search.kernels.jit import compiled
from placement.core.search.kernels.state import Column

NOWHERE = -1
MAX_PAIRED = 300
"""Largest number of items of a bin for which all pairs are examined."""
MIN_ITEMS_COMPILED = 20_000
"""Number of items below which kernels run uncompiled, faster than compiling them."""


def deal_to_lowest(
    order: Column, weight: Column, load: Column, share: Column, line: Column, to: Column
) -> None:
    """
    Give each item of `order` to the least full of all bins.

    ``line`` holds the bins as a binary heap by load over share, ties by lowest bin.
    Sets ``to[item]`` and increases ``load``.
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
    Release items of bins over their limit, with little weight beyond the excess.

    The items of bin ``b``, heaviest first, are ``order[start[b]:start[b + 1]]``. Items
    that fit into the excess are released first. The lightest sufficient item covers the
    rest, and released items that are not needed any more return to the bin.
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
            # Alternatively swap a released item for one heavier by the missing weight.
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
    Give each item to the next of the takers with room for its kind.

    ``held[first_pair[k] + bin]`` is the number of items of kind ``k`` in a bin, and
    ``most[k]`` their largest number; if no taker has room, the next one takes the item.
    ``lack[bin]`` is reduced to 0; its sum is the number of items.
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
    """Run a kernel compiled on arrays, or uncompiled on lists for few items."""
    if size >= MIN_ITEMS_COMPILED:
        compiled(kernel)(*columns)
        return
    lists = [column.tolist() for column in columns]
    kernel(*lists)
    for column, changed in zip(columns, lists, strict=True):
        if column.flags.writeable:
            column[:] = changed
