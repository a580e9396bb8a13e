"""Soft caps on the replicas and leaders of one topic per broker."""

from dataclasses import dataclass

import numpy as np

from placement.array_types import IndexArray, IntArray
from placement.draft.draft import Draft, Note
from placement.model.cluster import ClusterState
from placement.model.load import RESOURCES, Resource, preferred_leaders
from placement.model.reassignment import Reassignment
from placement.model.targets import Targets

REPLICAS = RESOURCES.index(Resource.REPLICAS)
LEADERS = RESOURCES.index(Resource.LEADERS)


@dataclass(frozen=True, slots=True, eq=False)
class TopicCaps:
    """
    Caps on the replicas and leaders of a topic per broker; empty arrays: no cap.

    Parameters
    ----------
    topic_of
        ``(P,)`` topic of each partition.
    replicas, leaders
        ``(T,)`` maximum number for each topic on one broker.
    """

    topic_of: IndexArray
    replicas: IntArray
    leaders: IntArray


def topic_caps(draft: Draft, targets: Targets) -> TopicCaps:
    """
    Return the soft caps on replicas and leaders of a topic per broker.

    A cap is the fair share of the broker with the largest share, rounded up, plus the
    slack. A strict cap would cost several times the bytes.
    """
    topic_of = draft.state.partitions.topic_idx.astype(np.int32)
    if draft.most_of_topic is not None:
        return TopicCaps(topic_of, draft.most_of_topic, np.zeros(0, dtype=np.int64))
    slack = draft.settings.topic_slack
    largest = [_largest_share(targets, resource) for resource in (REPLICAS, LEADERS)]
    if slack is None or not largest[0]:
        none = np.zeros(0, dtype=np.int64)
        return TopicCaps(none.astype(np.int32), none, none)
    counts = _replicas_of_topics(draft.state), _partitions_of_topics(draft.state)
    # A share such as 1/3 of 9 must not evaluate to 3.0000000004.
    replicas, leaders = (
        np.ceil(count * share - 1e-6).astype(np.int64) + slack
        for count, share in zip(counts, largest, strict=True)
    )
    return TopicCaps(topic_of, replicas, leaders if largest[1] else leaders[:0])


def _largest_share(targets: Targets, resource: int) -> float:
    """Return the largest fraction of all targets on one broker; 0 without targets."""
    total = float(targets.target[:, resource].sum())
    return float(targets.target[:, resource].max()) / total if total > 0 else 0.0


def _replicas_of_topics(state: ClusterState) -> IntArray:
    of = state.partitions.topic_idx[state.replicas.partition_idx]
    return np.bincount(of, minlength=len(state.topics.names)).astype(np.int64)


def _partitions_of_topics(state: ClusterState) -> IntArray:
    of = state.partitions.topic_idx
    return np.bincount(of, minlength=len(state.topics.names)).astype(np.int64)


def spread_notes(
    draft: Draft, targets: Targets, reassignment: Reassignment
) -> list[Note]:
    """Return notes on brokers that a plan brings above the caps on a topic."""
    caps = topic_caps(draft, targets)
    if not reassignment.is_changed.any():
        return []
    before, after = draft.state, reassignment.after()
    notes = [
        _note(draft, caps.replicas, (_held(before), _held(after)), "replicas"),
        _note(draft, caps.leaders, (_led(before), _led(after)), "leaders"),
    ]
    return [note for note in notes if note is not None]


def _note(
    draft: Draft, cap: IntArray, held: tuple[IntArray, IntArray], what: str
) -> Note | None:
    """Return a note on the topic and broker that are furthest beyond their cap."""
    if not len(cap):
        return None
    brokers = draft.state.num_brokers
    was, was_counts = np.unique(held[0], return_counts=True)
    most = np.zeros(len(cap), dtype=np.int64)
    np.maximum.at(most, was // brokers, was_counts)
    pairs, counts = np.unique(held[1], return_counts=True)
    # If a broker held even more of the topic before, the plan has spread the topic.
    over = counts > np.maximum(cap, most)[pairs // brokers]
    if not over.any():
        return None
    pairs, counts = pairs[over], counts[over]
    worst = int((counts - cap[pairs // brokers]).argmax())
    topic, broker = divmod(int(pairs[worst]), brokers)
    name = draft.state.topics.names[topic]
    broker_id = int(draft.state.brokers.ids[broker])
    return Note(
        what="topic-spread",
        message=f"broker {broker_id} gets to {counts[worst]:,} {what} of topic "
        f"{name}, {cap[topic]:,} would spread it well: other rules and bands came "
        f"first (pairs of topic and broker that are so: {len(pairs):,})",
        where={"topic": name, "broker": broker_id},
        have=float(counts[worst]),
        need=float(cap[topic]),
    )


def _held(state: ClusterState) -> IntArray:
    """Return ``(R,)`` topic and broker of each replica as one number."""
    topic = state.partitions.topic_idx[state.replicas.partition_idx].astype(np.int64)
    return topic * state.num_brokers + state.replicas.broker_idx


def _led(state: ClusterState) -> IntArray:
    """Return topic and broker of each partition with a leader, as one number."""
    led = preferred_leaders(state)
    rows = np.nonzero(led >= 0)[0]
    topic = state.partitions.topic_idx[rows].astype(np.int64)
    return topic * state.num_brokers + led[rows]
