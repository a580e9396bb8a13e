"""Tables of rates beside a listing: CSV, Parquet, and topics that are gone."""

import polars
import pytest

from importers.small_files import HEALTHY
from planner.errors import BadInputError
from planner.snapshot.importers import merge
from planner.snapshot.importers.metrics.rates_table import read_rates


def test_rates_of_topics_that_are_gone_are_passed_over_and_said():
    rates = read_rates(b"topic,partition,in\ngone,0,10\na,0,3\n", file="rates.csv")

    merged = merge([HEALTHY, rates])

    assert any("rates.csv: skipped" in n and "gone" in n for n in merged.notes)
    column = merged.snapshot.partitions.column("in_bytes_per_s")
    assert column.to_pylist() == [3, None]


def test_parquet_rates_are_those_of_csv(tmp_path):
    frame = polars.DataFrame(
        {"topic": ["a", "a"], "partition": [0, 1], "in_bytes_per_s": [1.5, None]}
    )
    frame.write_parquet(tmp_path / "r.parquet")

    read = read_rates((tmp_path / "r.parquet").read_bytes(), file="f")

    csv = read_rates(b"topic,partition,in\na,0,1.5\na,1,\n", file="f")
    assert merge([HEALTHY, read]).snapshot.equals(merge([HEALTHY, csv]).snapshot)


@pytest.mark.parametrize(
    ("columns", "rule"),
    [
        pytest.param({"topic": ["a"]}, "must occur once", id="no-partition"),
        pytest.param(
            {"topic": ["a"], "partition": [0], "in_byte_per_s": [1], "x": [1]},
            "unknown",
            id="a-slip",
        ),
        pytest.param({"topic": ["a"], "partition": [0]}, "measured", id="no-measure"),
        pytest.param(
            {"topic": ["a"], "partition": ["zero"], "in_bytes_per_s": [1.0]},
            "must be an integer",
            id="text-for-a-number",
        ),
        pytest.param(
            {"topic": ["a"], "partition": [0], "in_bytes_per_s": [-1.0]},
            "from 0 to",
            id="negative",
        ),
        pytest.param(
            {"topic": [None], "partition": [0], "in_bytes_per_s": [1.0]},
            "must not be null",
            id="null",
        ),
    ],
)
def test_bad_parquet_is_refused(tmp_path, columns, rule):
    polars.DataFrame(columns).write_parquet(tmp_path / "r.parquet")

    with pytest.raises(BadInputError) as caught:
        read_rates((tmp_path / "r.parquet").read_bytes(), file="f")

    assert any(rule in problem.rule for problem in caught.value.problems)


def test_parquet_may_spell_numbers_as_text(tmp_path):
    columns = {"topic": ["a"], "partition": ["7"], "in_bytes_per_s": ["1.5e3"]}
    polars.DataFrame(columns).write_parquet(tmp_path / "r.parquet")

    rates = read_rates((tmp_path / "r.parquet").read_bytes(), file="f").partitions

    assert list(rates.partitions) == [7]
    assert rates.values == {"in_bytes_per_s": [1500.0]}
