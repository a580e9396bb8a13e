"""Stopwatch for the parts of a solve."""

import time


class Stopwatch:
    """Seconds spent on each part of a solve; no decision depends on them."""

    def __init__(self) -> None:
        self.spent = {"solve": 0.0, "bound": 0.0}
        self._last = time.perf_counter()

    def lap(self, part: str) -> None:
        """Add the time since the last call to a part."""
        now = time.perf_counter()
        self.spent[part] += now - self._last
        self._last = now
