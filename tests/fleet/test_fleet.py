"""Fleet folders: appended, appended again, killed, put together."""

import json
from itertools import chain

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.errors import BadInputError
from planner.fleet.append import append, compact
from planner.fleet.arrow_tables import CLUSTER_SCHEMA, snapshot_tables
from planner.fleet.commit_markers import TABLES, Commit, resolve
from planner.fleet.fleet_store import Store
from planner.snapshot import Snapshot
from planner.snapshot.tables.snapshot_columns import TABLES as SNAPSHOT_TABLES
from support.commands import run
from support.plans import write_document
from support.snapshots import small_document


def snapshot(cluster_id="c", taken_at="2026-11-21T08:00:00Z", **changes):
    return Snapshot.from_document(
        small_document(cluster_id=cluster_id, taken_at=taken_at, **changes)
    )


def rows(store, table):
    """All rows of one table that count, as plain values."""
    visible = store.visible()
    found = []
    for commit in visible.commits.values():
        hidden = visible.hidden.get(commit.name, ())
        for file in commit.files[table]:
            read = pq.ParquetFile(store.path(file)).read().to_pylist()
            found += [row for row in read if key_of(row) not in hidden]
    return sorted(map(str, found))


def key_of(row):
    return row["cluster_id"], row["taken_at"].strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def expected(snapshots, table):
    tables = [snapshot_tables(each, name="")[table] for each in snapshots]
    return sorted(map(str, chain(*(each.to_pylist() for each in tables))))


def check(store, snapshots):
    for table in TABLES:
        assert rows(store, table) == expected(snapshots, table)


@pytest.fixture
def store(tmp_path):
    return Store(str(tmp_path / "fleet"))


def test_rows_are_those_of_the_snapshots(store):
    snapshots = [snapshot("007"), snapshot("b"), snapshot("b", "2026-11-20T23:59:59Z")]

    written = [append(each, store) for each in snapshots]

    assert written == [True] * 3
    check(store, snapshots)
    files = [name.split("/") for name in store.list("partitions")]
    assert {day for _, day, _ in files} == {"date=2026-11-20", "date=2026-11-21"}


def test_columns_are_those_of_snapshots_and_the_key(store):
    append(snapshot("007"), store)

    (file,) = store.list("partitions")
    schema = pq.ParquetFile(store.path(file)).schema_arrow
    partitions = next(t for t in SNAPSHOT_TABLES if t.name == "partitions")
    assert schema.names == ["cluster_id", "taken_at", *partitions.schema.names]
    assert schema.field("cluster_id").type == pa.string()
    assert schema.field("taken_at").type == pa.timestamp("us", tz="UTC")
    (file,) = store.list("clusters")
    assert pq.ParquetFile(store.path(file)).schema_arrow.names == CLUSTER_SCHEMA.names


def test_the_same_snapshot_again_changes_nothing(store):
    append(snapshot(), store)
    before = {name: store.read(name) for name in store.list("")}

    assert append(snapshot(), store) is False
    assert {name: store.read(name) for name in store.list("")} == before


def test_a_newer_statement_replaces_the_older(store):
    append(snapshot(), store)
    changed = snapshot(kafka_version="4.3.1")

    assert append(changed, store) is True

    check(store, [changed])


@pytest.mark.parametrize("writes", range(6))
def test_a_killed_write_is_not_seen(writes, store, monkeypatch):
    first, second = snapshot("a"), snapshot("b")
    append(first, store)
    put, done = Store._put, []

    def killed(self, name, content):
        if len(done) == writes:
            put(self, name, content[: len(content) // 2])
            raise KeyboardInterrupt
        done.append(name)
        put(self, name, content)

    monkeypatch.setattr(Store, "_put", killed)
    with pytest.raises(KeyboardInterrupt):
        append(second, store)
    monkeypatch.undo()

    check(store, [first])
    append(second, store)
    check(store, [first, second])


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b"]),
            st.sampled_from(["2026-11-20T08:00:00Z", "2026-11-21T08:00:00Z"]),
            st.sampled_from(["4.2.0", "4.3.1"]),
            st.booleans(),
        ),
        max_size=6,
    )
)
def test_any_order_of_appends_and_compactions(tmp_path_factory, steps):
    store = Store(str(tmp_path_factory.mktemp("fleet")))
    last = {}
    for cluster_id, taken_at, version, is_compacted in steps:
        made = snapshot(cluster_id, taken_at, kafka_version=version)
        append(made, store)
        last[cluster_id, taken_at] = made
        if is_compacted:
            compact(store)

    check(store, last.values())
    compact(store)
    check(store, last.values())
    days = {taken_at[:10] for _, taken_at in last}
    assert len(store.list("partitions")) == len(days)
    assert compact(store).removed == 0


@pytest.mark.parametrize("kept", ["old markers", "old files", "both"])
def test_a_killed_compaction_shows_every_row_once(kept, store):
    snapshots = [snapshot("a"), snapshot("b"), snapshot("c")]
    for each in snapshots:
        append(each, store)
    old = {name: store.read(name) for name in store.list("")}
    compact(store)
    for name, content in old.items():
        is_marker = name.startswith("commits/")
        if kept == "both" or is_marker == (kept == "old markers"):
            store.write(name, content)

    visible = store.visible()
    assert len(visible.files("partitions")) == 1
    compact(store)

    check(store, snapshots)
    assert len(store.list("commits")) == 1
    assert len(store.list("partitions")) == 1


def test_markers_that_are_none_are_named(store):
    append(snapshot(), store)
    store.write("commits/other.json", b'{"format": "something"}')

    with pytest.raises(BadInputError, match=r"other\.json is not a commit marker"):
        store.visible()


def test_markers_come_back_as_they_were():
    commit = Commit(
        name="n",
        snapshots={("a", "2026-11-21T08:00:00.000000Z"): "x"},
        files={table: (f"{table}/f.parquet",) for table in TABLES},
        replaces=("m",),
    )

    found = Commit.from_document(json.loads(commit.to_text()), file="f")

    assert found == commit
    assert resolve([found]).snapshots == commit.snapshots


@pytest.mark.parametrize("missing", ["cluster_id", "taken_at"])
def test_a_snapshot_without_a_name_is_refused(missing, store):
    unnamed = Snapshot.from_document(
        {**small_document(taken_at="2026-11-21T08:00:00Z"), missing: None}
    )

    with pytest.raises(BadInputError) as refused:
        append(unnamed, store)

    assert [problem.place for problem in refused.value.problems] == [missing]
    assert store.list("") == []


def test_a_file_system_that_cannot_be_loaded_is_reported_in_a_line(monkeypatch):
    def unloadable(uri):
        msg = "Unable to load libhdfs\ndlopen(/one) failed\ndlopen(/two) failed"
        raise OSError(msg)

    monkeypatch.setattr("planner.fleet.fleet_store._from_uri", unloadable)

    with pytest.raises(BadInputError) as refusal:
        Store("hdfs://nn:8020/fleet")

    (problem,) = refusal.value.problems
    assert problem.rule == "the fleet cannot be reached: Unable to load libhdfs"
    assert "CLASSPATH" in problem.remedy


def test_places_that_cannot_be_reached_are_said(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(BadInputError, match="cannot use the fleet"):
        append(snapshot(), Store(str(tmp_path / "file" / "fleet")))
    with pytest.raises(BadInputError, match="cannot use the fleet"):
        Store("nowhere://bucket/fleet")


def test_the_commands(tmp_path, capsys):
    snap = write_document(
        small_document(taken_at="2026-11-21T08:00:00Z"), tmp_path / "s.json"
    )
    fleet = tmp_path / "fleet"

    first = run(
        capsys, "snapshot", "convert", snap, "--fleet", fleet, "--format", "json"
    )
    again = run(capsys, "snapshot", "convert", snap, "--fleet", fleet)
    done = run(capsys, "fleet", "compact", fleet, "--format", "json")
    said = run(capsys, "fleet", "compact", fleet)

    assert (first.document["is_new"], "unchanged" in again.err) == (True, True)
    assert (done.document["files_before"], done.document["files_after"]) == (5, 5)
    assert (said.code, said.out) == (0, "")


@pytest.mark.parametrize("options", [[], ["-o", "x.json", "--fleet", "fleet"]])
def test_convert_goes_to_one_place(options, tmp_path, capsys):
    snap = write_document(small_document(), tmp_path / "s.json")

    assert run(capsys, "snapshot", "convert", snap, *options).code == 2
