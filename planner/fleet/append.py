"""Appending of snapshots to a fleet, and compaction of its many small files."""

import hashlib
import io
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from planner.errors import InputProblem, raise_problems
from planner.fleet.arrow_tables import snapshot_tables
from planner.fleet.commit_markers import (
    TABLES,
    Commit,
    Key,
    Visible,
    commit_name,
    time_text,
)
from planner.fleet.fleet_store import FileSink, Store
from planner.snapshot.tables.snapshot_columns import ArrowTable

if TYPE_CHECKING:
    from planner.snapshot import Snapshot

MAX_GROUP_ROWS = 500_000


def append(snapshot: "Snapshot", store: Store) -> bool:
    """
    Append one snapshot to a fleet; appending it again changes nothing.

    A snapshot of the same cluster and time with other content replaces the earlier one.

    Parameters
    ----------
    snapshot
        The snapshot, with `cluster_id` and `taken_at`.
    store
        The fleet's folder.

    Returns
    -------
    Whether anything was written.

    Raises
    ------
    BadInputError
        If the snapshot lacks its id or its time, or the folder cannot be written.
    """
    staged = stage(snapshot, store, known=store.visible().snapshots)
    if staged is None:
        return False
    store.commit(staged)
    return True


def stage(
    snapshot: "Snapshot", store: FileSink, *, known: Mapping[Key, str] | None = None
) -> Commit | None:
    """
    Write the rows of one snapshot, which count once the commit is in the store.

    Parameters
    ----------
    snapshot
        The snapshot, with `cluster_id` and `taken_at`.
    store
        The fleet's folder, or files in memory.
    known
        Hash of the content of each snapshot in the fleet; a snapshot with such a hash
        is not written.

    Returns
    -------
    The commit; `None` if the fleet already has the snapshot.

    Raises
    ------
    BadInputError
        If the snapshot lacks its id or its time, or the folder cannot be written.
    """
    _require_names(snapshot)
    tables = snapshot_tables(snapshot, name="")
    moment = tables["clusters"].column("taken_at")[0].as_py()
    key = (str(snapshot.cluster_id), time_text(moment))
    content = {name: _parquet(table) for name, table in tables.items()}
    digest = _digest(content.values())
    if known is not None and known.get(key) == digest:
        return None
    name = commit_name(key)
    files = {
        table: f"{table}/date={moment:%Y-%m-%d}/{name}-{digest[:16]}.parquet"
        for table in TABLES
    }
    for table, file in files.items():
        store.write(file, content[table])
    return Commit(
        name=name,
        snapshots={key: digest},
        files={table: [file] for table, file in files.items()},
    )


def _require_names(snapshot: "Snapshot") -> None:
    problems = [
        InputProblem(
            file="snapshot",
            place=name,
            value="",
            rule=f"a snapshot of a fleet must have {name}",
            remedy=f"set {name} in the snapshot",
        )
        for name in ("cluster_id", "taken_at")
        if not getattr(snapshot, name)
    ]
    raise_problems("the snapshot has no cluster or time", problems)


def _parquet(table: ArrowTable) -> bytes:
    from pyarrow import parquet

    sink = io.BytesIO()
    parquet.write_table(table, sink, compression="zstd", row_group_size=MAX_GROUP_ROWS)
    return sink.getvalue()


def _digest(contents: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for content in contents:
        digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """Number of data files before and after a compaction, and of removed files."""

    before: int
    after: int
    removed: int


def compact(store: Store) -> Compacted:
    """
    Merge the rows of each day into one file per table; remove files without a marker.

    Concurrent readers see every row exactly once: the new files count from the moment
    that their marker is written, and the marker names those that it replaces. Old files
    are removed last. After a killed run, the next run completes the compaction.

    Notes
    -----
    One day of one table is held in memory at a time. No other process may append
    meanwhile: a file without a marker is removed, even one that is being written.
    """
    visible = store.visible()
    before = sum(len(visible.files(table)) for table in TABLES)
    for day, names in sorted(_days(visible).items()):
        if len(names) > 1 or any(visible.hidden.get(name) for name in names):
            store.commit(_merged(store, visible, day, names))
    after = store.visible()
    stale = _remove_stale(store, after)
    count = sum(len(after.files(table)) for table in TABLES)
    return Compacted(before=before, after=count, removed=stale)


def _days(visible: Visible) -> dict[str, list[str]]:
    """Return the names of the markers by day; a compacted marker has one day."""
    days = defaultdict(list)
    for name, commit in sorted(visible.commits.items()):
        (key, *_) = sorted(commit.snapshots)
        days[key[1][:10]].append(name)
    return days


def _merged(store: Store, visible: Visible, day: str, names: list[str]) -> Commit:
    commits = [visible.commits[name] for name in names]
    snapshots: dict[Key, str] = {}
    for commit in commits:
        hidden = visible.hidden.get(commit.name, frozenset())
        snapshots |= {k: v for k, v in commit.snapshots.items() if k not in hidden}
    # Superseded markers may still exist, and must stay superseded.
    left = {
        name.removesuffix(".json")[len("commits/") :] for name in store.list("commits")
    }
    older = {old for commit in commits for old in commit.replaces}
    replaces = sorted({*names, *(older & left)})
    # The name depends on the replaced markers too, so that no marker replaces itself.
    parts = [*replaces, *(f"{key}{value}" for key, value in sorted(snapshots.items()))]
    digest = _digest([part.encode() for part in parts])
    name = f"compact-{day}-{digest[:16]}"
    files = {}
    for table in TABLES:
        rows = [_rows(store, visible, commit, table) for commit in commits]
        files[table] = [f"{table}/date={day}/{name}.parquet"]
        store.write(files[table][0], _parquet(pa.concat_tables(rows)))
    return Commit(name=name, snapshots=snapshots, files=files, replaces=replaces)


def _rows(store: Store, visible: Visible, commit: Commit, table: str) -> ArrowTable:
    """Read the rows of one marker, without those of hidden snapshots."""
    from pyarrow import parquet

    read = [
        parquet.ParquetFile(store.files.open_input_file(store.path(file))).read()
        for file in commit.files[table]
    ]
    rows = pa.concat_tables(read)
    for cluster_id, taken_at in sorted(visible.hidden.get(commit.name, ())):
        moment = pa.scalar(taken_at).cast(pa.timestamp("us", tz="UTC"))
        is_it = pc.and_(
            pc.equal(rows.column("cluster_id"), cluster_id),
            pc.equal(rows.column("taken_at"), moment),
        )
        rows = rows.filter(pc.invert(is_it))
    return rows


def _remove_stale(store: Store, visible: Visible) -> int:
    """Remove superseded markers, and data files that no other marker names."""
    markers = {f"commits/{name}.json" for name in visible.commits}
    old = [name for name in store.list("commits") if name not in markers]
    store.remove(old)
    named = {file for table in TABLES for file in visible.files(table)}
    stale = [
        file for table in TABLES for file in store.list(table) if file not in named
    ]
    store.remove(stale)
    return len(stale)
