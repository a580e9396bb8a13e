"""Work done beside: waits that can end, and many brokers asked at once."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

Item = TypeVar("Item")
Value = TypeVar("Value")

AT_ONCE = 16
"""Most questions under way at a time: answers are large, and are read by one core."""


class OverdueError(TimeoutError):
    """Something did not end in its time."""


class Task(threading.Thread, Generic[Value]):
    """
    Something done beside, so that the wait for it can end.

    A look-up of a name blocks kafka-python's own thread for as long as it takes; no
    setting of the library bounds that. The thread never keeps the process alive.

    Parameters
    ----------
    work
        What to do; it begins at once.
    """

    def __init__(self, work: Callable[[], Value]) -> None:
        super().__init__(daemon=True)
        self._work = work
        self._values: list[Value] = []
        self._error: BaseException | None = None
        self.start()

    def run(self) -> None:
        """Do the work, and keep what came of it."""
        try:
            self._values.append(self._work())
        except BaseException as error:
            self._error = error

    def result(self, limit_s: float | None = None) -> Value:
        """
        Wait, and return what the work returned or raise what it raised.

        Parameters
        ----------
        limit_s
            Seconds; `None`: until it ends.

        Raises
        ------
        OverdueError
            If it has not ended in time. It goes on.
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
    Do the same for each item, some at a time, and return what came of it in order.

    Of several errors that of the first item is raised; after an error no other item
    is begun.
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
