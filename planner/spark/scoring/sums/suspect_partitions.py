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
from planner.snapshot.tables.table_rows import Rows
from planner.spark.common.problem_rows import Row, row_of, rows_of_findings
from planner.spark.scoring.sums.replica_lists import BrokerRows, numbers_of, rows_of
from planner.spark.scoring.sums.sum_arrays import SumArrays

_SELDOM = (
    "elr",
    "last_known_elr",
    "adding_replicas",
    "removing_replicas",
    "offline_replicas",
)
"""Lists that few partitions have; every partition with such a list is checked."""


def strangers(listed: Rows, brokers: BrokerRows, sums: SumArrays) -> Iterator[Row]:
    """
    Yield the brokers of replicas that no table lists.

    Parameters
    ----------
    listed, brokers
        Replicas of partitions, and rows of brokers by id.
    sums
        Sums of the partitions.
    """
    if not sums.strangers[0]:
        return
    ids = np.unique(numbers_of(listed.values, UNKNOWN))
    for broker in ids[brokers.rows(ids) == ABSENT].tolist():
        rule = unknown_broker_rule(broker)
        yield row_of("partitions", f"replicas: broker {broker}", broker, rule)


def broken(rows: ArrowTable, sums: SumArrays) -> Iterator[Row]:
    """
    Yield the problems of single partitions.

    Parameters
    ----------
    rows
        The partitions, in the types of snapshots.
    sums
        Sums of the partitions, and the flags of those that may violate a rule.
    """
    is_suspect = np.copy(sums.suspects)
    for name in _SELDOM:
        column = rows.column(name)
        if column.null_count < len(column):
            is_suspect |= rows_of(column).lengths > 0
    at = np.flatnonzero(is_suspect)
    if len(at):
        some = rows.take(pa.array(at))
        # A partition without a list of replicas is reported as a cell.
        tables = {"partitions": some.filter(some.column("replicas").is_valid())}
        found = findings(Facts({}, (), tables), PARTITION_CHECKS)
        yield from rows_of_findings(found, tables)
