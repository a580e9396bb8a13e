"""A Spark Connect server on loopback, and a client that has nothing but its address."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pyspark
import pytest

from planner.demo import SNAPSHOT_FILE
from planner.fleet.append import append
from planner.fleet.fleet_store import Store
from planner.snapshot import Snapshot, read_snapshot
from planner.spark.common.problem_rows import ERROR, WARNING
from planner.spark.scoring.fleet_scores import scores
from planner.spark.session import settings
from support.scores import by_place, differences, in_memory
from support.snapshots import small_document
from support.spark import JVM, free_port
from support.wrong_snapshots import (
    LOADING,
    SOUND,
    WRONG,
    rules_of_file,
    tables_of,
    wrong_fleet,
)

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]

HOME = Path(pyspark.__file__).parent
STARTED = "Spark Connect server started"
JOB = """
import sys
from dataclasses import replace

from planner.spark import open_fleet, scores, start_session

spark = start_session(master=sys.argv[1])
assert type(spark).__module__ == "pyspark.sql.connect.session", type(spark)
fleet = open_fleet(spark, sys.argv[2])
assert fleet.files is not None
scores(spark, sys.argv[2]).write.parquet(f"{sys.argv[3]}/by-tasks")
scores(spark, replace(fleet, files=None)).write.parquet(f"{sys.argv[3]}/by-spark")
"""

CHECK = """
import sys

from planner.spark import Fleet, score_fleet, start_session

spark = start_session(master=sys.argv[1])
names = ("clusters", "brokers", "log_dirs", "topics", "partitions")
tables = {n: spark.read.parquet(f"{sys.argv[2]}/{n}.parquet") for n in names}
found = score_fleet(Fleet(**tables))
found.problems.write.parquet(f"{sys.argv[3]}/problems")
found.scores.write.parquet(f"{sys.argv[3]}/scores")
found.release()
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Start a server; return its address."""
    pytest.importorskip("grpc", reason="the client of Spark Connect: pyspark[connect]")
    port = free_port()
    chosen = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "600m",
        "spark.driver.defaultJavaOptions": JVM,
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
    }
    options = [word for k, v in chosen.items() for word in ("--conf", f"{k}={v}")]
    main = "org.apache.spark.sql.connect.service.SparkConnectServer"
    submit = [HOME / "bin" / "spark-submit", "--master", "local[2]", "--class", main]
    own = {"SPARK_HOME": str(HOME), "PYSPARK_PYTHON": sys.executable}
    log = tmp_path_factory.mktemp("connect") / "server.log"
    with log.open("w") as stream:
        process = subprocess.Popen(
            [*submit, *options, "spark-internal"],
            env=os.environ | own,
            stdout=stream,
            stderr=stream,
        )
    try:
        while STARTED not in log.read_text():
            assert process.poll() is None, log.read_text()[-4000:]
            time.sleep(0.2)
        yield f"sc://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(60)


def test_a_fleet_is_scored_through_connect_as_in_a_session(spark, server, tmp_path):
    folder = str(tmp_path / "fleet")
    document = small_document(cluster_id="007", taken_at="2026-11-21T08:00:00Z")
    snapshots = [Snapshot.from_document(document), read_snapshot(SNAPSHOT_FILE)]
    for snapshot in snapshots:
        append(snapshot, Store(folder))
    job = tmp_path / "job.py"
    job.write_text(JOB)

    done = subprocess.run(
        [sys.executable, job, server, folder, tmp_path / "out"],
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
    )

    assert done.returncode == 0, done.stderr[-4000:]
    expected = in_memory(snapshots)
    assert differences(expected, by_place(scores(spark, folder).toArrow())) == []
    for name in ("by-tasks", "by-spark"):
        found = by_place(pq.read_table(tmp_path / "out" / name))
        assert differences(expected, found) == []


def test_checks_hold_through_connect_as_in_a_file(server, tmp_path):
    for name, table in wrong_fleet().items():
        pq.write_table(table, tmp_path / f"{name}.parquet")
    job = tmp_path / "job.py"
    job.write_text(CHECK)

    done = subprocess.run(
        [sys.executable, job, server, tmp_path, tmp_path / "out"],
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
    )

    assert done.returncode == 0, done.stderr[-4000:]
    told = pq.read_table(tmp_path / "out" / "problems").to_pylist()
    rules = {name: set() for name in WRONG}
    for row in told:
        if row["severity"] == ERROR:
            rules[row["cluster_id"]].add(row["rule"])
    for name, change in WRONG.items():
        assert rules_of_file(tables_of(name, change)) <= rules[name], name
    warned = {row["cluster_id"] for row in told if row["severity"] == WARNING}
    assert warned >= LOADING.keys()
    scores = pq.read_table(tmp_path / "out" / "scores")
    complete = zip(*map(scores.column, ("cluster_id", "complete")), strict=True)
    named = {(name.as_py(), whole.as_py()) for name, whole in complete}
    assert named == {(name, name in SOUND) for name in (*SOUND, *LOADING)}


@pytest.mark.parametrize("how", ["option", "variable"])
def test_a_server_is_given_settings_of_sessions_alone(monkeypatch, how):
    address = "sc://example.org"
    monkeypatch.setenv("SPARK_REMOTE", address if how == "variable" else "sc://another")
    master = address if how == "option" else None

    chosen = settings(master=master, conf={"spark.sql.shuffle.partitions": "7"})

    assert chosen.pop("spark.remote") == address
    assert chosen.pop("spark.sql.shuffle.partitions") == "7"
    assert chosen.keys() > {"spark.sql.session.timeZone"}
    assert all(name.startswith("spark.sql.") for name in chosen)
