"""Execution of a case in a temporary folder, in this process."""

import io
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from golden.case import Case, Source
from golden.clock import fixed_clock
from planner.cli.common.output import is_json_wanted
from planner.cli.main import _run

CRASH = 1
"""Exit code of a command that raised an exception."""
PREFIX = "PLANNER_"
"""Prefix of the environment variables that set options."""


@dataclass(frozen=True)
class Observation:
    """
    Everything that one command produced.

    Parameters
    ----------
    code
        Exit code.
    out, err
        Standard output and standard error.
    is_json
        Whether standard output is a JSON document.
    files
        Content of each file that the command wrote, by its relative path.
    """

    code: int
    out: str
    err: str
    is_json: bool
    files: dict[str, bytes]


def observe(case: Case) -> Iterator[tuple[str, Observation]]:
    """Run each step of a case; yield the name of its record and the observation."""
    with _working_folder() as folder:
        for path, source in case.inputs.items():
            _place(folder / path, source)
        before = _contents(folder)
        for step, words in case.steps.items():
            code, out, err = _command(shlex.split(words))
            after = _contents(folder)
            written = {k: v for k, v in after.items() if before.get(k) != v}
            is_json = is_json_wanted(shlex.split(words), {})
            found = Observation(code, out, err, is_json, written)
            yield case.record_name(step), found
            before = after


@contextmanager
def _working_folder() -> Iterator[Path]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(PREFIX)}
    fixed = kept | {"COLUMNS": "80", "NO_COLOR": "1"}
    with (
        tempfile.TemporaryDirectory(prefix="golden-") as name,
        patch.dict(os.environ, fixed, clear=True),
        chdir(name),
        fixed_clock(),
    ):
        yield Path()


def _place(path: Path, source: Source) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not isinstance(source, Path):
        path.write_bytes(source())
    elif source.is_dir():
        shutil.copytree(source, path, dirs_exist_ok=True)
    else:
        shutil.copyfile(source, path)


def _contents(folder: Path) -> dict[str, bytes]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def _command(words: list[str]) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = int(_run(words, as_json=is_json_wanted(words, {})))
        except Exception as error:
            code = CRASH
            err.write(f"{type(error).__name__}: {error}")
    return code, out.getvalue(), err.getvalue()
