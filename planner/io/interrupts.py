"""Moments in which Ctrl-C waits: between two renames that belong together."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupts_wait() -> Iterator[None]:
    """
    Hold SIGINT back for a moment; it comes right after.

    For renames and removals only: what takes long must stay interruptible.
    """
    if threading.current_thread() is not threading.main_thread():
        # Python raises in the main thread alone.
        yield
        return
    came: list[int] = []
    # Masking the signal would not do: another thread may take it.
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
        if came:
            signal.raise_signal(signal.SIGINT)
