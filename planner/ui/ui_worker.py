"""
The process that plans for the page.

A plan may take longer than an operator waits. It is made in a process of its own, so
that the page stays alive, and so that it can be stopped whatever it does.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from placement.core.model import gap_report
from planner import progress
from planner.errors import InputProblem, PlannerError
from planner.snapshot import Snapshot
from planner.text.format import bytes_text
from planner.ui.ui_answer import Answerer, PlanAnswer
from planner.ui.ui_play import Play


@dataclass(frozen=True, slots=True)
class Order:
    """
    Work for the process: a plan, written where a folder is named.

    Parameters
    ----------
    play
        Scenarios and options.
    folder
        Folder to write; `None` to answer.
    """

    play: Play
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """Problems for which an order was refused."""

    message: str
    problems: tuple[InputProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class Written:
    """The folder of an order was written."""


Reply = PlanAnswer | Refused | Written | str
"""Answer to an order, or the words of a stage of its progress."""


@dataclass(frozen=True, slots=True)
class Stop:
    """The present order is wanted no more."""


class StoppedError(Exception):
    """The order is wanted no more."""


def serve(link: Connection, snapshot: Snapshot) -> None:
    """
    Carry out orders until the link closes.

    Parameters
    ----------
    link
        Connection by which orders and stops arrive, and replies leave.
    snapshot
        Today's cluster.
    """
    answerer = Answerer(snapshot, snapshot.to_state())
    while True:
        try:
            order: Order | Stop = link.recv()
            # A stop that arrives late is of an order that has ended.
            if isinstance(order, Order):
                link.send(_reply(order, answerer, link))
        except (EOFError, OSError):
            return


def _reply(order: Order, answerer: Answerer, link: Connection) -> Reply:
    try:
        with _interruptible(link):
            if order.folder is None:
                return answerer.plan(order.play)
            answerer.write(order.play, order.folder)
            return Written()
    except StoppedError:
        return Refused("stopped")
    except PlannerError as error:
        return Refused(error.message, error.problems)
    except Exception as error:
        # Shown on the page, which stays alive.
        return Refused(f"the plan failed: {type(error).__name__}: {error}")


@contextmanager
def _interruptible(link: Connection) -> Iterator[None]:
    """Report the stages of the work, and end it between two of them if it must stop."""

    def heard(words: str) -> None:
        if link.poll():
            # Only a stop may arrive before the reply.
            link.recv()
            raise StoppedError
        link.send(words)

    def gap(cost: int, bound: int) -> None:
        heard(f"planning: {bytes_text(cost, 4)}, not under {bytes_text(bound, 4)}")

    heard("planning")
    with progress.listening(lambda stage: heard(str(stage))), gap_report.listening(gap):
        yield
