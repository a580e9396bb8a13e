"""Sums of the partitions that a task reads, and lists of its topics."""

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from planner.snapshot.checks.broker_checks import TOPIC_CHECKS
from planner.snapshot.checks.record_checks import findings
from planner.snapshot.tables.snapshot_columns import PARTITIONS, TOPICS, ArrowTable
from planner.snapshot.tables.table_facts import Facts
from planner.spark.common.cell_casts import Cells, cast_cells, one_chunk
from planner.spark.common.problem_rows import Row, found_table, rows_of_findings
from planner.spark.io.snapshot_keys import Key, by_key, order_of
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
Hears = Callable[[ArrowTable], None]
"""Receives topics with the columns `KEY`, cast to the schema of snapshots."""


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
        Receives the topics.
    """
    cast, found = _checked(topics)
    if found:
        # Rare: each snapshot is checked by itself.
        for key, rows in by_key(topics):
            _, own = _checked(rows)
            yield from packed(key, "found", found_table(own))
    if hears is not None:
        hears(cast)
    for key, rows in by_key(cast):
        names = rows.column("topic").drop_null()
        table = pa.Table.from_arrays([names], schema=LISTED)
        yield from packed(key, "listed", table, buckets=grounds.buckets(key))


def _checked(topics: ArrowTable) -> tuple[ArrowTable, list[Row]]:
    """Return topics in the types of snapshots, and their problems."""
    cast, found = cast_cells(topics, TOPICS.columns, "topics")
    tables = {"topics": cast}
    checked = findings(Facts({}, (), tables), TOPIC_CHECKS)
    return cast, [*found, *rows_of_findings(checked, tables)]


def _cast(pieces: Sequence[ArrowTable]) -> Cells:
    """Return rows in the types of snapshots in one chunk, and their problems."""
    order: dict[pa.Schema, list[int]] = {}
    for n, piece in enumerate(pieces):
        order.setdefault(piece.schema, []).append(n)
    cast: dict[int, ArrowTable] = {}
    found: list[Row] = []
    for alike in order.values():
        rows = one_chunk([pieces[n] for n in alike])
        whole, own = cast_cells(rows, _COLUMNS, "partitions", keeps_codes=True)
        found += own
        if len(order) == 1:
            return whole, found
        ends = np.cumsum([len(pieces[n]) for n in alike]).tolist()
        for n, end in zip(alike, ends, strict=True):
            cast[n] = whole.slice(end - len(pieces[n]), len(pieces[n]))
    # Absent columns were added at the end; pieces of some files have their key besides.
    common = set.intersection(*(set(each.column_names) for each in cast.values()))
    names = [name for name in cast[0].column_names if name in common]
    return one_chunk([cast[n].select(names) for n in range(len(pieces))]), found


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
        self._places: dict[tuple[Key, ...], PlaceSums] = {}

    def take(self, key: Key, table: ArrowTable) -> Parcels:
        """Add rows of a snapshot, in any types."""
        self._waiting.setdefault(key, []).append(table)
        self._rows += len(table)
        if 2 * self._rows >= CHUNK_ROWS:
            yield from self._add()

    def end(self) -> Parcels:
        """Sum the waiting rows, and yield all remaining sums."""
        yield from self._add()
        yield from self._send()

    def _send(self) -> Parcels:
        for keys, places in self._places.items():
            for key, table in zip(keys, places.tables(), strict=True):
                yield from packed(key, "place", table)
        for key, parts in self._kept.items():
            buckets = self._grounds.buckets(key)
            for kind, tables in zip(_KEPT, zip(*parts, strict=True), strict=True):
                yield from packed(key, kind, pa.concat_tables(tables), buckets=buckets)
        self._kept, self._places, self._topics = {}, {}, 0

    def _add(self) -> Parcels:
        """Sum the waiting rows of all snapshots in one pass."""
        if not self._waiting:
            return
        is_compiled = self._rows >= WORTH_COMPILING
        keys = tuple(sorted(self._waiting, key=order_of))
        pieces = [piece for key in keys for piece in self._waiting[key]]
        owners = [key for key in keys for _ in self._waiting[key]]
        rows, found = _cast(pieces)
        if found:
            # Rare: each piece is cast by itself.
            for key, piece in zip(owners, pieces, strict=True):
                yield from packed(key, "found", found_table(_cast([piece])[1]))
        lengths = [sum(map(len, self._waiting[key])) for key in keys]
        first_row = np.append(0, np.cumsum(lengths))
        settings = []
        for key, low, length in zip(keys, first_row.tolist(), lengths, strict=False):
            said, flaws = self._said(key, rows.slice(low, length))
            settings.append(said)
            if len(flaws):
                yield from packed(key, "found", flaws)
        ground = self._grounds.of(keys)
        places = self._places.setdefault(keys, PlaceSums(ground))
        sums = sums_of(
            rows, first_row, ground, settings, places, is_compiled=is_compiled
        )
        for key, own in zip(keys, sums, strict=True):
            kept = tuple(getattr(own, name) for name in _KEPT.values())
            self._kept.setdefault(key, []).append(kept)
            self._topics += len(own.topics)
        self._waiting, self._rows = {}, 0
        if self._topics >= TOPICS_KEPT:
            yield from self._send()
