"""Tables that Spark hands over are scored, and refused, as files that tasks read."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from planner.fleet.append import append
from planner.fleet.arrow_tables import snapshot_tables
from planner.fleet.fleet_store import Store
from planner.snapshot import Snapshot
from planner.spark.common.problem_rows import ERROR, PROBLEM
from planner.spark.io.fleet_opening import open_fleet
from planner.spark.io.fleet_tables import Fleet
from planner.spark.scans.parquet_scans import plain_scan
from planner.spark.scoring.fleet_scores import score_fleet
from planner.spark.scoring.map_side.partition_batches import columns_read
from support.scores import by_place, differences
from support.snapshots import documents
from support.spark import tamed
from support.wrong_snapshots import TABLE_NAMES, TIME, wide

pytestmark = [
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]
COUNT = 60
IDS = st.integers(-1, 9) | st.sampled_from([100_000, 2**31 - 1, 2**31, 2**40])
LIST = st.lists(IDS | st.none(), max_size=5)
PATHS = st.lists(st.sampled_from(["/d1", "/d2", "/other", "", None]), max_size=4)
NUMBERS = st.none() | st.integers(-2, 2**62)
CHANGED = {
    "topic": st.sampled_from([None, "", "two words", "orders"]),
    "partition": st.sampled_from([None, -1, 0, 1, 7, 2**31]),
    "replicas": st.none() | LIST,
    "leader": st.none() | IDS,
    "isr": st.none() | LIST,
    "elr": st.none() | LIST,
    "adding_replicas": st.none() | LIST,
    "removing_replicas": st.none() | LIST,
    "offline_replicas": st.none() | LIST,
    "log_dirs": st.none() | PATHS,
    "future_log_dirs": st.none() | PATHS,
    "size_bytes": NUMBERS,
    "replica_bytes": st.none() | st.lists(NUMBERS, max_size=4),
    "in_bytes_per_s": st.none() | st.floats(),
}
"""Values of partitions, most of them wrong."""


@st.composite
def tables(draw, name):
    """The tables of a snapshot; often a cell or two are changed, or a row is twice."""
    document = draw(documents().map(tamed)) | {"cluster_id": name, "taken_at": TIME}
    found = snapshot_tables(Snapshot.from_document(document), name=name)
    rows = {table: found[table].to_pylist() for table in TABLE_NAMES}
    partitions = rows["partitions"]
    for _ in range(draw(st.integers(0, 2)) if partitions else 0):
        row = draw(st.sampled_from(partitions))
        column = draw(st.sampled_from(sorted(CHANGED)))
        row[column] = draw(CHANGED[column])
    if partitions and draw(st.integers(0, 5)) == 0:
        partitions.append(dict(draw(st.sampled_from(partitions))))
    return {
        table: pa.Table.from_pylist(
            rows[table],
            schema=pa.schema([(f.name, wide(f.type)) for f in found[table].schema]),
        )
        for table in TABLE_NAMES
    }


def drawn():
    """Draw tables first, so that Spark is started on all of them at once."""
    found = []

    @settings(max_examples=COUNT, phases=[Phase.generate])
    @given(st.data())
    def collect(data):
        found.append(data.draw(tables(f"c{len(found):03}")))

    collect()
    return found


def as_files(spark, fleet, folder):
    """Write tables in the place of the files of a fleet."""
    store = Store(str(folder))
    for each in fleet:
        name = each["clusters"].column("cluster_id")[0].as_py()
        header = {"cluster_id": name, "taken_at": TIME}
        plain = {"format": "kafka-planner/snapshot", "version": 1, **header}
        append(Snapshot.from_document(plain), store)
        (commit,) = (c for c in store.commits() if name in dict(c.snapshots.keys()))
        for table in TABLE_NAMES:
            (file,) = commit.files[table]
            pq.write_table(each[table], Path(folder, file))
    return open_fleet(spark, str(folder))


def as_frames(spark, fleet):
    together = {
        name: pa.concat_tables([each[name] for each in fleet]).combine_chunks()
        for name in TABLE_NAMES
    }
    frames = {name: spark.createDataFrame(together[name]) for name in TABLE_NAMES}
    return Fleet(**frames)


def as_scans(spark, fleet, folder):
    """Write tables whose files Spark lists, and tasks decode."""
    for name, table in as_frames(spark, fleet).tables().items():
        known = [name for name, kind in table.dtypes if kind != "void"]
        table.select(known).repartition(3).write.parquet(str(folder / name))
    frames = {name: spark.read.parquet(str(folder / name)) for name in TABLE_NAMES}
    assert plain_scan(columns_read(Fleet(**frames).canonical())) is not None
    return Fleet(**frames)


def scored(fleet):
    found = score_fleet(fleet)
    try:
        problems = found.problems.toArrow().to_pylist()
        return by_place(found.scores.toArrow()), problems
    finally:
        found.release()


def rows_of(problems):
    return sorted(
        tuple(str(row[name]) for name in ("cluster_id", *PROBLEM)) for row in problems
    )


def test_frames_are_scored_and_refused_as_files(spark, tmp_path):
    fleet = drawn()

    of_files, files_problems = scored(as_files(spark, fleet, tmp_path / "files"))
    of_frames, problems = scored(as_frames(spark, fleet))
    of_scans, scans_problems = scored(as_scans(spark, fleet, tmp_path / "scans"))

    assert rows_of(problems) == rows_of(files_problems)
    assert rows_of(scans_problems) == rows_of(files_problems)
    refused = {row["cluster_id"] for row in problems if row["severity"] == ERROR}
    assert COUNT / 10 < len(refused) < COUNT * 9 / 10
    assert differences(of_files, of_frames) == []
    assert differences(of_files, of_scans) == []
