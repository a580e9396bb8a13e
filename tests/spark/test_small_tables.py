"""Small tables that are plain scans: the driver reads them without a job."""

from dataclasses import replace

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from planner.snapshot import Snapshot
from planner.spark.io.fleet_opening import fleet_of_snapshots
from planner.spark.scans.small_tables import small_table
from planner.spark.scoring.broadcast import broadcast_tables
from planner.spark.scoring.broadcast.broadcast_columns import GROUND_COLUMNS
from planner.spark.scoring.broadcast.broadcast_tables import grounds_of
from planner.spark.scoring.fleet_scores import score_fleet
from support.profile import sampled
from support.scores import by_place, differences, in_memory
from support.snapshots import small_document
from support.spark import jobs_of, skewed_snapshot, snapshot

pytestmark = [
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]
KEY = ("cluster_id", "taken_at")
SMALL = ("clusters", "brokers", "log_dirs", "topics")


def with_settings(cluster_id):
    """A snapshot with a header, tags, and topics with settings of their own."""
    document = small_document(cluster_id=cluster_id, taken_at="2026-11-21T08:00:00Z")
    (topic,) = document["topics"]
    document["configs"] = {"min.insync.replicas": "2"}
    document["rates"] = {"source": "a", "window_s": 60.0, "quantile": 0.9}
    document["brokers"][0] |= {"tags": {"pool": "a"}, "configs": {"broker.rack": "r"}}
    document["topics"] = [
        topic
        | {"name": f"t{n}", "topic_id": None}
        | {"configs": {"min.insync.replicas": str(1 + n % 3)} if n else {}}
        for n in range(4)
    ]
    return Snapshot.from_document(document)


@pytest.fixture(scope="module")
def snapshots():
    return [skewed_snapshot(), snapshot("small"), with_settings("settings")]


@pytest.fixture(scope="module")
def in_memory_fleet(spark, snapshots):
    return fleet_of_snapshots(spark, snapshots)


@pytest.fixture(scope="module")
def folder(in_memory_fleet, tmp_path_factory):
    """The tables in Parquet, without columns of nothing but nulls."""
    place = tmp_path_factory.mktemp("small")
    for name, table in in_memory_fleet.tables().items():
        known = [column for column, kind in table.dtypes if kind != "void"]
        table.select(known).repartition(2).write.parquet(str(place / name))
    return place


def opened(spark, folder, fleet, root=None):
    tables = {
        name: spark.read.parquet(f"{root or folder}/{name}") for name in fleet.tables()
    }
    return replace(fleet, **tables).canonical()


@pytest.fixture(scope="module")
def fleet(spark, folder, in_memory_fleet):
    return opened(spark, folder, in_memory_fleet)


def by_spark(monkeypatch):
    monkeypatch.setattr(broadcast_tables, "small_table", lambda *_: None)


def facts(grounds):
    settings = grounds.settings.sort_by([(n, "ascending") for n in (*KEY, "topic")])
    # Log dirs of one path are in no order.
    by_key = {
        (name, key): sorted(map(str, grounds.part(name, key).to_pylist()))
        for name, keys in grounds.rows.items()
        for key in keys
    }
    return by_key, grounds.rows, grounds.problems, settings.to_pylist()


def mounted(spark, folder):
    """Return the folder on a file system that Spark alone reaches."""
    name = folder.name.replace("_", "-").lower()
    spark.conf.set(f"fs.viewfs.mounttable.{name}.link./data", folder.as_uri())
    return f"viewfs://{name}/data"


@pytest.mark.parametrize("place", ["of this machine", "of Spark alone"])
def test_the_driver_reads_what_spark_reads(
    spark, folder, in_memory_fleet, monkeypatch, place
):
    root = folder.as_uri() if place == "of this machine" else mounted(spark, folder)
    fleet = opened(spark, folder, in_memory_fleet, root)
    with jobs_of(spark, place) as jobs:
        found = grounds_of(fleet)
        assert not jobs()

    by_spark(monkeypatch)
    expected = grounds_of(fleet)

    assert facts(found) == facts(expected)
    assert len(found.settings) == 5


def test_scores_of_such_tables(fleet, snapshots):
    found = score_fleet(fleet)
    scores = by_place(found.scores.toArrow())
    problems = {row["severity"] for row in found.problems.collect()}
    found.release()

    assert problems <= {"warning"}
    assert differences(in_memory(snapshots), scores) == []


def written(table, folder, name, change):
    """Write a table, changed by Arrow, and read it in the columns that it had."""
    path = folder / f"{name}.parquet"
    parquet.write_table(change(table.toArrow()), path)
    return table.sparkSession.read.schema(table.schema).parquet(str(path))


def renamed_inside(rows):
    """As a catalog whose table has other names inside a column than the file."""
    at = rows.schema.get_field_index("rates")
    kind = pa.struct([("origin", pa.string()), ("window_s", pa.float64())])
    return rows.set_column(at, "rates", pa.nulls(len(rows), kind))


def in_bytes(rows):
    """As programs write maps that know no texts."""
    at = rows.schema.get_field_index("configs")
    column = rows.column("configs").cast(pa.map_(pa.binary(), pa.binary()))
    return rows.set_column(at, "configs", column)


def partitioned(table, folder):
    table.write.partitionBy("cluster_id").parquet(str(folder / "partitioned"))
    return table.sparkSession.read.parquet(str(folder / "partitioned"))


def gone(table, folder):
    table.write.parquet(str(folder / "gone"))
    found = table.sparkSession.read.parquet(str(folder / "gone"))
    min((folder / "gone").glob("*.parquet")).unlink()
    return found


def broken(table, folder):
    table.write.parquet(str(folder / "broken"))
    found = table.sparkSession.read.parquet(str(folder / "broken"))
    min((folder / "broken").glob("*.parquet")).write_bytes(b"no parquet" * 10)
    return found


LEFT = {
    "filter": lambda table, _: table.where("cluster_id = 'small'"),
    "value": lambda table, _: table.withColumn("kafka_version", F.upper("cluster_id")),
    "fields": lambda table, folder: written(table, folder, "fields", renamed_inside),
    "bytes": lambda table, folder: written(table, folder, "bytes", in_bytes),
    "partition column": partitioned,
    "gone": gone,
    "broken": broken,
}
"""Tables that Spark reads otherwise than the driver would."""


@pytest.mark.parametrize("name", LEFT)
def test_other_tables_are_left_to_spark(spark, folder, tmp_path, name):
    table = spark.read.parquet(str(folder / "clusters"))
    assert small_table(table, {"configs": None}) is not None

    assert small_table(LEFT[name](table, tmp_path), {"configs": None}) is None


@pytest.mark.parametrize(
    "limit", ["small_tables.MOST_BYTES", "driver_files.MOST_ASKED"]
)
def test_large_tables_are_left_to_spark(spark, folder, monkeypatch, limit):
    table = spark.read.parquet(f"{mounted(spark, folder)}/brokers")
    columns = dict.fromkeys(GROUND_COLUMNS["brokers"])
    assert small_table(table.select(*KEY, *table.columns[2:]), columns) is not None

    monkeypatch.setattr(f"planner.spark.scans.{limit}", 1)

    assert small_table(table.select(*KEY, *table.columns[2:]), columns) is None


def test_few_settings_are_collected_with_the_other_tables(spark, fleet, monkeypatch):
    by_spark(monkeypatch)
    with jobs_of(spark, "few settings") as jobs:
        grounds = grounds_of(fleet)
        assert len(jobs()) == 1

    assert len(grounds.settings) == 5


def test_many_settings_are_left_to_spark(spark, fleet, snapshots, monkeypatch):
    by_spark(monkeypatch)
    monkeypatch.setattr(broadcast_tables, "MOST_COLLECTED", 1)
    grounds = grounds_of(fleet)

    assert (grounds.settings, grounds.num_saying) == (None, 5)
    assert differences(in_memory(snapshots), scores_of(fleet)) == []


def scores_of(fleet):
    found = score_fleet(fleet)
    try:
        return by_place(found.scores.toArrow())
    finally:
        found.release()


def test_a_key_of_constants_is_that_of_all_rows(spark, folder, tmp_path):
    rows = spark.read.parquet(str(folder / "brokers")).where("cluster_id = 'small'")
    rows.drop(*KEY).write.parquet(str(tmp_path / "own"))
    named = {
        "cluster_id": F.lit("small"),
        "taken_at": F.lit("2026-11-21T08:00:00Z").cast("timestamp"),
        "disk_bytes": F.lit(None),
    }
    table = spark.read.parquet(str(tmp_path / "own")).withColumns(named)

    found = small_table(table, {"id": None, "disk_bytes": None})

    together = pa.concat_tables(found, promote_options="default")
    ids = [row["id"] for row in rows.orderBy("id").collect()]
    assert sorted(together.column("id").to_pylist()) == ids
    assert {*together.column("cluster_id").to_pylist()} == {"small"}
    assert {*together.column("disk_bytes").to_pylist()} == {None}
    (time,) = {*together.column("taken_at").to_pylist()}
    assert f"{time:%Y-%m-%dT%H:%MZ}" == "2026-11-21T08:00Z"


@pytest.mark.parametrize("changed", sampled(["long", "decimal(12,1)", "string"]))
def test_types_of_other_programs(fleet, tmp_path, changed, snapshots):
    for name, columns in (("brokers", ["id"]), ("log_dirs", ["broker_id"])):
        table = fleet.tables()[name]
        cast = {column: F.col(column).cast(changed) for column in columns}
        known = [column for column, kind in table.dtypes if kind != "void"]
        place = str(tmp_path / name)
        table.select(known).withColumns(cast).write.parquet(place)
        again = table.sparkSession.read.parquet(place)
        assert isinstance(again.schema[columns[0]].dataType, T.DataType)
        fleet = replace(fleet, **{name: again})

    assert differences(in_memory(snapshots), scores_of(fleet)) == []
