"""Partitions of a synthetic cluster: their topics, loads and first places."""

import numpy as np
import numpy.typing as npt

from placement.array_types import IndexArray, RateArray
from placement.model.cluster import ABSENT
from placement.synthetic.cluster_sizes import Size

REPLICATION_FACTOR = 3
MEAN_IN_BYTES_PER_S = 60e3
FAN_OUT = (0.5, 1.0, 2.0, 3.0, 5.0)
MOST_OF_A_BROKER = 0.05
"""Maximum fraction of a broker's share that a single replica takes."""
LEADER_CPU_PER_IN, LEADER_CPU_PER_OUT, FOLLOWER_CPU_PER_IN = 2e-8, 1e-8, 1e-8
"""Cores per byte/s."""


def draw_topics(size: Size, rng: np.random.Generator) -> tuple[IndexArray, IndexArray]:
    """Return topic and number of each partition; sizes of topics by ``n^-0.9``."""
    wanted = size.replicas // REPLICATION_FACTOR
    sizes = np.arange(1, size.most_partitions + 1)
    weight = sizes**-0.9
    drawn = rng.choice(sizes, size=wanted, p=weight / weight.sum())
    last = int(np.searchsorted(np.cumsum(drawn), wanted))
    counts = drawn[: last + 1]
    counts[-1] -= int(counts.sum()) - wanted
    topic_idx = np.repeat(np.arange(len(counts)), counts)
    first = np.cumsum(counts) - counts
    return (
        topic_idx.astype(np.int32),
        (np.arange(wanted) - first[topic_idx]).astype(np.int32),
    )


def draw_loads(
    topic_idx: IndexArray, sigma: float, rng: np.random.Generator
) -> RateArray:
    """Return ``(3, P)`` bytes/s in and out, and bytes, still to be scaled."""
    topics = int(topic_idx[-1]) + 1
    of_topic = rng.lognormal(0.0, sigma, size=topics)
    is_wide = rng.random(topics) < 0.1
    drawn = rng.lognormal(0.0, 1.0, size=len(topic_idx))
    # Powers differ between processors in the last bit; square roots do not.
    within = np.where(is_wide[topic_idx], drawn, np.sqrt(np.sqrt(drawn)))
    rate = of_topic[topic_idx] * within
    rate *= MEAN_IN_BYTES_PER_S / rate.mean()
    retention = rng.lognormal(0.0, 0.8, size=topics)[topic_idx]
    fan_out = rng.choice(FAN_OUT, size=topics)[topic_idx]
    return np.stack([rate, rate * fan_out, rate * retention])


def capped(rates: RateArray, brokers: int) -> RateArray:
    """Reduce the load of heavy partitions until no replica exceeds its limit."""
    most = most_of_a_share(brokers, rates.shape[1])
    while True:
        heaviest, total = leader_and_total(*rates)
        over = (heaviest * brokers / (most * total[:, None])).max(axis=0)
        if over.max() <= 1 + 1e-9:
            return rates
        # This lowers the shares too, so that some exceed theirs again, by less.
        rates = rates / np.maximum(over, 1.0)


def most_of_a_share(brokers: int, partitions: int) -> float:
    """
    Return the maximum fraction of a broker's share that one replica takes.

    This is 5 %, or twice the fraction of one of equal partitions: if brokers lead few
    partitions, not all of these can be below 5 %.
    """
    return max(MOST_OF_A_BROKER, 2 * brokers / partitions)


def leader_and_total(
    in_rate: RateArray, out_rate: RateArray, bytes_: RateArray
) -> tuple[RateArray, RateArray]:
    """Return ``(4, P)`` disk, in, out and cpu of leaders, ``(4,)`` of all replicas."""
    followers = REPLICATION_FACTOR - 1
    lead = np.stack(
        [
            bytes_,
            in_rate,
            out_rate + followers * in_rate,
            LEADER_CPU_PER_IN * in_rate + LEADER_CPU_PER_OUT * out_rate,
        ]
    )
    total = lead.sum(axis=1)
    total[:2] *= REPLICATION_FACTOR
    total[3] += followers * FOLLOWER_CPU_PER_IN * in_rate.sum()
    return lead, total


def racks_of_brokers(size: Size, *, is_uneven: bool) -> IndexArray:
    """Return ``(B,)`` alternating racks; if uneven, the first has half the brokers."""
    if not is_uneven:
        return (np.arange(size.brokers) % size.racks).astype(np.int32)
    weight = np.ones(size.racks)
    weight[0] = 0.5
    counts = np.maximum(1, np.round(size.brokers * weight / weight.sum())).astype(int)
    turn = [(k, rack) for rack, count in enumerate(counts) for k in range(count)]
    return np.array([rack for _, rack in sorted(turn)], dtype=np.int32)


def place(
    topic_idx: IndexArray,
    partition: IndexArray,
    rack_of: IndexArray,
    rng: np.random.Generator,
) -> tuple[npt.NDArray[np.int64], IndexArray]:
    """
    Place as Kafka's rack-aware `assignReplicasToBrokers` does, for all topics at once.

    Brokers alternate by rack. Leaders go round robin, and followers skip racks that
    have a replica of the partition already.
    """
    brokers, racks = len(rack_of), int(rack_of.max()) + 1
    topics = int(topic_idx[-1]) + 1
    begin = rng.integers(0, brokers, size=topics)[topic_idx]
    shift = rng.integers(0, brokers, size=topics)[topic_idx] + partition // brokers
    first = (partition + begin) % brokers
    chosen = [first]
    tries = np.zeros(len(first), dtype=np.int64)
    for _ in range(1, REPLICATION_FACTOR):
        follower = np.full(len(first), ABSENT)
        waiting = np.arange(len(first))
        while len(waiting):
            step = (shift[waiting] * racks + tries[waiting]) % (brokers - 1)
            place = (first[waiting] + 1 + step) % brokers
            tries[waiting] += 1
            taken = np.zeros(len(waiting), dtype=np.bool_)
            for other in chosen:
                taken |= np.equal(rack_of[other[waiting]], rack_of[place])
            follower[waiting[~taken]] = place[~taken]
            waiting = waiting[taken]
        chosen.append(follower)
    start = np.arange(len(first) + 1, dtype=np.int64) * REPLICATION_FACTOR
    return start, np.stack(chosen, axis=1).reshape(-1).astype(np.int32)
