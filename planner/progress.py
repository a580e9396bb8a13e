"""
Progress of long work, reported to listeners.

Long work reports its stages by `stage`. The command line listens and shows them on a
terminal; in a program without listeners the reports have no effect.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple


class Stage(NamedTuple):
    """
    Stage of the work.

    Parameters
    ----------
    words
        Description, such as ``reading prod.json``.
    done, total
        Number of finished steps and of all steps; both 0 where steps are not counted.
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
    Report the beginning of a stage to all listeners.

    Parameters
    ----------
    words, done, total
        Fields of the `Stage`.
    """
    for listen in _listeners:
        listen(Stage(words, done, total))


@contextmanager
def listening(listen: Listener) -> Iterator[None]:
    """Call a function with every stage that begins inside the context."""
    _listeners.append(listen)
    try:
        yield
    finally:
        _listeners.remove(listen)
