"""
Leaders after a failure.

A partition whose leader is lost is led by its first electable replica that survives;
with two failures, by the first that survives both.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.failures.controller_decision import is_usable
from placement.failures.failure_domains import Domains
from placement.failures.serving_loads import OUT, leading_rows
from placement.model.cluster import ABSENT, BoolArray, ClusterState, IndexArray
from placement.model.load import RESOURCES, Resource, first_true

RowArray = npt.NDArray[np.int64]
LED = (Resource.OUT, Resource.CPU, Resource.LEADERS)
"""Resources that go with leadership."""
LED_COLUMNS = tuple(RESOURCES.index(resource) for resource in LED)
CARRIED_COLUMNS = (*LED_COLUMNS, OUT)
"""
Columns of what survivors carry: `LED` while what is lost is gone, then `ON_RETURN`.

While they are gone, lost followers fetch nothing. Once they are back, or rebuilt on
other brokers, all followers fetch again.
"""
ON_RETURN = len(LED)


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
    replicas = state.replicas
    of, domain = replicas.partition_idx, domains.of_replica
    usable = is_usable(state)
    leading = leading_rows(state)
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
