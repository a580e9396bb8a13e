"""Machines that fail under a command: one line, and an exit code to run it again."""

import os
import signal
import subprocess
import sys
import time
from types import FunctionType

import pytest

from planner.fleet.append import append
from planner.fleet.fleet_store import Store
from planner.spark.common.java_stderr import without_warnings
from planner.spark.common.machine_failures import machine_failure
from planner.spark.output.commit_retries import (
    FIRST_PAUSE_S,
    MOST_TRIES,
    with_retries,
)
from support.commands import run
from support.spark import JVM, snapshot

KILL_EXECUTOR = """
import os, signal, sys
if "planner.spark.worker_daemon" in sys.orig_argv:
    os.kill(os.getppid(), signal.SIGKILL)
"""
STARTS = """
import subprocess, sys
from planner.spark.common.java_stderr import without_warnings

said = r"print('WARNING: Using incubator\\nspark: ERROR x\\nWARN', file=sys.stderr)"
with without_warnings():
    java = subprocess.Popen([sys.executable, "-c", "import sys;" + said])
sys.stderr.write("ours\\n")
java.wait()
import time; time.sleep(1)
"""


def failed(error, package="pyspark.sql"):
    """Return an error as if code of a package had raised it."""

    def trip(error):
        raise error

    try:
        FunctionType(trip.__code__, {"__name__": package})(error)
    except Exception as caught:  # whatever it is
        return caught


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(
            "ExecutorLostFailure (executor 3 exited caused by one of the running "
            "tasks) Reason: Command exited with code 137\nDriver stacktrace:\n\tat x",
            "Spark lost executor 3: Command exited with code 137; run the command",
            id="executor",
        ),
        pytest.param(
            "ExecutorLostFailure (executor 1 exited unrelated to the running tasks) "
            "Reason: Executor heartbeat timed out after 130000 ms",
            "executor 1: Executor heartbeat timed out",
            id="heartbeat",
        ),
        pytest.param("java.lang.OutOfMemoryError: Java heap", "memory=4g", id="memory"),
        pytest.param("IOException: No space left on device", "local.dir", id="disk"),
        pytest.param(
            "io.delta.exceptions.ConcurrentAppendException: [DELTA_CONCURRENT_APPEND]",
            "another job wrote to the same table",
            id="delta-conflict",
        ),
        pytest.param(
            "org.apache.iceberg.exceptions.CommitFailedException: Cannot commit",
            "another job wrote to the same table",
            id="iceberg-conflict",
        ),
        pytest.param(
            "org.apache.spark.shuffle.MetadataFetchFailedException: Missing",
            "executor was lost with rows",
            id="shuffle",
        ),
        pytest.param(
            "Job 3 cancelled because SparkContext was shut down",
            "Spark was shut down",
            id="shut-down",
        ),
        pytest.param("StatusCode.UNAVAILABLE: connect", "Connect server", id="connect"),
    ],
)
def test_machines_are_named_in_one_line(text, said):
    found = machine_failure(failed(RuntimeError(f"An error: {text}")))

    assert said in found
    assert "\n" not in found
    # Not of Spark's code: as a file of Kafka's that tells of it.
    assert machine_failure(failed(RuntimeError(text), "planner")) is None


COLLIDED = "ConcurrentAppendException: [DELTA_CONCURRENT_APPEND]"


@pytest.mark.parametrize(
    ("errors", "pauses", "ended"),
    [
        pytest.param([], 0, "done", id="none"),
        pytest.param([COLLIDED, "TABLE_ALREADY_EXISTS"], 2, "done", id="some"),
        pytest.param(
            [COLLIDED] * MOST_TRIES, MOST_TRIES - 1, "another job wrote", id="all"
        ),
        pytest.param([COLLIDED, "No space left on device"], 1, "a disk", id="other"),
    ],
)
def test_commits_that_collide_are_tried_again(monkeypatch, errors, pauses, ended):
    left, paused = list(errors), []
    monkeypatch.setattr(time, "sleep", paused.append)

    def commit():
        if left:
            raise failed(RuntimeError(left.pop(0)))
        return "done"

    try:
        found = with_retries(commit)
    except RuntimeError as error:
        found = machine_failure(error)

    assert found.startswith(ended)
    assert left == []
    assert len(paused) == pauses
    assert all(0 <= each <= FIRST_PAUSE_S * 2**n for n, each in enumerate(paused))


def test_programs_that_trip_are_no_machines():
    assert machine_failure(failed(ZeroDivisionError("hi"))) is None
    assert "driver is gone" in machine_failure(failed(ConnectionRefusedError(), "py4j"))


@pytest.mark.spark
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("output_format", ["text", "json"])
def test_a_killed_worker_is_one_line(
    spark, tmp_path, capsys, monkeypatch, output_format
):
    def die(_):
        os.kill(os.getpid(), signal.SIGKILL)
        yield

    def killed(session, *_, **__):
        session.range(2).mapInArrow(die, "id long").collect()

    append(snapshot(), Store(str(tmp_path / "fleet")))
    monkeypatch.setattr("planner.spark.command.score_folder", killed)
    asked = ("fleet", "score", tmp_path / "fleet", "-o", tmp_path / "out")

    found = run(capsys, *asked, "--format", output_format)

    assert found.code == 75
    told = found.err if output_format == "text" else found.document["error"]
    assert len(told.splitlines()) == 1
    assert "a Python worker was killed; run the command again" in told


@pytest.mark.spark
@pytest.mark.slow
def test_a_lost_executor_is_one_line(tmp_path):
    append(snapshot(), Store(str(tmp_path / "fleet")))
    (tmp_path / "sitecustomize.py").write_text(KILL_EXECUTOR)
    conf = {
        "spark.driver.defaultJavaOptions": JVM,
        "spark.executor.defaultJavaOptions": JVM,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "500m",
        "spark.task.maxFailures": "1",
    }
    options = [word for k, v in conf.items() for word in ("--conf", f"{k}={v}")]

    done = subprocess.run(
        [
            *(sys.executable, "-c", "from planner.cli.main import run; run()"),
            *("fleet", "score", "fleet", "-o", "out"),
            *("--master", "local-cluster[1,1,600]", *options),
        ],
        check=False,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": ":".join([str(tmp_path), *sys.path])},
    )

    assert (done.returncode, done.stdout) == (75, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: Spark lost executor ")
    assert "code 137" in line


@pytest.mark.slow
def test_warnings_of_java_are_not_handed_on():
    done = subprocess.run(
        [sys.executable, "-c", STARTS],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": ":".join(sys.path)},
    )

    assert sorted(done.stderr.splitlines()) == ["WARN", "ours", "spark: ERROR x"]


def test_a_closed_stderr_is_left_alone(monkeypatch):
    def closed(_):
        raise OSError

    monkeypatch.setattr("os.dup", closed)

    with without_warnings():
        started = True

    assert started
