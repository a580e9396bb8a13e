"""Folders written by a real Spark, as it writes Parquet by default."""

import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import Phase, find, settings

from planner.snapshot import Snapshot, read_snapshot, write_snapshot
from planner.snapshot.tables.snapshot_columns import TABLES
from support.snapshots import documents, small_document

pytestmark = [
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]


def written_by_spark(spark: Any, snapshot: Snapshot, folder: Path) -> Path:
    """Write a folder, then have Spark read each table and write it again."""
    ours = folder / "ours"
    write_snapshot(snapshot, ours)
    theirs = folder / "theirs"
    theirs.mkdir()
    shutil.copy(ours / "snapshot.json", theirs)
    for spec in TABLES:
        if (ours / spec.file).exists():
            table = spark.read.parquet(str(ours / spec.file))
            table.repartition(2).write.parquet(str(theirs / spec.file))
    return theirs


def full_document() -> dict[str, Any]:
    """A document with several topics, lists and maps, some of them absent."""
    return find(
        documents(),
        lambda document: (
            len(document.get("topics", [])) > 1
            and any(topic.get("configs") for topic in document.get("topics", []))
            and any(
                len(partition["replicas"]) > 1
                for topic in document.get("topics", [])
                for partition in topic.get("partitions", [])
            )
        ),
        # The first one will do: to find the smallest takes a minute.
        settings=settings(phases=[Phase.generate], derandomize=False, database=None),
        random=Random(1),
    )


@pytest.mark.parametrize(
    "make",
    [pytest.param(small_document, id="small"), pytest.param(full_document, id="full")],
)
def test_a_folder_that_spark_wrote_is_read(spark: Any, make: Any, tmp_path: Path):
    snapshot = Snapshot.from_document(make())

    folder = written_by_spark(spark, snapshot, tmp_path)

    assert (folder / "partitions.parquet" / "_SUCCESS").exists()
    assert read_snapshot(folder).equals(snapshot)
