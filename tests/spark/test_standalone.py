"""A standalone Spark: a master and two workers on loopback, code shipped as a wheel."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pyspark
import pytest

from planner.fleet.append import append
from planner.fleet.fleet_store import Store
from planner.score.score_tables import SCHEMA
from planner.snapshot import Snapshot
from project.conftest import wheel
from support.scores import by_place, differences, in_memory
from support.snapshots import small_document
from support.spark import JVM, free_port

pytestmark = [pytest.mark.spark, pytest.mark.slow]

__all__ = ["wheel"]
HOME = Path(pyspark.__file__).parent
JOB = """
import sys

from planner.spark import scores, start_session

spark = start_session()
assert spark.conf.get("spark.master").startswith("spark://")


def where(batches):
    import planner
    import pyarrow as pa

    for _ in batches:
        yield pa.RecordBatch.from_pydict({"file": [planner.__file__]})


files = spark.range(4).repartition(4).mapInArrow(where, "file string").collect()
assert all("kafka_planner.zip" in row.file for row in files), files
scores(spark, sys.argv[1]).write.parquet(sys.argv[2])
"""


@pytest.fixture
def master(tmp_path):
    """Start a master and two workers; return the master's address."""
    port = free_port()
    address = f"spark://127.0.0.1:{port}"
    environment = os.environ | {
        "SPARK_HOME": str(HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_WORKER_DIR": str(tmp_path),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": JVM,
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": "",
    }
    base = "org.apache.spark.deploy"
    local = ["--host", "127.0.0.1", "--webui-port", "0"]
    commands = [
        [f"{base}.master.Master", *local, "--port", str(port)],
        *[[f"{base}.worker.Worker", *local, "-c", "1", "-m", "600m", address]] * 2,
    ]
    started = []
    try:
        for number, command in enumerate(commands):
            log = (tmp_path / f"{number}.log").open("w")
            with log:
                started.append(
                    subprocess.Popen(
                        [HOME / "bin" / "spark-class", *command],
                        env=environment,
                        stdout=log,
                        stderr=log,
                    )
                )
        yield address
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait(60)


def test_a_job_with_its_wheel_scores_a_fleet(master, wheel, tmp_path):
    snapshots = [
        Snapshot.from_document(
            small_document(cluster_id=name, taken_at="2026-11-21T08:00:00Z")
        )
        for name in ("007", "b")
    ]
    store = Store(str(tmp_path / "fleet"))
    for snapshot in snapshots:
        append(snapshot, store)
    job = tmp_path / "job.py"
    job.write_text(JOB)
    # A wheel is a zip file, and Spark takes it for one by its name alone.
    shipped = shutil.copy(wheel, tmp_path / "kafka_planner.zip")
    submit = [HOME / "bin" / "spark-submit", "--master", master, "--py-files", shipped]
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.defaultJavaOptions": JVM,
        "spark.executor.defaultJavaOptions": JVM,
        "spark.executor.memory": "500m",
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.enabled": "false",
    }
    options = [word for k, v in settings.items() for word in ("--conf", f"{k}={v}")]

    done = subprocess.run(
        [*submit, *options, job, tmp_path / "fleet", tmp_path / "out"],
        check=False,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ
        | {"SPARK_HOME": str(HOME), "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": ""},
    )

    assert done.returncode == 0, done.stderr[-4000:]
    written = pq.read_table(tmp_path / "out")
    assert written.schema.field("taken_at").type == SCHEMA.field("taken_at").type
    assert differences(in_memory(snapshots), by_place(written)) == []
