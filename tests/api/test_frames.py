"""Results through the data frames of others: equal values, null where unknown."""

from datetime import UTC, datetime

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import planner
from planner.score.make import score_snapshot
from planner.score.tables import score_table
from planner.snapshot import Snapshot
from support.plans import skewed_document


def document_without_rates():
    """Nobody knows rates, one broker has no capacity, one replica goes."""
    document = skewed_document()
    for topic in document["topics"]:
        for partition in topic["partitions"]:
            for name in ("in_bytes_per_s", "out_bytes_per_s"):
                partition.pop(name, None)
    return document


@pytest.fixture(scope="module")
def results():
    snapshot = Snapshot.from_document(document_without_rates())
    plan = planner.rebalance(snapshot, band=0.2)
    scored = score_snapshot(snapshot, now=datetime(2026, 11, 26, tzinfo=UTC))
    failures = planner.try_failures(snapshot)
    return {
        "moves": plan.moves.to_arrow(),
        "brokers": plan.brokers.to_arrow(),
        "failures": failures.table.to_arrow(),
        "scores": score_table([scored]),
    }


def by_pandas(table, path):
    table.to_pandas().to_parquet(path)


def by_polars(table, path):
    pl.from_arrow(table).write_parquet(path)


def by_duckdb(table, path):
    with duckdb.connect() as connection:
        connection.register("given", table)
        connection.table("given").write_parquet(str(path))


@pytest.mark.parametrize("write", [by_pandas, by_polars, by_duckdb])
@pytest.mark.parametrize("name", ["moves", "brokers", "failures", "scores"])
def test_a_result_comes_back_as_it_was(results, name, write, tmp_path):
    table = results[name]

    write(table, tmp_path / "t.parquet")
    back = parquet.read_table(tmp_path / "t.parquet").select(table.column_names)

    assert back.cast(table.schema).to_pylist() == table.to_pylist()


def test_what_is_not_known_is_null_in_every_frame(results):
    scores = results["scores"].to_pandas()
    brokers = pl.from_arrow(results["brokers"])

    unknown = scores[(scores["resource"] == "in") & (scores["level"] == "cluster")]
    assert unknown["total"].isna().all()
    assert unknown["known_fraction"].tolist() == [0.0]
    assert brokers.filter(pl.col("resource") == "out")["load_before"].is_null().all()


def test_arrow_has_no_number_for_what_is_not_known(results):
    for table in results.values():
        for column in table.columns:
            if pa.types.is_floating(column.type):
                assert not np.isnan(column.drop_null().to_numpy()).any()
