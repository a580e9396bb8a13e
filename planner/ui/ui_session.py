"""One cluster on the page: first answers, plans in the background, all kept."""

import json
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from planner.snapshot import Snapshot
from planner.ui.ui_answer import Answerer, FirstAnswer, PlanAnswer
from planner.ui.ui_play import Play
from planner.ui.ui_work import FirstJob, FirstWork, Job, PlanWork
from planner.ui.ui_worker import Order, Refused

MOST_KEPT = 50
"""Largest number of states whose answers are kept, for undo."""
WAIT_S = 1.0
"""Seconds after which a first answer that is not there is shown in progress."""


@dataclass(slots=True, eq=False)
class Answer:
    """
    Answer to one state, as far as it is there.

    Parameters
    ----------
    play
        Scenarios and options.
    first
        Figures of today and after the changes; `None` until they are computed.
    earlier
        Figures of the answer before, to be drawn meanwhile.
    computing
        Computation of the figures; `None` before the first request.
    wants_plan
        Whether a plan follows the figures.
    job
        The plan; `None` where none is made.
    """

    play: Play
    first: FirstAnswer | None = None
    earlier: FirstAnswer | None = None
    computing: FirstJob | None = None
    wants_plan: bool = False
    job: Job | None = None

    @property
    def plan(self) -> PlanAnswer | None:
        """The finished plan, or `None`."""
        outcome = None if self.job is None else self.job.outcome
        return outcome if isinstance(outcome, PlanAnswer) else None

    @property
    def pending(self) -> FirstJob | Job | None:
        """The figures or the plan that are being made; `None` at rest."""
        made = self.computing if self.first is None else self.job
        return None if made is None or made.outcome is not None else made

    @property
    def refused(self) -> Refused | None:
        """Why the figures, or the plan, are missing; `None` where they are not."""
        made = self.computing if self.first is None else self.job
        outcome = None if made is None else made.outcome
        return outcome if isinstance(outcome, Refused) else None


class Session:
    """
    Answers for one cluster.

    Parameters
    ----------
    snapshot
        Today's cluster.
    work
        Background work; made for the snapshot where `None`.
    answerer
        Player of states; made for the snapshot where `None`.
    wait_s
        Longest time in seconds to wait for a first answer; `None` waits until it ends.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        work: PlanWork | None = None,
        *,
        answerer: Answerer | None = None,
        wait_s: float | None = WAIT_S,
    ) -> None:
        self.snapshot = snapshot
        self._answerer = answerer or Answerer(snapshot, snapshot.to_state())
        self._wait_s = wait_s
        self._first = FirstWork(self._answerer.first)
        self._work = work or PlanWork(snapshot)
        self._kept: OrderedDict[str, Answer] = OrderedDict()
        self._last: FirstAnswer | None = None
        # Held for moments, and while a state is validated.
        self._lock, self._validating = threading.Lock(), threading.Lock()

    def check(self, play: Play) -> Answer:
        """
        Return the answer to a state as far as it is there, and compute nothing.

        Raises
        ------
        BadInputError
            If a change or an option is impossible; names every problem.
        """
        key = json.dumps([play.document, repr(play.request)], sort_keys=True)
        if key not in self._kept:
            with self._validating:
                if key not in self._kept:
                    self._answerer.check(play)
        with self._lock:
            found = self._kept.setdefault(key, Answer(play))
            self._kept.move_to_end(key)
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return found

    def answer(self, play: Play, *, starts: bool = True, waits: bool = True) -> Answer:
        """
        Return the answer to a state; without figures where these take long.

        Parameters
        ----------
        play
            Scenarios and options.
        starts
            Whether to begin what is neither made nor being made: the plan, and figures
            that were stopped.
        waits
            Whether to wait for the figures a while.

        Raises
        ------
        BadInputError
            If a change or an option is impossible; names every problem.
        """
        found = self.check(play)
        with self._lock:
            found.wants_plan |= starts and play.has_plan
            self._compute(found, starts=starts)
            if starts and play.has_plan and found.first is not None:
                self._begin(found)
        if found.computing is not None and waits:
            found.computing.ended.wait(self._wait_s)
        return found

    def _compute(self, answer: Answer, *, starts: bool) -> None:
        """Begin the figures of an answer, unless they are there or being computed."""
        if answer.first is not None or answer.pending is not None:
            return
        if answer.computing is None or starts:
            # A plan of another state would only take the processor.
            self._work.stop()
            answer.earlier = self._last
            answer.computing = self._first.ask(
                answer.play, lambda first: self._computed(answer, first)
            )

    def _computed(self, answer: Answer, first: FirstAnswer) -> None:
        """Keep figures, and begin the plan that follows them."""
        with self._lock:
            answer.first = self._last = first
            if answer.wants_plan:
                self._begin(answer)

    def _begin(self, answer: Answer) -> None:
        """Begin the plan of an answer, unless it is there or being made."""
        if answer.plan is None and (
            answer.job is None or answer.job.outcome is not None
        ):
            answer.job = self._work.ask(Order(answer.play))

    def stop(self) -> None:
        """Stop the figures and every plan that are being made."""
        self._first.stop()
        self._work.stop()

    def write(self, play: Play, folder: Path) -> Job:
        """Write the plan of a state to a folder; return the job once it has ended."""
        job = self._work.ask(Order(play, folder))
        job.ended.wait()
        return job

    def close(self) -> None:
        """End the background work."""
        self._first.close()
        self._work.close()
