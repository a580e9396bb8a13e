"""
Reassignment JSON read as the present assignment of a cluster.

``kafka-reassign-partitions --generate`` and ``--execute`` print the current assignment
below a heading. Their output is accepted unchanged, and proposals in it are ignored.
"""

import re
from typing import Annotated, Any, NotRequired

from pydantic import ConfigDict, Field, TypeAdapter, with_config

# Before Python 3.12 Pydantic cannot use the `TypedDict` of `typing`.
from typing_extensions import TypedDict

from planner.pasted_text import Pasted, json_form, split_documents
from planner.snapshot.importers.inputs.import_source import PartitionColumns, Source
from planner.snapshot.importers.inputs.input_text import (
    Refusal,
    read_pasted,
    refuse_failures,
)
from planner.snapshot.importers.inputs.json_input import (
    documents_of,
    parse_json,
    validate,
)
from planner.snapshot.tables.snapshot_records import Id

KIND = "reassignment JSON of the current assignment"
_ANY = "any"
# A ticket may have made a heading or bold words of what the tool printed.
_HEADING = re.compile(
    r"^[ \t#*]*Current partition replica assignment[ \t\r*:]*$", re.MULTILINE
)
_PROPOSAL = re.compile(r"^[ \t#*]*Proposed partition reassignment", re.MULTILINE)
# The tool prints these lines around its JSON.
_FORM = json_form(
    r"[#* ]{0,8}(?:Current partition replica assignment"
    r"|Proposed partition reassignment)"
    r"|Save this to use as |Successfully started |Warning: You must run --verify"
    r"|The (?:inter-broker|replica-alter-dir) throttle limit was set to "
)
_FOREIGN = with_config(ConfigDict(strict=True))


@_FOREIGN
class _Entry(TypedDict):
    topic: Annotated[str, Field(pattern=r"^[a-zA-Z0-9._-]{1,249}$")]
    partition: Id
    replicas: Annotated[list[Id], Field(min_length=1)]
    log_dirs: NotRequired[list[Annotated[str, Field(min_length=1)]]]


@_FOREIGN
class _Output(TypedDict):
    version: NotRequired[Annotated[int, Field(ge=1, le=1)]]
    partitions: Annotated[list[_Entry], Field(min_length=1)]


_OUTPUT: TypeAdapter[Any] = TypeAdapter(_Output)


def read_assignment(data: bytes, *, file: str) -> Source:
    """
    Read reassignment JSON as the present assignment.

    Parameters
    ----------
    data
        The JSON, or the output of `kafka-reassign-partitions` with it; gzipped or not.
    file
        Name of the file in problems.

    Returns
    -------
    Source
        Partitions with replicas, and their log dirs if named.

    Raises
    ------
    BadInputError
        If it is neither.
    """
    refusal = Refusal(file, KIND, "assignment")
    documents = _current(read_pasted(data, refusal, _FORM), refusal)
    other = refusal.other_output()
    if other and '"replicas"' not in refusal.original:
        refusal.stop("partitions", "the partitions must have replicas", other)
    entries = [
        entry
        for document in documents
        for entry in validate(_OUTPUT, document, refusal, known=())["partitions"]
    ]
    for at, entry in enumerate(entries):
        for rule in _entry_rules(entry):
            remedy = "correct the entry, or take the output again"
            refusal.add(f"partitions[{at}].log_dirs", rule, remedy)
    refusal.raise_problems()
    return Source(
        file=file,
        kind="reassignment JSON",
        partitions=_columns(entries),
        notes=refusal.notes(),
    )


def _current(pasted: Pasted, refusal: Refusal) -> list[Any]:
    """Return the JSON documents of the current assignment."""
    text = pasted.text
    heading = _HEADING.search(text)
    if heading is None:
        refuse_failures(pasted.failures, refusal)
        _refuse_proposal(text, refusal)
        return documents_of(text, refusal)
    again = _HEADING.search(text, heading.end())
    if again is not None:
        rule = "must have one current assignment; this line begins another"
        line = text.count("\n", 0, again.start()) + 1
        refusal.stop(
            f"line {line}", rule, "two outputs were joined: give each in its own file"
        )
    # Proposals and messages of success are below, and are not read.
    below = "\n" * text.count("\n", 0, heading.end()) + text[heading.end() :]
    first = next(split_documents(below), None)
    if first is None or not first.is_json:
        rule = "the JSON below 'Current partition replica assignment' is missing"
        line = text.count("\n", 0, heading.end()) + 1
        refusal.stop(f"line {line}", rule, "the output was cut: take it again")
    above = [number for number in pasted.failures if number < first.line]
    refuse_failures(above, refusal)
    return [parse_json(first.text, refusal, first_line=first.line)]


def _refuse_proposal(text: str, refusal: Refusal) -> None:
    """Reject a file that has a proposal and no current assignment."""
    proposal = _PROPOSAL.search(text)
    if proposal is not None:
        line = text.count("\n", 0, proposal.start()) + 1
        rule = "the file has the proposed assignment, not the current one"
        remedy = (
            "give what --generate prints below 'Current partition replica assignment'"
        )
        refusal.stop(f"line {line}", rule, remedy)


def _entry_rules(entry: dict[str, Any]) -> list[str]:
    paths = entry.get("log_dirs")
    if paths is None:
        return []
    rules = []
    if len(paths) != len(entry["replicas"]):
        rules.append("must have one log dir per replica")
    if any(path != _ANY and not path.startswith("/") for path in paths):
        rules.append('must be "any" or absolute paths')
    return rules


def _columns(entries: list[dict[str, Any]]) -> PartitionColumns:
    values: dict[str, list[Any]] = {"replicas": [one["replicas"] for one in entries]}
    log_dirs = [_named(one.get("log_dirs")) for one in entries]
    if any(log_dirs):
        values["log_dirs"] = log_dirs
    return PartitionColumns(
        topics=[one["topic"] for one in entries],
        partitions=[one["partition"] for one in entries],
        values=values,
        places=range(len(entries)),
        place_format="partitions[{}]",
    )


def _named(paths: list[str] | None) -> list[str | None] | None:
    """Return log dirs, with `None` for any; `None` if none is named."""
    if paths is None or all(path == _ANY for path in paths):
        return None
    return [None if path == _ANY else path for path in paths]
