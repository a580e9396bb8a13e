"""
Partitions of a fleet added up where they are read.

Each task adds up what it reads and gives rows as many as brokers, log dirs and topics;
these are put together by Spark. Tables in a folder of this machine's file system are
read by the tasks themselves, column by column; others come from Spark as Arrow.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from planner.fleet.store import Store
from planner.snapshot.columns import PARTITIONS, ArrowTable
from planner.snapshot.facts import MIN_ISR
from planner.spark.chunk import (
    FOUND_TYPE,
    PLACE_TYPE,
    READ,
    TOPIC_TYPE,
    Ground,
    sums_of,
)
from planner.spark.dealing import pack
from planner.spark.fleet import KEY, Fleet, PartitionFile
from planner.spark.ground import part_of, union_of

CHUNK_ROWS = 250_000
"""Partitions that are added up together: few enough for any memory."""
_TIME = pa.timestamp("us", tz="UTC")
_TYPES = {column.name: column.type for column in PARTITIONS.columns}
SCHEMA = pa.schema(
    [
        ("cluster_id", pa.string()),
        ("taken_at", _TIME),
        ("place", PLACE_TYPE),
        ("topic", TOPIC_TYPE),
        ("found", FOUND_TYPE),
    ]
)
Key = tuple[str, int]
Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True, slots=True, eq=False)
class Grounds:
    """
    What partitions must know of the brokers of their snapshots, of many snapshots.

    Parameters
    ----------
    tables
        Tables by name, sorted by cluster and time.
    rows
        Per table, first row and number of rows of each snapshot.
    """

    tables: Mapping[str, ArrowTable]
    rows: Mapping[str, Mapping[Key, tuple[int, int]]]

    def of(self, key: Key) -> Ground:
        """Return what belongs to one snapshot."""
        parts = {
            name: table.slice(*self.rows[name].get(key, (0, 0)))
            for name, table in self.tables.items()
        }
        said = parts["clusters"].column("min_isr").drop_null().to_pylist()
        return Ground(
            min_isr=said[0] if said else 1,
            brokers=parts["brokers"],
            log_dirs=parts["log_dirs"],
            topics=parts["topics"],
        )


def grounds_of(fleet: Fleet) -> Grounds:
    """Collect what is as large as brokers, log dirs, and topics that say something."""
    min_isr = F.col("configs")[MIN_ISR].cast("int").alias("min_isr")
    topics = fleet.topics.select(
        *KEY, "topic", (F.col("storage") == "shared").alias("is_shared"), min_isr
    )
    chosen = {
        "clusters": fleet.clusters.select(*KEY, min_isr),
        "brokers": fleet.brokers.select(*KEY, "id", "rack", "state"),
        "log_dirs": fleet.log_dirs.select(*KEY, "broker_id", "path", "state"),
        "topics": topics.where(F.col("is_shared") | F.col("min_isr").isNotNull()),
    }
    parts = [_tagged(table, name) for name, table in chosen.items()]
    # One question to Spark, not four.
    together = union_of(parts).toArrow()
    order = {"brokers": "id", "log_dirs": "path", "topics": "topic"}
    tables, rows = {}, {}
    for name in chosen:
        found = _part_with_key(together, name)
        by = [*KEY, *filter(None, [order.get(name)])]
        found = found.sort_by([(column, "ascending") for column in by])
        if name == "brokers":
            found = _once(found)
        rows[name] = _spans(found)
        tables[name] = found.drop_columns(list(KEY)).combine_chunks()
    return Grounds(tables, rows)


def _tagged(table: DataFrame, tag: str) -> DataFrame:
    own = [column for column in table.columns if column not in KEY]
    return table.select(*KEY, F.struct(*own).alias(tag))


def _part_with_key(together: ArrowTable, name: str) -> ArrowTable:
    """Return the rows of one part of a union, with their keys."""
    rows = together.filter(pc.is_valid(together.column(name)))
    part = part_of(rows, name)
    for at, column in enumerate(KEY):
        part = part.add_column(at, column, rows.column(column))
    return part


def _once(brokers: ArrowTable) -> ArrowTable:
    """Return each broker once; that one stands twice is said later."""
    names = brokers.column("cluster_id").combine_chunks().dictionary_encode()
    key = np.stack(
        [
            names.indices.fill_null(-1).to_numpy().astype(np.int64),
            _micros(brokers),
            brokers.column("id").to_numpy().astype(np.int64),
        ]
    )
    is_first = np.ones(len(brokers), dtype=np.bool_)
    is_first[1:] = np.any(key[:, 1:] != key[:, :-1], axis=0)
    return brokers.filter(pa.array(is_first))


def _spans(table: ArrowTable) -> dict[Key, tuple[int, int]]:
    """Return the first row and the number of rows of each snapshot."""
    if not len(table):
        return {}
    names = table.column("cluster_id").combine_chunks().dictionary_encode()
    codes = names.indices.fill_null(-1).to_numpy()
    micros = _micros(table)
    is_new = (codes[1:] != codes[:-1]) | (micros[1:] != micros[:-1])
    start = np.append(0, np.nonzero(is_new)[0] + 1)
    lengths = np.diff(np.append(start, len(table)))
    ids = table.column("cluster_id").take(pa.array(start)).to_pylist()
    spans = zip(start.tolist(), lengths.tolist(), strict=True)
    return dict(zip(zip(ids, micros[start].tolist(), strict=True), spans, strict=True))


def _micros(table: ArrowTable) -> Any:  # noqa: ANN401 - (N,) ints
    return table.column("taken_at").cast(_TIME).cast(pa.int64()).to_numpy()


def partial_sums(spark: SparkSession, fleet: Fleet) -> DataFrame:
    """
    Add partitions up, task by task.

    Parameters
    ----------
    spark
        The session.
    fleet
        Canonical tables.

    Returns
    -------
    DataFrame
        `KEY`, and of `place`, `topic` and `found` one; the others are null. The same
        place or topic may stand there several times, once for each chunk.
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    grounds = grounds_of(fleet)
    schema = from_arrow_schema(SCHEMA)
    if fleet.partition_files is None:
        rows = fleet.partitions.select(*KEY, *READ)
        return rows.mapInArrow(_adder(grounds), schema)
    files = fleet.partition_files
    tasks = _dealt_files(files)
    count = max(len(tasks), 1)
    # A row for each task, and nothing to shuffle.
    numbers = spark.range(0, count, 1, count)
    return numbers.mapInArrow(_reader(grounds, files, tasks), schema)


def _dealt_files(files: Sequence[PartitionFile]) -> list[list[tuple[int, int]]]:
    """Deal row groups, by file and number, to tasks; small ones together."""
    groups = [
        (place, group, rows)
        for place, file in enumerate(files)
        for group, rows in enumerate(file.row_groups)
    ]
    tasks = pack([rows for *_, rows in groups], least=CHUNK_ROWS)
    return [[groups[piece][:2] for piece in sorted(pieces)] for pieces in tasks]


def _adder(grounds: Grounds) -> Callable[[Batches], Batches]:
    def add(batches: Batches) -> Batches:
        yield from _added((pa.table(batch) for batch in batches), grounds)

    return add


def _reader(
    grounds: Grounds,
    files: Sequence[PartitionFile],
    tasks: Sequence[Sequence[tuple[int, int]]],
) -> Callable[[Batches], Batches]:
    def read(batches: Batches) -> Batches:
        for batch in batches:
            for task in batch.column("id").to_pylist():
                groups = tasks[task] if tasks else ()
                yield from _added(_tables(files, groups), grounds)

    return read


def _tables(
    files: Sequence[PartitionFile], groups: Sequence[tuple[int, int]]
) -> Iterator[ArrowTable]:
    """Read row groups; what of them counts no longer is left out."""
    from pyarrow import parquet

    for place, group in groups:
        file = files[place]
        store = Store(file.root)
        with store.files.open_input_file(store.path(file.name)) as opened:
            coded = ["topic"] if file.key else ["topic", "cluster_id"]
            reader = parquet.ParquetFile(opened, read_dictionary=coded)
            known = set(reader.schema_arrow.names)
            wanted = [name for name in (*KEY, *READ) if name in known]
            table = reader.read_row_group(group, wanted, use_threads=False)
        yield _conformed(table, file)


def _conformed(table: ArrowTable, file: PartitionFile) -> ArrowTable:
    """Return a table with all the columns; the key is the file's where it has one."""
    columns = {}
    for name in READ:
        kind = _TYPES[name]
        if name not in table.column_names:
            columns[name] = pa.nulls(len(table), kind)
        elif pa.types.is_dictionary(table.column(name).type):
            columns[name] = table.column(name)
        else:
            columns[name] = table.column(name).cast(kind)
    if file.key is not None:
        cluster_id = pa.scalar(file.key[0], pa.string())
        moment = pa.scalar(file.key[1], pa.int64()).cast(_TIME)
        columns["cluster_id"] = pa.repeat(cluster_id, len(table))
        columns["taken_at"] = pa.repeat(moment, len(table))
    else:
        columns |= {name: table.column(name) for name in KEY}
    whole = pa.table(columns)
    for cluster_id, micros in file.hidden:
        moment = pa.scalar(micros, pa.int64()).cast(_TIME)
        is_it = pc.and_(
            pc.equal(whole.column("cluster_id"), cluster_id),
            pc.equal(whole.column("taken_at"), moment),
        )
        whole = whole.filter(pc.invert(is_it))
    return whole


def _added(tables: Iterator[ArrowTable], grounds: Grounds) -> Batches:
    """Add up rows, so many at a time."""
    waiting: list[ArrowTable] = []
    for table in tables:
        waiting.append(table)
        if sum(map(len, waiting)) >= CHUNK_ROWS:
            yield from _chunk(waiting, grounds)
            waiting = []
    if waiting:
        yield from _chunk(waiting, grounds)


def _chunk(waiting: Sequence[ArrowTable], grounds: Grounds) -> Batches:
    rows = pa.concat_tables(waiting).unify_dictionaries().combine_chunks()
    for key, of_key in _snapshots(rows):
        sums = sums_of(of_key, grounds.of(key))
        moment = pa.scalar(key[1], pa.int64()).cast(_TIME)
        named = pa.table(
            {
                "cluster_id": pa.repeat(pa.scalar(key[0], pa.string()), len(sums)),
                "taken_at": pa.repeat(moment, len(sums)),
                **{name: sums.column(name) for name in sums.column_names},
            },
            schema=SCHEMA,
        )
        yield from named.to_batches()


def _snapshots(rows: ArrowTable) -> Iterator[tuple[Key, ArrowTable]]:
    """Yield the rows of each snapshot."""
    micros = _micros(rows)
    names = rows.column("cluster_id").combine_chunks()
    if not pa.types.is_dictionary(names.type):
        names = names.dictionary_encode()
    codes = names.indices.fill_null(-1).to_numpy()
    times, time_code = np.unique(micros, return_inverse=True)
    key = codes.astype(np.int64) * len(times) + time_code
    texts = [*names.dictionary.to_pylist(), None]
    for each in np.unique(key).tolist():
        code, time = divmod(each, len(times))
        is_it = key == each
        part = rows if is_it.all() else rows.filter(pa.array(is_it))
        yield (texts[code], int(times[time])), part.combine_chunks()
