"""
Fleets that Spark alone reaches: no plain path leads there, as with object stores.

Hadoop's own view of file systems stands for them: a scheme that this machine's files
are mounted below.
"""

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from planner.fleet.append import append
from planner.fleet.fleet_store import Store
from planner.spark.scoring.fleet_scores import scores
from support.broken_files import cut, spoil
from support.commands import run
from support.scores import by_place, differences, in_memory
from support.spark import snapshot

pytestmark = [
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]


@pytest.fixture
def mounted(spark, tmp_path):
    """The folder of a test under another scheme."""
    name = f"{tmp_path.parent.name}-{tmp_path.name}".replace("_", "-").lower()
    spark.conf.set(f"fs.viewfs.mounttable.{name}.link./data", tmp_path.as_uri())
    return f"viewfs://{name}/data"


def break_brokers(path):
    """Let a broker stand twice."""
    table = parquet.read_table(path)
    parquet.write_table(pa.concat_tables([table, table.slice(0, 1)]), path)


def file_of(folder, table, cluster_id, day="21"):
    """The file of one table of one snapshot."""
    (found,) = (
        folder / file
        for commit in Store(str(folder)).commits()
        for name, moment in commit.snapshots
        if (name, moment[8:10]) == (cluster_id, day)
        for file in commit.files[table]
    )
    return found


def rows_in(spark, folder, table):
    return spark.read.parquet(f"{folder}/{table}").collect()


@pytest.mark.parametrize("is_mounted", [False, True])
def test_problems_that_were_mended_are_gone(
    spark, tmp_path, mounted, capsys, is_mounted
):
    root = mounted if is_mounted else str(tmp_path)
    store = Store(str(tmp_path / "fleet"))
    good, wrong = snapshot("good"), snapshot("wrong")
    append(good, store)
    append(wrong, store)
    break_brokers(file_of(tmp_path / "fleet", "brokers", "wrong"))

    def score():
        return run(
            capsys, "fleet", "score", f"{root}/fleet", "-o", f"{root}/out",
            "--format", "json",
        )  # fmt: skip

    broken = score()
    assert broken.code == 3
    assert {row["cluster_id"] for row in rows_in(spark, f"{root}/out", "problems")} == {
        "wrong"
    }
    mended = snapshot("wrong", kafka_version="4.3.1")
    append(mended, store)

    assert score().code == 0
    assert rows_in(spark, f"{root}/out", "problems") == []
    table = spark.read.parquet(f"{root}/out/scores").drop("date")
    found = by_place(table.toArrow())
    assert differences(in_memory([good, mended]), found) == []


@pytest.mark.parametrize(
    ("table", "breaks"),
    [
        pytest.param("partitions", cut, id="cut-partitions"),
        pytest.param("topics", spoil, id="spoilt-topics"),
        pytest.param("clusters", Path.unlink, id="no-clusters"),
    ],
)
def test_a_broken_file_costs_its_own_snapshots_their_rows(
    spark, tmp_path, mounted, capsys, table, breaks
):
    good = snapshot("good")
    for each in (good, snapshot("bad")):
        append(each, Store(str(tmp_path / "fleet")))
    path = file_of(tmp_path / "fleet", table, "bad")
    breaks(path)

    def command(name, *options):
        return run(
            capsys, "fleet", name, f"{mounted}/fleet", "-o", f"{mounted}/out",
            "--format", "json", *options,
        )  # fmt: skip

    planned = command("plan", "--effort", "quick")
    seen = command("overview")
    scored = command("score")

    assert (planned.code, seen.code, scored.code) == (3, 3, 3)
    rows = {row["cluster_id"]: row for row in planned.document["plans"]}
    assert (rows["bad"]["status"], rows["good"]["reason"]) == ("failed", None)
    first, last = seen.document["clusters"]
    assert (first["cluster_id"], first["status"]) == ("bad", "failed")
    assert (last["cluster_id"], last["status"]) == ("good", "ok")
    (problem,) = rows_in(spark, f"{mounted}/out", "problems")
    assert (problem["cluster_id"], problem["table"]) == ("bad", table)
    for said in (rows["bad"]["reason"], first["reason"], problem["rule"]):
        assert path.name in said
    scores = spark.read.parquet(f"{mounted}/out/scores").drop("date")
    assert differences(in_memory([good]), by_place(scores.toArrow())) == []


def test_integers_of_any_width_are_read(spark, tmp_path, mounted):
    folder = tmp_path / "fleet"
    snapshots = [snapshot("wide"), snapshot("as-written")]
    for each in snapshots:
        append(each, Store(str(folder)))
    for table in ("brokers", "log_dirs", "partitions"):
        path = file_of(folder, table, "wide")
        parquet.write_table(with_wide_integers(parquet.read_table(path)), path)

    found = scores(spark, f"{mounted}/fleet").toArrow()

    assert differences(in_memory(snapshots), by_place(found)) == []


def with_wide_integers(table):
    """Integers of 64 bits, in lists too."""
    wide = {
        pa.int32(): pa.int64(),
        pa.list_(pa.int32()): pa.list_(pa.int64()),
    }
    kinds = [(field.name, wide.get(field.type, field.type)) for field in table.schema]
    assert [kind for _, kind in kinds] != table.schema.types
    return table.cast(pa.schema(kinds))


def test_changes_go_on_where_a_file_is_broken(spark, tmp_path, mounted, capsys):
    fleet = tmp_path / "fleet"
    for day in ("20", "21"):
        for name in "ab":
            moment = f"2026-11-{day}T08:00:00Z"
            append(snapshot(name, moment), Store(str(fleet)))
    planned = run(
        capsys, "fleet", "plan", f"{mounted}/fleet", "-o", f"{mounted}/plans",
        "--effort", "quick", "--history",
    )  # fmt: skip
    path = file_of(fleet, "partitions", "b")
    cut(path)

    changed = run(
        capsys, "fleet", "changes", f"{mounted}/fleet", "-o", f"{mounted}/out",
        "--plans", f"{mounted}/plans", "--format", "json",
    )  # fmt: skip

    assert (planned.code, changed.code) == (0, 3)
    pairs = {row["cluster_id"]: row for row in changed.document["changes"]}
    assert (pairs["a"]["copies"], pairs["a"]["reason"]) == (0, None)
    drifted = {row["cluster_id"]: row for row in changed.document["drift"]}
    assert drifted["b"]["status"] == "unknown"
    assert path.name in pairs["b"]["reason"]
    assert path.name in drifted["b"]["reason"]
