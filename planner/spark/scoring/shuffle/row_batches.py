"""Batches of values sent to Spark together: each batch has a fixed cost."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Thing = TypeVar("Thing")


def gathered(
    each: Iterable[Thing],
    size_of: Callable[[Thing], int],
    *,
    enough: int,
    most: int,
) -> Iterator[list[Thing]]:
    """
    Yield values in lists that are large enough to be sent.

    Parameters
    ----------
    each
        The values, in order.
    size_of
        Returns the size of a value: bytes, or rows.
    enough
        Size at which a list is complete.
    most
        Number of values at which a list is complete, whatever their size.
    """
    waiting: list[Thing] = []
    size = 0
    for one in each:
        waiting.append(one)
        size += size_of(one)
        if size >= enough or len(waiting) >= most:
            yield waiting
            waiting, size = [], 0
    if waiting:
        yield waiting
