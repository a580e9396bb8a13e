"""Tables that pandas, Polars and DuckDB wrote are read as they are."""

import io
import json
import shutil
from decimal import Decimal
from urllib.parse import quote

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from pyarrow import parquet

from planner.errors import BadInputError
from planner.snapshot import Snapshot, read_snapshot, write_snapshot
from planner.snapshot.tables.snapshot_columns import TABLES
from support.snapshots import documents

EXACT = 2**53


def by_pandas(table, path):
    """Through columns as pandas makes them: integers become floats, maps lists."""
    table.to_pandas().to_parquet(path)


def by_pandas_nullable(table, path):
    types = {pa.int32(): pd.Int32Dtype(), pa.int64(): pd.Int64Dtype()}
    types |= {pa.string(): pd.StringDtype(), pa.float64(): pd.Float64Dtype()}
    table.to_pandas(types_mapper=types.get).to_parquet(path)


def by_pandas_sorted(table, path):
    """With an index column, and names as categories."""
    frame = table.to_pandas().iloc[::-1]
    for name in ("topic", "rack", "host"):
        if name in frame:
            frame[name] = frame[name].astype("category")
    frame.to_parquet(path, index=True)


def by_polars(table, path):
    pl.from_arrow(table.cast(without_maps(table.schema))).write_parquet(path)


def by_duckdb(table, path):
    with duckdb.connect() as connection:
        connection.register("given", table)
        connection.table("given").write_parquet(str(path))


def without_maps(schema):
    """Polars has no maps: they are lists of structs."""
    return pa.schema(
        [
            pa.field(
                field.name,
                pa.list_(pa.struct([("key", pa.string()), ("value", pa.string())]))
                if pa.types.is_map(field.type)
                else field.type,
            )
            for field in schema
        ]
    )


def is_exact(snapshot):
    """Tell whether floats hold every integer of a snapshot."""
    numbers = [
        getattr(snapshot, spec.name).column(column.name).drop_null().to_numpy()
        for spec in TABLES
        for column in spec.columns
        if pa.types.is_integer(column.type)
    ]
    return all(each.max(initial=0) <= EXACT for each in numbers)


WRITERS = [by_pandas, by_pandas_nullable, by_pandas_sorted, by_polars, by_duckdb]


@pytest.mark.parametrize("write", WRITERS)
@settings(max_examples=15)
@given(document=documents())
def test_what_others_wrote_is_the_same_snapshot(write, document, tmp_path_factory):
    folder = tmp_path_factory.getbasetemp() / write.__name__
    shutil.rmtree(folder, ignore_errors=True)
    snapshot = Snapshot.from_document(document)
    if not is_exact(snapshot):
        return
    write_snapshot(snapshot, folder)
    for spec in TABLES:
        write(getattr(snapshot, spec.name), folder / spec.file)

    assert read_snapshot(folder).equals(snapshot)


HEADER = '{"format": "kafka-planner/snapshot", "version": 1}'


def folder_of(tmp_path, partitions, brokers=None):
    (tmp_path / "snapshot.json").write_text(HEADER)
    brokers = brokers or {"id": [1, 2], "rack": ["a", "b"]}
    parquet.write_table(pa.table(brokers), tmp_path / "brokers.parquet")
    if partitions is not None:
        parquet.write_table(pa.table(partitions), tmp_path / "partitions.parquet")
    return tmp_path


def test_integers_that_became_floats_or_decimals(tmp_path):
    partitions = {
        "topic": ["t", "t"],
        "partition": pa.array([0.0, 1.0]),
        "replicas": pa.array([[1.0, 2.0], [2.0]]),
        "leader": pa.array([1.0, float("nan")]),
        "size_bytes": pa.array([Decimal("5.00"), None]),
        "in_bytes_per_s": pa.array([Decimal("1.5"), None]),
    }

    snapshot = read_snapshot(folder_of(tmp_path, partitions))

    rows = snapshot.partitions
    assert rows.column("partition").to_pylist() == [0, 1]
    assert rows.column("replicas").to_pylist() == [[1, 2], [2]]
    assert rows.column("leader").to_pylist() == [1, None]
    assert rows.column("size_bytes").to_pylist() == [5, None]
    assert rows.column("in_bytes_per_s").to_pylist() == [1.5, None]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("leader", [1.5, 2.0]),
        ("leader", [2.0**31, 1.0]),
        ("size_bytes", [2.0**63, 1.0]),
        ("size_bytes", [float("inf"), 1.0]),
        ("size_bytes", [Decimal("1.5"), Decimal("1.0")]),
        ("partition", [float("nan"), 1.0]),
    ],
)
def test_what_is_no_integer_is_refused(tmp_path, name, values):
    partitions = {"topic": ["t", "t"], "partition": [0, 1], "replicas": [[1], [2]]}
    partitions[name] = pa.array(values)

    with pytest.raises(BadInputError) as caught:
        read_snapshot(folder_of(tmp_path, partitions))

    assert all(name in one.rule for one in caught.value.problems)


def test_settings_as_dicts(tmp_path):
    partitions = {"topic": ["s", "t"], "partition": [0, 0], "replicas": [[1], [2]]}
    folder = folder_of(tmp_path, partitions)
    configs = [{"min.insync.replicas": "2"}, {"cleanup.policy": "compact"}]
    pd.DataFrame({"topic": ["s", "t"], "configs": configs}).to_parquet(
        folder / "topics.parquet"
    )

    snapshot = read_snapshot(folder)

    assert [*map(dict, snapshot.topics.column("configs").to_pylist())] == configs


@pytest.mark.parametrize("name", ["orders", "x.y_z"])
def test_folders_that_stand_for_a_column(tmp_path, name):
    folder = folder_of(tmp_path, None) / "partitions.parquet"
    for topic, number in ((name, 0), (name, 1), ("other", 0)):
        part = folder / f"topic={quote(topic, safe='')}" / f"partition={number}"
        part.mkdir(parents=True)
        rows = {"replicas": [[1, 2]], "leader": pa.array([None], pa.float64())}
        parquet.write_table(pa.table(rows), part / "part-0.parquet")
        (part / "_SUCCESS").touch()

    snapshot = read_snapshot(tmp_path)

    rows = snapshot.partitions.select(["topic", "partition"]).to_pylist()
    assert [(row["topic"], row["partition"]) for row in rows] == sorted(
        [(name, 0), (name, 1), ("other", 0)]
    )


def test_a_folder_that_is_no_number_is_named(tmp_path):
    part = folder_of(tmp_path, None) / "partitions.parquet" / "partition=x"
    part.mkdir(parents=True)
    rows = {"topic": ["t"], "replicas": [[1, 2]]}
    parquet.write_table(pa.table(rows), part / "part-0.parquet")

    with pytest.raises(BadInputError) as caught:
        read_snapshot(tmp_path)

    assert "partition=x" in caught.value.problems[0].place


def test_a_data_frame_of_rates_is_read_as_pandas_writes_it(capsys, tmp_path):
    from support.commands import run

    topics = "".join(
        f"\tTopic: t\tPartition: {n}\tLeader: 1\tReplicas: 1,2\tIsr: 1,2\n"
        for n in range(3)
    )
    head = "Topic: t\tPartitionCount: 3\tReplicationFactor: 2\tConfigs: \n"
    (tmp_path / "t.txt").write_text(head + topics)
    frame = pd.DataFrame(
        {
            "topic": ["t"] * 3,
            "partition": [0.0, 1.0, 2.0],
            "size_bytes": [5.0, np.nan, 7.0],
            "in_bytes_per_s": [1.5, np.nan, 2.0],
            "team": ["x", "y", "z"],
        }
    )
    frame.to_csv(tmp_path / "rates.csv", na_rep="NaN")
    frame.sort_values("size_bytes").to_parquet(tmp_path / "rates.parquet")

    for name in ("rates.csv", "rates.parquet"):
        found = tmp_path / "s.json"
        given = ("--topics", tmp_path / "t.txt", "--rates", tmp_path / name)
        outcome = run(capsys, "snapshot", "import", *given, "-o", found)

        assert outcome.code == 0, outcome.err
        assert f"{name}: not used: column team" in outcome.err
        rows = json.loads(found.read_text())["topics"][0]["partitions"]
        assert [row.get("size_bytes") for row in rows] == [5, None, 7]
        assert [row.get("in_bytes_per_s") for row in rows] == [1.5, None, 2.0]


def test_a_slip_in_a_heading_is_no_unknown_column(capsys, tmp_path):
    from planner.snapshot.importers.metrics.rates_table import read_rates

    with pytest.raises(BadInputError) as caught:
        read_rates(b"topic,partition,in_byte_per_s,size\nt,0,1,2\n", file="f")

    assert caught.value.problems[0].remedy == "did you mean in_bytes_per_s?"
    buffer = io.BytesIO()
    slip = {"topic": ["t"], "partition": [0], "in_byte_per_s": [1.0], "size_bytes": [2]}
    parquet.write_table(pa.table(slip), buffer)
    with pytest.raises(BadInputError, match="unknown column"):
        read_rates(buffer.getvalue(), file="f")


# Columns that no snapshot has.

BROKERS = {"id": [1, 2], "rack": ["a", "b"]}
PARTITIONS = {"topic": ["t", "u"], "partition": [0, 0], "replicas": [[1, 2], [2, 1]]}


def by_parts(table, path):
    """As Spark writes a table: a folder of parts."""
    path.mkdir()
    for row in range(len(table)):
        parquet.write_table(table.slice(row, 1), path / f"part-0000{row}.parquet")
    (path / "_SUCCESS").touch()


def by_folders(table, path):
    """With a folder for each value of a column that no snapshot has."""
    for row, value in enumerate(table.column("team").to_pylist()):
        part = path / f"team={value}"
        part.mkdir(parents=True, exist_ok=True)
        rest = table.drop_columns(["team"]).slice(row, 1)
        parquet.write_table(rest, part / "part-0.parquet")


@pytest.mark.parametrize("write", [*WRITERS, by_parts, by_folders])
def test_a_column_that_no_snapshot_has_is_named_once(capsys, tmp_path, write):
    from support.commands import run

    (tmp_path / "snapshot.json").write_text(HEADER)
    extra = {"team": ["x", "y"]}
    write(pa.table(BROKERS | extra), tmp_path / "brokers.parquet")
    write(pa.table(PARTITIONS | extra), tmp_path / "partitions.parquet")

    outcome = run(capsys, "snapshot", "show", tmp_path)

    assert outcome.code == 0, outcome.err
    assert outcome.err.count("not used") == 1
    assert "brokers.parquet: column team" in outcome.err
    assert "partitions.parquet: column team" in outcome.err
    assert read_snapshot(tmp_path).partitions.num_rows == 2


@pytest.mark.parametrize("slip", ["size_byte", "SIZE_BYTES", "sizebytes", "Isr"])
def test_a_slip_in_the_name_of_a_column_is_refused(tmp_path, slip):
    (tmp_path / "snapshot.json").write_text(HEADER)
    parquet.write_table(pa.table(BROKERS), tmp_path / "brokers.parquet")
    table = pa.table(PARTITIONS | {slip: [1, 2]})
    parquet.write_table(table, tmp_path / "partitions.parquet")

    with pytest.raises(BadInputError) as caught:
        read_snapshot(tmp_path)

    assert "did you mean" in caught.value.problems[0].remedy


def test_without_other_columns_nothing_is_named(capsys, tmp_path):
    from support.commands import run

    (tmp_path / "snapshot.json").write_text(HEADER)
    by_pandas_sorted(pa.table(BROKERS), tmp_path / "brokers.parquet")
    by_pandas_sorted(pa.table(PARTITIONS), tmp_path / "partitions.parquet")

    assert "not used" not in run(capsys, "snapshot", "show", tmp_path).err
