"""What all failures of a cluster, or of one kind, are computed from."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.cluster import ABSENT, BoolArray, ClusterState
from placement.failures.damage import single_damage
from placement.failures.domains import (
    DomainKind,
    Domains,
    Incidence,
    domains_of,
    incidence_of,
)
from placement.failures.failover import (
    Gains,
    Successors,
    failover_gains,
    successors_of,
)
from placement.failures.survivors import (
    HELD_COLUMNS,
    Pools,
    Scale,
    pools_of,
    scale_of,
)
from placement.load import Resource, WeightArray, Weights, broker_loads, weigh

CountArray = npt.NDArray[np.int64]
DEFAULT_BANDWIDTH_BYTES_PER_S = 50_000_000


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Outlook:
    """
    What all failures of a cluster are computed from.

    Parameters
    ----------
    state
        The cluster now.
    weights, load
        What replicas weigh, and ``(B, R)`` the brokers carry with today's leaders.
    scale
        In what loads are told, and which fraction of a capacity may be used.
    pools
        The racks.
    bandwidth_bytes_per_s
        What a broker can send, and get, to rebuild replicas.
    """

    state: ClusterState
    weights: Weights
    load: WeightArray
    scale: Scale
    pools: Pools
    bandwidth_bytes_per_s: float

    @property
    def is_known(self) -> BoolArray:
        """``(R,)`` true where the load of some partition is known, or there is none."""
        known = self.weights.is_known
        return np.asarray(known.any(axis=0) if len(known) else known.all(axis=0))


def outlook(
    state: ClusterState,
    *,
    thresholds: Mapping[Resource, float] | None = None,
    bandwidth_bytes_per_s: float = DEFAULT_BANDWIDTH_BYTES_PER_S,
) -> Outlook:
    """
    Weigh a cluster for the failures to come.

    Parameters
    ----------
    state
        The cluster.
    thresholds
        Fraction of each capacity that may be used; none by default.
    bandwidth_bytes_per_s
        What a broker can send, and get, to rebuild replicas. Positive.

    Raises
    ------
    ValueError
        If the bandwidth is not positive.
    """
    if bandwidth_bytes_per_s <= 0:
        msg = f"bandwidth must be positive, got {bandwidth_bytes_per_s} bytes/s."
        raise ValueError(msg)
    weights = weigh(state)
    return Outlook(
        state=state,
        weights=weights,
        load=broker_loads(state, weights, state.partitions.leader_idx),
        scale=scale_of(state, dict(thresholds or {})),
        pools=pools_of(state, weights),
        bandwidth_bytes_per_s=bandwidth_bytes_per_s,
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Parts:
    """
    What single failures and pairs of one kind are put together from.

    Parameters
    ----------
    domains
        What can fail.
    table
        What of each partition is in each of them.
    successors
        Who leads next.
    gains
        What survivors of each loss gain by leading.
    damage
        Per kind of damage ``(N,)`` partitions.
    leaders_moved
        ``(N,)`` partitions led by another broker after each loss.
    lost, rebuilt
        ``(N, 2)`` disk and in that go with each domain, and that can be copied anew.
    """

    domains: Domains
    table: Incidence
    successors: Successors
    gains: Gains
    damage: Mapping[str, CountArray]
    leaders_moved: CountArray
    lost: WeightArray
    rebuilt: WeightArray


def parts_of(given: Outlook, kind: DomainKind) -> Parts:
    """Take a cluster apart for failures of one kind."""
    state = given.state
    domains = domains_of(state, kind)
    table = incidence_of(state, domains)
    successors = successors_of(state, domains)
    has_next = successors.next_idx != ABSENT
    return Parts(
        domains=domains,
        table=table,
        successors=successors,
        gains=failover_gains(state, domains, successors, given.weights),
        damage=single_damage(table),
        leaders_moved=np.bincount(
            successors.domain[has_next], minlength=len(domains)
        ).astype(np.int64),
        lost=_lost(given, domains, table),
        rebuilt=_rebuilt(given, table, successors),
    )


def _lost(given: Outlook, domains: Domains, table: Incidence) -> WeightArray:
    """Return ``(N, 2)`` disk and in that are lost with each domain."""
    lost = np.zeros((len(domains), len(HELD_COLUMNS)), dtype=np.int64)
    held = given.load[:, HELD_COLUMNS]
    whole = np.nonzero(domains.of_broker != ABSENT)[0]
    np.add.at(lost, domains.of_broker[whole], held[whole])
    part = domains.part_of[table.domain] != ABSENT
    weight = given.weights.replica[:, HELD_COLUMNS][table.partition_idx[part]]
    np.add.at(lost, table.domain[part], weight * table.serving[part, None])
    return lost


def _rebuilt(given: Outlook, table: Incidence, successors: Successors) -> WeightArray:
    """Return ``(N, 2)`` disk and in of what can be copied anew."""
    weight = given.weights.replica[:, HELD_COLUMNS]
    each = table.serving[:, None] * weight[table.partition_idx]
    # Nobody to copy from: led from there without a successor, or led by nobody at all.
    orphan = np.zeros(len(table.factor), dtype=np.bool_)
    orphan[successors.partition_idx[successors.next_idx == ABSENT]] = True
    led_from = np.full(len(table.factor), ABSENT, dtype=np.int64)
    led_from[successors.partition_idx] = successors.domain
    p = table.partition_idx
    is_lost = orphan[p] & np.equal(led_from[p], table.domain)
    each[is_lost | ~table.is_led[p]] = 0
    rebuilt = np.zeros((table.num_domains, len(HELD_COLUMNS)), dtype=np.int64)
    np.add.at(rebuilt, table.domain, each)
    return rebuilt
