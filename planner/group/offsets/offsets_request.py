"""What `group offsets` is asked for, read from its options, or all that is wrong."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from planner.errors import BadInputError, InputProblem
from planner.group.offsets.offsets_file import read_offsets_file
from planner.group.offsets.target_offsets import Name, Target
from planner.io.problems import problem

_COMMAND_LINE = "command line"
_TOPIC = re.compile(
    r"(?P<topic>[\w.-]{1,249})(?::(?P<numbers>\d+(?:,\d+)*))?", re.ASCII
)
_MAX_PARTITION = 2**31 - 1
_MAX_OFFSET = 2**63 - 1
# As java.time.Duration reads them.
_DURATION = re.compile(
    r"(?P<sign>[-+]?)P(?=[-+\dT])(?:(?P<days>[-+]?\d+)D)?"
    r"(?:T(?=[-+\d])(?:(?P<hours>[-+]?\d+)H)?(?:(?P<minutes>[-+]?\d+)M)?"
    r"(?:(?P<seconds>[-+]?\d+(?:[.,]\d{0,9})?)S)?)?",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """
    Which partitions.

    Parameters
    ----------
    is_all
        All that the group has committed an offset of.
    topics
        Topics, with the numbers of their partitions; none: all of them.
    """

    is_all: bool = False
    topics: Mapping[str, Sequence[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetsRequest:
    """
    What is asked for.

    Parameters
    ----------
    target
        Where to; `None`: nowhere, offsets are only shown.
    number
        An offset, a number of messages, or milliseconds since 1970.
    scope
        Which partitions.
    offsets
        From a file, instead of a scope.
    """

    target: Target | None
    number: int = 0
    scope: Scope = field(default_factory=Scope)
    offsets: Mapping[Name, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetsOptions:
    """The options, as given; see `planner.cli.group.group_offsets`."""

    topics: Sequence[str] = ()
    all_topics: bool = False
    to_earliest: bool = False
    to_latest: bool = False
    to_current: bool = False
    to_offset: int | None = None
    shift_by: int | None = None
    to_datetime: str | None = None
    by_duration: str | None = None
    from_file: Path | None = None
    group_id: str = ""

    def targets(self) -> list[Target]:
        """Return all targets that are given."""
        given = {
            Target.EARLIEST: self.to_earliest,
            Target.LATEST: self.to_latest,
            Target.CURRENT: self.to_current,
            Target.OFFSET: self.to_offset is not None,
            Target.SHIFT: self.shift_by is not None,
            Target.DATETIME: self.to_datetime is not None,
            Target.DURATION: self.by_duration is not None,
            Target.FILE: self.from_file is not None,
        }
        return [target for target, is_given in given.items() if is_given]


def read_offsets_request(
    options: OffsetsOptions, *, now: datetime | None = None
) -> OffsetsRequest:
    """
    Return what is asked for.

    Parameters
    ----------
    options
        As given.
    now
        From when durations are counted back; the present by default.

    Raises
    ------
    BadInputError
        With everything that is wrong.
    """
    problems = list(_contradictions(options))
    targets = options.targets()
    number = 0
    scope = Scope(is_all=options.all_topics)
    offsets: Mapping[Name, int] = {}
    try:
        number = _number(options, now or datetime.now(UTC))
    except BadInputError as error:
        problems.extend(error.problems)
    try:
        scope = Scope(is_all=options.all_topics, topics=_topics(options.topics))
    except BadInputError as error:
        problems.extend(error.problems)
    try:
        if options.from_file is not None:
            offsets = read_offsets_file(options.from_file, options.group_id)
    except BadInputError as error:
        problems.extend(error.problems)
    if problems:
        msg = "the offsets cannot be set so"
        raise BadInputError(msg, problems)
    target = targets[0] if targets else None
    return OffsetsRequest(target=target, number=number, scope=scope, offsets=offsets)


def _problem(place: str, value: object, rule: str, remedy: str) -> InputProblem:
    return problem(_COMMAND_LINE, place, value, rule, remedy)


def _contradictions(options: OffsetsOptions) -> Iterator[InputProblem]:
    targets = options.targets()
    if len(targets) > 1:
        named = ", ".join(f"--{target}" for target in targets)
        rule = "only one of them says where to"
        yield _problem(named, f"{len(targets)} given", rule, "give one of them")
    is_scoped = bool(options.topics) or options.all_topics
    if options.topics and options.all_topics:
        rule = "only one of them says which partitions"
        yield _problem("--topic, --all-topics", "both", rule, "give one of them")
    if Target.FILE in targets and is_scoped:
        rule = "the file says which partitions"
        remedy = "leave --topic and --all-topics out"
        yield _problem("--from-file", str(options.from_file), rule, remedy)
    if targets and Target.FILE not in targets and not is_scoped:
        rule = "one of the scopes must be given"
        yield _problem("--topic, --all-topics", "none", rule, "say which partitions")


def _topics(texts: Sequence[str]) -> dict[str, list[int]]:
    """Return topics and partitions as ``orders`` or ``orders:0,1`` names them."""
    found: dict[str, list[int]] = {}
    problems = []
    for text in texts:
        read = _TOPIC.fullmatch(text)
        numbers = (
            [int(n) for n in (read["numbers"] or "").split(",") if n] if read else []
        )
        if read is None or any(number > _MAX_PARTITION for number in numbers):
            rule = "must be a topic, or a topic and partitions"
            problems.append(_problem("--topic", text, rule, "write orders:0,1"))
        elif _is_named_twice(found, read["topic"], numbers):
            rule = "must name a partition once"
            problems.append(_problem("--topic", text, rule, "remove the second"))
        else:
            found.setdefault(read["topic"], []).extend(numbers)
    if problems:
        msg = "no such partitions"
        raise BadInputError(msg, problems)
    return found


def _is_named_twice(
    found: Mapping[str, Sequence[int]], topic: str, numbers: Sequence[int]
) -> bool:
    if len(set(numbers)) < len(numbers):
        return True
    if topic not in found:
        return False
    # Once without numbers is all of them.
    return not numbers or not found[topic] or bool({*numbers} & {*found[topic]})


def _number(options: OffsetsOptions, now: datetime) -> int:
    if options.to_offset is not None:
        return _in_range("--to-offset", options.to_offset)
    if options.shift_by is not None:
        return _in_range("--shift-by", options.shift_by)
    if options.to_datetime is not None:
        return parse_datetime(options.to_datetime)
    if options.by_duration is not None:
        return _milliseconds(now) - parse_duration(options.by_duration)
    return 0


def _in_range(place: str, number: int) -> int:
    if abs(number) <= _MAX_OFFSET:
        return number
    rule = "must be a number of 64 bits"
    msg = "no such offset"
    raise BadInputError(msg, [_problem(place, number, rule, "write a smaller one")])


def _milliseconds(moment: datetime) -> int:
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return (moment - epoch) // timedelta(milliseconds=1)


def parse_datetime(text: str) -> int:
    """
    Return milliseconds since 1970 of a time; UTC where it says no zone, as with Kafka.

    Raises
    ------
    BadInputError
        If it is not ``YYYY-MM-DDThh:mm:ss.sss``, with or without a zone.
    """
    try:
        if "T" not in text.upper():
            raise ValueError  # noqa: TRY301 - a day alone says no time
        read = datetime.fromisoformat(text)
    except ValueError:
        rule = "must be a time: YYYY-MM-DDThh:mm:ss.sss, UTC unless it has a zone"
        found = _problem("--to-datetime", text, rule, "write 2026-11-21T08:00:00.000")
        msg = "no such time"
        raise BadInputError(msg, [found]) from None
    return _milliseconds(read if read.tzinfo else read.replace(tzinfo=UTC))


def parse_duration(text: str) -> int:
    """
    Return milliseconds of a duration, as Java reads them: ``P1DT2H``, ``PT30M``.

    Raises
    ------
    BadInputError
        If it is not ``PnDTnHnMnS``.
    """
    read = _DURATION.fullmatch(text)
    if read is None:
        rule = "must be a duration: PnDTnHnMnS"
        found = _problem("--by-duration", text, rule, "write PT30M for half an hour")
        msg = "no such duration"
        raise BadInputError(msg, [found])
    whole = {name: int(read[name] or 0) for name in ("days", "hours", "minutes")}
    seconds = (read["seconds"] or "0").replace(",", ".").rstrip(".")
    ms = int(float(seconds) * 1000)
    minutes = (whole["days"] * 24 + whole["hours"]) * 60 + whole["minutes"]
    return (minutes * 60_000 + ms) * (-1 if read["sign"] == "-" else 1)
