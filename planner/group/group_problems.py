"""Problems of a group file, with their places."""

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from planner.errors import BadInputError, InputProblem
from planner.group.group_records import GroupRecord, MemberRecord, TopicRecord
from planner.io.problems import place_text, problem, refuse_all
from planner.text.printable import printable

SEE_SCHEMA = "see 'kafka-planner schema group'"
_RULES: dict[str, tuple[str, str]] = {
    "missing": ("the key is required", "add it"),
    "extra_forbidden": ("unknown key", f"remove it, or correct its name; {SEE_SCHEMA}"),
    "literal_error": ("must be {expected}", ""),
    "string_too_short": ("must not be empty", ""),
}


def refuse(file: str, problems: Sequence[InputProblem]) -> BadInputError:
    """Return the error that refuses a whole group."""
    return refuse_all(f"{printable(file)} is not a group", problems)


def shape_problems(error: ValidationError, file: str) -> list[InputProblem]:
    """Convert the errors of Pydantic to problems of the file, each of them once."""
    found = [_shape_problem(dict(each), file) for each in error.errors()]
    return list(dict.fromkeys(found))


def _shape_problem(error: Mapping[str, Any], file: str) -> InputProblem:
    if error["loc"][:1] == ("num_members",):
        # Pydantic names each alternative of a value that fits none.
        rule = 'must be a number of 0 or more, or "unknown"'
        return problem(file, "num_members", error["input"], rule, SEE_SCHEMA)
    words, remedy = _RULES.get(error["type"], (str(error["msg"]), SEE_SCHEMA))
    context: Mapping[str, Any] = error.get("ctx", {})
    rule = words.format_map(context) if error["type"] in _RULES else words
    value = None if error["type"] == "missing" else error["input"]
    return problem(file, place_text(error["loc"]), value, rule, remedy)


def contradictions(record: GroupRecord, file: str) -> list[InputProblem]:
    """Return the contradictions in a group whose records are valid one by one."""
    found = [
        *_repeated(
            "topics", "name", [topic.name for topic in record.topics], "a topic"
        ),
        *_repeated(
            "members", "member_id", [m.member_id for m in record.members], "a member id"
        ),
        *_repeated(
            "members",
            "group_instance_id",
            [m.group_instance_id for m in record.members],
            "a group.instance.id",
        ),
    ]
    for at, topic in enumerate(record.topics):
        found += _topic_problems(f"topics[{at}]", topic)
    for at, member in enumerate(record.members):
        found += _member_problems(f"members[{at}]", member)
    return [problem(file, *each) for each in found]


_Found = tuple[str, object, str, str]


def _repeated(
    table: str, key: str, values: Sequence[Hashable], what: str
) -> Iterator[_Found]:
    seen: dict[Hashable, int] = {}
    for at, value in enumerate(values):
        if value is None:
            continue
        if value in seen:
            rule = f"{what} must be unique; it is also at {table}[{seen[value]}]"
            yield f"{table}[{at}].{key}", value, rule, "remove or rename one"
        seen.setdefault(value, at)


def _topic_problems(place: str, topic: TopicRecord) -> Iterator[_Found]:
    lists: dict[str, Sequence[object] | None] = {
        "weights": topic.weights,
        "racks": topic.racks,
        "committed_offsets": topic.committed_offsets,
        "log_end_offsets": topic.log_end_offsets,
    }
    for key, values in lists.items():
        if values is not None and len(values) != topic.partitions:
            rule = f"must have one entry per partition, that is {topic.partitions}"
            yield f"{place}.{key}", f"{len(values)} entries", rule, "correct the list"


def _member_problems(place: str, member: MemberRecord) -> Iterator[_Found]:
    for topic in _duplicates(member.topics):
        yield f"{place}.topics", topic, "must name a topic once", "remove the second"
    for topic, numbers in (member.owned or {}).items():
        for number in _duplicates(numbers):
            rule = "must list a partition once"
            yield f"{place}.owned.{topic}", number, rule, "remove the second"
    if member.pattern is not None and (reason := pattern_error(member.pattern)):
        rule = f"must be a regular expression: {reason}"
        yield f"{place}.pattern", member.pattern, rule, "correct it"


def _duplicates(values: Sequence[Hashable]) -> list[Any]:
    if len(set(values)) == len(values):
        return []
    return [value for value, count in Counter(values).items() if count > 1]


def pattern_error(pattern: str) -> str:
    """Return the error of a regular expression; empty if it compiles."""
    try:
        re.compile(pattern)
    except re.error as error:
        return str(error)
    return ""
