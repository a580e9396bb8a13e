"""Reading and writing of snapshots by path, and the check of outputs."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from planner.errors import BadInputError
from planner.io.interrupts import interrupts_wait
from planner.io.problems import problem, refusal, refuse_output
from planner.progress import stage
from planner.snapshot.parquet_folder import (
    HEADER_FILE,
    is_hidden,
    read_folder,
    write_folder,
)
from planner.snapshot.tables.snapshot_columns import TABLES
from planner.snapshot.tables.snapshot_problems import refuse

if TYPE_CHECKING:
    from planner.snapshot.snapshot_document import Snapshot

_SUFFIXES = (".json", ".json.gz")


def read_snapshot(path: Path) -> "Snapshot":
    """
    Read a snapshot: a JSON file, gzipped or not, or a folder of Parquet.

    Parameters
    ----------
    path
        Path of the snapshot.

    Raises
    ------
    BadInputError
        If the path is not a snapshot, with every problem.
    """
    stage(f"reading {path}")
    try:
        return read_folder(path) if path.is_dir() else _read_file(path)
    except (OSError, ValueError) as error:
        if isinstance(error, BadInputError):
            raise
        reason = _reason(error)
        rule = f"the snapshot cannot be read: {reason}"
        raise refuse(str(path), [problem(str(path), "", None, rule)]) from error


def _read_file(path: Path) -> "Snapshot":
    from planner.snapshot.formats.json_file import parse_json
    from planner.snapshot.snapshot_document import Snapshot

    file = str(path)
    if path.suffix == ".parquet":
        rule = "a snapshot in Parquet must be a folder, not one file"
        raise refuse(file, [problem(file, "", None, rule, "give the folder")])
    return Snapshot.from_document(parse_json(path.read_bytes(), file=file), file=file)


def write_snapshot(snapshot: "Snapshot", path: Path) -> None:
    """
    Write a snapshot atomically.

    Parameters
    ----------
    snapshot
        The snapshot.
    path
        Path with the suffix ``.json`` or ``.json.gz``, else a folder for Parquet. A
        snapshot at the path is replaced; anything else is an error.

    Raises
    ------
    BadInputError
        If the path is not a snapshot, or cannot be written.
    """
    check_output(path)
    stage(f"writing {path}")
    try:
        if path.name.endswith(_SUFFIXES):
            _write_file(snapshot, path)
        else:
            _write_folder(snapshot, path)
    except OSError as error:
        rule = f"the snapshot cannot be written: {_reason(error)}"
        remedy = "give another path with -o"
        msg = f"cannot write {path}"
        raise refusal(msg, str(path), rule, remedy) from error


def check_output(path: Path) -> None:
    """
    Check that a snapshot may be written to a path, before any work is done.

    Raises
    ------
    BadInputError
        If the path exists and is not a snapshot of the same kind.
    """
    wants_file = path.name.endswith(_SUFFIXES)
    try:
        if not os.path.lexists(path) or _may_replace(path, wants_file=wants_file):
            return
        rule = "the output exists and is not a snapshot of this kind"
    except (OSError, ValueError) as error:
        rule = f"the output cannot be checked: {_reason(error)}"
    raise refuse_output(path, rule, "remove it, or give another path with -o")


def _may_replace(path: Path, *, wants_file: bool) -> bool:
    if path.is_symlink():
        return False
    if wants_file:
        return path.is_file() and _is_ours(path)
    known = {HEADER_FILE, *(columns.file for columns in TABLES)}
    return (
        path.is_dir()
        and all(p.name in known or is_hidden(p) for p in path.iterdir())
        and (path / HEADER_FILE).is_file()
        and _is_ours(path / HEADER_FILE)
    )


def _is_ours(path: Path) -> bool:
    from planner.snapshot.formats.json_file import parse_json
    from planner.snapshot.tables.snapshot_records import FORMAT

    try:
        document = parse_json(path.read_bytes(), file=str(path))
    except BadInputError:
        return False
    return isinstance(document, dict) and document.get("format") == FORMAT


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _write_file(snapshot: "Snapshot", path: Path) -> None:
    from planner.snapshot.formats.json_file import write_json

    with _beside(path) as workspace:
        # The suffix determines compression.
        written = workspace / path.name
        write_json(snapshot.header(), snapshot.tables(), written)
        written.replace(path)


def _write_folder(snapshot: "Snapshot", path: Path) -> None:
    with _beside(path) as workspace:
        written = workspace / "new"
        written.mkdir()
        write_folder(snapshot, written)
        with interrupts_wait():
            if path.exists():
                path.rename(workspace / "old")
            written.rename(path)


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """Yield a folder on the same file system, and remove it with its contents."""
    workspace = Path(tempfile.mkdtemp(prefix=f".{path.name[:50]}.", dir=path.parent))
    try:
        yield workspace
    finally:
        with interrupts_wait():
            shutil.rmtree(workspace, ignore_errors=True)
