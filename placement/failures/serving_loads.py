"""
Loads of brokers while some replicas are offline.

A leader sends the bytes that producers write to each of its followers. An offline
follower fetches nothing, so the out load of its leader is below the value of
`placement.model.load`, which counts every follower. The follower counts again once it
is back, or rebuilt elsewhere.
"""

from dataclasses import dataclass, replace

import numpy as np

from placement.array_types import CountArray, IndexArray
from placement.model.cluster import ABSENT, ClusterState, sum_rows
from placement.model.load import (
    RESOURCES,
    Resource,
    WeightArray,
    Weights,
    add_to,
    first_true,
)

IN, OUT, CPU = (RESOURCES.index(r) for r in (Resource.IN, Resource.OUT, Resource.CPU))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Fetches:
    """
    Out load of each leader, by the number of its offline followers.

    Parameters
    ----------
    full
        ``(P,)`` out load of the leader with every follower fetching.
    each
        ``(P,)`` load that one follower fetches; 0 where the out load is unknown.
    followers
        ``(P,)`` number of followers in ``full``.
    offline
        ``(P,)`` number of replicas offline now, without those being added.
    """

    full: WeightArray
    each: WeightArray
    followers: CountArray
    offline: CountArray

    def out(self, p: CountArray, lost: CountArray | int = 0) -> WeightArray:
        """Return the out load of leaders of partitions `p` with `lost` more offline."""
        gone = np.minimum(self.offline[p] + lost, self.followers[p])
        served: WeightArray = np.maximum(self.full[p] - gone * self.each[p], 0)
        return served


def fetches_of(state: ClusterState, weights: Weights) -> Fetches:
    """Return the loads that followers fetch, and the number of offline followers."""
    is_counted = state.is_offline & ~state.replicas.is_adding
    return Fetches(
        full=weights.leader[:, OUT],
        each=np.where(weights.is_known[:, OUT], weights.replica[:, IN], 0),
        followers=np.maximum(state.replication_factor - 1, 0),
        offline=sum_rows(is_counted, state.replicas.start),
    )


def serving_weights(state: ClusterState, weights: Weights) -> Weights:
    """Return the weights with the out load of leaders for online followers only."""
    leader = weights.leader.copy()
    leader[:, OUT] = fetches_of(state, weights).out(np.arange(state.num_partitions))
    return replace(weights, leader=leader)


def leading_rows(state: ClusterState) -> CountArray:
    """Return ``(P,)`` row of the replica that leads and is not offline, or `ABSENT`."""
    replicas = state.replicas
    leader = state.partitions.leader_idx[replicas.partition_idx]
    leads = np.equal(replicas.broker_idx, leader) & ~state.is_offline
    return first_true(leads, replicas.start)


def serving_loads(
    state: ClusterState, weights: Weights, columns: tuple[int, ...]
) -> WeightArray:
    """
    Sum the loads of brokers, without offline replicas and their fetches.

    Parameters
    ----------
    state, weights
        Current cluster, and loads of its replicas with every follower fetching.
    columns
        Columns of the resources.

    Returns
    -------
    ``(B, len(columns))`` integer loads.
    """
    served = serving_weights(state, weights)
    replicas = state.replicas
    online = np.nonzero(~state.is_offline)[0]
    broker, of = replicas.broker_idx[online], replicas.partition_idx[online]
    leader: IndexArray = replicas.broker_idx_at(leading_rows(state))
    led = np.nonzero(leader != ABSENT)[0]
    load = np.zeros((state.num_brokers, len(columns)), dtype=np.int64)
    for y, r in enumerate(columns):
        if served.replica[:, r].any():
            add_to(load[:, y], broker, served.replica[of, r])
        if served.leader[:, r].any():
            add_to(load[:, y], leader[led], served.leader[led, r])
    return load
