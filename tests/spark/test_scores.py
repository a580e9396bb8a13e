"""The score on Spark is the score in memory, on every column."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from pyspark.sql import functions as F  # noqa: N812

import planner.spark
from planner.demo import SNAPSHOT_FILE
from planner.snapshot import Snapshot, read_snapshot, write_snapshot
from planner.spark.fleet import KEY, fleet_of_snapshots, snapshot_folder
from planner.spark.ground import num_slots
from planner.spark.scoring import score_fleet, scores
from support.scores import by_place, differences, in_memory
from support.snapshots import documents, small_document

pytestmark = [
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]


def scored(fleet):
    found = score_fleet(fleet)
    try:
        return by_place(found.scores.toArrow()), found.problems.collect()
    finally:
        found.release()


def snapshot(cluster_id="c", taken_at="2026-11-21T08:00:00Z", **changes):
    named = {"cluster_id": cluster_id, "taken_at": taken_at}
    return Snapshot.from_document(small_document(**named, **changes))


def tamed(value, key=""):
    """Return a document without amounts that no cluster has: they cannot be summed."""
    if isinstance(value, dict):
        # A capacity that is the sum of the log dirs' must not be cut on its own.
        cut = {"disk_bytes"} if value.get("log_dirs") else set()
        return {k: tamed(each, k) for k, each in value.items() if k not in cut}
    if isinstance(value, list):
        return [tamed(each, key) for each in value]
    is_amount = key.endswith(("bytes", "bytes_per_s", "cpu_cores"))
    return round(min(value, 10**6)) if is_amount and value is not None else value


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
        for n, document in enumerate(drawn(80))
    ]

    found, problems = scored(fleet_of_snapshots(spark, fleet))

    assert problems == []
    assert differences(in_memory(fleet), found) == []


def skewed_snapshot():
    """Half of all replicas are of one topic; a broker is dead, one empty, one new."""
    topics = [
        {
            "name": "half",
            "configs": {"min.insync.replicas": "2"},
            "partitions": [
                {
                    "partition": n,
                    "replicas": [1, 2, 3],
                    "isr": [1, 2],
                    "size_bytes": 10 + n,
                    "in_bytes_per_s": None,
                    "log_dirs": ["/d1", "/d2", None],
                    "future_log_dirs": ["/d2", None, None],
                }
                for n in range(40)
            ],
        },
        *(
            {
                "name": f"t{n}",
                "storage": "shared" if n == 3 else "local",
                "partitions": [
                    {
                        "partition": 0,
                        "replicas": [4, 1, 2],
                        "leader": -1 if n == 1 else None,
                        "replica_bytes": [5, None, 7],
                        "in_bytes_per_s": 1.1 * n,
                        "out_bytes_per_s": 2.3,
                        "leader_cpu_cores": 0.01,
                        "follower_cpu_cores": 0.002,
                        "adding_replicas": [2] if n == 2 else [],
                    }
                ],
            }
            for n in range(40)
        ),
        {"name": "without-partitions", "partitions": []},
    ]
    for topic in topics:
        for partition in topic["partitions"]:
            if partition.get("leader") == -1:
                partition["leader"] = None
            elif "leader" in partition:
                del partition["leader"]
    dirs = [
        {"path": "/d1", "size_bytes": 9000, "usable_bytes": 100},
        {"path": "/d2", "size_bytes": 500, "state": "offline"},
    ]
    brokers = [
        {"id": 1, "rack": "a", "log_dirs": dirs},
        {"id": 2, "rack": "a", "state": "demoted"},
        {"id": 3, "rack": "b", "max_replicas": 50},
        {"id": 4, "state": "dead"},
        {"id": 2**31 - 1, "rack": "c", "state": "new", "cpu_cores": 4},
    ]
    return snapshot("skewed", brokers=brokers, topics=topics)


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


def test_gaps_in_the_numbers_are_no_problem(spark):
    document = small_document(cluster_id="c", taken_at="2026-11-21T08:00:00Z")
    document["topics"][0]["partitions"][0]["partition"] = 8
    gappy = Snapshot.from_document(document)

    found, problems = scored(fleet_of_snapshots(spark, [gappy]))

    assert problems == []
    assert differences(in_memory([gappy]), found) == []


def test_a_folder_is_read_by_spark_alone(spark, tmp_path):
    bundled = read_snapshot(SNAPSHOT_FILE)
    folder = tmp_path / "snap"
    write_snapshot(bundled, folder)

    table = scores(spark, snapshot_folder(spark, folder, name="x")).toArrow()

    assert differences(in_memory([bundled]), by_place(table)) == []


def test_replicas_meet_no_python_and_are_not_collected(spark):
    from planner.spark.facts import partition_facts
    from planner.spark.sums import place_sums, topic_sums

    fleet = fleet_of_snapshots(spark, [snapshot()]).canonical()
    facts = partition_facts(fleet)

    for sums in (topic_sums(fleet, facts), place_sums(facts)):
        plan = sums._jdf.queryExecution().optimizedPlan().toString()
        assert not re.search(r"EvalPython|MapInArrow|MapInPandas", plan)
        # The one Python step is of brokers, grouped by snapshot: their racks.
        assert plan.count("FlatMapGroupsInArrow") == 1
        assert set(KEY) <= set(sums.columns)


def test_no_part_of_spark_is_used_that_connect_lacks():
    folder = Path(planner.spark.__file__).parent
    source = "\n".join(path.read_text() for path in folder.glob("*.py"))

    assert not re.search(r"sparkContext|\.rdd\b|_jdf|_jvm|_sc\b|toPandas", source)


@pytest.mark.parametrize(
    "ids",
    [
        pytest.param([0], id="one"),
        pytest.param([5, 1, 900], id="small"),
        pytest.param([0, 2**31 - 1, 2**30, 7], id="wide"),
        pytest.param(list(range(10**6, 10**7, 10**5)), id="multiples"),
    ],
)
def test_look_ups_by_broker_id_never_clash(ids):
    import numpy as np

    slots = num_slots(np.array(ids))

    assert len({broker % slots for broker in ids}) == len(ids)
    assert slots <= max(ids) + 1 or slots < 2**17
