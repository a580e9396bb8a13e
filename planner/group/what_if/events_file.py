"""Events files: reading and validation, with every problem reported at once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from planner.errors import BadInputError, InputProblem
from planner.group.files.group_files import read_text
from planner.group.group_document import GroupDocument
from planner.group.what_if.group_events import TimedEvent, timed_events
from planner.group.what_if.what_if_records import (
    AnyEvent,
    EventsRecord,
    GrowRecord,
    NewTopicRecord,
    RunRecord,
)
from planner.io.problems import place_text, problem, refuse_all
from planner.io.toml_records import parse_toml, shape_problem
from planner.text.suggest import near

SEE_SCHEMA = "see 'kafka-planner schema group-events'"

DEFAULT_SETTINGS = {
    "session.timeout.ms": 45_000,
    "heartbeat.interval.ms": 3_000,
    "max.poll.interval.ms": 300_000,
    "metadata.max.age.ms": 300_000,
    "group.initial.rebalance.delay.ms": 3_000,
    "group.consumer.session.timeout.ms": 45_000,
    "group.consumer.heartbeat.interval.ms": 5_000,
}
"""Defaults of Kafka 4.3."""

ASSIGNORS = {
    "eager": ("range", "roundrobin", "sticky", "hash", "random", "balanced"),
    "cooperative": ("cooperative-sticky", "balanced"),
    "consumer": ("server-uniform", "server-range"),
}
"""Assignors by protocol; the first one is the default."""

DEFAULT_RUNS = (
    RunRecord(protocol="eager", assignor="range"),
    RunRecord(protocol="eager", assignor="sticky"),
    RunRecord(protocol="cooperative", assignor="cooperative-sticky"),
    RunRecord(protocol="consumer", assignor="server-uniform"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsFile:
    """
    A validated events file.

    Parameters
    ----------
    record
        Content of the file.
    timed_events
        Events in order of time, rolling restarts expanded to leaves and returns.
    settings
        Values by Kafka's names, defaults included; milliseconds.
    runs
        Protocols and assignors to simulate, one run each.
    """

    record: EventsRecord
    timed_events: Sequence[TimedEvent]
    settings: Mapping[str, int]
    runs: Sequence[RunRecord]

    @property
    def until_s(self) -> float:
        """End of the simulation in seconds; by default, later than every timeout."""
        if self.record.until_s is not None:
            return self.record.until_s
        last_s = max(timed.at_s for timed in self.timed_events)
        timers = (
            "session.timeout.ms",
            "group.consumer.session.timeout.ms",
            "max.poll.interval.ms",
            "metadata.max.age.ms",
        )
        return last_s + sum(self.settings[name] for name in timers) / 1000


def read_events(path: Path, document: GroupDocument) -> EventsFile:
    """
    Read an events file for a group.

    Raises
    ------
    BadInputError
        If the file is not an events file, or an event is impossible; names every
        problem.
    """
    file = str(path)
    given = parse_toml(read_text(path), file, _refusal)
    if isinstance(given.get("settings"), dict):
        given["settings"] = dict(_flat(given["settings"]))
    try:
        record = EventsRecord.model_validate(given)
    except ValidationError as error:
        found = [_shape_problem(dict(each), file) for each in error.errors()]
        problems = list(dict.fromkeys(found))
        raise _refusal(file, problems) from error
    events, problems = timed_events(record.events, document, file)
    problems += _setting_problems(record, file)
    problems += _run_problems(record, file)
    problems += _rate_problems(record, document, file)
    if problems:
        raise _refusal(file, problems)
    return EventsFile(
        record=record,
        timed_events=events,
        settings=DEFAULT_SETTINGS | record.settings,
        runs=[_with_assignor(run) for run in record.runs] or DEFAULT_RUNS,
    )


def _with_assignor(run: RunRecord) -> RunRecord:
    default = ASSIGNORS[run.protocol][0]
    return run.model_copy(update={"assignor": run.assignor or default})


def _refusal(file: str, problems: Sequence[InputProblem]) -> BadInputError:
    return refuse_all(f"{file} is not a valid events file", problems)


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    """Yield settings by dotted names: TOML parses dots as nested tables."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


_EVENTS: dict[str, type[Any]] = {
    model.model_fields["event"].annotation.__args__[0]: model
    for model in AnyEvent.__args__
}


def _shape_problem(error: Mapping[str, Any], file: str) -> InputProblem:
    at = list(error["loc"])
    if at[0] == "rates" and len(at) > 2:
        # Pydantic names each alternative of a value that fits none.
        del at[2]
        rule = "must be a number of 0 or more, or a list of them"
        return problem(file, place_text(at), error["input"], rule, SEE_SCHEMA)
    model: Any = EventsRecord
    if at[0] == "runs":
        model = RunRecord
    elif at[0] == "events" and len(at) > 2:
        model = _EVENTS[at.pop(2)]
    if not error["type"].startswith("union_tag"):
        return shape_problem(error, file, at, model.model_fields, SEE_SCHEMA)
    given: Any = error["input"]
    value = given.get("event") if isinstance(given, dict) else given
    rule = f"must be one of {', '.join(_EVENTS)}"
    remedy = near(value, _EVENTS, "name an event")
    return problem(file, place_text([*at, "event"]), value, rule, remedy)


def _setting_problems(record: EventsRecord, file: str) -> list[InputProblem]:
    found = []
    for name, value in record.settings.items():
        place = f"settings.{name}"
        if name not in DEFAULT_SETTINGS:
            rule = f"must be one of {', '.join(DEFAULT_SETTINGS)}"
            remedy = near(name, DEFAULT_SETTINGS, "remove it")
            found.append(problem(file, place, value, rule, remedy))
        elif not _is_in_range(name, value):
            rule = "must be a number of milliseconds, from 1 to 10^12"
            found.append(problem(file, place, value, rule, "correct it"))
    settings = DEFAULT_SETTINGS | record.settings
    for prefix in ("", "group.consumer."):
        beat, session = f"{prefix}heartbeat.interval.ms", f"{prefix}session.timeout.ms"
        if settings[beat] >= settings[session]:
            rule = f"must be less than {session}, which is {settings[session]}"
            place = f"settings.{beat}"
            found.append(problem(file, place, settings[beat], rule, "set a third"))
    return found


def _is_in_range(name: str, value: int) -> bool:
    least = 0 if name == "group.initial.rebalance.delay.ms" else 1
    return least <= value <= 10**12


def _run_problems(record: EventsRecord, file: str) -> list[InputProblem]:
    found = []
    for at, run in enumerate(record.runs):
        suited = ASSIGNORS[run.protocol]
        name = run.assignor or suited[0]
        if name in suited or (":" in name and run.protocol != "consumer"):
            continue
        rule = f"with protocol {run.protocol} must be one of {', '.join(suited)}"
        if run.protocol != "consumer":
            rule += ", or package.module:Class"
        remedy = near(name, suited, "change one of the two")
        found.append(problem(file, f"runs[{at}].assignor", name, rule, remedy))
    return found


def _rate_problems(
    record: EventsRecord, document: GroupDocument, file: str
) -> list[InputProblem]:
    sizes = {topic.name: topic.partitions for topic in document.record.topics}
    for event in record.events:
        if isinstance(event, GrowRecord | NewTopicRecord):
            sizes[event.topic] = max(sizes.get(event.topic, 0), event.partitions)
    found = []
    for name, rates in (record.rates or {}).items():
        if name not in sizes:
            remedy = near(name, sizes, "remove it")
            rule = "must be a topic of the group, or one that appears"
            found.append(problem(file, f"rates.{name}", name, rule, remedy))
        elif isinstance(rates, list) and len(rates) > sizes[name]:
            rule = f"must have no more entries than partitions, that is {sizes[name]}"
            value = f"{len(rates)} entries"
            found.append(problem(file, f"rates.{name}", value, rule, "shorten it"))
    return found
