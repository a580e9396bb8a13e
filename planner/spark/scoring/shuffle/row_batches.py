"""What is handed to Spark together: each batch costs as much as many rows do."""

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
    Yield things in lists that are worth handing over.

    Parameters
    ----------
    each
        In their order.
    size_of
        Bytes that one takes.
    enough
        Bytes with which a list is complete.
    most
        Things with which it is, whatever they take.
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
