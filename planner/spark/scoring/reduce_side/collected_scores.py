"""
Scores of a small fleet, computed in the driver from the shuffle rows of its tasks.

A job of Spark costs a JVM that has just started more time than the scores of hundreds
of small snapshots. Their shuffle rows are therefore collected once.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from planner.fleet.contracts.result_schemas import PROBLEMS
from planner.score.score_tables import SCHEMA as SCORES
from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.spark.io.fleet_files import KEY
from planner.spark.io.snapshot_keys import Key, micros_of
from planner.spark.scoring.reduce_side.reduce_snapshots import (
    REFUSED,
    WARNED,
    kinds_of,
    scoring,
    telling,
)
from planner.spark.scoring.shuffle.shuffle_rows import COMPLETE


@dataclass(frozen=True, eq=False)
class CollectedScores:
    """
    Scores and problems of a small fleet, in the driver.

    Parameters
    ----------
    judged
        Shuffle rows: `planner.spark.scoring.shuffle.shuffle_rows.SCHEMA`.
    """

    judged: ArrowTable

    @cached_property
    def problems(self) -> ArrowTable:
        """A row per problem: `contracts.result_schemas.PROBLEMS`."""
        batches = [*telling(iter(self._of_kinds([REFUSED, WARNED]).to_batches()))]
        return pa.Table.from_batches(batches, PROBLEMS)

    def of_levels(self, levels: Collection[str]) -> ArrowTable:
        """Return the scores of some levels: `score_tables.SCHEMA`."""
        rows = self._sound(levels).sort_by([(name, "ascending") for name in KEY])
        batches = [*scoring(levels)(iter(rows.to_batches()))]
        return pa.Table.from_batches(batches, SCORES)

    def _sound(self, levels: Collection[str]) -> ArrowTable:
        """Return the shuffle rows of snapshots without errors, and `COMPLETE`."""
        refused = {*_keys(self._of_kinds([REFUSED]))}
        warned = {*_keys(self._of_kinds([WARNED]))}
        rows = self._of_kinds(kinds_of(levels))
        keys = [*_keys(rows)]
        is_complete = pa.array([key not in warned for key in keys], pa.bool_())
        is_sound = pa.array([key not in refused for key in keys], pa.bool_())
        return rows.append_column(COMPLETE, is_complete).filter(is_sound)

    def _of_kinds(self, kinds: Collection[str]) -> ArrowTable:
        wanted = pa.array([*kinds], pa.string())
        return self.judged.filter(pc.is_in(self.judged.column("kind"), wanted))


def _keys(rows: ArrowTable) -> Iterator[Key]:
    """Return the key of each row."""
    names = rows.column(KEY[0]).to_pylist()
    return zip(names, micros_of(rows).tolist(), strict=True)
