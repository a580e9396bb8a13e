"""The document of `partitions audit`, and its records."""

from collections.abc import Sequence
from datetime import datetime
from math import isfinite
from typing import Any

from pydantic import Field

from placement.partition_counts.count_limits import MAPS_PER_SEGMENT
from placement.partition_counts.topic_audit import TopicFinding
from planner.io.records import DatedRecord, Record
from planner.partitions.audit_answer import Audit, finding_text, unknown_text
from planner.partitions.size_document import CountAssumptionRecord
from planner.text.data_age import dated_fields
from planner.text.document_numbers import rounded


class SavedRecord(Record):
    """Savings of the needed count: replicas, open files, memory maps, recovery."""

    partitions: int
    replicas: int
    files: int
    maps: int
    recovery_s: float


class TopicFindingRecord(Record):
    """A topic whose number of partitions is bad; null where a value is unknown."""

    kind: str = Field(pattern="^(too-many|too-few|uneven|empty)$")
    topic: str
    partitions: int
    replication_factor: int
    needed: int | None
    empty: int
    in_bytes_per_s: float | None
    excess_bytes_per_s: float | None
    saved: SavedRecord
    message: str


class AuditFiguresRecord(Record):
    """Numbers of findings by kind, and everything that is saved."""

    findings: int
    too_many: int
    too_few: int
    uneven: int
    empty: int
    unknown_rates: int
    saved_partitions: int
    saved_replicas: int
    saved_files: int
    saved_maps: int
    saved_recovery_s: float


class AuditFailOnRecord(Record):
    """A condition of --fail-on, and whether it holds."""

    condition: str
    holds: bool


class PartitionsAuditRecord(DatedRecord):
    """The document of `partitions audit --format json`."""

    brokers: int
    topics: int
    partitions: int
    replicas: int
    producer_rate: float | None
    consumer_rate: float | None
    headroom: float
    many: float
    leading_brokers: int
    figures: AuditFiguresRecord
    findings: list[TopicFindingRecord]
    assumptions: list[CountAssumptionRecord]
    unknown: str | None
    fail_on: list[AuditFailOnRecord]


def audit_document(
    audit: Audit, answers: Sequence[dict[str, Any]] = (), *, now: datetime
) -> dict[str, Any]:
    """
    Return the document of `partitions audit --format json`.

    Parameters
    ----------
    audit
        The audit.
    answers
        Conditions of ``--fail-on``, each with whether it holds.
    now
        Time, with a zone, that gives the age of the data.
    """
    snapshot, rules = audit.snapshot, audit.rules
    figures: dict[str, Any] = dict(audit.figures)
    figures["saved_recovery_s"] = float(rounded(figures["saved_recovery_s"]))
    record = PartitionsAuditRecord(
        **dated_fields(snapshot.cluster_id, snapshot.taken_at, now),
        brokers=audit.brokers,
        topics=audit.topics,
        partitions=audit.partitions,
        replicas=audit.replicas,
        producer_rate=_number(rules.producer_rate),
        consumer_rate=_number(rules.consumer_rate),
        headroom=rules.headroom,
        many=rules.many,
        leading_brokers=rules.leading,
        figures=AuditFiguresRecord(**figures),
        findings=[_finding(one, audit) for one in audit.findings],
        assumptions=[
            CountAssumptionRecord(option=one.option, text=one.text)
            for one in audit.assumptions
        ],
        unknown=unknown_text(audit) or None,
        fail_on=[AuditFailOnRecord(**answer) for answer in answers],
    )
    return record.model_dump()


def _finding(finding: TopicFinding, audit: Audit) -> TopicFindingRecord:
    return TopicFindingRecord(
        kind=finding.kind,
        topic=finding.topic,
        partitions=finding.partitions,
        replication_factor=finding.factor,
        needed=finding.needed,
        empty=finding.empty,
        in_bytes_per_s=_number(finding.rate),
        excess_bytes_per_s=_number(finding.excess_rate),
        saved=SavedRecord(
            partitions=finding.saved_partitions,
            replicas=finding.saved_replicas,
            files=finding.saved_files,
            maps=finding.saved_files * MAPS_PER_SEGMENT,
            recovery_s=float(rounded(finding.saved_s)),
        ),
        message=finding_text(finding, audit.brokers),
    )


def _number(value: float) -> float | None:
    return float(rounded(value)) if isfinite(value) else None
