"""Request of a plan: an operation and its options, read from texts or typed values."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from planner.errors import InputProblem
from planner.options.declared.option import read_options
from planner.options.declared.plan_options import PlanOptions


def read_values(
    given: Mapping[str, Any],
) -> tuple[PlanOptions, tuple[InputProblem, ...]]:
    """
    Read options that the command line, a file or Python gives.

    Parameters
    ----------
    given
        Texts, lists of texts or typed values by the names of the options; `None`: not
        given.

    Returns
    -------
    The options, and what is wrong with them; a wrong value counts as not given.

    Raises
    ------
    TypeError
        If there is no option of such a name.

    Examples
    --------
    >>> options, problems = read_values({"max_bytes": "2TB", "seed": 7})
    >>> options.max_bytes, options.seed, problems
    (2000000000000, 7, ())
    """
    return read_options(PlanOptions, given)


@dataclass(frozen=True, init=False)
class PlanRequest:
    """
    An operation and its options.

    Parameters
    ----------
    goal
        Name of the operation.
    given
        Options by name, as texts or typed values.

    Attributes
    ----------
    options
        The options, typed.
    problems
        Problems of the options, raised when the options are used.
    """

    goal: str
    options: PlanOptions
    problems: tuple[InputProblem, ...]

    def __init__(self, goal: str, **given: Any) -> None:  # noqa: ANN401 - any option
        options, problems = read_values(given)
        object.__setattr__(self, "goal", goal)
        object.__setattr__(self, "options", options)
        object.__setattr__(self, "problems", problems)

    def changed(self, **options: Any) -> "PlanRequest":  # noqa: ANN401 - any option
        """Return a request with other typed values of some options."""
        request = PlanRequest(self.goal)
        object.__setattr__(request, "options", replace(self.options, **options))
        object.__setattr__(request, "problems", self.problems)
        return request

    def to_dict(self) -> dict[str, Any]:
        """Return the operation and the options as JSON."""
        return {"goal": self.goal, **asdict(self.options)}
