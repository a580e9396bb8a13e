"""Network between a run and a simulated cluster, which loses requests and answers."""

from collections.abc import Callable
from typing import TypeVar

from planner.errors import AnswerUnknownError, ClusterUnavailableError
from planner.execution.simulation.cluster_model import ClusterModel

_Name = TypeVar("_Name")
_LOOK = "kafka-planner apply PLAN"


class SimulatedNetwork:
    """
    Network of a simulated cluster.

    Parameters
    ----------
    model
        The cluster, whose virtual time passes while requests wait.
    timeout_s
        Seconds that a request takes while the network is cut.
    """

    def __init__(self, model: ClusterModel, timeout_s: float) -> None:
        self._model, self._timeout_s = model, timeout_s
        self._cut_until_s = 0.0
        self._lost_answers = self._lost_requests = 0

    def cut(self, seconds: float) -> None:
        """Fail every request for some seconds."""
        self._cut_until_s = self._model.now_s + seconds

    def lose_answers(self, number: int) -> None:
        """Lose the answers to the next changes, which are made."""
        self._lost_answers = number

    def lose_requests(self, number: int) -> None:
        """Lose the next requests for changes, which are not made."""
        self._lost_requests = number

    def reach(self) -> None:
        """
        Reach the cluster.

        Raises
        ------
        ClusterUnavailableError
            If the network is cut.
        """
        if self._model.now_s < self._cut_until_s:
            self._model.advance(self._timeout_s)
            msg = "the simulated cluster does not answer: its network is cut"
            raise ClusterUnavailableError(msg)

    def change(
        self, what: str, make: Callable[[], dict[_Name, str]]
    ) -> dict[_Name, str]:
        """
        Make a change, unless its request is lost; return the refusals.

        Raises
        ------
        ClusterUnavailableError
            If the network is cut.
        AnswerUnknownError
            If the request or its answer is lost.
        """
        self.reach()
        if self._lost_requests:
            self._lost_requests -= 1
            raise _unanswered(what)
        refusals = make()
        if self._lost_answers:
            self._lost_answers -= 1
            raise _unanswered(what)
        return refusals


def _unanswered(what: str) -> AnswerUnknownError:
    return AnswerUnknownError(f"{what}: the simulated cluster did not answer", _LOOK)
