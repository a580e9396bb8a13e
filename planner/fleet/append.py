"""Append snapshots to a fleet, and put many small files together."""

import hashlib
import io
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from planner.errors import BadInputError, InputProblem
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

WIDEST_GROUP_ROWS = 500_000


def append(snapshot: "Snapshot", store: Store) -> bool:
    """
    Append one snapshot to a fleet; the same one again changes nothing.

    A snapshot of the same cluster and time that says something else takes the place of
    what it said before.

    Parameters
    ----------
    snapshot
        The snapshot; it must name its cluster and its time.
    store
        The fleet's folder.

    Returns
    -------
    Whether anything was written.

    Raises
    ------
    BadInputError
        If it does not, or the folder cannot be written.
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
    Write the rows of one snapshot; they count once the commit is in the store.

    Parameters
    ----------
    snapshot
        The snapshot; it must name its cluster and its time.
    store
        The fleet's folder, or where its files are held.
    known
        Content of snapshots that are there: one of these is not written.

    Returns
    -------
    The commit; `None` where the snapshot is there already.

    Raises
    ------
    BadInputError
        If it does not, or the folder cannot be written.
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
            rule=f"a snapshot of a fleet must say its {name}",
            remedy=f"write {name} into the snapshot",
        )
        for name in ("cluster_id", "taken_at")
        if not getattr(snapshot, name)
    ]
    if problems:
        msg = "the snapshot has no name in a fleet"
        raise BadInputError(msg, problems)


def _parquet(table: ArrowTable) -> bytes:
    from pyarrow import parquet

    sink = io.BytesIO()
    parquet.write_table(
        table, sink, compression="zstd", row_group_size=WIDEST_GROUP_ROWS
    )
    return sink.getvalue()


def _digest(contents: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for content in contents:
        digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """How many files there were and are, and how many were removed."""

    before: int
    after: int
    removed: int


def compact(store: Store) -> Compacted:
    """
    Put the rows of each day into one file per table, and remove what no marker names.

    Rows are never missing nor there twice for those who read meanwhile: the new files
    count from their marker on, which says whose place they take. Old files are removed
    last. A killed run is mended by the next.

    Notes
    -----
    One day of one table is held at a time. Nobody else may append meanwhile: what is
    being written is not yet named by a marker, and would be removed.
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
    """Return the markers of each day; a compacted one has the day of its files."""
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
    # Markers that are there although they count no longer must go on not counting.
    left = {
        name.removesuffix(".json")[len("commits/") :] for name in store.list("commits")
    }
    older = {old for commit in commits for old in commit.replaces}
    replaces = sorted({*names, *(older & left)})
    # Another history with the same content is another marker: none replaces itself.
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
    """Read the rows of one marker that count."""
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
    """Remove markers that do not count and files that none of the others names."""
    markers = {f"commits/{name}.json" for name in visible.commits}
    old = [name for name in store.list("commits") if name not in markers]
    store.remove(old)
    named = {file for table in TABLES for file in visible.files(table)}
    stale = [
        file for table in TABLES for file in store.list(table) if file not in named
    ]
    store.remove(stale)
    return len(stale)
