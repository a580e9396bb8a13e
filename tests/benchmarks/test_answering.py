"""Answers of the page of `ui`: every change is answered, and measured as wanted."""

from pathlib import Path

import pytest

from benchmarks.answering import (
    CHANGES,
    HEADER,
    LARGE,
    SMALL,
    WANTED_MS,
    answered,
    read_table,
    table,
)

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"


@pytest.mark.slow
def test_every_change_has_a_first_answer_and_a_plan():
    rows = answered(SMALL, num_runs=1)

    assert [row.change for row in rows] == [*CHANGES]
    for row in rows:
        assert row.first_s > 0
        # Each is measured by itself.
        assert row.plan_s > 0
    assert table(rows).startswith(HEADER)


def test_the_measured_first_answers_are_as_fast_as_wanted():
    rows = read_table(PAGE.read_text(encoding="utf-8"))

    assert [(cluster, change) for cluster, change, _ in rows] == [
        (size, change) for size in (SMALL, LARGE) for change in CHANGES
    ]
    for cluster, _, cpu_ms in rows:
        assert 0 < cpu_ms <= WANTED_MS[cluster]
