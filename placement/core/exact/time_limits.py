"""Limits of exact models: deterministic seconds, and seconds where somebody waits."""

from collections.abc import Callable

Left = Callable[[], float | None]
"""Returns the seconds to a deadline; `None`: there is none."""
Limits = tuple[float, Left]
"""Deterministic seconds, and the seconds to a deadline."""
LEAST_WORK = 1e-3
"""Smallest limit of one solve, in deterministic seconds; below nothing is asked."""


def no_deadline() -> float | None:
    """Return that there is no deadline."""
    return None
