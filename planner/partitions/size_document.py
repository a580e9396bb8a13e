"""The document of `partitions size`, and its records."""

from datetime import datetime
from math import isfinite, isnan
from typing import Any

from pydantic import Field

from placement.partition_counts.choose_count import Candidate, Use
from planner.io.records import DatedRecord, Record
from planner.partitions.size_answer import GIVE, SizedPartitions, reasons
from planner.text.data_age import dated_fields
from planner.text.document_numbers import rounded


class CountLimitRecord(Record):
    """One limit of a candidate; null where unknown, or a margin without end."""

    limit: str
    group: str | None
    unit: str
    used: float | None
    most: float | None
    margin: float | None
    status: str = Field(pattern="^(ok|broken|unknown)$")


class CandidateRecord(Record):
    """
    A number of partitions.

    `producer`, `consumer` and `brokers` are bytes/s that producers can write, that the
    slowest group can read, and that the network of the brokers can take.
    """

    partitions: int
    binds: str | None
    margin: float | None
    producer: float | None
    consumer: float | None
    brokers: float | None
    fits: bool
    leaders: list[int] = Field(min_length=2, max_length=2)
    replicas_per_broker: int
    limits: list[CountLimitRecord]


class CountAssumptionRecord(Record):
    """A value that was assumed, and the option that replaces it."""

    option: str
    text: str


class UnknownLimitRecord(Record):
    """A limit that is not known, and the options that make it known."""

    limit: str
    give: str


class PartitionsSizeRecord(DatedRecord):
    """The document of `partitions size --format json`."""

    topic: str | None
    status: str = Field(pattern="^(found|none)$")
    recommended: int | None
    at_least: int | None
    needed: int | None
    largest: int | None
    current: int | None
    brokers: int
    racks: list[int]
    replication_factor: int
    keyed: bool
    headroom: float
    hottest_key: float | None
    total_order: bool
    candidates: list[CandidateRecord]
    reasons: list[str]
    conflict: list[str]
    assumptions: list[CountAssumptionRecord]
    unknown: list[UnknownLimitRecord]


def size_document(sized: SizedPartitions, *, now: datetime) -> dict[str, Any]:
    """Return the document of `partitions size --format json`."""
    answer, asked, snapshot = sized.answer, sized.asked, sized.snapshot
    hosts = asked.task.hosts
    dated = dated_fields(
        None if snapshot is None else snapshot.cluster_id,
        None if snapshot is None else snapshot.taken_at,
        now,
    )
    record = PartitionsSizeRecord(
        **dated,
        topic=asked.topic,
        status="none" if answer.recommended is None else "found",
        recommended=answer.recommended,
        at_least=answer.at_least,
        needed=answer.needed,
        largest=answer.largest,
        current=hosts.current or None,
        brokers=hosts.brokers,
        racks=list(hosts.racks),
        replication_factor=hosts.factor,
        keyed=asked.is_keyed,
        headroom=asked.task.load.headroom,
        hottest_key=asked.task.load.hottest_share or None,
        total_order=asked.task.is_ordered,
        candidates=[_candidate(each, sized) for each in answer.candidates],
        reasons=reasons(sized),
        conflict=list(answer.conflict),
        assumptions=[
            CountAssumptionRecord(option=one.option, text=one.text)
            for one in asked.assumptions
        ],
        unknown=[
            UnknownLimitRecord(limit=use.name, give=GIVE.get(use.name, ""))
            for use in sized.unknown
        ],
    )
    return record.model_dump()


def _candidate(candidate: Candidate, sized: SizedPartitions) -> CandidateRecord:
    binding = candidate.binding
    return CandidateRecord(
        partitions=candidate.partitions,
        binds=None if binding is None else binding.name,
        margin=None if binding is None else _number(binding.margin),
        producer=_number(candidate.producer),
        consumer=_number(candidate.consumer),
        brokers=_number(candidate.brokers),
        fits=fits(candidate, sized),
        leaders=list(candidate.leaders),
        replicas_per_broker=candidate.replicas,
        limits=[_limit(use) for use in candidate.uses],
    )


def fits(candidate: Candidate, sized: SizedPartitions) -> bool:
    """Return whether a candidate breaks no known limit and is as even as asked."""
    hosts = sized.asked.task.hosts
    is_even = not hosts.is_even or candidate.is_even
    return is_even and hosts.factor <= hosts.brokers and not candidate.broken


def _limit(use: Use) -> CountLimitRecord:
    return CountLimitRecord(
        limit=use.name,
        group=use.group or None,
        unit=use.unit,
        used=_number(use.used),
        most=_number(use.most),
        margin=_number(use.margin),
        status=status_of(use),
    )


def status_of(use: Use) -> str:
    """Return whether a limit holds: ok, broken or unknown."""
    if use.is_broken:
        return "broken"
    return "ok" if use.is_known and not isnan(use.margin) else "unknown"


def _number(value: float) -> float | None:
    return float(rounded(value)) if isfinite(value) else None
