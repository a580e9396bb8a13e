"""Rates in bits are refused with the same rate in bytes."""

import pytest

from planner.demo import SNAPSHOT_FILE
from support.commands import run


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        pytest.param("720Mbit/s", "720Mbit/s is 90MB/s", id="bit"),
        pytest.param("720Mbps", "720Mbps is 90MB/s", id="bps"),
        pytest.param("10 Gbits/s", "10 Gbits/s is 1.25GB/s", id="bits"),
        pytest.param("1Gb/s", "1Gb/s is 125MB/s", id="small-b"),
        pytest.param("64Kibit/s", "64Kibit/s is 8.192kB/s", id="binary"),
        pytest.param("90MB/min", "write 50MB/s", id="another-time"),
        pytest.param("fast", "write 50MB/s", id="no-number"),
    ],
)
def test_a_rate_in_bits_is_named_in_bytes(capsys, text, remedy):
    sized = run(capsys, "partitions", "size", "--brokers", 3, "--throughput", text)
    planned = run(capsys, "plan", "rebalance", SNAPSHOT_FILE, "--bandwidth", text)

    for outcome in (sized, planned):
        assert outcome.code == 2
        assert outcome.err.strip().endswith(f"; {remedy}")
