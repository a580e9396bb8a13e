"""The session that Spark jobs run in."""

import sys

import pytest

from planner.spark.session import settings


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


def test_what_is_given_comes_before_our_defaults(monkeypatch):
    monkeypatch.delenv("SPARK_ENV_LOADED", raising=False)

    chosen = settings(master=None, conf={"spark.ui.enabled": "true"})

    assert chosen["spark.ui.enabled"] == "true"
    assert chosen["spark.master"] == "local[*]"
