"""Several inputs read, and the problems of all of them reported together."""

from collections.abc import Callable
from typing import NoReturn, TypeVar

from planner.errors import BadInputError, InputProblem

Value = TypeVar("Value")


class Gatherer:
    """
    Reader of several inputs that reports the problems of all of them together.

    Examples
    --------
    >>> inputs = Gatherer()
    >>> number = inputs.read(lambda: 7)
    >>> inputs.raise_problems()
    >>> number
    7
    """

    def __init__(self) -> None:
        self._messages: list[str] = []
        self._problems: list[InputProblem] = []

    def read(self, work: Callable[[], Value]) -> Value | None:
        """Return the result of `work`; `None` if it finds bad input."""
        try:
            return work()
        except BadInputError as error:
            self._messages.append(error.message)
            self._problems.extend(error.problems)
            return None

    @property
    def has_problems(self) -> bool:
        """Whether any input had a problem."""
        return bool(self._messages)

    def raise_problems(self) -> None:
        """
        Raise the problems of all inputs, if any.

        Raises
        ------
        BadInputError
            If any input had a problem.
        """
        if self._messages:
            raise BadInputError("; ".join(self._messages), self._problems)


def refuse_option(
    option: str, value: str, rule: str, remedy: str = "correct the value"
) -> NoReturn:
    """
    Refuse an option.

    Raises
    ------
    BadInputError
        Always.
    """
    problem = InputProblem.of_option(option, value, rule, remedy)
    msg = "bad options"
    raise BadInputError(msg, [problem])
