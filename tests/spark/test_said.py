"""What topics say is looked up where partitions are: the driver holds none of it."""

from dataclasses import replace

import pytest

from planner.fleet.append import append, compact
from planner.fleet.fleet_store import Store
from planner.snapshot import Snapshot
from planner.spark.io.fleet_opening import fleet_of_snapshots, open_fleet
from planner.spark.scoring.broadcast.broadcast_tables import grounds_of
from planner.spark.scoring.fleet_scores import score_fleet
from support.scores import by_place, differences, in_memory
from support.snapshots import small_document

pytestmark = [
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]


def telling(cluster_id, count=3, *, header=None, **of_topic):
    """Topics that have a min.insync.replicas of their own, 1 and more in turn."""
    document = small_document(cluster_id=cluster_id, taken_at="2026-11-21T08:00:00Z")
    document |= header or {}
    (topic,) = document["topics"]
    document["topics"] = [
        topic
        | {"name": f"t{n}", "topic_id": None}
        | {"configs": {"min.insync.replicas": str(1 + n % 3)}}
        | of_topic
        for n in range(count)
    ]
    return Snapshot.from_document(document)


SNAPSHOTS = [
    telling("a"),
    # Topics of the same names that say other things, or nothing.
    telling("b", configs={"min.insync.replicas": "2"}, storage="shared"),
    telling("c", configs={}),
    # Kafka 3.7 and later take the number of replicas for a larger min ISR.
    *(
        telling(name, 4, configs={"min.insync.replicas": "4"}, header=header)
        for name, header in (
            ("old", {"kafka_version": "3.6.2"}),
            ("new", {"kafka_version": "3.7.0"}),
            ("proven", {"kafka_version": None, "features": {"metadata.version": 19}}),
            ("unproven", {"kafka_version": None, "features": {"metadata.version": 14}}),
        )
    ),
]


def files(spark, folder, snapshots):
    for each in snapshots:
        append(each, Store(str(folder)))
    return open_fleet(spark, str(folder))


def tables(spark, _, snapshots):
    return fleet_of_snapshots(spark, snapshots)


def tables_of_spark(spark, _, snapshots):
    """Tables that the driver cannot read without a job."""
    fleet = fleet_of_snapshots(spark, snapshots)
    return replace(fleet, topics=fleet.topics.repartition(2))


def scored(fleet):
    found = score_fleet(fleet)
    try:
        return by_place(found.scores.toArrow()), found.problems.collect()
    finally:
        found.release()


@pytest.mark.parametrize("opened", [files, tables, tables_of_spark])
def test_topics_are_judged_by_what_they_say_themselves(spark, tmp_path, opened):
    expected = in_memory(SNAPSHOTS)
    short = {
        place[0]: row["violations"]["rf_equals_min_isr"]
        for place, row in expected.items()
        if place[2] == "cluster"
    }
    assert len(set(short.values())) > 1

    found, problems = scored(opened(spark, tmp_path, SNAPSHOTS))

    assert (problems, differences(expected, found)) == ([], [])


def test_what_compacted_topics_say(spark, tmp_path):
    store = Store(str(tmp_path))
    for each in SNAPSHOTS:
        append(each, store)
    compact(store)

    found, problems = scored(open_fleet(spark, str(tmp_path)))

    assert (problems, differences(in_memory(SNAPSHOTS), found)) == ([], [])


@pytest.mark.parametrize("opened", [files, tables])
def test_what_the_driver_collects_does_not_grow_with_topics(spark, tmp_path, opened):
    sizes = []
    for count in (3, 300):
        fleet = opened(spark, tmp_path / str(count), [telling("a", count)])
        collected = grounds_of(fleet.canonical() if fleet.files is None else fleet)
        sizes.append(sum(table.nbytes for table in collected.tables.values()))

    assert sizes[0] == sizes[1] > 0


def test_a_topic_that_stands_twice_doubles_no_partition(spark):
    fleet = fleet_of_snapshots(spark, [telling("a"), telling("b")])
    twice = fleet.topics.union(fleet.topics.where("cluster_id = 'a' and topic = 't1'"))

    found, problems = scored(replace(fleet, topics=twice))

    assert [(row["cluster_id"], row["table"], row["place"]) for row in problems] == [
        ("a", "topics", "t1")
    ]
    assert differences(in_memory([telling("b")]), found) == []
