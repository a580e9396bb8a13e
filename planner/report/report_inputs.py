"""The page of inputs: a plan folder, snapshots, a document, or fleet tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from planner.errors import BadInputError, InputProblem
from planner.io.json_reader import parse_json
from planner.io.plan_file_names import DOCUMENT_NAME
from planner.io.problems import refuse_all
from planner.report.fleet_tables import has_fleet_tables, read_fleet_tables
from planner.report.pages.blocks import Page
from planner.schema import json_schema, misfits
from planner.snapshot import Snapshot

ANY_TIME = datetime(1970, 1, 1, tzinfo=UTC)
"""Time of a score whose age is not shown: the page tells it when it is opened."""


def page_of(
    inputs: Sequence[Path],
    snapshot: Path | None,
    read_snapshot: Callable[[Path], Snapshot],
) -> Page:
    """
    Return the page of a plan folder, of snapshots, of a document, or of fleet tables.

    Parameters
    ----------
    inputs
        The plan folder or the document alone, one or more snapshots, or folders of
        fleet tables.
    snapshot
        The cluster before the plan, to check the plan.
    read_snapshot
        Reader of snapshots.

    Raises
    ------
    BadInputError
        If an input cannot be read, or the inputs do not go together.
    """
    plans = [path for path in inputs if (path / DOCUMENT_NAME).exists()]
    if plans and len(inputs) > 1:
        rule = "a plan folder must be the only input"
        raise _refusal(plans[0], rule, "make a report of each")
    if plans:
        return _plan_page(plans[0], snapshot, read_snapshot)
    if snapshot is not None:
        rule = "only a plan folder is checked on a snapshot"
        raise _refusal(snapshot, rule, "leave out --snapshot")
    if len(inputs) == 1 and (found := _document(inputs[0])) is not None:
        from planner.report.pages.document_page import document_page

        return document_page(*found)
    if all(map(has_fleet_tables, inputs)):
        from planner.report.pages.fleet_page import fleet_page

        return fleet_page(read_fleet_tables(inputs))
    from planner.report.pages.score_page import score_page
    from planner.score import score_snapshot

    scored = [
        (path, score_snapshot(read_snapshot(path), now=ANY_TIME)) for path in inputs
    ]
    return score_page(scored)


def _document(path: Path) -> tuple[str, Mapping[str, Any]] | None:
    """
    Return name and contents of a document of a command; `None` for other files.

    Raises
    ------
    BadInputError
        If the keys are those of a document, and what they have is not.
    """
    if path.suffix != ".json":
        return None
    from planner.report.pages.document_page import TITLES

    try:
        data = path.read_bytes()
        document = parse_json(data)
    except (OSError, ValueError):
        # Its problems are reported where it is read as a snapshot.
        return None
    if not isinstance(document, dict) or "format" in document:
        return None
    name = next((name for name in TITLES if _is(name, document)), None)
    if name is None:
        return None
    remedy = "take what the command printed, as it is"
    if problems := [
        InputProblem(file=str(path), place=place, value="", rule=rule, remedy=remedy)
        for place, rule in misfits(name, data)
    ]:
        summary = f"{path} is no document of {name}"
        raise refuse_all(summary, problems)
    return name, document


def _is(name: str, document: Mapping[str, Any]) -> bool:
    schema = json_schema(name)
    required = set(schema.get("required", ()))
    return bool(required <= document.keys() <= schema["properties"].keys())


def _plan_page(
    folder: Path, snapshot: Path | None, read_snapshot: Callable[[Path], Snapshot]
) -> Page:
    from planner.plan.input.plan_input import read_plan
    from planner.plan.input.wave_input import read_waves
    from planner.plan.run.check_given_plan import check_given
    from planner.report.pages.plan_folder_facts import read_facts
    from planner.report.pages.plan_page import plan_page
    from planner.report.plan_estimates import estimate_lines
    from planner.status.controller_quorum import voters_of

    if snapshot is None:
        return plan_page(read_facts(folder))
    read, given = read_snapshot(snapshot), read_plan(folder)
    before = read.to_state()
    findings = check_given(given, read_waves(folder), before, capacity_thresholds={})
    facts, voters = read_facts(folder, findings), voters_of(read, before)
    estimates = estimate_lines(
        facts.document, given.reassignment, facts.waves, before, voters
    )
    return plan_page(replace(facts, estimates=estimates))


def _refusal(path: Path, rule: str, remedy: str) -> BadInputError:
    problem = InputProblem(file=str(path), place="", value="", rule=rule, remedy=remedy)
    return BadInputError("the report cannot be made", [problem])
