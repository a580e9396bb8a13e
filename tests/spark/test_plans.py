"""A fleet planned inside Spark is each of its clusters planned by itself."""

import json
from dataclasses import replace

import pytest
from pyspark.sql import functions as F  # noqa: N812

from planner.cli.fleet.fleet_plan import print_rows
from planner.errors import BadInputError
from planner.fleet.append import append
from planner.fleet.cluster_plans import (
    FAILED,
    SCHEMA,
    NamedRequest,
    plan_row,
    read_requests,
)
from planner.fleet.fleet_store import Store
from planner.options.plan_request import PlanRequest
from planner.plan.folder.plan_folder import plan_files
from planner.plan.run.make_plan import make
from planner.snapshot import Snapshot
from planner.spark.io.fleet_opening import fleet_of_snapshots
from planner.spark.per_snapshot.map_snapshots import TASK_REPLICAS, on_each
from planner.spark.per_snapshot.snapshot_jobs import SnapshotSize, latest, sizes_of
from planner.spark.reports.fleet_plans import plan_fleet
from support.commands import run
from support.plans import skewed_document
from support.snapshots import small_document

pytestmark = [
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]
TIGHT = PlanRequest(goal="rebalance", band=("0.05",), effort="quick")
WIDE = PlanRequest(goal="rebalance", band=("0.5",), effort="quick")


def skewed(cluster_id, seed, taken_at="2026-11-21T08:00:00Z", num_partitions=30):
    document = skewed_document(seed=seed, num_partitions=num_partitions)
    return Snapshot.from_document(
        document | {"cluster_id": cluster_id, "taken_at": taken_at}
    )


def planned_here(snapshot, request):
    planned = make(snapshot.to_state(), request, taken_at=snapshot.taken_at)
    assert planned.is_ok
    return dict(plan_files(planned.plan))


def rows_of(table):
    rows = [row.asDict(recursive=True) for row in table.collect()]
    return {(row["cluster_id"], row["request"]): row for row in rows}


def test_a_sweep_is_planned_as_each_cluster_alone(spark):
    snapshots = [skewed("a", 1), skewed("b", 2, num_partitions=60)]
    snapshots.append(skewed("b", 3, "2026-11-20T08:00:00Z"))
    requests = {"tight": TIGHT, "wide": WIDE}

    table = plan_fleet(spark, fleet_of_snapshots(spark, snapshots), requests)
    found = rows_of(table)

    assert table.columns == SCHEMA.names
    assert set(found) == {(c, r) for c in "ab" for r in requests}
    for snapshot in snapshots[:2]:
        for name, request in requests.items():
            row = found[snapshot.cluster_id, name]
            files = planned_here(snapshot, request)
            assert row["plan"] == files.pop("plan.json")
            assert row["files"] == files
            document = json.loads(row["plan"])
            assert (row["status"], row["num_findings"]) == (document["status"], 0)
            assert json.loads(row["certificate"]) == document["certificate"]
            assert row["moved_bytes"] == document["moves"]["bytes"]
            assert row["bytes_gap"] == document["certificate"]["bytes"]["gap"]


def test_a_broken_cluster_is_a_row_with_its_reason(spark):
    fleet = fleet_of_snapshots(spark, [skewed("good", 1), skewed("bad", 2)])
    is_bad = (F.col("cluster_id") == "bad") & (F.col("topic") == "a")
    lost = F.when(is_bad, F.array(F.lit(77))).otherwise(F.col("replicas"))
    partitions = fleet.partitions.withColumn("replicas", lost.cast("array<int>"))
    requests = {
        "rebalance": TIGHT,
        "remove": PlanRequest(goal="remove-brokers", broker_list="99"),
    }

    found = rows_of(plan_fleet(spark, replace(fleet, partitions=partitions), requests))

    status = {key: row["status"] for key, row in found.items()}
    assert status.pop(("good", "rebalance")) == "feasible"
    assert set(status.values()) == {"refused"}
    assert "77" in found["bad", "rebalance"]["reason"]
    assert "99" in found["good", "remove"]["reason"]
    assert all(found[key]["plan"] is None for key in status)


def test_what_the_planner_trips_over_is_a_row(monkeypatch):
    def trip(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr("planner.plan.run.make_plan.make", trip)
    snapshot = skewed("a", 1)

    row = plan_row(
        snapshot.tables(), snapshot.header(), NamedRequest(name="r", request=TIGHT)
    )

    assert row["status"] == FAILED
    assert "ZeroDivisionError" in row["reason"]


def test_each_large_snapshot_is_one_task_the_largest_first(spark):
    import pyarrow as pa

    sizes = [3 * TASK_REPLICAS, 10, TASK_REPLICAS, 20]
    names = ["a", "b", "c", "d"]
    fleet = fleet_of_snapshots(spark, [skewed(name, 1) for name in names])
    jobs = [
        replace(size, replicas=pretended).job("job")
        for size, pretended in zip(sizes_of(fleet), sizes, strict=True)
    ]
    schema = pa.schema(
        [
            ("cluster_id", pa.string()),
            ("taken_at", pa.timestamp("us", tz="UTC")),
            ("partitions", pa.int64()),
            ("task", pa.int64()),
        ]
    )

    def work(snapshots, job):
        from pyspark import TaskContext

        task = TaskContext.get().partitionId()
        count = len(snapshots[0].tables["partitions"])
        return pa.table({"partitions": [count], "task": [task]})

    table = on_each(spark, fleet, jobs, work, schema)

    found = {
        row["cluster_id"]: (row["task"], row["partitions"]) for row in table.collect()
    }
    assert found == {"a": (0, 30), "c": (1, 30), "d": (2, 30), "b": (2, 30)}
    plan = table._jdf.queryExecution().executedPlan().toString()
    assert plan.partition("Initial")[0].count("Exchange hashpartitioning") == 1


def test_the_last_snapshot_of_each_cluster():
    sizes = [
        SnapshotSize(cluster_id=c, micros=m, replicas=1) for c, m in ("a1", "a2", "b1")
    ]

    assert [(s.cluster_id, s.micros) for s in latest(sizes)] == [("a", "2"), ("b", "1")]


def test_plans_are_made_once(spark, tmp_path, capsys):
    fleet, out = tmp_path / "fleet", tmp_path / "out"
    store = Store(str(fleet))
    append(skewed("a", 1), store)

    def plan(*options):
        found = run(
            capsys, "fleet", "plan", fleet, "-o", out, "--effort", "quick",
            "--format", "json", *options,
        )  # fmt: skip
        rows = found.document["plans"]
        return (
            found.code,
            [row["cluster_id"] for row in rows],
            found.document["skipped"],
        )

    assert plan() == (0, ["a"], 0)
    assert plan() == (0, [], 1)
    append(skewed("b", 2), store)
    empty = small_document(
        cluster_id="none", taken_at="2026-11-21T08:00:00Z", topics=[]
    )
    append(Snapshot.from_document(empty), store)
    assert plan() == (0, ["b", "none"], 1)
    assert plan("--band", "0.3") == (0, ["a", "b", "none"], 0)
    assert plan("--all", "--goal", "add-brokers") == (3, ["a", "b", "none"], 0)
    assert spark.read.parquet(str(out / "plans")).count() == 3


def test_the_screen_is_no_wider_than_80(capsys):
    row = plan_row(
        skewed("a" * 40, 1).tables(), {}, NamedRequest(name="tight" * 9, request=TIGHT)
    )
    refused = plan_row({}, {"taken_at": "x"}, NamedRequest(name="tight", request=TIGHT))

    print_rows([{"cluster_id": "a" * 40, **row}, {"cluster_id": "b", **refused}])

    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    plain = [line for line in lines if not line.startswith(" ")]
    assert [line.split()[0] for line in plain] == ["Cluster", "b", "a" * 18]
    # The reason stands below its plan, as long as it is.
    below = [line for line in lines if line.startswith(" ")]
    assert " ".join(below).split() == refused["reason"].split()


def test_a_sweep_from_a_file(spark, tmp_path, capsys):
    fleet = tmp_path / "fleet"
    append(skewed("a", 1), Store(str(fleet)))
    sweep = tmp_path / "sweep.json"
    sweep.write_text(
        '[{"name": "wide", "goal": "rebalance", "band": ["0.5"], "effort": "quick"},'
        ' {"name": "few", "goal": "rebalance", "max_moves": 1, "effort": "quick"}]'
    )

    found = run(
        capsys, "fleet", "plan", fleet, "-o", tmp_path / "out", "--sweep", sweep,
        "--format", "json",
    )  # fmt: skip

    rows = {row["request"]: row for row in found.document["plans"]}
    assert set(rows) == {"wide", "few"}
    assert rows["few"]["moved_replicas"] <= 1


def test_fleets_are_planned_by_the_rules_of_single_plans(spark, tmp_path, capsys):
    fleet, racks = tmp_path / "fleet", tmp_path / "racks"
    append(skewed("a", 1), Store(str(fleet)))
    racks.write_text("a = x\nb = x  # one room\n")

    found = run(
        capsys, "fleet", "plan", fleet, "-o", tmp_path / "out", "--effort", "quick",
        "--keep-topics", "a", "--rack-map", racks, "--rack-rule", "off",
        "--max-moves-in", "2", "--soft", "max-replicas",
        "--max-replicas-per-broker", "20", "--format", "json",
    )  # fmt: skip

    rules = {
        "keep_topics": "a", "rack_map": ("a=x", "b=x"), "rack_rule": "off",
        "soft": ("max-replicas",), "max_replicas_per_broker": 20,
    }  # fmt: skip
    request = PlanRequest(goal="rebalance", effort="quick", max_moves_in=2, **rules)
    files = planned_here(skewed("a", 1), request)
    (row,) = spark.read.parquet(str(tmp_path / "out" / "plans")).collect()
    assert (found.code, row["plan"]) == (0, files.pop("plan.json"))
    assert row["files"] == files
    assert "waves.json" in " ".join(files)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("{", "JSON list", id="not-json"),
        pytest.param("[]", "JSON list", id="empty"),
        pytest.param('[{"goal": "rebalance"}]', "name", id="no-name"),
        pytest.param('[{"name": "a"}]', "goal", id="no-goal"),
        pytest.param('[{"name": "a", "goal": "g", "bnad": []}]', "bnad", id="unknown"),
        pytest.param('[{"name": "a", "goal": "g", "seed": "1"}]', "seed", id="type"),
        pytest.param(
            '[{"name":"a","goal":"g"},{"name":"a","goal":"g"}]', "once", id="twice"
        ),
    ],
)
def test_sweeps_that_are_none_are_refused(text, said):
    with pytest.raises(BadInputError) as refused:
        read_requests(text, file="s.json")

    assert said in " ".join(map(str, refused.value.problems))


def test_a_sweep_may_group_rules_and_the_options_of_an_operation():
    text = """[{"name": "a", "goal": "replace-broker", "max_bytes": "2kB",
        "rules": {"rules": "cruise-control", "soft": ["rack"]},
        "own": {"broker": ["1"], "with_broker": ["2"]}}]"""

    (named,) = read_requests(text, file="s.json")

    assert named.request == PlanRequest(
        "replace-broker", max_bytes=2000, rules="cruise-control", soft=("rack",),
        broker=(1,), with_broker=(2,),
    )  # fmt: skip


@pytest.mark.parametrize(
    "options",
    [
        ["--band", "x"],
        ["--goal", "nothing"],
        ["--soft", "nothing"],
        ["--min-topic-leaders", "a"],
        ["--rack-map", "nowhere"],
        ["--bandwidth", "fast"],
    ],
)
def test_options_are_refused_before_spark_is_asked(options, tmp_path, capsys):
    found = run(capsys, "fleet", "plan", tmp_path, "-o", tmp_path / "out", *options)

    assert found.code == 2
    assert not (tmp_path / "out").exists()
