"""Inputs of all failures of a cluster, and of all failures of one kind."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from placement.array_types import BoolArray, CountArray
from placement.failures.failover import (
    CARRIED_COLUMNS,
    LED_COLUMNS,
    ON_RETURN,
    Successors,
    successors_of,
)
from placement.failures.failure_domains import (
    DomainKind,
    Domains,
    Incidence,
    domains_of,
    incidence_of,
)
from placement.failures.load_gains import Gains, Leading, leading_of, single_gains
from placement.failures.partition_damage import single_damage
from placement.failures.serving_loads import serving_loads
from placement.failures.survivor_loads import (
    HELD_COLUMNS,
    Pools,
    Scale,
    pools_of,
    scale_of,
)
from placement.model.cluster import ABSENT, ClusterState
from placement.model.load import (
    Resource,
    WeightArray,
    Weights,
    add_to,
    broker_loads,
    weigh,
)

DEFAULT_BANDWIDTH_BYTES_PER_S = 50_000_000


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Outlook:
    """
    Inputs of all failures of a cluster.

    Parameters
    ----------
    state
        Current cluster.
    weights, load
        Loads of replicas, and ``(B, R)`` loads of brokers with the current leaders and
        all followers fetching.
    carried
        ``(B, 4)`` current load of each broker by `CARRIED_COLUMNS`. Offline followers
        fetch nothing, except in the last column.
    scale
        Units of loads, and usable fraction of each capacity.
    pools
        Racks as pools of capacity.
    bandwidth_bytes_per_s
        Bytes/s that a broker can send, and receive, to rebuild replicas.
    """

    state: ClusterState
    weights: Weights
    load: WeightArray
    carried: WeightArray
    scale: Scale
    pools: Pools
    bandwidth_bytes_per_s: float

    @property
    def is_known(self) -> BoolArray:
        """``(R,)`` true where some partition's load is known, or without partitions."""
        known = self.weights.is_known
        return np.asarray(known.any(axis=0) if len(known) else known.all(axis=0))


def outlook(
    state: ClusterState,
    *,
    thresholds: Mapping[Resource, float] | None = None,
    bandwidth_bytes_per_s: float = DEFAULT_BANDWIDTH_BYTES_PER_S,
) -> Outlook:
    """
    Compute the inputs of all failures of a cluster.

    Parameters
    ----------
    state
        Current cluster.
    thresholds
        Usable fraction of each capacity; by default no limit.
    bandwidth_bytes_per_s
        Bytes/s that a broker can send, and receive, to rebuild replicas. Positive.

    Raises
    ------
    ValueError
        If the bandwidth is not positive.
    """
    if bandwidth_bytes_per_s <= 0:
        msg = f"bandwidth must be positive, got {bandwidth_bytes_per_s} bytes/s."
        raise ValueError(msg)
    weights = weigh(state)
    load = broker_loads(state, weights, state.partitions.leader_idx)
    return Outlook(
        state=state,
        weights=weights,
        load=load,
        carried=carried_loads(state, weights, load),
        scale=scale_of(state, dict(thresholds or {})),
        pools=pools_of(state, weights),
        bandwidth_bytes_per_s=bandwidth_bytes_per_s,
    )


def carried_loads(
    state: ClusterState, weights: Weights, load: WeightArray
) -> WeightArray:
    """Return ``(B, 4)`` loads by `CARRIED_COLUMNS`, from those of `broker_loads`."""
    serving = serving_loads(state, weights, LED_COLUMNS)
    return np.column_stack([serving, load[:, CARRIED_COLUMNS[ON_RETURN]]])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Parts:
    """
    Inputs of single failures and pairs of failures of one kind.

    Parameters
    ----------
    domains
        Failure domains.
    table
        Replicas of each partition in each domain.
    successors
        Successors of lost leaders.
    leading
        Leaders by partition, and their loads.
    gains
        Changes of the survivors' loads by each loss.
    damage
        ``(N,)`` number of damaged partitions per kind of damage.
    leaders_moved
        ``(N,)`` number of partitions led by another broker after each loss.
    lost, copyable
        ``(N, 2)`` disk and in load lost with each domain, and the part of it that has a
        source to copy from, whether or not a broker is left to hold it.
    """

    domains: Domains
    table: Incidence
    successors: Successors
    leading: Leading
    gains: Gains
    damage: Mapping[str, CountArray]
    leaders_moved: CountArray
    lost: WeightArray
    copyable: WeightArray


def parts_of(given: Outlook, kind: DomainKind) -> Parts:
    """Compute the inputs of failures of one kind."""
    state = given.state
    domains = domains_of(state, kind)
    table = incidence_of(state, domains)
    successors = successors_of(state, domains)
    has_next = successors.next_idx != ABSENT
    leading = leading_of(state, successors, given.weights)
    return Parts(
        domains=domains,
        table=table,
        successors=successors,
        leading=leading,
        gains=single_gains(domains, table, leading, given.weights),
        damage=single_damage(table),
        leaders_moved=np.bincount(
            successors.domain[has_next], minlength=len(domains)
        ).astype(np.int64),
        lost=_lost(given, domains, table),
        copyable=_copyable(given, table),
    )


def _lost(given: Outlook, domains: Domains, table: Incidence) -> WeightArray:
    """Return ``(N, 2)`` disk and in load lost with each domain."""
    lost = np.zeros((len(domains), len(HELD_COLUMNS)), dtype=np.int64)
    held = given.load[:, HELD_COLUMNS]
    whole = np.nonzero(domains.of_broker != ABSENT)[0]
    np.add.at(lost, domains.of_broker[whole], held[whole])
    part = domains.part_of[table.domain] != ABSENT
    weight = given.weights.replica[:, HELD_COLUMNS][table.partition_idx[part]]
    np.add.at(lost, table.domain[part], weight * table.serving[part, None])
    return lost


def _copyable(given: Outlook, table: Incidence) -> WeightArray:
    """Return ``(N, 2)`` disk and in load of lost replicas with a source to copy."""
    rows = np.nonzero(table.electable < table.num_electable[table.partition_idx])[0]
    copyable = np.zeros((table.num_domains, len(HELD_COLUMNS)), dtype=np.int64)
    serving, p = table.serving[rows], table.partition_idx[rows]
    for y, r in enumerate(HELD_COLUMNS):
        add_to(
            copyable[:, y], table.domain[rows], serving * given.weights.replica[p, r]
        )
    return copyable
