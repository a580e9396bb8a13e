"""The session that Spark jobs run in."""

import os
import subprocess
import sys

import pyarrow as pa
import pytest
from pyarrow import parquet

import planner.spark
from planner.demo import SNAPSHOT_FILE
from planner.errors import BadInputError
from planner.spark.session import require_new_java, settings, start_session
from support.commands import run


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
def test_tasks_keep_the_memory_they_had(spark):
    def tell(batches):
        import os as worker

        import pyarrow as pa

        yield from batches
        found = {
            name: text for name, text in worker.environ.items() if "MALLOC" in name
        }
        yield pa.record_batch({"name": [*found], "text": [*found.values()]})

    rows = spark.createDataFrame([("", "")], "name string, text string")

    found = {row.name: row.text for row in rows.mapInArrow(tell, rows.schema).collect()}
    assert int(found["MALLOC_MMAP_THRESHOLD_"]) == 32 * 2**20
    assert int(found["MALLOC_TRIM_THRESHOLD_"]) == 256 * 2**20
    assert found["MIMALLOC_PURGE_DELAY"] == "-1"


@pytest.mark.spark
def test_workers_are_forked_with_their_libraries_loaded(spark):
    def tell(batches):
        import os as worker
        from pathlib import Path

        import pyarrow as pa

        yield from batches
        daemon = Path(f"/proc/{worker.getppid()}/cmdline").read_text()
        yield pa.record_batch({"daemon": [daemon]})

    rows = spark.createDataFrame([("",)], "daemon string")

    found = {row.daemon for row in rows.mapInArrow(tell, rows.schema).collect()}
    assert all("planner.spark.worker_daemon" in daemon for daemon in found - {""})
    assert len(found) > 1


@pytest.mark.not_quick
def test_libraries_that_workers_share_start_no_threads_but_those_of_jemalloc():
    code = (
        "from pathlib import Path\n"
        "from planner.spark.worker_daemon import LIBRARIES, preload\n"
        "import sys\n"
        "preload()\n"
        "assert {*LIBRARIES} <= {*sys.modules}\n"
        "from numba.core.registry import cpu_target\n"
        "known = len(cpu_target.target_context._defns)\n"
        "cpu_target.target_context.refresh()\n"
        "assert known > 0.9 * len(cpu_target.target_context._defns)\n"
        "for comm in Path('/proc/self/task').glob('*/comm'):\n"
        "    print(comm.read_text().strip())\n"
    )
    env = os.environ | {"OMP_NUM_THREADS": "1"}

    done = subprocess.run(
        [sys.executable, "-c", code],
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )

    assert {name[:8] for name in done.stdout.split()[1:]} <= {"jemalloc"}


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


@pytest.mark.parametrize("in_python", [False, True])
def test_java_compiles_once_where_the_work_is_done_in_python(monkeypatch, in_python):
    monkeypatch.delenv("SPARK_ENV_LOADED", raising=False)

    chosen = settings(master="local[2]", conf={}, in_python=in_python)
    afar = settings(master="spark://h:7077", conf={}, in_python=in_python)

    options = chosen["spark.driver.extraJavaOptions"].split()
    assert ("-XX:TieredStopAtLevel=1" in options) == in_python
    assert "spark.driver.extraJavaOptions" not in afar


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


def fake_java(folder, said):
    """Put a java on the path that says this of itself."""
    java = folder / "java"
    java.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{said}\nEND\n")
    java.chmod(0o755)
    return java


OLD = [
    pytest.param('java version "1.8.0_392"\nJava(TM) SE Runtime', "Java 8", id="8"),
    pytest.param('openjdk version "11.0.21" 2023-10-17', "Java 11", id="11"),
]


@pytest.mark.parametrize("is_home", [False, True])
@pytest.mark.parametrize(("said", "name"), OLD)
def test_an_old_java_is_said_in_one_line(
    monkeypatch, tmp_path, capsys, said, name, is_home
):
    folder = tmp_path / "bin"
    folder.mkdir()
    java = fake_java(folder, said)
    for variable in ("JAVA_HOME", "SPARK_REMOTE"):
        monkeypatch.delenv(variable, raising=False)
    if is_home:
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    else:
        monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    # Where tests before this one left a session, no java is started.
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)

    found = run(capsys, "score", SNAPSHOT_FILE, "--spark")

    assert found.code == 2
    first, *_ = found.err.splitlines()
    assert f"needs Java 17 or newer, and {java} is {name}; install one" in first
    assert "Traceback" not in found.err


@pytest.mark.parametrize(
    "said", ['openjdk version "17.0.15" 2025-04-15', 'openjdk version "21-ea"', ""]
)
def test_a_java_that_is_new_or_mute_is_tried(monkeypatch, tmp_path, said):
    fake_java(tmp_path, said)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)

    require_new_java()


@pytest.mark.parametrize("name", planner.spark.__all__)
def test_every_name_of_the_package_is_found(name):
    assert getattr(planner.spark, name).__name__ == name
