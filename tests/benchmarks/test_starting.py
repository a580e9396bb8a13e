"""The benchmark of the start of the command line runs."""

import pytest

from benchmarks.starting import COMMANDS, HEADER, measure, table


@pytest.mark.slow
def test_the_start_of_a_command_is_measured():
    name = next(iter(COMMANDS))

    found = measure(name, num_runs=1)

    assert found.wall_s > 0
    assert table([found]).startswith(HEADER)
    assert f"| `{name}` |" in table([found])
