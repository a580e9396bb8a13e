"""
Errors of `planner`.

::

    PlannerError
    ├── BadInputError (ValueError)         exit 2, every problem of the input at once
    ├── ClusterUnavailableError (OSError)  exit 5, unreachable, unauthorised, or timed
    │                                      out before any change was requested
    ├── AnswerUnknownError (OSError)       exit 6, requested a change, outcome unknown
    └── UnreadableFileError (OSError)      a file of a fleet; becomes a row of problems
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class InputProblem:
    """
    One problem of an input, and its remedy.

    Parameters
    ----------
    file
        File, option or address that contains the problem.
    place
        Place in the file: ``topics[3].partitions[0].replicas``, ``line 7``,
        ``partitions.parquet: column size_bytes``.
    value
        Value at that place, as text, cut to a readable length.
    rule
        Rule that the value breaks.
    remedy
        Action that solves the problem.
    """

    file: str
    place: str
    value: str
    rule: str
    remedy: str

    @classmethod
    def of_option(cls, option: str, value: object, rule: str, remedy: str) -> Self:
        """Return the problem of an option of the command line."""
        return cls(
            file="command line",
            place=option,
            value=str(value),
            rule=rule,
            remedy=remedy,
        )

    def __str__(self) -> str:
        place = f"{self.file}: {self.place}" if self.place else self.file
        value = f" (found {self.value})" if self.value else ""
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{place}: {self.rule}{value}{remedy}"

    def to_dict(self) -> dict[str, str]:
        """Return the problem as `--format json` prints it."""
        return asdict(self)


class PlannerError(Exception):
    """
    Base of every error that `planner` raises on purpose.

    Parameters
    ----------
    message
        Summary of the error, one line.
    problems
        All problems found, in the order of the input.
    """

    def __init__(self, message: str, problems: Sequence[InputProblem] = ()) -> None:
        self.message = message
        self.problems = tuple(problems)
        super().__init__(message)

    def __str__(self) -> str:
        """Return the message and the problems below it, for tracebacks."""
        lines = [f"  - {problem}" for problem in self.problems[:MAX_PROBLEMS_LISTED]]
        rest = len(self.problems) - len(lines)
        more = [f"  … and {rest} more"] if rest else []
        return "\n".join([self.message, *lines, *more])


class BadInputError(PlannerError, ValueError):
    """
    An input breaks its format or contradicts itself.

    Parameters
    ----------
    message
        Summary of the refusal, one line.
    problems
        All problems found, in the order of the input.
    """


def raise_problems(message: str, problems: Sequence[InputProblem]) -> None:
    """
    Refuse an input that has problems.

    Parameters
    ----------
    message
        Summary of the refusal, one line.
    problems
        All problems found, in the order of the input.

    Raises
    ------
    BadInputError
        If there is a problem.
    """
    if problems:
        raise BadInputError(message, problems)


class UnreadableFileError(PlannerError, OSError):
    """
    A file of a fleet is missing or breaks its format.

    Parameters
    ----------
    file
        Path of the file.
    reason
        Reason why it cannot be read.
    """

    def __init__(self, file: str, reason: str) -> None:
        self.file = file
        super().__init__(f"cannot read {file}: {reason}")


class ClusterUnavailableError(PlannerError, OSError):
    """
    A cluster did not answer, or refused a request.

    Parameters
    ----------
    message
        One line with the address and the cause.
    problems
        Details by broker, if any.
    """


class AnswerUnknownError(PlannerError, OSError):
    """
    A change was requested, and its outcome is not fully known.

    The cluster may have made the change in whole or in part, may still make it, or may
    never have received the request: look before you retry.

    Parameters
    ----------
    message
        One line with the change, the address and the cause.
    look
        Command that shows whether the change was made.
    """

    def __init__(self, message: str, look: str) -> None:
        self.look = look
        problem = InputProblem(
            file="cluster",
            place="",
            value="",
            rule="the cluster may have made the change, or may still make it",
            remedy=f"look with: {look}",
        )
        super().__init__(f"{message}; look before you retry", [problem])


MAX_PROBLEMS_LISTED = 20
