"""Names and versions of the solvers that state bounds."""

from functools import cache
from importlib.metadata import version


@cache
def cp_sat() -> str:
    """Return the name and version of CP-SAT."""
    return f"CP-SAT {version('ortools')}"


@cache
def highs() -> str:
    """Return the name and version of HiGHS."""
    return f"HiGHS {version('highspy')}"
