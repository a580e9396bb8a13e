"""How many replicas of one topic a broker should hold at most: a soft rule."""

import numpy as np

from placement.change import Reassignment
from placement.cluster import ClusterState, IndexArray
from placement.core.problem import IntArray
from placement.load import RESOURCES, Resource
from placement.rules.draft import Draft, Note
from placement.targets import Targets

REPLICAS = RESOURCES.index(Resource.REPLICAS)


def topic_caps(draft: Draft, targets: Targets) -> tuple[IndexArray, IntArray]:
    """
    Return the topic of each partition, and the most replicas of it on one broker.

    That is what falls to the broker that holds most, rounded up, and the slack. A
    strict cap would cost several times the bytes.

    Returns
    -------
    ``(P,)`` and ``(T,)``; both empty where topics may lie anyhow.
    """
    slack = draft.settings.topic_slack
    total = float(targets.target[:, REPLICAS].sum())
    if slack is None or total <= 0:
        return np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
    largest = float(targets.target[:, REPLICAS].max()) / total
    size = _replicas_of_topics(draft.state)
    # A share such as 1/3 of 9 must not come out as 3.0000000004.
    cap = np.ceil(size * largest - 1e-6).astype(np.int64) + slack
    return draft.state.partitions.topic_idx.astype(np.int32), cap


def _replicas_of_topics(state: ClusterState) -> IntArray:
    of = state.partitions.topic_idx[state.replicas.partition_idx]
    return np.bincount(of, minlength=len(state.topics.names)).astype(np.int64)


def spread_notes(
    draft: Draft, targets: Targets, reassignment: Reassignment
) -> list[Note]:
    """Say where a plan brings more of a topic to a broker than it should."""
    _, cap = topic_caps(draft, targets)
    if not len(cap) or not reassignment.is_copied.any():
        return []
    brokers = draft.state.num_brokers
    was, was_counts = np.unique(_held(draft.state), return_counts=True)
    most = np.zeros(len(cap), dtype=np.int64)
    np.maximum.at(most, was // brokers, was_counts)
    pairs, counts = np.unique(_held(reassignment.after()), return_counts=True)
    # Where a broker held still more of the topic, the plan has spread it.
    over = counts > np.maximum(cap, most)[pairs // brokers]
    if not over.any():
        return []
    pairs, counts = pairs[over], counts[over]
    worst = int((counts - cap[pairs // brokers]).argmax())
    topic, broker = divmod(int(pairs[worst]), brokers)
    name = draft.state.topics.names[topic]
    broker_id = int(draft.state.brokers.ids[broker])
    return [
        Note(
            what="topic-spread",
            message=f"broker {broker_id} gets to {counts[worst]:,} replicas of topic "
            f"{name}, {cap[topic]:,} would spread it well: other rules and bands came "
            f"first (pairs of topic and broker that are so: {len(pairs):,})",
            where={"topic": name, "broker": broker_id},
            have=float(counts[worst]),
            need=float(cap[topic]),
        )
    ]


def _held(state: ClusterState) -> IntArray:
    """Return ``(R,)`` topic and broker of each replica as one number."""
    topic = state.partitions.topic_idx[state.replicas.partition_idx].astype(np.int64)
    return topic * state.num_brokers + state.replicas.broker_idx
