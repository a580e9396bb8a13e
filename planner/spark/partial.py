"""
Partitions of a fleet added up where they are read.

Each task adds up what it reads and gives parcels as large as brokers, log dirs and
topics. Tables in a folder of this machine's file system are read by the tasks
themselves, column by column; others come from Spark as Arrow.
"""

import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from planner.errors import UnreadableFileError
from planner.snapshot.broker_checks import TOPIC_CHECKS
from planner.snapshot.checks import findings
from planner.snapshot.columns import PARTITIONS, TOPICS, ArrowTable
from planner.snapshot.facts import Facts
from planner.spark.cells import cast_cells, nulls, without_codes
from planner.spark.chunk import READ, WORTH_COMPILING, sums_of
from planner.spark.dealing import cores_of, pack
from planner.spark.files import (
    BY_TASKS,
    KEY,
    FleetFiles,
    TableFile,
    keyed,
    read_batches,
)
from planner.spark.findings import found_table, rows_of_findings
from planner.spark.fleet import Fleet
from planner.spark.grounds import Grounds, flaws_of
from planner.spark.handing import handed, received
from planner.spark.parcels import (
    LISTED,
    SCHEMA,
    Batches,
    Key,
    Parcels,
    by_key,
    packed,
    seeds,
    sent,
)
from planner.spark.places import PlaceSums
from planner.spark.said import Said, SaidInFiles
from planner.spark.workers import settle

CHUNK_ROWS = 500_000
"""Partitions that are added up together at most, and at least half as many: 50 MB."""
TASK_ROWS, MOST_ROWS = 150_000, 4_000_000
"""
A task has so many rows to read at least, where there are, and about so many at most.
In between each core has one task, above all cores have equally many: what a task costs
Spark is worth 100,000 rows.
"""
SNAPSHOT_ROWS = 20_000
"""A snapshot takes as long as so many rows, however few it has."""
TOPICS_KEPT = 100_000
"""Topics, half a kilobyte each, that a task keeps until it sends them."""
_KEPT = {
    "factor": "factors",
    "count": "counts",
    "found": "found",
    "topic": "topics",
    "number": "numbers",
}
"""Kinds of parcels besides places, and what sums call them."""
_CODED = ("topic", "log_dirs", "future_log_dirs")
_COLUMNS = tuple(column for column in PARTITIONS.columns if column.name in READ)
_WANTED = {
    "partitions": dict.fromkeys(READ),
    "topics": dict.fromkeys(TOPICS.schema.names),
}
Piece = tuple[str, int, int | None]
"""
A row group: its table, its file's place among those of the table, its number; `None`:
all of the file.
"""


def partial_sums(spark: SparkSession, fleet: Fleet, grounds: Grounds) -> DataFrame:
    """
    Add partitions up, task by task.

    Parameters
    ----------
    spark
        The session.
    fleet
        Canonical tables.
    grounds
        What is known of their brokers.

    Returns
    -------
    DataFrame
        Parcels: the columns of `planner.spark.parcels.SCHEMA`.
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    schema = from_arrow_schema(SCHEMA)
    if fleet.files is None:
        partitions, said = handed(fleet, grounds.num_saying)
        rows = partitions.mapInArrow(_adder(grounds, said), schema)
        topics = fleet.topics.select(*KEY, *TOPICS.schema.names)
        named = topics.mapInArrow(_lister(grounds), schema)
        nothing = spark.range(0, 1, 1, 1)
        return rows.union(named).union(nothing.mapInArrow(_seeder(grounds), schema))
    files = fleet.files
    tasks = dealt_files(files, cores_of(spark))
    # A row for each task, and nothing to shuffle.
    numbers = spark.range(0, len(tasks), 1, len(tasks))
    return numbers.mapInArrow(_reader(grounds, _packed(files, tasks)), schema)


def _packed(files: FleetFiles, tasks: Sequence[Sequence[Piece]]) -> list[bytes]:
    """
    Return the pieces of each task, and the files that say what its topics say.

    In bytes, for every task gets all of them and reads none but its own.
    """
    topics = replace(files, tables={"topics": files.tables.get("topics", ())})
    own = topics.by_snapshot()
    packed = []
    for task in tasks:
        pieces = [(table, files.tables[table][n], group) for table, n, group in task]
        keys = [key for _, file, _ in pieces for key in file.snapshots]
        packed.append(pickle.dumps((pieces, own(keys))))
    return packed


def dealt_files(files: FleetFiles, cores: int) -> list[list[Piece]]:
    """
    Deal row groups to tasks, small ones together.

    Parameters
    ----------
    files
        The files.
    cores
        About how many tasks run at once.

    Returns
    -------
    Pieces by task, at least one task.
    """
    pieces = [
        (table, place, group)
        for table in BY_TASKS
        for place, file in enumerate(files.tables.get(table, ()))
        for group in (range(len(file.row_groups)) if file.row_groups else (None,))
    ]
    sizes = [_rows_worth(files.tables[t][place], group) for t, place, group in pieces]
    rounds = max(-(-sum(sizes) // (cores * MOST_ROWS)), 1)
    share = -(-sum(sizes) // (cores * rounds))
    tasks = pack(sizes, least=max(TASK_ROWS, share))
    return [[pieces[n] for n in sorted(task)] for task in tasks] or [[]]


def _rows_worth(file: TableFile, group: int | None) -> int:
    """Return how many rows take as long as a row group."""
    snapshots = len(file.snapshots) // max(len(file.row_groups), 1)
    rows = file.rows if group is None else file.row_groups[group]
    return rows + SNAPSHOT_ROWS * max(snapshots, 1)


def _seeder(grounds: Grounds) -> Callable[[Batches], Batches]:
    def seed(batches: Batches) -> Batches:
        for _ in batches:
            yield from sent(seeds(grounds.keys))

    return seed


def _lister(grounds: Grounds) -> Callable[[Batches], Batches]:
    def list_topics(batches: Batches) -> Batches:
        for batch in batches:
            yield from sent(_listed(pa.table(batch), grounds))

    return list_topics


def _listed(topics: ArrowTable, grounds: Grounds) -> Parcels:
    """Send the names that a table of topics has, and what is wrong with its rows."""
    for key, rows in by_key(topics):
        cast, found = cast_cells(rows, TOPICS.columns, "topics")
        tables = {"topics": cast}
        checked = findings(Facts({}, (), tables), TOPIC_CHECKS)
        found += rows_of_findings(checked, tables)
        if found:
            yield from packed(key, "found", found_table(found))
        names = cast.column("topic").drop_null()
        table = pa.Table.from_arrays([names], schema=LISTED)
        yield from packed(key, "listed", table, buckets=grounds.buckets(key))


def _adder(grounds: Grounds, said: Said) -> Callable[[Batches], Batches]:
    def add(batches: Batches) -> Batches:
        yield from sent(_added(batches, Adding(grounds, said)))
        settle("add")

    return add


def _added(batches: Batches, adding: "Adding") -> Parcels:
    for key, rows in received(batches, CHUNK_ROWS // 2):
        yield from adding.take(key, rows)
    yield from adding.end()


def _reader(grounds: Grounds, tasks: Sequence[bytes]) -> Callable[[Batches], Batches]:
    def read(batches: Batches) -> Batches:
        for batch in batches:
            for task in batch.column("id").to_pylist():
                if task == 0:
                    yield from sent(seeds(grounds.keys))
                pieces, files = pickle.loads(tasks[task])  # noqa: S301 - our own
                yield from sent(_of_pieces(pieces, grounds, SaidInFiles(files)))
        settle("read")

    return read


def _of_pieces(
    pieces: Sequence[tuple[str, TableFile, int | None]], grounds: Grounds, said: Said
) -> Parcels:
    adding = Adding(grounds, said)
    for table, file, group in pieces:
        try:
            yield from _of_piece(table, file, group, adding, grounds)
        except UnreadableFileError as error:
            yield from _unreadable(table, file, str(error))
    yield from adding.end()


def _of_piece(
    table: str, file: TableFile, group: int | None, adding: "Adding", grounds: Grounds
) -> Parcels:
    file = file.alone
    coded = _CODED if table == "partitions" else ()
    for rows in read_batches(file, group, _WANTED[table], coded, CHUNK_ROWS):
        if table == "topics":
            yield from _listed(keyed(rows, file), grounds)
        elif file.key is not None:
            yield from adding.take(file.key, rows)
        else:
            for key, of_key in by_key(rows):
                yield from adding.take(key, of_key)


def _unreadable(table: str, file: TableFile, reason: str) -> Parcels:
    """Send what is wrong with a file to the snapshots that it has."""
    for key, flaw in flaws_of(table, file, reason):
        yield from packed(key, "found", found_table([flaw]))


def _together(tables: Sequence[ArrowTable]) -> ArrowTable:
    """Return rows in one chunk; columns without any value are not copied for it."""
    if len(tables) == 1:
        return tables[0].combine_chunks()
    if any(table.schema != tables[0].schema for table in tables):
        # One file has texts as numbers of few texts, another as they are.
        tables = [without_codes(table) for table in tables]
    names = tables[0].column_names
    empty = [
        name
        for name in names
        if all(table.column(name).null_count == len(table) for table in tables)
    ]
    full = [table.drop_columns(empty) for table in tables]
    rows = pa.concat_tables(full).unify_dictionaries().combine_chunks()
    for name in empty:
        kind = tables[0].schema.field(name).type
        rows = rows.append_column(name, nulls(len(rows), kind))
    return rows


class Adding:
    """
    Rows that wait to be added up, and what came of those before.

    What a task has of a place is put together; topics wait until they are many.

    Parameters
    ----------
    grounds
        What is known of brokers and log dirs.
    said
        Returns what topics say.
    """

    def __init__(self, grounds: Grounds, said: Said) -> None:
        self._grounds = grounds
        self._said = said
        self._waiting: dict[Key, list[ArrowTable]] = {}
        self._rows = self._topics = 0
        self._kept: dict[Key, list[tuple[ArrowTable, ...]]] = {}
        self._places: dict[Key, PlaceSums] = {}

    def take(self, key: Key, table: ArrowTable) -> Parcels:
        """Take rows of a snapshot, of whatever types; tell what cannot be cast."""
        cast, found = cast_cells(table, _COLUMNS, "partitions", keeps_codes=True)
        if found:
            yield from packed(key, "found", found_table(found))
        self._waiting.setdefault(key, []).append(cast)
        self._rows += len(table)
        if 2 * self._rows >= CHUNK_ROWS:
            yield from self._add()

    def end(self) -> Parcels:
        """Add up what waits, and send all that was kept."""
        yield from self._add()
        yield from self._send()

    def _send(self) -> Parcels:
        for key, parts in self._kept.items():
            yield from packed(key, "place", self._places[key].table())
            buckets = self._grounds.buckets(key)
            for kind, tables in zip(_KEPT, zip(*parts, strict=True), strict=True):
                yield from packed(key, kind, pa.concat_tables(tables), buckets=buckets)
        self._kept, self._places, self._topics = {}, {}, 0

    def _add(self) -> Parcels:
        is_compiled = self._rows >= WORTH_COMPILING
        for key, tables in self._waiting.items():
            rows = _together(tables)
            ground = self._grounds.of(key)
            places = self._places.setdefault(key, PlaceSums(ground.state))
            said, flaws = self._said(key, rows)
            if len(flaws):
                yield from packed(key, "found", flaws)
            sums = sums_of(rows, ground, said, places, is_compiled=is_compiled)
            kept = tuple(getattr(sums, name) for name in _KEPT.values())
            self._kept.setdefault(key, []).append(kept)
            self._topics += len(sums.topics)
        self._waiting, self._rows = {}, 0
        if self._topics >= TOPICS_KEPT:
            yield from self._send()
