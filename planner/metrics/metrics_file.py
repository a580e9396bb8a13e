"""A file of metrics, replaced in one step, for node_exporter's textfile collector."""

from pathlib import Path

from planner.io.problems import refuse_output
from planner.io.replaced_file import replace_file
from planner.metrics.metric import PREFIX
from planner.metrics.openmetrics_text import END

SUFFIX = ".prom"
"""Ending of the files that the textfile collector reads."""
_STARTS = (f"# TYPE {PREFIX}", END)
_REMEDY = "name another file with --metrics"


def check_metrics_file(path: Path) -> None:
    """
    Refuse a path that cannot be a file of metrics, before any work is done.

    Raises
    ------
    BadInputError
        If the name does not end in `SUFFIX`, the folder does not exist, or something
        else than a file of metrics would be replaced.
    """
    if path.suffix != SUFFIX:
        rule = f"the textfile collector reads only files that end in {SUFFIX}"
        raise refuse_output(path, rule, f"name {path.name}{SUFFIX}")
    if not path.parent.is_dir():
        raise refuse_output(path, "its folder does not exist", "make the folder first")
    if path.is_symlink():
        rule = f"the output is a symbolic link to {path.readlink()}"
        remedy = f"remove the link, or {_REMEDY}: {path.resolve()}"
        raise refuse_output(path, rule, remedy)
    if path.exists() and not _is_ours(path):
        rule = "the output exists and is not a file of metrics"
        raise refuse_output(path, rule, f"remove it, or {_REMEDY}")


def _is_ours(path: Path) -> bool:
    if not path.is_file():
        return False
    try:
        with path.open(encoding="utf-8") as file:
            return file.readline().startswith(_STARTS)
    except (OSError, UnicodeDecodeError):
        return False


def write_metrics(text: str, path: Path) -> None:
    """
    Write metrics to a file, so that a reader never sees a part of them.

    Raises
    ------
    BadInputError
        If the file may not be replaced, or cannot be written.
    """
    check_metrics_file(path)
    try:
        replace_file(path, text.encode())
    except OSError as error:
        rule = f"the metrics cannot be written: {error.strerror or error}"
        raise refuse_output(path, rule, _REMEDY) from error
