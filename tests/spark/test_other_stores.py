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
from planner.spark.io.fleet_opening import open_fleet
from planner.spark.scoring.fleet_scores import score_fleet
from support.broken_files import cut, spoil
from support.commands import run
from support.profile import sampled
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


@pytest.mark.parametrize("is_mounted", sampled([False, True], 1))
def test_corrected_problems_are_gone(spark, tmp_path, mounted, capsys, is_mounted):
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
    sampled(
        [
            pytest.param("partitions", cut, id="cut-partitions"),
            pytest.param("topics", spoil, id="spoilt-topics"),
            pytest.param("clusters", Path.unlink, id="no-clusters"),
        ],
        1,
    ),
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


NUMBERS = {
    "wide": pa.int64(),
    "decimals": pa.decimal128(22, 2),
    "floats": pa.float64(),
    "texts": pa.string(),
}
"""Types that stand for integers, and the clusters whose files have them."""


def test_numbers_of_any_type_are_read(spark, tmp_path, mounted):
    folder = tmp_path / "fleet"
    snapshots = [snapshot(name) for name in (*NUMBERS, "as-written")]
    for each in snapshots:
        append(each, Store(str(folder)))
    for name, kind in NUMBERS.items():
        for table in ("brokers", "log_dirs", "partitions"):
            path = file_of(folder, table, name)
            parquet.write_table(with_numbers(parquet.read_table(path), kind), path)

    found, problems = scored(spark, f"{mounted}/fleet")

    assert problems == []
    assert differences(in_memory(snapshots), found) == []


def with_numbers(table, kind):
    """A table with another type in the place of integers, in lists too."""
    whole = {pa.int32(), pa.int64()}
    others = dict.fromkeys(whole, kind) | {
        pa.list_(each): pa.list_(kind) for each in whole
    }
    kinds = [(field.name, others.get(field.type, field.type)) for field in table.schema]
    assert [kind for _, kind in kinds] != table.schema.types
    return table.cast(pa.schema(kinds))


def scored(spark, folder):
    """Scores of a fleet by place, and its problems."""
    found = score_fleet(open_fleet(spark, folder))
    try:
        return by_place(found.scores.toArrow()), found.problems.collect()
    finally:
        found.release()


def test_columns_that_are_wrong_cost_their_snapshots_alone(spark, tmp_path, mounted):
    folder = tmp_path / "fleet"
    good, *others = [snapshot(name) for name in ("good", "text", "list", "broker")]
    for each in (good, *others):
        append(each, Store(str(folder)))
    wrong = {
        "text": ("partitions", "size_bytes", "5GB"),
        "list": ("partitions", "replicas", 1),
        "broker": ("brokers", "id", "one"),
    }
    for name, (table, column, value) in wrong.items():
        path = file_of(folder, table, name)
        rows = parquet.read_table(path)
        values = pa.array([value] * len(rows))
        at = rows.schema.get_field_index(column)
        parquet.write_table(rows.set_column(at, column, values), path)

    found, problems = scored(spark, f"{mounted}/fleet")

    assert differences(in_memory([good]), found) == []
    told = {name: [] for name in wrong}
    for row in problems:
        told[row["cluster_id"]].append((row["table"], row["value"], row["rule"]))
    for name, (table, _, value) in wrong.items():
        tables, values, rules = zip(*told[name], strict=True)
        assert table in tables
        assert str(value) in values or "replicas must be array<int>" in rules[0]


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
