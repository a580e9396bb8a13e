"""
What must hold between the records of a snapshot, on columns, whatever the format.

Each check takes the tables as read, in any order of rows, and yields findings. The
values of single cells (types, bounds) are checked before, by the format's reader.
"""

from collections.abc import Callable, Iterator

from planner.snapshot.broker_checks import BROKER_CHECKS
from planner.snapshot.facts import Facts
from planner.snapshot.partition_checks import PARTITION_CHECKS
from planner.snapshot.problems import Finding

CHECKS: tuple[Callable[[Facts], Iterator[Finding]], ...] = (
    *BROKER_CHECKS,
    *PARTITION_CHECKS,
)


def findings(facts: Facts) -> Iterator[Finding]:
    """
    Check a snapshot as a whole.

    Yields
    ------
    Finding
        Every row that breaks a rule; one row may break several.
    """
    for check in CHECKS:
        yield from check(facts)
