"""
Cruise Control's default goals, counted from a cluster and nothing else.

As its goals of August 2026 say, at its default thresholds: balance thresholds of 1.10
(of topics 3.00, with gaps of 2 to 40) less a margin of a tenth, capacity thresholds of
0.8 and, for cpu, 0.7. Nothing here is taken from the package but the columns.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from placement.model.cluster import ClusterState

MARGIN, THRESHOLD = 0.9, 1.10
BAND, TOPIC_BAND = (THRESHOLD - 1) * MARGIN, (3.0 - 1) * MARGIN
"""In doubles, as it computes them: 0.09000000000000008, which 110 of 100 is inside."""
LEAST_GAP, MOST_GAP = 2, 40
MOST_REPLICAS = 10_000
THRESHOLDS = {"disk": 0.8, "in": 0.8, "out": 0.8, "cpu": 0.7}
USAGE_GOALS = {
    "disk": "DiskUsageDistributionGoal",
    "in": "NetworkInboundUsageDistributionGoal",
    "out": "NetworkOutboundUsageDistributionGoal",
    "cpu": "CpuUsageDistributionGoal",
}
CAPACITY_GOALS = {
    "disk": "DiskCapacityGoal",
    "in": "NetworkInboundCapacityGoal",
    "out": "NetworkOutboundCapacityGoal",
    "cpu": "CpuCapacityGoal",
}
CLOSE = 1e-9
"""Sums of floats come out in another order here."""


def missed_goals(state: ClusterState) -> dict[str, float]:
    """Return the goals that a cluster misses, with how far; first replicas lead."""
    loads = _loads(state)
    capacity = _capacities(state)
    found = {
        "RackAwareGoal": _together_in_a_rack(state),
        "ReplicaCapacityGoal": max(0.0, max(loads["replicas"]) - MOST_REPLICAS),
        "ReplicaDistributionGoal": _off_counts(loads["replicas"]),
        "LeaderReplicaDistributionGoal": _off_counts(loads["leaders"]),
        "PotentialNwOutGoal": _over(loads["potential"], capacity["out"], 0.8),
        "LeaderBytesInDistributionGoal": _over_mean(loads["leader in"]),
        "TopicReplicaDistributionGoal": _off_topics(state),
    }
    for name, goal in CAPACITY_GOALS.items():
        found[goal] = _over(loads[name], capacity[name], THRESHOLDS[name])
    for name, goal in USAGE_GOALS.items():
        found[goal] = _off_usage(loads[name], capacity[name])
    return {goal: off for goal, off in found.items() if off > CLOSE}


def _lists(state: ClusterState) -> list[list[int]]:
    start, brokers = state.replicas.start.tolist(), state.replicas.broker_idx.tolist()
    return [brokers[first:last] for first, last in pairwise(start)]


def _loads(state: ClusterState) -> Mapping[str, list[float]]:
    names = ("disk", "in", "out", "cpu", "replicas", "leaders", "potential")
    loads = {name: [0.0] * state.num_brokers for name in (*names, "leader in")}
    of = state.partitions
    for p, brokers in enumerate(_lists(state)):
        size, arrives = float(of.size_bytes[p]), float(of.in_bytes_per_s[p])
        leaves = float(of.out_bytes_per_s[p]) + (len(brokers) - 1) * arrives
        for place, broker in enumerate(brokers):
            leads = place == 0
            loads["disk"][broker] += size
            loads["in"][broker] += arrives
            loads["out"][broker] += leaves * leads
            cores = of.leader_cpu_cores if leads else of.follower_cpu_cores
            loads["cpu"][broker] += float(cores[p])
            loads["replicas"][broker] += 1
            loads["leaders"][broker] += leads
            loads["potential"][broker] += leaves
            loads["leader in"][broker] += arrives * leads
    return loads


def _capacities(state: ClusterState) -> Mapping[str, list[float]]:
    brokers = state.brokers
    return {
        "disk": brokers.disk_bytes.astype(float).tolist(),
        "in": brokers.in_bytes_per_s.tolist(),
        "out": brokers.out_bytes_per_s.tolist(),
        "cpu": brokers.cpu_cores.tolist(),
    }


def _together_in_a_rack(state: ClusterState) -> float:
    rack = state.brokers.rack_idx.tolist()
    most = (Counter(rack[b] for b in brokers).values() for brokers in _lists(state))
    return float(max(max(counts) for counts in most) - 1)


def _over(loads: Sequence[float], capacity: Sequence[float], part: float) -> float:
    used = [load / most for load, most in zip(loads, capacity, strict=True)]
    return max(0.0, max(used) - part)


def _over_mean(loads: Sequence[float]) -> float:
    """By the threshold itself: LeaderBytesInDistributionGoal has no margin."""
    return max(0.0, max(loads) / float(np.mean(loads)) - THRESHOLD)


def _off_counts(counts: Sequence[float]) -> float:
    mean = sum(counts) / len(counts)
    least, most = np.floor(mean * (1 - BAND)), np.ceil(mean * (1 + BAND))
    return float(max(0.0, max(counts) - most, least - min(counts)))


def _off_usage(loads: Sequence[float], capacity: Sequence[float]) -> float:
    mean = sum(loads) / sum(capacity)
    used = [load / most / mean for load, most in zip(loads, capacity, strict=True)]
    return max(0.0, max(used) - 1 - BAND, 1 - BAND - min(used))


def _off_topics(state: ClusterState) -> float:
    """Return the replicas of topics beyond what a broker may hold of each."""
    topic_of = state.partitions.topic_idx.tolist()
    held: dict[int, Counter[int]] = {}
    for topic, brokers in zip(topic_of, _lists(state), strict=True):
        held.setdefault(topic, Counter()).update(brokers)
    off = 0.0
    for counts in held.values():
        mean = sum(counts.values()) / state.num_brokers
        most = np.clip(
            np.ceil(mean * (1 + TOPIC_BAND)),
            np.ceil(mean) + LEAST_GAP,
            np.ceil(mean) + MOST_GAP,
        )
        least = max(0.0, np.floor(mean) - MOST_GAP)
        each = [counts[b] for b in range(state.num_brokers)]
        off += sum(float(max(0.0, n - most, least - n)) for n in each)
    return off
