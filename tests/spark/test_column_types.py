"""Tables as platforms have them: types, nullability, order and case of columns."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from planner.fleet.append import append
from planner.fleet.fleet_store import Store
from planner.options.plan_request import PlanRequest
from planner.spark.common.problem_rows import ERROR
from planner.spark.io.fleet_opening import fleet_of_snapshots, open_fleet
from planner.spark.io.picked_columns import CASE_SENSITIVE, TWICE
from planner.spark.reports.fleet_plans import plan_fleet
from planner.spark.scoring.fleet_scores import score_fleet
from support.profile import crossed, sampled
from support.scores import by_place, differences, in_memory
from support.spark import skewed_snapshot, snapshot

pytestmark = [
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]
SNAPSHOTS = [skewed_snapshot(), snapshot("007")]


def scored(fleet):
    found = score_fleet(fleet)
    try:
        errors = found.problems.where(f"severity = '{ERROR}'")
        return by_place(found.scores.toArrow()), errors.collect()
    finally:
        found.release()


@pytest.fixture(params=["the driver", "Spark"])
def reader(request, monkeypatch):
    """Let the driver, or Spark, read small tables in memory."""
    if request.param == "Spark":
        name = "planner.spark.scans.small_tables.local_rows"
        monkeypatch.setattr(name, lambda *_: None)


def changed(fleet, table, **columns):
    """A fleet with other columns in one of its tables."""
    return replace(fleet, **{table: fleet.tables()[table].withColumns(columns)})


def recast(**types):
    return lambda fleet: changed(
        fleet, "partitions", **{n: F.col(n).cast(kind) for n, kind in types.items()}
    )


def never_null(fleet):
    """Values of which Spark knows that none is null, deep in lists too."""
    spark, partitions = fleet.partitions.sparkSession, fleet.partitions
    known = partitions.withColumn("remote_bytes", F.lit(5).cast("bigint"))
    fields = [
        T.StructField(f.name, T.ArrayType(T.IntegerType(), containsNull=False), False)
        if f.name == "replicas"
        else replace_nullable(f)
        for f in known.schema
    ]
    rows = known.collect()
    return replace(fleet, partitions=spark.createDataFrame(rows, T.StructType(fields)))


def replace_nullable(field):
    never = {"cluster_id", "taken_at", "topic", "partition"}
    return T.StructField(field.name, field.dataType, field.name not in never)


def shouted(fleet):
    tables = fleet.tables()
    loud = {n: t.toDF(*map(str.upper, t.columns)) for n, t in tables.items()}
    return replace(fleet, **loud)


def turned_round(fleet):
    """Columns, and fields of structs, in another order; others between them."""
    clusters = fleet.clusters.withColumn(
        "rates",
        F.when(
            F.col("rates").isNotNull(),
            F.struct(
                F.lit(1).alias("other"),
                F.col("rates.quantile"),
                F.col("rates.window_s"),
                F.col("rates.source"),
            ),
        ),
    )
    tables = {**fleet.tables(), "clusters": clusters}
    return replace(
        fleet,
        **{
            name: table.select(*reversed(table.columns), F.lit("x").alias("other"))
            for name, table in tables.items()
        },
    )


def pairs(fleet):
    as_pairs = F.map_entries("configs")
    wide = changed(fleet, "topics", configs=as_pairs)
    return changed(wide, "clusters", configs=as_pairs)


TAKEN = {
    "never-null": never_null,
    "narrow": recast(
        partition="smallint", replicas="array<smallint>", leader="tinyint"
    ),
    "wide": recast(partition="bigint", replicas="array<bigint>", isr="array<bigint>"),
    "decimals": recast(size_bytes="decimal(20,0)", replicas="array<decimal(12,2)>"),
    "floats": recast(partition="double", replicas="array<double>", size_bytes="float"),
    "texts": recast(size_bytes="string", in_bytes_per_s="string", leader="string"),
    "lists-of-texts": recast(replicas="array<string>", replica_bytes="array<string>"),
    "rates-of-decimals": recast(in_bytes_per_s="decimal(20,6)"),
    "upper-case": shouted,
    "other-order": turned_round,
    "configs-as-pairs": pairs,
    "keys-as-texts": lambda fleet: changed(
        fleet, "topics", taken_at=F.col("taken_at").cast("string")
    ),
}


@pytest.mark.parametrize("name", sampled([*TAKEN]))
@pytest.mark.usefixtures("reader")
def test_any_column_that_can_stand_for_a_snapshots_is_taken(spark, name):
    change = TAKEN[name]
    fleet = change(fleet_of_snapshots(spark, SNAPSHOTS))

    found, errors = scored(fleet)

    assert errors == []
    assert differences(in_memory(SNAPSHOTS), found) == []


def test_a_column_that_is_never_null_is_taken(spark):
    fleet = fleet_of_snapshots(spark, SNAPSHOTS[1:])
    filled = F.coalesce("size_bytes", F.lit(0).cast("bigint"))
    never = changed(fleet, "partitions", size_bytes=filled)
    never = changed(
        never, "brokers", state=F.lit("alive"), rack=F.coalesce("rack", F.lit("a"))
    )

    found, errors = scored(never)

    assert not never.partitions.schema["size_bytes"].nullable
    assert errors == []
    assert differences(in_memory(SNAPSHOTS[1:]), found) == []


REFUSED = {
    "boolean": ("partitions", "size_bytes", "true"),
    "moment": ("partitions", "leader", "current_timestamp()"),
    "interval": ("partitions", "in_bytes_per_s", "make_interval(1)"),
    "binary": ("brokers", "rack", "x'ff'"),
    "number-for-list": ("partitions", "replicas", "1"),
    "number-for-map": ("topics", "configs", "1"),
    "list-for-text": ("log_dirs", "path", "array('/d1')"),
    "void": ("partitions", "replicas", "null"),
}


@pytest.mark.parametrize("name", sampled([*REFUSED]))
@pytest.mark.usefixtures("reader")
def test_a_column_of_another_kind_is_a_problem(spark, name):
    table, column, value = REFUSED[name]
    fleet = fleet_of_snapshots(spark, [snapshot("c")])
    fleet = changed(fleet, table, **{column: F.expr(value)})

    found, errors = scored(fleet)

    assert found == {}
    assert {row["table"] for row in errors if column in row["place"]} == {table}


@pytest.mark.parametrize("table", ["partitions", "brokers", "log_dirs", "topics"])
@pytest.mark.usefixtures("reader")
def test_a_required_column_that_is_missing_is_a_problem(spark, table):
    column = {"partitions": "replicas", "brokers": "id", "log_dirs": "path"}
    name = column.get(table, "topic")
    fleet = fleet_of_snapshots(spark, [snapshot("c")])
    without = replace(fleet, **{table: fleet.tables()[table].drop(name)})

    found, errors = scored(without)

    assert found == {}
    missing = [row for row in errors if "column is missing" in row["rule"]]
    assert {(row["table"], row["place"]) for row in missing} == {
        (table, f"column {name}")
    }


def test_case_tells_columns_apart_where_the_session_says_so(spark):
    fleet = fleet_of_snapshots(spark, [snapshot("c")])
    spark.conf.set(CASE_SENSITIVE, "true")
    try:
        loud = shouted(fleet)
        keyed = {n: t.withColumnsRenamed(KEYS) for n, t in loud.tables().items()}
        found, errors = scored(replace(loud, **keyed))
    finally:
        spark.conf.unset(CASE_SENSITIVE)

    assert found == {}
    assert "column replicas" in {row["place"] for row in errors}


KEYS = {"CLUSTER_ID": "cluster_id", "TAKEN_AT": "taken_at"}


def test_columns_that_the_session_takes_for_one_are_a_problem(spark):
    spark.conf.set(CASE_SENSITIVE, "true")
    try:
        fleet = fleet_of_snapshots(spark, [snapshot("c")])
        loud = fleet.brokers.withColumnRenamed("rack", "RACK")
        twice = replace(fleet, brokers=loud.withColumn("Rack", F.lit("a")))
    finally:
        spark.conf.unset(CASE_SENSITIVE)

    found, errors = scored(twice)

    assert found == {}
    assert {(row["table"], row["value"], row["rule"]) for row in errors} == {
        ("brokers", "RACK, Rack", TWICE)
    }


WRONG = {
    "size": ("partitions", "size_bytes", "5GB"),
    "rate": ("partitions", "in_bytes_per_s", "NaN"),
    "id": ("brokers", "id", "one"),
    "beyond": ("partitions", "leader", str(2**40)),
    "half": ("partitions", "partition", "0.5"),
}


@pytest.mark.parametrize(("name", "ansi"), crossed(WRONG, ["true", "false"]))
def test_a_wrong_value_never_ends_the_job(spark, name, ansi):
    table, column, text = WRONG[name]
    fleet = fleet_of_snapshots(spark, [*SNAPSHOTS, snapshot("bad")])
    is_bad = F.col("cluster_id") == "bad"
    value = F.when(is_bad, F.lit(text)).otherwise(F.col(column).cast("string"))
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        found, errors = scored(changed(fleet, table, **{column: value}))
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")

    assert {row["cluster_id"] for row in errors} == {"bad"}
    assert (table, text) in {(row["table"], row["value"]) for row in errors}
    assert differences(in_memory(SNAPSHOTS), found) == []


def test_a_time_that_is_none_is_a_problem(spark):
    fleet = fleet_of_snapshots(spark, [snapshot("c")])
    text = F.when(F.col("topic") == "orders", F.lit("yesterday")).otherwise("")
    partitions = fleet.partitions.withColumn("taken_at", text)

    _, errors = scored(replace(fleet, partitions=partitions))

    lost = [row for row in errors if row["place"] == "taken_at"]
    assert [(row["cluster_id"], row["taken_at"]) for row in lost] == [("c", None)]


def test_plans_name_a_wrong_value_and_go_on(spark):
    fleet = fleet_of_snapshots(spark, [snapshot("good"), snapshot("bad")])
    is_bad = F.col("cluster_id") == "bad"
    text = F.when(is_bad, F.lit("5GB")).otherwise(F.col("size_bytes").cast("string"))
    request = PlanRequest(goal="rebalance", effort="quick")

    rows = plan_fleet(
        spark, changed(fleet, "partitions", size_bytes=text), {"r": request}
    ).collect()

    found = {row["cluster_id"]: row for row in rows}
    assert found["bad"]["status"] == "refused"
    assert "5GB" in found["bad"]["reason"]
    assert found["good"]["status"] not in {"refused", "failed"}


def strings_as(kind):
    def change(array):
        return array.cast(kind) if array.type == pa.string() else array

    return change


def as_dictionary(array):
    return array.dictionary_encode() if array.type == pa.string() else array


def as_large_lists(array):
    if pa.types.is_list(array.type):
        return array.cast(pa.large_list(array.type.value_type))
    return array


SPELT = {
    "large-texts": strings_as(pa.large_string()),
    "views": strings_as(pa.string_view()),
    "dictionaries": as_dictionary,
    "large-lists": as_large_lists,
}


@pytest.mark.parametrize("name", sampled([*SPELT]))
def test_files_of_other_writers_are_taken(spark, tmp_path, name):
    spell = SPELT[name]
    store = Store(str(tmp_path))
    append(SNAPSHOTS[0], store)
    (commit,) = store.commits()
    for files in commit.files.values():
        for path in (Path(tmp_path, file) for file in files):
            table = pq.read_table(path)
            columns = [spell(column.combine_chunks()) for column in table.columns]
            pq.write_table(pa.table(columns, table.column_names), path)

    found, errors = scored(open_fleet(spark, str(tmp_path)))

    assert errors == []
    assert differences(in_memory(SNAPSHOTS[:1]), found) == []
