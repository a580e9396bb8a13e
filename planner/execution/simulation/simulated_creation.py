"""Refusals of requests for new partitions, as KRaft's controller gives them."""

from collections.abc import Sequence

from planner.execution.simulation.cluster_model import ClusterModel
from planner.kafka_files.creation import Creation
from planner.verify.state_rows import Brokers, Key


def creation_refusal(model: ClusterModel, wanted: Creation) -> str | None:
    """
    Return why the controller refuses a request for new partitions; `None`: it does not.

    References
    ----------
    Kafka's ``ReplicationControlManager``.
    """
    topic = model.table.topics.get(wanted.topic)
    if wanted.is_new_topic:
        if topic is not None:
            return f"TopicAlreadyExists: Topic '{wanted.topic}' already exists."
        return _refused_lists(model, wanted.lists, len(wanted.lists[0]))
    if topic is None:
        words = "This server does not host this topic-partition."
        return f"UnknownTopicOrPartition: {words}"
    keys = model.table.keys_of(topic)
    first = model.table.find(keys[0])
    factor = len(wanted.lists[0]) if first is None else len(first.replicas)
    return _refused_count(wanted, keys) or _refused_lists(model, wanted.lists, factor)


def _refused_count(wanted: Creation, keys: Sequence[Key]) -> str | None:
    """Return why the controller refuses the number of partitions of a topic."""
    if wanted.count == len(keys):
        return f"InvalidPartitions: Topic already has {len(keys)} partition(s)."
    if wanted.count < len(keys):
        return (
            f"InvalidPartitions: The topic {wanted.topic} currently has {len(keys)} "
            f"partition(s); {wanted.count} would not be an increase."
        )
    if wanted.first != len(keys):
        more = wanted.count - len(keys)
        return (
            f"InvalidReplicationAssignment: Attempted to add {more} additional "
            f"partition(s), but only {len(wanted.lists)} assignment(s) were specified."
        )
    return None


def _refused_lists(
    model: ClusterModel, lists: Sequence[Brokers], factor: int
) -> str | None:
    """Return why the controller refuses lists of new partitions."""
    for row in lists:
        unknown = sorted(set(row) - model.brokers.keys())
        if not row or unknown or len(set(row)) < len(row) or len(row) != factor:
            return f"InvalidReplicationAssignment: {list(row)} is not {factor} brokers"
        if not any(map(model.copies.is_live, row)):
            return f"InvalidReplicationAssignment: all of {list(row)} are fenced"
    return None
