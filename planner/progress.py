"""
What is being done, for whoever wants to show it.

The parts that take long say so by `stage`, and nobody has to listen: a command line
shows it on a terminal, a program hears nothing.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple


class Stage(NamedTuple):
    """
    What is being done.

    Parameters
    ----------
    words
        As in ``reading prod.json``.
    done, total
        How many of how many steps are done; 0 of 0 where nobody counts.
    """

    words: str
    done: int = 0
    total: int = 0

    def __str__(self) -> str:
        return f"{self.words} {self.done}/{self.total}" if self.total else self.words


Listener = Callable[[Stage], None]
_listeners: list[Listener] = []


def stage(words: str, done: int = 0, total: int = 0) -> None:
    """
    Say what is done from now on.

    Parameters
    ----------
    words, done, total
        As of `Stage`.
    """
    for listen in _listeners:
        listen(Stage(words, done, total))


@contextmanager
def listening(listen: Listener) -> Iterator[None]:
    """Call a function with every stage, as long as the context lasts."""
    _listeners.append(listen)
    try:
        yield
    finally:
        _listeners.remove(listen)
