"""Admin client shared by several threads, and replaced when it may be stuck."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from planner.kafka.client.background_tasks import OverdueError, Task

Answer = TypeVar("Answer")

_CLOSING_S = 1.0


@dataclass(slots=True, eq=False)
class _Lease:
    """Admin client with the number of threads that use it."""

    admin: Any
    num_users: int
    is_dropped: bool = False


class Share:
    """
    Shared admin client of a cluster, created on first use.

    A client that failed one request may be stuck, while other brokers still answer it.
    Such a client gets no more requests, and is closed after its last answer.

    Parameters
    ----------
    make
        Function that creates a client within a number of seconds.
    doubtful
        Errors after which a client may be stuck.
    """

    def __init__(
        self,
        make: Callable[[float], Any],
        doubtful: tuple[type[BaseException], ...] = (Exception,),
    ) -> None:
        self._make = make
        self._doubtful = doubtful
        # Creation waits for brokers; the other threads then share the client.
        self._making = threading.Lock()
        self._counting = threading.Lock()
        self._current: _Lease | None = None
        self._open: set[_Lease] = set()

    def ask(self, question: Callable[[Any], Answer], limit_s: float) -> Answer:
        """
        Send a request, and drop the client if it may be stuck.

        Parameters
        ----------
        question
            Function that uses the client.
        limit_s
            Time limit in seconds, connecting included.

        Raises
        ------
        OverdueError
            If there is no answer in time. The client is closed then.
        """
        used: list[_Lease] = []

        def work() -> Answer:
            lease = self._borrow(limit_s)
            used.append(lease)
            try:
                return question(lease.admin)
            except self._doubtful:
                self._drop(lease)
                raise
            except RuntimeError:
                # Another thread closed the client after its time limit.
                if lease.is_dropped:
                    raise OverdueError from None
                raise
            finally:
                self._give_back(lease)

        try:
            return Task(work).result(limit_s)
        except OverdueError:
            # The thread waits for an answer that will not come.
            for lease in used:
                self._drop(lease)
                self._close(lease)
            raise

    def close(self) -> None:
        """Close every client; the next request creates a new one."""
        for lease in list(self._open):
            self._drop(lease)
            self._close(lease)

    def _borrow(self, limit_s: float) -> _Lease:
        if not self._making.acquire(timeout=max(limit_s, 0.0)):
            raise OverdueError
        try:
            with self._counting:
                if (current := self._current) is not None:
                    current.num_users += 1
                    return current
            lease = _Lease(self._make(limit_s), num_users=1)
            with self._counting:
                self._current = lease
                self._open.add(lease)
            return lease
        finally:
            self._making.release()

    def _give_back(self, lease: _Lease) -> None:
        with self._counting:
            lease.num_users -= 1
            is_over = lease.is_dropped and not lease.num_users
        if is_over:
            self._close(lease)

    def _drop(self, lease: _Lease) -> None:
        with self._counting:
            lease.is_dropped = True
            if self._current is lease:
                self._current = None

    def _close(self, lease: _Lease) -> None:
        with self._counting:
            is_open = lease in self._open
            self._open.discard(lease)
        if is_open:
            Task(lease.admin.close).join(_CLOSING_S)
