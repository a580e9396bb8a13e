"""Sums of the partitions that a task reads, and lists of its topics."""

from collections.abc import Callable, Sequence

import pyarrow as pa

from planner.snapshot.checks.broker_checks import TOPIC_CHECKS
from planner.snapshot.checks.record_checks import findings
from planner.snapshot.tables.snapshot_columns import PARTITIONS, TOPICS, ArrowTable
from planner.snapshot.tables.table_facts import Facts
from planner.spark.common.cell_casts import cast_cells, nulls, without_codes
from planner.spark.common.problem_rows import found_table, rows_of_findings
from planner.spark.io.snapshot_keys import Key, by_key
from planner.spark.scoring.broadcast.broadcast_tables import Grounds
from planner.spark.scoring.broadcast.topic_settings import Said
from planner.spark.scoring.shuffle.shuffle_rows import LISTED, Parcels, packed
from planner.spark.scoring.sums.partial_sums import READ, WORTH_COMPILING, sums_of
from planner.spark.scoring.sums.place_sums import PlaceSums

CHUNK_ROWS = 500_000
"""Largest number of partitions summed together, 50 MB; half as many at least."""
TOPICS_KEPT = 100_000
"""Number of topics, half a kilobyte each, that a task collects before it sends them."""
_KEPT = {
    "factor": "factors",
    "count": "counts",
    "found": "found",
    "topic": "topics",
    "number": "numbers",
}
"""Kinds of shuffle rows besides places, and the attribute of `Sums` for each."""
_COLUMNS = tuple(column for column in PARTITIONS.columns if column.name in READ)
Hears = Callable[[Key, ArrowTable], None]
"""Receives the topics of a snapshot, cast to the schema of snapshots."""


def listed(topics: ArrowTable, grounds: Grounds, hears: Hears | None = None) -> Parcels:
    """
    Yield the topic names of a table of topics, and the problems of its rows.

    Parameters
    ----------
    topics
        Rows of any snapshots, in any types.
    grounds
        Brokers of the snapshots.
    hears
        Receives the topics of each snapshot.
    """
    for key, rows in by_key(topics):
        cast, found = cast_cells(rows, TOPICS.columns, "topics")
        if hears is not None:
            hears(key, cast)
        tables = {"topics": cast}
        checked = findings(Facts({}, (), tables), TOPIC_CHECKS)
        found += rows_of_findings(checked, tables)
        if found:
            yield from packed(key, "found", found_table(found))
        names = cast.column("topic").drop_null()
        table = pa.Table.from_arrays([names], schema=LISTED)
        yield from packed(key, "listed", table, buckets=grounds.buckets(key))


def _together(tables: Sequence[ArrowTable]) -> ArrowTable:
    """Return rows in one chunk; columns of nulls are created anew instead of copied."""
    if len(tables) == 1:
        return tables[0].combine_chunks()
    if any(table.schema != tables[0].schema for table in tables):
        # Texts of one file are dictionary-encoded, those of another are not.
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
    Accumulator of partial sums: rows that wait, and the sums of earlier rows.

    The sums by place of a task are combined; those by topic are sent when there are
    many.

    Parameters
    ----------
    grounds
        Brokers and log dirs of the snapshots.
    said
        Returns topic settings.
    """

    def __init__(self, grounds: Grounds, said: Said) -> None:
        self._grounds = grounds
        self._said = said
        self._waiting: dict[Key, list[ArrowTable]] = {}
        self._rows = self._topics = 0
        self._kept: dict[Key, list[tuple[ArrowTable, ...]]] = {}
        self._places: dict[Key, PlaceSums] = {}

    def take(self, key: Key, table: ArrowTable) -> Parcels:
        """Add rows of a snapshot, in any types; yield the cells that cannot be cast."""
        cast, found = cast_cells(table, _COLUMNS, "partitions", keeps_codes=True)
        if found:
            yield from packed(key, "found", found_table(found))
        self._waiting.setdefault(key, []).append(cast)
        self._rows += len(table)
        if 2 * self._rows >= CHUNK_ROWS:
            yield from self._add()

    def end(self) -> Parcels:
        """Sum the waiting rows, and yield all remaining sums."""
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
