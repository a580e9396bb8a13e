"""Folder of scores: their table as Parquet, the documents as JSON, and a page."""

import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from planner.io.interrupts import interrupts_wait
from planner.io.plan_file_names import REPORT_NAME
from planner.io.problems import refuse_output
from planner.score.make_score import Scored
from planner.score.score_document import score_document
from planner.score.score_tables import score_table

SCORES = "scores"
DOCUMENTS_NAME = "scores.json"


def check_output(path: Path) -> None:
    """
    Refuse an output path that holds other files, before any work is done.

    Raises
    ------
    BadInputError
        If the path exists and is not a folder of scores.
    """
    if os.path.lexists(path) and not _is_scores(path):
        rule = "the output exists and is not a folder of scores"
        raise refuse_output(path, rule, "remove it, or name another place with -o")


def _is_scores(path: Path) -> bool:
    """Return whether a folder has the files that this module writes, and no other."""
    if path.is_symlink() or not path.is_dir():
        return False
    names = {child.name for child in path.iterdir()}
    return names - {REPORT_NAME} == {SCORES, DOCUMENTS_NAME}


def write_tables(
    scored: Sequence[Scored], path: Path, *, report: bytes | None = None
) -> None:
    """
    Write scores to a folder: `scores/` as Parquet, and the documents as JSON.

    An existing folder of scores is replaced as a whole.

    Parameters
    ----------
    scored
        The scores.
    path
        The folder.
    report
        The page of the scores; `None` for a folder without one.

    Raises
    ------
    BadInputError
        If the path exists and is not a folder of scores, or cannot be written.
    """
    from pyarrow import parquet

    check_output(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=f".{path.name}-", dir=path.parent))
        try:
            fresh = staging / "new"
            (fresh / SCORES).mkdir(parents=True)
            parquet.write_table(
                score_table(scored),
                fresh / SCORES / "part-00000.parquet",
                compression="zstd",
            )
            documents = [score_document(each) for each in scored]
            text = json.dumps(documents, ensure_ascii=False, indent=1, allow_nan=False)
            (fresh / DOCUMENTS_NAME).write_text(f"{text}\n", encoding="utf-8")
            if report is not None:
                (fresh / REPORT_NAME).write_bytes(report)
            with interrupts_wait():
                if path.exists():
                    path.rename(staging / "old")
                fresh.rename(path)
        finally:
            with interrupts_wait():
                shutil.rmtree(staging, ignore_errors=True)
    except OSError as error:
        reason = error.strerror or str(error)
        rule = f"the scores cannot be written: {reason}"
        raise refuse_output(path, rule, "name another place with -o") from error
