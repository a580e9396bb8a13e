"""One cluster on the page: first answers, plans in the background, all kept."""

import json
import threading
from collections import OrderedDict
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from planner.errors import PlannerError
from planner.snapshot import Snapshot
from planner.ui.ui_answer import Answerer, FirstAnswer, Heard, PlanAnswer
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
        self._first = FirstWork(self._figures)
        self._work = work or PlanWork(snapshot)
        self._kept: OrderedDict[str, Answer] = OrderedDict()
        self._last: FirstAnswer | None = None
        self._turns = count(1)
        # Held for moments alone: nothing is computed meanwhile.
        self._lock = threading.Lock()

    def turn(self) -> int:
        """Return the place of a request in the order of all."""
        return next(self._turns)

    def check(self, play: Play) -> None:
        """
        Check that a state can be played.

        Raises
        ------
        BadInputError
            If a change or an option is impossible; names every problem.
        """
        if self._answer(play).first is None:
            self._answerer.check(play)

    def answer(
        self,
        play: Play,
        *,
        starts: bool = True,
        waits: bool = True,
        turn: int | None = None,
    ) -> Answer:
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
        turn
            Place in the order of requests; `None` for the newest. An older request
            stops nothing of a newer one.

        Raises
        ------
        PlannerError
            If a change or an option is found to be impossible while this waits; names
            every problem.
        """
        found = self._answer(play)
        with self._lock:
            found.wants_plan |= starts and play.has_plan
            if starts or found.computing is None:
                self._compute(found, self.turn() if turn is None else turn)
            if starts and play.has_plan and found.first is not None:
                self._begin(found)
        if found.computing is not None and waits:
            found.computing.ended.wait(self._wait_s)
            outcome = found.computing.outcome
            if isinstance(outcome, Refused) and outcome.problems:
                raise PlannerError(outcome.message, outcome.problems)
        return found

    def _answer(self, play: Play) -> Answer:
        """Return the answer to a state as far as it is there."""
        key = json.dumps([play.document, repr(play.request)], sort_keys=True)
        with self._lock:
            found = self._kept.setdefault(key, Answer(play))
            self._kept.move_to_end(key)
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return found

    def _compute(self, answer: Answer, turn: int) -> None:
        """Begin the figures of an answer, unless they are there or being computed."""
        if answer.first is None and answer.pending is None:
            answer.earlier = self._last
            answer.computing = self._first.ask(
                answer.play, lambda first: self._computed(answer, first), turn
            )

    def _figures(self, play: Play, heard: Heard) -> FirstAnswer:
        """Compute figures; plans of other states go on until the state is possible."""
        heard("trying the changes")
        self._answerer.check(play)
        self._work.stop()
        return self._answerer.first(play, heard)

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
        self._first.stop()
        self._work.close()
