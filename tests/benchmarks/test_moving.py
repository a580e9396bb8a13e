import numpy as np
import pytest

from benchmarks.moving import MARKERS, SMOKE, Phase, percentiles, table
from benchmarks.run import ROOT

NOTES = {
    kind: np.array([[due, seconds] for due in range(60)], dtype=np.float64)
    for kind, seconds in (("produced", 0.002), ("consumed", 0.004))
}
PHASES = [
    Phase("nothing moves", 0, 20),
    Phase("throttled", 20, 40),
    Phase("no throttle", 40, 47),
]


def test_windows_are_whole_and_a_short_phase_is_one():
    assert list(Phase("", 10, 19).windows(4)) == [(10, 14), (14, 18)]
    assert list(Phase("", 10, 13).windows(4)) == [(10, 13)]


def test_a_percentile_is_that_of_each_window_in_milliseconds():
    notes = NOTES["produced"].copy()
    notes[25:30, 1] = 0.5

    assert percentiles(notes, PHASES[1:2], 10, 99) == pytest.approx([500, 2])


def test_the_table_compares_each_condition_with_nothing_moving():
    notes = {kind: rows.copy() for kind, rows in NOTES.items()}
    notes["produced"][20:40, 1] = 0.003

    rows = table(notes, PHASES, SMOKE).splitlines()[2:]

    assert [row.split(" | ")[0] for row in rows] == [
        "| nothing moves", "| throttled", "| no throttle"
    ]  # fmt: skip
    assert rows[1].split(" | ")[1:5] == ["20", "3.0", "3.0", "1.50"]


def test_the_page_has_a_place_for_the_table():
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")

    assert all(page.count(marker) == 1 for marker in MARKERS)
