"""
The plan folder: files for Kafka's tools, for operators and for the planner.

A folder is written to a temporary place and moved as a whole, so that it is always one
complete plan. The same input gives the same bytes.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from placement.array_types import RowArray
from placement.model.cluster import ClusterState, sum_rows
from placement.model.reassignment import Reassignment
from placement.waves.broker_lists import lists_of_rows
from planner.io.interrupts import interrupts_wait
from planner.io.json_reader import parse_json
from planner.io.json_text import json_text
from planner.io.plan_file_names import DOCUMENT_NAME
from planner.io.problems import refuse_output
from planner.kafka_files.creation import Creation
from planner.kafka_files.file_parts import (
    part_starts,
    there_and_back,
    throttle_bytes,
)
from planner.kafka_files.reassignment_columns import Listing, listing, listing_now
from planner.kafka_files.reassignment_file import (
    entry_texts,
    format_election,
    join_entries,
)
from planner.plan.documents.log_dir_document import TABLE_NAME, moves_inside
from planner.plan.documents.plan_document import FORMAT, VERSION, to_document
from planner.plan.documents.scored_plan import Plan, elections
from planner.plan.documents.topic_patches import factor_patches, partition_patches
from planner.plan.folder.moves_file import moves_table
from planner.plan.folder.patch_scripts import factor_scripts, partition_scripts
from planner.plan.folder.runbook import NAME as RUNBOOK_NAME
from planner.plan.folder.runbook import runbook
from planner.plan.waves.wave_document import to_document as waves_document
from planner.plan.waves.wave_files import DOCUMENT_NAME as WAVES_NAME
from planner.plan.waves.wave_files import (
    PlannedWaves,
    election_files,
    part_names,
    wave_files,
)
from planner.progress import stage
from planner.text.text_columns import Column, texts_of, whole

ASSIGNMENT_NAME = "replica-assignment.txt"
"""File for ``kafka-topics --replica-assignment``, in plans that create partitions."""
_HEAD = f'{{\n "format": "{FORMAT}",\n "version": {VERSION},\n'
"""Beginning of the plan.json of a plan."""


MoreFiles = Callable[[Mapping[str, str]], Mapping[str, str]]
"""Maker of more files of a folder from the texts of those of its plan."""


def write_plan(plan: Plan, path: Path, more: MoreFiles | None = None) -> list[str]:
    """
    Write a plan folder atomically.

    Parameters
    ----------
    plan
        The plan.
    path
        The folder. A plan in its place is replaced as a whole.
    more
        Maker of more files, such as a report.

    Returns
    -------
    The names of the files, sorted.

    Raises
    ------
    BadInputError
        If something other than a plan is in its place, or the folder cannot be written.
    """
    check_plan_output(path)
    return replace_plan(dict(plan_files(plan)), path, more)


def replace_plan(
    files: dict[str, str], path: Path, more: MoreFiles | None = None
) -> list[str]:
    """
    Replace a folder by the files of a plan atomically.

    Parameters
    ----------
    files
        Texts by name.
    path
        The folder.
    more
        Maker of more files, such as a report.

    Returns
    -------
    The names of the files, sorted.

    Raises
    ------
    BadInputError
        If something other than a plan is in its place, or the folder cannot be written.
    """
    check_plan_output(path)
    if more is not None:
        files = {**files, **more(files)}
    stage(f"writing {path}")
    try:
        _replace_folder(path, files)
    except OSError as error:
        reason = error.strerror or str(error)
        rule = f"the plan cannot be written: {reason}"
        raise refuse_output(path, rule, "name another place with -o") from error
    return sorted(files)


def _replace_folder(path: Path, files: dict[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{path.name}-", dir=path.parent))
    try:
        fresh = staging / "plan"
        fresh.mkdir()
        for name, text in files.items():
            (fresh / name).parent.mkdir(exist_ok=True)
            (fresh / name).write_text(text, encoding="utf-8", newline="")
        with interrupts_wait():
            _swap(fresh, path, staging / "old")
    finally:
        with interrupts_wait():
            shutil.rmtree(staging, ignore_errors=True)


def _swap(fresh: Path, path: Path, old: Path) -> None:
    """Move a folder to its place; restore the earlier one on failure."""
    if not path.exists():
        fresh.rename(path)
        return
    path.rename(old)
    try:
        fresh.rename(path)
    except OSError:
        old.rename(path)
        raise


def check_plan_output(path: Path) -> None:
    """
    Check that a plan may be written to a place, before any work is done.

    Raises
    ------
    BadInputError
        If something other than a plan folder is there.
    """
    if os.path.lexists(path) and not _is_plan(path):
        rule = "the output exists and is not a plan folder"
        raise refuse_output(path, rule, "remove it, or name another place with -o")


def _is_plan(path: Path) -> bool:
    if path.is_symlink() or not path.is_dir():
        return False
    try:
        with (path / DOCUMENT_NAME).open(encoding="utf-8") as file:
            text = file.read(len(_HEAD))
            if text == _HEAD:
                # Our own format: the rest, possibly megabytes, need not be read.
                return True
            text += file.read()
        return bool(parse_json(text).get("format") == FORMAT)
    except (OSError, ValueError, AttributeError):
        return False


def plan_files(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield the name and text of each file of a plan folder."""
    reassignment = plan.placed.reassignment
    yield DOCUMENT_NAME, dump_document(to_document(plan))
    named: dict[str, list[str]] = {}
    if plan.creation is not None:
        yield from _creation_files(plan, plan.creation)
    else:
        changed = np.nonzero(reassignment.is_changed)[0]
        yield from list_files(reassignment, changed, named)
    chosen = np.nonzero(elections(plan))[0]
    pairs = [plan.state.key_of(int(p)) for p in chosen]
    yield "preferred-election.json", format_election(pairs) + "\n"
    yield "moves.csv", moves_table(plan)
    if plan.placed.log_dirs is not None:
        yield TABLE_NAME, moves_inside(plan.placed)
    if plan.waves is not None:
        yield from files_of_waves(plan.waves, named)
    yield from factor_scripts(factor_patches(reassignment, plan.resources))
    yield RUNBOOK_NAME, runbook(plan, named)


def _creation_files(plan: Plan, creation: Creation) -> Iterator[tuple[str, str]]:
    """Yield the name and text of the files of the lists, and of a patch."""
    yield "reassignment.json", file_text(target_lists(plan).texts()) + "\n"
    yield "rollback.json", join_entries("") + "\n"
    yield ASSIGNMENT_NAME, replica_assignment(plan, creation) + "\n"
    yield from partition_scripts(partition_patches(creation, plan.resources))


def replica_assignment(plan: Plan, creation: Creation) -> str:
    """
    Return the value of ``--replica-assignment`` of Kafka's tool.

    It includes the existing partitions, which the tool skips.
    """
    after = plan.placed.reassignment.after()
    rows = map(after.brokers_of, _rows_of(after, creation).tolist())
    return ",".join(":".join(map(str, row)) for row in rows)


def list_files(
    reassignment: Reassignment, rows: RowArray, named: dict[str, list[str]]
) -> Iterator[tuple[str, str]]:
    """
    Yield the name and text of the files of the lists after and before, with parts.

    Parameters
    ----------
    reassignment
        The change of the placement.
    rows
        ``(N,)`` rows of the partitions in the files, ascending.
    named
        Files that Kafka takes in turn, by name; both lists are added.
    """
    state = reassignment.before
    now, then = lists_of_rows(reassignment, rows)
    starts = part_starts(state, rows, throttle_bytes(state, now, then))
    named["reassignment"] = _names("reassignment", len(rows), starts)
    texts = lists_to(reassignment, rows).texts()
    yield from _with_parts("reassignment", texts, starts)
    kept = ~names_dead_broker(state)[rows]
    sizes = there_and_back(state, now, then)[:, kept]
    starts = part_starts(state, rows[kept], sizes)
    named["rollback"] = _names("rollback", int(kept.sum()), starts)
    yield from _with_parts("rollback", rollback_lists(state, rows).texts(), starts)


def files_of_waves(
    waves: PlannedWaves, named: dict[str, list[str]]
) -> Iterator[tuple[str, str]]:
    """Yield the name and text of the files of waves; their parts are added."""
    yield WAVES_NAME, dump_document(waves_document(waves))
    for name, lists, starts in wave_files(waves):
        named[name] = _names(name, len(lists), starts)
        yield from _with_parts(name, texts_of(entry_texts(lists)), starts)
    yield from election_files(waves)


def dump_document(document: object) -> str:
    """Return a document as the text of its file."""
    return json_text(document, indent=1) + "\n"


def _names(name: str, count: int, starts: Sequence[int]) -> list[str]:
    """Return the files that Kafka takes in turn; none for an empty list."""
    return (part_names(name, starts) or [f"{name}.json"]) if count else []


def _with_parts(
    name: str, texts: Column, starts: Sequence[int]
) -> Iterator[tuple[str, str]]:
    """Yield the whole file and, if Kafka cannot take it at once, its parts."""
    yield f"{name}.json", file_text(texts) + "\n"
    ends = [*starts[1:], len(texts)]
    for part, begin, end in zip(part_names(name, starts), starts, ends, strict=False):
        yield part, file_text(texts[begin:end]) + "\n"


def file_text(entries: Column) -> str:
    """Return entries as a file in the format of Kafka's tool."""
    return join_entries(whole(entries, ","))


def rollback_lists(state: ClusterState, changed: RowArray) -> Listing:
    """Return the lists before, with log dirs, except those that name dead brokers."""
    return listing_now(state, changed[~names_dead_broker(state)[changed]])


def names_dead_broker(state: ClusterState) -> npt.NDArray[np.bool_]:
    """Return ``(P,)`` true for partitions with a replica on a broker not live."""
    off = ~state.brokers.is_live[state.replicas.broker_idx]
    return sum_rows(off, state.replicas.start) > 0


def target_lists(plan: Plan) -> Listing:
    """
    Return the lists of every partition that the plan changes or creates.

    If the plan chooses log dirs, the lists have them, and "any" for other replicas, as
    for those of new partitions.
    """
    reassignment = plan.placed.reassignment
    if plan.creation is None:
        return lists_to(reassignment, np.nonzero(reassignment.is_changed)[0])
    rows = _rows_of(plan.state, plan.creation)[plan.creation.first :]
    return listing(plan.state, rows, reassignment.broker_idx, start=reassignment.start)


def _rows_of(state: ClusterState, creation: Creation) -> RowArray:
    """Return the rows of all partitions of the topic, by their numbers."""
    topic = state.topics.names.index(creation.topic)
    return np.nonzero(np.equal(state.partitions.topic_idx, topic))[0]


def lists_to(reassignment: Reassignment, rows: RowArray) -> Listing:
    """Return the lists of some partitions after a reassignment."""
    return listing(
        reassignment.before,
        rows,
        reassignment.broker_idx,
        start=reassignment.start,
        log_dir_idx=reassignment.log_dir_idx,
    )
