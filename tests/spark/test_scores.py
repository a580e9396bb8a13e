"""The score on Spark is the score in memory, on every column."""

import re
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import functions as F  # noqa: N812

import planner.spark
from planner.demo import SNAPSHOT_FILE
from planner.fleet.append import append, compact
from planner.fleet.store import Store
from planner.snapshot import Snapshot, read_snapshot, write_snapshot
from planner.spark.chunk import READ, Ground, sums_of
from planner.spark.fleet import fleet_of_snapshots, open_fleet, snapshot_folder
from planner.spark.partial import partial_sums
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
        for n, document in enumerate(drawn(40))
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


def test_no_row_of_a_replica_leaves_the_task_that_read_it(spark, monkeypatch):
    monkeypatch.setattr("planner.spark.partial.CHUNK_ROWS", 15)
    snapshot = skewed_snapshot()
    fleet = fleet_of_snapshots(spark, [snapshot])

    rows = partial_sums(spark, fleet).collect()

    places = [tuple(row["place"])[:4] for row in rows if row["place"]]
    state = snapshot.to_state()
    # A place each for a broker, its log dirs, and the factors of their replicas.
    assert len(set(places)) < len(state.replicas) / 4
    topics = {row["topic"]["topic"] for row in rows if row["topic"]}
    assert topics == set(snapshot.partitions.column("topic").to_pylist())
    replicas = sum(row["place"]["replicas"] for row in rows if row["place"])
    assert replicas == len(state.replicas)


@settings(max_examples=40)
@given(documents().map(tamed), st.integers(1, 7))
def test_chunks_of_any_size_add_up_to_the_whole(document, size):
    snapshot = Snapshot.from_document(document)
    table = snapshot.partitions.select(list(READ))
    ground = ground_of_one(snapshot)
    chunks = [table.slice(at, size) for at in range(0, len(table), size)]

    whole = totals(sums_of(table, ground))
    parts = totals(pa.concat_tables([sums_of(each, ground) for each in chunks] or [
        sums_of(table, ground)
    ]))  # fmt: skip

    assert parts == whole


def ground_of_one(snapshot):
    topics = snapshot.topics
    configs = [dict(each or ()) for each in topics.column("configs").to_pylist()]
    least = [each.get("min.insync.replicas") for each in configs]
    return Ground(
        min_isr=int(snapshot.configs.get("min.insync.replicas", 1)),
        brokers=snapshot.brokers.select(["id", "rack", "state"]),
        log_dirs=snapshot.log_dirs.select(["broker_id", "path", "state"]),
        topics=pa.table(
            {
                "topic": topics.column("topic"),
                "is_shared": pa.array(
                    [each == "shared" for each in topics.column("storage").to_pylist()],
                    pa.bool_(),
                ),
                "min_isr": pa.array(
                    [None if each is None else int(each) for each in least], pa.int32()
                ),
            }
        ),
    )


def totals(sums):
    """Sums and extremes of every place and topic; spreads and means do not add up."""
    found = {}
    for row in sums.to_pylist():
        assert row["found"] is None
        for kind, keys in (
            ("place", ("broker_id", "log_dir", "future_log_dir", "factor")),
            ("topic", ("topic",)),
        ):
            each = row[kind]
            if each is None:
                continue
            total = found.setdefault((kind, *(each[key] for key in keys)), {})
            for name, value in each.items():
                if name.startswith(("max_", "last_")):
                    total[name] = max(total.get(name, value), value)
                elif name.startswith(("min_", "first_n")):
                    total[name] = min(total.get(name, value), value)
                elif name not in keys and not name.startswith("square_"):
                    total[name] = total.get(name, 0) + value
    return found


def test_a_folder_is_read_by_the_tasks_themselves(spark, tmp_path, monkeypatch):
    monkeypatch.setattr("planner.fleet.append.WIDEST_GROUP_ROWS", 17)
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
    groups = sorted(file.row_groups for file in fleet.partition_files)
    assert groups == [(1,), (17, 17, 17, 17, 14)]
    assert differences(found, scored(replace(fleet, partition_files=None))[0]) == []


def test_no_part_of_spark_is_used_that_connect_lacks():
    folder = Path(planner.spark.__file__).parent
    source = "\n".join(path.read_text() for path in folder.glob("*.py"))

    assert not re.search(r"sparkContext|\.rdd\b|_jdf|_jvm|_sc\b|toPandas", source)
