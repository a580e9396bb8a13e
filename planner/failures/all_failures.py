"""Every single and paired failure of a snapshot, ranked, with a verdict per kind."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from math import sqrt
from typing import Any

import numpy as np

from placement.array_types import BoolArray
from placement.failures.controller_majority import any_broker, any_rack
from placement.failures.failover import CARRIED_COLUMNS, LED, ON_RETURN
from placement.failures.failure_domains import DomainKind
from placement.failures.failure_outlook import Outlook, outlook
from placement.failures.failure_table import Failures
from placement.failures.pair_failures import DEFAULT_SAMPLE, MOST_DOMAINS, pair_failures
from placement.failures.partition_damage import KINDS
from placement.failures.partition_health import health_of
from placement.failures.single_failures import single_failures
from placement.failures.survivor_loads import HELD_COLUMNS
from placement.model.cluster import ABSENT, ClusterState
from placement.model.load import RESOURCES, UNIT_ROW, Resource, known_fractions
from planner.failures.failure_records import (
    AllFailuresRecord,
    AssumptionsRecord,
    BusiestOfAllRecord,
    BusiestRecord,
    CountsRecord,
    FailureRecord,
    FractionRecord,
    FractionsRecord,
    FullestRecord,
    KindVerdictRecord,
    OnReturnRecord,
    PairsRecord,
    SinglesRecord,
    VerdictRecord,
)
from planner.failures.failure_request import FailuresOptions
from planner.failures.lost_sources import no_source
from planner.progress import stage
from planner.snapshot.snapshot_document import Snapshot
from planner.status.controller_quorum import voters_of
from planner.text.data_age import dated_fields
from planner.text.document_numbers import rounded

PAIRED = (DomainKind.BROKER, DomainKind.RACK, DomainKind.LOG_DIR)
CONFIDENCE_Z = 1.96
HELD = tuple(RESOURCES[r] for r in HELD_COLUMNS)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AllFailures:
    """
    Outcomes of every single and paired failure of a snapshot.

    Parameters
    ----------
    snapshot, state, options
        The cluster, its columns, and the parsed options.
    given
        Loads, capacities and thresholds of the cluster before any failure.
    singles, pairs
        Single and paired failures by kind of failure domain.
    majority
        Whether the controllers keep their majority after the loss of any one broker,
        and of any one rack; `None` where unknown.
    """

    snapshot: Snapshot
    state: ClusterState
    options: FailuresOptions
    given: Outlook
    singles: Mapping[DomainKind, Failures]
    pairs: Mapping[DomainKind, Failures]
    majority: Mapping[DomainKind, bool | None]

    def survives(self, kind: DomainKind) -> bool | None:
        """
        Return whether any one domain of a kind may fail.

        `None` without domains, as where no rack is known. Without a live broker
        nothing is left to survive.
        """
        failures = self.singles[kind]
        if not len(failures):
            is_dead = kind is DomainKind.BROKER and not self.state.brokers.is_live.any()
            return False if is_dead else None
        is_fine = bool((failures.is_survived & ~failures.is_overfull).all())
        return is_fine and self.majority.get(kind) is not False

    @property
    def is_survived(self) -> bool:
        """Whether any one broker and any one rack may fail."""
        kinds = (DomainKind.BROKER, DomainKind.RACK)
        return all(self.survives(kind) is not False for kind in kinds)


def compute_all_failures(
    snapshot: Snapshot,
    state: ClusterState,
    options: FailuresOptions,
    *,
    has_pairs: bool = True,
    sample: int = DEFAULT_SAMPLE,
    seed: int = 1,
    most_domains: int = MOST_DOMAINS,
) -> AllFailures:
    """
    Compute the loss of every broker, log dir and rack, alone and in pairs.

    Parameters
    ----------
    snapshot, state, options
        The cluster, its columns, and the parsed options.
    has_pairs
        Whether pairs of brokers, of racks and of log dirs are computed, too.
    sample, seed, most_domains
        For kinds with more than `most_domains` domains, `sample` pairs are drawn with
        `seed`.
    """
    stage("losing every broker, log dir and rack")
    given = outlook(
        state,
        thresholds=options.thresholds,
        bandwidth_bytes_per_s=options.bandwidth_bytes_per_s,
    )
    voters = voters_of(snapshot, state)
    racks = [rack for rack in state.brokers.racks if rack is not None]
    return AllFailures(
        snapshot=snapshot,
        state=state,
        options=options,
        given=given,
        singles={kind: single_failures(given, kind) for kind in DomainKind},
        pairs={
            kind: pair_failures(
                given, kind, most_domains=most_domains, sample=sample, seed=seed
            )
            for kind in PAIRED
            if has_pairs
        },
        majority={
            DomainKind.BROKER: any_broker(voters, state.brokers.ids.tolist()),
            DomainKind.RACK: any_rack(voters, racks),
        },
    )


def to_document(every: AllFailures, *, top: int, now: datetime) -> dict[str, Any]:
    """Return the document of `failures`, with the `top` worst pairs of each kind."""
    state, options = every.state, every.options
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
    ).model_dump(by_alias=True)


def assumptions_of(options: FailuresOptions) -> dict[str, Any]:
    """Return the fields of `AssumptionsRecord`."""
    return {
        "bandwidth_bytes_per_s": options.bandwidth_bytes_per_s,
        "capacity_threshold": {str(r): v for r, v in options.thresholds.items()},
        "eligible_leader_replicas": options.rules.has_elr,
    }


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


def knows(given: Outlook, resource: Resource) -> bool:
    """Return whether the load of any partition is known; unknown is never 0."""
    return bool(given.is_known[RESOURCES.index(resource)])


def names_of(state: ClusterState, failures: Failures, row: int) -> list[str]:
    """Return the names of the domains that a failure takes."""
    lost = (failures.first[row], failures.second[row])
    return [failures.domains.name(state, int(d)) for d in lost if d != ABSENT]


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


def fraction_of(failures: Failures, is_so: BoolArray) -> FractionRecord:
    """
    Return the fraction of the flagged pairs, with its error.

    `is_so` has ``(X,)`` flags. `error` is half the width of Wilson's 95 % interval, or
    0 where every pair was computed. The pairs are drawn without replacement, so the
    true error is not larger.
    """
    count = len(failures)
    fraction = float(is_so.mean()) if count else 0.0
    if count == failures.num_possible:
        return FractionRecord(fraction=rounded(fraction), error=0.0)
    z2 = CONFIDENCE_Z**2
    spread = sqrt(fraction * (1 - fraction) / count + z2 / (4 * count**2))
    error = CONFIDENCE_Z * spread / (1 + z2 / count)
    return FractionRecord(fraction=rounded(fraction), error=rounded(error))


def notes_of(
    snapshot: Snapshot, state: ClusterState, options: FailuresOptions, given: Outlook
) -> list[str]:
    """Return the assumptions and limits of the figures, a sentence each."""
    notes = []
    if snapshot.partitions.column("isr").null_count:
        notes.append(
            "some ISRs are not in the snapshot: live replicas taken as in sync"
        )
    known = known_fractions(state, given.weights)
    unknown = [
        str(resource)
        for resource in (Resource.DISK, Resource.IN, Resource.OUT, Resource.CPU)
        if known[RESOURCES.index(resource)] < 1
    ]
    if unknown:
        notes.append(f"loads not known for every partition: {', '.join(unknown)}")
    if any(rack is None for rack in state.brokers.racks):
        notes.append("some brokers have no rack: they are in no failure of a rack")
    if options.rules.is_unclean is not None:
        count = int(options.rules.is_unclean.sum())
        notes.append(
            f"topics that elect uncleanly by themselves: {count}; what is offline of "
            "them goes on with records lost"
        )
    return notes
