"""Runs of large plans, measured small."""

import pytest

from benchmarks.carrying import SMOKE_MOVES, carried, table


@pytest.mark.slow
def test_a_small_run_is_measured():
    found = carried(SMOKE_MOVES)

    assert (found.moves, found.status) == (SMOKE_MOVES, "completed")
    assert found.cpu_s > 0
    assert 0 < found.own_bytes <= found.added_bytes
    assert table([found]).count("\n") == 3
