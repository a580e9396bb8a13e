"""The score on Spark is the score in memory, on every column."""

import re
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import Phase, given, settings
from pyspark.sql import functions as F  # noqa: N812

import planner.spark
from planner.demo import SNAPSHOT_FILE
from planner.fleet.append import append, compact
from planner.fleet.fleet_store import Store
from planner.snapshot import Snapshot, read_snapshot, write_snapshot
from planner.spark.common.problem_rows import ERROR
from planner.spark.io.fleet_layout import micros_of
from planner.spark.io.fleet_opening import (
    fleet_of_snapshots,
    open_fleet,
    snapshot_folder,
)
from planner.spark.scoring.broadcast.broadcast_tables import grounds_of
from planner.spark.scoring.fleet_scores import score_fleet, scores
from planner.spark.scoring.map_side.map_partitions import partial_sums
from planner.spark.scoring.shuffle.shuffle_rows import (
    BUCKET_BROKERS,
    Unpacked,
    buckets_of,
)
from support.scores import by_place, differences, in_memory
from support.snapshots import documents, small_document
from support.spark import skewed_snapshot, snapshot, tamed

pytestmark = [
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]


def scored(fleet):
    found = score_fleet(fleet)
    try:
        errors = found.problems.where(f"severity = '{ERROR}'")
        return by_place(found.scores.toArrow()), errors.collect()
    finally:
        found.release()


def drawn(count):
    """Draw documents first, so that Spark is started on all of them at once."""
    found = []

    @settings(max_examples=count, phases=[Phase.generate])
    @given(documents().map(tamed))
    def collect(document):
        found.append(document)

    collect()
    return found


def test_random_fleets_are_scored_as_in_memory(spark):
    # Names are numbers with zeros before them, as 007: text all the way.
    fleet = [
        Snapshot.from_document(
            document
            | {
                "cluster_id": f"{n:03}",
                "taken_at": f"2026-11-{n % 28 + 1:02}T00:00:00Z",
            }
        )
        for n, document in enumerate(drawn(40))
    ]

    found, problems = scored(fleet_of_snapshots(spark, fleet))

    assert problems == []
    assert differences(in_memory(fleet), found) == []


def test_skewed_keys_and_empty_partitions(spark):
    snapshots = [skewed_snapshot(), snapshot("tiny")]
    fleet = fleet_of_snapshots(spark, snapshots)
    spread = {name: table.repartition(7) for name, table in fleet.tables().items()}

    found, problems = scored(replace(fleet, **spread))

    assert problems == []
    assert differences(in_memory(snapshots), found) == []


def test_late_and_repeated_snapshots_of_one_cluster(spark):
    times = ["2026-11-21T08:00:00Z", "2026-11-20T08:00:00Z", "2026-11-21T08:00:00.5Z"]
    snapshots = [snapshot("c", time) for time in times]

    found, problems = scored(fleet_of_snapshots(spark, snapshots))

    assert problems == []
    assert differences(in_memory(snapshots), found) == []


def broken(fleet, table, **changed):
    """A fleet whose cluster `bad` has the first row of a table twice, or changed."""
    rows = fleet.tables()[table]
    first = rows.where("cluster_id = 'bad'").limit(1)
    for name, value in changed.items():
        first = first.withColumn(name, value)
    return replace(fleet, **{table: rows.unionByName(first)})


def numbers(*ids):
    return F.array(*map(F.lit, ids)).cast("array<int>")


def test_rows_that_fit_nowhere_are_named_and_their_snapshot_refused(spark):
    fleet = fleet_of_snapshots(spark, [snapshot("good"), snapshot("bad")])
    cases = {
        "partitions orders-": broken(fleet, "partitions"),
        "brokers ": broken(fleet, "brokers"),
        "clusters": broken(fleet, "clusters"),
        "partitions replicas: broker 77": broken(
            fleet, "partitions", replicas=numbers(1, 77), partition=F.lit(2)
        ),
        "partitions orders": broken(
            fleet, "partitions", replicas=numbers(1, 1), partition=F.lit(2)
        ),
    }
    good = in_memory([snapshot("good")])
    for said, tables in cases.items():
        found, problems = scored(tables)

        assert {row["cluster_id"] for row in problems} == {"bad"}, said
        places = [f"{row['table']} {row['place']}" for row in problems]
        assert [place for place in places if place.startswith(said)], places
        assert all(row["rule"] for row in problems)
        assert differences(good, found) == []


def test_what_is_too_much_to_add_up_is_refused(spark):
    document = small_document(cluster_id="bad", taken_at="2026-11-21T08:00:00Z")
    for partition in document["topics"][0]["partitions"]:
        partition["in_bytes_per_s"] = 1e18
    huge = Snapshot.from_document(document)

    found, problems = scored(fleet_of_snapshots(spark, [huge, snapshot("good")]))

    assert ("bad", "in") in {(row["cluster_id"], row["place"]) for row in problems}
    assert {row["cluster_id"] for row in problems} == {"bad"}
    assert differences(in_memory([snapshot("good")]), found) == []


def test_gaps_in_the_numbers_are_no_error(spark):
    document = small_document(cluster_id="c", taken_at="2026-11-21T08:00:00Z")
    document["topics"][0]["partitions"][0]["partition"] = 8
    gappy = Snapshot.from_document(document)

    found, errors = scored(fleet_of_snapshots(spark, [gappy]))

    assert errors == []
    assert differences(in_memory([gappy]), found) == []


def test_a_folder_is_read_by_spark_alone(spark, tmp_path):
    bundled = read_snapshot(SNAPSHOT_FILE)
    folder = tmp_path / "snap"
    write_snapshot(bundled, folder)

    table = scores(spark, snapshot_folder(spark, folder, name="x")).toArrow()

    assert differences(in_memory([bundled]), by_place(table)) == []


def nobody_judges(key, parcels):
    raise AssertionError(key)


def test_no_row_of_a_replica_leaves_the_task_that_read_it(spark, monkeypatch):
    monkeypatch.setattr("planner.spark.scoring.map_side.row_sums.CHUNK_ROWS", 15)
    whole = skewed_snapshot()
    fleet = fleet_of_snapshots(spark, [whole])

    table = partial_sums(spark, fleet, grounds_of(fleet), nobody_judges).rows.toArrow()

    parcels = Unpacked(("skewed", 0), table)
    state = whole.to_state()
    # Tasks and chunks are few: a row each for a broker and its log dirs.
    assert len(parcels.table("place")) < len(state.replicas) / 4
    assert sum(parcels.table("place").column("replicas").to_pylist()) == len(
        state.replicas
    )
    topics = set(parcels.table("topic").column("topic").to_pylist())
    assert topics == set(whole.partitions.column("topic").to_pylist())
    assert len(parcels.table("topic")) < len(topics) + 10


def wide_snapshot():
    """The skewed one with brokers besides, so many that topics go in two buckets."""
    document = skewed_snapshot().to_document() | {"cluster_id": "wide"}
    document["brokers"] += [{"id": n} for n in range(100, 100 + 2 * BUCKET_BROKERS)]
    return Snapshot.from_document(document)


def test_topics_in_buckets_are_scored_once(spark):
    snapshots = [wide_snapshot(), snapshot("tiny")]
    fleet = fleet_of_snapshots(spark, snapshots)
    key = ("wide", micros_of(snapshots[0].taken_at))

    found, problems = scored(fleet)

    assert grounds_of(fleet.canonical()).buckets(key).count == 2
    assert problems == []
    assert differences(in_memory(snapshots), found) == []


@pytest.mark.parametrize("bucket", [0, 1])
def test_what_is_wrong_in_one_bucket_refuses_all_of_a_snapshot(spark, bucket):
    fleet = fleet_of_snapshots(spark, [wide_snapshot(), snapshot("tiny")])
    names = [f"t{n}" for n in range(40)]
    codes = buckets_of(pa.array(names), 2).tolist()
    topic = names[codes.index(bucket)]
    twice = fleet.partitions.where(f"cluster_id = 'wide' AND topic = '{topic}'")

    found, problems = scored(
        replace(fleet, partitions=fleet.partitions.unionByName(twice))
    )

    assert [row["place"] for row in problems] == [f"{topic}-0"]
    assert differences(in_memory([snapshot("tiny")]), found) == []


def test_some_levels_are_made_without_the_others(spark):
    snapshots = [wide_snapshot(), snapshot("tiny")]
    found = score_fleet(fleet_of_snapshots(spark, snapshots))

    broker = by_place(found.of_levels(["broker"]).toArrow())
    ends = by_place(found.of_levels(["cluster", "topic"]).toArrow())
    found.release()

    whole = in_memory(snapshots)
    for levels, rows in (({"broker"}, broker), ({"cluster", "topic"}, ends)):
        wanted = {place: row for place, row in whole.items() if row["level"] in levels}
        assert differences(wanted, rows) == []


def test_parts_of_spark_without_a_row(spark):
    snapshots = [skewed_snapshot(), snapshot("tiny")]
    fleet = fleet_of_snapshots(spark, snapshots)
    apart = {
        name: table.repartition(7, "cluster_id")
        for name, table in fleet.tables().items()
    }

    found, problems = scored(replace(fleet, **apart))

    sizes = apart["partitions"].rdd.mapPartitions(lambda rows: [sum(1 for _ in rows)])
    assert sorted(sizes.collect())[:5] == [0] * 5
    assert problems == []
    assert differences(in_memory(snapshots), found) == []


def test_a_folder_is_read_by_the_tasks_themselves(spark, tmp_path, monkeypatch):
    monkeypatch.setattr("planner.fleet.append.MAX_GROUP_ROWS", 17)
    monkeypatch.setattr("planner.spark.io.fleet_files.LARGE_BYTES", 0)
    store = Store(str(tmp_path))
    snapshots = [skewed_snapshot(), snapshot("tiny")]
    for each in snapshots:
        append(each, store)
    compact(store)
    # What was said anew since hides rows of the compacted file.
    changed = snapshot("tiny", kafka_version="4.3.1")
    changed = replace(changed, partitions=changed.partitions.slice(0, 1))
    append(changed, store)

    fleet = open_fleet(spark, str(tmp_path))
    found, problems = scored(fleet)

    assert problems == []
    assert differences(in_memory([skewed_snapshot(), changed]), found) == []
    groups = sorted(file.row_groups for file in fleet.files.tables["partitions"])
    assert groups == [(1,), (17, 17, 17, 17, 14)]
    # What was written anew is told once more: buckets need no more than about how many.
    known = grounds_of(fleet).partitions
    assert {key[0] for key in known} == {each.cluster_id for each in snapshots}
    assert sum(known.values()) == 83
    assert differences(found, scored(replace(fleet, files=None))[0]) == []


def test_no_part_of_spark_is_used_that_connect_lacks():
    folder = Path(planner.spark.__file__).parent
    # Plans are looked at where there are any: without one a table is no plain scan,
    # and the driver reads none of its files.
    asks_first = folder / "scans" / "plan_columns.py"
    asks_then = folder / "scans" / "driver_files.py"
    others = (path for path in folder.rglob("*.py") if path.parent != asks_then.parent)
    source = "\n".join(path.read_text() for path in others)
    of_scans = [path.read_text() for path in asks_then.parent.glob("*.py")]

    assert asks_first.read_text().count("_jdf") == 1
    assert 'getattr(table, "_jdf", None)' in asks_first.read_text()
    # Rows in memory are those of a plan.
    in_memory_rows = (folder / "scans" / "local_rows.py").read_text()
    assert in_memory_rows.count("_jdf") == 1
    assert "".join(of_scans).count("_jdf") == 2
    assert "".join(of_scans).count("_jvm") == asks_then.read_text().count("_jvm") == 1
    assert not re.search(r"sparkContext|\.rdd\b|_jdf|_jvm|_sc\b|toPandas", source)


def test_tables_of_a_catalog_are_scored_as_well(spark, tmp_path):
    snapshots = [skewed_snapshot(), snapshot("007")]
    name = "tables_of_a_fleet"
    spark.sql(f"CREATE DATABASE {name} LOCATION '{tmp_path.as_uri()}'")
    try:
        for table, rows in fleet_of_snapshots(spark, snapshots).tables().items():
            rows.write.saveAsTable(f"{name}.{table}")

        found = scores(spark, f"table:{name}").toArrow()
    finally:
        spark.sql(f"DROP DATABASE {name} CASCADE")

    assert differences(in_memory(snapshots), by_place(found)) == []
