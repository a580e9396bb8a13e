"""A wall-clock limit, for people who want an answer by a time."""

import time
from collections.abc import Callable


class Deadline:
    """
    When a search must end; whether one did end because of it.

    What was decided by then is kept: hard rules are seen to first and whatever the
    time. With a deadline the same input need not give the same answer.

    Parameters
    ----------
    seconds
        From now on; `None`: never.
    clock
        Seconds since any start.
    """

    def __init__(
        self, seconds: float | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._end = None if seconds is None else clock() + seconds
        self.has_cut = False

    @property
    def is_set(self) -> bool:
        """Whether there is any limit."""
        return self._end is not None

    def left(self) -> float | None:
        """Return the seconds that are left; `None` where there is no limit."""
        return None if self._end is None else max(self._end - self._clock(), 0.0)

    def is_over(self) -> bool:
        """Return whether the time is up; work is then left undone, and that is kept."""
        if self._end is not None and self._clock() >= self._end:
            self.has_cut = True
            return True
        return False
