"""
Cost and bound of the answer that is being worked on, for whoever wants to show them.

Nobody has to listen, and nothing depends on whether anybody does.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Listener = Callable[[int, int], None]
_listeners: list[Listener] = []


def closing(cost: float, bound: float) -> None:
    """
    Report how far the gap between an answer and its bound has closed.

    Parameters
    ----------
    cost
        Cost of the incumbent.
    bound
        Lower bound on the cost.
    """
    for listen in _listeners:
        listen(int(cost), int(bound))


def is_listened_to() -> bool:
    """Return whether anybody wants to know."""
    return bool(_listeners)


@contextmanager
def listening(listen: Listener) -> Iterator[None]:
    """Call a function with every cost and bound, as long as the context lasts."""
    _listeners.append(listen)
    try:
        yield
    finally:
        _listeners.remove(listen)
