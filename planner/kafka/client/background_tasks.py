"""Background threads: waits with a time limit, and concurrent requests."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

Item = TypeVar("Item")
Value = TypeVar("Value")

AT_ONCE = 16
"""Largest number of concurrent requests: one core reads all large answers."""


class OverdueError(TimeoutError):
    """Error for work that exceeds its time limit."""


class Task(threading.Thread, Generic[Value]):
    """
    Work in a background thread, so that the wait for it can end.

    A name look-up blocks kafka-python's own thread without a time limit; no setting of
    the library bounds it. The thread never keeps the process alive.

    Parameters
    ----------
    work
        Function to run, started at once.
    """

    def __init__(self, work: Callable[[], Value]) -> None:
        super().__init__(daemon=True)
        self._work = work
        self._values: list[Value] = []
        self._error: BaseException | None = None
        self.start()

    def run(self) -> None:
        """Run the work, and keep its result or error."""
        try:
            self._values.append(self._work())
        except BaseException as error:
            self._error = error

    def result(self, limit_s: float | None = None) -> Value:
        """
        Wait, and return the result of the work or raise its error.

        Parameters
        ----------
        limit_s
            Time limit in seconds; `None`: no limit.

        Raises
        ------
        OverdueError
            If the work has not ended in time. The work continues.
        """
        self.join(None if limit_s is None else max(limit_s, 0.0))
        if self.is_alive():
            raise OverdueError
        if self._error is not None:
            raise self._error
        return self._values[0]


def each_at_once(
    work: Callable[[Item], Value], items: Sequence[Item], *, at_once: int = AT_ONCE
) -> list[Value]:
    """
    Run the work for each item, several at a time, and return results in item order.

    If several items fail, the error of the first one is raised. No further item is
    started after an error.
    """
    if len(items) < 2:
        return [work(item) for item in items]
    waiting = deque(enumerate(items))
    values: dict[int, Value] = {}
    errors: dict[int, BaseException] = {}

    def work_off() -> None:
        while waiting and not errors:
            try:
                position, item = waiting.popleft()
            except IndexError:  # another thread took the last one
                return
            try:
                values[position] = work(item)
            except BaseException as error:
                errors[position] = error

    for task in [Task(work_off) for _ in range(min(at_once, len(items)))]:
        task.result()
    if errors:
        raise errors[min(errors)]
    return [values[position] for position in range(len(items))]
