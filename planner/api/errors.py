"""Problems of options under their Python names."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path

from planner.errors import BadInputError, InputProblem
from planner.snapshot import Snapshot


@contextmanager
def named_as_arguments(names: Mapping[str, str] | None = None) -> Iterator[None]:
    """
    Replace options of the command line in problems by Python arguments.

    Parameters
    ----------
    names
        Arguments by the names of their options, where the two differ.
    """
    try:
        yield
    except BadInputError as error:
        problems = [_named(problem, names or {}) for problem in error.problems]
        raise BadInputError(error.message, problems) from error


def _named(problem: InputProblem, names: Mapping[str, str]) -> InputProblem:
    if problem.file != "command line":
        return problem
    name = problem.place.removeprefix("--").replace("-", "_")
    return replace(problem, file="arguments", place=names.get(name, name))


def required(snapshot: object) -> Snapshot:
    """
    Return a snapshot.

    Raises
    ------
    TypeError
        If it is anything else, such as the path of one.
    """
    if isinstance(snapshot, Snapshot):
        return snapshot
    kind = type(snapshot).__name__
    msg = f"must be a snapshot, as planner.read_snapshot(path) returns, and is a {kind}"
    raise TypeError(msg)


def plan_path(plan: object) -> Path:
    """
    Return the path of a plan.

    Raises
    ------
    TypeError
        If it is no path, such as a plan that is not written yet.
    """
    if isinstance(plan, str | PathLike):
        return Path(plan)
    kind = type(plan).__name__
    msg = (
        f"must be a plan folder or a reassignment file, and is a {kind}; a plan made "
        "just now is written by plan.write(folder)"
    )
    raise TypeError(msg)
