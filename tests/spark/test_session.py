"""The session that Spark jobs run in."""

import os
import sys

import pyarrow as pa
import pytest
from pyarrow import parquet

from planner.errors import BadInputError
from planner.spark.session import settings, start_session


@pytest.mark.spark
def test_python_in_tasks_is_the_one_that_runs_here(spark):
    def tell(batches):
        import sys as worker

        import pyarrow as pa

        yield from batches
        yield pa.record_batch({"python": [worker.prefix]})

    rows = spark.createDataFrame([("",)], "python string").mapInArrow(
        tell, "python string"
    )

    assert {row.python for row in rows.collect()} == {"", sys.prefix}


@pytest.mark.spark
def test_many_files_are_looked_for_in_few_tasks(spark, tmp_path):
    paths = [str(tmp_path / f"{n}.parquet") for n in range(40)]
    for path in paths:
        parquet.write_table(pa.table({"n": [1]}), path)
    context = spark.sparkContext

    context.setJobGroup("opening", "")
    spark.read.schema("n long").parquet(*paths)
    context.setJobGroup("others", "")

    tracker = context.statusTracker()
    jobs = map(tracker.getJobInfo, tracker.getJobIdsForGroup("opening"))
    stages = [tracker.getStageInfo(stage) for job in jobs for stage in job.stageIds]
    tasks = sum(stage.numTasks for stage in stages)
    assert 1 <= tasks <= 2 * os.cpu_count()


def test_what_is_given_comes_before_our_defaults(monkeypatch):
    monkeypatch.delenv("SPARK_ENV_LOADED", raising=False)

    chosen = settings(master=None, conf={"spark.ui.enabled": "true"})

    assert chosen["spark.ui.enabled"] == "true"
    assert chosen["spark.master"] == "local[*]"


@pytest.mark.parametrize(
    ("lacking", "said"),
    [("which", "openjdk-17-jre-headless"), ("find_spec", "kafka-planner[spark]")],
)
def test_what_is_missing_is_said_in_one_line(monkeypatch, lacking, said):
    for name in ("JAVA_HOME", "SPARK_REMOTE"):
        monkeypatch.delenv(name, raising=False)
    home = {"which": "shutil", "find_spec": "planner.spark.session"}[lacking]
    monkeypatch.setattr(f"{home}.{lacking}", lambda _: None)

    with pytest.raises(BadInputError) as refused:
        start_session()

    assert said in refused.value.message
    assert "\n" not in refused.value.message
