"""Limits of exact models: deterministic seconds, and seconds to a deadline."""

from collections.abc import Callable

Left = Callable[[], float | None]
"""Function that returns the seconds to a deadline; `None`: no deadline."""
Limits = tuple[float, Left]
"""Deterministic seconds, and the seconds to a deadline."""
LEAST_WORK = 1e-3
"""Smallest work limit of one solve, in deterministic seconds; below it, no solve."""


def no_deadline() -> float | None:
    """Return `None`: there is no deadline."""
    return None
