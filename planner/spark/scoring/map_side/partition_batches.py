"""Partitions passed from Spark's tables to Python in batches."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.snapshot.tables.table_rows import as_array
from planner.spark.io.fleet_files import KEY
from planner.spark.io.fleet_tables import Fleet
from planner.spark.io.snapshot_keys import Key, by_key, micros_of
from planner.spark.scoring.broadcast.topic_settings import (
    Said,
    nothing_said,
    said_beside,
    saying,
    with_said,
)
from planner.spark.scoring.shuffle.row_batches import gathered
from planner.spark.scoring.shuffle.shuffle_rows import Batches
from planner.spark.scoring.sums.partial_sums import READ

_MOST_BATCHES = 10_000
"""Largest number of batches that are processed together, however few rows they have."""


def handed(fleet: Fleet, num_saying: int) -> tuple[DataFrame, Said]:
    """
    Return the partitions of a fleet in the columns that tasks receive.

    Parameters
    ----------
    fleet
        Canonical tables.
    num_saying
        Number of topics with settings of their own.

    Returns
    -------
    Input of `received`, and the function that extracts the topic settings from it.
    """
    # Absent columns are left out: Spark sums the bytes of all columns after every
    # row, also of null columns. The cast adds them.
    kinds = dict(fleet.partitions.dtypes)
    known = [name for name in READ if name == "topic" or kinds[name] != "void"]
    partitions = fleet.partitions.select(*KEY, *known)
    said: Said = nothing_said
    if num_saying:
        partitions = with_said(partitions, saying(fleet.topics), num_saying)
        said = said_beside
    return partitions, said


def received(batches: Batches, enough: int) -> Iterator[tuple[Key, ArrowTable]]:
    """
    Yield the partitions of each snapshot together, from batches of Spark.

    Parameters
    ----------
    batches
        Batches of Spark, of some thousand rows.
    enough
        Rows that are processed together: each call costs as much as some thousand rows.
    """
    for some in gathered(batches, len, enough=enough, most=_MOST_BATCHES):
        rows = pa.Table.from_batches(some).combine_chunks()
        yield from by_key(_sorted(rows))


def _sorted(rows: ArrowTable) -> ArrowTable:
    """Sort rows by snapshot if those of a snapshot are not adjacent."""
    codes = _codes(rows)
    num_runs = 1 + np.count_nonzero(codes[1:] != codes[:-1]) if len(codes) else 0
    if num_runs <= len(np.unique(codes)):
        return rows
    return rows.take(pa.array(np.argsort(codes, kind="stable")))


def _codes(rows: ArrowTable) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return ``(N,)`` numbers that are equal for rows of one snapshot."""
    names = as_array(rows.column("cluster_id")).dictionary_encode()
    name = names.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    _, moment = np.unique(micros_of(rows), return_inverse=True)
    codes: np.ndarray[tuple[int], np.dtype[np.int64]]
    codes = moment.astype(np.int64) * (len(names.dictionary) + 1) + name
    return codes
