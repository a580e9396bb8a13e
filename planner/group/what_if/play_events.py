"""Simulation of an events file, one run at a time, and its document."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from assignment.assignors import Assignor
from assignment.check import Finding, check, check_named
from assignment.errors import UserAssignorError
from assignment.group import Group
from assignment.make_group import MemberSpec
from assignment.outcome import Assignment
from assignment.rebalance import (
    Course,
    Event,
    Freeze,
    Join,
    Lag,
    Leave,
    Protocol,
    Return,
    Run,
    SetPartitions,
    Slow,
    Step,
    StopPolling,
    Timers,
    play,
)
from planner.group.assign_answer import names_by_member
from planner.group.assignor_comparison import uneven_topics
from planner.group.assignor_registry import UserAssignor, find_assignor
from planner.group.group_answers import GroupFindingRecord
from planner.group.group_document import GroupDocument, lags_of, member_spec, topic_spec
from planner.group.what_if.events_file import EventsFile
from planner.group.what_if.group_events import TimedEvent
from planner.group.what_if.what_if_records import (
    AnyEvent,
    GrowRecord,
    LeaveRecord,
    NewTopicRecord,
    PartitionRecord,
    PileRecord,
    PutOutRecord,
    ReturnRecord,
    RevokedStepRecord,
    RunRecord,
    SayingRecord,
    SlowRecord,
    StillRecord,
    StopHeartbeatingRecord,
    StopPollingRecord,
    WhatIfRunRecord,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_PARTITIONS_LISTED = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Played:
    """
    Result of one run.

    Parameters
    ----------
    run
        Protocol and assignor, as in the file.
    course
        History of the group: rebalances, lags and messages.
    findings
        Findings of the checker for the assignment after each rebalance.
    """

    run: RunRecord
    course: Course
    findings: Sequence[Sequence[Finding]]


@dataclass(frozen=True, slots=True)
class _UserAssignorAdapter:
    """Adapter from an assignor class of the user to the interface of Kafka's."""

    user: UserAssignor

    @property
    def name(self) -> str:
        """Name on the command line."""
        return self.user.name

    def assign(self, group: Group) -> Assignment:
        """Return the assignment; raise if it breaks a rule."""
        claims, findings = check_named(group, self.user.answer(group))
        if findings:
            msg = f"{self.name} breaks a rule: {findings[0].message}"
            raise UserAssignorError(msg)
        member_idx = np.full(group.num_partitions, -1, dtype=np.int32)
        member_idx[claims.partition_idx] = claims.member_idx
        return Assignment(member_idx)


def play_run(
    document: GroupDocument,
    events: EventsFile,
    wanted: RunRecord,
    *,
    is_java_order: bool = False,
) -> Played:
    """
    Simulate the events with one protocol and assignor.

    Raises
    ------
    AssignmentError
        If the assignor refuses the group, or is a class of the user and fails.
    BadInputError
        If no assignor has the name.
    """
    found = find_assignor(wanted.assignor or "balanced", seed=0, tolerance=0.05)
    assignor: Assignor = (
        _UserAssignorAdapter(found) if isinstance(found, UserAssignor) else found
    )
    record, protocol = events.record, Protocol(wanted.protocol)
    reads_per_s = record.reads_per_s or math.inf
    run = Run(
        topics=[topic_spec(topic) for topic in document.record.topics],
        members=[
            _membership(member_spec(member), wanted)
            for member in document.record.members
        ],
        protocol=protocol,
        assignor=assignor,
        timers=_timers(events, protocol),
        rates=_rates(document, events),
        lags={
            topic.name: [float(lag or 0) for lag in lags_of(topic)]
            for topic in document.record.topics
        },
        reads_per_s=reads_per_s,
        is_java_order=is_java_order,
    )
    timed = [_event(each, wanted, reads_per_s) for each in events.timed_events]
    course = play(run, timed, round(1000 * events.until_s))
    is_cooperative = protocol is Protocol.COOPERATIVE
    return Played(
        run=wanted,
        course=course,
        findings=[
            check(step.group, step.assignment.member_idx, is_cooperative=is_cooperative)
            for step in course.steps
        ],
    )


def _membership(spec: MemberSpec, run: RunRecord) -> MemberSpec:
    """Return a member with or without a ``group.instance.id``, as the run requires."""
    if run.static is None:
        return spec
    instance = (spec.instance_id or spec.member_id) if run.static else None
    return replace(spec, instance_id=instance)


def _timers(events: EventsFile, protocol: Protocol) -> Timers:
    settings = events.settings
    prefix = "group.consumer." if protocol is Protocol.CONSUMER else ""
    return Timers(
        session_timeout_ms=settings[f"{prefix}session.timeout.ms"],
        heartbeat_interval_ms=settings[f"{prefix}heartbeat.interval.ms"],
        max_poll_interval_ms=settings["max.poll.interval.ms"],
        metadata_max_age_ms=settings["metadata.max.age.ms"],
        initial_delay_ms=settings["group.initial.rebalance.delay.ms"],
        poll_ms=events.record.poll_ms,
    )


def _rates(
    document: GroupDocument, events: EventsFile
) -> "dict[str, Sequence[float]] | None":
    """Return messages/s by partition; topics have their largest size."""
    given = events.record.rates
    if given is None:
        return None
    sizes: Mapping[str, int] = {
        topic.name: topic.partitions for topic in document.record.topics
    }
    for timed in events.timed_events:
        if isinstance(event := timed.event, GrowRecord | NewTopicRecord):
            sizes = {**sizes, event.topic: event.partitions}
    return {
        name: rate if isinstance(rate, list) else [rate] * sizes[name]
        for name, rate in given.items()
    }


def _event(timed: TimedEvent, run: RunRecord, reads_per_s: float) -> Event:
    """Convert an event to the input of the simulation."""
    event, at_ms = timed.event, round(1000 * timed.at_s)
    if timed.member is not None:
        spec = _membership(member_spec(timed.member), run)
        return Join(at_ms=at_ms, spec=spec, reads_per_s=spec.capacity * reads_per_s)
    if isinstance(event, GrowRecord | NewTopicRecord):
        topic, size = event.topic, event.partitions
        return SetPartitions(at_ms=at_ms, topic=topic, num_partitions=size)
    return _member_event(event, at_ms)


def _member_event(event: AnyEvent, at_ms: int) -> Event:
    """Convert an event of one member to the input of the simulation."""
    made: Event
    match event:
        case LeaveRecord():
            made = Leave(at_ms=at_ms, member=event.member)
        case ReturnRecord():
            made = Return(at_ms=at_ms, member=event.member)
        case StopHeartbeatingRecord():
            for_ms = _ms(event.for_s)
            made = Freeze(at_ms=at_ms, member=event.member, for_ms=for_ms)
        case StopPollingRecord():
            for_ms = _ms(event.for_s)
            made = StopPolling(at_ms=at_ms, member=event.member, for_ms=for_ms)
        case SlowRecord():
            made = Slow(
                at_ms=at_ms,
                member=event.member,
                poll_ms=event.poll_ms,
                reads_per_s=event.reads_per_s,
            )
        case _:
            msg = f"{event.event} is not of one member"
            raise TypeError(msg)
    return made


def _ms(seconds: float | None) -> int | None:
    return None if seconds is None else max(1, round(1000 * seconds))


def run_record(played: Played) -> WhatIfRunRecord:
    """Return one run of the document of `--format json`."""
    course, last = played.course, played.course.last
    still = course.still_ms
    return WhatIfRunRecord(
        protocol=str(course.protocol),
        assignor=course.assignor,
        static=played.run.static,
        rebalances=len(course.steps),
        revoked=sum(step.num_revoked for step in course.steps),
        moved=int(course.changes.sum()),
        given_back=sum(step.num_back for step in course.steps),
        still=StillRecord(
            partition_s=float(still.sum()) / 1000,
            longest_s=float(course.longest_ms.max(initial=0)) / 1000,
            partitions=int(np.count_nonzero(still)),
            at_end=int(np.count_nonzero(course.is_still_at_end)),
        ),
        lag=None if course.lag is None else _lag_record(course.lag),
        put_out=[PutOutRecord(member=one, why=why) for one, why in course.put_out],
        idle_members=last.idle_members(),
        uneven_topics=uneven_topics(last.group, last.assignment.member_idx),
        starts_differently=course.num_elsewhere,
        steps=[
            _step_record(step, findings)
            for step, findings in zip(course.steps, played.findings, strict=True)
        ],
        num_partitions=len(still),
        partitions=_partition_records(course),
        story=[
            SayingRecord(at_s=message.at_ms / 1000, text=message.text)
            for message in course.story
        ],
        assignment=names_by_member(last.group, last.assignment.member_idx),
    )


def _lag_record(lag: Lag) -> PileRecord:
    until = lag.behind_until_ms
    return PileRecord(
        peak=round(lag.peak, 3),
        end=round(lag.end, 3),
        caught_up_s=round(until / 1000, 3) if math.isfinite(until) else None,
    )


def _step_record(step: Step, findings: Sequence[Finding]) -> RevokedStepRecord:
    return RevokedStepRecord(
        number=step.epoch,
        cause=step.cause,
        started_s=step.started_ms / 1000,
        assigned_s=step.assigned_ms / 1000,
        ended_s=step.ended_ms / 1000,
        members=step.group.num_members,
        revoked={member: _by_topic(names) for member, names in step.revoked.items()},
        moved=step.num_moved,
        given_back=step.num_back,
        idle_members=step.idle_members(),
        findings=[GroupFindingRecord.model_validate(one) for one in findings],
    )


def _by_topic(names: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for topic, number in names:
        found.setdefault(topic, []).append(number)
    return {topic: sorted(numbers) for topic, numbers in found.items()}


def _partition_records(course: Course) -> list[PartitionRecord]:
    """Return the partitions that stood still or changed members, the longest first."""
    peaks = None if course.lag is None else course.lag.peak_of
    topic_of = np.repeat(np.arange(len(course.topics)), list(course.topics.values()))
    ends = np.cumsum([0, *course.topics.values()])
    names = list(course.topics)
    rows = np.nonzero((course.still_ms > 0) | (course.changes > 0))[0]
    order = np.lexsort((rows, -course.still_ms[rows], -course.longest_ms[rows]))
    return [
        PartitionRecord(
            topic=names[topic_of[row]],
            partition=int(row - ends[topic_of[row]]),
            still_s=int(course.still_ms[row]) / 1000,
            longest_s=int(course.longest_ms[row]) / 1000,
            changed_hands=int(course.changes[row]),
            peak_lag=None if peaks is None else round(float(peaks[row]), 3),
        )
        for row in rows[order][:MAX_PARTITIONS_LISTED].tolist()
    ]


def notes_of(
    document: GroupDocument, events: EventsFile, runs: Sequence[Played]
) -> list[str]:
    """Return the assumptions and limits of the figures, a sentence each."""
    notes = [*document.notes]
    record = events.record
    if record.rates is None:
        notes.append("no [rates]: how much piles up is not said")
    elif record.reads_per_s is None:
        notes.append("no reads_per_s: catching up is taken to take no time")
    for played in runs:
        name = f"{played.run.protocol} {played.run.assignor}"
        if played.course.num_elsewhere:
            notes.append(
                f"{name} starts from its own assignment: "
                f"{played.course.num_elsewhere} partitions elsewhere than now"
            )
    notes += _idle_notes(runs)
    notes.append(
        "heartbeats and polls are spread evenly; networks and disks take no time"
    )
    return list(dict.fromkeys(notes))


def _idle_notes(runs: Sequence[Played]) -> list[str]:
    found = []
    for played in runs:
        for step in (played.course.start, *played.course.steps):
            group = step.group
            num_read = int(group.is_read[group.partitions.topic_idx].sum())
            if num_read < group.num_members:
                found.append(
                    f"{group.num_members} members for {num_read} partitions: at least "
                    f"{group.num_members - num_read} have nothing to read"
                )
    return found
