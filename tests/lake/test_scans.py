"""Files of Delta and Iceberg tables are decoded only if they are exactly the rows."""

from dataclasses import replace

import pytest

from support.lake.tables import rows_of
from support.scores import by_place, differences, in_memory
from support.spark import skewed_snapshot, snapshot

pytestmark = [
    pytest.mark.lake,
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]
DELETION = {
    "delta": "'delta.enableDeletionVectors' = 'true'",
    "iceberg": "'write.delete.mode' = 'merge-on-read'",
}
MAPPING = {
    "delta": "'delta.columnMapping.mode' = 'name'",
    "iceberg": "'schema.name-mapping.default' = '[]'",
}
MODULE = "planner.spark.scoring.map_side.file_contents"


def without_last(whole):
    """A snapshot without the partition that `DELETED` deletes."""
    is_kept = [row["topic"] != "t39" for row in whole.partitions.to_pylist()]
    return replace(whole, partitions=whole.partitions.filter(is_kept))


def changed(lake, name, properties, statement):
    """Set properties of a table and run a statement on it."""
    if properties:
        lake.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ({properties})")
    if statement:
        lake.sql(statement.format(name))


@pytest.mark.parametrize(
    ("properties", "statement", "is_plain"),
    [
        pytest.param({}, "", True, id="plain"),
        pytest.param({}, "DELETE FROM {} WHERE topic = 't39'", True, id="rewritten"),
        pytest.param(
            DELETION, "DELETE FROM {} WHERE topic = 't39'", False, id="deleted-rows"
        ),
        pytest.param(MAPPING, "", False, id="column-mapping"),
    ],
)
def test_figures_are_those_of_the_rows(
    lake, shared_schema, request, properties, statement, is_plain
):
    from planner.spark.io.fleet_opening import fleet_of_snapshots
    from planner.spark.scans.parquet_scans import plain_scan
    from planner.spark.scoring.fleet_scores import score_fleet
    from planner.spark.scoring.map_side.partition_batches import columns_read

    snapshots = [skewed_snapshot(), snapshot("small")]
    fleet = fleet_of_snapshots(lake, snapshots)
    kind = "iceberg" if shared_schema.startswith("ice") else "delta"
    case = request.node.callspec.id.replace("-", "_")
    name = f"{shared_schema}.{case}"
    known = [name for name, kind in fleet.partitions.dtypes if kind != "void"]
    columns = fleet.partitions.select(known)
    listed = ", ".join(f"{column} {of}" for column, of in columns.dtypes)
    lake.sql(f"CREATE TABLE {name} ({listed}) USING {kind}")
    columns.writeTo(name).append()
    changed(lake, name, properties.get(kind), statement)
    if statement:
        snapshots = [without_last(snapshots[0]), snapshots[1]]
    table = replace(fleet, partitions=lake.table(name))
    scan = plain_scan(columns_read(table.canonical()))

    found = score_fleet(table)
    scores = by_place(found.scores.toArrow())
    found.release()

    assert (scan is not None) == is_plain
    assert rows_of(lake, name)
    assert differences(in_memory(snapshots), scores) == []


def test_delta_tables_by_day_are_decoded(lake):
    from pyspark.sql import functions as F  # noqa: N812

    from planner.spark.io.fleet_opening import fleet_of_snapshots
    from planner.spark.scans.parquet_scans import plain_scan
    from planner.spark.scans.small_tables import small_table
    from planner.spark.scoring.broadcast.broadcast_columns import GROUND_COLUMNS
    from planner.spark.scoring.map_side.partition_batches import columns_read

    snapshots = [skewed_snapshot(), snapshot("small")]
    fleet = fleet_of_snapshots(lake, snapshots)
    lake.sql("CREATE SCHEMA IF NOT EXISTS by_day")
    tables = {}
    for name, table in fleet.tables().items():
        known = [column for column, kind in table.dtypes if kind != "void"]
        daily = table.select(*known, F.to_date("taken_at").alias("date"))
        writer = daily.write.format("delta").partitionBy("date").mode("overwrite")
        writer.saveAsTable(f"by_day.{name}")
        tables[name] = lake.table(f"by_day.{name}")
    opened = replace(fleet, **tables).canonical()

    assert plain_scan(columns_read(opened)) is not None
    for name, columns in GROUND_COLUMNS.items():
        assert small_table(opened.tables()[name], dict.fromkeys(columns)) is not None
    assert differences(in_memory(snapshots), scored(opened)) == []


def test_small_iceberg_tables_are_read_by_the_driver(lake):
    from planner.spark.io.fleet_opening import fleet_of_snapshots
    from planner.spark.scans.small_tables import small_table
    from planner.spark.scoring.broadcast.broadcast_columns import GROUND_COLUMNS

    snapshots = [skewed_snapshot(), snapshot("small")]
    fleet = fleet_of_snapshots(lake, snapshots)
    lake.sql("CREATE SCHEMA IF NOT EXISTS ice.small")
    tables = {}
    for name, table in fleet.tables().items():
        known = [column for column, kind in table.dtypes if kind != "void"]
        table.select(known).writeTo(f"ice.small.{name}").using("iceberg").create()
        tables[name] = lake.table(f"ice.small.{name}")
    opened = replace(fleet, **tables).canonical()

    for name, columns in GROUND_COLUMNS.items():
        assert small_table(opened.tables()[name], dict.fromkeys(columns)) is not None
    assert differences(in_memory(snapshots), scored(opened)) == []

    # The same name inside a column, and another field.
    lake.sql("ALTER TABLE ice.small.clusters DROP COLUMN rates.source")
    lake.sql("ALTER TABLE ice.small.clusters ADD COLUMN rates.source string")
    other = replace(opened, clusters=lake.table("ice.small.clusters")).canonical()
    wanted = dict.fromkeys(GROUND_COLUMNS["clusters"])
    assert small_table(other.clusters, wanted) is None
    assert differences(in_memory(snapshots), scored(other)) == []


def test_another_version_is_read_as_it_was(lake, schema):
    from planner.spark.scans.parquet_scans import plain_scan

    kind = "iceberg" if schema.startswith("ice") else "delta"
    name = f"{schema}.partitions"
    lake.sql(
        f"CREATE TABLE {name} (cluster_id string, taken_at timestamp, topic string) "
        f"USING {kind}"
    )
    for topic in ("old", "new"):
        lake.sql(f"INSERT INTO {name} VALUES ('c', timestamp '2026-11-21', '{topic}')")  # noqa: S608 - a table of these tests
    version = 1
    if kind == "iceberg":
        snapshots = lake.table(f"{name}.snapshots").orderBy("committed_at")
        version = snapshots.first()["snapshot_id"]

    older = plain_scan(lake.sql(f"SELECT * FROM {name} VERSION AS OF {version}"))  # noqa: S608 - likewise
    newer = plain_scan(lake.table(name))

    assert older is not None
    assert newer is not None
    assert len(older.paths) == 1
    assert {*older.paths} < {*newer.paths}


ICEBERG = {
    "renamed": ("ALTER TABLE {} RENAME COLUMN log_dirs TO dirs", True),
    "exchanged": (
        "ALTER TABLE {} RENAME COLUMN log_dirs TO dirs;"
        "ALTER TABLE {} ADD COLUMN log_dirs array<string>",
        True,
    ),
    "widened": ("ALTER TABLE {} ALTER COLUMN partition TYPE bigint", True),
    "by-cluster": ("ALTER TABLE {} ADD PARTITION FIELD cluster_id", False),
    "by-day": ("ALTER TABLE {} ADD PARTITION FIELD days(taken_at)", True),
}
"""Changes of an Iceberg table with rows, and whether its files are still decoded."""


@pytest.mark.parametrize("case", ICEBERG)
def test_changed_iceberg_tables_are_read_as_by_spark(lake, monkeypatch, case):
    from planner.spark.io.fleet_opening import fleet_of_snapshots
    from planner.spark.scans.parquet_scans import plain_scan
    from planner.spark.scoring.map_side.partition_batches import columns_read

    statements, is_plain = ICEBERG[case]
    fleet = fleet_of_snapshots(lake, [skewed_snapshot(), snapshot("small")])
    known = [name for name, kind in fleet.partitions.dtypes if kind != "void"]
    name = f"ice.changed.{case.replace('-', '_')}"
    lake.sql("CREATE SCHEMA IF NOT EXISTS ice.changed")
    fleet.partitions.select(known).writeTo(name).using("iceberg").create()
    for statement in statements.split(";"):
        lake.sql(statement.format(name))
    table = replace(fleet, partitions=lake.table(name))

    scan = plain_scan(columns_read(table.canonical()))
    scores = scored(table)
    monkeypatch.setattr(f"{MODULE}.plain_scan", lambda _: None)

    assert (scan is not None) == is_plain
    assert differences(scored(table), scores) == []


def scored(fleet):
    from planner.spark.scoring.fleet_scores import score_fleet

    found = score_fleet(fleet)
    try:
        return by_place(found.scores.toArrow())
    finally:
        found.release()


@pytest.mark.parametrize(
    ("condition", "is_plain"),
    [
        ("taken_at >= timestamp '2026-11-22 00:00:00'", True),
        ("taken_at >= timestamp '2026-11-22 08:00:00'", False),
        ("partition < 3", False),
    ],
)
def test_filters_of_iceberg_choose_files_or_are_left_to_spark(
    lake, condition, is_plain
):
    from planner.spark.scans.parquet_scans import plain_scan

    name = "ice.filtered.partitions"
    lake.sql("CREATE SCHEMA IF NOT EXISTS ice.filtered")
    lake.sql(
        f"CREATE OR REPLACE TABLE {name} (cluster_id string, taken_at timestamp, "
        "partition int) USING iceberg PARTITIONED BY (days(taken_at))"
    )
    for day in (21, 22):
        lake.sql(f"INSERT INTO {name} VALUES ('c', timestamp '2026-11-{day} 08:00', 1)")  # noqa: S608 - a table of these tests

    whole, some = (
        plain_scan(lake.table(name)),
        plain_scan(lake.table(name).where(condition)),
    )

    assert len(whole.paths) == 2
    assert (some is not None) == is_plain
    assert some is None or len(some.paths) == 1
