"""
Failure domains, and the replicas of each partition in each domain.

A domain is a broker, a log dir or a rack. All failures are counted from one table. It
has a row for each partition and domain with replicas of the partition, which counts the
replicas lost with the domain. ``N`` domains, ``I`` rows of that table.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np

from placement.array_types import BoolArray, CountArray, IndexArray
from placement.failures.controller_decision import is_usable
from placement.model.cluster import ABSENT, ClusterState, LogDirState, sum_rows


class DomainKind(StrEnum):
    """Kind of failure domain."""

    BROKER = "broker"
    LOG_DIR = "log_dir"
    RACK = "rack"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Domains:
    """
    Domains of one kind that serve now.

    Parameters
    ----------
    kind
        Kind of the domains.
    row
        ``(N,)`` row of the broker, log dir or rack.
    of_replica
        ``(R,)`` domain of each replica that serves, else `ABSENT`.
    of_broker
        ``(B,)`` domain whose loss takes down the whole broker, else `ABSENT`.
    part_of
        ``(N,)`` row of the broker that survives the loss of the domain with fewer log
        dirs; `ABSENT` where whole brokers are lost.
    """

    kind: DomainKind
    row: IndexArray
    of_replica: IndexArray
    of_broker: IndexArray
    part_of: IndexArray

    def __len__(self) -> int:
        return len(self.row)

    def name(self, state: ClusterState, domain: int) -> str:
        """Return the name of a domain in Kafka's terms."""
        row = int(self.row[domain])
        if self.kind is DomainKind.RACK:
            return str(state.brokers.racks[row])
        if self.kind is DomainKind.BROKER:
            return str(int(state.brokers.ids[row]))
        broker = state.brokers.ids[state.log_dirs.broker_idx[row]]
        return f"{int(broker)}:{state.log_dirs.paths[row]}"


def domains_of(state: ClusterState, kind: DomainKind) -> Domains:
    """
    Return the domains of a kind.

    Brokers that are not live and offline log dirs are lost already, and in no domain.
    Brokers of an unknown rack are in no rack domain. The loss of a broker's only
    serving log dir takes down the broker, as Kafka stops without a log dir.
    """
    is_live = state.brokers.is_live
    if kind is DomainKind.LOG_DIR:
        return _log_dirs(state)
    if kind is DomainKind.BROKER:
        group = np.arange(state.num_brokers, dtype=np.int32)
    else:
        is_named = np.array([rack is not None for rack in state.brokers.racks], bool)
        rack = state.brokers.rack_idx
        group = np.where(is_named[rack], rack, ABSENT).astype(np.int32)
    group = np.where(is_live, group, ABSENT)
    rows = np.unique(group[group != ABSENT]).astype(np.int32)
    of_broker = _numbered(rows, group)
    served = np.where(is_usable(state), of_broker[state.replicas.broker_idx], ABSENT)
    return Domains(
        kind=kind,
        row=rows,
        of_replica=served.astype(np.int32),
        of_broker=of_broker,
        part_of=np.full(len(rows), ABSENT, dtype=np.int32),
    )


def _log_dirs(state: ClusterState) -> Domains:
    dirs, replicas = state.log_dirs, state.replicas
    serves = np.not_equal(dirs.state, LogDirState.OFFLINE)
    serves &= state.brokers.is_live[dirs.broker_idx]
    rows = np.nonzero(serves)[0].astype(np.int32)
    count = np.bincount(dirs.broker_idx[rows], minlength=state.num_brokers)
    only = np.full(state.num_brokers, ABSENT, dtype=np.int32)
    alone = np.equal(count[dirs.broker_idx[rows]], 1)
    only[dirs.broker_idx[rows[alone]]] = np.nonzero(alone)[0]
    number = np.append(_numbered(rows, np.arange(len(dirs), dtype=np.int32)), ABSENT)
    lies = number[replicas.log_dir_idx]
    # A replica in an unknown log dir is in the only serving one, if there is one.
    lies = np.where(lies == ABSENT, only[replicas.broker_idx], lies)
    of_replica = np.where(is_usable(state), lies, ABSENT).astype(np.int32)
    return Domains(
        kind=DomainKind.LOG_DIR,
        row=rows,
        of_replica=of_replica,
        of_broker=only,
        part_of=np.where(alone, ABSENT, dirs.broker_idx[rows]).astype(np.int32),
    )


def _numbered(rows: IndexArray, of: IndexArray) -> IndexArray:
    """Return the position of each value in `rows`, `ABSENT` where not found."""
    if not len(rows):
        return np.full(len(of), ABSENT, dtype=np.int32)
    spot = np.minimum(np.searchsorted(rows, of), len(rows) - 1)
    return np.where(np.equal(rows[spot], of), spot, ABSENT).astype(np.int32)


@dataclass(frozen=True, eq=False, kw_only=True)
class Incidence:
    """
    Counts of the replicas of each partition lost with each domain.

    Parameters
    ----------
    num_domains
        Number of domains, ``N``.
    partition_idx, domain
        ``(I,)`` partition row and domain, ascending by partition, then domain.
    serving, in_sync, electable
        ``(I,)`` number of lost replicas that serve, that are in sync, that may lead.
    fetching
        ``(I,)`` number of lost replicas that serve and are not being added: leaders,
        and the followers that the out load of a leader counts.
    num_serving, num_in_sync, num_electable
        ``(P,)`` number of such replicas of each partition in all.
    min_isr
        ``(P,)`` min.insync.replicas.
    factor
        ``(P,)`` replication factors.
    is_led
        ``(P,)`` true for partitions with a leader now.
    """

    num_domains: int
    partition_idx: CountArray
    domain: CountArray
    serving: CountArray
    fetching: CountArray
    in_sync: CountArray
    electable: CountArray
    num_serving: CountArray
    num_in_sync: CountArray
    num_electable: CountArray
    min_isr: IndexArray
    factor: CountArray
    is_led: BoolArray

    @cached_property
    def bounds(self) -> CountArray:
        """``(P + 1,)`` first row of each partition."""
        counts = np.bincount(self.partition_idx, minlength=len(self.factor))
        bounds = np.zeros(len(counts) + 1, dtype=np.int64)
        np.cumsum(counts, out=bounds[1:])
        return bounds

    @cached_property
    def neighbours(self) -> tuple[CountArray, CountArray]:
        """``(X,)`` and ``(X,)``: all pairs of rows of one partition, lower first."""
        stop = self.bounds[self.partition_idx + 1]
        first, found = np.arange(len(stop), dtype=np.int64), []
        distance = 1
        while len(first):
            first = first[first + distance < stop[first]]
            found.append((first, first + distance))
            distance += 1
        low, high = zip(*found, strict=True) if found else ((first,), (first,))
        return np.concatenate(low), np.concatenate(high)


def incidence_of(state: ClusterState, domains: Domains) -> Incidence:
    """Count the replicas of each partition in each domain."""
    replicas, start = state.replicas, state.replicas.start
    usable = is_usable(state)
    in_sync = usable & replicas.is_in_sync
    # Kafka elects eligible replicas once the ISR is empty.
    electable = in_sync | (usable & replicas.is_eligible)
    rows = np.nonzero(domains.of_replica != ABSENT)[0]
    width = max(len(domains), 1)
    key = replicas.partition_idx[rows].astype(np.int64) * width
    key += domains.of_replica[rows]
    keys, at = np.unique(key, return_inverse=True)

    def lost(flags: BoolArray) -> CountArray:
        return np.bincount(at[flags[rows]], minlength=len(keys))

    return Incidence(
        num_domains=len(domains),
        partition_idx=keys // width,
        domain=keys % width,
        serving=np.bincount(at, minlength=len(keys)),
        fetching=lost(~replicas.is_adding),
        in_sync=lost(in_sync),
        electable=lost(electable),
        num_serving=sum_rows(usable, start),
        num_in_sync=sum_rows(in_sync, start),
        num_electable=sum_rows(electable, start),
        min_isr=state.min_isr,
        factor=state.replication_factor,
        is_led=np.not_equal(state.partitions.leader_idx, ABSENT),
    )
