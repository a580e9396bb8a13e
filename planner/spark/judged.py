"""
What is known of snapshots once all that was added up of them has come together.

A snapshot is judged in one pass: what is wrong with it, or how hot its brokers are and
its scores but for the topics, which are made when they are asked for. Between Spark's
tasks scores travel as parcels: Spark takes rows in value by value, so that it had
better see each of them once, on its way to where it is written.
"""

import pickle
from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np
import pyarrow as pa

from planner.score.tables import SCHEMA as SCORES
from planner.snapshot.columns import ArrowTable
from planner.spark.balance import (
    PLACED,
    ScoreSettings,
    scores_of_places,
    scores_of_topics,
)
from planner.spark.chunk import filled
from planner.spark.grounds import Grounds
from planner.spark.parcels import SCHEMA as PARCELS
from planner.spark.parcels import (
    Batches,
    Key,
    Parcels,
    Unpacked,
    by_snapshot,
    cut,
    packed,
    sent,
    unpacked,
)
from planner.spark.problems import PROBLEM, problem_tables
from planner.spark.workers import settle

HEAT, REFUSED = "heat", "problem"
"""Kinds of rows: how hot brokers are, in bytes; something that is wrong."""
REFUSES = "refuses"
SCHEMA = pa.schema(
    [*PARCELS, *((name, pa.string()) for name in PROBLEM), (REFUSES, pa.bool_())]
)
"""
Parcels, and problems. Of the problems that a task finds, the first one refuses the
snapshot.
"""
TOPICS = ("topic", "listed")
"""Kinds of parcels that scores of topics are made of."""
SENT_ROWS = 50_000
"""Scores that are handed to Spark together."""


def judging(grounds: Grounds, settings: ScoreSettings) -> Callable[[Batches], Batches]:
    """
    Return what judges snapshots, from the parcels of each.

    Parameters
    ----------
    grounds
        What is known of brokers and log dirs.
    settings
        Bands and thresholds.
    """

    def judge(batches: Batches) -> Batches:
        problems: list[ArrowTable] = []
        for batch in sent(_judged(batches, grounds, settings, problems)):
            yield from filled(pa.table(batch), SCHEMA).to_batches()
        for table in problems:
            yield from filled(_refusing(table), SCHEMA).to_batches()
        settle("judge")

    return judge


def _judged(
    batches: Batches,
    grounds: Grounds,
    settings: ScoreSettings,
    problems: list[ArrowTable],
) -> Parcels:
    """Yield what is known of snapshots that nothing is wrong with; note the others."""
    for key, rows in by_snapshot(batches):
        parcels = unpacked(key, rows)
        found = list(problem_tables(parcels, grounds))
        problems += found
        if not found:
            yield from _scored(parcels, grounds, settings)


def _refusing(problems: ArrowTable) -> ArrowTable:
    is_first = pa.array(np.arange(len(problems)) == 0)
    kinds = pa.repeat(REFUSED, len(problems))
    return problems.append_column(REFUSES, is_first).append_column("kind", kinds)


def _scored(parcels: Unpacked, grounds: Grounds, settings: ScoreSettings) -> Parcels:
    for kind in TOPICS:
        yield from packed(parcels.key, kind, parcels.tables[kind])
    found = scores_of_places(parcels, grounds, settings)
    if found is not None:
        rows, heat = found
        for level, table in rows.items():
            for stream in _streams(table):
                yield parcels.key, 0, 0.0, level, stream
        yield parcels.key, 0, 0.0, HEAT, pickle.dumps(heat)


def _streams(table: ArrowTable) -> Iterator[bytes]:
    """Yield rows in bytes, with the columns that they have."""
    for batch in cut(table):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        yield sink.getvalue().to_pybytes()


def kinds_of(levels: Collection[str]) -> list[str]:
    """Return the kinds of rows that scores of some levels are made of."""
    placed = [level for level in PLACED if level in levels]
    return placed + [*TOPICS] * ("topic" in levels)


def scoring(levels: Collection[str]) -> Callable[[Batches], Batches]:
    """
    Return what makes scores of rows of `SCHEMA`, in `planner.score.tables.SCHEMA`.

    Parameters
    ----------
    levels
        Those that are wanted.
    """

    def score(batches: Batches) -> Batches:
        waiting: list[ArrowTable] = []
        for key, rows in by_snapshot(batches):
            waiting += _scores(key, rows, levels)
            if sum(map(len, waiting)) >= SENT_ROWS:
                yield from _sent(waiting)
                waiting = []
        yield from _sent(waiting)
        settle("score")

    return score


def _scores(
    key: Key, rows: ArrowTable, levels: Collection[str]
) -> Iterator[ArrowTable]:
    kinds = rows.column("kind").to_pylist()
    for kind, sums in zip(kinds, rows.column("sums"), strict=True):
        if kind in PLACED:
            yield pa.ipc.open_stream(sums.as_buffer()).read_all()
    if "topic" in levels:
        yield scores_of_topics(unpacked(key, rows))


def _sent(tables: Sequence[ArrowTable]) -> Batches:
    every = [SCORES.empty_table(), *tables]
    together = pa.concat_tables(every, promote_options="default")
    yield from together.combine_chunks().to_batches(max_chunksize=SENT_ROWS)
