"""Facts of a plan folder: its documents, moves, waves, runbook and findings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from placement.check import Finding
from planner.errors import BadInputError, InputProblem
from planner.io.json_reader import parse_json
from planner.io.plan_file_names import DOCUMENT_NAME
from planner.io.problems import refuse_all
from planner.plan.documents.plan_document import FORMAT
from planner.plan.folder.moves_file import MOVES_NAME, MoveRow, parse_moves
from planner.plan.folder.runbook import NAME as RUNBOOK_NAME
from planner.plan.waves.wave_files import DOCUMENT_NAME as WAVES_NAME
from planner.schema import misfits

ELECTION_NAME = "preferred-election.json"
READ = (DOCUMENT_NAME, MOVES_NAME, WAVES_NAME, RUNBOOK_NAME, ELECTION_NAME)
"""Files of a plan folder from which a report is made."""
SCHEMAS = {
    DOCUMENT_NAME: "plan",
    WAVES_NAME: "waves",
    ELECTION_NAME: "preferred-election",
}
"""Name of the schema of each document of a plan folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFacts:
    """
    Contents of a plan folder.

    Parameters
    ----------
    document
        plan.json.
    moves
        Rows of moves.csv.
    waves
        waves.json; `None` for a plan without waves.
    runbook
        RUNBOOK.md; empty if the folder has none.
    elected
        Number of partitions in preferred-election.json.
    findings
        Findings of the checker; `None` if the plan was not checked for this report.
    estimates
        Label and text of the lines of the screen that the cluster determines; empty if
        it is unknown.
    """

    document: Mapping[str, Any]
    moves: Sequence[MoveRow]
    waves: Mapping[str, Any] | None = None
    runbook: str = ""
    elected: int = 0
    findings: Sequence[Finding] | None = field(default=None)
    estimates: Sequence[tuple[str, str]] = ()


def read_facts(folder: Path, findings: Sequence[Finding] | None = None) -> PlanFacts:
    """
    Read the files of a plan folder.

    Raises
    ------
    BadInputError
        If the folder is not a plan; names every file that is wrong.
    """
    texts = {}
    for name in READ:
        try:
            texts[name] = (folder / name).read_text(encoding="utf-8")
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError) as error:
            raise _refusal(folder, name, f"the file cannot be read: {error}") from error
    return facts_of(texts, folder, findings)


def facts_of(
    texts: Mapping[str, str], folder: Path, findings: Sequence[Finding] | None = None
) -> PlanFacts:
    """
    Return the facts of a plan folder from the texts of its files.

    Parameters
    ----------
    texts
        Texts by name.
    folder
        The folder, for messages.
    findings
        Findings of the checker, if the plan was checked.

    Raises
    ------
    BadInputError
        If a file is missing or wrong.
    """
    for name in (DOCUMENT_NAME, MOVES_NAME):
        if name not in texts:
            raise _refusal(folder, name, "a plan folder must have this file")
    document = _document(folder, DOCUMENT_NAME, texts[DOCUMENT_NAME])
    if document.get("format") != FORMAT:
        raise _refusal(folder, DOCUMENT_NAME, f'"format" must be "{FORMAT}"')
    text = texts.get(WAVES_NAME)
    waves = None if text is None else _document(folder, WAVES_NAME, text)
    election = _document(folder, ELECTION_NAME, texts.get(ELECTION_NAME, "{}"))
    _validate(folder, texts)
    return PlanFacts(
        document=document,
        moves=parse_moves(texts[MOVES_NAME], folder / MOVES_NAME),
        waves=waves,
        runbook=texts.get(RUNBOOK_NAME, ""),
        elected=len(election.get("partitions", ())),
        findings=findings,
    )


def _validate(folder: Path, texts: Mapping[str, str]) -> None:
    """
    Check the documents of a plan folder.

    Raises
    ------
    BadInputError
        If a document lacks what the page shows; names every place.
    """
    problems = [
        _problem(folder, name, rule, place)
        for name, schema in SCHEMAS.items()
        if name in texts
        for place, rule in misfits(schema, texts[name].encode())
    ]
    if problems:
        summary = f"{folder} is not a plan folder"
        raise refuse_all(summary, problems)


def _document(folder: Path, name: str, text: str) -> Mapping[str, Any]:
    try:
        document = parse_json(text)
    except ValueError as error:
        raise _refusal(folder, name, f"must be JSON: {error}") from error
    if not isinstance(document, dict):
        raise _refusal(folder, name, "must be a JSON object")
    return document


def _refusal(folder: Path, name: str, rule: str) -> BadInputError:
    problem = _problem(folder, name, rule)
    return BadInputError(f"{folder} is not a plan folder", [problem])


def _problem(folder: Path, name: str, rule: str, place: str = "") -> InputProblem:
    remedy = "give a plan folder that a plan command wrote with -o"
    return InputProblem(
        file=str(folder / name), place=place, value="", rule=rule, remedy=remedy
    )
