from dataclasses import replace

import pytest

from benchmarks.spark import (
    PATHS,
    SMOKE_BYTES,
    SMOKE_CLUSTERS,
    SMOKE_REPLICAS,
    Scored,
    measure_score,
    score_table,
)
from benchmarks.spark_ingest import IngestMeasured, ingest_table, measure_ingest
from benchmarks.spark_plans import FleetPlanned, measure_plans, plan_table
from benchmarks.spark_small import (
    SMALLER,
    SMOKE_SNAPSHOTS,
    SNAPSHOTS,
    SmallScored,
    measure_small,
    medians,
    small_table,
    write_fleet,
)

pytestmark = [
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]


def test_scores_and_plans_are_measured_small(spark, tmp_path):
    (tmp_path / "snap").mkdir()

    found = measure_score(spark, tmp_path / "snap", SMOKE_REPLICAS, 1)
    planned = measure_plans(spark, tmp_path, SMOKE_CLUSTERS, 2)

    assert [scored.path for scored in found] == [*PATHS]
    for scored in found:
        assert scored.replicas == SMOKE_REPLICAS
        assert min(scored.plain_s, scored.score_s, scored.score_cpu_s) > 0
        assert min(scored.driver_bytes, scored.jvm_bytes, scored.worker_bytes) > 10**6
    assert sum(planned.statuses.values()) == SMOKE_CLUSTERS
    assert 0 < planned.busy <= 1
    assert planned.share > 0
    assert planned.alone_cpu_s > 0
    assert planned.cpu_s > 0


def test_dumps_are_taken_in_small(spark, tmp_path):
    found = measure_ingest(spark, tmp_path, SMOKE_BYTES, smallest=True)

    # JSON with rates, JSON alone, the text of a tool with rates.
    assert found.files == sum(2 if n % 3 != 1 else 1 for n in range(found.dumps))
    assert found.read_bytes >= SMOKE_BYTES
    assert found.snapshots == found.dumps >= 3
    assert min(found.wall_s, found.again_s, found.cpu_s) > 0
    assert min(found.driver_bytes, found.jvm_bytes, found.worker_bytes) > 10**6


def test_small_snapshots_are_scored_once(spark, tmp_path):
    write_fleet(tmp_path, SMOKE_SNAPSHOTS)

    found = measure_small(spark, tmp_path, snapshots=SMOKE_SNAPSHOTS)

    assert SNAPSHOTS * 260 - SMALLER * 10 == 129_000
    assert (found.snapshots, found.rows) == (SMOKE_SNAPSHOTS, SMOKE_SNAPSHOTS * 259)
    assert found.cpu_s > found.again_cpu_s >= 0
    assert found.wall_s > found.again_s > 0


def test_the_table_of_small_snapshots():
    run = SmallScored(
        snapshots=497,
        rows=129_000,
        wall_s=9.04,
        cpu_s=9.96,
        again_s=0.21,
        again_cpu_s=0.1,
    )

    found = medians([run, replace(run, cpu_s=12.0), replace(run, cpu_s=8.0)])

    assert "| 497 | 129,000 | 9.0 | 10.0 | 0.2 | 0.1 |" in small_table(found)


def test_tables():
    score = Scored(
        path="catalog",
        replicas=10**6,
        runs=3,
        plain_s=0.5,
        score_s=1.25,
        plain_cpu_s=1.0,
        score_cpu_s=2.0,
        driver_bytes=10**8,
        jvm_bytes=2 * 10**9,
        worker_bytes=3 * 10**8,
    )
    plan = FleetPlanned(
        clusters=2000,
        replicas=10**6,
        wall_s=100.0,
        cpu_s=200.0,
        solve_s=150.0,
        total_s=180.0,
        busy=0.9,
        alone_s=170.0,
        alone_cpu_s=160.0,
        share=0.85,
        statuses={"feasible": 1999, "nothing-to-do": 1},
    )

    figures = (
        "| 1,000,000 | 3 | 0.50 | 1.25 | 2.5 | 1.00 | 2.00 | 2.0 | 800,000 | 100 |"
    )
    assert figures in score_table([score])
    expected = (
        "| 150.0 | 180.0 | 90% | 170.0 | 85% | 200.0 | 160.0 | 80% "
        "| 1999 feasible, 1 nothing-to-do |"
    )
    assert expected in plan_table([plan])


def test_the_table_of_what_was_taken_in():
    found = IngestMeasured(
        dumps=2000,
        files=3333,
        read_bytes=2 * 10**9,
        wall_s=100.0,
        cpu_s=160.0,
        again_s=5.0,
        snapshots=2000,
        rejects=7,
        driver_bytes=10**8,
        jvm_bytes=10**9,
        worker_bytes=3 * 10**8,
    )

    expected = (
        "| 2,000 | 3,333 | 2,000 | 100.0 | 20.0 | 160.0 | 12.5 | 5.0 | 2,000 | 7 "
        "| 100 | 1000 | 300 |"
    )
    assert expected in ingest_table([found])
