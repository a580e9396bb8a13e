"""Columns of plans are read from texts only if a text fits one column."""

from types import SimpleNamespace

import pytest
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from planner.spark.scans import parquet_scans
from planner.spark.scans.parquet_scans import plain_scan
from planner.spark.scans.plan_columns import PlanColumn, columns_of, plan_of

pytestmark = [
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]
KEY = ("cluster_id", "taken_at")
NAMES = [
    "a",
    "A, b",
    "x#1 AS y",
    "c#12",
    "c#12L",
    "[a]",
    "(a) AS b",
    " ",
    "é\n\\",
    "#1",
]


def column(name, text, kind="string"):
    return PlanColumn(name, kind, text)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("suffix", ["#7", "#7L"])
def test_texts_of_columns(name, suffix):
    plain = column(name, f"{name}{suffix}")
    alias = column(name, f"other#1 AS {name}{suffix}")

    assert (plain.is_attribute, plain.attribute) == (True, (name, 7))
    assert (alias.is_attribute, alias.attribute) == (False, ("other", 1))


@pytest.mark.parametrize(
    "text", ["b#7", "a#7 + 1", "a#x", "a#7-T1000ms", "a", "", "A#7"]
)
def test_other_texts(text):
    other = column("a", text)

    assert (other.is_attribute, other.attribute) == (False, None)


def plan(names, text):
    fields = [T.StructField(name, T.IntegerType()) for name in names]
    schema = SimpleNamespace(json=T.StructType(fields).json)
    expressions = SimpleNamespace(mkString=lambda _: text)
    return SimpleNamespace(schema=lambda: schema), expressions


def test_columns_have_their_types():
    found = columns_of(*plan(["a", "b"], "a#1\0b#2"))

    assert found == [column("a", "a#1", "int"), column("b", "b#2", "int")]


@pytest.mark.parametrize("text", ["a#1", "", "a#1\0b#2\0c#3"])
def test_other_numbers_of_texts_are_an_error(text):
    with pytest.raises(ValueError, match="zip"):
        columns_of(*plan(["a", "b"], text))


@pytest.fixture(scope="module")
def folder(spark, tmp_path_factory):
    """A table with columns of odd names, beside the key."""
    place = tmp_path_factory.mktemp("odd") / "table"
    time = F.lit("2026-11-21T08:00:00Z").cast("timestamp").alias("taken_at")
    odd = [F.lit(str(n)).alias(name) for n, name in enumerate(NAMES)]
    table = spark.range(1).select(F.lit("c").alias("cluster_id"), time, *odd)
    table.write.parquet(str(place))
    return place


def test_columns_of_any_name_are_found(spark, folder):
    table = spark.read.parquet(str(folder))
    renamed = table.toDF(*KEY, *(f"n{n}" for n in range(len(NAMES))))

    assert plain_scan(table).columns == {name: name for name in table.columns}
    found = plain_scan(renamed)
    assert found.columns == dict(zip(renamed.columns, table.columns, strict=True))
    assert found.texts == {*renamed.columns} - {"taken_at"}


def test_columns_may_have_the_names_of_others(spark, folder):
    table = spark.read.parquet(str(folder)).select(*KEY, "a", "`#1`")
    turned = table.toDF(*KEY, "#1", "a")

    assert plain_scan(turned).columns["a"] == "#1"
    assert plain_scan(turned).columns["#1"] == "a"


def test_columns_may_be_selected_in_another_case(spark, folder):
    table = spark.read.parquet(str(folder)).select(*map(str.upper, KEY), "A")

    found = plain_scan(table.withColumnsRenamed({name.upper(): name for name in KEY}))

    assert found.columns == {**{name: name for name in KEY}, "A": "a"}


@pytest.mark.parametrize("value", ["-flag", "NOT flag", "~flag", "flag + 1", "b.flag"])
def test_values_that_end_with_a_column_are_none(spark, tmp_path, value):
    time = F.lit("2026-11-21T08:00:00Z").cast("timestamp").alias("taken_at")
    flag = F.lit(value == "NOT flag") if "NOT" in value else F.lit(1)
    other = F.struct(F.lit(1).alias("flag")).alias("b")
    rows = spark.range(1).select(F.lit("c").alias("cluster_id"), time, other)
    rows.withColumn("flag", flag).write.parquet(str(tmp_path / "table"))
    table = spark.read.parquet(str(tmp_path / "table"))

    assert plain_scan(table.selectExpr(*KEY, "flag AS found")) is not None
    assert plain_scan(table.selectExpr(*KEY, f"{value} AS found")) is None


def test_a_constant_that_looks_like_a_column_is_none(spark, folder, monkeypatch):
    table = spark.read.parquet(str(folder)).select(*KEY, "a")
    read = plan_of(table)
    (text,) = (
        each.text for each in columns_of(read, read.output()) if each.name == "a"
    )
    assert plain_scan(table.withColumn("b", F.col("a"))) is not None

    alike = table.withColumn("b", F.lit(text))
    assert plain_scan(alike) is None
    monkeypatch.setattr(parquet_scans, "_is_column", lambda *_: True)
    assert plain_scan(alike) is not None
