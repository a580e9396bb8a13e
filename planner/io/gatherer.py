"""Several inputs read, and the problems of all of them reported together."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from planner.errors import BadInputError, InputProblem

Value = TypeVar("Value")


class Gatherer:
    """
    Reader of several inputs that reports the problems of all of them together.

    Parameters
    ----------
    problems
        Problems found so far.

    Examples
    --------
    >>> inputs = Gatherer()
    >>> number = inputs.read(lambda: 7)
    >>> inputs.raise_problems()
    >>> number
    7
    """

    def __init__(self, problems: Iterable[InputProblem] = ()) -> None:
        self.messages: list[str] = []
        self.problems = list(problems)

    def read(self, work: Callable[[], Value]) -> Value | None:
        """Return the result of `work`; `None` if it finds bad input."""
        try:
            return work()
        except BadInputError as error:
            self.messages.append(error.message)
            self.problems.extend(error.problems)
            return None

    @property
    def has_problems(self) -> bool:
        """Whether any input had a problem."""
        return bool(self.messages or self.problems)

    def raise_problems(self, message: str | None = None) -> None:
        """
        Raise the problems of all inputs, if any.

        Parameters
        ----------
        message
            Summary of the refusal; `None`: those of all inputs.

        Raises
        ------
        BadInputError
            If any input had a problem.
        """
        if self.has_problems:
            raise BadInputError(message or "; ".join(self.messages), self.problems)
