"""Folders as pyarrow, Polars and Spark write them; Spark's are imitated here."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from planner.errors import BadInputError
from planner.snapshot import Snapshot, read_snapshot, write_snapshot
from planner.snapshot.tables.snapshot_columns import TABLES
from support.snapshots import documents, small_document

Column = Callable[[pa.Array], pa.Array]


def _by_type(array: pa.Array, change: dict[Any, Any]) -> pa.Array:
    return array.cast(change[array.type]) if array.type in change else array


def _large(array: pa.Array) -> pa.Array:
    return _by_type(
        array,
        {
            pa.string(): pa.large_string(),
            pa.list_(pa.int32()): pa.large_list(pa.int64()),
            pa.list_(pa.int64()): pa.large_list(pa.int64()),
            pa.list_(pa.string()): pa.large_list(pa.large_string()),
        },
    )


def _views(array: pa.Array) -> pa.Array:
    return _by_type(array, {pa.string(): pa.string_view()})


def _dictionaries(array: pa.Array) -> pa.Array:
    return array.dictionary_encode() if array.type == pa.string() else array


def _wide(array: pa.Array) -> pa.Array:
    return _by_type(
        array,
        {pa.int32(): pa.int64(), pa.list_(pa.int32()): pa.list_(pa.int64())},
    )


def _nulls(array: pa.Array) -> pa.Array:
    return pa.nulls(len(array)) if array.null_count == len(array) else array


def _polars(array: pa.Array) -> pa.Array:
    """Spell maps as Polars has them: lists of structs."""
    if pa.types.is_map(array.type):
        return array.cast(pa.list_(array.type.field(0)))
    return array


def _spark(array: pa.Array) -> pa.Array:
    """Spell lists and maps as Spark does: lists of `element`, maps of `key_value`."""
    if pa.types.is_list(array.type):
        return array.cast(pa.list_(pa.field("element", array.type.value_type)))
    return array


SPELLINGS = [_large, _views, _dictionaries, _wide, _nulls, _polars, _spark]


def _respelled(table: pa.Table, spell: Column) -> pa.Table:
    columns = {
        name: spell(table.column(name).combine_chunks()) for name in table.column_names
    }
    return pa.table(dict(reversed(columns.items())))


def _written(document: dict[str, Any], folder: Path) -> Snapshot:
    snapshot = Snapshot.from_document(document)
    shutil.rmtree(folder, ignore_errors=True)
    write_snapshot(snapshot, folder)
    return snapshot


@pytest.mark.parametrize("spell", SPELLINGS)
@settings(max_examples=15)
@given(document=documents())
def test_every_spelling_of_a_column_is_read(
    spell: Column, document: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
):
    folder = tmp_path_factory.getbasetemp() / "spelled"
    snapshot = _written(document, folder)
    for spec in TABLES:
        table = _respelled(getattr(snapshot, spec.name), spell)
        parquet.write_table(table, folder / spec.file)

    assert read_snapshot(folder).equals(snapshot)


@settings(max_examples=15)
@given(document=documents())
def test_what_polars_writes_is_read(
    document: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
):
    folder = tmp_path_factory.getbasetemp() / "polars"
    snapshot = _written(document, folder)
    for spec in TABLES:
        table = _respelled(getattr(snapshot, spec.name), _polars)
        frame = pl.from_arrow(table)
        assert isinstance(frame, pl.DataFrame)
        frame.write_parquet(folder / spec.file)

    assert read_snapshot(folder).equals(snapshot)


@settings(max_examples=15)
@given(document=documents(), cut=st.integers(0, 5))
def test_a_folder_of_parts_is_read(
    document: dict[str, Any], cut: int, tmp_path_factory: pytest.TempPathFactory
):
    """The layout of Spark: parts, one of them of no rows, and files beside them."""
    folder = tmp_path_factory.getbasetemp() / "parts"
    snapshot = _written(document, folder)
    for spec in TABLES:
        table = _respelled(getattr(snapshot, spec.name), _spark)
        (folder / spec.file).unlink()
        (folder / spec.file).mkdir()
        (folder / spec.file / "_SUCCESS").touch()
        (folder / spec.file / "._SUCCESS.crc").write_bytes(b"crc")
        for number, part in enumerate([table[:cut], table[cut:], table[:0]]):
            name = f"part-{number:05}-c0ffee.c000.snappy.parquet"
            spelled = _respelled(part, _nulls) if number else part
            parquet.write_table(spelled, folder / spec.file / name, version="1.0")
            (folder / spec.file / f".{name}.crc").write_bytes(b"crc")

    assert read_snapshot(folder).equals(snapshot)


def test_small_integers_and_whole_rates_are_read(tmp_path: Path):
    (tmp_path / "snapshot.json").write_text(
        '{"format": "kafka-planner/snapshot", "version": 1}'
    )
    parquet.write_table(
        pa.table({"id": pa.array([1, 2], pa.uint8()), "cpu_cores": [4, 8]}),
        tmp_path / "brokers.parquet",
    )
    partitions = {
        "topic": ["t", "s"],
        "partition": pa.array([0, 0], pa.int16()),
        "replicas": pa.array([[1, 2], [2, 1]], pa.list_(pa.uint16(), 2)),
        "leader": pa.array([-1, None], pa.int8()),
    }
    parquet.write_table(pa.table(partitions), tmp_path / "partitions.parquet")

    snapshot = read_snapshot(tmp_path)

    assert snapshot.topics.column("topic").to_pylist() == ["s", "t"]
    assert snapshot.partitions.column("replicas").to_pylist() == [[2, 1], [1, 2]]
    assert snapshot.partitions.column("leader").to_pylist() == [None, -1]
    assert snapshot.brokers.column("cpu_cores").to_pylist() == [4.0, 8.0]
    assert len(snapshot.log_dirs) == 0


def test_topics_without_a_row_of_their_own_are_added(tmp_path: Path):
    _written(small_document(), tmp_path / "s")
    parquet.write_table(
        pa.table({"topic": ["empty"], "storage": ["tiered"]}),
        tmp_path / "s" / "topics.parquet",
    )

    snapshot = read_snapshot(tmp_path / "s")

    assert snapshot.topics.select(["topic", "storage"]).to_pylist() == [
        {"topic": "empty", "storage": "tiered"},
        {"topic": "orders", "storage": None},
    ]


def _without(name: str) -> Callable[[pa.Table], pa.Table]:
    return lambda table: table.drop_columns([name])


def _with(name: str, values: Any, kind: Any = None) -> Callable[[pa.Table], pa.Table]:
    def change(table: pa.Table) -> pa.Table:
        array = values if isinstance(values, pa.Array) else pa.array(values, kind)
        if name not in table.column_names:
            return table.append_column(name, array)
        return table.set_column(table.column_names.index(name), name, array)

    return change


# Table, what is changed in it, the place named, a word of the rule.
BROKEN = [
    ("missing", "brokers", _without("id"), "brokers.parquet: column id", "missing"),
    (
        "missing-replicas",
        "partitions",
        _without("replicas"),
        "partitions.parquet: column replicas",
        "missing",
    ),
    (
        "unknown",
        "partitions",
        lambda t: t.rename_columns({"isr": "isrs"}),
        "partitions.parquet: column isrs",
        "unknown column",
    ),
    (
        "twice",
        "brokers",
        lambda t: t.append_column("rack", t.column("rack")),
        "brokers.parquet: column rack",
        "once",
    ),
    (
        "text-for-number",
        "partitions",
        _with("size_bytes", ["1", "5GB"]),
        "partitions.parquet: row 1, size_bytes",
        "must be an integer",
    ),
    (
        "float-for-integer",
        "partitions",
        _with("size_bytes", [1.5, 2.0]),
        "partitions.parquet: row 0, size_bytes",
        "must be an integer",
    ),
    (
        "bool-for-integer",
        "partitions",
        _with("leader", [True, False]),
        "partitions.parquet: column leader",
        "must be an integer",
    ),
    (
        "number-for-text",
        "brokers",
        _with("rack", [1, 2, 3]),
        "brokers.parquet: column rack",
        "must be a string",
    ),
    (
        "bytes-for-text",
        "brokers",
        _with("rack", [b"\xff", b"b", b"c"]),
        "brokers.parquet: column rack",
        "must be a string",
    ),
    (
        "number-for-list",
        "partitions",
        _with("isr", [1, 2]),
        "partitions.parquet: column isr",
        "must be a list of integers",
    ),
    (
        "texts-for-list",
        "partitions",
        _with("isr", [["1"], ["two"]]),
        "partitions.parquet: row 1, isr",
        "must be an integer",
    ),
    (
        "text-for-map",
        "topics",
        _with("configs", ["a=b"]),
        "topics.parquet: column configs",
        "must be a map",
    ),
    (
        "struct-of-other-names",
        "topics",
        _with("configs", [[{"k": "a", "v": "b"}]]),
        "topics.parquet: column configs",
        "must be a map",
    ),
    (
        "null-in-required",
        "brokers",
        _with("id", [1, None, 3]),
        "brokers.parquet: row 1, id",
        "must not be null",
    ),
    (
        "null-replicas",
        "partitions",
        _with("replicas", [[1, 2], None]),
        "partitions.parquet: row 1, replicas",
        "must not be null",
    ),
    (
        "null-in-list",
        "partitions",
        _with("isr", [[1], [2, None]]),
        "partitions.parquet: row 1, isr",
        "must not be null",
    ),
    (
        "beyond-int32",
        "partitions",
        _with("isr", [[1], [2**40]]),
        "partitions.parquet: row 1, isr",
        "0 to 2147483647",
    ),
    (
        "beyond-int64",
        "partitions",
        _with("size_bytes", [1, 2**63], pa.uint64()),
        "partitions.parquet: row 1, size_bytes",
        "from 0",
    ),
    (
        "negative",
        "partitions",
        _with("size_bytes", [-1, 2]),
        "partitions.parquet: row 0, size_bytes",
        "from 0",
    ),
    (
        "negative-own",
        "partitions",
        _with("replica_bytes", [None, [3, -1]]),
        "partitions.parquet: row 1, replica_bytes",
        "from 0",
    ),
    (
        "nan",
        "partitions",
        _with("in_bytes_per_s", [float("nan"), 1.0]),
        "partitions.parquet: row 0, in_bytes_per_s",
        "null where it is unknown",
    ),
    (
        "infinite",
        "partitions",
        _with("in_bytes_per_s", [1.0, float("inf")]),
        "partitions.parquet: row 1, in_bytes_per_s",
        "must be a number",
    ),
    (
        "state",
        "brokers",
        _with("state", ["alive", "up", None]),
        "brokers.parquet: row 1, state",
        "one of alive, new",
    ),
    (
        "null-value-in-map",
        "topics",
        _with("configs", [[("a", None)]], pa.map_(pa.string(), pa.string())),
        "topics.parquet: row 0, configs",
        "null",
    ),
    (
        "key-twice-in-map",
        "topics",
        _with("tags", [[("a", "1"), ("a", "2")]], pa.map_(pa.string(), pa.string())),
        "topics.parquet: row 0, tags",
        "once",
    ),
    (
        "not-utf-8",
        "brokers",
        _with(
            "rack",
            pa.StringArray.from_buffers(
                3,
                pa.py_buffer(b"\0\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0"),
                pa.py_buffer(b"a\xffc"),
            ),
        ),
        "brokers.parquet: column rack",
        "UTF8",
    ),
    (
        "stranger",
        "partitions",
        _with("replicas", [[1, 2], [2, 7]]),
        "partitions.parquet: topic orders, partition 1, replicas",
        "lacks 7",
    ),
    (
        "log-dir-of-nobody",
        "log_dirs",
        lambda t: pa.concat_tables([t, _with("broker_id", [9], pa.int32())(t[:1])]),
        "log_dirs.parquet: broker 9, log dir /d1, broker_id",
        "broker of the snapshot",
    ),
    (
        "topic-name",
        "topics",
        _with("topic", pa.array(["orders/x"])),
        "topics.parquet: topic orders/x, topic",
        "1 to 249",
    ),
]


@pytest.mark.parametrize(
    ("name", "change", "place", "word"),
    [pytest.param(*case, id=label) for label, *case in BROKEN],
)
def test_one_problem_is_named_where_it_stands(
    name: str,
    change: Callable[[pa.Table], pa.Table],
    place: str,
    word: str,
    tmp_path: Path,
):
    snapshot = _written(small_document(), tmp_path / "s")
    table = change(getattr(snapshot, name))
    parquet.write_table(table, tmp_path / "s" / f"{name}.parquet", store_schema=True)

    with pytest.raises(BadInputError) as caught:
        read_snapshot(tmp_path / "s")

    (found,) = caught.value.problems
    assert found.place == place
    assert word in found.rule


def test_every_problem_of_a_folder_is_named_at_once(tmp_path: Path):
    snapshot = _written(small_document(), tmp_path / "s")
    partitions = _with("size_bytes", [-1, 2])(snapshot.partitions)
    partitions = _with("leader", [3, None])(partitions)
    parquet.write_table(partitions, tmp_path / "s" / "partitions.parquet")
    (tmp_path / "s" / "snapshot.json").write_text(
        '{"format": "kafka-planner/snapshot", "version": 1, "brokers": []}'
    )
    (tmp_path / "s" / "notes.txt").touch()

    with pytest.raises(BadInputError) as caught:
        read_snapshot(tmp_path / "s")

    assert [each.place for each in caught.value.problems] == [
        "brokers",
        "notes.txt",
        "partitions.parquet: row 0, size_bytes",
        "partitions.parquet: topic orders, partition 0, leader",
    ]


@pytest.mark.parametrize(
    ("name", "place"),
    [
        pytest.param("brokers.parquet", "brokers.parquet", id="brokers"),
        pytest.param("partitions.parquet", "partitions.parquet", id="partitions"),
        pytest.param("snapshot.json", "snapshot.json", id="header"),
    ],
)
def test_a_missing_file_is_named(name: str, place: str, tmp_path: Path):
    _written(small_document(), tmp_path / "s")
    (tmp_path / "s" / name).unlink()

    with pytest.raises(BadInputError) as caught:
        read_snapshot(tmp_path / "s")

    assert [each.place for each in caught.value.problems] == [place]


@pytest.mark.parametrize("how", ["cut", "empty", "text", "folder-of-text", "no-parts"])
def test_a_file_that_is_not_parquet_is_named(how: str, tmp_path: Path):
    _written(small_document(), tmp_path / "s")
    path = tmp_path / "s" / "partitions.parquet"
    data = path.read_bytes()
    path.unlink()
    if how in {"folder-of-text", "no-parts"}:
        path.mkdir()
        (path / "_SUCCESS").touch()
    if how == "folder-of-text":
        (path / "part-0.parquet").write_text("hello")
    if how in {"cut", "empty", "text"}:
        path.write_bytes({"cut": data[:-30], "empty": b"", "text": b"hello"}[how])

    with pytest.raises(BadInputError) as caught:
        read_snapshot(tmp_path / "s")

    (found,) = caught.value.problems
    assert found.place.startswith("partitions.parquet")


def test_any_other_folder_is_refused(tmp_path: Path):
    (tmp_path / "readme.txt").touch()

    with pytest.raises(BadInputError) as caught:
        read_snapshot(tmp_path)

    places = [each.place for each in caught.value.problems]
    assert "snapshot.json" in places
    assert "brokers.parquet" in places


@settings(max_examples=60)
@given(data=st.data())
def test_any_bytes_are_a_snapshot_or_bad_input(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
):
    folder = tmp_path_factory.getbasetemp() / "flipped"
    _written(small_document(), folder)
    path = folder / data.draw(st.sampled_from([spec.file for spec in TABLES]))
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    problems: tuple[Any, ...] = ("none",)

    try:
        read_snapshot(folder).to_state()
    except BadInputError as error:
        problems = error.problems

    assert problems


def test_tables_in_memory_are_checked_like_files():
    tables = {
        "brokers": pa.table({"id": [1]}),
        "partitions": pa.table({"topic": ["t"], "partition": [0], "replicas": [[2]]}),
    }

    with pytest.raises(BadInputError) as caught:
        Snapshot.from_tables(tables, {"taken_at": "now"})

    assert [each.place for each in caught.value.problems] == [
        "taken_at",
        "partitions.parquet: topic t, partition 0, replicas",
    ]


def test_header_of_a_folder_is_plain_json(tmp_path: Path):
    _written(small_document(configs={"a": "ä"}), tmp_path / "s")

    header = json.loads((tmp_path / "s" / "snapshot.json").read_text("utf-8"))

    assert header == {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "cluster_id": "small",
        "configs": {"a": "ä"},
    }
