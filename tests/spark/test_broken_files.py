"""A file that cannot be read costs its own snapshots their rows, and no others."""

from pathlib import Path

import pytest

from planner.cli.fleet.fleet_changes import print_changes
from planner.fleet.append import append
from planner.fleet.cluster_overview import FAILED
from planner.fleet.fleet_store import Store
from planner.options.plan_request import PlanRequest
from planner.snapshot import Snapshot, write_snapshot
from planner.spark.io.fleet_opening import fleet_of_snapshots, open_fleet
from planner.spark.reports.fleet_plans import plan_fleet
from planner.spark.scoring.fleet_scores import score_fleet
from support.broken_files import cut, spoil
from support.commands import run
from support.plans import skewed_document
from support.profile import crossed, sampled
from support.scores import by_place, differences, in_memory

pytestmark = [
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]
DAYS = [f"2026-11-2{day}T08:00:00Z" for day in range(2)]
REQUEST = PlanRequest(goal="rebalance", effort="quick")


def snapshot(cluster_id, taken_at=DAYS[0], seed=1):
    document = skewed_document(seed=seed)
    return Snapshot.from_document(
        document | {"cluster_id": cluster_id, "taken_at": taken_at}
    )


def file_of(folder, table, cluster_id, taken_at=DAYS[0]):
    """The file of one table of one snapshot."""
    (found,) = (
        file
        for commit in Store(str(folder)).commits()
        for name, moment in commit.snapshots
        if name == cluster_id and moment[:10] == taken_at[:10]
        for file in commit.files[table]
    )
    return Path(folder, found)


CASES = [
    pytest.param("partitions", cut, id="cut-partitions"),
    pytest.param("partitions", spoil, id="spoilt-partitions"),
    pytest.param("topics", spoil, id="spoilt-topics"),
    pytest.param("brokers", cut, id="cut-brokers"),
    pytest.param("brokers", spoil, id="spoilt-brokers"),
    pytest.param("clusters", Path.unlink, id="no-clusters"),
]


@pytest.mark.parametrize(("table", "breaks"), sampled(CASES))
def test_a_broken_file_is_named_where_its_cluster_has_no_plan(
    spark, tmp_path, table, breaks
):
    good = snapshot("good")
    for each in (good, snapshot("bad", seed=2)):
        append(each, Store(str(tmp_path)))
    path = file_of(tmp_path, table, "bad")
    breaks(path)

    fleet = open_fleet(spark, str(tmp_path))
    plans = plan_fleet(spark, fleet, {"r": REQUEST}).collect()

    found = {row["cluster_id"]: row for row in plans}
    assert {name: row["status"] for name, row in found.items()} == {
        "good": "feasible",
        "bad": "failed",
    }
    assert str(path) in found["bad"]["reason"]
    asked = (found["bad"]["request"], found["bad"]["request_hash"])
    assert asked == (found["good"]["request"], found["good"]["request_hash"])


@pytest.mark.parametrize(("table", "breaks"), sampled(CASES, 2))
def test_a_broken_file_is_a_problem_of_its_cluster(spark, tmp_path, table, breaks):
    good = snapshot("good")
    for each in (good, snapshot("bad", seed=2)):
        append(each, Store(str(tmp_path)))
    path = file_of(tmp_path, table, "bad")
    breaks(path)

    found = score_fleet(open_fleet(spark, str(tmp_path)))
    scores, problems = by_place(found.scores.toArrow()), found.problems.collect()
    found.release()

    assert differences(in_memory([good]), scores) == []
    assert {row["cluster_id"] for row in problems} == {"bad"}
    assert str(path) in {row["place"] for row in problems if row["table"] == table}


@pytest.mark.parametrize("breaks", sampled([cut, spoil]))
def test_commands_go_on_where_a_file_is_broken(spark, tmp_path, capsys, breaks):
    fleet, plans, out = (tmp_path / name for name in ("fleet", "plans", "out"))
    for day in DAYS:
        for name in "ab":
            append(snapshot(name, day), Store(str(fleet)))
    planned = run(
        capsys, "fleet", "plan", fleet, "-o", plans, "--effort", "quick", "--history",
        "--format", "json",
    )  # fmt: skip
    path = file_of(fleet, "partitions", "b", DAYS[1])
    breaks(path)

    changed = run(
        capsys, "fleet", "changes", fleet, "-o", out, "--plans", plans,
        "--format", "json",
    )  # fmt: skip
    seen = run(
        capsys, "fleet", "overview", fleet, "-o", out, "--changes", out,
        "--format", "json",
    )  # fmt: skip

    assert (planned.code, changed.code, seen.code) == (0, 3, 3)
    pairs = {row["cluster_id"]: row for row in changed.document["changes"]}
    assert (pairs["a"]["copies"], pairs["a"]["reason"]) == (0, None)
    assert pairs["b"]["copies"] is None
    assert str(path) in pairs["b"]["reason"]
    drifted = {row["cluster_id"]: row for row in changed.document["drift"]}
    assert {name: row["status"] for name, row in drifted.items()} == {
        "a": "not-started",
        "b": "unknown",
    }
    assert str(path) in drifted["b"]["reason"]
    first, last = seen.document["clusters"]
    assert (first["cluster_id"], first["status"]) == ("b", FAILED)
    assert str(path) in first["reason"]
    assert (last["status"], last["moved_bytes_since"]) == ("ok", 0)
    print_changes(changed.document["changes"])
    assert "cannot read" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "breaks"), crossed(["score", "plan", "changes"], [cut, spoil])
)
def test_a_broken_file_of_a_catalog_is_reported_in_one_line(
    spark, tmp_path, capsys, command, breaks
):
    name = "broken_catalog"
    spark.sql(f"CREATE DATABASE {name} LOCATION '{(tmp_path / 'db').as_uri()}'")
    try:
        snapshots = [snapshot("a", day) for day in DAYS]
        for table, rows in fleet_of_snapshots(spark, snapshots).tables().items():
            rows.coalesce(1).write.saveAsTable(f"{name}.{table}")
        (path,) = (tmp_path / "db" / "partitions").glob("*.parquet")
        breaks(path)

        found = run(capsys, "fleet", command, f"table:{name}", "-o", tmp_path / "out")
    finally:
        spark.sql(f"DROP DATABASE {name} CASCADE")

    assert found.code == 2
    (said,) = (line for line in found.err.splitlines() if str(path) in line)
    assert "no marker tells" in said


def test_a_broken_snapshot_folder_is_named(spark, tmp_path, capsys):
    folder = tmp_path / "snapshot"
    write_snapshot(snapshot("a"), folder)
    spoil(folder / "partitions.parquet")

    found = run(capsys, "score", folder, "--spark")

    assert found.code == 2
    assert str(folder / "partitions.parquet") in found.err
