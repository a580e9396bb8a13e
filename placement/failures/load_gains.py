"""
Load that survivors gain and lose by a failure.

A surviving leader serves fewer followers, and the successor of a lost leader serves the
remaining followers. The effect of a pair of failures is the sum of both effects, plus a
correction for each partition with replicas in both domains.
"""

from dataclasses import dataclass

import numpy as np

from placement.array_types import BoolArray, IndexArray, RowArray
from placement.failures.failover import CARRIED_COLUMNS, Successors
from placement.failures.failure_domains import Domains, Incidence
from placement.failures.serving_loads import CPU, Fetches, fetches_of, leading_rows
from placement.model.cluster import ABSENT, ClusterState
from placement.model.load import WeightArray, Weights, add_to

CPU_COLUMN = CARRIED_COLUMNS.index(CPU)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Gains:
    """
    Changes of the survivors' loads, summed by failure and broker.

    Parameters
    ----------
    failure
        ``(E,)`` lost domain, or key of the pair, ascending.
    broker_idx
        ``(E,)`` row of the survivor.
    load
        ``(E, 4)`` change of the survivor's load by `CARRIED_COLUMNS`; negative where
        followers or a log dir are lost.
    sent_bytes
        ``(E,)`` bytes that the survivor sends to rebuild lost replicas; 0 for pairs.
    """

    failure: RowArray
    broker_idx: RowArray
    load: WeightArray
    sent_bytes: WeightArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Leading:
    """
    Leaders now and after the loss of their domain; columns ``(P,)``.

    Parameters
    ----------
    broker_idx, domain
        Row of the leader's broker, and its domain; `ABSENT` where there is none.
    next_idx, next_domain, last_idx
        As in `Successors`.
    fetches
        Out load of a leader, by the number of lost followers.
    weight
        ``(P, 4)`` load of a leader by `CARRIED_COLUMNS`, without a loss.
    """

    broker_idx: IndexArray
    domain: IndexArray
    next_idx: IndexArray
    next_domain: IndexArray
    last_idx: IndexArray
    fetches: Fetches
    weight: WeightArray

    def led(self, p: RowArray, lost: RowArray) -> WeightArray:
        """Return ``(X, 4)`` load of leaders of partitions `p` with followers lost."""
        found = self.weight[p]
        found[:, 0] = self.fetches.out(p, lost)
        return found


def leading_of(
    state: ClusterState, successors: Successors, weights: Weights
) -> Leading:
    """Return the leaders and successors of all partitions."""

    def spread(values: IndexArray) -> IndexArray:
        column = np.full(state.num_partitions, ABSENT, dtype=np.int32)
        column[successors.partition_idx] = values
        return column

    return Leading(
        broker_idx=state.replicas.broker_idx_at(leading_rows(state)),
        domain=spread(successors.domain),
        next_idx=spread(successors.next_idx),
        next_domain=spread(successors.next_domain),
        last_idx=spread(successors.last_idx),
        fetches=fetches_of(state, weights),
        weight=weights.leader[:, CARRIED_COLUMNS],
    )


@dataclass(slots=True)
class _Entries:
    """Load changes, collected before summation."""

    failure: list[RowArray]
    broker: list[RowArray]
    load: list[WeightArray]

    def add(self, failure: RowArray, broker: IndexArray, load: WeightArray) -> None:
        """Add load changes of brokers; changes of broker `ABSENT` are ignored."""
        is_one = np.not_equal(broker, ABSENT)
        if not is_one.all():
            failure, broker, load = failure[is_one], broker[is_one], load[is_one]
        self.failure.append(failure)
        self.broker.append(broker.astype(np.int64))
        self.load.append(load)

    def summed(self, num_brokers: int) -> tuple[RowArray, RowArray, WeightArray]:
        """Return failures, brokers and summed loads, each pair once, ascending."""
        width = max(num_brokers, 1)
        key = np.concatenate(self.failure) * width + np.concatenate(self.broker)
        keys, at = np.unique(key, return_inverse=True)
        load = np.concatenate(self.load)
        total = np.zeros((len(keys), load.shape[1]), dtype=np.int64)
        for y in range(load.shape[1]):
            if load[:, y].any():
                add_to(total[:, y], at, load[:, y])
        return keys // width, keys % width, total


def single_gains(
    domains: Domains, table: Incidence, leading: Leading, weights: Weights
) -> Gains:
    """
    Return the changes of the survivors' loads by the loss of each domain.

    Parameters
    ----------
    domains, table
        Failure domains, and the replicas of each partition in each domain.
    leading
        Leaders now and after the loss.
    weights
        Loads of replicas.

    Notes
    -----
    Every copy that rebuilds a replica is read from the leader, or from the successor
    where the leader is lost too.
    """
    p, domain = table.partition_idx, table.domain
    is_led_there = np.equal(leading.domain[p], domain)
    source = np.where(is_led_there, leading.next_idx[p], leading.broker_idx[p])
    change = np.zeros((len(p), len(CARRIED_COLUMNS) + 1), dtype=np.int64)
    change[:, 0] = leading.fetches.out(p, table.fetching)
    led, stays = np.nonzero(is_led_there)[0], np.nonzero(~is_led_there)[0]
    change[led, 1:-1] = leading.weight[p[led], 1:]
    change[stays, 0] -= leading.fetches.out(p[stays])
    change[:, -1] = table.serving * weights.copy_bytes[p]
    entries = _Entries([], [], [])
    entries.add(domain, source.astype(np.int32), change)
    if np.not_equal(domains.part_of, ABSENT).any():
        _add_log_dirs(entries, domains, table, leading, weights)
    failure, broker, load = entries.summed(len(domains.of_broker))
    return Gains(
        failure=failure,
        broker_idx=broker,
        load=np.ascontiguousarray(load[:, :-1]),
        sent_bytes=load[:, -1],
    )


def _add_log_dirs(
    entries: _Entries,
    domains: Domains,
    table: Incidence,
    leading: Leading,
    weights: Weights,
) -> None:
    """Subtract the load of a lost log dir from a broker with several log dirs."""
    p, domain = table.partition_idx, table.domain
    width = len(CARRIED_COLUMNS) + 1
    change = np.zeros((len(p), width), dtype=np.int64)
    change[:, CPU_COLUMN] = -table.serving * weights.replica[p, CPU]
    led = np.nonzero(np.equal(leading.domain[p], domain))[0]
    change[led, :-1] -= leading.led(p[led], np.zeros(len(led), dtype=np.int64))
    entries.add(domain, domains.part_of[domain], change)
    # Every such broker has an entry, even for an empty log dir.
    every = np.arange(len(domains), dtype=np.int64)
    entries.add(every, domains.part_of, np.zeros((len(every), width), dtype=np.int64))


def joint_gains(
    domains: Domains,
    table: Incidence,
    leading: Leading,
    neighbours: tuple[RowArray, RowArray],
) -> Gains:
    """
    Return the corrections of pairs of domains to the sum of both gains.

    Parameters
    ----------
    domains, table, leading
        As for `single_gains`.
    neighbours
        ``(X,)`` and ``(X,)`` rows of the table: pairs of rows of one partition, lower
        domain first.
    """
    low, high = neighbours
    key = table.domain[low] * table.num_domains + table.domain[high]
    p = table.partition_idx[low]
    entries = _Entries([], [], [])
    entries.add(key[:0], leading.domain[:0], leading.weight[:0])
    leads_low = np.equal(leading.domain[p], table.domain[low])
    leads_high = np.equal(leading.domain[p], table.domain[high])
    lost = table.fetching
    _add_elsewhere(
        entries, key, (low, high), ~leads_low & ~leads_high, (table, leading)
    )
    for chosen, led, other in ((leads_low, low, high), (leads_high, high, low)):
        rows = np.nonzero(chosen)[0]
        of, one, two = p[rows], lost[led[rows]], lost[other[rows]]
        takes_next = np.equal(leading.next_domain[of], table.domain[other[rows]])
        alone, both = leading.led(of, one), leading.led(of, one + two)
        # The next leader has fewer followers, or is lost and the last one leads.
        entries.add(
            key[rows],
            leading.next_idx[of],
            np.where(takes_next[:, None], -alone, both - alone),
        )
        last = np.where(takes_next, leading.last_idx[of], ABSENT)
        entries.add(key[rows], last, both)
        # A broker that lost the leader's log dir serves no followers any more.
        goes_on = np.not_equal(domains.part_of[table.domain[led[rows]]], ABSENT)
        less = leading.led(of, two) - leading.led(of, np.zeros_like(two))
        entries.add(key[rows], np.where(goes_on, leading.broker_idx[of], ABSENT), -less)
    failure, broker, load = entries.summed(len(domains.of_broker))
    nothing = np.zeros(len(failure), dtype=np.int64)
    return Gains(failure=failure, broker_idx=broker, load=load, sent_bytes=nothing)


def _add_elsewhere(
    entries: _Entries,
    key: RowArray,
    neighbours: tuple[RowArray, RowArray],
    is_elsewhere: BoolArray,
    given: tuple[Incidence, Leading],
) -> None:
    """Add corrections for leaders outside both domains, where losses do not add up."""
    table, leading = given
    low, high = (rows[is_elsewhere] for rows in neighbours)
    p, out = table.partition_idx[low], leading.fetches.out
    one, two = table.fetching[low], table.fetching[high]
    differs = out(p, one + two) + out(p) - out(p, one) - out(p, two)
    rows = np.nonzero(differs)[0]
    change = np.zeros((len(rows), len(CARRIED_COLUMNS)), dtype=np.int64)
    change[:, 0] = differs[rows]
    entries.add(key[is_elsewhere][rows], leading.broker_idx[p[rows]], change)
