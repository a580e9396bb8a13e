import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.snapshot import Snapshot, read_snapshot, write_snapshot
from support.snapshots import documents, small_document

FORMATS = ["s.json", "s.json.gz", "s"]
_LISTS_OF_ROWS = {"brokers", "topics", "partitions", "log_dirs", "controllers"}


def _said(record: dict[str, Any], *, level: str = "snapshot") -> dict[str, Any]:
    """Return a document less what means the same when left out; rows in order."""
    said = {}
    for key, value in record.items():
        has_rows = key in _LISTS_OF_ROWS and level != "partitions"
        if (value is None and key != "leader") or (has_rows and not value):
            continue
        if level == "snapshot" and key in {"configs", "features"} and not value:
            continue
        said[key] = value
        if has_rows:
            rows = [_said(row, level=key) for row in value]
            said[key] = sorted(rows, key=_key)
    return said


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return (row.get("id"), row.get("partition"), row.get("name"), row.get("path"))


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=30)
@given(document=documents())
def test_snapshot_comes_back_as_it_was_written(name: str, document: dict[str, Any]):
    snapshot = Snapshot.from_document(document)

    with tempfile.TemporaryDirectory() as folder:
        write_snapshot(snapshot, Path(folder) / name)
        again = read_snapshot(Path(folder) / name)

    assert again.equals(snapshot)


@settings(max_examples=50)
@given(documents())
def test_document_loses_nothing(document: dict[str, Any]):
    again = Snapshot.from_document(document).to_document()

    assert _said(again) == _said(document)


@settings(max_examples=30)
@given(documents(), st.randoms(use_true_random=False))
def test_order_of_rows_does_not_matter(document: dict[str, Any], random):
    snapshot = Snapshot.from_document(document)
    shuffled = json.loads(json.dumps(document))
    random.shuffle(shuffled["brokers"])
    random.shuffle(shuffled["topics"])
    for topic in shuffled["topics"]:
        random.shuffle(topic.get("partitions") or [])
    for broker in shuffled["brokers"]:
        random.shuffle(broker.get("log_dirs") or [])
    random.shuffle(shuffled.get("controllers") or [])

    assert Snapshot.from_document(shuffled).equals(snapshot)


@pytest.mark.parametrize("name", FORMATS)
def test_same_snapshot_gives_same_bytes(name: str, tmp_path: Path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        snapshot = Snapshot.from_document(small_document())
        write_snapshot(snapshot, tmp_path / folder / name)

    one, two = (
        [p.read_bytes() for p in sorted((tmp_path / f).rglob("*")) if p.is_file()]
        for f in ("a", "b")
    )
    assert one == two
    assert one


@pytest.mark.parametrize(
    ("key", "value"),
    [
        pytest.param({"leader": None}, -1, id="null-is-no-leader"),
        pytest.param({"leader": -1}, -1, id="minus-one-is-no-leader"),
        pytest.param({}, None, id="absent-is-null"),
        pytest.param({"leader": 3}, 3, id="given"),
    ],
)
def test_leader(key: dict[str, Any], value: int | None):
    partition = {"partition": 0, "replicas": [3, 1], **key}
    topics = [{"name": "t", "partitions": [partition]}]

    snapshot = Snapshot.from_document(small_document(topics=topics))

    assert snapshot.partitions.column("leader").to_pylist() == [value]


@pytest.mark.parametrize("key", ["isr", "elr", "last_known_elr", "adding_replicas"])
@pytest.mark.parametrize("name", FORMATS)
def test_empty_list_is_not_an_absent_one(key: str, name: str, tmp_path: Path):
    records = [
        {"partition": 0, "replicas": [1], key: []},
        {"partition": 1, "replicas": [1]},
    ]
    topics = [{"name": "t", "partitions": records}]
    write_snapshot(
        Snapshot.from_document(small_document(topics=topics)), tmp_path / name
    )

    again = read_snapshot(tmp_path / name)

    assert again.partitions.column(key).to_pylist() == [[], None]


def test_a_partition_of_a_thousand_replicas(tmp_path: Path):
    ids = list(range(1000))
    document = small_document(
        brokers=[{"id": b} for b in ids],
        topics=[
            {"name": "__x", "partitions": [{"partition": 0, "replicas": ids[::-1]}]},
            {"name": "t", "partitions": [{"partition": 0, "replicas": [5], "isr": []}]},
        ],
    )
    document["topics"][0]["partitions"][0] |= {"isr": ids, "adding_replicas": [7]}
    snapshot = Snapshot.from_document(document)
    write_snapshot(snapshot, tmp_path / "s")

    state = read_snapshot(tmp_path / "s").to_state()

    assert state.brokers_of(0) == ids[::-1]
    assert state.num_replicas.tolist() == [1000, 1]
    assert state.replicas.is_in_sync.sum() == 1000
    assert state.replicas.is_adding.nonzero()[0].tolist() == [992]
