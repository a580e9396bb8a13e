"""
Kafka's own proposal for topics as a whole: what ``--generate`` of its tool prints.

It places every topic anew on the brokers given, wherever its replicas are now; see
`placement.placers.even_spread` for the one that moves little.
"""

from collections.abc import Callable, Mapping, Sequence

from placement.kafka_java.java_maps import map_order, partition_hash, string_hash
from placement.kafka_java.java_random import JavaRandom
from placement.placers.classic_placer import place_classic
from placement.placers.striped_placer import place_striped
from placement.placers.usable_brokers import BrokerIdArray, PlacerBrokers

ReplicaLists = Sequence[Sequence[int]]
Place = Callable[[PlacerBrokers, int, int, JavaRandom], BrokerIdArray]


def propose_from_scratch(
    current: Mapping[str, ReplicaLists],
    brokers: PlacerBrokers,
    random: JavaRandom,
    place: Place | None = None,
) -> dict[str, list[list[int]]]:
    """
    Place every topic anew, one after the other, with one generator for all.

    Parameters
    ----------
    current
        Per topic, the broker ids of each partition; partitions are numbered from 0.
        Of a topic whose replication factors differ, that of the first partition in
        Java's hash map holds for all, as in Kafka's tool.
    brokers
        The brokers to use. With racks: each must have one, or none.
    random
        Kafka's tool takes one without a seed.
    place
        How one topic is placed; striped where left out, as from 4.1 on.

    Returns
    -------
    As `current`, by topic name.

    Raises
    ------
    KafkaRefusalError
        What the placer refuses.
    """
    place = place or striped
    factor_of = proposed_factors(current)
    # Topics come in the order of a hash map too: it decides who draws first.
    proposed = {
        topic: place(brokers, len(current[topic]), factor_of[topic], random).tolist()
        for topic in map_order(factor_of, string_hash)
    }
    return dict(sorted(proposed.items()))


def proposed_factors(current: Mapping[str, ReplicaLists]) -> dict[str, int]:
    """Return the replication factor that each topic's partitions are to have."""
    keys = [(topic, p) for topic, lists in current.items() for p in range(len(lists))]
    found: dict[str, int] = {}
    for topic, partition in map_order(keys, lambda key: partition_hash(*key)):
        found.setdefault(topic, len(current[topic][partition]))
    return found


def striped(
    brokers: PlacerBrokers,
    num_partitions: int,
    replication_factor: int,
    random: JavaRandom,
) -> BrokerIdArray:
    """Place one topic as Kafka's tool does from 4.1 on."""
    return place_striped(brokers, num_partitions, replication_factor, random=random)


def classic(
    brokers: PlacerBrokers,
    num_partitions: int,
    replication_factor: int,
    random: JavaRandom,
) -> BrokerIdArray:
    """Place one topic as Kafka's tool did up to 4.0."""
    return place_classic(brokers, num_partitions, replication_factor, random=random)
