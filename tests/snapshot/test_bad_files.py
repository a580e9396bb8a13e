"""Files that are no snapshot, and places where none can be written."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from planner.errors import BadInputError
from planner.snapshot import Snapshot, read_snapshot, write_snapshot
from support.snapshots import small_document


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
