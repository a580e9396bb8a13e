"""Problems of options under their Python names."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

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
