"""Events in order, and whether each can happen to the group as it is by then."""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import count

from planner.errors import InputProblem
from planner.group.group_document import GroupDocument
from planner.group.group_problems import is_no_pattern
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

_Found = tuple[str, object, str, str]


@dataclass(frozen=True, slots=True)
class Happening:
    """
    One event, as it is played.

    Parameters
    ----------
    event
        Never a rolling restart: those are taken apart.
    member
        Of a join: the new member.
    """

    event: AnyEvent
    member: MemberRecord | None = None

    @property
    def at_s(self) -> float:
        """When."""
        return self.event.at_s


@dataclass(slots=True)
class _Cast:
    """Who is there, by name, and how large topics are, at one time."""

    members: dict[str, MemberRecord]
    sizes: dict[str, int]
    away: set[str] = field(default_factory=set)
    silent_until: dict[str, float] = field(default_factory=dict)
    patterns: set[str] = field(default_factory=set)


def happenings(
    events: Sequence[AnyEvent], document: GroupDocument, file: str
) -> tuple[list[Happening], list[InputProblem]]:
    """
    Go through events in order.

    Returns
    -------
    What is played, and why it cannot be.
    """
    record = document.record
    cast = _Cast(
        members={member.member_id: member for member in record.members},
        sizes={topic.name: topic.partitions for topic in record.topics},
    )
    number = count()
    queue = [(event.at_s, next(number), at, event) for at, event in enumerate(events)]
    heapq.heapify(queue)
    played: list[Happening] = []
    found: list[tuple[int, InputProblem]] = []
    while queue:
        _, _, at, event = heapq.heappop(queue)
        problems = [
            problem(file, f"events[{at}].{place}", value, rule, remedy)
            for place, value, rule, remedy in _problems(event, cast)
        ]
        found += [(at, each) for each in problems]
        if problems:
            continue
        if isinstance(event, RollingRestartRecord):
            for each in _taken_apart(event, cast):
                heapq.heappush(queue, (each.at_s, next(number), at, each))
        else:
            played.append(_happen(event, cast))
    return played, [each for _, each in sorted(found, key=lambda pair: pair[0])]


def _taken_apart(event: RollingRestartRecord, cast: _Cast) -> Iterator[AnyEvent]:
    there = [name for name in cast.members if name not in cast.away]
    at_s = event.at_s
    for name in event.members or there:
        yield LeaveRecord(event="leave", at_s=at_s, member=name)
        yield ReturnRecord(event="return", at_s=at_s + event.down_s, member=name)
        at_s += event.down_s + event.pause_s


def _happen(event: AnyEvent, cast: _Cast) -> Happening:
    """Let an event change who is there."""
    member = None
    match event:
        case JoinRecord():
            member = _joined(event, cast)
            cast.members[event.member] = member
        case LeaveRecord():
            cast.away.add(event.member)
        case ReturnRecord():
            cast.away.discard(event.member)
        case StopHeartbeatingRecord() if event.for_s is None:
            cast.away.add(event.member)
        case StopHeartbeatingRecord() | StopPollingRecord():
            for_s = float("inf") if event.for_s is None else event.for_s
            cast.silent_until[event.member] = event.at_s + for_s
        case GrowRecord() | NewTopicRecord():
            cast.sizes[event.topic] = event.partitions
    return Happening(event, member)


def _joined(event: JoinRecord, cast: _Cast) -> MemberRecord:
    """Return a new member: like another, but for what is said."""
    said = event.model_dump(
        include={"topics", "pattern", "group_instance_id", "rack", "capacity"},
        exclude_none=True,
    )
    like = event.like or next(iter(cast.members), None)
    base: dict[str, object] = {}
    if like is not None:
        base = cast.members[like].model_dump(include={"rack", "capacity"})
        if event.topics is None and event.pattern is None:
            base |= cast.members[like].model_dump(include={"topics", "pattern"})
    return MemberRecord.model_validate(base | said | {"member_id": event.member})


def _problems(event: AnyEvent, cast: _Cast) -> Iterator[_Found]:
    match event:
        case JoinRecord():
            yield from _join_problems(event, cast)
        case GrowRecord() | NewTopicRecord():
            yield from _topic_problems(event, cast)
        case RollingRestartRecord():
            for name in event.members or ():
                yield from _member_problems("members", name, event.at_s, cast)
        case ReturnRecord():
            yield from _return_problems(event, cast)
        case _:
            yield from _member_problems("member", event.member, event.at_s, cast)
    if isinstance(event, SlowRecord) and event.poll_ms is event.reads_per_s is None:
        yield "poll_ms", None, "poll_ms or reads_per_s must be said", "add one"


def _close(name: str, known: Sequence[str], otherwise: str) -> str:
    close = get_close_matches(name, known, n=1)
    return f"did you mean {close[0]}?" if close else otherwise


def _join_problems(event: JoinRecord, cast: _Cast) -> Iterator[_Found]:
    if event.member in cast.members:
        rule = "must be a new name"
        yield "member", event.member, rule, "'return' starts a member again"
    if event.like is not None and event.like not in cast.members:
        remedy = _close(event.like, list(cast.members), "name a member")
        yield "like", event.like, "must be a member of the group", remedy
    if event.pattern is not None and (reason := is_no_pattern(event.pattern)):
        rule = f"must be a regular expression: {reason}"
        yield "pattern", event.pattern, rule, "mend it"
    instances = {m.group_instance_id for m in cast.members.values()}
    if event.group_instance_id and event.group_instance_id in instances:
        rule = "must be no other member's"
        yield "group_instance_id", event.group_instance_id, rule, "name another"
    if not cast.members and event.topics is None and event.pattern is None:
        rule = "must be said where no member is there to be like"
        yield "topics", None, rule, "add topics or pattern"


def _topic_problems(
    event: GrowRecord | NewTopicRecord, cast: _Cast
) -> Iterator[_Found]:
    size = cast.sizes.get(event.topic, 0)
    if isinstance(event, NewTopicRecord):
        if size:
            rule = f"must not exist; it has {size} partitions"
            yield "topic", event.topic, rule, "'grow' adds partitions"
    elif not size:
        remedy = _close(event.topic, list(cast.sizes), "'new-topic' adds one")
        yield "topic", event.topic, "must exist by then", remedy
    elif event.partitions <= size:
        rule = f"must be more than it has, that is {size}"
        yield "partitions", event.partitions, rule, "topics only grow"


def _return_problems(event: ReturnRecord, cast: _Cast) -> Iterator[_Found]:
    if event.member not in cast.members:
        remedy = _close(event.member, list(cast.members), "'join' starts a new one")
        yield "member", event.member, "must be a member of the group", remedy
    elif event.member not in cast.away:
        rule = "must have left, or have stopped heart-beating for good, by then"
        yield "member", event.member, rule, "remove it, or let it leave before"


def _member_problems(
    place: str, name: str, at_s: float, cast: _Cast
) -> Iterator[_Found]:
    if name not in cast.members:
        remedy = _close(name, list(cast.members), "'join' starts a new one")
        yield place, name, "must be a member of the group by then", remedy
    elif name in cast.away:
        yield place, name, "must be there by then; it has left", "'return' starts it"
    elif at_s < (until := cast.silent_until.get(name, 0.0)):
        rule = f"must be there by then; it hangs until {until:g} s"
        yield place, name, rule, "let it happen later"
