from dataclasses import replace

import pytest

from benchmarks.run import ROOT
from benchmarks.waving import (
    HEADER,
    MARKERS,
    SMOKE,
    WAVINGS,
    Waved,
    is_met,
    measure,
    row_text,
)

ROW = WAVINGS[0]
FOUND = Waved(
    name=ROW.name,
    seed=1,
    cut_s=0.05,
    lists_s=0.1,
    copies=100,
    waves=4,
    least_waves=4,
    time_ratio=1.01,
    by_wave_ratio=1.4,
    num_findings=0,
)


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in SMOKE])
def test_every_kind_of_cap_is_cut_small(row):
    found = measure(row, 1)

    assert found.copies > 0
    assert found.num_findings == 0
    assert found.waves >= found.least_waves > 0
    assert 1 <= found.time_ratio <= 1.5
    assert found.by_wave_ratio >= 1
    if row.settings.max_shared is None:
        assert found.waves == found.least_waves


def test_names_of_rows_differ():
    assert len({row.name for row in WAVINGS}) == len(WAVINGS)


@pytest.mark.parametrize(
    ("changes", "is_kept"),
    [
        pytest.param({}, True, id="fine"),
        pytest.param({"lists_s": 0.2}, False, id="slow"),
        pytest.param({"waves": 5}, False, id="too-many-waves"),
        pytest.param({"time_ratio": 1.03}, False, id="too-long"),
        pytest.param({"num_findings": 1}, False, id="refused-by-the-checker"),
        pytest.param({"by_wave_ratio": 9.0}, True, id="long-wave-by-wave"),
        pytest.param({"num_findings": -1}, True, id="not-asked"),
    ],
)
def test_a_row_is_met_if_it_keeps_to_all_limits(changes, is_kept):
    found = [replace(FOUND, **changes)]

    assert is_met(ROW, found) is is_kept
    assert row_text(ROW, found).endswith("| yes |" if is_kept else "| **no** |")
    assert row_text(ROW, found).count("|") == HEADER.splitlines()[0].count("|")


def test_the_page_has_a_place_for_the_table():
    page = (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8")

    assert all(page.count(marker) == 1 for marker in MARKERS)
