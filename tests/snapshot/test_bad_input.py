import copy
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.errors import BadInputError, InputProblem
from planner.snapshot import Snapshot, read_snapshot, write_snapshot
from support.snapshots import documents, small_document

P0 = ("topics", 0, "partitions", 0)


def _set(*path: Any) -> Callable[[dict[str, Any]], None]:
    *at, key, value = path

    def change(document: dict[str, Any]) -> None:
        where: Any = document
        for step in at:
            where = where[step]
        where[key] = value

    return change


def _append(*path: Any) -> Callable[[dict[str, Any]], None]:
    *at, value = path

    def change(document: dict[str, Any]) -> None:
        where: Any = document
        for step in at:
            where = where[step]
        where.append(value)

    return change


def _pop(*path: Any) -> Callable[[dict[str, Any]], None]:
    *at, key = path

    def change(document: dict[str, Any]) -> None:
        where: Any = document
        for step in at:
            where = where[step]
        del where[key]

    return change


# What is changed in a good document; the place named; a word of the rule.
BROKEN = [
    ("format", _set("format", "x"), "format", "must be"),
    ("version", _set("version", 2), "version", "must be 1"),
    ("version-text", _set("version", "1"), "version", "must be 1"),
    ("no-format", _pop("format"), "format", "required"),
    ("unknown-key", _set("colour", "red"), "colour", "unknown key"),
    ("unknown-broker-key", _set("brokers", 1, "dsk", 1), "brokers[1].dsk", "unknown"),
    (
        "unknown-partition-key",
        _set(*P0, "repicas", []),
        "topics[0].partitions[0].repicas",
        "unknown key",
    ),
    ("time", _set("taken_at", "yesterday"), "taken_at", "isoformat"),
    ("time-without-zone", _set("taken_at", "2026-11-21T08:00:00"), "taken_at", "zone"),
    ("brokers-no-list", _set("brokers", {}), "brokers", "must be a list"),
    ("no-broker-id", _pop("brokers", 0, "id"), "brokers[0].id", "required"),
    ("broker-id-below-0", _set("brokers", 0, "id", -1), "brokers[0].id", "at least 0"),
    (
        "broker-id-beyond-int32",
        _set("brokers", 0, "id", 2**31),
        "brokers[0].id",
        "2147",
    ),
    ("broker-id-float", _set("brokers", 0, "id", 1.0), "brokers[0].id", "integer"),
    ("broker-id-bool", _set("brokers", 0, "id", True), "brokers[0].id", "integer"),
    ("broker-twice", _append("brokers", {"id": 1}), "brokers[3].id", "once"),
    ("broker-state", _set("brokers", 0, "state", "up"), "brokers[0].state", "'alive'"),
    (
        "negative-capacity",
        _set("brokers", 0, "max_replicas", -5),
        "brokers[0].max_replicas",
        "at least 0",
    ),
    (
        "nan",
        _set("brokers", 0, "cpu_cores", float("nan")),
        "brokers[0].cpu_cores",
        "fin",
    ),
    ("inf", _set("brokers", 0, "cpu_cores", 1e999), "brokers[0].cpu_cores", "finite"),
    (
        "huge-rate",
        _set("brokers", 0, "cpu_cores", 1.1e18),
        "brokers[0].cpu_cores",
        "at most 1000000000000000000",
    ),
    (
        "disk-is-not-the-sum",
        _set("brokers", 0, "disk_bytes", 999),
        "brokers[0].disk_bytes",
        "sum of the online log dirs, 1000",
    ),
    (
        "log-dir-twice",
        _append("brokers", 2, "log_dirs", {"path": "/d2"}),
        "brokers[2].log_dirs[2].path",
        "once",
    ),
    (
        "usable-beyond-size",
        _set("brokers", 1, "log_dirs", 0, "usable_bytes", 601),
        "brokers[1].log_dirs[0].usable_bytes",
        "must not exceed size_bytes, 600",
    ),
    (
        "log-dir-without-path",
        _set("brokers", 1, "log_dirs", 0, "path", ""),
        "brokers[1].log_dirs[0].path",
        "empty",
    ),
    ("config-no-text", _set("configs", {"a": 1}), "configs.a", "must be a string"),
    (
        "min-isr-of-cluster",
        _set("configs", {"min.insync.replicas": "two"}),
        "configs.min.insync.replicas",
        "integer from 1",
    ),
    (
        "min-isr-of-topic",
        _set("topics", 0, "configs", {"min.insync.replicas": "0"}),
        "topics[0].configs.min.insync.replicas",
        "integer from 1",
    ),
    ("features", _set("features", {"f": -1}), "features.f", "at least 0"),
    ("quantile", _set("rates", {"quantile": 1.5}), "rates.quantile", "at most 1"),
    (
        "controller-twice",
        _set("controllers", [{"id": 1}, {"id": 1}]),
        "controllers[1].id",
        "once",
    ),
    ("topic-no-object", _append("topics", 7), "topics[1]", "object"),
    (
        "topic-twice",
        _append("topics", {"name": "orders", "partitions": []}),
        "topics[1].name",
        "once",
    ),
    (
        "partition-twice",
        _append("topics", 0, "partitions", {"partition": 1, "replicas": [1]}),
        "topics[0].partitions[2].partition",
        "once",
    ),
    (
        "partition-below-0",
        _set(*P0, "partition", -1),
        "topics[0].partitions[0].partition",
        "at least 0",
    ),
    (
        "no-replicas",
        _set("topics", 0, "partitions", 1, "replicas", []),
        "topics[0].partitions[1].replicas",
        "at least one replica",
    ),
    (
        "replicas-null",
        _set(*P0, "replicas", None),
        "topics[0].partitions[0].replicas",
        "must be a list",
    ),
    (
        "unknown-broker",
        _set("topics", 0, "partitions", 1, "replicas", [2, 9]),
        "topics[0].partitions[1].replicas",
        "lacks 9",
    ),
    (
        "broker-beyond-int32",
        _set(*P0, "replicas", [1, 2**40]),
        "topics[0].partitions[0].replicas[1]",
        "at most 2147483647",
    ),
    (
        "twice-on-a-broker",
        _set("topics", 0, "partitions", 1, "replicas", [2, 3, 2]),
        "topics[0].partitions[1].replicas",
        "lists 2 twice",
    ),
    (
        "leader-no-replica",
        _set(*P0, "leader", 3),
        "topics[0].partitions[0].leader",
        "one of the replicas",
    ),
    (
        "isr-no-replica",
        _set(*P0, "isr", [1, 3]),
        "topics[0].partitions[0].isr",
        "3 is not",
    ),
    (
        "isr-twice",
        _set(*P0, "isr", [1, 1]),
        "topics[0].partitions[0].isr",
        "twice",
    ),
    ("elr", _set(*P0, "elr", [2, 2]), "topics[0].partitions[0].elr", "twice"),
    (
        "last-known-elr",
        _set(*P0, "last_known_elr", [2, 2]),
        "topics[0].partitions[0].last_known_elr",
        "twice",
    ),
    (
        "adding",
        _set(*P0, "adding_replicas", [3]),
        "topics[0].partitions[0].adding_replicas",
        "3 is not",
    ),
    (
        "removing",
        _set(*P0, "removing_replicas", [3]),
        "topics[0].partitions[0].removing_replicas",
        "3 is not",
    ),
    (
        "all-adding",
        _set(*P0, "adding_replicas", [2, 1]),
        "topics[0].partitions[0].adding_replicas",
        "must not be adding",
    ),
    (
        "log-dirs-too-few",
        _set(*P0, "log_dirs", ["/d1"]),
        "topics[0].partitions[0].log_dirs",
        "each of the 2 replicas",
    ),
    (
        "future-log-dirs-too-many",
        _set(*P0, "future_log_dirs", [None] * 3),
        "topics[0].partitions[0].future_log_dirs",
        "each of the 2 replicas",
    ),
    (
        "replica-bytes-too-few",
        _set(*P0, "replica_bytes", []),
        "topics[0].partitions[0].replica_bytes",
        "each of the 2 replicas",
    ),
    (
        "log-dir-not-listed",
        _set(*P0, "log_dirs", ["/d1", "/d3"]),
        "topics[0].partitions[0].log_dirs",
        "broker 2 must list",
    ),
    (
        "future-log-dir-not-listed",
        _set(*P0, "future_log_dirs", ["/d3", None]),
        "topics[0].partitions[0].future_log_dirs",
        "broker 1 must list",
    ),
    (
        "empty-log-dir",
        _set(*P0, "log_dirs", ["", None]),
        "topics[0].partitions[0].log_dirs[0]",
        "empty",
    ),
    (
        "negative-size",
        _set(*P0, "size_bytes", -1),
        "topics[0].partitions[0].size_bytes",
        "at least 0",
    ),
    (
        "size-beyond-64-bits",
        _set(*P0, "size_bytes", 2**63),
        "topics[0].partitions[0].size_bytes",
        "at most 9223372036854775807",
    ),
    (
        "size-of-400-digits",
        _set(*P0, "size_bytes", 10**400),
        "topics[0].partitions[0].size_bytes",
        "at most",
    ),
    (
        "size-of-5000-digits",
        _set(*P0, "size_bytes", 10**5000),
        "topics[0].partitions[0].size_bytes",
        "at most",
    ),
    (
        "sum-overflows",
        _set(*P0, "size_bytes", 2**61),
        "partitions, size_bytes",
        "2^62",
    ),
    (
        "own-bytes-overflow",
        _set(*P0, "replica_bytes", [2**61, 2**61]),
        "partitions, replica_bytes",
        "2^62",
    ),
    (
        "remote-bytes-overflow",
        _set(*P0, "remote_bytes", 2**62),
        "partitions, remote_bytes",
        "2^62",
    ),
    (
        "surrogate",
        _set("cluster_id", "\ud800"),
        "cluster_id",
        "valid Unicode",
    ),
    *(
        (
            f"topic-{label}",
            _set("topics", 0, "name", name),
            "topics[0].name",
            "1 to 249",
        )
        for label, name in [
            ("empty", ""),
            ("dot", "."),
            ("dots", ".."),
            ("slash", "a/b"),
            ("space", "a b"),
            ("newline", "a\n"),
            ("umlaut", "ä"),
            ("250-long", "a" * 250),
        ]
    ),
]


def _problems(document: Any) -> list[tuple[str, str]]:
    with pytest.raises(BadInputError) as caught:
        Snapshot.from_document(document, file="s.json")
    assert all(each.file == "s.json" for each in caught.value.problems)
    return [(each.place, each.rule) for each in caught.value.problems]


@pytest.mark.parametrize(
    ("change", "place", "word"),
    [pytest.param(*case, id=label) for label, *case in BROKEN],
)
def test_one_problem_is_named_where_it_stands(
    change: Callable[[dict[str, Any]], None], place: str, word: str
):
    document = small_document()
    change(document)

    ((found, rule),) = _problems(document)

    assert found == place
    assert word in rule


def test_names_that_kafka_takes_are_taken():
    names = ["a" * 249, "...", "a.b_c-D9", "__consumer_offsets"]
    topics = [{"name": name} for name in names]

    snapshot = Snapshot.from_document(small_document(topics=topics))

    assert snapshot.topics.column("topic").to_pylist() == sorted(names)


def test_every_problem_is_named_at_once():
    document = small_document()
    changes = [
        _set("version", 7),
        _set("brokers", 1, "cpu_cores", "many"),
        _set("brokers", 1, "log_dirs", 0, "usable_bytes", 601),
        _set(*P0, "isr", [1, 3]),
        _set(*P0, "size_bytes", -4),
        _set("topics", 0, "partitions", 1, "replicas", [8]),
        _append("topics", {"name": "a b", "colour": 1}),
    ]
    for change in changes:
        change(document)

    places = {place for place, _ in _problems(document)}

    assert places == {
        "version",
        "brokers[1].cpu_cores",
        "brokers[1].log_dirs[0].usable_bytes",
        "topics[0].partitions[0].isr",
        "topics[0].partitions[0].size_bytes",
        "topics[0].partitions[1].replicas",
        "topics[1].name",
        "topics[1].colour",
    }


def test_a_refused_document_is_not_changed():
    document = small_document(colour="red")
    document["topics"][0]["partitions"][0]["leader"] = "x"
    before = copy.deepcopy(document)

    _problems(document)

    assert document == before


@pytest.mark.parametrize("document", [None, 7, "x", [], [1], True], ids=repr)
def test_a_document_is_an_object(document: Any):
    assert len(_problems(document)) == 1


def _text(**changes: Any) -> bytes:
    return json.dumps(small_document(**changes)).encode()


FILES = [
    ("empty", b"", "empty"),
    ("blank", b" \n", "empty"),
    ("no-json", b"hello", "not JSON"),
    ("cut", _text()[:-1], "not JSON"),
    ("two-documents", _text() + b"{}", "not JSON"),
    ("nested", b"[" * 100_000 + b"]" * 100_000, "not JSON"),
    ("nested-objects", b'{"a":' * 100_000, "not JSON"),
    ("long-number", _text().replace(b"600", b"9" * 5000), "not JSON"),
    ("utf-16", _text().decode().encode("utf-16"), "UTF-8"),
    ("latin-1", _text(cluster_id="X").replace(b"X", b"\xe4"), "UTF-8"),
    ("lone-surrogate", _text(cluster_id="\ud800"), "not JSON"),
    ("nan", _text().replace(b"1.5", b"NaN"), "finite"),
    ("infinity", _text().replace(b"1.5", b"-Infinity"), "finite"),
    ("cut-gzip", gzip.compress(_text())[:-9], "gzip"),
    ("broken-gzip", gzip.compress(_text())[:30] + b"x" * 50, "gzip"),
    ("only-gzip-magic", b"\x1f\x8b", "gzip"),
    (
        "key-twice",
        _text().replace(b'"leader": 1', b'"leader": 1, "leader" : 2'),
        "unique",
    ),
    ("parquet", b"PAR1" + bytes(20) + b"PAR1", "not JSON"),
    ("zip", b"PK\x03\x04", "not JSON"),
]


@pytest.mark.parametrize(
    ("data", "word"), [pytest.param(*case, id=label) for label, *case in FILES]
)
def test_a_file_that_is_no_snapshot(data: bytes, word: str, tmp_path: Path):
    path = tmp_path / "s.json"
    path.write_bytes(data)

    with pytest.raises(BadInputError) as caught:
        read_snapshot(path)

    assert word in caught.value.problems[0].rule
    assert str(path) == caught.value.problems[0].file


def test_a_byte_order_mark_and_odd_white_space_are_taken(tmp_path: Path):
    text = json.dumps(small_document(cluster_id='"a" : "b":'), indent=3)
    (tmp_path / "s.json").write_bytes(b"\xef\xbb\xbf" + text.encode())

    snapshot = read_snapshot(tmp_path / "s.json")

    assert snapshot.cluster_id == '"a" : "b":'


def test_gzip_is_known_by_its_content(tmp_path: Path):
    (tmp_path / "s.json").write_bytes(gzip.compress(_text()))

    assert read_snapshot(tmp_path / "s.json").cluster_id == "small"


def test_a_path_that_is_not_there_or_not_readable(tmp_path: Path):
    for path in (tmp_path / "no", tmp_path / ("n" * 300), tmp_path / "a\0b"):
        with pytest.raises(BadInputError):
            read_snapshot(path)


def test_problems_can_be_printed(tmp_path: Path):
    document = small_document(**{"k\ud800\x1b[2J": "\ud800", "x" * 500: "y" * 500})

    with pytest.raises(BadInputError) as caught:
        Snapshot.from_document(document, file="\udcff.json")

    for each in caught.value.problems:
        assert str(each).encode().decode().isprintable()
        assert len(each.value) <= 110


@pytest.mark.parametrize("kind", ["file", "empty-folder", "folder", "link", "json"])
def test_what_is_no_snapshot_is_not_replaced(kind: str, tmp_path: Path):
    snapshot = Snapshot.from_document(small_document())
    path = tmp_path / ("s.json" if kind in {"json", "link"} else "s")
    if kind == "link":
        write_snapshot(snapshot, tmp_path / "other.json")
        path.symlink_to(tmp_path / "other.json")
    elif kind in {"file", "json"}:
        path.write_text('{"format": "mine"}')
    else:
        path.mkdir()
    if kind == "folder":
        write_snapshot(snapshot, tmp_path / "t")
        path.rmdir()
        (tmp_path / "t").rename(path)
        (path / "notes.txt").write_text("keep")
    before = sorted(tmp_path.rglob("*"))

    with pytest.raises(BadInputError):
        write_snapshot(snapshot, path)

    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("name", ["s", "s.json", "s.json.gz"])
def test_a_snapshot_is_replaced_whole(name: str, tmp_path: Path):
    write_snapshot(Snapshot.from_document(small_document()), tmp_path / name)
    other = Snapshot.from_document(small_document(cluster_id="other", topics=[]))

    write_snapshot(other, tmp_path / name)

    assert read_snapshot(tmp_path / name).equals(other)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_nowhere_to_write_is_bad_input(tmp_path: Path):
    with pytest.raises(BadInputError, match="cannot write"):
        write_snapshot(
            Snapshot.from_document(small_document()), tmp_path / "no" / "s.json"
        )


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from([[], {}, [[]], {"a": None}, "\ud800", 10**400, -1, 2**63])
)


def _slots(value: Any) -> list[tuple[Any, Any]]:
    """Return every (container, key) of a JSON value."""
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    else:
        return []
    return [slot for k, v in inner for slot in [(value, k), *_slots(v)]]


def _refused(
    read: Callable[[], Snapshot],
) -> tuple[tuple[InputProblem, ...], Snapshot | None]:
    """Return the problems, or the snapshot; anything else raised is a failure."""
    try:
        return (), read()
    except BadInputError as error:
        return error.problems, None


@settings(max_examples=100)
@given(documents(), st.data())
def test_any_document_is_a_snapshot_or_bad_input(
    document: dict[str, Any], data: st.DataObject
):
    for _ in range(data.draw(st.integers(1, 3))):
        slots = _slots(document)
        where, key = slots[data.draw(st.integers(0, len(slots) - 1))]
        action = data.draw(st.sampled_from(["set", "delete", "rename", "repeat"]))
        if action == "delete":
            del where[key]
        elif action == "rename" and isinstance(where, dict):
            where[data.draw(st.text(max_size=3))] = where.pop(key)
        elif action == "repeat" and isinstance(where, list):
            where.append(where[key])
        else:
            where[key] = data.draw(SCALARS)
    # Assigned twice, one object must not stand in two places.
    document = copy.deepcopy(document)
    problems, snapshot = _refused(lambda: Snapshot.from_document(document))
    assert problems or snapshot
    if snapshot is not None:
        snapshot.to_state()
        assert Snapshot.from_document(snapshot.to_document()).equals(snapshot)


@settings(max_examples=60)
@given(
    documents(),
    st.lists(st.tuples(st.integers(0, 10**6), st.binary(max_size=3)), max_size=3),
    st.booleans(),
)
def test_any_bytes_are_a_snapshot_or_bad_input(
    tmp_path_factory: pytest.TempPathFactory,
    document: dict[str, Any],
    changes: list[tuple[int, bytes]],
    is_packed: bool,
):
    text = json.dumps(document, ensure_ascii=False).encode()
    data = bytearray(gzip.compress(text) if is_packed else text)
    for far, piece in changes:
        at = far % (len(data) + 1)
        data[at : at + len(piece)] = piece
    path = tmp_path_factory.mktemp("fuzz") / "s.json"
    path.write_bytes(data)

    problems, snapshot = _refused(lambda: read_snapshot(path))
    assert problems or snapshot
