"""Small fleets, scored and written without jobs of Spark."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import dataset, parquet

from planner.cli.fleet.fleet_lines import facts_of_score
from planner.errors import BadInputError
from planner.fleet.append import append, compact
from planner.fleet.contracts.result_contracts import RESULTS
from planner.fleet.fleet_store import Store
from planner.fleet.snapshot_selection import read_selection
from planner.score import ScoreRequest
from planner.snapshot import Snapshot
from planner.spark.command import score_folder
from planner.spark.io.fleet_opening import fleet_of_snapshots, open_fleet
from planner.spark.output.latest_scores import latest_scores
from planner.spark.output.local_tables import NO_DAY, local_folder, write_days
from planner.spark.scoring.reduce_side import small_scores
from planner.spark.scoring.reduce_side.balance_scores import ScoreSettings
from support.plans import skewed_document
from support.spark import snapshot

pytestmark = [
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]
DAYS = ("2026-11-20", "2026-11-21", "2026-11-22")
TABLES = ("scores", "problems", "done")


@pytest.fixture
def fleet(tmp_path):
    """Clusters with all tables, without some partitions, and with errors."""
    folder = tmp_path / "fleet"
    for day in DAYS:
        moment = f"{day}T08:00:00Z"
        whole = snapshot("whole", moment)
        append(whole, Store(str(folder)))
        rest = snapshot("part", moment)
        append(replace(rest, partitions=rest.partitions[1:]), Store(str(folder)))
        if day != DAYS[0]:
            append(snapshot("wrong", moment), Store(str(folder)))
    for file in folder.glob("partitions/*/*.parquet"):
        rows = parquet.read_table(file, partitioning=None)
        if rows["cluster_id"][0].as_py() == "wrong":
            at = rows.schema.get_field_index("isr")
            isr = pa.array([[99]] * len(rows), rows.schema.field("isr").type)
            parquet.write_table(rows.set_column(at, "isr", isr), file)
    return str(folder)


def scored(spark, fleet, out, **how):
    return score_folder(spark, fleet, ScoreRequest(), str(out), again=True, **how)


def rows_of(out, table):
    found = dataset.dataset(out / table, format="parquet", partitioning="hive")
    rows = found.to_table()
    keys = [name for name in RESULTS[table].keys if name in rows.column_names]
    return rows.sort_by([(name, "ascending") for name in keys]).to_pylist()


def shown(found):
    ages = {"data_age_s": 0}
    documents = [document | ages for document in found.documents]
    return documents, found.problems, found.warnings, found.latest


def test_a_small_fleet_is_scored_as_by_tasks_of_spark(
    spark, fleet, tmp_path, monkeypatch
):
    here, tasks = tmp_path / "here", tmp_path / "tasks"

    with monkeypatch.context() as patched:
        patched.setattr("planner.spark.command.score_fleet", None)
        one = scored(spark, fleet, f"file:{here}")
    monkeypatch.setattr(small_scores, "SMALL_ROWS", 0)
    other = scored(spark, fleet, tasks)

    assert {document["complete"] for document in one.documents} == {True, False}
    assert (len(one.documents), len(one.warnings)) == (6, 3)
    assert {problem.file[:5] for problem in one.problems} == {"wrong"}
    assert shown(one) == shown(other)
    for table in TABLES:
        assert rows_of(here, table) == rows_of(tasks, table) != []
        of_spark = spark.read.parquet(f"{tasks}/{table}").schema
        assert spark.read.parquet(f"{here}/{table}").schema == of_spark


def test_the_latest_scores_of_a_folder_are_those_that_spark_reads(
    spark, fleet, tmp_path, monkeypatch
):
    keys = scored(spark, fleet, tmp_path / "out").latest

    here = latest_scores(spark, str(tmp_path / "out"), keys)
    monkeypatch.setattr("planner.spark.output.latest_scores.plain_path", lambda _: None)
    other = latest_scores(spark, str(tmp_path / "out"), keys)

    ages = {"data_age_s": 0}
    assert [row | ages for row in here] == [row | ages for row in other]
    fullest = {row["cluster_id"]: row.get("fullest_broker") for row in here}
    assert fullest == {"part": 1, "whole": 2, "wrong": None}
    assert (
        latest_scores(spark, str(tmp_path / "none"), keys)[0]["status"] == "no-scores"
    )


def test_the_latest_scores_count_log_dirs_over_the_disk_threshold(
    spark, tmp_path, monkeypatch
):
    document = skewed_document()
    full = {"partition": 0, "replicas": [1], "size_bytes": 14_000}
    lone = {"partition": 1, "replicas": [2], "size_bytes": 29_000}
    document["topics"] = [
        {
            "name": "t",
            "partitions": [
                full | {"log_dirs": ["/d1"]},
                lone | {"log_dirs": ["/d1"]},
            ],
        }
    ]
    append(Snapshot.from_document(document), Store(str(tmp_path / "fleet")))
    out = str(tmp_path / "out")
    keys = scored(spark, str(tmp_path / "fleet"), out).latest

    (here,) = latest_scores(spark, out, keys)
    monkeypatch.setattr("planner.spark.output.latest_scores.plain_path", lambda _: None)
    (other,) = latest_scores(spark, out, keys)

    # The log dir of broker 2 is full with the whole broker.
    assert here["log_dirs_over_threshold"] == other["log_dirs_over_threshold"] == 1
    assert here["resources"]["disk"]["brokers_over_threshold"] == 1
    assert "1 log dir over" in [*facts_of_score(here).parts()]


def test_other_fleets_are_left_to_spark(spark, fleet, monkeypatch):
    settings = ScoreSettings.defaults()
    files, tables = open_fleet(spark, fleet), fleet_of_snapshots(spark, [snapshot("c")])
    assert small_scores.small_scores(files, settings) is not None

    assert small_scores.small_scores(tables, settings) is None
    with monkeypatch.context() as patched:
        patched.setattr(small_scores, "SMALL_ROWS", small_scores.BROKER_ROWS)
        assert small_scores.small_scores(files, settings) is None
    compact(Store(fleet))
    assert small_scores.small_scores(open_fleet(spark, fleet), settings) is None


def test_days_that_are_scored_again_replace_those_of_spark(
    spark, fleet, tmp_path, monkeypatch
):
    out = tmp_path / "out"
    with monkeypatch.context() as patched:
        patched.setattr(small_scores, "SMALL_ROWS", 0)
        scored(spark, fleet, out)
    expected = {table: rows_of(out, table) for table in TABLES}

    scored(spark, fleet, out)
    scored(spark, fleet, out, selection=read_selection(cluster="whole"))

    assert {table: rows_of(out, table) for table in TABLES} == expected
    assert not [*out.rglob(".staging*")]


@pytest.mark.parametrize(
    ("conf", "is_here"),
    [
        pytest.param({"spark.master": "local"}, True, id="this-machine"),
        pytest.param({"spark.master": "local[*]"}, True, id="all-cores"),
        pytest.param({"spark.master": "local-cluster[1,1,600]"}, False, id="executors"),
        pytest.param({"spark.master": "spark://m:7077"}, False, id="cluster"),
        pytest.param(
            {"spark.master": "local", "spark.hadoop.fs.defaultFS": "hdfs://n"},
            False,
            id="other-files",
        ),
    ],
)
def test_folders_are_here_where_spark_is(spark, monkeypatch, conf, is_here):
    monkeypatch.setattr(
        type(spark.conf), "get", lambda _, name, none: conf.get(name, none)
    )

    assert local_folder(spark, "/out") == (Path("/out") if is_here else None)
    assert local_folder(spark, "s3a://bucket/out") is None
    assert local_folder(spark, "table:lake.scores") is None
    assert local_folder(object(), "/out") is None


def test_a_place_that_cannot_be_written_is_refused(spark, fleet, tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(BadInputError, match="will not write") as found:
        scored(spark, fleet, tmp_path / "file" / "out")

    assert "Not a directory" in str(found.value)


def test_an_interrupted_write_leaves_the_days_of_before(tmp_path, monkeypatch):
    contract = RESULTS["done"]
    times = [f"{day}T08:00:00Z" for day in DAYS]
    first = done_rows([*times[:2], None], "first")
    write_days(first, tmp_path / "done", contract)
    assert {path.name[5:] for path in (tmp_path / "done").glob("date=*")} == {
        *DAYS[:2],
        NO_DAY,
    }

    written = []

    def interrupted(rows, folder):
        written.append(folder.name)
        if len(written) == 2:
            raise OSError

    with monkeypatch.context() as patched:
        patched.setattr("planner.spark.output.local_tables._write", interrupted)
        with pytest.raises(OSError):  # noqa: PT011 - ours
            write_days(done_rows(times, "second"), tmp_path / "done", contract)
    assert contents(tmp_path / "done") == ["first"] * 3

    write_days(done_rows(times[1:], "second"), tmp_path / "done", contract, [NO_DAY])
    assert contents(tmp_path / "done") == ["first", "second", "second"]
    assert [*(tmp_path / "done" / f"date={NO_DAY}").glob("*.parquet")] != []


def done_rows(times, content):
    count = len(times)
    moments = pa.array(times).cast(pa.timestamp("us", tz="UTC"))
    columns = [pa.array(["c"] * count), moments, pa.array([content] * count)]
    return pa.Table.from_arrays(columns, schema=RESULTS["done"].columns)


def contents(folder):
    return sorted(dataset.dataset(folder).to_table()["content"].to_pylist())
