"""
What must hold between the records of a snapshot, on columns, whatever the format.

Each check takes the tables as read, in any order of rows, and yields findings. The
values of single cells (types, bounds) are checked before, by the format's reader.

The groups tell how much of a snapshot a check must see. A file is checked as a whole.
On Spark nobody holds a whole snapshot: checks of a part run as they are where that part
is, and those of all topics or partitions are made of what was added up
(`planner.spark.scoring.reduce_side.snapshot_problems`). A test holds every check
against every path.
"""

from collections.abc import Callable, Iterable, Iterator

from planner.snapshot.checks.broker_checks import (
    ALL_TOPIC_CHECKS,
    BROKER_CHECKS,
    HEADER_CHECKS,
    TOPIC_CHECKS,
)
from planner.snapshot.checks.partition_checks import (
    ALL_PARTITION_CHECKS,
    PARTITION_CHECKS,
    PLACE_CHECKS,
)
from planner.snapshot.tables.snapshot_problems import Finding
from planner.snapshot.tables.table_facts import Facts

Check = Callable[[Facts], Iterator[Finding]]
CHECKS: tuple[Check, ...] = (
    *HEADER_CHECKS,
    *BROKER_CHECKS,
    *TOPIC_CHECKS,
    *ALL_TOPIC_CHECKS,
    *ALL_PARTITION_CHECKS,
    *PLACE_CHECKS,
    *PARTITION_CHECKS,
)
"""In the order in which they are told: what explains others comes first."""


def findings(facts: Facts, checks: Iterable[Check] = CHECKS) -> Iterator[Finding]:
    """
    Check a snapshot, or what is at hand of it.

    Parameters
    ----------
    facts
        The tables; those that the checks do not look at may be missing.
    checks
        The checks to make.

    Yields
    ------
    Finding
        Every row that breaks a rule; one row may break several.
    """
    for check in checks:
        yield from check(facts)
