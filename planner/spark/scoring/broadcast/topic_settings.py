"""
Topic settings that affect partitions: their min ISR and their storage.

They are looked up in the tasks that sum partitions, so that no process holds the
settings of all topics of a fleet.
"""

from collections.abc import Callable, Collection, Sequence
from functools import cached_property, lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from planner.errors import UnreadableFileError
from planner.fleet.arrow_tables import KEY_FIELDS
from planner.snapshot.tables.snapshot_columns import (
    MAX_INT32,
    STRING_MAP,
    TOPICS,
    ArrowTable,
)
from planner.snapshot.tables.table_facts import MIN_ISR, config_values
from planner.spark.common.cell_casts import cast_cells
from planner.spark.common.problem_rows import FOUND
from planner.spark.io.fleet_files import KEY, FleetFiles
from planner.spark.io.picked_columns import config_of
from planner.spark.io.snapshot_keys import Key, by_key
from planner.spark.io.whole_snapshots import SnapshotReader
from planner.spark.scoring.broadcast.broadcast_columns import with_keys

SAID = pa.schema(
    [("topic", pa.string()), ("is_shared", pa.bool_()), ("min_isr", pa.int32())]
)
"""Settings of the topics that have any."""
_NO_SETTINGS = pa.schema([*SAID, *KEY_FIELDS]).empty_table()
BESIDE = {name: f"said_{name}" for name in SAID.names if name != "topic"}
"""Columns of settings joined to partitions."""
MOST_BROADCAST = 1_000_000
"""Largest number of topics with settings that is broadcast, in some 100 MB."""
MOST_COLLECTED = 100_000
"""Largest number of topics with settings that the driver collects, in some 10 MB."""
SNAPSHOTS_KEPT = 8
_KINDS = {"topic": pa.string(), "storage": pa.string(), "configs": STRING_MAP}
_COLUMNS = tuple(column for column in TOPICS.columns if column.name in _KINDS)
Said = Callable[[Key, ArrowTable], tuple[ArrowTable, ArrowTable]]
"""
Function from a snapshot and some of its partitions to the settings of at least their
topics, and the problems of the files of these settings, in the columns of `FOUND`.
"""


def said_beside(key: Key, rows: ArrowTable) -> tuple[ArrowTable, ArrowTable]:
    """Return the settings in the columns that `with_said` has joined to partitions."""
    columns = ["topic", *BESIDE.values()]
    table = pa.table({name: _plain(rows.column(name)) for name in columns})
    once = table.group_by("topic").aggregate([(n, "max") for n in BESIDE.values()])
    said = once.select(["topic", *(f"{name}_max" for name in BESIDE.values())])
    return said.rename_columns(SAID.names), FOUND.empty_table()


def _plain(column: ArrowTable) -> ArrowTable:
    is_text = pa.types.is_dictionary(column.type)
    return column.cast(column.type.value_type) if is_text else column


def saying(topics: DataFrame) -> DataFrame:
    """
    Return the topics with settings of their own: `KEY`, `topic`, `BESIDE`.

    Parameters
    ----------
    topics
        The canonical table.
    """
    storage = F.col("storage").cast("string")
    said = {
        "is_shared": F.coalesce(storage == "shared", F.lit(False)),
        "min_isr": config_of(topics, "configs", MIN_ISR).try_cast("int"),
    }
    settings = topics.select(
        *KEY,
        F.col("topic").cast("string").alias("topic"),
        *(value.alias(BESIDE[name]) for name, value in said.items()),
    )
    return settings.where(
        F.col(BESIDE["is_shared"]) | F.col(BESIDE["min_isr"]).isNotNull()
    )


def with_said(partitions: DataFrame, settings: DataFrame, count: int) -> DataFrame:
    """
    Return partitions joined by Spark with the settings of their topics.

    `partitions` has the columns `KEY` and `topic`. `settings` is the result of
    `saying`, with `count` rows. Spark itself estimates as many rows as there are
    topics, and would sort all partitions for the join.
    """
    theirs = {name: f"their_{name}" for name in (*KEY, "topic")}
    # A duplicate topic is rejected elsewhere, and must not duplicate partitions here.
    once = settings.withColumnsRenamed(theirs).dropDuplicates(list(theirs.values()))
    if count <= MOST_BROADCAST:
        once = F.broadcast(once)
    # Rows without a key or topic are rejected elsewhere: null need not match null.
    own = {name: partitions[name] for name in KEY}
    own["topic"] = partitions["topic"].cast("string")
    is_its = [own[name] == once[alias] for name, alias in theirs.items()]
    return partitions.join(once, is_its, "left").drop(*theirs.values())


def settings_in(topics: Sequence[ArrowTable]) -> ArrowTable:
    """
    Return the settings in a small table of topics: the columns of `SAID` and `KEY`.

    Parameters
    ----------
    topics
        Parts of the table, with the columns `KEY`.
    """
    # The task that lists the topics reports the problems of these cells.
    cast = [cast_cells(part, _COLUMNS, "topics")[0] for part in topics]
    found = [_said_with(with_keys(part), KEY) for part in cast]
    return pa.concat_tables([_NO_SETTINGS, *found])


def settings_beside(found: ArrowTable) -> ArrowTable:
    """Return rows of `saying` that the driver has collected; as `settings_in`."""
    names = {alias: name for name, alias in BESIDE.items()}
    return found.rename_columns([names.get(name, name) for name in found.column_names])


class CollectedSettings:
    """
    Settings of few topics, collected by the driver and sent to every task.

    Parameters
    ----------
    settings
        The columns `KEY` and those of `SAID`.
    """

    def __init__(self, settings: ArrowTable) -> None:
        self._settings = settings

    def __call__(self, key: Key, rows: ArrowTable) -> tuple[ArrowTable, ArrowTable]:
        """Return the settings of all topics of a snapshot that have any."""
        return self._by_key.get(key, SAID.empty_table()), FOUND.empty_table()

    @cached_property
    def _by_key(self) -> dict[Key, ArrowTable]:
        known = self._settings.filter(pc.is_valid(self._settings.column("topic")))
        ordered = known.sort_by([(name, "ascending") for name in KEY])
        return {
            key: rows.select(SAID.names).combine_chunks()
            for key, rows in by_key(ordered.combine_chunks())
        }


class SaidInFiles:
    """
    Settings of the topics of a snapshot, read on demand in the task.

    Parameters
    ----------
    files
        Files of the fleet.
    """

    def __init__(self, files: FleetFiles) -> None:
        self._files = files
        self._heard: dict[Key, ArrowTable] = {}
        self._of = lru_cache(SNAPSHOTS_KEPT)(self._read)

    def hear(self, topics: ArrowTable, keys: Collection[Key]) -> None:
        """
        Cache the settings of topics that were already read.

        `keys` are the snapshots whose topics are all among those of `topics`.
        """
        self._heard = dict.fromkeys(keys, SAID.empty_table()) | self._heard
        for key, said in by_key(_said_with(topics, KEY)):
            if key in keys:
                self._heard[key] = said.select(SAID.names)

    def __call__(self, key: Key, rows: ArrowTable) -> tuple[ArrowTable, ArrowTable]:
        """Return the settings of all topics of a snapshot that have any."""
        if key in self._heard:
            return self._heard[key], FOUND.empty_table()
        return self._of(key)

    @cached_property
    def _reader(self) -> SnapshotReader:
        return SnapshotReader(self._files, {"topics": _KINDS})

    def _read(self, key: Key) -> tuple[ArrowTable, ArrowTable]:
        try:
            topics = self._reader.tables(key)["topics"]
        except UnreadableFileError as error:
            flaw = {"table": "topics", "place": error.file, "value": ""}
            flaws = [flaw | {"rule": str(error)}]
            return SAID.empty_table(), pa.Table.from_pylist(flaws, schema=FOUND)
        # The task that lists the topics reports the problems of these cells.
        cast, _ = cast_cells(topics, _COLUMNS, "topics")
        return said_of(cast), FOUND.empty_table()


def said_of(topics: ArrowTable) -> ArrowTable:
    """Return the settings of topics that have any: the columns of `SAID`."""
    return _said_with(topics, ())


def _said_with(topics: ArrowTable, names: Sequence[str]) -> ArrowTable:
    """Return the settings of topics that have any, and more columns of the topics."""
    shared = pc.equal(topics.column("storage"), "shared")
    is_shared = pc.fill_null(shared, fill_value=False)
    min_isr = pa.array(min_isr_of(topics.column("configs")), pa.int32())
    columns = [topics.column("topic"), is_shared, min_isr]
    table = pa.Table.from_arrays(columns, schema=SAID)
    for name in names:
        table = table.append_column(name, topics.column(name))
    return table.filter(pc.or_(is_shared, min_isr.is_valid())).combine_chunks()


def min_isr_of(configs: Any) -> list[int | None]:  # noqa: ANN401 - a column of maps
    """Return the min ISR that each row sets; `None` if it is absent or no number."""
    found: list[int | None] = [None] * len(configs)
    for row, text in zip(*config_values(configs, MIN_ISR), strict=True):
        is_number = text.strip().isdecimal() and int(text) <= MAX_INT32
        found[row] = int(text) if is_number else None
    return found
