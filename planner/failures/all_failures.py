"""Every single and paired failure of a snapshot, ranked, with a verdict per kind."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

from placement.array_types import BoolArray
from placement.draft.draft import LEAST_KNOWN
from placement.failures.controller_majority import any_broker, any_rack
from placement.failures.failure_domains import DomainKind
from placement.failures.failure_outlook import Outlook, outlook
from placement.failures.failure_table import Failures
from placement.failures.pair_failures import DEFAULT_SAMPLE, MOST_DOMAINS, pair_failures
from placement.failures.partition_health import hurt_before
from placement.failures.single_failures import single_failures
from placement.failures.survivor_loads import HELD_COLUMNS
from placement.model.cluster import ABSENT, ClusterState
from placement.model.load import RESOURCES, Resource, known_fractions
from planner.failures.failure_records import FractionRecord
from planner.failures.failure_request import FailuresOptions
from planner.progress import stage
from planner.snapshot.snapshot_document import Snapshot
from planner.status.controller_quorum import voters_of
from planner.status.unproven_min_isr import unproven_min_isr
from planner.text.document_numbers import rounded
from planner.text.format import percent_text

PAIRED = (DomainKind.BROKER, DomainKind.RACK, DomainKind.LOG_DIR)
CONFIDENCE_Z = 1.96
MEASURED = (Resource.DISK, Resource.IN, Resource.OUT, Resource.CPU)
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
    before
        Number of partitions that are offline, or under min ISR, before any failure.
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
    before: Mapping[str, int]
    singles: Mapping[DomainKind, Failures]
    pairs: Mapping[DomainKind, Failures]
    majority: Mapping[DomainKind, bool | None]

    def survives(self, kind: DomainKind) -> bool | None:
        """
        Return whether any one domain of a kind may fail, and all partitions serve.

        False where some are offline or under min ISR before any failure. `None`
        without domains, as where no rack is known. Without a live broker
        nothing is left to survive.
        """
        failures = self.singles[kind]
        if not len(failures):
            is_dead = kind is DomainKind.BROKER and not self.state.brokers.is_live.any()
            return False if is_dead else None
        return self.is_fine_beyond(kind) and not any(self.before.values())

    def is_fine_beyond(self, kind: DomainKind) -> bool:
        """Return whether no failure of a kind hurts what is fine before it."""
        failures = self.singles[kind]
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
        before=hurt_before(state),
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


def assumptions_of(options: FailuresOptions) -> dict[str, Any]:
    """Return the fields of `AssumptionsRecord`."""
    return {
        "bandwidth_bytes_per_s": options.bandwidth_bytes_per_s,
        "capacity_threshold": {str(r): v for r, v in options.thresholds.items()},
        "eligible_leader_replicas": options.rules.has_elr,
    }


def knows(given: Outlook, resource: Resource) -> bool:
    """Return whether the load of any partition is known; unknown is never 0."""
    return bool(given.is_known[RESOURCES.index(resource)])


def known_in_part(given: Outlook) -> dict[Resource, float]:
    """Return the known fraction of resources that few partitions tell."""
    known = known_fractions(given.state, given.weights)
    parts = {r: float(known[RESOURCES.index(r)]) for r in MEASURED}
    return {r: part for r, part in parts.items() if 0 < part < LEAST_KNOWN}


def names_of(state: ClusterState, failures: Failures, row: int) -> list[str]:
    """Return the names of the domains that a failure takes."""
    lost = (failures.first[row], failures.second[row])
    return [failures.domains.name(state, int(d)) for d in lost if d != ABSENT]


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
    if few := known_in_part(given):
        first, *rest = few.items()
        parts = [f"{first[0]} (known for {percent_text(first[1])} of the partitions)"]
        parts += [f"{resource} ({percent_text(part)})" for resource, part in rest]
        notes.append(f"figures of {', '.join(parts)} are too low")
    unknown = [
        str(resource) for resource in MEASURED if known[RESOURCES.index(resource)] < 1
    ]
    if unknown:
        notes.append(f"loads not known for every partition: {', '.join(unknown)}")
    notes += unproven_min_isr(snapshot, state)
    if any(rack is None for rack in state.brokers.racks):
        notes.append("some brokers have no rack: they are in no failure of a rack")
    if options.rules.is_unclean is not None:
        count = int(options.rules.is_unclean.sum())
        notes.append(
            f"topics that elect uncleanly by themselves: {count}; what is offline of "
            "them goes on with records lost"
        )
    return notes
