"""Where groups are read from and written to."""

import gzip
import json
import os
import tempfile
from pathlib import Path
from typing import Any, NoReturn

from planner.errors import BadInputError
from planner.group.group_document import GroupDocument
from planner.group.group_problems import refuse
from planner.group.group_records import FORMAT
from planner.io.json_reader import JsonTextError, parse_json
from planner.io.problems import problem
from planner.pasted_text import (
    EncodingProblemError,
    clean,
    decode_bytes,
    json_form,
    passed_note,
    recognise,
)

_OWN_KEYS = frozenset(("format", "group_id", "members"))


def read_group(path: Path, *, group_id: str | None = None) -> GroupDocument:
    """
    Read a group: a group file, or what ``kafka-consumer-groups --describe`` printed.

    Parameters
    ----------
    path
        JSON, gzipped or not, or the tool's text.
    group_id
        Which group of the text; not needed where it has one.

    Raises
    ------
    BadInputError
        If it is neither; names every problem.
    """
    file = str(path)
    text = _read_text(path)
    if not _is_json(text):
        from planner.group.importers.describe import import_texts

        return import_texts({file: text}, group_id=group_id)
    pasted = clean(text, json_form())
    document = _parse(pasted.text, file)
    _refuse_other_output(document, text, file)
    first = pasted.passed[0] if pasted.passed else None
    notes = passed_note(file, len(pasted.passed), first)
    return GroupDocument.from_document(document, file=file, notes=notes)


def _is_json(text: str) -> bool:
    """Tell whether the first line that is no noise begins as JSON."""
    form = json_form()
    cleaned = clean(text, form).text.lstrip()
    # A name of a pod or a time may stand in brackets before each line of a table.
    return cleaned.startswith(("{", "[")) and form.is_data(cleaned.split("\n", 1)[0])


def _refuse_other_output(document: object, text: str, file: str) -> None:
    """Refuse JSON of another tool with its name."""
    if isinstance(document, dict) and not _OWN_KEYS.isdisjoint(document):
        return
    found = recognise(text, but="group")
    rule = "must be a group file, or what kafka-consumer-groups printed"
    remedy = "take --describe, with --members --verbose for what members read"
    _refuse(
        file, "", rule, remedy if found is None else f"this looks like {found.words}"
    )


def read_text(path: Path) -> str:
    """
    Read a text file whole.

    Raises
    ------
    BadInputError
        If it cannot be read, or is not UTF-8.
    """
    return _read_text(path)


def _read_text(path: Path) -> str:
    file = str(path)
    try:
        return decode_bytes(path.read_bytes())
    except OSError as error:
        reason = getattr(error, "strerror", None) or str(error)
        _refuse(file, "", f"must be readable: {reason}", "check the path")
    except EncodingProblemError as error:
        _refuse(file, error.place, error.rule, error.remedy)
    except ValueError as error:
        _refuse(file, "", f"must be readable: {error}", "check the path")


def _parse(text: str, file: str) -> Any:  # noqa: ANN401 - any JSON value
    try:
        return parse_json(text)
    except JsonTextError as error:
        _refuse(file, error.place, error.rule, "mend it")


def _refuse(file: str, place: str, rule: str, remedy: str) -> NoReturn:
    raise refuse(file, [problem(file, place, None, rule, remedy)])


def check_output(path: Path) -> None:
    """
    Make sure that a group may be written to a place, before work is spent on it.

    Raises
    ------
    BadInputError
        If something stands there that is not a group file.
    """
    if not os.path.lexists(path) or _is_ours(path):
        return
    rule = "the output exists and is not a group file"
    found = problem(str(path), "", None, rule, "remove it, or name another with -o")
    msg = f"will not write {path}"
    raise BadInputError(msg, [found])


def _is_ours(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    try:
        document = _parse(_read_text(path), str(path))
    except BadInputError:
        return False
    return isinstance(document, dict) and document.get("format") == FORMAT


def write_group(group: GroupDocument, path: Path) -> None:
    """
    Write a group file, all of it or nothing; one that stands there is replaced.

    Raises
    ------
    BadInputError
        If something else stands there, or nothing can be written there.
    """
    check_output(path)
    data = format_group(group).encode()
    if path.suffix == ".gz":
        # No time inside: the same group gives the same bytes.
        data = gzip.compress(data, mtime=0)
    try:
        _write(data, path)
    except OSError as error:
        rule = f"the group cannot be written: {error.strerror or error}"
        found = problem(str(path), "", None, rule, "name another place with -o")
        msg = f"cannot write {path}"
        raise BadInputError(msg, [found]) from error


def _write(data: bytes, path: Path) -> None:
    prefix = f".{path.name[:50]}."
    with tempfile.TemporaryDirectory(prefix=prefix, dir=path.parent) as workspace:
        written = Path(workspace) / path.name
        written.write_bytes(data)
        written.replace(path)


def format_group(group: GroupDocument) -> str:
    """Return the text of a group file: one line for each topic and each member."""
    document = group.to_document()
    tables = {name: document.pop(name) for name in ("topics", "members")}
    lines = [json.dumps(document, ensure_ascii=False).removesuffix("}")]
    for name, records in tables.items():
        rows = [f"\n  {json.dumps(row, ensure_ascii=False)}" for row in records]
        lines.append(f',\n "{name}": [{",".join(rows)}]')
    return "".join([*lines, "}\n"])
