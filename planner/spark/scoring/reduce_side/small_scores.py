"""
Scores of a small fleet, computed in the driver by the functions of tasks.

The first jobs of a session cost its JVM and its workers more time than the scores of
hundreds of small snapshots take.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc

from planner.fleet.contracts.result_schemas import PROBLEMS
from planner.score.score_tables import SCHEMA as SCORES
from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.spark.io.fleet_files import KEY, FleetFiles
from planner.spark.io.fleet_tables import Fleet
from planner.spark.io.snapshot_keys import Key, micros_of
from planner.spark.scoring.broadcast.broadcast_tables import grounds_of
from planner.spark.scoring.map_side.file_tasks import read_tasks, reader
from planner.spark.scoring.reduce_side.balance_scores import ScoreSettings
from planner.spark.scoring.reduce_side.reduce_snapshots import (
    REFUSED,
    WARNED,
    kinds_of,
    scoring,
    telling,
    whole_judge,
)
from planner.spark.scoring.shuffle.shuffle_rows import BROKER_ROWS, COMPLETE
from planner.spark.scoring.shuffle.shuffle_rows import SCHEMA as SHUFFLED

SMALL_ROWS = 1_000_000
"""
Largest number of partitions of a small fleet, with `BROKER_ROWS` for each broker. Files
of one small snapshot have half as many partitions as their bytes suggest. Such a fleet
takes ten seconds on one core, and 200 MB.
"""
PROBLEM_ORDER = (*KEY, "table", "place")
"""Columns by which problems are sorted for people."""


def small_scores(fleet: Fleet, settings: ScoreSettings) -> "SmallScores | None":
    """
    Score a fleet in this process; `None` if it is not small, or needs Spark.

    Parameters
    ----------
    fleet
        The tables.
    settings
        Bands and thresholds.
    """
    if fleet.files is None or _num_rows(fleet.files) > SMALL_ROWS:
        return None
    grounds, tasks = grounds_of(fleet), read_tasks(fleet.files, cores=1)
    whole = frozenset(chain.from_iterable(task.whole for task in tasks))
    brokers = sum(map(grounds.num_brokers, grounds.keys))
    is_small = _num_rows(fleet.files) + BROKER_ROWS * brokers <= SMALL_ROWS
    if not is_small or not whole.issuperset(grounds.keys):
        return None
    read = reader(grounds, tasks, whole_judge(grounds, settings))
    numbers = pa.record_batch({"id": pa.array(range(len(tasks)))})
    return SmallScores(pa.Table.from_batches(read(iter([numbers])), SHUFFLED))


def _num_rows(files: FleetFiles) -> int:
    """Return the approximate number of partitions."""
    return sum(file.rows for file in files.tables.get("partitions", ()))


@dataclass(frozen=True, eq=False)
class SmallScores:
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

    def problem_table(self, severity: str, most: int) -> ArrowTable:
        """Return the problems of a severity in order, the first `most` of them."""
        rows = self.problems.filter(pc.equal(self.problems["severity"], severity))
        return rows.sort_by([(name, "ascending") for name in PROBLEM_ORDER])[:most]

    def level_table(self, levels: Collection[str]) -> ArrowTable:
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
