"""Rollback as a plan folder, which `apply`, `verify` and Kafka's tools can read."""

from collections.abc import Iterator
from pathlib import Path

from planner.execution.undo.rollback_plan import RollbackPlan
from planner.io.plan_file_names import DOCUMENT_NAME
from planner.kafka_files.reassignment_file import format_election
from planner.plan.folder.plan_folder import (
    dump_document,
    files_of_waves,
    list_files,
    replace_plan,
)


def write_rollback(rollback: RollbackPlan, path: Path) -> list[str]:
    """
    Write a rollback as a plan folder, atomically.

    Parameters
    ----------
    rollback
        The rollback.
    path
        The folder. A plan in its place is replaced as a whole.

    Returns
    -------
    The names of the files, sorted.

    Raises
    ------
    BadInputError
        If something other than a plan is in its place, or the folder cannot be written.
    """
    return replace_plan(dict(_files(rollback)), path)


def _files(rollback: RollbackPlan) -> Iterator[tuple[str, str]]:
    named: dict[str, list[str]] = {}
    yield DOCUMENT_NAME, dump_document(rollback.document)
    yield from list_files(rollback.reassignment, rollback.rows, named)
    yield "preferred-election.json", format_election(rollback.elections) + "\n"
    yield from files_of_waves(rollback.planned, named)
