"""
Files that the driver looks up and reads itself, without a job.

Files of this machine are opened as they are; others through Hadoop's file systems, with
the settings and credentials of the session.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from planner.spark.common.java_plans import classes_of
from planner.spark.scans.decoded_files import LOCAL, local_path

MOST_ASKED = 32
"""Most files that are not of this machine: an object store answers in 20 to 50 ms."""


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
        content = classes_of(spark).org.apache.commons.io.IOUtils.toByteArray(stream)
    finally:
        stream.close()
    return pa.BufferReader(bytes(content))


def _placed(spark: SparkSession, path: str) -> tuple[Any, Any]:
    """Return the file system of a file, and its path there."""
    place = classes_of(spark).org.apache.hadoop.fs.Path(path)
    state = spark._jsparkSession.sessionState()  # noqa: SLF001
    return place.getFileSystem(state.newHadoopConf()), place


def _size(store: Any, place: Any) -> int:  # noqa: ANN401 - objects of Java
    return int(store.getFileStatus(place).getLen())
