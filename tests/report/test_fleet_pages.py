"""Pages of fleet tables, read without Spark."""

import json
import time
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from pyarrow import parquet

from placement.draft.draft import Settings
from planner.demo import SNAPSHOT_FILE
from planner.fleet.cluster_overview import SCHEMA, overview_row
from planner.fleet.contracts.all_contracts import CONTRACTS
from planner.report.fleet_tables import KEY, LEFT_OUT, NEEDED
from planner.snapshot import Snapshot
from support.commands import run
from support.plans import skewed_document
from support.report_pages import check_page, verdict
from support.snapshots import small_document

HOSTILE = "<script>document.title='taken'</script>"
OLD, NEW = datetime(2026, 11, 20, tzinfo=UTC), datetime(2026, 11, 21, tzinfo=UTC)


def overview_of(cluster_id, **changes):
    snapshot = Snapshot.from_document(small_document())
    row = overview_row(snapshot.tables(), snapshot.header(), Settings())
    return {**row, "cluster_id": cluster_id, "taken_at": NEW, **changes}


def plan_row(cluster_id, taken_at=NEW, **changes):
    return {
        "cluster_id": cluster_id,
        "taken_at": taken_at,
        "request": "rebalance",
        "goal": "rebalance",
        "status": "optimal",
        "moved_replicas": 3,
        "moved_bytes": 10**12,
        "bytes_lower_bound": 9e11,
        "total_s": 1.5,
        "plan": "{}",
        **changes,
    }


def write(folder, name, rows, schema=None):
    """Write a table as Spark does: a folder per day, a part in it."""
    day = folder / name / "date=2026-11-21"
    day.mkdir(parents=True)
    table = pa.Table.from_pylist(rows, schema=schema)
    parquet.write_table(table, day / "part-00000.parquet")
    return folder


def page_of(capsys, tmp_path, *folders):
    outcome = run(capsys, "report", *folders, "-o", tmp_path / "x.html")
    assert outcome.code == 0, outcome.err
    return (tmp_path / "x.html").read_text(encoding="utf-8")


def test_an_overview_names_what_is_wrong_and_where(capsys, tmp_path):
    rows = [
        overview_of("fine"),
        overview_of(HOSTILE, offline_partitions=3, headroom_n1_broker=-0.1),
        overview_of("full", brokers_over_threshold=2),
        overview_of("lost", status="failed", reason="a file is broken"),
    ]
    write(tmp_path, "overview", rows, SCHEMA)

    page = page_of(capsys, tmp_path, tmp_path)

    check_page(page)
    escaped = "&lt;script&gt;document.title=&#39;taken&#39;&lt;/script&gt;"
    assert verdict(page) == (
        "Not read: 1 cluster (lost). "
        f"Partitions are offline: 1 cluster ({escaped}). "
        "Brokers are over a threshold: 1 cluster (full). "
        f"No room for the loss of a broker: 1 cluster ({escaped})."
    )
    assert HOSTILE not in page
    assert "<title>Fleet: 4 clusters</title>" in page
    assert page.index("a file is broken") < page.index('"fine"')


def test_a_fleet_without_troubles_says_so(capsys, tmp_path):
    write(tmp_path, "overview", [overview_of("a"), overview_of("b")], SCHEMA)

    assert verdict(page_of(capsys, tmp_path, tmp_path)) == (
        "Nothing is wrong in 2 clusters."
    )


def test_plans_are_those_of_the_last_snapshot_the_most_bytes_first(capsys, tmp_path):
    rows = [
        plan_row("small", moved_bytes=5),
        plan_row("large"),
        plan_row("large", OLD, moved_bytes=7 * 10**12),
        plan_row("none", status="infeasible", moved_bytes=None, reason="no room"),
    ]
    write(tmp_path, "plans", rows)

    page = page_of(capsys, tmp_path, tmp_path)

    check_page(page)
    assert verdict(page) == "3 plans: 1 infeasible, 2 optimal; 1 TB to copy."
    assert page.index('"large"') < page.index('"small"') < page.index('"none"')
    for left_out in ("Total s", "Plan"):
        assert f">{left_out}</th>" not in page


def test_scenarios_that_do_not_hold_are_named(capsys, tmp_path):
    row = plan_row("a", request="lose-b", holds=False, then="nothing", answer="{}")
    write(tmp_path, "scenarios", [row])

    page = page_of(capsys, tmp_path, tmp_path)

    assert verdict(page).endswith("A scenario does not hold: 1 cluster (a).")


def test_scores_and_overview_together_make_one_page(capsys, tmp_path):
    run(capsys, "score", SNAPSHOT_FILE, "-o", tmp_path / "scores")
    write(tmp_path / "o", "overview", [overview_of("orders-eu")], SCHEMA)

    page = page_of(capsys, tmp_path, tmp_path / "scores", tmp_path / "o")

    check_page(page)
    assert "<title>Fleet: 1 cluster</title>" in page
    assert 'id="clusters-disk"' in page
    assert 'id="clusters-fullest-disk"' in page


def test_scores_of_a_cluster_with_a_full_log_dir_are_not_fine(capsys, tmp_path):
    document = skewed_document()
    full = {"partition": 0, "replicas": [1], "size_bytes": 14_000}
    document["topics"] = [{"name": "t", "partitions": [full | {"log_dirs": ["/d1"]}]}]
    snapshot = tmp_path / "full.json"
    snapshot.write_text(json.dumps(document))
    run(capsys, "score", snapshot, "-o", tmp_path / "scores")

    page = page_of(capsys, tmp_path, tmp_path / "scores")

    assert "Log dirs are over a threshold: 1 cluster (skewed)." in verdict(page)
    assert "Nothing is wrong" not in page


def problem_row(cluster_id, taken_at):
    return {"cluster_id": cluster_id, "taken_at": taken_at, "severity": "error"}


def test_problems_that_a_later_score_has_outlived_are_left_out(capsys, tmp_path):
    run(capsys, "score", SNAPSHOT_FILE, "-o", tmp_path / "scores")
    later = datetime(2026, 11, 22, tzinfo=UTC)
    rows = [problem_row("orders-eu", OLD), problem_row("other", OLD)]
    write(tmp_path / "old", "problems", rows)
    write(tmp_path / "new", "problems", [problem_row("orders-eu", later)])

    old = page_of(capsys, tmp_path, tmp_path / "scores", tmp_path / "old")
    new = page_of(capsys, tmp_path, tmp_path / "scores", tmp_path / "new")

    assert verdict(old).endswith("Not scored: 1 cluster (other).")
    assert verdict(new).endswith("Not scored: 1 cluster (orders-eu).")


def test_a_table_without_rows_is_an_empty_folder(capsys, tmp_path):
    run(capsys, "score", SNAPSHOT_FILE, "-o", tmp_path / "scores")
    before = page_of(capsys, tmp_path, tmp_path / "scores")
    (tmp_path / "scores" / "problems").mkdir(exist_ok=True)
    for file in (tmp_path / "scores" / "problems").rglob("*.parquet"):
        file.unlink()

    page = page_of(capsys, tmp_path, tmp_path / "scores")

    assert verdict(page) == verdict(before)


def test_the_chart_of_scores_has_the_numbers_of_the_score(capsys, tmp_path):
    run(capsys, "score", SNAPSHOT_FILE, "-o", tmp_path / "scores")
    document = run(capsys, "score", SNAPSHOT_FILE, "--format", "json").document

    page = page_of(capsys, tmp_path, tmp_path / "scores")

    for resource in ("disk", "out"):
        worst = 100 * document["resources"][resource]["max_use"]
        assert f'<td class="number">{worst:.4g}</td>' in page
    assert verdict(page) == "Brokers are over a threshold: 1 cluster (orders-eu)."


@pytest.mark.not_quick
def test_the_same_tables_give_the_same_bytes_however_they_are_cut(capsys, tmp_path):
    rows = [overview_of(f"c{n}", max_disk_use=n % 7 / 10) for n in range(50)]
    write(tmp_path / "a", "overview", rows, SCHEMA)
    write(tmp_path / "b", "overview", rows[::-1], SCHEMA)

    first = page_of(capsys, tmp_path, tmp_path / "a")

    assert page_of(capsys, tmp_path, tmp_path / "b") == first


def test_of_many_clusters_the_worst_are_drawn_and_the_page_stays_small(
    capsys, tmp_path
):
    one = overview_of("one")
    rows = [
        {**one, "cluster_id": f"cluster-{n:05}", "max_disk_use": n / 5000}
        for n in range(5000)
    ]
    write(tmp_path, "overview", rows, SCHEMA)
    began = time.process_time()

    page = page_of(capsys, tmp_path, tmp_path)

    assert time.process_time() - began < 20
    assert len(page.encode()) < 5_000_000
    assert "4000 of 5000 rows: the table has all." in page
    assert "The charts leave out 4960 clusters, the least full." in page
    assert "cluster-04999" in page
    assert "cluster-00001" not in page


def trend_row(cluster_id, level, full=None, threshold=None):
    return {
        "cluster_id": cluster_id,
        "taken_at": NEW,
        "level": level,
        "broker": 7 if level == "broker" else None,
        "resource": "disk",
        "growth_per_day": 10.0**9,
        "days_until_full": full,
        "days_until_threshold": threshold,
    }


def test_trends_name_the_clusters_that_reach_a_limit_soon(capsys, tmp_path):
    schema = CONTRACTS["trends"].schema
    rows = [
        trend_row("slow", "broker", 400.0, 300.0),
        trend_row("fast", "broker", 12.0, 3.0),
        trend_row("fast", "cluster", 10.0, 2.0),
        trend_row("flat", "cluster"),
        trend_row("flat", "topic"),
    ]
    write(tmp_path, "trends", rows, schema)

    page = page_of(capsys, tmp_path, tmp_path)

    check_page(page)
    assert verdict(page) == (
        "A broker or log dir is full within 30 days: 1 cluster (fast). "
        "A capacity threshold is reached within 30 days: 1 cluster (fast)."
    )
    assert "<title>Fleet: 3 clusters</title>" in page
    assert page.index('"fast"') < page.index('"slow"') < page.index('"flat"')


def test_trends_without_limits_say_so(capsys, tmp_path):
    rows = [trend_row("slow", "broker", 400.0, 300.0), trend_row("flat", "cluster")]
    write(tmp_path, "trends", rows, CONTRACTS["trends"].schema)

    assert verdict(page_of(capsys, tmp_path, tmp_path)) == (
        "No limit is reached within 30 days, as far as is known."
    )


def change_row(cluster_id, **changes):
    return {"cluster_id": cluster_id, "taken_at": NEW, "before": OLD, **changes}


def test_changes_and_the_progress_of_plans_are_listed_by_cluster(capsys, tmp_path):
    changes = [
        change_row("a", bytes=10**12, copies=3),
        change_row("a", topic="orders", partition=1, bytes=10**12, copies=3),
        change_row("b", reason="a file is broken"),
    ]
    drift = [
        {"cluster_id": "a", "taken_at": NEW, "request": "r", "status": "completed"},
        {"cluster_id": HOSTILE, "taken_at": NEW, "request": "r", "status": "differs"},
        {"cluster_id": "c", "taken_at": NEW, "request": "r", "status": "unknown"},
    ]
    write(tmp_path, "changes", changes, CONTRACTS["changes"].schema)
    write(tmp_path, "drift", drift, CONTRACTS["drift"].schema)

    page = page_of(capsys, tmp_path, tmp_path)

    check_page(page)
    escaped = "&lt;script&gt;document.title=&#39;taken&#39;&lt;/script&gt;"
    assert verdict(page) == (
        "Not compared: 1 cluster (b). "
        "1 TB copied since the snapshot before, in 1 cluster. "
        "3 plans by now: 1 completed, 1 differs, 1 unknown. "
        f"The cluster differs from its plan: 1 cluster ({escaped}). "
        "The progress of a plan is unknown: 1 cluster (c)."
    )
    assert '"orders"' not in page


def test_balance_has_the_cluster_that_became_worse_first(capsys, tmp_path):
    rows = [
        change_row("better", resource="disk", max_use=0.5, max_use_change=-0.1),
        change_row("worse", resource="disk", max_use=0.6, max_use_change=0.2),
    ]
    write(tmp_path, "balance", rows, CONTRACTS["balance"].schema)

    page = page_of(capsys, tmp_path, tmp_path)

    assert page.index('"worse"') < page.index('"better"')


def test_the_same_table_twice_is_refused(capsys, tmp_path):
    for name in "ab":
        write(tmp_path / name, "plans", [plan_row("x")])

    outcome = run(
        capsys, "report", tmp_path / "a", tmp_path / "b", "-o", tmp_path / "x.html"
    )

    assert outcome.code == 2
    assert "the table plans is in another folder already" in outcome.err


@pytest.mark.parametrize("name", LEFT_OUT)
def test_a_broken_table_is_refused_by_its_name(capsys, tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "part-00000.parquet").write_bytes(b"no parquet")

    outcome = run(capsys, "report", tmp_path, "-o", tmp_path / "x.html")

    assert outcome.code == 2
    assert f"{tmp_path / name}: must be a table of a fleet, in Parquet" in outcome.err


@pytest.mark.parametrize("name", LEFT_OUT)
def test_a_table_without_its_columns_is_refused(capsys, tmp_path, name):
    write(tmp_path, name, [{"other": 1, "level": "cluster"}])

    outcome = run(capsys, "report", tmp_path, "-o", tmp_path / "x.html")

    assert outcome.code == 2
    assert "must have the columns" in outcome.err


def test_columns_of_a_page_are_columns_of_the_tables():
    for table, left_out in LEFT_OUT.items():
        columns = set(CONTRACTS[table].schema.names)
        assert {*KEY, *NEEDED[table], *left_out} <= columns
