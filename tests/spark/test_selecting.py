"""Snapshots selected by cluster and time, on every path, and what stays beside them."""

import pyarrow as pa
import pytest
from pyarrow import parquet

from planner.cli.fleet.fleet_lines import LEGEND
from planner.fleet.append import append, compact
from planner.fleet.cluster_plans import NamedRequest
from planner.fleet.fleet_store import Store
from planner.fleet.snapshot_selection import read_selection
from planner.options.plan_request import PlanRequest
from planner.score import ScoreRequest
from planner.spark import open_fleet, scores, select_snapshots
from planner.spark.command import score_folder
from planner.spark.io.fleet_opening import fleet_of_snapshots
from planner.spark.reports.fleet_changes import changes_folder
from planner.spark.reports.fleet_plans import plan_folder
from support.commands import run
from support.spark import snapshot

pytestmark = [
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]
DAYS = ("2026-11-20", "2026-11-21", "2026-11-22")
KEYS = {(cluster, day) for cluster in ("eu-a", "eu-b", "us") for day in DAYS}
OPTIONS = {"since": "2026-11-21", "until": "2026-11-22T08:00:00Z", "cluster": "eu-.*"}
SELECTED = {("eu-a", "2026-11-21"), ("eu-b", "2026-11-21")}


def fleet_of(folder):
    for cluster_id, day in sorted(KEYS):
        append(snapshot(cluster_id, f"{day}T08:00:00Z"), Store(str(folder)))
    return str(folder)


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    return fleet_of(tmp_path_factory.mktemp("selected") / "fleet")


def keys_of(table):
    rows = table.selectExpr("cluster_id", "date(taken_at) AS day").distinct().collect()
    return {(row["cluster_id"], str(row["day"])) for row in rows}


def test_the_same_is_selected_on_every_path(spark, fleet, tmp_path):
    compacted = fleet_of(tmp_path / "compacted")
    compact(Store(compacted))
    snapshots = [snapshot(c, f"{day}T08:00:00Z") for c, day in sorted(KEYS)]
    paths = {
        "files": open_fleet(spark, fleet),
        "compacted": open_fleet(spark, compacted),
        "tables": fleet_of_snapshots(spark, snapshots),
    }

    for name, opened in paths.items():
        found = scores(spark, select_snapshots(opened, **OPTIONS))
        assert keys_of(found) == SELECTED, name


def test_days_scored_in_part_keep_the_scores_of_others(spark, tmp_path):
    out = str(tmp_path / "out")
    request = ScoreRequest()
    # What is wrong with others stays as well, in a day with and without new problems.
    wrong = tmp_path / "fleet"
    fleet_of(wrong)
    spoilt = {("us", DAYS[0]), ("us", DAYS[1]), ("eu-a", DAYS[1])}
    for key in spoilt:
        spoil(wrong, *key)
    expected = KEYS - spoilt

    whole = score_folder(spark, str(wrong), request, out, again=False)
    rows = spark.read.parquet(f"{out}/scores").count()
    again = score_folder(
        spark, str(wrong), request, out, again=True,
        selection=read_selection(cluster="eu-.*", until=DAYS[1]),
    )  # fmt: skip

    assert {d["cluster_id"] for d in again.documents} == {"eu-a", "eu-b"}
    assert len(again.documents) == 3
    assert len(whole.problems) == 3 * len(again.problems) > 0
    assert keys_of(spark.read.parquet(f"{out}/scores")) == expected
    assert spark.read.parquet(f"{out}/scores").count() == rows
    problems = spark.read.parquet(f"{out}/problems")
    assert keys_of(problems) == spoilt
    assert problems.count() == len(whole.problems)
    # All of it is done: nothing is left for a run without a selection.
    assert score_folder(spark, str(wrong), request, out, again=False).documents == []


def spoil(folder, cluster_id, day):
    """Put a broker into the ISR of a snapshot that no replica is on."""
    key = (cluster_id, f"{day}T08:00:00")
    (commit,) = (
        commit
        for commit in Store(str(folder)).commits()
        if any((name, at[:19]) == key for name, at in commit.snapshots)
    )
    (file,) = commit.files["partitions"]
    rows = parquet.read_table(folder / file, partitioning=None)
    at = rows.schema.get_field_index("isr")
    isr = pa.array([[99]] * len(rows), rows.schema.field("isr").type)
    parquet.write_table(rows.set_column(at, "isr", isr), folder / file)


def test_days_without_a_selected_snapshot_are_left_to_later_runs(
    spark, fleet, tmp_path, capsys
):
    out = tmp_path / "out"

    def score(*options):
        found = run(
            capsys, "fleet", "score", fleet, "-o", out, "--format", "json", *options
        )
        assert found.code == 0, found.err
        return {
            (each["cluster_id"], each["taken_at"][:10])
            for each in found.document["snapshots"]
        }

    named = [text for name, value in OPTIONS.items() for text in (f"--{name}", value)]
    assert score(*named) == SELECTED
    assert score(*named) == set()
    assert score("--since", "2027-01-01") == set()
    assert score() == KEYS
    assert keys_of(spark.read.parquet(str(out / "scores"))) == KEYS


def test_plans_and_changes_of_others_stay(spark, fleet, tmp_path):
    out = str(tmp_path / "out")
    asked = [NamedRequest(name="r", request=PlanRequest(goal="rebalance"))]
    first = read_selection(until=DAYS[1])

    def plan(selection, *, again=False):
        done = plan_folder(
            spark, fleet, asked, out, history=False, again=again, selection=selection
        )
        return {(row["cluster_id"], row["taken_at"][:10]) for row in done.rows}

    def compare(selection, *, again=False):
        done = changes_folder(
            spark, fleet, out, plans=None, again=again, selection=selection
        )
        return {(row["cluster_id"], row["taken_at"][:10]) for row in done.changed}

    clusters = ("eu-a", "eu-b", "us")
    assert plan(first) == {(cluster, DAYS[1]) for cluster in clusters}
    one = read_selection(cluster="us", until=DAYS[1])
    assert plan(one) == set()
    assert plan(one, again=True) == {("us", DAYS[1])}
    planned = spark.read.parquet(f"{out}/plans")
    assert (keys_of(planned), planned.count()) == ({(c, DAYS[1]) for c in clusters}, 3)

    # The pair begins before the span, and ends in it.
    assert compare(first) == {(cluster, DAYS[1]) for cluster in clusters}
    since = read_selection(cluster="us", since=DAYS[1])
    assert compare(since) == {("us", DAYS[2])}
    assert compare(one, again=True) == {("us", DAYS[1])}
    changed = spark.read.parquet(f"{out}/changes").where("topic IS NULL")
    expected = {(c, DAYS[1]) for c in clusters} | {("us", DAYS[2])}
    assert (keys_of(changed), changed.count()) == (expected, 4)


@pytest.mark.parametrize("command", ["score", "plan", "changes", "overview"])
def test_a_cluster_that_is_not_there_is_refused(
    spark, fleet, tmp_path, capsys, command
):
    found = run(
        capsys, "fleet", command, fleet, "-o", tmp_path / "out", "--cluster", "eu-c"
    )

    assert found.code == 2
    assert "--cluster: must match a cluster's complete id (found eu-c)" in found.err
    assert "did you mean eu-" in found.err


def test_wrong_options_are_refused_before_spark_starts(tmp_path, capsys, monkeypatch):
    def start(**_):
        pytest.fail("Spark was started")

    monkeypatch.setattr("planner.spark.session.start_session", start)

    for command in ("score", "plan", "changes", "overview", "trends"):
        found = run(
            capsys, "fleet", command, tmp_path, "-o", tmp_path / "out", "--since", "x"
        )
        assert (found.code, "--since" in found.err) == (2, True)


def test_conditions_are_asked_of_the_last_snapshot_of_each_cluster(
    spark, tmp_path, capsys
):
    fleet, out = tmp_path / "fleet", tmp_path / "out"
    for cluster_id, day in (("a", DAYS[0]), ("a", DAYS[1]), ("b", DAYS[0])):
        append(snapshot(cluster_id, f"{day}T08:00:00Z"), Store(str(fleet)))
    spoil(fleet, "b", DAYS[0])

    def score(*options):
        return run(capsys, "fleet", "score", fleet, "-o", out, *options)

    first = score()
    again = score("--fail-on", "brokers >= 3", "--format", "json")
    fine = score("--fail-on", "brokers > 3", "--cluster", "a")
    absent = score("--fail-on", "num_hot_spots > 0")

    lines = [line for line in first.out.splitlines() if line != LEGEND]
    assert (first.code, len(lines)) == (3, 2)
    assert lines[0].startswith("a: disk ")
    assert lines[1].startswith("b: no scores of the snapshot of 2026-11-20")
    # Nothing is new, and what fails still does.
    assert (again.code, again.document["snapshots"]) == (3, [])
    told = {each["cluster_id"]: each for each in again.document["latest"]}
    assert told["a"]["taken_at"].startswith(DAYS[1])
    assert told["a"]["fail_on"][0]["holds"] is True
    assert told["a"]["fullest_broker"] in {1, 2, 3}
    assert (told["b"]["status"], told["b"]["fail_on"][0]["holds"]) == (
        "no-scores",
        None,
    )
    assert (fine.code, fine.out) == (0, "")
    assert fine.err == f"nothing new: {out} has the scores of 1 clusters\n"
    assert absent.code == 2
    assert "fleet overview --fail-on" in absent.err
