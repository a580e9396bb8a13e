"""Group files and outputs of Kafka's tools: reading and writing."""

import gzip
import json
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

from planner.errors import BadInputError
from planner.group.files.describe import import_texts
from planner.group.group_document import GroupDocument
from planner.group.group_problems import refuse
from planner.group.group_records import FORMAT
from planner.io.json_reader import JsonTextError, parse_json
from planner.io.problems import problem, refusal, refuse_output
from planner.io.replaced_file import replace_file
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
    Read a group file, or an output of ``kafka-consumer-groups --describe``.

    Parameters
    ----------
    path
        JSON, gzipped or not, or the output of the tool; ``-`` is standard input.
    group_id
        Id of the group to take from the output; not needed where it has only one.

    Raises
    ------
    BadInputError
        If the file is neither; names every problem.
    """
    file = str(path)
    text = _read_text(path)
    if not _is_json(text):
        return import_texts({file: text}, group_id=group_id)
    pasted = clean(text, json_form())
    document = _parse(pasted.text, file)
    _refuse_other_output(document, text, file)
    first = pasted.passed[0] if pasted.passed else None
    notes = passed_note(file, len(pasted.passed), first)
    return GroupDocument.from_document(document, file=file, notes=notes)


def _is_json(text: str) -> bool:
    """Return whether the first line after noise begins a JSON value."""
    form = json_form()
    cleaned = clean(text, form).text.lstrip()
    # Logs may put a pod name or a time in brackets before each line of a table.
    return cleaned.startswith(("{", "[")) and form.is_data(cleaned.split("\n", 1)[0])


def _refuse_other_output(document: object, text: str, file: str) -> None:
    """Refuse JSON that is no group file, and name the tool it seems to come from."""
    if isinstance(document, dict) and not _OWN_KEYS.isdisjoint(document):
        return
    found = recognise(text, but="group")
    rule = "must be a group file, or an output of kafka-consumer-groups"
    remedy = "give the output of --describe, with --members --verbose for members"
    _refuse(
        file, "", rule, remedy if found is None else f"this looks like {found.words}"
    )


def read_text(path: Path) -> str:
    """
    Read a text file whole.

    Raises
    ------
    BadInputError
        If the file cannot be read, or is not UTF-8.
    """
    return _read_text(path)


def _read_text(path: Path) -> str:
    file = str(path)
    try:
        is_piped = file == "-"
        return decode_bytes(sys.stdin.buffer.read() if is_piped else path.read_bytes())
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
        _refuse(file, error.place, error.rule, "correct it")


def _refuse(file: str, place: str, rule: str, remedy: str) -> NoReturn:
    raise refuse(file, [problem(file, place, None, rule, remedy)])


def check_output(path: Path) -> None:
    """
    Refuse an output path that holds another file, before any work is done.

    Raises
    ------
    BadInputError
        If the path exists and is not a group file.
    """
    if not os.path.lexists(path) or _is_ours(path):
        return
    rule = "the output exists and is not a group file"
    raise refuse_output(path, rule, "remove it, or name another with -o")


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
    Write a group file atomically; replace an existing one.

    Raises
    ------
    BadInputError
        If the path exists and is not a group file, or cannot be written.
    """
    check_output(path)
    data = format_group(group).encode()
    if path.suffix == ".gz":
        # Without a modification time, the same group gives the same bytes.
        data = gzip.compress(data, mtime=0)
    try:
        replace_file(path, data)
    except OSError as error:
        rule = f"the group cannot be written: {error.strerror or error}"
        remedy = "name another place with -o"
        msg = f"cannot write {path}"
        raise refusal(msg, str(path), rule, remedy) from error


def format_group(group: GroupDocument) -> str:
    """Return the text of a group file: one line for each topic and each member."""
    document = group.to_document()
    tables = {name: document.pop(name) for name in ("topics", "members")}
    lines = [json.dumps(document, ensure_ascii=False).removesuffix("}")]
    for name, records in tables.items():
        rows = [f"\n  {json.dumps(row, ensure_ascii=False)}" for row in records]
        lines.append(f',\n "{name}": [{",".join(rows)}]')
    return "".join([*lines, "}\n"])
