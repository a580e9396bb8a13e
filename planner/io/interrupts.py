"""Deferral of Ctrl-C, for example between two renames that belong together."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupts_wait() -> Iterator[None]:
    """
    Defer SIGINT until the end of the block.

    For renames and removals only: longer work must stay interruptible.
    """
    if threading.current_thread() is not threading.main_thread():
        # Python delivers signals to the main thread only.
        yield
        return
    came: list[int] = []
    # Masking the signal does not suffice: another thread may receive it.
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
        if came:
            signal.raise_signal(signal.SIGINT)
