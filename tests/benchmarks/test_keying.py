"""The benchmark of keys runs small, and its tables have every figure."""

import pytest

from benchmarks.keying import (
    HASHED,
    MARKERS,
    READ,
    SMOKE_KEYS,
    Read,
    Skewed,
    hash_table,
    measure_hashing,
    measure_skew,
    read_and_place,
    read_table,
    skew_table,
    write_sample,
)
from benchmarks.run import ROOT
from planner.keys.formats.read_sample import read_sample
from planner.keys.sample_options import SampleOptions


@pytest.mark.parametrize("name", HASHED)
def test_every_partitioner_runs_small(name):
    found = measure_hashing(name, SMOKE_KEYS, 1)

    assert (found.partitioner, found.keys, found.runs) == (name, SMOKE_KEYS, 1)
    assert f"| `{name}` | 3,000 | 1 |" in hash_table([found])


@pytest.mark.parametrize("kind", READ)
def test_every_kind_of_sample_is_read_small(kind, tmp_path):
    path = write_sample(kind, tmp_path, SMOKE_KEYS)

    read_s, place_s, most = read_and_place(kind, path)

    options = SampleOptions(key_type=None if kind == "text" else kind)
    assert read_sample(path, options).num_keys == SMOKE_KEYS
    assert min(read_s, place_s) >= 0
    found = Read(
        kind=kind,
        keys=SMOKE_KEYS,
        runs=1,
        file_bytes=10**6,
        read_cpu_s=read_s,
        place_cpu_s=place_s,
        peak_bytes=most,
    )
    assert "| 3,000 | 1 | 1 |" in read_table([found])


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
