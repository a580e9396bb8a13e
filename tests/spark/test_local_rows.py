"""Rows of tables in memory: the driver takes them from the plan without a job."""

import decimal
from dataclasses import replace
from datetime import UTC, date, datetime

import pyarrow as pa
import pytest
from pyspark.sql import functions as F  # noqa: N812

from planner.spark.io.fleet_opening import fleet_of_snapshots
from planner.spark.scans import local_rows as module
from planner.spark.scans import small_tables
from planner.spark.scans.local_rows import local_rows
from planner.spark.scans.plan_columns import plan_of
from planner.spark.scans.small_tables import small_table
from planner.spark.scoring.broadcast.broadcast_tables import grounds_of
from planner.spark.scoring.fleet_scores import score_fleet
from support.scores import by_place, differences, in_memory
from support.spark import few_snapshots, jobs_of

pytestmark = [
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]
MOST_ROWS = 1_000
TYPES = {
    "bool": (pa.bool_(), [True, False]),
    "byte": (pa.int8(), [-128, 127]),
    "short": (pa.int16(), [-(2**15), 2**15 - 1]),
    "int": (pa.int32(), [-(2**31), 2**31 - 1]),
    "long": (pa.int64(), [-(2**63), 2**63 - 1]),
    "float": (pa.float32(), [float("nan"), -0.0]),
    "double": (pa.float64(), [float("nan"), float("-inf")]),
    "decimal": (
        pa.decimal128(38, 10),
        [decimal.Decimal("-0.0000000001"), decimal.Decimal("1e27")],
    ),
    "text": (pa.string(), ["", "é\0\n\\n,'\"]\N{SNOWMAN}"]),
    "binary": (pa.binary(), [b"", b"\x00\xff"]),
    "date": (pa.date32(), [date(1, 1, 1), date(9999, 12, 31)]),
    "timestamp": (
        pa.timestamp("us", tz="UTC"),
        [
            datetime(1582, 10, 15, tzinfo=UTC),
            datetime(2026, 10, 25, 0, 59, 59, 999999, tzinfo=UTC),
        ],
    ),
    "local time": (
        pa.timestamp("us"),
        [datetime(1900, 1, 1), datetime(2026, 10, 25, 2, 30)],
    ),
    "duration": (pa.duration("us"), [-1, 2**50]),
    "list": (pa.list_(pa.string()), [[], ["a", None]]),
    "lists": (pa.list_(pa.list_(pa.int32())), [[None, []], [[1, None]]]),
    "struct": (
        pa.struct([("a", pa.int32()), ("b", pa.list_(pa.float64()))]),
        [{"a": None, "b": None}, {"a": 1, "b": [float("nan")]}],
    ),
    "map": (pa.map_(pa.string(), pa.string()), [[], [("a", None), ("b", "c")]]),
    "maps": (
        pa.list_(pa.struct([("m", pa.map_(pa.int32(), pa.date32()))])),
        [[{"m": [(1, None)]}], [None]],
    ),
}
"""Types, and two values of each; each column has a null besides."""


def of_types(spark):
    columns = {
        name: pa.array([values[0], None, values[1]], kind)
        for name, (kind, values) in TYPES.items()
    }
    return spark.createDataFrame(pa.table(columns))


def taken(table, most_rows=MOST_ROWS):
    return local_rows(table, plan_of(table), most_rows)


def shown(table):
    """The rows as text, since NaN equals nothing."""
    return table.schema.names, table.schema.types, repr(table.to_pylist())


@pytest.mark.parametrize("name", TYPES)
def test_values_are_those_of_spark(spark, name):
    table = of_types(spark).select(name)
    with jobs_of(spark, f"local-{name}") as jobs:
        found = taken(table)
        assert not jobs()

    assert shown(found) == shown(table.toArrow())
    assert found.column(name).null_count == 1
    assert len(found) == 3


SELECTED = {
    "whole": lambda table: table,
    "some columns": lambda table: table.select("text", "int"),
    "other names": lambda table: table.toDF(*(f"c {n}.`" for n in range(len(TYPES)))),
    "constants": lambda table: table.select(F.lit(1.5).alias("a"), F.lit(None), "map"),
    "values": lambda table: table.select(F.col("int").cast("string"), F.upper("text")),
    "fields": lambda table: table.select("struct.b", F.col("map")["b"]),
    "filter": lambda table: table.where("int > 0"),
    "nothing": lambda table: table.where("false"),
    "other case": lambda table: table.select("TEXT", "Int"),
    "same name": lambda table: table.select("int", "int"),
}
"""Tables whose rows Spark has in memory, too."""


@pytest.mark.parametrize("name", SELECTED)
def test_selected_rows_are_those_of_spark(spark, name):
    table = SELECTED[name](of_types(spark))
    with jobs_of(spark, f"selected-{name}") as jobs:
        found = taken(table)
        assert not jobs()

    assert shown(found) == shown(table.toArrow())


def test_timestamps_do_not_depend_on_the_time_zone_of_the_session(spark):
    name = "spark.sql.session.timeZone"
    before = spark.conf.get(name)
    spark.conf.set(name, "America/Los_Angeles")
    try:
        table = of_types(spark).select("timestamp", "local time")
        assert shown(taken(table)) == shown(table.toArrow())
    finally:
        spark.conf.set(name, before)


def same(batches):
    yield from batches


def in_files(table, folder):
    table.select("int").write.parquet(str(folder / "files"))
    return table.sparkSession.read.parquet(str(folder / "files"))


OTHERS = {
    "rows of Python": lambda table, _: table.sparkSession.createDataFrame([(1,)]),
    "range": lambda table, _: table.sparkSession.range(3),
    "union": lambda table, _: table.union(table),
    "join": lambda table, _: table.select("int").join(table.select("text")),
    "order": lambda table, _: table.select("int").orderBy("int"),
    "sum": lambda table, _: table.groupBy().sum("int"),
    "random": lambda table, _: table.select("int").sample(0.5, seed=1),
    "python": lambda table, _: table.select("int").mapInArrow(same, "int int"),
    "files": in_files,
}
"""Tables that Spark computes in a job."""


@pytest.mark.parametrize("name", OTHERS)
def test_tables_that_are_computed_are_left_to_spark(spark, tmp_path, name):
    assert taken(OTHERS[name](of_types(spark), tmp_path)) is None


def test_tables_that_are_persisted_are_left_to_spark(spark):
    table = of_types(spark).select("int").persist()
    try:
        assert taken(table) is None
    finally:
        table.unpersist()


def allocated(spark):
    """Bytes that Arrow has allocated in the driver's JVM."""
    utils = getattr(spark._jvm, "org.apache.spark.sql.util.ArrowUtils")
    return utils.rootAllocator().getAllocatedMemory()


@pytest.mark.parametrize("most_bytes", [1 << 20, 1])
def test_tables_with_many_bytes_are_left_to_spark(spark, monkeypatch, most_bytes):
    table = of_types(spark)
    before = allocated(spark)
    monkeypatch.setattr(module, "MOST_BYTES", most_bytes)

    found = taken(table)

    assert (found is None) == (most_bytes == 1)
    assert allocated(spark) == before


def test_tables_with_many_rows_are_left_to_spark(spark):
    assert len(taken(of_types(spark), 3)) == 3
    assert taken(of_types(spark), 2) is None


@pytest.fixture(scope="module")
def snapshots():
    return few_snapshots()


@pytest.fixture(scope="module")
def fleet(spark, snapshots):
    """The snapshots as tables in memory."""
    return fleet_of_snapshots(spark, snapshots)


def figures(fleet):
    found = score_fleet(fleet)
    try:
        return by_place(found.scores.toArrow()), found.problems.collect()
    finally:
        found.release()


def without_local_rows(monkeypatch):
    monkeypatch.setattr(small_tables, "local_rows", lambda *_: None)


def broken(*_):
    msg = "another Spark"
    raise TypeError(msg)


def test_tables_in_memory_are_collected_without_a_job(spark, fleet, monkeypatch):
    with jobs_of(spark, "in memory") as jobs:
        found = grounds_of(fleet)
        assert not jobs()
    assert found.topics is not None

    without_local_rows(monkeypatch)
    with jobs_of(spark, "by Spark") as jobs:
        expected = grounds_of(fleet)
        assert len(jobs()) == 1

    assert found.rows == expected.rows
    for name, keys in found.rows.items():
        for key in keys:
            of_key = found.part(name, key), expected.part(name, key)
            ours, theirs = (sorted(map(str, part.to_pylist())) for part in of_key)
            assert ours == theirs
    assert found.problems == expected.problems
    order = [(name, "ascending") for name in ("cluster_id", "taken_at", "topic")]
    ours, theirs = (each.settings.sort_by(order) for each in (found, expected))
    assert ours.select(theirs.column_names).to_pylist() == theirs.to_pylist()


@pytest.mark.parametrize("taken_by", ["the driver", "Spark", "Spark after an error"])
def test_scores_do_not_depend_on_who_takes_the_rows(
    fleet, snapshots, monkeypatch, taken_by
):
    if taken_by == "Spark":
        without_local_rows(monkeypatch)
    elif taken_by == "Spark after an error":
        monkeypatch.setattr(small_tables, "local_rows", broken)

    found, problems = figures(fleet)

    assert {row["severity"] for row in problems} <= {"warning"}
    assert differences(in_memory(snapshots), found) == []


WRONG_CONFIGS = "map('min.insync.replicas', 'x')"


def with_wrong_cells(fleet):
    """Brokers, log dirs and topics with cells that cannot be cast."""
    changes = {
        "brokers": {"id": "IF(id = 2, 'two', string(id))"},
        "log_dirs": {"size_bytes": "IF(path LIKE '%1', -1, size_bytes)"},
        "topics": {
            "configs": "IF(topic = 't1', map('min.insync.replicas', 'x'), configs)"
        },
    }
    for table, columns in changes.items():
        given = {name: F.expr(value) for name, value in columns.items()}
        fleet = replace(fleet, **{table: fleet.tables()[table].withColumns(given)})
    return fleet


def test_problems_do_not_depend_on_who_takes_the_rows(fleet, monkeypatch):
    wrong = with_wrong_cells(fleet)
    columns = {"id": None, "rack": None}
    assert small_table(wrong.canonical().brokers, columns) is not None
    scores, problems = figures(wrong)

    without_local_rows(monkeypatch)
    by_spark, same_problems = figures(wrong)

    assert problems
    assert sorted(map(str, problems)) == sorted(map(str, same_problems))
    assert differences(by_spark, scores) == []
