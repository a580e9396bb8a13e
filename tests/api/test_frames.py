"""Results through the data frames of others: equal values, null where unknown."""

from datetime import UTC, datetime

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import planner
from planner.plan.folder.moves_file import read_moves
from planner.score.make_score import score_snapshot
from planner.score.score_tables import score_table
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


@pytest.mark.not_quick
@pytest.mark.parametrize("known", ["none", "some", "all"])
def test_a_copy_of_unknown_size_is_not_one_of_no_bytes(tmp_path, known):
    document = document_without_rates()
    partitions = [one for topic in document["topics"] for one in topic["partitions"]]
    for at, partition in enumerate(partitions):
        if known == "none" or (known == "some" and at % 2):
            for name in ("size_bytes", "replica_bytes"):
                partition.pop(name, None)
    sizes = {
        (topic["name"], one["partition"]): one.get("size_bytes")
        for topic in document["topics"]
        for one in topic["partitions"]
    }

    plan = planner.rebalance(Snapshot.from_document(document), band=0.2)
    plan.write(tmp_path / "p")

    copies = [
        row for row in plan.moves.to_arrow().to_pylist() if row["kind"] == "replica"
    ]
    found = [row["bytes"] for row in copies]
    assert copies
    assert found == [sizes[row["topic"], row["partition"]] for row in copies]
    total = None if None in found else sum(found)
    assert plan.document["moves"]["bytes"] == total
    assert [
        row.size_bytes
        for row in read_moves(tmp_path / "p" / "moves.csv")
        if row.kind == "replica"
    ] == found
    summary = (tmp_path / "p" / "RUNBOOK.md").read_text()
    assert ("sizes unknown" in summary) == (total is None)
