"""Sizes and rates as they are written on a command line."""

import pytest

from planner.text.units import parse_bytes, parse_rate


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("0", 0, id="zero"),
        pytest.param("1e3", 1000, id="exponent"),
        pytest.param("500GB", 500 * 10**9, id="decimal"),
        pytest.param("2TiB", 2 * 2**40, id="binary"),
        pytest.param("1.5 kB", 1500, id="fraction-and-space"),
        pytest.param("1KB", 1000, id="capital-k"),
        pytest.param("12B", 12, id="bytes"),
    ],
)
def test_a_size_is_read(text: str, value: int):
    assert parse_bytes(text) == value
    assert parse_rate(f"{text}/s") == parse_rate(text) == value


@pytest.mark.parametrize(
    "text", ["", "B", "-1", "5Gb", "5G", "5iB", "5 GB/h", "nan", "1e99", "5GB/s/s"]
)
def test_what_is_no_size_is_refused(text: str):
    with pytest.raises(ValueError, match="must be"):
        parse_bytes(text)
    with pytest.raises(ValueError, match="must be"):
        parse_rate(text)
