"""Problems of partitions that the kernel marked, from the checks that files undergo."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from placement.model.cluster import ABSENT, UNKNOWN
from planner.snapshot.checks.partition_checks import (
    PARTITION_CHECKS,
    unknown_broker_rule,
)
from planner.snapshot.checks.record_checks import findings
from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.snapshot.tables.table_facts import Facts
from planner.spark.common.problem_rows import Row, row_of, rows_of_findings
from planner.spark.scoring.sums.replica_lists import numbers_of, rows_of
from planner.spark.scoring.sums.snapshot_grounds import Ground
from planner.spark.scoring.sums.sum_arrays import Ints, SumArrays

_SELDOM = (
    "elr",
    "last_known_elr",
    "adding_replicas",
    "removing_replicas",
    "offline_replicas",
)
"""Lists that few partitions have; every partition with such a list is checked."""


def suspects_of(
    rows: ArrowTable, first_row: Ints, ground: Ground, sums: SumArrays
) -> dict[int, list[Row]]:
    """
    Check the partitions that the kernel marked.

    Parameters
    ----------
    rows
        The partitions, in the types of snapshots, one snapshot after the other.
    first_row
        ``(S + 1,)`` first row of each snapshot.
    ground
        Brokers of the snapshots.
    sums
        Sums of the partitions, and the flags of those that may violate a rule.

    Returns
    -------
    Problems by index of the snapshot; snapshots without any are absent.
    """
    is_suspect = np.copy(sums.suspects)
    for name in _SELDOM:
        column = rows.column(name)
        if column.null_count < len(column):
            is_suspect |= rows_of(column).lengths > 0
    suspects = np.flatnonzero(is_suspect)
    start = np.searchsorted(suspects, first_row)
    # Rare: each snapshot is checked by itself.
    found = {}
    for n in np.flatnonzero((np.diff(start) > 0) | (sums.strangers > 0)).tolist():
        own = rows.slice(first_row[n], first_row[n + 1] - first_row[n])
        at = suspects[start[n] : start[n + 1]] - first_row[n]
        found[n] = [*_broken(own, at)]
        if sums.strangers[n]:
            found[n] = [*_strangers(own, ground.alone(n)), *found[n]]
    return found


def _strangers(rows: ArrowTable, ground: Ground) -> Iterator[Row]:
    """Yield the brokers of replicas that no table lists."""
    ids = np.unique(numbers_of(rows_of(rows.column("replicas")).values, UNKNOWN))
    is_unknown = ground.broker_rows.rows(ids, np.array([0, len(ids)])) == ABSENT
    for broker in ids[is_unknown].tolist():
        rule = unknown_broker_rule(broker)
        yield row_of("partitions", f"replicas: broker {broker}", broker, rule)


def _broken(rows: ArrowTable, at: Ints) -> Iterator[Row]:
    """Yield the problems of some partitions of one snapshot."""
    if len(at):
        some = rows.take(pa.array(at))
        # A partition without a list of replicas is reported as a cell.
        tables = {"partitions": some.filter(some.column("replicas").is_valid())}
        found = findings(Facts({}, (), tables), PARTITION_CHECKS)
        yield from rows_of_findings(found, tables)
