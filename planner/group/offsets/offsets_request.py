"""Options of `group offsets`, parsed to a request with every problem reported."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from planner.errors import BadInputError, InputProblem, raise_problems
from planner.group.offsets.offsets_file import read_offsets_file
from planner.group.offsets.target_offsets import Name, Target
from planner.io.gatherer import Gatherer
from planner.io.problems import problem

_COMMAND_LINE = "command line"
_TOPIC = re.compile(
    r"(?P<topic>[\w.-]{1,249})(?::(?P<numbers>\d+(?:,\d+)*))?", re.ASCII
)
_MAX_PARTITION = 2**31 - 1
_MAX_OFFSET = 2**63 - 1
# The format that java.time.Duration parses.
_DURATION = re.compile(
    r"(?P<sign>[-+]?)P(?=[-+\dT])(?:(?P<days>[-+]?\d+)D)?"
    r"(?:T(?=[-+\d])(?:(?P<hours>[-+]?\d+)H)?(?:(?P<minutes>[-+]?\d+)M)?"
    r"(?:(?P<seconds>[-+]?\d+(?:[.,]\d{0,9})?)S)?)?",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """
    Selection of partitions.

    Parameters
    ----------
    is_all
        Whether all partitions with a committed offset are selected.
    topics
        Selected topics with partition numbers; no numbers select all partitions.
    """

    is_all: bool = False
    topics: Mapping[str, Sequence[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetsRequest:
    """
    A request to show or to set offsets.

    Parameters
    ----------
    target
        Target of the reset; `None` only shows the offsets.
    number
        Argument of the target: an offset, a number of messages, or milliseconds since
        1970.
    scope
        Partitions to set.
    offsets
        New offsets from a file, instead of a scope.
    """

    target: Target | None
    number: int = 0
    scope: Scope = field(default_factory=Scope)
    offsets: Mapping[Name, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetsOptions:
    """Options of the command line, unparsed; see `planner.cli.group.group_offsets`."""

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
        """Return the targets whose option is given."""
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
    Parse the options.

    Parameters
    ----------
    options
        Options of the command line.
    now
        Time from which durations are counted back; the present by default.

    Raises
    ------
    BadInputError
        If any option is invalid; names every problem.
    """
    inputs = Gatherer(_contradictions(options))
    number = inputs.read(lambda: _number(options, now or datetime.now(UTC)))
    topics = inputs.read(lambda: _topics(options.topics))
    offsets, file = None, options.from_file
    if file is not None:
        offsets = inputs.read(lambda: read_offsets_file(file, options.group_id))
    inputs.raise_problems("bad options")
    return OffsetsRequest(
        target=next(iter(options.targets()), None),
        number=number or 0,
        scope=Scope(is_all=options.all_topics, topics=topics or {}),
        offsets=offsets or {},
    )


def _problem(place: str, value: object, rule: str, remedy: str) -> InputProblem:
    return problem(_COMMAND_LINE, place, value, rule, remedy)


def _contradictions(options: OffsetsOptions) -> Iterator[InputProblem]:
    targets = options.targets()
    if len(targets) > 1:
        named = ", ".join(f"--{target}" for target in targets)
        rule = "only one target may be given"
        yield _problem(named, f"{len(targets)} given", rule, "give one of them")
    is_scoped = bool(options.topics) or options.all_topics
    if options.topics and options.all_topics:
        rule = "only one selection of partitions may be given"
        yield _problem("--topic, --all-topics", "both", rule, "give one of them")
    if Target.FILE in targets and is_scoped:
        rule = "the file selects the partitions"
        remedy = "leave --topic and --all-topics out"
        yield _problem("--from-file", str(options.from_file), rule, remedy)
    if targets and Target.FILE not in targets and not is_scoped:
        rule = "partitions must be selected"
        yield _problem("--topic, --all-topics", "none", rule, "give one of them")


def _topics(texts: Sequence[str]) -> dict[str, list[int]]:
    """Parse texts such as ``orders`` or ``orders:0,1``: partition numbers by topic."""
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
    raise_problems("bad topics", problems)
    return found


def _is_named_twice(
    found: Mapping[str, Sequence[int]], topic: str, numbers: Sequence[int]
) -> bool:
    if len(set(numbers)) < len(numbers):
        return True
    if topic not in found:
        return False
    # A topic without numbers selects all its partitions.
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
    msg = "bad offset"
    raise BadInputError(msg, [_problem(place, number, rule, "write a smaller one")])


def _milliseconds(moment: datetime) -> int:
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return (moment - epoch) // timedelta(milliseconds=1)


def parse_datetime(text: str) -> int:
    """
    Return a time as milliseconds since 1970; UTC without a zone, as in Kafka's tool.

    Raises
    ------
    BadInputError
        If the text is not ``YYYY-MM-DDThh:mm:ss.sss``, with or without a zone.
    """
    try:
        if "T" not in text.upper():
            raise ValueError  # noqa: TRY301 - a day alone says no time
        read = datetime.fromisoformat(text)
    except ValueError:
        rule = "must be a time: YYYY-MM-DDThh:mm:ss.sss, UTC unless it has a zone"
        found = _problem("--to-datetime", text, rule, "write 2026-11-21T08:00:00.000")
        msg = "bad time"
        raise BadInputError(msg, [found]) from None
    return _milliseconds(read if read.tzinfo else read.replace(tzinfo=UTC))


def parse_duration(text: str) -> int:
    """
    Return the milliseconds of a duration in Java's format: ``P1DT2H``, ``PT30M``.

    Raises
    ------
    BadInputError
        If the text is not ``PnDTnHnMnS``.
    """
    read = _DURATION.fullmatch(text)
    if read is None:
        rule = "must be a duration: PnDTnHnMnS"
        found = _problem("--by-duration", text, rule, "write PT30M for half an hour")
        msg = "bad duration"
        raise BadInputError(msg, [found])
    whole = {name: int(read[name] or 0) for name in ("days", "hours", "minutes")}
    seconds = (read["seconds"] or "0").replace(",", ".").rstrip(".")
    ms = int(float(seconds) * 1000)
    minutes = (whole["days"] * 24 + whole["hours"]) * 60 + whole["minutes"]
    return (minutes * 60_000 + ms) * (-1 if read["sign"] == "-" else 1)
