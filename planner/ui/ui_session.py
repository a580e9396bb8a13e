"""One cluster on the page: first answers at once, plans in the background, all kept."""

import json
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from planner.snapshot import Snapshot
from planner.ui.ui_answer import Answerer, FirstAnswer, PlanAnswer
from planner.ui.ui_play import Play
from planner.ui.ui_work import Job, PlanWork
from planner.ui.ui_worker import Order

MOST_KEPT = 50
"""Largest number of states whose answers are kept, for undo."""


@dataclass(slots=True, eq=False)
class Answer:
    """
    Answer to one state, as far as it is there.

    Parameters
    ----------
    play
        Scenarios and options.
    first
        Figures of today and after the changes.
    job
        The plan; `None` where none is made.
    """

    play: Play
    first: FirstAnswer
    job: Job | None = None

    @property
    def plan(self) -> PlanAnswer | None:
        """The finished plan, or `None`."""
        outcome = None if self.job is None else self.job.outcome
        return outcome if isinstance(outcome, PlanAnswer) else None


class Session:
    """
    Answers for one cluster.

    Parameters
    ----------
    snapshot
        Today's cluster.
    work
        Background work; made for the snapshot where `None`.
    """

    def __init__(self, snapshot: Snapshot, work: PlanWork | None = None) -> None:
        self.snapshot = snapshot
        self.state = snapshot.to_state()
        self._answerer = Answerer(snapshot, self.state)
        self._work = work or PlanWork(snapshot)
        self._kept: OrderedDict[str, Answer] = OrderedDict()
        self._lock = threading.Lock()

    def answer(self, play: Play, *, starts: bool = True) -> Answer:
        """
        Return the answer to a state.

        Parameters
        ----------
        play
            Scenarios and options.
        starts
            Whether to begin the plan, if it is neither made nor being made.

        Raises
        ------
        BadInputError
            If a change or an option is impossible; names every problem.
        """
        key = json.dumps([play.document, repr(play.request)], sort_keys=True)
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                found = Answer(play, self._answerer.first(play))
                self._kept[key] = found
            self._kept.move_to_end(key)
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
            if starts and play.has_plan and found.plan is None:
                self._begin(found)
        return found

    def _begin(self, answer: Answer) -> None:
        """Begin the plan of an answer, unless it is being made."""
        if answer.job is None or answer.job.outcome is not None:
            answer.job = self._work.ask(Order(answer.play))

    def stop(self) -> None:
        """Stop every plan that is being made."""
        self._work.stop()

    def write(self, play: Play, folder: Path) -> Job:
        """Write the plan of a state to a folder; return the job once it has ended."""
        job = self._work.ask(Order(play, folder))
        job.ended.wait()
        return job

    def close(self) -> None:
        """End the background work."""
        self._work.close()
