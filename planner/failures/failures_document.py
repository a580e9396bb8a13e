"""The document of `failures`: every single and paired failure."""

from datetime import datetime
from typing import Any

import numpy as np

from placement.failures.failover import CARRIED_COLUMNS, LED, ON_RETURN
from placement.failures.failure_domains import DomainKind
from placement.failures.failure_table import Failures
from placement.failures.partition_damage import KINDS
from placement.failures.partition_health import health_of
from placement.failures.survivor_loads import HELD_COLUMNS
from placement.model.cluster import ABSENT
from placement.model.load import RESOURCES, UNIT_ROW, Resource
from planner.failures.all_failures import (
    HELD,
    AllFailures,
    assumptions_of,
    fraction_of,
    knows,
    names_of,
    notes_of,
)
from planner.failures.failure_records import (
    AllFailuresRecord,
    AssumptionsRecord,
    BusiestOfAllRecord,
    BusiestRecord,
    CountsRecord,
    FailureRecord,
    FractionsRecord,
    FullestRecord,
    KindVerdictRecord,
    OnReturnRecord,
    PairsRecord,
    SinglesRecord,
    VerdictRecord,
)
from planner.failures.failures_screen import verdict_lines
from planner.failures.lost_sources import no_source
from planner.io.summary_lines import summary_of
from planner.status.find_status import status_of
from planner.status.status_lines import head_texts
from planner.text.data_age import dated_fields
from planner.text.document_numbers import rounded


def to_document(every: AllFailures, *, top: int, now: datetime) -> dict[str, Any]:
    """Return the document of `failures`, with the `top` worst pairs of each kind."""
    state, options = every.state, every.options
    troubles = head_texts(status_of(every.snapshot, state), None)
    return AllFailuresRecord(
        **dated_fields(every.snapshot.cluster_id, every.snapshot.taken_at, now),
        brokers=state.num_brokers,
        partitions=state.num_partitions,
        assumptions=AssumptionsRecord(**assumptions_of(options)),
        now=CountsRecord(**health_of(state).counts()),
        no_source=no_source(state),
        verdict=_verdict(every),
        single=SinglesRecord(
            **{
                str(kind): [
                    _failure(every, failures, int(row)) for row in failures.ranked()
                ]
                for kind, failures in every.singles.items()
            }
        ),
        pairs={
            kind.value: _pairs(every, failures, top)
            for kind, failures in every.pairs.items()
        },
        notes=notes_of(every.snapshot, state, options, every.given),
        summary=summary_of([*troubles, *verdict_lines(every)]),
    ).model_dump(by_alias=True)


def _verdict(every: AllFailures) -> VerdictRecord:
    return VerdictRecord(
        **{
            str(kind): KindVerdictRecord(
                survives=every.survives(kind),
                controllers_keep_majority=every.majority.get(kind),
            )
            for kind in DomainKind
        }
    )


def _failure(every: AllFailures, failures: Failures, row: int) -> FailureRecord:
    """Return one failure; figures that need unknown loads are null."""
    has_sizes = knows(every.given, Resource.DISK)
    damage = {name: int(failures.damage[name][row]) for name in KINDS}
    return FailureRecord(
        lost=names_of(every.state, failures, row),
        offline=damage["offline"],
        gone=damage["gone"],
        under_min_isr=damage["under_min_isr"],
        at_min_isr=damage["at_min_isr"],
        under_replicated=damage["under_replicated"],
        leaders_moved=int(failures.leaders_moved[row]),
        busiest=BusiestOfAllRecord(
            **{
                str(resource): _busiest(every, failures, row, y)
                for y, resource in enumerate(LED)
            }
        ),
        pushed_over_threshold=int(failures.peaks.num_over[row]),
        on_return=OnReturnRecord(
            busiest_out=_busiest(every, failures, row, ON_RETURN),
            over_threshold=int(failures.peaks.num_over_on_return[row]),
        ),
        fullest_when_rebuilt=FullestRecord(
            **{
                str(resource): _fullest(every, failures, row, y)
                for y, resource in enumerate(HELD)
            }
        ),
        rebuilt_bytes=int(failures.rebuilt_bytes[row]) if has_sizes else None,
        rebuild_s=_number(failures.rebuild_s[row]) if has_sizes else None,
        unplaced_replicas=int(failures.unplaced[row]),
        survives=bool(failures.is_survived[row] and not failures.is_overfull[row]),
    )


def _busiest(
    every: AllFailures, failures: Failures, row: int, y: int
) -> BusiestRecord | None:
    broker = int(failures.peaks.broker_idx[row, y])
    r = CARRIED_COLUMNS[y]
    if broker == ABSENT or not knows(every.given, RESOURCES[r]):
        return None
    value = float(failures.peaks.value[row, y])
    scale = failures.scale
    load = value * float(scale.unit[broker, r]) / float(UNIT_ROW[r])
    return BusiestRecord(
        broker=int(every.state.brokers.ids[broker]),
        load=rounded(load),
        use=rounded(value) if scale.is_use[r] else None,
    )


def _fullest(every: AllFailures, failures: Failures, row: int, y: int) -> float | None:
    is_use = failures.scale.is_use[HELD_COLUMNS[y]]
    if not is_use or not knows(every.given, HELD[y]):
        return None
    return _number(failures.levels[row, y])


def _number(value: float) -> float | None:
    return rounded(float(value)) if np.isfinite(value) else None


def _pairs(every: AllFailures, failures: Failures, top: int) -> PairsRecord:
    worst = failures.ranked()[:top]
    return PairsRecord(
        possible=failures.num_possible,
        looked_at=len(failures),
        fractions=FractionsRecord(
            offline=fraction_of(failures, failures.damage["offline"] > 0),
            gone=fraction_of(failures, failures.damage["gone"] > 0),
            under_min_isr=fraction_of(failures, failures.damage["under_min_isr"] > 0),
            not_survived=fraction_of(failures, ~failures.is_survived),
        ),
        worst=[_failure(every, failures, int(row)) for row in worst],
    )
