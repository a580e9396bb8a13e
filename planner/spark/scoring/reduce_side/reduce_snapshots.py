"""
Scores or problems of each snapshot, after its partial sums have been shuffled.

A snapshot is scored in one pass, which yields its problems, or the heat of its brokers
and its scores at all levels except topics. Scores of topics are computed on demand.
Between Spark's tasks scores travel packed in shuffle rows: Spark converts rows value by
value, so that each score is converted only once, when it is written.
"""

import pickle
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence

import pyarrow as pa

from planner.score.score_tables import SCHEMA as SCORES
from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.spark.common.python_workers import settle
from planner.spark.io.snapshot_keys import MANY, Key
from planner.spark.scoring.broadcast.broadcast_tables import Grounds
from planner.spark.scoring.map_side.file_tasks import Judge
from planner.spark.scoring.reduce_side.balance_scores import (
    PLACED,
    Placed,
    ScoreSettings,
    placed_rows,
    score_of_places,
    scores_of_topics,
)
from planner.spark.scoring.reduce_side.snapshot_problems import (
    problem_tables,
    table_of,
    warning_rows,
)
from planner.spark.scoring.shuffle.shuffle_rows import (
    COMPLETE,
    Batches,
    Parcel,
    Parcels,
    Unpacked,
    by_snapshot,
    cut,
    sent,
)
from planner.spark.scoring.sums.snapshot_grounds import Ground
from planner.spark.scoring.sums.sum_arrays import LOADS

HEAT, REFUSED, WARNED = "heat", "refused", "warned"
"""
Kinds of shuffle rows: heat of brokers; errors, without scores; warnings that tables may
be loaded in part.
"""
TOPICS = ("topic", "listed")
"""Kinds of shuffle rows from which scores of topics are computed."""
SENT_ROWS = 50_000
"""Number of scores that are sent to Spark together."""


JUDGED_TOGETHER, BROKERS_TOGETHER = 500, 5_000
"""
Largest number of snapshots, and approximate largest number of their brokers, whose
scores are computed and sent together.
"""
MANY_BUCKETS = 1_000
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
    waiting: list[Unpacked] = []
    brokers = 0
    for key, rows in by_snapshot(batches):
        parcels = Unpacked(key, rows)
        if not _JUDGED.isdisjoint(parcels.kinds):
            for kind in dict.fromkeys(parcels.kinds):
                yield from parcels.as_sent(kind)
            continue
        waiting.append(parcels)
        brokers += grounds.num_brokers(key)
        if len(waiting) >= JUDGED_TOGETHER or brokers >= BROKERS_TOGETHER:
            yield from _judged_many(waiting, grounds, settings)
            waiting, brokers = [], 0
    yield from _judged_many(waiting, grounds, settings)


def whole_judge(grounds: Grounds, settings: ScoreSettings) -> Judge:
    """Return the function that scores snapshots in the task that has all of them."""

    def judge(snapshots: Mapping[Key, Sequence[Parcel]]) -> Parcels:
        each = [
            Unpacked(key, pa.Table.from_batches(sent(parcels)))
            for key, parcels in snapshots.items()
        ]
        for at in range(0, len(each), JUDGED_TOGETHER):
            some = each[at : at + JUDGED_TOGETHER]
            yield from _judged_many(some, grounds, settings)

    return judge


def _judged_many(
    each: Sequence[Unpacked], grounds: Grounds, settings: ScoreSettings
) -> Parcels:
    """
    Score snapshots.

    The rows of those that are complete, and entirely in this task, are sent together.
    """
    if not each:
        return
    together: list[tuple[Key, Placed]] = []
    ground = grounds.of(tuple(parcels.key for parcels in each))
    for n, parcels in enumerate(each):
        problems = list(problem_tables(parcels, grounds))
        for table in problems:
            yield from _in_streams(parcels.key, REFUSED, table)
        if not problems:
            yield from _scored(parcels, grounds, ground.alone(n), settings, together)
    if together:
        # Any bucket will do that spreads the rows of many tasks.
        bucket = zlib.crc32(repr(together[0][0]).encode()) % MANY_BUCKETS
        for key, *_, kind, sums in _placed(MANY, together):
            yield key, bucket, bucket / MANY_BUCKETS, kind, sums


def _scored(
    parcels: Unpacked,
    grounds: Grounds,
    ground: Ground,
    settings: ScoreSettings,
    together: list[tuple[Key, Placed]],
) -> Parcels:
    """Score a snapshot without errors; append a score that others can be sent with."""
    key, warnings = parcels.key, warning_rows(parcels)
    if warnings:
        yield from _in_streams(key, WARNED, table_of(key, warnings))
    for kind in TOPICS:
        yield from parcels.as_sent(kind)
    placed = score_of_places(parcels, ground, settings)
    if placed is None:
        return
    yield key, 0, 0.0, HEAT, pickle.dumps(placed.heat)
    if warnings or grounds.buckets(key).count > 1:
        yield from _placed(key, [(key, placed)])
    else:
        together.append((key, placed))


def _placed(key: Key, scores: Sequence[tuple[Key, Placed]]) -> Parcels:
    for level, table in placed_rows(scores).items():
        yield from _in_streams(key, level, table)


def _in_streams(key: Key, kind: str, table: ArrowTable) -> Parcels:
    """Pack a table into shuffle rows that include their schema."""
    for batch in cut(table):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        yield key, 0, 0.0, kind, sink.getvalue().to_pybytes()


def _of_stream(sums: pa.Buffer) -> ArrowTable:
    table: ArrowTable = pa.ipc.open_stream(sums).read_all()
    return table


def telling(batches: Batches) -> Batches:
    """Yield the problems in the shuffle rows `REFUSED` and `WARNED`, as `PROBLEMS`."""
    for batch in batches:
        for sums in batch.column("sums"):
            yield from _of_stream(sums.as_buffer()).to_batches()


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
        waiting = _Waiting()
        for key, rows in by_snapshot(batches):
            parcels = Unpacked(key, rows)
            has_topics = "topic" in levels and key != MANY
            waiting.take(parcels, has_topics=has_topics)
            if waiting.rows >= SENT_ROWS:
                yield from waiting.sent()
                waiting = _Waiting()
        yield from waiting.sent()
        settle("score")

    return score


class _Waiting:
    """Scores that are sent to Spark together; those of topics are yet to compute."""

    def __init__(self) -> None:
        self.rows = 0
        self._placed: list[ArrowTable] = []
        self._topics: dict[bool, list[Unpacked]] = {}

    def take(self, parcels: Unpacked, *, has_topics: bool) -> None:
        """Add the scores of a snapshot."""
        is_complete = parcels.is_complete
        for sums in parcels.of(PLACED):
            table = _with_complete(_of_stream(sums), is_complete=is_complete)
            self._placed.append(table)
            self.rows += len(table)
        if has_topics:
            self._topics.setdefault(is_complete, []).append(parcels)
            self.rows += len(LOADS) * len(parcels.table("listed"))

    def sent(self) -> Batches:
        """Yield the scores in the columns of `SCORES`."""
        topics = [
            _with_complete(scores_of_topics(some), is_complete=is_complete)
            for is_complete, some in self._topics.items()
        ]
        every = [SCORES.empty_table(), *self._placed, *topics]
        together = pa.concat_tables(every, promote_options="default")
        yield from together.combine_chunks().to_batches(max_chunksize=SENT_ROWS)


def _with_complete(table: ArrowTable, *, is_complete: bool) -> ArrowTable:
    """Set on every row whether the snapshot is complete."""
    completeness = pa.repeat(pa.scalar(is_complete), len(table))
    at = table.schema.get_field_index(COMPLETE)
    if at < 0:
        return table.append_column(COMPLETE, completeness)
    return table.set_column(at, COMPLETE, completeness)
