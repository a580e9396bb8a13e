"""Folder of an answer: the JSON document of a command and, on request, its report."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from planner.errors import BadInputError
from planner.io.json_text import json_text
from planner.io.plan_file_names import REPORT_NAME
from planner.io.problems import refuse_output
from planner.io.replaced_file import replace_file


def check_answer_folder(folder: Path, name: str) -> None:
    """
    Check that an answer may be written to a folder, before any work is done.

    Raises
    ------
    BadInputError
        If something else is there: a file, or a folder with other files.
    """
    try:
        names = {each.name for each in folder.iterdir()} if folder.exists() else set()
    except OSError as error:
        raise _unwritable(folder, error) from error
    if names - {_file_name(name), REPORT_NAME}:
        rule = f"the output exists and is not a folder of {_file_name(name)}"
        raise refuse_output(folder, rule, "remove it, or name another place with -o")


def write_document(folder: Path, name: str, document: Mapping[str, Any]) -> Path:
    """
    Write the document of a command into a folder, replaced in one step.

    Parameters
    ----------
    folder
        The folder; made if it is not there.
    name
        Name of the document's schema, and of its file without the suffix.
    document
        The document, as `--format json` prints it.

    Returns
    -------
    The file.

    Raises
    ------
    BadInputError
        If the file cannot be written.
    """
    path = folder / _file_name(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(path, f"{json_text(document, indent=2)}\n".encode())
    except OSError as error:
        raise _unwritable(folder, error) from error
    return path


def _file_name(name: str) -> str:
    return f"{name}.json"


def _unwritable(folder: Path, error: OSError) -> BadInputError:
    rule = f"the answer cannot be written: {error.strerror or error}"
    return refuse_output(folder, rule, "name another place with -o")
