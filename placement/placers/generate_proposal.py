"""
Kafka's own proposal for whole topics: the output of ``--generate`` of its tool.

It places every topic anew on the given brokers, without regard to its present replicas;
see `placement.placers.even_spread` for a proposal with few moves.
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
        Broker ids of each partition by topic; partitions are numbered from 0. If the
        replication factors of a topic differ, the factor of its first partition in
        Java's hash map applies to all, as in Kafka's tool.
    brokers
        The brokers to use. Either each broker has a rack, or none has.
    random
        Random generator; Kafka's tool uses one without a seed.
    place
        Placer of one topic; `striped` if omitted, as from 4.1 on.

    Returns
    -------
    Broker ids as in `current`, by topic name.

    Raises
    ------
    KafkaRefusalError
        If the placer refuses the arguments.
    """
    place = place or striped
    factor_of = proposed_factors(current)
    # The hash map also determines the order of topics, and so their random numbers.
    proposed = {
        topic: place(brokers, len(current[topic]), factor_of[topic], random).tolist()
        for topic in map_order(factor_of, string_hash)
    }
    return dict(sorted(proposed.items()))


def proposed_factors(current: Mapping[str, ReplicaLists]) -> dict[str, int]:
    """Return the proposed replication factor of each topic."""
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
