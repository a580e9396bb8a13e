"""
Errors of `assignment`.

::

    AssignmentError
    ├── InvalidGroupError (ValueError)  a description that contradicts itself
    ├── AssignorError                   Kafka's own refusal, in Kafka's words
    └── UserAssignorError               a user's assignor failed, or broke a rule
"""

from collections.abc import Sequence


class AssignmentError(Exception):
    """Base of every error that `assignment` raises on purpose."""


class InvalidGroupError(AssignmentError, ValueError):
    """
    The description of a group contradicts itself.

    Parameters
    ----------
    problems
        One sentence per problem, each naming the thing, its value and the rule.
        All problems are reported at once.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        listed = "\n".join(f"  - {problem}" for problem in self.problems)
        super().__init__(f"{len(self.problems)} problem(s) in the group:\n{listed}")


class AssignorError(AssignmentError):
    """A group that the assignor refuses, as Kafka's own class does."""


class UserAssignorError(AssignmentError):
    """
    A user's assignor cannot be used: it is its own doing, not the planner's.

    Parameters
    ----------
    message
        Which class, what it did, and the rule.
    """
