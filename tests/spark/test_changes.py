"""Changes and drift of a fleet on Spark are those of its clusters one by one."""

import json
from datetime import UTC, datetime

import pytest

from placement.draft.draft import Settings
from planner.cli.fleet.fleet_changes import print_changes, print_drift
from planner.fleet.append import append
from planner.fleet.cluster_overview import overview_row
from planner.fleet.fleet_store import Store
from planner.fleet.snapshot_changes import COUNTS, change_table
from planner.kafka_files.reassignment_file import parse_reassignment
from planner.metrics.openmetrics_text import overview_metrics
from planner.snapshot import Snapshot
from planner.snapshot.actions.apply_plan import apply_plan
from planner.spark.io.fleet_opening import fleet_of_snapshots, open_fleet
from planner.spark.per_snapshot.snapshot_jobs import sizes_of
from planner.spark.reports.fleet_changes import changes, pairs_of
from planner.spark.reports.fleet_overview import overview
from support.commands import run
from support.plans import skewed_document

pytestmark = [
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]
DAYS = [f"2026-11-2{day}T08:00:00Z" for day in range(3)]


def snapshot(cluster_id, taken_at, seed=1):
    document = skewed_document(seed=seed)
    return Snapshot.from_document(
        document | {"cluster_id": cluster_id, "taken_at": taken_at}
    )


def test_changes_and_drift(spark, tmp_path, capsys):
    fleet, plans, out = (tmp_path / name for name in ("fleet", "plans", "out"))
    store = Store(str(fleet))
    first = snapshot("a", DAYS[0])
    append(first, store)
    append(snapshot("b", DAYS[0]), store)
    planned = run(
        capsys, "fleet", "plan", fleet, "-o", plans, "--effort", "quick",
        "--format", "json",
    )  # fmt: skip
    rows = spark.read.parquet(str(plans / "plans")).where("cluster_id = 'a'").collect()
    text = rows[0]["files"]["reassignment.json"]
    asked = parse_reassignment(json.loads(text), file="r")
    header = {"cluster_id": "a", "taken_at": DAYS[1]}
    moved = Snapshot.from_tables(apply_plan(first, asked).tables(), header)
    append(moved, store)
    append(snapshot("b", DAYS[1], seed=2), store)

    def compare(*options):
        found = run(
            capsys, "fleet", "changes", fleet, "-o", out, "--format", "json", *options
        )
        return found.code, found.document

    code, found = compare("--plans", plans)

    assert code == 3
    changed = {row["cluster_id"]: row for row in found["changes"]}
    moves = {row["cluster_id"]: row for row in planned.document["plans"]}
    assert changed["a"]["copies"] == moves["a"]["moved_replicas"]
    assert changed["a"]["bytes"] == moves["a"]["moved_bytes"]
    assert (changed["a"]["before"], changed["a"]["taken_at"]) == (DAYS[0], DAYS[1])
    tables = snapshot("b", DAYS[0]).tables(), snapshot("b", DAYS[1], seed=2).tables()
    expected = change_table(*tables, taken_before=0).to_pylist()
    assert {n: changed["b"][n] for n in COUNTS} == {n: expected[0][n] for n in COUNTS}
    table = spark.read.parquet(str(out / "changes"))
    assert table.where("cluster_id = 'b'").count() == len(expected)
    drifted = {row["cluster_id"]: row["status"] for row in found["drift"]}
    assert drifted == {"a": "completed", "b": "differs"}

    append(snapshot("b", DAYS[2], seed=3), store)
    code, found = compare()
    keys = [(row["cluster_id"], row["before"]) for row in found["changes"]]
    assert (code, keys, found["drift"]) == (0, [("b", DAYS[1])], [])
    refused = run(capsys, "fleet", "changes", fleet, "-o", out, "--plans", fleet)
    assert (refused.code, "fleet plan" in refused.err) == (2, True)
    check_overview(spark, store, tmp_path, capsys)


def test_what_comparing_trips_over_is_a_row(spark, monkeypatch):
    def trip(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr("planner.spark.reports.fleet_changes.change_table", trip)
    fleet = fleet_of_snapshots(spark, [snapshot("a", day) for day in DAYS[:2]])

    (row,) = changes(spark, fleet, pairs_of(sizes_of(fleet))).collect()

    assert (row["cluster_id"], row["copies"]) == ("a", None)
    assert "ZeroDivisionError" in row["reason"]


def check_overview(spark, store, folder, capsys):
    """The last snapshots in one table, bytes that moved since and forecasts beside."""
    empty = {**snapshot("none", DAYS[0]).to_document(), "topics": [], "brokers": []}
    append(Snapshot.from_document(empty), store)
    trends = [
        {
            "cluster_id": "b", "level": level, "resource": "disk",
            "growth_per_day": 5.0, "days_until_full": days,
            "days_until_full_low": None, "days_until_full_high": 9.0,
        }
        for level, days in (("broker", 8.0), ("broker", 3.0), ("cluster", None))
    ]  # fmt: skip
    fields = ", ".join(
        f"{name} {'string' if isinstance(value, str) else 'double'}"
        for name, value in trends[0].items()
    )
    table = spark.createDataFrame(trends, fields)
    table.write.parquet(str(folder / "trended" / "trends"))

    found = run(
        capsys, "fleet", "overview", folder / "fleet", "-o", folder / "seen",
        "--changes", folder / "out", "--trends", folder / "trended",
        "--format", "json", "--metrics", folder / "seen.prom",
    )  # fmt: skip

    assert found.code == 0
    metrics = (folder / "seen.prom").read_text(encoding="utf-8")
    assert metrics == overview_metrics(found.document["clusters"])
    full = 'until_first_disk_full_seconds{kafka_cluster="b",estimate="expected"}'
    assert f"\nkafka_planner_{full} {3.0 * 86_400}\n" in metrics
    rows = {row["cluster_id"]: row for row in found.document["clusters"]}
    tables = snapshot("b", DAYS[2], seed=3)
    expected = overview_row(tables.tables(), tables.header(), Settings())
    for name in ("bytes_by_owner", "features", "tags"):
        expected[name] = dict(expected[name])
    assert {name: rows["b"][name] for name in expected} == expected
    assert all(row["data_age_s"] >= 0 for row in rows.values())
    fleet = open_fleet(spark, str(folder / "fleet"))
    an_hour_later = datetime(2026, 11, 22, 9, tzinfo=UTC)
    aged = overview(spark, fleet, now=an_hour_later).collect()
    assert {row["cluster_id"]: row["data_age_s"] for row in aged}["b"] == 3600
    assert rows["b"]["moved_since"] == DAYS[1]
    assert rows["a"]["moved_bytes_since"] > 0
    assert (rows["b"]["days_until_full"], rows["b"]["growth_bytes_per_day"]) == (3, 5)
    assert (rows["a"]["days_until_full"], rows["none"]["worst_broker"]) == (None, None)


def test_screens_are_no_wider_than_80(capsys):
    counts = dict.fromkeys(COUNTS, 10**12)
    times = {
        "before": DAYS[0], "taken_at": None, "planned_at": DAYS[0], "reason": None,
    }  # fmt: skip
    row = {"cluster_id": "c" * 40, **counts, **times}
    drifted = {
        "request": "r" * 40, "status": "in-progress", "completed": 10**6,
        "differs": 10**6, "num_findings": 10**6,
    }  # fmt: skip

    print_changes([row] * 60)
    print_drift([row | drifted])
    print_changes([])
    print_drift([])

    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "… and 10 more" in "".join(lines)
    assert sum(line.startswith("Cluster") for line in lines) == 2


def test_pairs_that_something_changed_in_are_shown_first(capsys):
    quiet = dict.fromkeys(COUNTS, 0) | {
        "cluster_id": "quiet", "before": DAYS[0], "taken_at": DAYS[1], "reason": None,
    }  # fmt: skip
    topics = quiet | {"cluster_id": "topics", "gone_partitions": 12}
    brokers = quiet | {"cluster_id": "brokers", "new_brokers": 1}
    inside = quiet | {"cluster_id": "dirs", "log_dir_moves": 2, "log_dir_bytes": 5e9}
    led = quiet | {"cluster_id": "led", "leader_changes": 3}
    copied = quiet | {"cluster_id": "copied", "copies": 1, "bytes": 7}

    print_changes([*[quiet] * 55, led, topics, brokers, inside, copied])

    lines = capsys.readouterr().out.splitlines()
    shown = [line.split()[0] for line in lines[1:] if not line.startswith(" ")]
    assert shown[:6] == ["copied", "dirs", "topics", "brokers", "led", "quiet"]
    notes = [line.strip() for line in lines if line.startswith("  ")]
    assert notes == ["2 moves between log dirs, 5 GB", "brokers +1 -0"]
