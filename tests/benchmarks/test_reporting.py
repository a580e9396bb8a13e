"""The benchmark of reports runs on the bundled cluster."""

import pytest

from benchmarks.reporting import HEADER, measure, table
from planner.demo import SNAPSHOT_FILE


@pytest.mark.slow
def test_a_report_is_measured_as_a_whole_command(tmp_path):
    found = measure("score, demo", SNAPSHOT_FILE, tmp_path, num_runs=1)

    assert found.cpu_s > 0
    assert found.page_bytes == (tmp_path / "report.html").stat().st_size
    assert table([found]).startswith(HEADER)
    assert f"| {found.page_bytes / 1e6:.2f} |" in table([found])
