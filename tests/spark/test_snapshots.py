"""Snapshots are put together from files as they were written into them."""

import pytest

from planner.fleet.append import append, compact
from planner.fleet.fleet_store import Store
from planner.snapshot import Snapshot
from planner.spark.common.task_packing import pack
from planner.spark.io.fleet_layout import fleet_files
from planner.spark.io.whole_snapshots import SnapshotReader, snapshot_sizes
from support.spark import skewed_snapshot, snapshot

TIME = "2026-11-20T08:00:00Z"


def read_back(files, key, like):
    tables = SnapshotReader(files).tables(key)
    tables.pop("clusters")
    return Snapshot.from_tables(tables, like.header())


def keys_of(files):
    return sorted({key for file in files.tables["clusters"] for key in file.snapshots})


def test_a_task_needs_the_files_of_its_own_snapshots_alone(tmp_path):
    store = Store(str(tmp_path))
    written = {name: snapshot(name, TIME) for name in "abc"}
    for each in written.values():
        append(each, store)
    files = fleet_files(str(tmp_path), store.visible())
    keys = [key for key in keys_of(files) if key[0] != "b"]

    own = files.by_snapshot()(keys)

    assert {len(listed) for listed in own.tables.values()} == {2}
    assert keys_of(own) == keys
    for key in keys:
        assert read_back(own, key, written[key[0]]).equals(written[key[0]])


@pytest.mark.parametrize("pieces", [0, 1, 400])
def test_the_last_tasks_are_small(pieces):
    tasks = pack([1_000, *[15] * pieces], least=150, parts=4)

    sizes = [len(task) for task in tasks]
    assert sorted(piece for task in tasks for piece in task) == [*range(pieces + 1)]
    assert sizes[-1] <= 10
    assert tasks[0][0] == 0
    assert sizes[1:] == sorted(sizes[1:], reverse=True)
    assert len(tasks) <= 15


@pytest.mark.parametrize("is_compacted", [False, True])
def test_a_snapshot_is_read_as_it_was_written(tmp_path, monkeypatch, is_compacted):
    monkeypatch.setattr("planner.fleet.append.MAX_GROUP_ROWS", 17)
    store = Store(str(tmp_path))
    written = [snapshot("a", TIME), snapshot("b", TIME), skewed_snapshot()]
    for each in written:
        append(each, store)
    if is_compacted:
        compact(store)
    # What was said anew hides what was compacted.
    written[1] = snapshot("b", TIME, kafka_version="4.3.1", topics=[])
    append(written[1], store)

    files = fleet_files(str(tmp_path), store.visible())

    keys = keys_of(files)
    assert [key[0] for key in keys] == ["a", "b", "skewed"]
    for key, each in zip(keys, written, strict=True):
        assert read_back(files, key, each).equals(each)
    counts = {key[0]: size for key, size in snapshot_sizes(files).items()}
    replicas = {each.cluster_id: len(each.to_state().replicas) for each in written}
    assert counts == replicas
