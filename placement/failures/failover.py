"""
Who leads after a failure, and what that adds to the survivors.

A partition whose leader is lost is led by its first electable replica that survives;
with two failures, by the first that survives both. So each partition adds to one
survivor per failure of its leader's domain, and one correction per pair: where the
second failure takes the successor too, the one after it.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.cluster import ABSENT, BoolArray, ClusterState, IndexArray
from placement.failures.decision import is_usable
from placement.failures.domains import Domains, Incidence
from placement.load import RESOURCES, Resource, Weights, first_true

RowArray = npt.NDArray[np.int64]
LED = (Resource.OUT, Resource.CPU, Resource.LEADERS)
"""
What goes with leadership.

Of `out`, what followers fetch is counted in full: those that are lost will fetch as
much, and more, when they come back or are copied anew.
"""
LED_COLUMNS = tuple(RESOURCES.index(resource) for resource in LED)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Successors:
    """
    Who leads next, for partitions whose leader's domain may fail.

    Parameters
    ----------
    partition_idx
        ``(L,)`` partitions led from a domain.
    domain
        ``(L,)`` the domain of the leader.
    leader_idx
        ``(L,)`` row of the broker that leads now.
    next_idx, next_domain
        ``(L,)`` the broker that leads once that domain is lost, and the domain it is
        in; `ABSENT` where nobody may.
    last_idx
        ``(L,)`` the broker that leads once both domains are lost, or `ABSENT`.
    """

    partition_idx: RowArray
    domain: IndexArray
    leader_idx: IndexArray
    next_idx: IndexArray
    next_domain: IndexArray
    last_idx: IndexArray


def successors_of(state: ClusterState, domains: Domains) -> Successors:
    """Find the successors of every leader."""
    replicas, start = state.replicas, state.replicas.start
    of, domain = replicas.partition_idx, domains.of_replica
    usable = is_usable(state)
    leads = np.equal(replicas.broker_idx, state.partitions.leader_idx[of]) & usable
    leading = first_true(leads, start)
    led_from = _domain_at(domain, leading)
    survives = usable & np.not_equal(domain, led_from[of])
    first = _first_electable(state, survives)
    next_domain = _domain_at(domain, first)
    in_neither = survives & np.not_equal(domain, next_domain[of])
    second = _first_electable(state, in_neither)
    chosen = np.nonzero(led_from != ABSENT)[0]
    return Successors(
        partition_idx=chosen,
        domain=led_from[chosen],
        leader_idx=state.partitions.leader_idx[chosen],
        next_idx=replicas.broker_idx_at(first[chosen]),
        next_domain=next_domain[chosen],
        last_idx=replicas.broker_idx_at(second[chosen]),
    )


def _domain_at(domain: IndexArray, rows: RowArray) -> IndexArray:
    return np.append(domain, ABSENT).astype(np.int32)[rows]


def _first_electable(state: ClusterState, survives: BoolArray) -> RowArray:
    """Return the first in-sync replica, else the first eligible one."""
    replicas = state.replicas
    in_sync = first_true(survives & replicas.is_in_sync, replicas.start)
    eligible = first_true(survives & replicas.is_eligible, replicas.start)
    return np.where(in_sync == ABSENT, eligible, in_sync)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Gains:
    """
    What the survivors gain, as entries summed by failure and broker.

    Parameters
    ----------
    failure
        ``(E,)`` the domain lost, or the key of the pair, ascending.
    broker_idx
        ``(E,)`` the survivor.
    load
        ``(E, X)`` what it gains, one column per resource; below 0 where a log dir is
        lost and its broker goes on with less.
    """

    failure: RowArray
    broker_idx: RowArray
    load: npt.NDArray[np.int64]


def _summed(
    failure: RowArray, broker: RowArray, load: npt.NDArray[np.int64], num_brokers: int
) -> Gains:
    key = failure * num_brokers + broker
    keys, at = np.unique(key, return_inverse=True)
    total = np.zeros((len(keys), load.shape[1]), dtype=np.int64)
    np.add.at(total, at, load)
    width = max(num_brokers, 1)
    return Gains(failure=keys // width, broker_idx=keys % width, load=total)


def failover_gains(
    state: ClusterState, domains: Domains, successors: Successors, weights: Weights
) -> Gains:
    """Return what each survivor gains by leading, for the loss of each domain."""
    moved = weights.leader[successors.partition_idx][:, LED_COLUMNS]
    has_next = successors.next_idx != ABSENT
    # A broker that loses one log dir of several leads no more from it.
    goes_on = domains.part_of[successors.domain] != ABSENT
    less = np.nonzero(domains.part_of != ABSENT)[0]
    nothing = np.zeros((len(less), len(LED)), dtype=np.int64)
    return _summed(
        np.concatenate([successors.domain[has_next], successors.domain[goes_on], less]),
        np.concatenate(
            [
                successors.next_idx[has_next],
                successors.leader_idx[goes_on],
                domains.part_of[less],
            ]
        ).astype(np.int64),
        np.concatenate([moved[has_next], -moved[goes_on], nothing]),
        state.num_brokers,
    )


def joint_failover_gains(
    state: ClusterState, num_domains: int, successors: Successors, weights: Weights
) -> Gains:
    """
    Return what pairs add to the gains of both halves.

    Where the successor is lost too, what it would have gained goes to the next one;
    it counts as no survivor unless its broker outlives its log dir.
    """
    moved = weights.leader[successors.partition_idx][:, LED_COLUMNS]
    is_joint = successors.next_domain != ABSENT
    low = np.minimum(successors.domain, successors.next_domain).astype(np.int64)
    high = np.maximum(successors.domain, successors.next_domain).astype(np.int64)
    key = low * num_domains + high
    has_last = is_joint & (successors.last_idx != ABSENT)
    return _summed(
        np.concatenate([key[has_last], key[is_joint]]),
        np.concatenate(
            [successors.last_idx[has_last], successors.next_idx[is_joint]]
        ).astype(np.int64),
        np.concatenate([moved[has_last], -moved[is_joint]]),
        state.num_brokers,
    )


def rebuild_sources(
    state: ClusterState,
    table: Incidence,
    successors: Successors,
    copy_bytes: npt.NDArray[np.int64],
) -> Gains:
    """
    Return the bytes that each leader sends to rebuild what each failure takes.

    Every copy is read from the leader, which is the successor where the leader is lost
    too. Partitions that nobody may lead cannot be rebuilt.
    """
    leader = state.partitions.leader_idx[table.partition_idx].astype(np.int64)
    led_from = np.full(state.num_partitions, ABSENT, dtype=np.int64)
    led_from[successors.partition_idx] = successors.domain
    next_idx = np.full(state.num_partitions, ABSENT, dtype=np.int64)
    next_idx[successors.partition_idx] = successors.next_idx
    is_led_there = np.equal(led_from[table.partition_idx], table.domain)
    source = np.where(is_led_there, next_idx[table.partition_idx], leader)
    sent = table.serving * copy_bytes[table.partition_idx]
    has_source = source != ABSENT
    return _summed(
        table.domain[has_source],
        source[has_source],
        sent[has_source, None],
        state.num_brokers,
    )
