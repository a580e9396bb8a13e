"""The benchmark of keys runs small, and its tables have every figure."""

import pytest

from benchmarks.keying import (
    HASHED,
    MARKERS,
    SMOKE_KEYS,
    Skewed,
    hash_table,
    measure_hashing,
    measure_skew,
    skew_table,
)
from benchmarks.run import ROOT


@pytest.mark.parametrize("name", HASHED)
def test_every_partitioner_runs_small(name):
    found = measure_hashing(name, SMOKE_KEYS, 1)

    assert (found.partitioner, found.keys, found.runs) == (name, SMOKE_KEYS, 1)
    assert f"| `{name}` | 3,000 | 1 |" in hash_table([found])


@pytest.mark.spark
@pytest.mark.filterwarnings("default")
def test_the_skew_runs_small_beside_a_plain_count(spark, tmp_path):
    found = measure_skew(spark, tmp_path, SMOKE_KEYS, 1, 0)

    assert found.records == SMOKE_KEYS
    assert 0 < found.keys <= SMOKE_KEYS // 5
    assert found.ratio == found.skew_cpu_s / found.plain_cpu_s > 0


def test_a_row_has_every_figure():
    found = Skewed(
        records=10**8,
        keys=2 * 10**7,
        runs=3,
        plain_cpu_s=100.0,
        skew_cpu_s=150.0,
        ratio=1.5,
        driver_bytes=2 * 10**8,
        jvm_bytes=3 * 10**9,
        worker_bytes=10**8,
    )

    lines = skew_table([found]).splitlines()

    assert lines[-1] == (
        "| 100,000,000 | 20,000,000 | 3 | 100.0 | 150.0 | 1.50 | 200 | 3000 | 100 |"
    )
    assert {line.count("|") for line in lines} == {10}


def test_the_page_has_the_markers():
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")

    assert [page.count(marker) for marker in MARKERS] == [1, 1]
