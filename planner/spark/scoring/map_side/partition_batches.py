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
from planner.spark.scoring.broadcast.broadcast_tables import Grounds
from planner.spark.scoring.broadcast.topic_settings import (
    CollectedSettings,
    Said,
    said_beside,
    saying,
    with_said,
)
from planner.spark.scoring.shuffle.row_batches import gathered
from planner.spark.scoring.shuffle.shuffle_rows import Batches
from planner.spark.scoring.sums.partial_sums import READ

_MOST_BATCHES = 10_000
"""Largest number of batches that are processed together, however few rows they have."""


def columns_read(fleet: Fleet) -> DataFrame:
    """
    Return the columns of partitions that tasks read.

    Parameters
    ----------
    fleet
        Canonical tables.
    """
    # Absent columns are left out: Spark sums the bytes of all columns after every
    # row, also of null columns. The cast adds them.
    kinds = dict(fleet.partitions.dtypes)
    known = [name for name in READ if name == "topic" or kinds[name] != "void"]
    # One pattern: each name takes several calls of the JVM.
    pattern = "|".join([*KEY, *known])
    return fleet.partitions.select(fleet.partitions.colRegex(f"`({pattern})`"))


def handed(
    partitions: DataFrame, topics: DataFrame, grounds: Grounds
) -> tuple[DataFrame, Said]:
    """
    Return partitions with the settings of their topics, as Spark hands them over.

    Parameters
    ----------
    partitions
        Result of `columns_read`.
    topics
        The canonical table.
    grounds
        Settings of topics, if they are few.

    Returns
    -------
    Input of `received`, and the function that extracts the topic settings from it.
    """
    if grounds.settings is not None:
        return partitions, CollectedSettings(grounds.settings)
    return with_said(partitions, saying(topics), grounds.num_saying), said_beside


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
        yield from each_snapshot(pa.Table.from_batches(some).combine_chunks())


def each_snapshot(rows: ArrowTable) -> Iterator[tuple[Key, ArrowTable]]:
    """Yield the rows of each snapshot together, wherever they are in a table."""
    if not len(rows):
        return
    name, micros = _codes(rows), micros_of(rows)
    is_new = (name[1:] != name[:-1]) | (micros[1:] != micros[:-1])
    starts = np.append(0, np.nonzero(is_new)[0] + 1)
    runs = {*zip(name[starts].tolist(), micros[starts].tolist(), strict=True)}
    if len(runs) < len(starts):
        order = np.lexsort((name, micros))
        rows = rows.take(pa.array(order))
    yield from by_key(rows)


def _codes(rows: ArrowTable) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """Return ``(N,)`` numbers that are equal for rows of one cluster."""
    names = as_array(rows.column(KEY[0]))
    if not pa.types.is_dictionary(names.type):
        names = names.dictionary_encode()
    codes: np.ndarray[tuple[int], np.dtype[np.int32]]
    codes = names.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return codes
