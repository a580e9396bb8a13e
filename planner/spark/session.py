"""Spark session with defaults that suit one machine."""

import logging
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from planner.errors import BadInputError, InputProblem, raise_problems
from planner.io.problems import first_line
from planner.progress import stage
from planner.spark.common.java_stderr import without_warnings
from planner.spark.versions import require_new_pyspark, require_new_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LEAST_JAVA = 17
_JAVA_REMEDY = (
    "install one (apt install openjdk-17-jre-headless, brew install openjdk@17) or set "
    "JAVA_HOME; 'score' without --spark needs none"
)
LOCAL = "local[*]"
REMOTE = "sc://"
"""Prefix of the address of a Spark Connect server."""
MOST_MEMORY_BYTES = 16 * 2**30
"""Largest default memory of a local Spark: large tables are not held in memory."""
DEFAULTS: Mapping[str, str] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Otherwise every call records its place in Python, with four more calls each.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # With any other limit Spark sums the bytes of all columns after every row that it
    # sends to Python, which takes as long as sending it. The limit of ten thousand
    # rows remains.
    "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
    # Checksums tell whether a task that is repeated gives other rows. Ours never do.
    "spark.sql.shuffle.orderIndependentChecksum.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "64MB",
    "spark.sql.parquet.compression.codec": "zstd",
    # Timestamps with time zone: the default type is deprecated in Parquet.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # Ids such as 007 and days in names of folders stay text.
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    # A task keeps freed memory for its next rows. Memory returned to the system and
    # allocated again is cleared page by page: a tenth of the time of scores.
    "spark.executorEnv.MALLOC_MMAP_THRESHOLD_": str(32 * 2**20),
    "spark.executorEnv.MALLOC_TRIM_THRESHOLD_": str(256 * 2**20),
    "spark.executorEnv.MIMALLOC_PURGE_DELAY": "-1",
}
LOCAL_DEFAULTS: Mapping[str, str] = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 1)),
    # Workers share the libraries that this daemon loads before it forks them.
    "spark.python.daemon.module": "planner.spark.worker_daemon",
    # With so few tasks, planning again after each stage gains nothing.
    "spark.sql.adaptive.enabled": "false",
    # Otherwise each file of a fleet is listed in a task of its own, in 0.01 s.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": str(
        2 * (os.cpu_count() or 1)
    ),
}

_JAVA_OPTIONS = (
    # Spark reads single values from Arrow, and only those that exist: checking bounds
    # and nulls each time takes as long as all other work on the values.
    "-Darrow.enable_unsafe_memory_access=true",
    "-Darrow.enable_null_check_for_get=false",
)
_COMPILE_ONCE = "-XX:TieredStopAtLevel=1"
"""
JVM option against compiling hot code a second time. That compilation takes longer than
a job that runs mostly in Python: 2.5 s of 3.9 s for plans of 400 small clusters.
"""


def start_session(
    *,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    in_python: bool = False,
) -> "SparkSession":
    """
    Return the active session, or start one.

    Parameters
    ----------
    master
        Spark's master URL, or the address of a Spark Connect server, ``sc://HOST``;
        `None`: that of spark-submit, or of ``SPARK_REMOTE``, else this machine.
    conf
        Settings of Spark, which override our defaults.
    in_python
        Whether nearly all work is done in Python, so that a JVM started on this machine
        should not spend time on optimising its code.

    Raises
    ------
    BadInputError
        If PySpark or Java is missing or too old, or Spark does not start.
    """
    is_here = not _remote(master or (conf or {}).get("spark.master"))
    _require_spark(needs_java=is_here)
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        require_new_spark(active.version, what="the session's Spark")
        return active
    if is_here:
        require_new_java()
    logging.getLogger("py4j").setLevel(logging.ERROR)
    chosen = settings(master=master, conf=conf or {}, in_python=in_python)
    if chosen.get("spark.master", "").startswith("local"):
        # Python workers run on this machine too; Spark would start any python3.
        python = chosen.get("spark.pyspark.python", sys.executable)
        os.environ.setdefault("PYSPARK_PYTHON", python)
    stage("starting Spark")
    builder = SparkSession.builder.appName("kafka-planner")
    for key, value in chosen.items():
        builder = builder.config(key, value)
    try:
        with without_warnings() if is_here else nullcontext():
            session = builder.getOrCreate()
    except Exception as error:
        rule = f"Spark does not start: {first_line(error)}"
        remedy = "check --master and --conf"
        raise _refusal(rule, remedy, value=master or "") from error
    require_new_spark(session.version, what="the session's Spark")
    stage("working on Spark")
    return session


def settings(
    *, master: str | None, conf: Mapping[str, str], in_python: bool = False
) -> dict[str, str]:
    """Return the settings of a session: our defaults, overridden by those given."""
    is_submitted = "SPARK_ENV_LOADED" in os.environ
    given = master or conf.get("spark.master")
    if remote := _remote(given):
        # Settings outside the session were fixed when the server started.
        own = {k: v for k, v in DEFAULTS.items() if k.startswith("spark.sql.")}
        asked = {k: v for k, v in conf.items() if k != "spark.master"}
        return own | {"spark.remote": remote} | asked
    chosen = dict(DEFAULTS)
    if given is not None or not is_submitted:
        chosen["spark.master"] = given or LOCAL
    if (given or LOCAL).startswith("local") and not is_submitted:
        chosen |= LOCAL_DEFAULTS
        chosen["spark.driver.memory"] = f"{_memory_bytes() // 2**20}m"
        chosen |= _java_options(_COMPILE_ONCE if in_python else "")
    return chosen | {k: v for k, v in conf.items() if k != "spark.master"}


def parse_conf(texts: Sequence[str]) -> dict[str, str]:
    """
    Parse ``KEY=VALUE`` options.

    Raises
    ------
    BadInputError
        With every option that is not ``KEY=VALUE``.
    """
    problems = [
        InputProblem.of_option(
            "--conf", text, "must be KEY=VALUE", "write spark.executor.memory=4g"
        )
        for text in texts
        if not text.partition("=")[1] or not text.partition("=")[0].strip()
    ]
    raise_problems("bad settings of Spark", problems)
    return {key: value for key, _, value in (text.partition("=") for text in texts)}


def _remote(master: str | None) -> str | None:
    """Return the address of a Spark Connect server, if one is given."""
    address = master or os.environ.get("SPARK_REMOTE", "")
    return address if address.startswith(REMOTE) else None


def _memory_bytes() -> int:
    """Return half of the machine's memory, from 1 GiB to `MOST_MEMORY_BYTES`."""
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return min(max(pages * size // 2, 2**30), MOST_MEMORY_BYTES)


def _java_options(more: str) -> dict[str, str]:
    """Return the options of the JVM: configuration of logging, and speed."""
    file = Path(__file__).with_name("log4j2.properties")
    options = (f"-Dlog4j2.configurationFile={file.as_uri()}", *_JAVA_OPTIONS, more)
    return {"spark.driver.extraJavaOptions": " ".join(filter(None, options))}


def _require_spark(*, needs_java: bool) -> None:
    if find_spec("pyspark") is None:
        rule = "PySpark is not installed"
        remedy = "install it: python -m pip install 'kafka-planner[spark]'"
        raise _refusal(rule, remedy)
    require_new_pyspark()
    if needs_java and _java() is None:
        rule = f"Spark needs Java {LEAST_JAVA} or newer, and no java was found"
        raise _refusal(rule, _JAVA_REMEDY)


def require_new_java() -> None:
    """
    Check that the Java that Spark is about to start is new enough.

    A Java that does not report its version is accepted.

    Raises
    ------
    BadInputError
        If it is too old.
    """
    java = _java()
    version = None if java is None else _java_version(java)
    if version is not None and version < LEAST_JAVA:
        rule = f"Spark needs Java {LEAST_JAVA} or newer, and {java} is Java {version}"
        raise _refusal(rule, _JAVA_REMEDY)


def _java() -> str | None:
    """Return the path of the java that Spark starts; `None` if there is none."""
    home = os.environ.get("JAVA_HOME")
    if home:
        java = Path(home) / "bin" / "java"
        return str(java) if java.exists() else None
    return shutil.which("java")


def _java_version(java: str) -> int | None:
    """Return the major version of a java (1.8 is 8); `None` if it reports none."""
    try:
        asked = subprocess.run(  # noqa: S603 - the java that Spark starts next
            [java, "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    said = re.search(r'version "(?:1\.)?(\d+)', asked.stderr + asked.stdout)
    return None if said is None else int(said[1])


def _refusal(rule: str, remedy: str, *, value: str = "") -> BadInputError:
    problem = InputProblem(
        file="Spark", place="", value=value, rule=rule, remedy=remedy
    )
    return BadInputError(f"{rule}; {remedy}", [problem])
