"""All cases of the corpus, and the sample that `make test` runs."""

from functools import cache

from golden.case import Case
from golden.cruise_control_cases import cruise_control_cases
from golden.demo_cases import demo_cases
from golden.drawn_cases import drawn_cases
from golden.field_cases import field_cases

EVERY = 10
"""The sample has one case out of so many."""


@cache
def all_cases() -> tuple[Case, ...]:
    """Return all cases, in the order of the corpus."""
    return (
        *demo_cases(),
        *field_cases(),
        *cruise_control_cases(),
        *drawn_cases(),
    )


def sample() -> tuple[Case, ...]:
    """Return the cases of the sample: every n-th one."""
    return all_cases()[::EVERY]
