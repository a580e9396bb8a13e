"""
Errors of `assignment`.

::

    AssignmentError
    ├── InvalidGroupError (ValueError)  a description that contradicts itself
    ├── AssignorError                   a group that Kafka's assignor rejects
    ├── UserAssignorError               a user's assignor failed, or broke a rule
    └── UserPartitionerError            a user's partitioner failed, or broke a rule
"""

from collections.abc import Sequence


class AssignmentError(Exception):
    """Base class of every error that `assignment` raises on purpose."""


class InvalidGroupError(AssignmentError, ValueError):
    """
    Error for a description of a group that contradicts itself.

    Parameters
    ----------
    problems
        One sentence per problem, with the subject, its value and the rule. All problems
        are reported at once.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        listed = "\n".join(f"  - {problem}" for problem in self.problems)
        super().__init__(f"{len(self.problems)} problem(s) in the group:\n{listed}")


class AssignorError(AssignmentError):
    """Error for a group that the assignor rejects, as Kafka's own class does."""


class UserAssignorError(AssignmentError):
    """
    Error for a user's assignor that fails or breaks a rule.

    Parameters
    ----------
    message
        Name of the class, its behaviour, and the rule.
    """


class UserPartitionerError(AssignmentError):
    """
    Error for a user's partitioner that fails or breaks a rule.

    Parameters
    ----------
    message
        Name of the class or function, its behaviour, and the rule.
    """
