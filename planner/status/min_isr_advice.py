"""Topics whose min.insync.replicas no ISR can reach, and the remedies."""

import shlex

import numpy as np

from planner.kafka_commands import KafkaCommands, topic_entity
from planner.snapshot.tables.table_facts import MIN_ISR
from planner.status.find_status import Status
from planner.status.trouble_sentences import Address, Advice
from planner.text.format import plural


def out_of_reach(status: Status) -> dict[int, int]:
    """
    Return topics whose min ISR is above the replication factor of a partition.

    Brokers of Kafka 3.7 and later take that factor instead, so there are none then.

    Returns
    -------
    The smallest such factor of each topic, by its row; the worst topics first.
    """
    state, found = status.state, status.troubles.under_min_isr
    if state.caps_min_isr:
        return {}
    least = np.full(len(state.topics), np.iinfo(np.int64).max)
    np.minimum.at(least, state.partitions.topic_idx, state.replication_factor)
    is_above = np.greater(found.needed, least[found.topic_idx])
    return {topic: int(least[topic]) for topic in found.topic_idx[is_above].tolist()}


def min_isr_texts(status: Status) -> list[str]:
    """Return a sentence for each topic whose min ISR no ISR can reach."""
    topics = status.state.topics
    refused = "refuses acks=all even if all are in sync"
    what = f"before 3.7 Kafka {refused}; later it is content with the fewer"
    if status.release is not None:
        what = f"Kafka {'.'.join(map(str, status.release))} {refused}"
    return [
        f"{topics.names[topic]}: {MIN_ISR} is {topics.min_insync_replicas[topic]}, and "
        f"a partition has {plural(factor, 'replica')}: {what}"
        for topic, factor in out_of_reach(status).items()
    ]


def min_isr_advice(status: Status, address: Address) -> list[Advice]:
    """Return the remedies for the worst topic whose min ISR no ISR can reach."""
    found = out_of_reach(status)
    if not found:
        return []
    topic, factor = next(iter(found.items()))
    name = status.state.topics.names[topic]
    needed = int(status.state.topics.min_insync_replicas[topic])
    lower = [f"{MIN_ISR}={max(factor - 1, 1)}"]
    commands = KafkaCommands(connection=address.connection)
    advice: list[Advice] = [
        (f"lower that of {name}", commands.set_configs(topic_entity(name), lower))
    ]
    most = int(status.state.brokers.is_live.sum())
    if most >= needed:
        command = (
            f"kafka-planner plan set-replication-factor {address.snapshot} --topic "
            f"{shlex.quote(name)} --replication-factor {min(needed + 1, most)} -o plan"
        )
        advice.append(("or give its partitions more replicas", command))
    return advice
