"""Files of Delta tables are decoded by tasks only if they are exactly its rows."""

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
DELETED = "DELETE FROM {} WHERE topic = 't39'"
DELETION = "'delta.enableDeletionVectors' = 'true'"
MAPPING = "'delta.columnMapping.mode' = 'name'"


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
    ("shared_schema", "properties", "statement", "is_plain"),
    [
        pytest.param("delta", "", "", True, id="delta-plain"),
        pytest.param("delta", "", DELETED, True, id="delta-rewritten"),
        pytest.param("delta", DELETION, DELETED, False, id="delta-deletion-vectors"),
        pytest.param("delta", MAPPING, "", False, id="delta-column-mapping"),
        pytest.param("iceberg", "", "", False, id="iceberg-plain"),
        pytest.param("iceberg", "", DELETED, False, id="iceberg-rewritten"),
    ],
    indirect=["shared_schema"],
)
def test_figures_are_those_of_the_rows(
    lake, shared_schema, request, properties, statement, is_plain
):
    from planner.spark.io.fleet_opening import fleet_of_snapshots
    from planner.spark.io.parquet_scans import plain_scan
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
    changed(lake, name, properties, statement)
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


def test_another_version_is_read_as_it_was(lake, schema):
    from planner.spark.io.parquet_scans import plain_scan

    kind = "iceberg" if schema.startswith("ice") else "delta"
    name = f"{schema}.partitions"
    lake.sql(
        f"CREATE TABLE {name} (cluster_id string, taken_at timestamp, topic string) "
        f"USING {kind}"
    )
    for topic in ("old", "new"):
        lake.sql(f"INSERT INTO {name} VALUES ('c', timestamp '2026-11-21', '{topic}')")  # noqa: S608 - a table of these tests
    if kind == "iceberg":
        assert plain_scan(lake.table(name)) is None
        return

    older = plain_scan(lake.sql(f"SELECT * FROM {name} VERSION AS OF 1"))  # noqa: S608 - likewise
    newer = plain_scan(lake.table(name))

    assert older is not None
    assert newer is not None
    assert len(older.paths) == 1
    assert {*older.paths} < {*newer.paths}
