"""
Progress reports of a search: cost and lower bound of the incumbent.

Listeners are optional and do not affect the search.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Listener = Callable[[int, int], None]
_listeners: list[Listener] = []


def closing(cost: float, bound: float) -> None:
    """
    Report the cost and the lower bound of the incumbent to all listeners.

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
    """Return whether there is a listener."""
    return bool(_listeners)


@contextmanager
def listening(listen: Listener) -> Iterator[None]:
    """Call a function with every cost and bound reported within the context."""
    _listeners.append(listen)
    try:
        yield
    finally:
        _listeners.remove(listen)
