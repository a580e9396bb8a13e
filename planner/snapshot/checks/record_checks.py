"""
Consistency checks between the records of a snapshot, on columns of any format.

Each check takes the tables as read, with rows in any order, and yields findings. The
values of single cells (types, bounds) are checked earlier, by the format's reader.

Checks are grouped by the part of a snapshot that they need. A file is checked at once.
On Spark no process holds a complete snapshot: checks of a part run unchanged in the
task that has the part, and checks of all topics or partitions use partial sums
(`planner.spark.scoring.reduce_side.snapshot_problems`). A test runs every check on
every path.
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
"""Checks in the order of their reports: causes of other findings come first."""


def findings(facts: Facts, checks: Iterable[Check] = CHECKS) -> Iterator[Finding]:
    """
    Check a snapshot, or a part of it.

    Parameters
    ----------
    facts
        The tables; tables that the checks do not use may be missing.
    checks
        The checks to run.

    Yields
    ------
    Finding
        Every row that violates a rule; one row may violate several.
    """
    for check in checks:
        yield from check(facts)
