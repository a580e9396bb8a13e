"""Choices of an operator for a run."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from planner.errors import BadInputError
from planner.execution.preflight import IGNORABLE
from planner.io.problems import problem
from planner.options.declared.option import Problems
from planner.options.declared.value_readers import read_rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """
    Choices of an operator for a run.

    Parameters
    ----------
    rate_bytes_per_s
        Rate of copies; `None`: that of the waves of the plan, else chosen.
    has_throttle
        Whether copies are throttled.
    allow_drift
        Whether partitions that are no longer as planned are left out.
    ignore
        Rules of blockers to ignore.
    is_own_throttle
        Function that tells, by scope, name, key and value, whether a throttle in force
        was set by an earlier run of the plan.
    """

    rate_bytes_per_s: int | None = None
    has_throttle: bool = True
    allow_drift: bool = False
    ignore: Collection[str] = ()
    is_own_throttle: Callable[[str, str, str, str], bool] = lambda *_: False


def read_choices(
    throttle: str | float | None,
    ignore: Collection[str],
    *,
    allow_drift: bool,
    has_throttle: bool = True,
) -> Choices:
    """
    Return the choices of an operator.

    Raises
    ------
    BadInputError
        With every choice that is wrong.
    """
    problems = [
        problem(
            "command line",
            "--ignore",
            rule,
            f"must be one of {', '.join(IGNORABLE)}",
            "any other reason stops every run: see its remedy in the preview",
        )
        for rule in ignore
        if rule not in IGNORABLE
    ]
    rates = Problems("--throttle")
    rate = None if throttle is None else read_rate(throttle, rates)
    if problems or rates.found:
        msg = "bad options"
        raise BadInputError(msg, [*problems, *rates.found])
    return Choices(
        rate_bytes_per_s=rate,
        has_throttle=has_throttle,
        allow_drift=allow_drift,
        ignore=frozenset(ignore),
    )
