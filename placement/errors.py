"""
Errors of `placement`.

::

    PlacementError
    ├── InvalidClusterError (ValueError)   a description that contradicts itself
    └── ProofError                         a plan below its own bound: a bug here
"""

from collections.abc import Sequence


class PlacementError(Exception):
    """Base of every error that `placement` raises on purpose."""


class InvalidClusterError(PlacementError, ValueError):
    """
    The description of a cluster contradicts itself.

    Parameters
    ----------
    problems
        One sentence per problem, each naming the thing, its value and the rule.
        All problems are reported at once.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        listed = "\n".join(f"  - {problem}" for problem in self.problems)
        super().__init__(f"{len(self.problems)} problem(s) in the cluster:\n{listed}")


class ProofError(PlacementError):
    """A plan's value contradicts a proven bound: the plan or the bound is wrong."""
