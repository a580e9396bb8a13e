"""The document of `size`, and its records."""

from datetime import datetime
from typing import Any

import numpy as np
from pydantic import Field

from placement.demand.broker_demand import Need
from placement.failures.failure_domains import DomainKind
from placement.model.load import Resource
from placement.scenarios.scenario_figures import CAPPED, Figures
from placement.sizing.capacity_horizon import Lasting
from placement.sizing.cheapest_mix import needs_without_one
from placement.sizing.cluster_size import Sizing, headroom
from placement.sizing.fewest_brokers import MOST_BROKERS, BrokerBound
from planner.io.records import DatedRecord, Int32, Record
from planner.io.summary_lines import LineRecord, summary_of
from planner.sizing.size_cluster import SizeAnswer
from planner.sizing.sizing_facts import left_out, removable, unsized
from planner.sizing.sizing_screen import answer_lines
from planner.text.data_age import dated_fields
from planner.text.document_numbers import rounded
from planner.what_if.what_if_document import assumptions_document
from planner.what_if.what_if_records import UseRecord, UsesRecord


class SizeAssumptionsRecord(Record):
    """Assumptions of the sizing."""

    capacity_threshold: dict[str, float]
    bandwidth_bytes_per_s: int
    survives: list[str]
    left_out: list[str]
    months: float
    scenario: str | None
    growth: bool
    unknown: list[str]


class FleetRecord(Record):
    """Brokers of one type, with their number in each rack."""

    type: str
    brokers: int
    price: float
    racks: dict[str, int]


class NeedRecord(Record):
    """The least use of the fullest broker over all placements."""

    lost: str | None
    resource: str
    use: float | None
    threshold: float


class BoundRecord(Record):
    """Proof of the bound, and the threshold that one broker fewer would break."""

    kind: str
    resource: str | None
    lost: str | None
    in_order: bool
    one_fewer: NeedRecord | None


class WithoutOneRecord(Record):
    """Threshold that one broker fewer of a type breaks; null where none is proven."""

    type: str
    need: NeedRecord | None


class ShownSurvivesRecord(Record):
    """Whether the found placement survives the loss of any one broker or rack."""

    broker: bool | None
    rack: bool | None


class ShownRecord(Record):
    """The placement that proves the number of brokers sufficient."""

    resources: UsesRecord
    survives: ShownSurvivesRecord


class AttemptRecord(Record):
    """A number of brokers that was tried, with the reason of its failure."""

    brokers: int
    reason: str | None


class CrossingRecord(Record):
    """A threshold that growth passes."""

    resource: str
    broker: Int32
    log_dir: str | None = Field(description="Null where the whole broker is over.")
    days: float


class LastsRecord(Record):
    """Days until today's brokers are full; null for more than ten years."""

    as_is: list[CrossingRecord]
    as_is_days: float | None
    survives_days: float | None
    rebalanced_days: float | None
    at_most_days: float | None
    limit: NeedRecord | None


class SizeRecord(DatedRecord):
    """The document of `size --format json`."""

    assumptions: SizeAssumptionsRecord
    status: str = Field(pattern="^(exact|bounded|none)$")
    brokers: int
    today: int
    fleet: list[FleetRecord]
    value: float
    lower_bound: float | None
    gap: float | None
    bound: BoundRecord | None
    fewer: str | None
    without_one: list[WithoutOneRecord]
    headroom: float | None
    remove: list[int]
    shown: ShownRecord | None
    is_checked: bool | None
    attempts: list[AttemptRecord]
    lasts: LastsRecord | None
    summary: list[LineRecord] = Field(description="Lines of the screen.")


def to_document(answer: SizeAnswer, *, now: datetime) -> dict[str, Any]:
    """Return the document of `size --format json`."""
    return size_record(answer, now=now).model_dump(by_alias=True)


def size_record(answer: SizeAnswer, *, now: datetime) -> SizeRecord:
    """Return the answer as a record."""
    snapshot, sizing = answer.snapshot, answer.sizing
    return SizeRecord(
        **dated_fields(snapshot.cluster_id, snapshot.taken_at, now),
        assumptions=_assumptions(answer),
        status=status_of(sizing),
        brokers=sizing.brokers,
        today=answer.today,
        fleet=_fleet(answer),
        value=rounded(sizing.value),
        lower_bound=_bound_value(sizing),
        gap=None if sizing.gap is None else rounded(sizing.gap),
        bound=None if sizing.bound is None else _bound(sizing.bound),
        fewer=_fewer(sizing),
        without_one=_without_one(sizing),
        headroom=_headroom(sizing),
        remove=removable(answer),
        shown=_shown(sizing),
        is_checked=answer.is_checked,
        attempts=[
            AttemptRecord(brokers=each.brokers, reason=each.reason or None)
            for each in sizing.attempts
        ],
        lasts=None if answer.lasting is None else _lasts(answer.lasting),
        summary=summary_of(answer_lines(answer)),
    )


def _assumptions(answer: SizeAnswer) -> SizeAssumptionsRecord:
    wanted = answer.task.wanted
    return SizeAssumptionsRecord(
        **assumptions_document(wanted.thresholds, answer.options.bandwidth_bytes_per_s),
        survives=sorted(wanted.survives),
        left_out=left_out(answer),
        months=rounded(float(answer.request.months)),
        scenario=answer.request.scenario,
        growth=answer.has_growth,
        unknown=unsized(answer.sizing),
    )


def status_of(sizing: Sizing) -> str:
    """Return ``exact``, ``bounded``, or ``none`` if no placement was found."""
    if sizing.shown is None:
        return "none"
    return "exact" if sizing.is_exact else "bounded"


def _bound_value(sizing: Sizing) -> float | int | None:
    if not np.isfinite(sizing.least) or sizing.least >= MOST_BROKERS:
        return None
    return rounded(sizing.least)


def _fleet(answer: SizeAnswer) -> list[FleetRecord]:
    sizing, racks = answer.sizing, answer.task.racks
    names = racks or ("",)
    return [
        FleetRecord(
            type=kind.name,
            brokers=int(row.sum()),
            price=rounded(float(kind.price * row.sum())),
            racks={
                name: int(count)
                for name, count in zip(names, row.tolist(), strict=False)
                if name
            },
        )
        for kind, row in zip(sizing.kinds, sizing.counts, strict=True)
    ]


def _bound(bound: BrokerBound) -> BoundRecord:
    return BoundRecord(
        kind=bound.kind,
        resource=bound.resource or None,
        lost=bound.lost or None,
        in_order=bound.is_in_order,
        one_fewer=None if bound.need is None else _need(bound.need),
    )


def _need(need: Need) -> NeedRecord:
    """Return the least possible use of the fullest broker."""
    return NeedRecord(
        lost=need.lost or None,
        resource=need.resource,
        use=rounded(need.level) if np.isfinite(need.level) else None,
        threshold=rounded(need.threshold),
    )


def _fewer(sizing: Sizing) -> str | None:
    return None if sizing.fewer is None else sizing.fewer.reason or None


def _without_one(sizing: Sizing) -> list[WithoutOneRecord]:
    if sizing.shown is None or sizing.bound is not None:
        return []
    return [
        WithoutOneRecord(type=name, need=None if need is None else _need(need))
        for name, need in needs_without_one(sizing)
    ]


def _headroom(sizing: Sizing) -> float | None:
    found = headroom(sizing)
    return None if found is None else rounded(found)


def _shown(sizing: Sizing) -> ShownRecord | None:
    if sizing.shown is None:
        return None
    figures = sizing.shown.figures
    uses = {str(resource): _use(figures, resource) for resource in CAPPED}
    survives = {
        str(kind): figures.verdicts[kind].answer
        for kind in (DomainKind.BROKER, DomainKind.RACK)
    }
    return ShownRecord(
        resources=UsesRecord(**uses), survives=ShownSurvivesRecord(**survives)
    )


def _use(figures: Figures, resource: Resource) -> UseRecord | None:
    use = figures.use[resource]
    if not use.is_known:
        return None
    return UseRecord(
        max_use=rounded(use.most),
        mean_use=rounded(use.mean),
        broker=use.broker_id,
        over_threshold=use.over,
    )


def _lasts(lasting: Lasting) -> LastsRecord:
    """Return the days until brokers are full; null for more than ten years."""
    return LastsRecord(
        as_is=[
            CrossingRecord(
                resource=str(each.resource),
                broker=each.broker_id,
                log_dir=each.log_dir,
                days=rounded(round(each.days, 3)),
            )
            for each in lasting.crossings
        ],
        as_is_days=_days(lasting.as_is_days),
        survives_days=_days(lasting.stands_days),
        rebalanced_days=_days(lasting.shown_days),
        at_most_days=_days(lasting.most_days),
        limit=None if lasting.limit is None else _need(lasting.limit),
    )


def _days(days: float) -> float | None:
    return rounded(round(days, 3)) if np.isfinite(days) else None
