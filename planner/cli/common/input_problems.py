"""Several inputs read, and everything that is wrong with any of them said at once."""

from collections.abc import Callable
from typing import NoReturn, TypeVar

from planner.errors import BadInputError, InputProblem

Value = TypeVar("Value")


class Gatherer:
    """
    Reads inputs one after the other, and keeps what is wrong for the end.

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
        """Return what `work` reads; `None` where it is bad input."""
        try:
            return work()
        except BadInputError as error:
            self._messages.append(error.message)
            self._problems.extend(error.problems)
            return None

    @property
    def has_problems(self) -> bool:
        """Whether any input was bad."""
        return bool(self._messages)

    def raise_problems(self) -> None:
        """
        Refuse the inputs if any was bad.

        Raises
        ------
        BadInputError
            With the problems of all of them.
        """
        if self._messages:
            raise BadInputError("; ".join(self._messages), self._problems)


def refuse_option(option: str, value: str, rule: str) -> NoReturn:
    """
    Refuse an option.

    Raises
    ------
    BadInputError
        Always.
    """
    problem = InputProblem(
        file="command line", place=option, value=value, rule=rule, remedy="mend it"
    )
    msg = "bad options"
    raise BadInputError(msg, [problem])
