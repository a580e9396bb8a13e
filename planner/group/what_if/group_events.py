"""Events in order of time, each validated against the group at its time."""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from planner.errors import InputProblem
from planner.group.group_document import GroupDocument
from planner.group.group_problems import pattern_error
from planner.group.group_records import MemberRecord
from planner.group.what_if.what_if_records import (
    AnyEvent,
    GrowRecord,
    JoinRecord,
    LeaveRecord,
    NewTopicRecord,
    ReturnRecord,
    RollingRestartRecord,
    SlowRecord,
    StopHeartbeatingRecord,
    StopPollingRecord,
)
from planner.io.problems import problem
from planner.text.suggest import near

_Found = tuple[str, object, str, str]


@dataclass(frozen=True, slots=True)
class TimedEvent:
    """
    One event of the simulation.

    Parameters
    ----------
    event
        Record of the event; never a rolling restart, which is expanded.
    member
        New member of a join; `None` for other events.
    """

    event: AnyEvent
    member: MemberRecord | None = None

    @property
    def at_s(self) -> float:
        """Seconds from the start of the simulation."""
        return self.event.at_s


@dataclass(slots=True)
class _GroupState:
    """Members by name and sizes of topics, at one time of the simulation."""

    members: dict[str, MemberRecord]
    sizes: dict[str, int]
    away: set[str] = field(default_factory=set)
    silent_until: dict[str, float] = field(default_factory=dict)
    patterns: set[str] = field(default_factory=set)


def timed_events(
    events: Sequence[AnyEvent], document: GroupDocument, file: str
) -> tuple[list[TimedEvent], list[InputProblem]]:
    """
    Validate events in order of time.

    Returns
    -------
    Events to simulate, and problems of the others.
    """
    record = document.record
    group = _GroupState(
        members={member.member_id: member for member in record.members},
        sizes={topic.name: topic.partitions for topic in record.topics},
    )
    number = count()
    queue = [(event.at_s, next(number), at, event) for at, event in enumerate(events)]
    heapq.heapify(queue)
    played: list[TimedEvent] = []
    found: list[tuple[int, InputProblem]] = []
    while queue:
        _, _, at, event = heapq.heappop(queue)
        problems = [
            problem(file, f"events[{at}].{place}", value, rule, remedy)
            for place, value, rule, remedy in _problems(event, group)
        ]
        found += [(at, each) for each in problems]
        if problems:
            continue
        if isinstance(event, RollingRestartRecord):
            for each in _expanded_restart(event, group):
                heapq.heappush(queue, (each.at_s, next(number), at, each))
        else:
            played.append(_apply(event, group))
    return played, [each for _, each in sorted(found, key=lambda pair: pair[0])]


def _expanded_restart(
    event: RollingRestartRecord, group: _GroupState
) -> Iterator[AnyEvent]:
    there = [name for name in group.members if name not in group.away]
    at_s = event.at_s
    for name in event.members or there:
        yield LeaveRecord(event="leave", at_s=at_s, member=name)
        yield ReturnRecord(event="return", at_s=at_s + event.down_s, member=name)
        at_s += event.down_s + event.pause_s


def _apply(event: AnyEvent, group: _GroupState) -> TimedEvent:
    """Apply an event to the members and topics."""
    member = None
    match event:
        case JoinRecord():
            member = _joined(event, group)
            group.members[event.member] = member
        case LeaveRecord():
            group.away.add(event.member)
        case ReturnRecord():
            group.away.discard(event.member)
        case StopHeartbeatingRecord() if event.for_s is None:
            group.away.add(event.member)
        case StopHeartbeatingRecord() | StopPollingRecord():
            for_s = float("inf") if event.for_s is None else event.for_s
            group.silent_until[event.member] = event.at_s + for_s
        case GrowRecord() | NewTopicRecord():
            group.sizes[event.topic] = event.partitions
    return TimedEvent(event, member)


def _joined(event: JoinRecord, group: _GroupState) -> MemberRecord:
    """Return a new member: a copy of another, but for the fields of the event."""
    given = event.model_dump(
        include={"topics", "pattern", "group_instance_id", "rack", "capacity"},
        exclude_none=True,
    )
    like = event.like or next(iter(group.members), None)
    base: dict[str, object] = {}
    if like is not None:
        base = group.members[like].model_dump(include={"rack", "capacity"})
        if event.topics is None and event.pattern is None:
            base |= group.members[like].model_dump(include={"topics", "pattern"})
    return MemberRecord.model_validate(base | given | {"member_id": event.member})


def _problems(event: AnyEvent, group: _GroupState) -> Iterator[_Found]:
    match event:
        case JoinRecord():
            yield from _join_problems(event, group)
        case GrowRecord() | NewTopicRecord():
            yield from _topic_problems(event, group)
        case RollingRestartRecord():
            for name in event.members or ():
                yield from _member_problems("members", name, event.at_s, group)
        case ReturnRecord():
            yield from _return_problems(event, group)
        case _:
            yield from _member_problems("member", event.member, event.at_s, group)
    if isinstance(event, SlowRecord) and event.poll_ms is event.reads_per_s is None:
        yield "poll_ms", None, "poll_ms or reads_per_s must be given", "add one"


def _join_problems(event: JoinRecord, group: _GroupState) -> Iterator[_Found]:
    if event.member in group.members:
        rule = "must be a name that no member has"
        yield "member", event.member, rule, "'return' starts a member again"
    if event.like is not None and event.like not in group.members:
        remedy = near(event.like, list(group.members), "name a member")
        yield "like", event.like, "must be a member of the group", remedy
    if event.pattern is not None and (reason := pattern_error(event.pattern)):
        rule = f"must be a regular expression: {reason}"
        yield "pattern", event.pattern, rule, "correct it"
    instances = {m.group_instance_id for m in group.members.values()}
    if event.group_instance_id and event.group_instance_id in instances:
        rule = "must not be the id of another member"
        yield "group_instance_id", event.group_instance_id, rule, "name another"
    if not group.members and event.topics is None and event.pattern is None:
        rule = "must be given, as the group has no member to copy"
        yield "topics", None, rule, "add topics or pattern"


def _topic_problems(
    event: GrowRecord | NewTopicRecord, group: _GroupState
) -> Iterator[_Found]:
    size = group.sizes.get(event.topic, 0)
    if isinstance(event, NewTopicRecord):
        if size:
            rule = f"must not exist; it has {size} partitions"
            yield "topic", event.topic, rule, "'grow' adds partitions"
    elif not size:
        remedy = near(event.topic, list(group.sizes), "'new-topic' adds one")
        yield "topic", event.topic, "must exist by then", remedy
    elif event.partitions <= size:
        rule = f"must be more than it has, that is {size}"
        yield "partitions", event.partitions, rule, "topics only grow"


def _return_problems(event: ReturnRecord, group: _GroupState) -> Iterator[_Found]:
    if event.member not in group.members:
        remedy = near(event.member, list(group.members), "'join' starts a new one")
        yield "member", event.member, "must be a member of the group", remedy
    elif event.member not in group.away:
        rule = "must have left, or stopped its heartbeats for good, before"
        yield "member", event.member, rule, "remove the event, or add a leave before"


def _member_problems(
    place: str, name: str, at_s: float, group: _GroupState
) -> Iterator[_Found]:
    if name not in group.members:
        remedy = near(name, list(group.members), "'join' starts a new one")
        yield place, name, "must be a member of the group by then", remedy
    elif name in group.away:
        yield place, name, "must be in the group; it has left", "'return' starts it"
    elif at_s < (until := group.silent_until.get(name, 0.0)):
        rule = f"must respond at this time; it hangs until {until:g} s"
        yield place, name, rule, "set a later at_s"
