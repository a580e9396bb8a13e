"""Files whose importers are found by their contents."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from planner.errors import BadInputError
from planner.io.gatherer import Gatherer
from planner.io.problems import refusal
from planner.pasted_text import head_of, recognise
from planner.snapshot.importers.file_kinds import (
    CRUISE_CONTROL,
    SNAPSHOT,
    kind_of,
)
from planner.snapshot.importers.inputs.foreign_files import read_bytes
from planner.text.printable import printable


class Recognised(NamedTuple):
    """
    Files whose importers are known.

    Parameters
    ----------
    by_kind
        Files by the name of their importer.
    contents
        Bytes of each file: a pipe gives them once.
    """

    by_kind: dict[str, list[Path]]
    contents: dict[Path, bytes]


def recognised_files(paths: Iterable[Path]) -> Recognised:
    """
    Find the importers of files by their contents.

    Parameters
    ----------
    paths
        Files in any order; a folder is one of Cruise Control.

    Raises
    ------
    BadInputError
        With every file that cannot be read, or that no importer reads.
    """
    found = Recognised({}, {})
    inputs = Gatherer()
    for path in paths:
        kind = inputs.read(partial(_kind_of, path, found.contents))
        if kind is not None:
            found.by_kind.setdefault(kind, []).append(path)
    inputs.raise_problems()
    return found


def _kind_of(path: Path, contents: dict[Path, bytes]) -> str:
    """Return the name of the importer of a file, and keep the bytes of the file."""
    if path.is_dir():
        return CRUISE_CONTROL
    data = contents[path] = read_bytes(path)
    kind = kind_of(data)
    if kind is None or kind in {SNAPSHOT, CRUISE_CONTROL}:
        raise _not_imported(path, data, kind)
    return kind


def _not_imported(path: Path, data: bytes, kind: str | None) -> BadInputError:
    """Return the error for a file that no importer reads by itself."""
    if kind == SNAPSHOT:
        rule, remedy = "is a snapshot already", "give it to the command that needs it"
    elif kind == CRUISE_CONTROL:
        rule = "is one of several answers of Cruise Control"
        remedy = f"give the folder that they are in: {path.parent}"
    else:
        rule = "must be the output of a tool that is known"
        remedy = "name what it is by an option, such as --topics FILE"
        other = recognise(head_of(data))
        if other is not None:
            remedy = f"this looks like {other.words}"
    file = printable(str(path))
    return refusal(f"{file} cannot be imported", file, rule, remedy)
