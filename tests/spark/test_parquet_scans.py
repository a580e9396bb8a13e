"""Tables that are plain scans of Parquet: tasks decode their files themselves."""

from dataclasses import replace
from types import SimpleNamespace

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from planner.spark.io.fleet_files import ROW_BYTES
from planner.spark.io.fleet_opening import fleet_of_snapshots
from planner.spark.scans.driver_files import most_bytes
from planner.spark.scans.parquet_scans import plain_scan
from planner.spark.scoring.fleet_scores import score_fleet
from planner.spark.scoring.map_side.file_contents import file_contents
from support.profile import sampled
from support.scores import by_place, differences, in_memory
from support.spark import few_snapshots

pytestmark = [
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]
MODULE = "planner.spark.scoring.map_side.file_contents"
COLUMNS = ("cluster_id", "taken_at", "topic", "partition", "replicas")


@pytest.fixture(scope="module")
def snapshots():
    return few_snapshots()


@pytest.fixture(scope="module")
def fleet(spark, snapshots):
    """The snapshots as tables in memory."""
    return fleet_of_snapshots(spark, snapshots)


@pytest.fixture(scope="module")
def folder(fleet, tmp_path_factory):
    """Partitions of all snapshots mixed, in two files."""
    place = tmp_path_factory.mktemp("scans") / "partitions"
    known = [name for name, kind in fleet.partitions.dtypes if kind != "void"]
    rows = fleet.partitions.select(known).orderBy(F.hash("topic", "partition"))
    rows.repartition(2).write.parquet(str(place))
    return place


def scored(fleet):
    found = score_fleet(fleet)
    try:
        problems = found.problems.where("severity = 'error'").collect()
        return by_place(found.scores.toArrow()), problems
    finally:
        found.release()


@pytest.fixture
def decoded(monkeypatch):
    """Paths of the files that tasks decoded, as the driver planned them."""
    paths = []

    def noted(table):
        scan = plain_scan(table)
        paths.extend(() if scan is None else scan.paths)
        return scan

    monkeypatch.setattr(f"{MODULE}.plain_scan", noted)
    return paths


def as_they_are(spark, folder):
    return spark.read.parquet(str(folder))


def with_other_names(spark, folder):
    table = spark.read.parquet(str(folder))
    odd = table.withColumnsRenamed({"topic": "name", "partition": "topic"})
    odd.write.mode("overwrite").parquet(f"{folder}-renamed")
    found = spark.read.parquet(f"{folder}-renamed")
    return found.withColumnsRenamed({"topic": "partition", "name": "topic"})


def in_capitals(spark, folder):
    table = spark.read.parquet(str(folder))
    loud = table.toDF(*map(str.upper, table.columns))
    loud.write.mode("overwrite").parquet(f"{folder}-loud")
    return spark.read.schema(table.schema).parquet(f"{folder}-loud")


def in_old_timestamps(spark, folder):
    name = "spark.sql.parquet.outputTimestampType"
    before = spark.conf.get(name)
    spark.conf.set(name, "INT96")
    try:
        table = spark.read.parquet(str(folder))
        table.write.mode("overwrite").parquet(f"{folder}-int96")
    finally:
        spark.conf.set(name, before)
    return spark.read.parquet(f"{folder}-int96")


def with_texts_as_bytes(spark, folder):
    """As programs write them that know no logical types."""
    table = parquet.read_table(folder)
    for name in ("topic", "cluster_id"):
        at = table.schema.get_field_index(name)
        table = table.set_column(at, name, table.column(name).cast(pa.binary()))
    path = folder.with_name("bytes.parquet")
    parquet.write_table(table, path)
    kinds = spark.read.parquet(str(folder)).schema
    return spark.read.schema(kinds).parquet(str(path))


def in_a_catalog(spark, folder):
    spark.sql("DROP TABLE IF EXISTS scanned")
    spark.sql(f"CREATE TABLE scanned USING parquet LOCATION '{folder.as_uri()}'")
    return spark.table("scanned")


def in_a_catalog_by_day(spark, folder):
    """Spark reads the column of the partitions, though nobody asks for it."""
    spark.sql("DROP TABLE IF EXISTS scanned_by_day")
    table = spark.read.parquet(str(folder)).withColumn("date", F.to_date("taken_at"))
    place = f"{folder}-by-day"
    table.write.partitionBy("date").saveAsTable("scanned_by_day", path=place)
    return spark.table("scanned_by_day")


def mounted(spark, folder):
    """On a file system that Spark alone reaches."""
    name = folder.parent.name.replace("_", "-").lower()
    link = f"fs.viewfs.mounttable.{name}.link./data"
    spark.conf.set(link, folder.parent.as_uri())
    return spark.read.parquet(f"viewfs://{name}/data/{folder.name}")


PLAIN = [
    as_they_are,
    with_other_names,
    in_capitals,
    in_old_timestamps,
    with_texts_as_bytes,
    in_a_catalog,
    in_a_catalog_by_day,
    mounted,
]


@pytest.mark.parametrize("opened", sampled(PLAIN))
def test_files_of_plain_scans_are_decoded_by_tasks(
    spark, fleet, folder, snapshots, decoded, opened
):
    table = opened(spark, folder)

    found, problems = scored(replace(fleet, partitions=table))

    assert decoded
    assert problems == []
    assert differences(in_memory(snapshots), found) == []


def test_settings_of_topics_are_joined_by_spark_if_there_are_many(
    spark, fleet, folder, snapshots, decoded, monkeypatch
):
    module = "planner.spark.scoring.broadcast.broadcast_tables"
    monkeypatch.setattr(f"{module}.MOST_COLLECTED", 0)
    monkeypatch.setattr(f"{module}.small_table", lambda *_: None)
    table = as_they_are(spark, folder)

    found, problems = scored(replace(fleet, partitions=table))

    assert (decoded, problems) == ([], [])
    assert differences(in_memory(snapshots), found) == []


def test_large_files_that_are_not_of_this_machine_are_left_to_spark(
    spark, fleet, folder, snapshots, decoded, monkeypatch
):
    monkeypatch.setattr(f"{MODULE}.most_bytes", lambda _: 100)
    table = mounted(spark, folder)

    found, _ = scored(replace(fleet, partitions=table))

    assert decoded
    assert file_contents(table.select(*COLUMNS)) is None
    assert differences(in_memory(snapshots), found) == []


MIB = 1 << 20


@pytest.mark.parametrize(
    ("master", "tasks", "heap", "most"),
    [
        ("local[2]", 2, 3_072 * MIB, 192 * MIB),
        ("local", 1, 3_072 * MIB, 384 * MIB),
        ("local[*]", 2, 16_384 * MIB, 512 * MIB),
        ("local[8]", 8, 1_024 * MIB, 64 * MIB),
        ("local-cluster[2,1,1024]", 2, 16_384 * MIB, 64 * MIB),
        ("yarn", 2, 16_384 * MIB, 64 * MIB),
    ],
)
def test_how_large_a_file_is_handed_over_depends_on_the_memory_of_a_local_spark(
    master, tasks, heap, most
):
    runtime = SimpleNamespace(maxMemory=lambda: heap)
    jvm = SimpleNamespace()
    jvm.java = SimpleNamespace(lang=SimpleNamespace(Runtime=SimpleNamespace()))
    jvm.java.lang.Runtime.getRuntime = lambda: runtime
    context = SimpleNamespace(master=master, defaultParallelism=tasks)

    assert most_bytes(SimpleNamespace(sparkContext=context, _jvm=jvm)) == most


def test_large_files_of_this_machine_are_read_by_row_groups(
    spark, fleet, folder, snapshots, decoded, monkeypatch
):
    monkeypatch.setattr("planner.spark.io.fleet_files.LARGE_BYTES", 100)
    monkeypatch.setattr("planner.spark.scoring.map_side.file_tasks.MOST_ROWS", 10)
    monkeypatch.setattr("planner.spark.scoring.map_side.file_tasks.TASK_ROWS", 1)
    place = folder.with_name("groups.parquet")
    parquet.write_table(parquet.read_table(folder), place, row_group_size=7)
    table = spark.read.parquet(str(place))

    found, problems = scored(replace(fleet, partitions=table))

    assert decoded
    contents = file_contents(table.select(*COLUMNS))
    assert contents.handed.count() > 3
    assert contents.rows == parquet.read_metadata(place).num_rows
    assert problems == []
    assert differences(in_memory(snapshots), found) == []


@pytest.mark.parametrize(
    ("opened", "most_asked", "takes_a_job"),
    [(as_they_are, 0, False), (mounted, 2, False), (mounted, 1, True)],
)
def test_the_driver_looks_up_sizes_of_few_files_without_a_job(
    spark, folder, monkeypatch, opened, most_asked, takes_a_job
):
    monkeypatch.setattr("planner.spark.scans.driver_files.MOST_ASKED", most_asked)
    table = opened(spark, folder).select(*COLUMNS)
    group = f"sizes-{takes_a_job}"
    spark.sparkContext.setJobGroup(group, "sizes of files")
    try:
        found = file_contents(table)
        jobs = spark.sparkContext.statusTracker().getJobIdsForGroup(group)
    finally:
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)

    assert found is not None
    sizes = [file.stat().st_size for file in folder.glob("*.parquet")]
    assert found.rows == pytest.approx(sum(sizes) // ROW_BYTES, abs=2)
    assert bool(jobs) == takes_a_job


def test_files_that_are_gone_are_left_to_spark(spark, folder):
    place = folder.with_name("gone")
    as_they_are(spark, folder).write.mode("overwrite").parquet(str(place))
    table = as_they_are(spark, place).select(*COLUMNS)
    min(place.glob("*.parquet")).unlink()

    assert plain_scan(table) is not None
    assert file_contents(table) is None


@pytest.mark.parametrize("opened", [as_they_are, mounted])
def test_a_key_of_constants_is_that_of_all_rows(
    spark, fleet, folder, snapshots, decoded, opened
):
    own, *_ = snapshots
    tables = fleet_of_snapshots(spark, [own])
    time = F.lit("2026-11-21T08:00:00Z").cast("timestamp")
    named = {"cluster_id": F.lit("skewed"), "taken_at": time}
    rows = opened(spark, folder).where("cluster_id = 'skewed'")
    rows.drop(*named).write.mode("overwrite").parquet(f"{folder}-one")
    table = opened(spark, folder.with_name(f"{folder.name}-one")).withColumns(named)

    found, problems = scored(replace(tables, partitions=table))

    assert decoded
    assert problems == []
    assert differences(in_memory([own]), found) == []


def partitioned(table, folder):
    table.write.mode("overwrite").partitionBy("cluster_id").parquet(f"{folder}-parts")
    return table.sparkSession.read.parquet(f"{folder}-parts")


def in_orc(table, folder):
    table.write.mode("overwrite").orc(f"{folder}-orc")
    return table.sparkSession.read.orc(f"{folder}-orc")


def at_an_odd_path(table, folder):
    table.write.mode("overwrite").parquet(f"{folder} of%20one")
    return table.sparkSession.read.parquet(f"{folder} of%20one")


def with_a_default(table, folder):
    table.sparkSession.sql("DROP TABLE IF EXISTS defaulted")
    table.select(*COLUMNS).write.saveAsTable("defaulted", path=f"{folder}-default")
    how = "ADD COLUMN size_bytes bigint DEFAULT 7"
    table.sparkSession.sql(f"ALTER TABLE defaulted {how}")
    return table.sparkSession.table("defaulted")


def with_an_option(table, folder):
    reader = table.sparkSession.read.option("ignoreCorruptFiles", "true")
    return reader.parquet(str(folder))


def of_the_second_version(table, folder):
    spark = table.sparkSession
    spark.conf.set("spark.sql.sources.useV1SourceList", "avro")
    try:
        found = spark.read.parquet(str(folder))
        found.count()
        return found
    finally:
        spark.conf.unset("spark.sql.sources.useV1SourceList")


def with_field_ids(table, folder):
    fields = [
        T.StructField(field.name, field.dataType, metadata={"parquet.field.id": n})
        for n, field in enumerate(table.schema)
    ]
    reader = table.sparkSession.read.schema(T.StructType(fields))
    return reader.parquet(str(folder))


MORE = {
    "filter": lambda table, _: table.where("partition < 3"),
    "filter of the key": lambda table, _: table.where("cluster_id = 'small'"),
    "limit": lambda table, _: table.limit(3),
    "sample": lambda table, _: table.sample(0.5, seed=1),
    "distinct": lambda table, _: table.dropDuplicates(["topic", "partition"]),
    "union": lambda table, _: table.union(table),
    "join": lambda table, _: table.join(table.select("topic"), "topic", "left_semi"),
    "explode": lambda table, _: table.withColumn("leader", F.explode("replicas")),
    "value": lambda table, _: table.withColumn("size_bytes", F.col("size_bytes") * 2),
    "null": lambda table, _: table.withColumn("leader", F.lit(None).cast("int")),
    "cast": lambda table, _: table.withColumn("leader", F.col("leader").cast("long")),
    "text": lambda table, _: table.withColumn("taken_at", F.expr("string(taken_at)")),
    "half a key": lambda table, _: table.withColumn("cluster_id", F.lit("c")),
    "no files": lambda table, _: table.sparkSession.createDataFrame([], table.schema),
    "partition column": partitioned,
    "other format": in_orc,
    "path": at_an_odd_path,
    "default": with_a_default,
    "second version": of_the_second_version,
    "field ids": with_field_ids,
    "option": with_an_option,
}
"""Tables that are more than their files."""


@pytest.mark.parametrize("name", MORE)
def test_tables_that_are_more_than_their_files_are_left_to_spark(spark, folder, name):
    whole = as_they_are(spark, folder)
    table = MORE[name](whole, folder)

    assert plain_scan(whole.select(*COLUMNS)) is not None
    assert plain_scan(table) is None


def test_cached_tables_are_left_to_spark(spark, folder):
    table = as_they_are(spark, folder).select(*COLUMNS).persist()
    try:
        assert plain_scan(table) is None
    finally:
        table.unpersist()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("spark.sql.parquet.int96TimestampConversion", "true"),
        ("spark.sql.files.ignoreCorruptFiles", "true"),
        ("spark.sql.files.maxPartitionBytes", "10g"),
        ("parquet.crypto.factory.class", "org.example.Keys"),
    ],
)
def test_settings_that_change_how_files_are_read(spark, folder, name, value):
    before, table = spark.conf.get(name, None), as_they_are(spark, folder)
    spark.conf.set(name, value)
    try:
        assert plain_scan(table) is None
    finally:
        spark.conf.unset(name) if before is None else spark.conf.set(name, before)


def test_a_table_without_a_plan_is_left_to_spark():
    assert plain_scan(SimpleNamespace()) is None


def test_a_file_that_is_no_parquet_is_named(spark, fleet, folder):
    bad = folder.with_name("bad")
    as_they_are(spark, folder).write.mode("overwrite").parquet(str(bad))
    table = as_they_are(spark, bad)
    victim = min(bad.glob("*.parquet"))
    victim.write_bytes(b"no parquet" * 10)

    with pytest.raises(Exception, match=rf"cannot read file:\S*{victim.name}"):
        scored(replace(fleet, partitions=table))


def test_files_that_lack_a_column_have_nulls_in_it(
    spark, fleet, folder, decoded, monkeypatch
):
    whole, place = as_they_are(spark, folder), f"{folder}-lacking"
    whole.write.mode("overwrite").parquet(place)
    whole.drop("taken_at").write.mode("append").parquet(place)
    table = replace(fleet, partitions=spark.read.schema(whole.schema).parquet(place))

    scores, problems = scored(table)
    assert decoded
    monkeypatch.setattr(f"{MODULE}.plain_scan", lambda _: None)
    by_spark, same_problems = scored(table)

    assert problems
    assert sorted(map(str, problems)) == sorted(map(str, same_problems))
    assert differences(by_spark, scores) == []


def test_columns_that_differ_in_case_alone_are_refused_as_by_spark(
    spark, fleet, folder
):
    table = parquet.read_table(folder)
    twice = table.append_column("TOPIC", table.column("topic"))
    path = folder.with_name("twice.parquet")
    parquet.write_table(twice, path)
    kinds = as_they_are(spark, folder).schema
    opened = spark.read.schema(kinds).parquet(str(path))

    with pytest.raises(Exception, match="columns topic, TOPIC are alike"):
        scored(replace(fleet, partitions=opened))
