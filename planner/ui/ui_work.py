"""
Figures and plans in the background: the newest are made, older ones are stopped.

Figures come first, each in a thread of its own that ends as soon as they are wanted no
more. One more thread gives orders for plans to one process. A plan that is stopped ends
at its next stage; if that takes long, the process is ended and another one started.
"""

import ctypes
import signal
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from planner.errors import PlannerError
from planner.snapshot import Snapshot
from planner.ui.ui_answer import FirstAnswer, Heard, PlanAnswer
from planner.ui.ui_play import Play
from planner.ui.ui_worker import (
    Order,
    Refused,
    Stop,
    StoppedError,
    Written,
    serve,
)

GRACE_S = 1.0
"""Seconds in which a stopped order may end by itself."""
CLOSE_S = 30.0
"""Seconds to wait at the end for a process that is just being started."""
POLL_S = 0.05
STOPPED = Refused("stopped")
"""Outcome of an order that is wanted no more."""
ENDED = Refused("the process that plans has ended; change something, or plan again")

Outcome = PlanAnswer | Refused | Written


@dataclass(slots=True, eq=False)
class Job:
    """
    One order, and its outcome.

    Parameters
    ----------
    order
        The order.
    words
        Present stage.
    began
        Time of the order, in seconds of a monotonic clock.
    outcome
        Outcome; `None` while the order is carried out.
    """

    order: Order
    words: str = "planning"
    began: float = field(default_factory=time.monotonic)
    outcome: Outcome | None = None
    is_stopped: bool = False
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def seconds(self) -> float:
        """Seconds since the order was given."""
        return time.monotonic() - self.began

    def end(self, outcome: Outcome) -> None:
        """Set the outcome, once."""
        if self.outcome is None:
            self.outcome = outcome
            self.ended.set()


class PlanWork:
    """
    Queue of orders for the process that plans.

    Parameters
    ----------
    snapshot
        Today's cluster.
    target
        Main function of the process; another one in tests.
    """

    def __init__(self, snapshot: Snapshot, target: Callable[..., None] = serve) -> None:
        self._snapshot = snapshot
        self._target = target
        self._jobs: deque[Job] = deque()
        self._changed = threading.Condition()
        self._is_closed = False
        self._context = get_context("spawn")
        self._process: Any = None
        self._link: Connection | None = None
        self._thread = threading.Thread(target=self._run, name="plans", daemon=True)
        self._thread.start()

    def ask(self, order: Order) -> Job:
        """Give an order. A new plan stops every older one; folders are all written."""
        job = Job(order)
        with self._changed:
            if order.folder is None:
                self._stop_plans()
            self._jobs.append(job)
            self._changed.notify_all()
        return job

    def stop(self) -> None:
        """Stop every plan."""
        with self._changed:
            self._stop_plans()

    def _stop_plans(self) -> None:
        for job in self._jobs:
            if job.order.folder is None:
                job.is_stopped = True
                job.end(STOPPED)

    def close(self) -> None:
        """Stop everything, and end the process."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        self._thread.join(CLOSE_S)
        self._end_process()

    def _run(self) -> None:
        # Inherited by the process: Ctrl-C reaches all processes of a terminal, and this
        # one is ended by the page's.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        self._start_process()
        while True:
            with self._changed:
                while not self._jobs and not self._is_closed:
                    self._changed.wait()
                if self._is_closed:
                    return
                job = self._jobs[0]
            if job.outcome is None:
                self._carry_out(job)
            with self._changed:
                self._jobs.popleft()

    def _carry_out(self, job: Job) -> None:
        link = self._link or self._start_process()
        try:
            link.send(job.order)
            outcome = self._outcome(job, link)
        except (EOFError, OSError):
            outcome = None
        if outcome is None:
            self._end_process()
            self._start_process()
        job.end(outcome or ENDED)

    def _outcome(self, job: Job, link: Connection) -> Outcome | None:
        """Return the outcome of a job; `None` where the process must be ended."""
        stopped_at = None
        while not self._is_closed:
            if link.poll(POLL_S):
                reply = link.recv()
                if not isinstance(reply, str):
                    return reply  # type: ignore[no-any-return] # of a connection
                job.words = reply
            if job.is_stopped and stopped_at is None:
                link.send(Stop())
                stopped_at = time.monotonic()
            if stopped_at is not None and time.monotonic() - stopped_at > GRACE_S:
                return None
        return None

    def _start_process(self) -> Connection:
        ours, theirs = self._context.Pipe()
        self._process = self._context.Process(
            target=self._target,
            args=(theirs, self._snapshot),
            name="kafka-planner plans",
            daemon=True,
        )
        self._process.start()
        theirs.close()
        self._link = ours
        return ours

    def _end_process(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None
        if self._link is not None:
            self._link.close()
            self._link = None


Compute = Callable[[Play, Heard], FirstAnswer]


@dataclass(slots=True, eq=False)
class FirstJob:
    """
    A first answer that is being computed.

    Parameters
    ----------
    play
        Scenarios and options.
    then
        Called with the answer, before the job ends.
    words
        Present stage.
    began
        Time of the request, in seconds of a monotonic clock.
    outcome
        Answer or refusal; `None` until it ends.
    """

    play: Play
    then: Callable[[FirstAnswer], None]
    words: str = "computing the figures"
    began: float = field(default_factory=time.monotonic)
    outcome: FirstAnswer | Refused | None = None
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def seconds(self) -> float:
        """Seconds since the request."""
        return time.monotonic() - self.began

    def end(self, outcome: FirstAnswer | Refused) -> None:
        """Set the outcome, once."""
        if self.outcome is None:
            self.outcome = outcome
            self.ended.set()


class FirstWork:
    """
    Computation of first answers, the newest alone, each in a thread of its own.

    Parameters
    ----------
    compute
        Returns the first answer to a state, and reports its stages.
    """

    def __init__(self, compute: Compute) -> None:
        self._compute = compute
        self._present: tuple[FirstJob, threading.Thread] | None = None
        self._newest = 0
        self._changing = threading.Lock()

    def ask(
        self, play: Play, then: Callable[[FirstAnswer], None], turn: int
    ) -> FirstJob:
        """
        Ask for an answer; an older one that is not there is stopped.

        Parameters
        ----------
        play
            Scenarios and options.
        then
            Called with the answer.
        turn
            Place in the order of requests. Where a newer one has asked, nothing is
            computed.
        """
        job = FirstJob(play, then)
        thread = threading.Thread(
            target=self._run, args=(job,), name="answers", daemon=True
        )
        with self._changing:
            if turn < self._newest:
                job.end(STOPPED)
                return job
            self._newest = turn
            self._stop()
            self._present = job, thread
            thread.start()
        return job

    def stop(self) -> None:
        """Stop the answer that is being computed."""
        with self._changing:
            self._stop()

    def _stop(self) -> None:
        if self._present is None:
            return
        job, thread = self._present
        self._present = None
        job.end(STOPPED)
        # Raised at the next step in Python of the thread, which has not ended: it would
        # have waited for this lock, and left its place.
        ident, error = ctypes.c_ulong(thread.ident or 0), ctypes.py_object(StoppedError)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, error)

    def _run(self, job: FirstJob) -> None:
        with suppress(StoppedError):
            try:
                outcome = self._outcome(job)
                if job.outcome is None and isinstance(outcome, FirstAnswer):
                    job.then(outcome)
                job.end(outcome)
            finally:
                with self._changing:
                    if self._present is not None and self._present[0] is job:
                        self._present = None

    def _outcome(self, job: FirstJob) -> FirstAnswer | Refused:
        def heard(words: str) -> None:
            job.words = words

        try:
            return self._compute(job.play, heard)
        except PlannerError as error:
            return Refused(error.message, error.problems)
        except StoppedError:
            return STOPPED
        except Exception as error:
            # Shown on the page, which stays alive.
            return Refused(f"the figures failed: {type(error).__name__}: {error}")
