"""
Conversion of one dump to one snapshot and its rejects.

In tables of rates, single rows may be rejected. Any other problem rejects the dump,
because a cluster with missing rows would look emptier than it is. A file of unknown
kind is left out, with a reject.
"""

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from planner.errors import BadInputError, InputProblem, raise_problems
from planner.fleet.dumps.dump_finder import Dump
from planner.fleet.dumps.dump_rejects import Reject, Scope, folded_rejects, rejects_of
from planner.fleet.dumps.rate_rows import read_rows, with_rates
from planner.io.gatherer import Gatherer
from planner.pasted_text import head_of
from planner.snapshot.importers.file_kinds import (
    CRUISE_CONTROL,
    PLACEMENTS,
    RATES,
    SNAPSHOT,
    kind_of,
)
from planner.snapshot.importers.inputs.import_source import PartitionColumns, Source
from planner.snapshot.tables.snapshot_columns import TABLES

if TYPE_CHECKING:
    from planner.snapshot import Snapshot
    from planner.snapshot.importers.importer_registry import Reader

_TABLE_FILES = frozenset(columns.file for columns in TABLES)
_HEADER = "snapshot.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """
    Result of reading one dump.

    Parameters
    ----------
    snapshot
        Snapshot with its id and its time; `None` if the dump is rejected.
    rejects
        Parts of the dump that the snapshot lacks, with reasons.
    """

    snapshot: "Snapshot | None"
    rejects: tuple[Reject, ...]


def read_dump(
    dump: Dump, contents: Mapping[str, bytes], *, allow_partial: bool = False
) -> Reading:
    """
    Read a dump; its problems become rejects, not exceptions.

    Parameters
    ----------
    dump
        The dump.
    contents
        Contents of the files by name.
    allow_partial
        Whether to continue if files show only a part of the cluster.
    """
    files = _files_by_kind(dump, contents)
    try:
        snapshot = _without_rates(dump, files, allow_partial=allow_partial)
        snapshot = _named(dump, snapshot)
    except BadInputError as error:
        refused = rejects_of(Scope.SNAPSHOT, error.problems)
        return _reading(None, [*files.rejects, *refused])
    snapshot, unused = with_rates(snapshot, files.rates)
    return _reading(snapshot, [*files.rejects, *unused])


def _reading(snapshot: "Snapshot | None", rejects: Iterable[Reject]) -> Reading:
    return Reading(snapshot=snapshot, rejects=folded_rejects(rejects))


@dataclass(frozen=True, slots=True)
class _FilesByKind:
    """Files of a dump by their kinds."""

    folders: list[str] = field(default_factory=list)
    by_kind: dict[str, dict[str, bytes]] = field(default_factory=dict)
    rates: dict[str, PartitionColumns] = field(default_factory=dict)
    rejects: list[Reject] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)

    def of(self, kind: str) -> dict[str, bytes]:
        return self.by_kind.get(kind, {})


def _files_by_kind(dump: Dump, contents: Mapping[str, bytes]) -> _FilesByKind:
    found = _FilesByKind(contents=dict(contents))
    found.folders.extend(_snapshot_folders(contents))
    inside = tuple(f"{folder}/" for folder in found.folders)
    for name in sorted(contents):
        if inside and name.startswith(inside):
            continue
        kind = kind_of(contents[name])
        if kind is None:
            found.rejects.append(_unknown(name, contents[name]))
        elif kind == RATES:
            rows, rejects = read_rows(contents[name], file=name)
            found.rejects.extend(rejects)
            if rows is not None:
                found.rates[name] = rows
        else:
            found.by_kind.setdefault(kind, {})[name] = contents[name]
    return found


def _snapshot_folders(contents: Mapping[str, bytes]) -> list[str]:
    """Return the folders that contain a snapshot in Parquet."""
    headers = [PurePosixPath(name) for name in contents if name.endswith(f"/{_HEADER}")]
    return sorted(
        str(path.parent)
        for path in headers
        if any(
            f"{path.parent}/{file}" in contents
            or any(name.startswith(f"{path.parent}/{file}/") for name in contents)
            for file in _TABLE_FILES
        )
    )


def _unknown(name: str, data: bytes) -> Reject:
    from planner.pasted_text import recognise

    found = recognise(head_of(data))
    hint = f"this looks like {found.words}" if found else ""
    rule = "the file must be of a known kind: see docs/fleets.md"
    if not data:
        rule = "the file must not be empty"
    return Reject(
        scope=Scope.FILE, problem=_problem(name, rule, hint or "leave it out")
    )


def _problem(file: str, rule: str, remedy: str, place: str = "") -> InputProblem:
    return InputProblem(file=file, place=place, value="", rule=rule, remedy=remedy)


def _without_rates(
    dump: Dump, found: _FilesByKind, *, allow_partial: bool
) -> "Snapshot":
    """Return the snapshot without the rates of tables: placement, brokers and sizes."""
    snapshots = [*found.folders, *found.of(SNAPSHOT)]
    if not snapshots:
        return _merged(dump, found, allow_partial=allow_partial)
    _require_one(dump, snapshots, found)
    if found.folders:
        return _from_folder(snapshots[0], found.contents)
    from planner.snapshot import Snapshot
    from planner.snapshot.formats.json_file import parse_json

    document = parse_json(found.contents[snapshots[0]], file=snapshots[0])
    return Snapshot.from_document(document, file=snapshots[0])


def _require_one(dump: Dump, snapshots: Sequence[str], found: _FilesByKind) -> None:
    """Reject a dump with two placements."""
    others = [name for kind in PLACEMENTS for name in found.of(kind)]
    if len(snapshots) + len(others) > 1:
        rule = "only one file may list the replicas of the partitions"
        remedy = "put each snapshot into a folder of its own time"
        problems = [_problem(name, rule, remedy) for name in (*snapshots, *others)]
        msg = f"{dump.name} has several snapshots"
        raise BadInputError(msg, problems)
    for kind, files in found.by_kind.items():
        if kind != SNAPSHOT:
            rule = f"a snapshot needs no {kind} file; only rates may be added to it"
            found.rejects.extend(
                Reject(scope=Scope.FILE, problem=_problem(name, rule, "leave it out"))
                for name in files
            )


def _from_folder(folder: str, contents: Mapping[str, bytes]) -> "Snapshot":
    """Read a snapshot in Parquet through a temporary folder; its reader needs paths."""
    from planner.snapshot import read_snapshot

    with tempfile.TemporaryDirectory() as place:
        for name, data in contents.items():
            if name.startswith(f"{folder}/"):
                path = Path(place) / PurePosixPath(name).relative_to(folder)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
        try:
            return read_snapshot(Path(place))
        except BadInputError as error:
            problems = [
                replace(each, file=each.file.replace(place, folder))
                for each in error.problems
            ]
            msg = f"{folder} is not a snapshot"
            raise BadInputError(msg, problems) from error


def _merged(dump: Dump, found: _FilesByKind, *, allow_partial: bool) -> "Snapshot":
    """Merge the outputs of tools, except tables of rates, into a snapshot."""
    from planner.snapshot.importers import merge
    from planner.snapshot.importers.cruise_control.cruise_control_folder import (
        read_answers,
    )
    from planner.snapshot.importers.importer_registry import IMPORTERS

    if not any(found.of(kind) for kind in PLACEMENTS):
        rule = "one file must list the replicas of the partitions"
        remedy = "add the output of kafka-topics --describe, or a snapshot"
        msg = f"{dump.name} has no placement"
        raise BadInputError(msg, [_problem(dump.name, rule, remedy)])
    sources: list[Source] = []
    inputs = Gatherer()
    readers = {one.name: one.reader(allow_partial=allow_partial) for one in IMPORTERS}
    for kind, files in found.by_kind.items():
        if kind == CRUISE_CONTROL:
            works = [partial(read_answers, dump.name, files)]
        else:
            read = readers[kind]
            works = [partial(_one, read, name, data) for name, data in files.items()]
        for work in works:
            sources += inputs.read(work) or ()
    inputs.raise_problems(f"{dump.name} has invalid files")
    imported = merge(sources, allow_partial=allow_partial)
    found.rejects.extend(
        Reject(scope=Scope.NOTHING, problem=_problem(dump.name, note, ""))
        for note in imported.notes
        if not note.startswith("unknown, and not 0")
    )
    return imported.snapshot


def _one(read: "Reader", name: str, data: bytes) -> list[Source]:
    return [read(data, file=name)]


def _named(dump: Dump, snapshot: "Snapshot") -> "Snapshot":
    """Set a missing id and time of a snapshot from the names of the folders."""
    named = replace(
        snapshot,
        cluster_id=snapshot.cluster_id or dump.cluster_id,
        taken_at=snapshot.taken_at or dump.taken_at,
    )
    problems = [
        _problem(
            dump.name,
            f"a dump must have a {what}",
            f"name the folder {example}, or add a snapshot that has it",
        )
        for what, value, example in (
            ("cluster", named.cluster_id, "CLUSTER/2026-11-21T08:00:00Z"),
            ("time", named.taken_at, "CLUSTER/2026-11-21T08:00:00Z"),
        )
        if not value
    ]
    raise_problems(f"{dump.name} has no cluster or time", problems)
    return named
