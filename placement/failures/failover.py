"""
Leaders after a failure.

The first surviving electable replica of a partition succeeds a lost leader; after two
failures, the first one that survives both.
"""

from dataclasses import dataclass

import numpy as np

from placement.array_types import BoolArray, IndexArray, RowArray
from placement.failures.controller_decision import is_usable
from placement.failures.failure_domains import Domains
from placement.failures.serving_loads import OUT, leading_rows
from placement.model.cluster import ABSENT, ClusterState
from placement.model.load import RESOURCES, Resource, first_true

LED = (Resource.OUT, Resource.CPU, Resource.LEADERS)
"""Resources that go with leadership."""
LED_COLUMNS = tuple(RESOURCES.index(resource) for resource in LED)
CARRIED_COLUMNS = (*LED_COLUMNS, OUT)
"""
Columns of survivors' loads: `LED` during the loss, then out load on return.

During the loss, lost followers fetch nothing. Once these are back, or rebuilt on other
brokers, all followers fetch again.
"""
ON_RETURN = len(LED)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Successors:
    """
    Successors of leaders whose domain may fail.

    Parameters
    ----------
    partition_idx
        ``(L,)`` rows of the partitions led from a domain.
    domain
        ``(L,)`` domain of each leader.
    leader_idx
        ``(L,)`` row of the current leader's broker.
    next_idx, next_domain
        ``(L,)`` row of the broker that leads after the loss of that domain, and the
        domain of the broker; `ABSENT` where no replica may lead.
    last_idx
        ``(L,)`` row of the broker that leads after the loss of both domains, or
        `ABSENT`.
    """

    partition_idx: RowArray
    domain: IndexArray
    leader_idx: IndexArray
    next_idx: IndexArray
    next_domain: IndexArray
    last_idx: IndexArray


def successors_of(state: ClusterState, domains: Domains) -> Successors:
    """Return the successors of every leader in a domain."""
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
    """Return the first surviving in-sync replica, else the first eligible one."""
    replicas = state.replicas
    in_sync = first_true(survives & replicas.is_in_sync, replicas.start)
    eligible = first_true(survives & replicas.is_eligible, replicas.start)
    return np.where(in_sync == ABSENT, eligible, in_sync)
