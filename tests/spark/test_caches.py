"""Scores are computed when they are asked for, and nothing of them is left behind."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from planner.fleet.append import append
from planner.fleet.fleet_store import Store
from planner.snapshot import write_snapshot
from planner.spark.io.fleet_opening import fleet_of_snapshots, open_fleet
from planner.spark.scoring.fleet_scores import score_fleet, scores
from support.commands import run
from support.scores import by_place, differences, in_memory
from support.spark import snapshot

pytestmark = [
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]


def cached(spark):
    """Whether the session keeps any table."""
    return not spark._jsparkSession.sharedState().cacheManager().isEmpty()


@pytest.fixture
def jobs(spark):
    """Return what counts the jobs that ran since."""
    group = "counted"
    spark.sparkContext.setJobGroup(group, "")
    tracker = spark.sparkContext.statusTracker()
    yield lambda: len(tracker.getJobIdsForGroup(group))
    spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)


def test_scores_of_files_are_computed_when_they_are_asked_for(spark, tmp_path, jobs):
    append(snapshot("c"), Store(str(tmp_path)))
    fleet = open_fleet(spark, str(tmp_path))
    before = jobs()

    table, found = scores(spark, fleet), score_fleet(fleet)
    lazy = (table, found.scores, found.problems, found.heats)
    planned = jobs()
    rows = by_place(table.toArrow())
    found.release()

    assert len(lazy) == 4
    assert planned == before
    assert jobs() > planned
    assert differences(in_memory([snapshot("c")]), rows) == []


def test_scores_leave_nothing_in_the_session(spark, tmp_path):
    append(snapshot("c"), Store(str(tmp_path)))
    for fleet in (str(tmp_path), fleet_of_snapshots(spark, [snapshot("c")])):
        table = scores(spark, fleet)

        assert table.count() == table.count() > 0
        assert not cached(spark)


def test_what_a_fleet_keeps_goes_when_it_is_released(spark):
    found = score_fleet(fleet_of_snapshots(spark, [snapshot("c")]))
    found.scores.count()
    assert cached(spark)

    found.release()

    assert not cached(spark)


@pytest.mark.parametrize("is_wrong", [False, True])
def test_commands_leave_nothing_in_the_session(spark, tmp_path, capsys, is_wrong):
    folder = tmp_path / "snapshot"
    write_snapshot(snapshot("c"), folder)
    if is_wrong:
        file = folder / "partitions.parquet"
        rows = pq.read_table(file)
        below = pa.array([-1] * len(rows), pa.int32())
        at = rows.column_names.index("partition")
        pq.write_table(rows.set_column(at, "partition", below), file)

    done = run(capsys, "score", folder, "--spark")

    assert done.code == (2 if is_wrong else 0)
    assert not cached(spark)
