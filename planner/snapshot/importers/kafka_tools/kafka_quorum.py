r"""
Output of ``kafka-metadata-quorum describe`` with ``--status`` or ``--replication``.

The first is a list of names and values, of which ``CurrentVoters`` and
``CurrentObservers`` are JSON: objects since 3.9, ids before. The second is a table with
a node on each line::

    NodeId  DirectoryId  LogEndOffset  Lag  LastFetchTimestamp  LastCaughtUpTimestamp  \
Status

Brokers observe the quorum too: only a list of brokers shows which observers are
controllers. Source: `MetadataQuorumCommand` in Kafka's `tools`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from planner.pasted_text import Form
from planner.snapshot.importers.inputs.import_source import Record, Source
from planner.snapshot.importers.inputs.input_text import (
    Refusal,
    numbered_lines,
    read_text,
    refuse_duplicates,
    without_last,
)
from planner.snapshot.importers.inputs.json_input import parse_json
from planner.snapshot.tables.snapshot_columns import MAX_INT32

KIND = "the output of kafka-metadata-quorum describe"
# Fields that later releases add are skipped; their names have several words.
_FIELD = re.compile(
    r"(?P<name>(?:[A-Z][a-z]{1,20}){2,6}):[ \t]*(?P<value>.*)", re.ASCII
)
_IS_STATUS = re.compile(r"\s*ClusterId:[ \t]*\S", re.ASCII)
_NODES = {"CurrentVoters": True, "CurrentObservers": False}
_STATUS = ("ClusterId", "LeaderId", *_NODES)
_CLUSTER_ID = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_HEADING = re.compile(
    r"NodeId\s+(DirectoryId\s+)?LogEndOffset\s+Lag\s+LastFetchTimestamp\s+"
    r"LastCaughtUpTimestamp\s+Status(?P<more>(?:\s+[A-Z][A-Za-z]*)*)",
    re.ASCII,
)
_TIME = r"(?:-?[0-9]{1,19}(?: ms ago)?)"
_ROW = re.compile(
    r"(?P<id>[0-9]{1,10})\s+(?:[A-Za-z0-9_-]{22}\s+)?[0-9]{1,19}\s+-?[0-9]{1,19}\s+"
    rf"(?P<fetched>{_TIME})\s+{_TIME}\s+(?P<status>Leader|Follower|Observer)",
    re.ASCII,
)
_AGO = " ms ago"
_MAX_LINE = 2000
FORM = Form(
    data=re.compile(
        r"(?!.*--:--)\s*(?:(?:[A-Z][a-z]{1,20}){2,6}:|[0-9]{1,10}\s+[A-Za-z0-9_-]+\s|NodeId\s)"
    ),
    marks=re.compile(r"\b(?:CurrentVoters|CurrentObservers|ClusterId|LeaderId):"),
    hints=re.compile(r"\b(?:Leader|Follower|Observer)\s*$"),
)


def read_quorum(data: bytes, *, file: str) -> Source:
    """
    Read the output of ``kafka-metadata-quorum describe``, in either form.

    Parameters
    ----------
    data
        The whole output, gzipped or not.
    file
        Name of the file in problems.

    Returns
    -------
    Source
        Nodes of the quorum, voters or not, and its leader; with ``--status`` the
        cluster's id, else the time of each voter's last fetch.

    Raises
    ------
    BadInputError
        If it is neither of the two, or incomplete.
    """
    refusal = Refusal(file, KIND, "quorum")
    text = read_text(data, refusal, FORM)
    lines = list(numbered_lines(text, refusal))
    is_table = _HEADING.fullmatch(lines[0][1].strip()) is not None
    if not is_table and not _IS_STATUS.match(lines[0][1]):
        rule = "the first line must be 'ClusterId: …' or the heading 'NodeId …'"
        remedy = refusal.other_output() or f"give {KIND} --status"
        refusal.stop(f"line {lines[0][0]}", rule, remedy)
    header: Mapping[str, Any] = {}
    if is_table:
        nodes = list(_rows(lines, refusal))
        which = "--replication"
    else:
        header, nodes = _status(lines, refusal)
        which = "--status"
    refuse_duplicates(((one.key, one.place) for one in nodes), refusal)
    refusal.raise_problems()
    return Source(
        file=file,
        kind=f"kafka-metadata-quorum describe {which}",
        header=header,
        controllers=tuple(nodes),
        lists_voters=True,
        notes=refusal.notes(),
    )


def _rows(lines: list[tuple[int, str]], refusal: Refusal) -> Iterator[Record]:
    """Yield the nodes of the table; exactly one must be the leader."""
    heading = _HEADING.fullmatch(lines[0][1].strip())
    more = refusal.skip_columns(heading["more"] if heading else "")
    rows: list[tuple[int, re.Match[str]]] = []
    for number, line in lines[1:]:
        known = without_last(line, more)
        row = _ROW.fullmatch(known.strip()) if len(line) <= _MAX_LINE else None
        if row is None or int(row["id"]) > MAX_INT32:
            rule = "must be a node with its offset, lag, times and status"
            remedy = "the line was cut or wrapped: take the output again"
            refusal.add(f"line {number}", rule, remedy)
            continue
        rows.append((number, row))
    leaders = [row for _, row in rows if row["status"] == "Leader"]
    if len(leaders) != 1:
        rule = f"one node must be the leader; {len(leaders)} are"
        refusal.add(
            "", rule, "the output was cut, or joined with another: take it again"
        )
        return
    for number, row in rows:
        values: dict[str, Any] = {"voter": row["status"] != "Observer"}
        if row is leaders[0]:
            values["leader"] = True
        age = _fetch_age_ms(row["fetched"], leaders[0]["fetched"])
        if values["voter"] and age is not None:
            values["fetch_age_ms"] = age
        yield Record(key=int(row["id"]), values=values, place=f"line {number}")


def _fetch_age_ms(fetched: str, now: str) -> int | None:
    """
    Return the milliseconds since a node's last fetch; `None` if it never fetched.

    The leader's timestamp is the time of its answer.
    """
    if fetched.endswith(_AGO):
        age = int(fetched.removesuffix(_AGO))
        return age if age >= 0 else None
    if int(fetched) < 0 or now.endswith(_AGO) or int(now) < 0:
        return None
    return max(int(now) - int(fetched), 0)


def _node(node: int, place: str, *, is_voter: bool) -> Record:
    return Record(key=node, values={"voter": is_voter}, place=place)


def _status(
    lines: list[tuple[int, str]], refusal: Refusal
) -> tuple[dict[str, str], list[Record]]:
    """Return the id of the cluster and the nodes; every field must occur once."""
    places: list[tuple[str, str]] = []
    header: dict[str, str] = {}
    nodes: list[Record] = []
    leader = ""
    for number, line in lines:
        place = f"line {number}"
        found = _FIELD.fullmatch(line.strip())
        if found is None:
            rule = "must be a name and a value, as --status prints them"
            refusal.add(
                place, rule, "the line was cut or wrapped: take the output again"
            )
            continue
        name, value = found["name"], found["value"]
        places.append((name, place))
        if name == "ClusterId":
            header["cluster_id"] = _cluster_id(place, value, refusal)
        elif name in _NODES:
            nodes += _listed(value, number, refusal, is_voter=_NODES[name])
        elif name == "LeaderId":
            leader = value
    refuse_duplicates(places, refusal)
    names = {name for name, _ in places}
    for name in _STATUS:
        if name not in names:
            refusal.add(
                "", f"the line '{name}:' is missing", "take the complete output again"
            )
    return header, [
        replace(one, values={**one.values, "leader": True})
        if leader == str(one.key)
        else one
        for one in nodes
    ]


def _cluster_id(place: str, text: str, refusal: Refusal) -> str:
    if _CLUSTER_ID.fullmatch(text):
        return text
    refusal.add(place, "must be a cluster id", "take the output again")
    return ""


def _listed(
    text: str, number: int, refusal: Refusal, *, is_voter: bool
) -> Iterator[Record]:
    """Yield the nodes of one list: ``[{"id": 1, …}]``, or ``[1,2]`` before 3.9."""
    place = f"line {number}"
    inner = Refusal(refusal.file, KIND)
    try:
        parsed = parse_json(text, inner, first_line=number)
    except ValueError:
        parsed = None
    if inner.problems or not isinstance(parsed, list):
        rule = 'must be a complete list of nodes, such as [1, 2] or [{"id": 1}]'
        refusal.add(place, rule, "the line was cut or wrapped: take the output again")
        return
    if len({type(one) for one in parsed}) > 1:
        rule = (
            "nodes must be all ids, or all objects, as one release of Kafka prints them"
        )
        refusal.add(place, rule, "two outputs were joined: take the output again")
    for one in parsed:
        node = one.get("id") if isinstance(one, dict) else one
        if type(node) is int and 0 <= node <= MAX_INT32:
            yield _node(node, place, is_voter=is_voter)
        else:
            rule = "a node must have an id from 0 to 2147483647"
            refusal.add(place, rule, "take the output again", node)
