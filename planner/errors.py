"""
Errors of `planner`.

::

    PlannerError
    ├── BadInputError (ValueError)         exit 2, every problem of the input at once
    ├── ClusterUnavailableError (OSError)  exit 5, unreachable, unauthorised, or timed
    │                                      out before anything was asked
    ├── AnswerUnknownError (OSError)       exit 6, asked for a change, answer unknown
    └── UnreadableFileError (OSError)      a file of a fleet; a row says it instead
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class InputProblem:
    """
    One thing that is wrong with an input, and how to mend it.

    Parameters
    ----------
    file
        The file, option or address it came from.
    place
        Where in it: ``topics[3].partitions[0].replicas``, ``line 7``,
        ``partitions.parquet: column size_bytes``.
    value
        What stands there, as text, cut to a readable length.
    rule
        What must hold.
    remedy
        What to do.
    """

    file: str
    place: str
    value: str
    rule: str
    remedy: str

    def __str__(self) -> str:
        place = f"{self.file}: {self.place}" if self.place else self.file
        value = f" (found {self.value})" if self.value else ""
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{place}: {self.rule}{value}{remedy}"

    def to_dict(self) -> dict[str, str]:
        """Return the problem as it stands in `--format json`."""
        return asdict(self)


class PlannerError(Exception):
    """Base of every error that `planner` raises on purpose."""


class BadInputError(PlannerError, ValueError):
    """
    An input breaks its format or contradicts itself.

    Parameters
    ----------
    message
        One line that says what was refused.
    problems
        All problems found, in the order of the input.
    """

    def __init__(self, message: str, problems: Sequence[InputProblem] = ()) -> None:
        self.message = message
        self.problems = tuple(problems)
        super().__init__(message)

    def __str__(self) -> str:
        return _told(self.message, self.problems)


class UnreadableFileError(PlannerError, OSError):
    """
    A file of a fleet is not there, or is not what it should be.

    Parameters
    ----------
    file
        Its path.
    reason
        What hinders reading it.
    """

    def __init__(self, file: str, reason: str) -> None:
        self.file = file
        super().__init__(f"cannot read {file}: {reason}")


class ClusterUnavailableError(PlannerError, OSError):
    """
    A cluster did not answer, or refused.

    Parameters
    ----------
    message
        One line with the address and the cause.
    problems
        Details by broker, where there are any.
    """

    def __init__(self, message: str, problems: Sequence[InputProblem] = ()) -> None:
        self.message = message
        self.problems = tuple(problems)
        super().__init__(message)

    def __str__(self) -> str:
        return _told(self.message, self.problems)


class AnswerUnknownError(PlannerError, OSError):
    """
    A change was asked for, and what the cluster made of it is not known in full.

    It may have been made, in whole or in part, may still be made, or may never have
    arrived: look before you retry.

    Parameters
    ----------
    message
        One line with the change, the address and the cause.
    look
        Command that shows whether the change was made.
    """

    def __init__(self, message: str, look: str) -> None:
        self.message = f"{message}; look before you retry"
        self.look = look
        self.problems = (
            InputProblem(
                file="cluster",
                place="",
                value="",
                rule="the cluster may have been changed, or may still be",
                remedy=f"look with: {look}",
            ),
        )
        super().__init__(self.message)

    def __str__(self) -> str:
        return _told(self.message, self.problems)


MAX_PROBLEMS_TOLD = 20


def _told(message: str, problems: Sequence[InputProblem]) -> str:
    """Return the message with the problems below it, as a traceback shows them."""
    lines = [f"  - {problem}" for problem in problems[:MAX_PROBLEMS_TOLD]]
    rest = len(problems) - len(lines)
    more = [f"  … and {rest} more"] if rest else []
    return "\n".join([message, *lines, *more])
