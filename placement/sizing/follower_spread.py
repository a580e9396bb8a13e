"""
Order of followers that spreads the load of leadership after a loss.

When a broker is lost, the first follower of each of its partitions leads. The choice of
the first follower costs no copies. Partitions choose in descending order of the load of
leadership. Each takes the follower that is least full with all loads that the loss of
the leader's broker, or of its rack, has assigned to the follower so far.
"""

from dataclasses import replace

import numpy as np

from placement.array_types import IndexArray, RateArray
from placement.cluster_changes.factor_changes import chosen_replicas
from placement.model.cluster import ABSENT, ClusterState
from placement.model.load import RESOURCES, UNIT_ROW, Resource, broker_loads, weigh


def spread_successors(state: ClusterState) -> ClusterState:
    """
    Return the cluster with followers in another order; leaders and brokers stay.

    Only partitions that are led by their first replica and have at least two live
    in-sync followers change.
    """
    replicas, out = state.replicas, RESOURCES.index(Resource.OUT)
    weights = weigh(state)
    gain = weights.leader[:, out] / UNIT_ROW[out]
    leader = state.partitions.leader_idx
    load = broker_loads(state, weights, leader)[:, out] / UNIT_ROW[out]
    handed = _Handed(state, load)
    start = replicas.start.tolist()
    order = np.arange(len(replicas))
    serves = replicas.is_in_sync & state.brokers.is_live[replicas.broker_idx]
    for p in np.argsort(-gain, kind="stable").tolist():
        first, stop = start[p], start[p + 1]
        led = int(leader[p])
        if led == ABSENT or led != replicas.broker_idx[first] or stop - first < 3:
            continue
        rows = [r for r in range(first + 1, stop) if serves[r]]
        if len(rows) < 2:
            continue
        brokers = replicas.broker_idx[rows]
        chosen = rows[handed.choose(led, brokers, float(gain[p]))]
        rest = [r for r in range(first + 1, stop) if r != chosen]
        order[first:stop] = [first, chosen, *rest]
    moved = chosen_replicas(state, order, replicas.start, replicas.broker_idx[order])
    return replace(state, replicas=moved)


class _Handed:
    """Loads that the loss of each broker, and of each rack, assigns to others."""

    def __init__(self, state: ClusterState, load: RateArray) -> None:
        brokers = state.brokers
        capacity = np.nan_to_num(brokers.out_bytes_per_s, nan=0.0)
        self._unit = np.where(capacity > 0, capacity, max(float(load.max()), 1.0))
        self._load = load
        self._rack = brokers.rack_idx
        self._by_broker = np.zeros((len(brokers), len(brokers)))
        self._by_rack = np.zeros((state.num_racks, len(brokers)))

    def choose(self, leader: int, followers: IndexArray, gain: float) -> int:
        """Return the index of the follower that takes over, and add its load."""
        rack = int(self._rack[leader])
        more = np.maximum(
            self._by_broker[leader, followers], self._by_rack[rack, followers]
        )
        full = (self._load[followers] + more + gain) / self._unit[followers]
        # A follower in the leader's own rack does not survive the loss of the rack.
        full = full + np.where(np.equal(self._rack[followers], rack), 1e6, 0.0)
        at = int(full.argmin())
        self._by_broker[leader, followers[at]] += gain
        self._by_rack[rack, followers[at]] += gain
        return at
