"""
Files that the driver looks up and reads itself, without a job.

Files of this machine are opened as they are; others through Hadoop's file systems, with
the settings and credentials of the session.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from planner.spark.scans.decoded_files import LOCAL, local_path

MOST_ASKED = 32
"""Most files that are not of this machine: an object store answers in 20 to 50 ms."""
MOST_BYTES = 1 << 26
"""Largest file whose content Spark hands over: a task has all of it in memory."""
MOST_LOCAL_BYTES = 1 << 29
"""Upper limit where this machine runs the tasks and its memory allows larger files."""
COPIES = 8
"""Copies of a file's content for which a task needs room in the JVM's memory."""
LOCAL_MASTER = re.compile(r"local(\[.*\])?")
"""Master whose tasks run in the driver's JVM; ``local-cluster`` starts executors."""


def are_local(paths: Sequence[str]) -> bool:
    """Return whether all files are named as files of this machine."""
    return all(path.startswith(LOCAL) for path in paths)


def file_sizes(spark: SparkSession, paths: Sequence[str]) -> list[int] | None:
    """
    Return the bytes of each file; `None`: too many files to ask for.

    Raises
    ------
    OSError
        If the driver does not see a local file.
    Exception
        An error of py4j, if a file is gone, or the session hides its JVM.
    """
    if are_local(paths):
        return [Path(local_path(path)).stat().st_size for path in paths]
    if len(paths) > MOST_ASKED:
        return None
    return [_size(*_placed(spark, path)) for path in paths]


def open_file(spark: SparkSession, path: str) -> pa.NativeFile:
    """
    Open a file; the content of one that is not local is fetched as a whole.

    Raises
    ------
    OSError
        If a local file cannot be opened.
    Exception
        An error of py4j, if another file cannot be read.
    """
    if path.startswith(LOCAL):
        return pa.OSFile(local_path(path))
    store, place = _placed(spark, path)
    stream = store.open(place)
    try:
        content = java_of(spark).org.apache.commons.io.IOUtils.toByteArray(stream)
    finally:
        stream.close()
    return pa.BufferReader(bytes(content))


def most_bytes(spark: SparkSession) -> int:
    """
    Return the largest file in bytes whose content Spark hands over.

    Only a local Spark has its tasks in the JVM of the driver, whose memory is known.
    Containers of executors have little memory outside the JVM, where copies are too.
    """
    context = spark.sparkContext
    if not LOCAL_MASTER.fullmatch(context.master or ""):
        return MOST_BYTES
    runtime = java_of(spark).java.lang.Runtime.getRuntime()
    share = int(runtime.maxMemory()) // (COPIES * context.defaultParallelism)
    return min(max(share, MOST_BYTES), MOST_LOCAL_BYTES)


def java_of(spark: SparkSession) -> Any:  # noqa: ANN401 - classes of Java
    """Return the classes of a session's JVM."""
    return spark._jvm  # noqa: SLF001 - the only way to them


def _placed(spark: SparkSession, path: str) -> tuple[Any, Any]:
    """Return the file system of a file, and its path there."""
    place = java_of(spark).org.apache.hadoop.fs.Path(path)
    state = spark._jsparkSession.sessionState()  # noqa: SLF001
    return place.getFileSystem(state.newHadoopConf()), place


def _size(store: Any, place: Any) -> int:  # noqa: ANN401 - objects of Java
    return int(store.getFileStatus(place).getLen())
