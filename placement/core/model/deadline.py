"""Wall-clock limit of a search."""

import time
from collections.abc import Callable

PROOFS = 0.1
"""Part of a time limit that proofs may take beyond it (0-1)."""


class Deadline:
    """
    Time at which a search must end, and whether it ended a search.

    The search keeps the best answer found by then. Hard rules come first, whatever the
    time. With a deadline, equal input need not give an equal answer.

    Parameters
    ----------
    seconds
        Seconds from now; `None`: no limit.
    clock
        Function that returns seconds since any fixed point.
    """

    def __init__(
        self, seconds: float | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._proofs = 0.0 if seconds is None else PROOFS * seconds
        self._end = None if seconds is None else clock() + seconds
        self.has_cut = False

    @property
    def is_set(self) -> bool:
        """Whether there is a limit."""
        return self._end is not None

    def left(self) -> float | None:
        """Return the seconds left, at least 0; `None` without a limit."""
        return None if self._end is None else max(self._end - self._clock(), 0.0)

    def is_over(self) -> bool:
        """Return whether the time is up, and record that it was in `has_cut`."""
        return self._is_past(0.0)

    def is_over_for_proofs(self) -> bool:
        """Return whether proofs must end as well, a part of the limit later."""
        return self._is_past(self._proofs)

    def _is_past(self, later: float) -> bool:
        if self._end is not None and self._clock() >= self._end + later:
            self.has_cut = True
            return True
        return False
