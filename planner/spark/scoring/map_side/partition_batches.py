"""Partitions on their way from Spark's tables to Python."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.snapshot.tables.table_rows import as_array
from planner.spark.io.fleet_files import KEY
from planner.spark.io.fleet_tables import Fleet
from planner.spark.scoring.broadcast.topic_settings import (
    Said,
    nothing_said,
    said_beside,
    saying,
    with_said,
)
from planner.spark.scoring.shuffle.row_batches import gathered
from planner.spark.scoring.shuffle.shuffle_rows import Batches, Key, by_key, micros_of
from planner.spark.scoring.sums.partial_sums import READ

_MOST_BATCHES = 10_000
"""Those that are looked at together, however few rows they have."""


def handed(fleet: Fleet, num_saying: int) -> tuple[DataFrame, Said]:
    """
    Return the partitions of a fleet as they are handed over.

    Parameters
    ----------
    fleet
        Canonical tables.
    num_saying
        How many topics say what their partitions must know.

    Returns
    -------
    Input of `received`, and the function that finds in it the settings of topics.
    """
    # What the table lacks is left out: Spark adds up the bytes of all columns after
    # every row, of nothing but nulls too. The cast fills them in.
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
    Yield the partitions of one snapshot together, of what Spark hands over.

    Parameters
    ----------
    batches
        Batches of Spark's, of some thousand rows.
    enough
        Rows that are looked at together: each look costs as much as some thousand.
    """
    for some in gathered(batches, len, enough=enough, most=_MOST_BATCHES):
        rows = pa.Table.from_batches(some).combine_chunks()
        yield from by_key(_sorted(rows))


def _sorted(rows: ArrowTable) -> ArrowTable:
    """Bring the rows of each snapshot together, where they lie scattered."""
    codes = _codes(rows)
    num_runs = 1 + np.count_nonzero(codes[1:] != codes[:-1]) if len(codes) else 0
    if num_runs <= len(np.unique(codes)):
        return rows
    return rows.take(pa.array(np.argsort(codes, kind="stable")))


def _codes(rows: ArrowTable) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return ``(N,)`` equal numbers for rows of one snapshot."""
    names = as_array(rows.column("cluster_id")).dictionary_encode()
    name = names.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    _, moment = np.unique(micros_of(rows), return_inverse=True)
    codes: np.ndarray[tuple[int], np.dtype[np.int64]]
    codes = moment.astype(np.int64) * (len(names.dictionary) + 1) + name
    return codes
