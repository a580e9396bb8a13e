"""
Scores or problems of each snapshot, after its partial sums have been shuffled.

A snapshot is scored in one pass, which yields its problems, or the heat of its brokers
and its scores at all levels except topics. Scores of topics are computed on demand.
Between Spark's tasks scores travel packed in shuffle rows: Spark converts rows value by
value, so that each score is converted only once, when it is written.
"""

import pickle
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import pyarrow as pa

from planner.score.score_tables import SCHEMA as SCORES
from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.spark.common.python_workers import settle
from planner.spark.io.snapshot_keys import Key
from planner.spark.scoring.broadcast.broadcast_tables import Grounds
from planner.spark.scoring.map_side.file_tasks import Judge
from planner.spark.scoring.reduce_side.balance_scores import (
    PLACED,
    ScoreSettings,
    scores_of_places,
    scores_of_topics,
)
from planner.spark.scoring.reduce_side.snapshot_problems import (
    problem_tables,
    table_of,
    warning_rows,
)
from planner.spark.scoring.shuffle.shuffle_rows import (
    Batches,
    Parcel,
    Parcels,
    Unpacked,
    by_snapshot,
    cut,
    sent,
)

HEAT, REFUSED, WARNED = "heat", "refused", "warned"
"""
Kinds of shuffle rows: heat of brokers; errors, without scores; warnings that tables may
be loaded in part.
"""
COMPLETE = "complete"
"""Column of scored rows: whether no task warns of their snapshot."""
TOPICS = ("topic", "listed")
"""Kinds of shuffle rows from which scores of topics are computed."""
SENT_ROWS = 50_000
"""Number of scores that are sent to Spark together."""


_JUDGED = {*PLACED, HEAT, REFUSED, WARNED}
"""Kinds of shuffle rows that only scored snapshots have."""


def judging(grounds: Grounds, settings: ScoreSettings) -> Callable[[Batches], Batches]:
    """
    Return the function that scores snapshots from their shuffle rows.

    Rows of snapshots that a map-side task has scored pass unchanged.

    Parameters
    ----------
    grounds
        Broadcast data of brokers and log dirs.
    settings
        Bands and thresholds.
    """

    def judge(batches: Batches) -> Batches:
        yield from sent(_judged(batches, grounds, settings))
        settle("judge")

    return judge


def _judged(batches: Batches, grounds: Grounds, settings: ScoreSettings) -> Parcels:
    for key, rows in by_snapshot(batches):
        parcels = Unpacked(key, rows)
        if _JUDGED.isdisjoint(parcels.kinds):
            yield from _judged_one(parcels, grounds, settings)
        else:
            for kind in dict.fromkeys(parcels.kinds):
                yield from parcels.as_sent(kind)


def whole_judge(grounds: Grounds, settings: ScoreSettings) -> Judge:
    """Return the function that scores a snapshot in the task that has all of it."""

    def judge(key: Key, parcels: Sequence[Parcel]) -> Parcels:
        rows = pa.Table.from_batches(sent(parcels))
        yield from _judged_one(Unpacked(key, rows), grounds, settings)

    return judge


def _judged_one(
    parcels: Unpacked, grounds: Grounds, settings: ScoreSettings
) -> Parcels:
    key, problems = parcels.key, list(problem_tables(parcels, grounds))
    for table in problems:
        yield from _in_streams(key, REFUSED, table)
    if not problems:
        if warnings := warning_rows(parcels):
            yield from _in_streams(key, WARNED, table_of(key, warnings))
        yield from _scored(parcels, grounds, settings)


def _scored(parcels: Unpacked, grounds: Grounds, settings: ScoreSettings) -> Parcels:
    for kind in TOPICS:
        yield from parcels.as_sent(kind)
    found = scores_of_places(parcels, grounds, settings)
    if found is not None:
        rows, heat = found
        for level, table in rows.items():
            yield from _in_streams(parcels.key, level, table)
        yield parcels.key, 0, 0.0, HEAT, pickle.dumps(heat)


def _in_streams(key: Key, kind: str, table: ArrowTable) -> Parcels:
    """Pack a table into shuffle rows that include their schema."""
    for batch in cut(table):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        yield key, 0, 0.0, kind, sink.getvalue().to_pybytes()


def _of_stream(sums: Any) -> ArrowTable:  # noqa: ANN401 - an Arrow scalar
    table: ArrowTable = pa.ipc.open_stream(sums.as_buffer()).read_all()
    return table


def telling(batches: Batches) -> Batches:
    """Yield the problems in the shuffle rows `REFUSED` and `WARNED`, as `PROBLEMS`."""
    for batch in batches:
        for sums in batch.column("sums"):
            yield from _of_stream(sums).to_batches()


def kinds_of(levels: Collection[str]) -> list[str]:
    """Return the kinds of shuffle rows that scores of some levels need."""
    placed = [level for level in PLACED if level in levels]
    return placed + [*TOPICS] * ("topic" in levels)


def scoring(levels: Collection[str]) -> Callable[[Batches], Batches]:
    """
    Return the function that yields scores, in `planner.score.score_tables.SCHEMA`.

    Parameters
    ----------
    levels
        Levels to yield.
    """

    def score(batches: Batches) -> Batches:
        waiting: list[ArrowTable] = []
        for key, rows in by_snapshot(batches):
            is_complete = rows.column(COMPLETE)[0].as_py()
            waiting += (
                _with_complete(table, is_complete=is_complete)
                for table in _scores(key, rows, levels)
            )
            if sum(map(len, waiting)) >= SENT_ROWS:
                yield from _sent(waiting)
                waiting = []
        yield from _sent(waiting)
        settle("score")

    return score


def _with_complete(table: ArrowTable, *, is_complete: bool) -> ArrowTable:
    """Set on every row whether the snapshot is complete."""
    told = pa.repeat(pa.scalar(is_complete), len(table))
    at = table.schema.get_field_index(COMPLETE)
    if at < 0:
        return table.append_column(COMPLETE, told)
    return table.set_column(at, COMPLETE, told)


def _scores(
    key: Key, rows: ArrowTable, levels: Collection[str]
) -> Iterator[ArrowTable]:
    kinds = rows.column("kind").to_pylist()
    for kind, sums in zip(kinds, rows.column("sums"), strict=True):
        if kind in PLACED:
            yield _of_stream(sums)
    if "topic" in levels:
        yield scores_of_topics(Unpacked(key, rows))


def _sent(tables: Sequence[ArrowTable]) -> Batches:
    every = [SCORES.empty_table(), *tables]
    together = pa.concat_tables(every, promote_options="default")
    yield from together.combine_chunks().to_batches(max_chunksize=SENT_ROWS)
