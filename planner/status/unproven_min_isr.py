"""A min.insync.replicas above the number of replicas, with brokers of any release."""

from placement.model.cluster import ClusterState
from planner.kafka_releases import release_of
from planner.snapshot.snapshot_document import Snapshot
from planner.snapshot.tables.table_facts import MIN_ISR
from planner.text.format import plural


def is_release_needed(snapshot: Snapshot, state: ClusterState) -> bool:
    """Return whether the snapshot lacks the release that decides on refusals."""
    is_unknown = release_of(snapshot.kafka_version) is None and not state.caps_min_isr
    return is_unknown and bool(state.is_min_isr_out_of_reach.any())


def unproven_min_isr(snapshot: Snapshot, state: ClusterState) -> list[str]:
    """Return what is assumed where the release that decides is unknown, or nothing."""
    if not is_release_needed(snapshot, state):
        return []
    count = int(state.is_min_isr_out_of_reach.sum())
    some = f"{plural(count, 'partition')} {'has' if count == 1 else 'have'}"
    return [
        f"Kafka's version is not in the snapshot, and {some} fewer replicas than "
        f"{MIN_ISR}: counted as refused, as before 3.7; later releases serve "
        "producers until one of these replicas is lost"
    ]
