"""Broadcast of the brokers and log dirs of many snapshots."""

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any, Self
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from placement.array_types import BoolArray
from planner.errors import UnreadableFileError
from planner.snapshot.tables.snapshot_columns import TOPICS, ArrowTable
from planner.spark.common.problem_rows import Row
from planner.spark.io.fleet_files import KEY, FleetFiles, TableFile, read_file
from planner.spark.io.fleet_tables import Fleet
from planner.spark.io.snapshot_keys import Key, by_key, micros_of
from planner.spark.scans.small_tables import small_table
from planner.spark.scoring.broadcast.broadcast_columns import (
    CHECKED,
    EMPTY,
    GROUND_COLUMNS,
    ORDER,
    cast_ground,
    with_keys,
)
from planner.spark.scoring.broadcast.topic_settings import (
    MOST_COLLECTED,
    saying,
    settings_beside,
    settings_in,
)
from planner.spark.scoring.shuffle.shuffle_rows import Buckets, buckets_for
from planner.spark.scoring.shuffle.stacked_tables import part_of, tagged, union_of
from planner.spark.scoring.sums.snapshot_grounds import Ground
from planner.spark.scoring.sums.sum_arrays import Ints

Flaw = dict[str, str]
"""Problem of a file, in the columns of `planner.spark.common.problem_rows.FOUND`."""
_SAYING = "saying"
GROUNDS_KEPT, SMALL_KEPT, SMALL_BROKERS = 32, 2_000, 100
"""
Number of large and of small snapshots whose brokers a process caches, and the most
brokers of a small one. Several tasks use a large snapshot; a task uses each of many
small ones twice.
"""


@dataclass(frozen=True, eq=False)
class Grounds:
    """
    Broadcast data of many snapshots: brokers, log dirs and headers.

    Parameters
    ----------
    tables
        Tables by name, sorted by cluster and time.
    rows
        Per table, first row and number of rows of each snapshot.
    flaws
        Per snapshot, the problems of its files that cannot be read.
    problems
        Per snapshot, the problems of the cells of these tables.
    partitions
        Per snapshot, the approximate number of its partitions, if known.
    num_saying
        Number of topics with settings of their own, if Spark joins these to partitions.
    settings
        The settings of topics, if they are few and Spark reads the tables; the driver
        alone has them. The columns `KEY` and `topic_settings.SAID`.
    topics
        Parts of the table of topics, if the driver has read it; the driver alone has
        them.

    Notes
    -----
    Every task receives the pickled data. A process keeps the unpickled data until it
    receives other data.
    """

    tables: Mapping[str, ArrowTable]
    rows: Mapping[str, Mapping[Key, tuple[int, int]]]
    flaws: Mapping[Key, Sequence[Flaw]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    partitions: Mapping[Key, int] = field(default_factory=lambda: MappingProxyType({}))
    problems: Mapping[Key, Sequence[Row]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    num_saying: int = 0
    settings: ArrowTable | None = None
    topics: Sequence[ArrowTable] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the pickled form, which a process unpickles once."""
        return _handed, self._packed

    @cached_property
    def _packed(self) -> tuple[str, bytes]:
        by_key = (dict(self.rows), dict(self.flaws), dict(self.partitions))
        parts = (self.tables, *by_key, dict(self.problems), self.num_saying)
        return uuid4().hex, pickle.dumps(parts, pickle.HIGHEST_PROTOCOL)

    def part(self, name: str, key: Key) -> ArrowTable:
        """Return the rows of one table that belong to a snapshot, as they were read."""
        return self.tables[name].slice(*self.rows[name].get(key, (0, 0)))

    def num_brokers(self, key: Key) -> int:
        """Return the number of brokers of a snapshot."""
        return self.rows["brokers"].get(key, (0, 0))[1]

    def of(self, keys: tuple[Key, ...]) -> Ground:
        """Return the data of one or more snapshots, with each broker once."""
        if len(keys) > 1:
            return self._of_many(keys)
        is_small = self.num_brokers(keys[0]) <= SMALL_BROKERS
        return self._of_small(keys) if is_small else self._of_large(keys)

    @cached_property
    def _of_large(self) -> Callable[[tuple[Key, ...]], Ground]:
        return lru_cache(GROUNDS_KEPT)(self._make)

    @cached_property
    def _of_small(self) -> Callable[[tuple[Key, ...]], Ground]:
        return lru_cache(SMALL_KEPT)(self._make)

    @cached_property
    def _of_many(self) -> Callable[[tuple[Key, ...]], Ground]:
        return lru_cache(1)(self._make)

    def _make(self, keys: tuple[Key, ...]) -> Ground:
        clusters = [self.part("clusters", key) for key in keys]
        said = [rows.column("min_isr").drop_null().to_pylist() for rows in clusters]
        brokers, first_broker = self._together("brokers", keys)
        dirs, first_dir = self._together("log_dirs", keys)
        return Ground(
            min_isr=[each[0] if each else 1 for each in said],
            caps_min_isr=[
                any(rows.column("caps_min_isr").to_pylist()) for rows in clusters
            ],
            brokers=brokers,
            log_dirs=dirs,
            first_broker=first_broker,
            first_dir=first_dir,
        )

    def _together(self, name: str, keys: Sequence[Key]) -> tuple[ArrowTable, Ints]:
        """Return the usable rows of snapshots, and the first row of each."""
        spans = [self.rows[name].get(key, (0, 0)) for key in keys]
        lengths = np.array([length for _, length in spans])
        parts = [self.tables[name].slice(*span) for span in spans]
        table = pa.concat_tables(parts).combine_chunks()
        of = np.repeat(np.arange(len(keys)), lengths)
        is_used = _USABLE[name](table, of)
        first = np.searchsorted(of[is_used], np.arange(len(keys) + 1))
        return table.filter(pa.array(is_used)), first

    def buckets(self, key: Key) -> Buckets:
        """Return the buckets of a snapshot's topics."""
        return buckets_for(self.num_brokers(key), self.partitions.get(key, 0))

    def with_partitions(self, rows: int) -> Self:
        """Return the data with `rows` partitions, taken to be equally many of each."""
        each = rows // max(len(self.keys), 1)
        return replace(self, partitions=dict.fromkeys(self.keys, each))

    @cached_property
    def keys(self) -> list[Key]:
        """Keys of every snapshot in one of the tables, or in problems of files."""
        named = [*self.rows.values(), self.flaws]
        return list(dict.fromkeys(key for rows in named for key in rows))


_HERE: dict[str, Grounds] = {}


def _handed(name: str, packed: bytes) -> Grounds:
    """Return the data that this process unpickled last, or unpickle other data."""
    if name not in _HERE:
        _HERE.clear()
        _HERE[name] = Grounds(*pickle.loads(packed))  # noqa: S301 - our own
    return _HERE[name]


def _is_first(brokers: ArrowTable, of: Ints) -> BoolArray:
    """Return whether a broker has an id for the first time; others are reported."""
    column = brokers.column("id")
    known = np.flatnonzero(column.is_valid().to_numpy())
    ids, of = column.drop_null().to_numpy(), of[known]
    is_new = np.ones(len(known), dtype=np.bool_)
    is_new[1:] = (ids[1:] != ids[:-1]) | (of[1:] != of[:-1])
    is_first = np.zeros(len(brokers), dtype=np.bool_)
    is_first[known[is_new]] = True
    return is_first


def _has_path(log_dirs: ArrowTable, _: Ints) -> BoolArray:
    has_path: BoolArray = log_dirs.column("path").is_valid().to_numpy()
    return has_path


_USABLE = {"brokers": _is_first, "log_dirs": _has_path}
"""Functions that return which rows of a table scores can use."""


def grounds_of(fleet: Fleet) -> Grounds:
    """Collect the tables to broadcast, whose size grows with brokers and log dirs."""
    num_saying, settings, topics = 0, None, None
    if fleet.files is None:
        flaws: Mapping[Key, Sequence[Flaw]] = fleet.flaws
        topics = small_table(fleet.topics, dict.fromkeys(TOPICS.schema.names))
        read, settings = _of_tables(fleet, with_settings=topics is None)
        if topics is not None:
            settings = settings_in(topics)
        elif settings is None:
            num_saying = saying(fleet.topics).count()
        partitions = dict[Key, int]()
    else:
        read, flaws = _of_files(fleet.files)
        partitions = _partitions_of(fleet.files)
    problems: dict[Key, list[Row]] = {}
    tables, rows = {}, {}
    for name, found in read.items():
        clean = _cleaned(name, found, problems)
        rows[name] = _spans(clean)
        tables[name] = clean.drop_columns(list(KEY)).combine_chunks()
    for key in dict.fromkeys(key for spans in rows.values() for key in spans):
        if fleet.column_flaws:
            problems.setdefault(key, []).extend(map(dict, fleet.column_flaws))
    own = (num_saying, settings, topics)
    return Grounds(tables, rows, flaws, partitions, problems, *own)


def _cleaned(
    name: str, parts: Sequence[ArrowTable], problems: dict[Key, list[Row]]
) -> ArrowTable:
    """Cast and sort the parts of a table; record problems of cells by snapshot."""
    tables = [EMPTY[name]]
    for part in _alike(parts):
        cast, found = cast_ground(name, part)
        tables.append(cast.select(EMPTY[name].column_names))
        if found:
            # Rare: each snapshot is cast again to find those with problems.
            ordered = with_keys(part).sort_by([(c, "ascending") for c in KEY])
            for key, rows in by_key(ordered):
                _, own = cast_ground(name, rows)
                problems.setdefault(key, []).extend(own)
    order = [*KEY, *filter(None, [ORDER.get(name)])]
    together = pa.concat_tables(tables)
    return together.sort_by([(column, "ascending") for column in order])


def _alike(parts: Sequence[ArrowTable]) -> Iterator[ArrowTable]:
    """Concatenate parts of equal schema, since each cast takes a dozen calls."""
    found: dict[pa.Schema, list[ArrowTable]] = {}
    for part in parts:
        plain = part.replace_schema_metadata()
        found.setdefault(plain.schema, []).append(plain)
    return map(pa.concat_tables, found.values())


def _partitions_of(files: FleetFiles) -> dict[Key, int]:
    """
    Return the approximate number of partitions of each snapshot.

    The snapshots of a file are taken to have equally many.
    """
    found: dict[Key, int] = {}
    for file in files.tables.get("partitions", ()):
        each = file.rows // max(len(file.snapshots), 1)
        for key in file.snapshots:
            found[key] = found.get(key, 0) + each
    return found


def _of_files(
    files: FleetFiles,
) -> tuple[dict[str, list[ArrowTable]], dict[Key, list[Flaw]]]:
    """Read files, a row group at a time; return tables and problems of files."""
    flaws: dict[Key, list[Flaw]] = {}
    found = {}
    for name, columns in GROUND_COLUMNS.items():
        kinds = dict.fromkeys(columns)
        tables = [*files.rows_given(name, kinds)]
        for file in files.tables.get(name, ()):
            try:
                tables += read_file(file.alone, kinds)
            except UnreadableFileError as error:
                _note(flaws, name, file, str(error))
        found[name] = tables
    return found, flaws


def _note(
    flaws: dict[Key, list[Flaw]], name: str, file: TableFile, reason: str
) -> None:
    for key, flaw in flaws_of(name, file, reason):
        flaws.setdefault(key, []).append(flaw)


def flaws_of(name: str, file: TableFile, reason: str) -> Iterator[tuple[Key, Flaw]]:
    """
    Yield the snapshots of a file that cannot be read, each with its problem.

    Parameters
    ----------
    name
        Name of the table.
    file, reason
        The file, and the reason why it cannot be read.
    """
    for key in file.snapshots:
        yield key, {"table": name, "place": file.path, "value": "", "rule": reason}


def _of_tables(
    fleet: Fleet, *, with_settings: bool
) -> tuple[dict[str, list[ArrowTable]], ArrowTable | None]:
    """Read tables of Spark; return them, and the settings of topics if they are few."""
    read: dict[str, list[ArrowTable]] = {}
    rest: dict[str, DataFrame] = {}
    for name, columns in GROUND_COLUMNS.items():
        # Canonical tables have the key and these columns.
        table = fleet.tables()[name]
        small = small_table(table, dict.fromkeys(columns))
        if small is None:
            rest[name] = tagged(_without_texts(table, name), name)
        else:
            read[name] = small
    if with_settings:
        some = saying(fleet.topics).limit(MOST_COLLECTED + 1)
        rest[_SAYING] = tagged(some, _SAYING)
    if not rest:
        return read, None
    # One query, not five.
    together = union_of([*rest.values()]).toArrow()
    parts = {name: _part_with_key(together, name) for name in rest}
    settings = parts.pop(_SAYING) if with_settings else None
    is_few = settings is not None and len(settings) <= MOST_COLLECTED
    found = read | {name: [part] for name, part in parts.items()}
    return found, settings_beside(settings) if is_few else None


def _without_texts(table: DataFrame, name: str) -> DataFrame:
    """Reduce maps that are only checked, such as tags, to their null values."""
    for column in CHECKED.get(name, ()):
        kind = table.schema[column].dataType
        if isinstance(kind, T.MapType) and isinstance(kind.valueType, T.StringType):
            wrong = F.map_filter(column, lambda _, value: value.isNull())
            table = table.withColumn(column, wrong)
    return table


def _part_with_key(together: ArrowTable, name: str) -> ArrowTable:
    """Return the rows of one part of a union, with their keys."""
    rows = together.filter(pc.is_valid(together.column(name)))
    part = part_of(rows, name)
    for at, column in enumerate(KEY):
        part = part.add_column(at, column, rows.column(column))
    return part


def _spans(table: ArrowTable) -> dict[Key, tuple[int, int]]:
    """Return the first row and the number of rows of each snapshot."""
    if not len(table):
        return {}
    names = table.column("cluster_id").combine_chunks().dictionary_encode()
    codes = names.indices.fill_null(-1).to_numpy()
    micros = micros_of(table)
    is_new = (codes[1:] != codes[:-1]) | (micros[1:] != micros[:-1])
    start = np.append(0, np.nonzero(is_new)[0] + 1)
    lengths = np.diff(np.append(start, len(table)))
    ids = table.column("cluster_id").take(pa.array(start)).to_pylist()
    spans = zip(start.tolist(), lengths.tolist(), strict=True)
    return dict(zip(zip(ids, micros[start].tolist(), strict=True), spans, strict=True))
