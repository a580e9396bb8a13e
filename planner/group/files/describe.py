"""
Groups imported from the output of ``kafka-consumer-groups --describe``.

The import reads offsets (plain or ``--verbose``), members (``--members``, with
``--verbose`` for their partitions), the state (``--state``) and lists of groups, in any
number of files. Facts that the tool does not print are assumed, with a note.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from planner.errors import InputProblem
from planner.group.files.tables import Row, Table, is_only_words, read_tables
from planner.group.group_document import GroupDocument
from planner.group.group_problems import refuse
from planner.io.problems import problem
from planner.pasted_text import recognise
from planner.text.format import plural

_ASSIGNED = re.compile(r"([\w.-]+)(?::|\()([\d,]+)\)?")
_ASSIGNMENT_HEADINGS = ("CURRENT-ASSIGNMENT", "ASSIGNMENT")
_MAX_PARTITIONS = 10_000_000
_WITHOUT_MEMBERS = ("Empty", "Dead")


@dataclass(slots=True)
class _Topic:
    """Facts of one topic."""

    size: int = 0
    committed: dict[int, int] = field(default_factory=dict)
    ends: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Member:
    """Facts of one member."""

    facts: dict[str, Any] = field(default_factory=dict)
    owned: dict[str, list[int]] = field(default_factory=dict)
    counted: int | None = None

    @property
    def num_listed(self) -> int:
        """Number of the partitions that are listed."""
        return sum(map(len, self.owned.values()))

    @property
    def record(self) -> dict[str, Any]:
        """Fields of the member in a group file."""
        if self.counted is None or self.owned:
            return {**self.facts, "owned": self.owned}
        return {**self.facts, "owned": {}, "num_owned": self.counted}


@dataclass(slots=True)
class _Gathered:
    """Facts of one group, gathered from tables."""

    group_id: str
    facts: dict[str, Any] = field(default_factory=dict)
    topics: dict[str, _Topic] = field(default_factory=dict)
    members: dict[str, _Member] = field(default_factory=dict)
    problems: list[InputProblem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    names_members: bool = False
    num_members: int | None = None

    def topic(self, name: str) -> _Topic:
        return self.topics.setdefault(name, _Topic())

    def member(self, row: Row) -> _Member | None:
        member_id = row.get("CONSUMER-ID")
        if member_id is None:
            return None
        member = self.members.setdefault(member_id, _Member())
        names = {
            "group_instance_id": "GROUP-INSTANCE-ID",
            "client_id": "CLIENT-ID",
            "host": "HOST",
        }
        for key, heading in names.items():
            if text := row.get(heading):
                member.facts[key] = text
        return member

    def number(self, row: Row, heading: str) -> int | None:
        text = row.get(heading)
        if text is None or text.startswith("-"):
            # A negative number is a lag past the end of the log, or -1 for no offset.
            return None
        if not text.isascii() or not text.isdigit():
            self.problems.append(
                row.problem(heading, "must be a whole number or a dash")
            )
            return None
        return int(text)


def import_texts(
    texts: Mapping[str, str], *, group_id: str | None = None
) -> GroupDocument:
    """
    Make a group from outputs of the tool.

    Parameters
    ----------
    texts
        Output by file, in any order; the headings show its kind.
    group_id
        Id of the group to take; not needed where the texts have only one.

    Raises
    ------
    BadInputError
        If a text has no table or cannot be read, or if the texts have no group, or
        several of which `group_id` selects none.
    """
    files = ", ".join(texts)
    problems: list[InputProblem] = []
    tables: list[Table] = []
    notes: list[str] = []
    for file, text in texts.items():
        found = read_tables(file, text, problems)
        if not found.tables and not problems and not is_only_words(text):
            problems.append(refuse_text(file, text))
        tables += found.tables
        notes += found.notes
    chosen = _choose(files, tables, group_id, problems)
    if tables and not any("PARTITION" in table.headings for table in tables):
        notes.append(
            "the text has no offsets, so no lag: --describe without --members and "
            "--state prints them"
        )
    gathered = _Gathered(chosen, notes=notes)
    for table in tables:
        _gather(table, gathered)
    problems += gathered.problems
    if problems:
        raise refuse(files, problems)
    return _document(gathered, files)


def refuse_text(file: str, text: str) -> InputProblem:
    """Return the problem of a file that is no group, with the likely tool."""
    rule = "must be a group file, or an output of kafka-consumer-groups"
    found = recognise(text)
    is_named = "kafka-consumer-groups" in text
    if found is None and not is_named:
        remedy = "give the output of --describe, with --members --verbose for members"
    elif found is None or found.name == "group":
        remedy = "the line of headings is missing or cut: copy the whole output again"
    else:
        remedy = f"this looks like {found.words}"
    return problem(file, "", None, rule, remedy)


def _choose(
    files: str, tables: list[Table], wanted: str | None, problems: list[InputProblem]
) -> str:
    """Return the id of the group to import; add a problem where the choice is open."""
    described = {
        name: None
        for table in tables
        for row in table.rows
        if "TYPE" not in table.headings or len(tables) == 1
        if (name := table.group_of(row)) is not None
    }
    unnamed = [t for t in tables if not t.names_groups and t.group is None]
    if unnamed and not described and wanted is not None:
        return wanted
    if unnamed and not described and not problems:
        first = unnamed[0]
        rule = "the table has no column GROUP, and no command line names the group"
        place, remedy = f"line {first.line}", "name the group with --group NAME"
        problems.append(problem(first.file, place, None, rule, remedy))
    if wanted is not None and wanted in described:
        return wanted
    if wanted is None and len(described) == 1:
        return next(iter(described))
    if not tables and not problems:
        rule = "the text has messages of the tool, and no table"
        remedy = "add what the tool prints on stdout; the messages are on stderr"
        problems.append(problem(files, "", None, rule, remedy))
    if not problems:
        names = ", ".join(described) or "none"
        rule = f"one group must be chosen; the text has: {names}"
        problems.append(problem(files, "", wanted, rule, "choose with --group NAME"))
    return wanted or ""


def _gather(table: Table, gathered: _Gathered) -> None:
    headings = set(table.headings)
    chosen = (None, gathered.group_id)
    rows = [row for row in table.rows if table.group_of(row) in chosen]
    if "OFFSET-LAG" in headings:
        gathered.facts["type"] = "streams"
    elif "START-OFFSET" in headings:
        gathered.facts["type"] = "share"
    gathered.names_members |= "CONSUMER-ID" in headings
    for row in rows:
        if "TOPIC" in headings:
            _gather_offsets(row, gathered)
        elif "CONSUMER-ID" in headings:
            _gather_member(row, gathered)
        else:
            _gather_state(row, gathered)


def _gather_offsets(row: Row, gathered: _Gathered) -> None:
    member = gathered.member(row)
    name, number = row.get("TOPIC"), gathered.number(row, "PARTITION")
    if name is None or number is None:
        return
    if number >= _MAX_PARTITIONS:
        gathered.problems.append(row.problem("PARTITION", "must be a partition number"))
        return
    topic = gathered.topic(name)
    topic.size = max(topic.size, number + 1)
    for heading, offsets in (
        ("CURRENT-OFFSET", topic.committed),
        ("LOG-END-OFFSET", topic.ends),
    ):
        offset = gathered.number(row, heading)
        if offset is not None and offsets.setdefault(number, offset) != offset:
            rule = (
                f"must be {offsets[number]} as in a line above: two outputs are mixed"
            )
            gathered.problems.append(row.problem(heading, rule))
    _gather_share_offsets(row, number, gathered, topic)
    if member is not None:
        owned = member.owned.setdefault(name, [])
        if number not in owned:
            owned.append(number)


def _gather_share_offsets(
    row: Row, number: int, gathered: _Gathered, topic: _Topic
) -> None:
    """Add the start offset and the lag of a share group."""
    start = gathered.number(row, "START-OFFSET")
    if start is None:
        return
    topic.committed[number] = start
    lag = gathered.number(row, "LAG")
    if lag is not None:
        topic.ends[number] = start + lag


def _gather_member(row: Row, gathered: _Gathered) -> None:
    member = gathered.member(row)
    if member is None:
        return
    if "CURRENT-EPOCH" in row.cells:
        epoch = gathered.number(row, "CURRENT-EPOCH")
        gathered.facts["type"] = "classic" if epoch is None else "consumer"
        if epoch is not None:
            member.facts["generation"] = epoch
    member.counted = gathered.number(row, "#PARTITIONS")
    heading = next((h for h in _ASSIGNMENT_HEADINGS if h in row.cells), None)
    if heading is not None:
        _gather_assignment(row, heading, member, gathered)


def _gather_assignment(
    row: Row, heading: str, member: _Member, gathered: _Gathered
) -> None:
    """Add the partitions that a row lists; they must be as many as it counts."""
    owned: dict[str, list[int]] = {}
    for name, numbers in _ASSIGNED.findall(row.cells[heading]):
        owned[name] = [int(number) for number in numbers.split(",") if number]
    listed = sum(map(len, owned.values()))
    if member.counted not in {None, listed}:
        rule = f"must list {member.counted} partitions, as #PARTITIONS says"
        gathered.problems.append(row.problem(heading, rule))
        return
    for name, found in owned.items():
        topic = gathered.topic(name)
        topic.size = max([topic.size, *(number + 1 for number in found)])
    member.owned.update(owned)


def _gather_num_members(row: Row, gathered: _Gathered) -> None:
    if (members := gathered.number(row, "#MEMBERS")) is not None:
        gathered.num_members = members
    elif row.get("STATE") in _WITHOUT_MEMBERS:
        gathered.num_members = 0


def _gather_state(row: Row, gathered: _Gathered) -> None:
    facts = gathered.facts
    _gather_num_members(row, gathered)
    if (kind := row.get("TYPE")) is not None:
        facts["type"] = kind.lower()
    state = row.get("STATE")
    if state is not None and facts.setdefault("state", state) != state:
        rule = f"must be {facts['state']} as in a line above: two outputs are mixed"
        gathered.problems.append(row.problem("STATE", rule))
    if (assignor := row.get("ASSIGNMENT-STRATEGY")) is not None:
        facts["assignor"] = assignor
    if found := re.search(r"\((\d+)\)\s*$", row.cells.get("COORDINATOR (ID)", "")):
        facts["coordinator"] = int(found.group(1))
    if "GROUP-EPOCH" in row.cells:
        is_consumer = row.get("GROUP-EPOCH") is not None
        facts["type"] = "consumer" if is_consumer else "classic"


def _document(gathered: _Gathered, files: str) -> GroupDocument:
    read = _topics_read(gathered)
    document = {
        "format": "kafka-planner/group",
        "version": 1,
        "group_id": gathered.group_id,
        **gathered.facts,
        "topics": [
            {
                "name": name,
                "partitions": topic.size,
                "committed_offsets": _listed(topic.committed, topic.size),
                "log_end_offsets": _listed(topic.ends, topic.size),
            }
            for name, topic in sorted(gathered.topics.items())
        ],
        "members": [
            {"member_id": name, **member.record, "topics": read}
            for name, member in gathered.members.items()
        ],
    }
    if not gathered.names_members:
        known = gathered.num_members
        document["num_members"] = "unknown" if known is None else known
    return GroupDocument.from_document(
        document, file=files, notes=_notes(gathered, read)
    )


def _topics_read(gathered: _Gathered) -> list[str]:
    """Return the topics that any member reads, or else all known topics."""
    owned = {name for member in gathered.members.values() for name in member.owned}
    return sorted(owned or gathered.topics)


def _listed(offsets: Mapping[int, int], size: int) -> list[int | None]:
    return [offsets.get(number) for number in range(size)]


def _notes(gathered: _Gathered, read: Iterable[str]) -> list[str]:
    notes = [*gathered.notes, *_notes_on_members(gathered)]
    if gathered.members and not any(m.owned for m in gathered.members.values()):
        notes.append(
            "what members read is not in the text: take --members with --verbose too"
        )
    if gathered.members and read:
        notes.append(
            "the tool does not print subscriptions: every member is taken to read "
            f"{', '.join(read)}"
        )
    if gathered.members:
        notes.append("members stand as printed; Kafka's own order: --java-order")
    if gathered.topics:
        notes.append(
            "topics are taken to have the partitions that are printed; "
            "--snapshot knows them all"
        )
    return notes


def _notes_on_members(gathered: _Gathered) -> Iterator[str]:
    """Yield notes where members are not named, or two outputs differ in them."""
    named, counted = len(gathered.members), gathered.num_members
    if not gathered.names_members:
        if counted != 0:
            yield (
                "the text does not name the members: --describe --members --verbose "
                "prints them"
            )
    elif counted not in {None, named}:
        yield (
            f"the state has {plural(counted or 0, 'member')}, and the other outputs "
            f"have {named}: the group changed between them; take them again together"
        )
    for name, member in gathered.members.items():
        if member.owned and member.counted not in {None, member.num_listed}:
            yield (
                f"{name} has {plural(member.counted or 0, 'partition')} by --members, "
                f"and {member.num_listed} by the offsets: the group changed between "
                "them; take them again together"
            )
