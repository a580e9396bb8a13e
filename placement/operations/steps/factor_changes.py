"""Changes of replication factors: the copies to drop, and the number to add."""

from dataclasses import dataclass, replace

import numpy as np

from placement.array_types import BoolArray, IndexArray, RowArray
from placement.core.model.problem import Limits
from placement.core.model.solution import Shortfall
from placement.draft.draft import Draft
from placement.model.cluster import ABSENT, ClusterState
from placement.model.load import (
    Weights,
    broker_loads,
    first_true,
    preferred_leaders,
    weigh,
)
from placement.model.reassignment import Reassignment, unchanged
from placement.operations.steps.load_options import Worth
from placement.operations.steps.multiple_choice import limits_of
from placement.operations.steps.replica_drops import ReplicaDrops, can_lead
from placement.operations.steps.shorter_lists import ShorterLists
from placement.rules.hard_levels import hard_capacities

MOST_CHOICES = 3
"""Number of times that a small cluster chooses, each time by the bands of before."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Resized:
    """
    Replica lists with other replication factors.

    Parameters
    ----------
    lists
        Lists of all partitions.
    is_unplaced
        ``(M,)`` true for places in the lists whose copies still need a broker.
    shortfalls
        Partitions that do not get the factor wanted.
    """

    lists: Reassignment
    is_unplaced: BoolArray
    shortfalls: tuple[Shortfall, ...]


def resize(draft: Draft, wanted: RowArray) -> Resized:
    """
    Drop copies where fewer are wanted; add unplaced copies where more are wanted.

    Parameters
    ----------
    draft
        The cluster, the brokers that stay and the brokers that may lead.
    wanted
        ``(P,)`` replication factors; the present one where nothing changes.
    """
    state = draft.state
    now = state.num_replicas
    dropping = ReplicaDrops(draft, np.maximum(now - wanted, 0))
    kept = _without_surplus(draft, dropping, wanted)
    while (too_much := _led_beyond_capacity(draft, kept)).any():
        kept = _in_order(draft, dropping.restore(too_much))
    lists = _filled(kept, wanted - now)
    short = wanted - np.diff(lists.start)
    return Resized(
        lists=lists,
        is_unplaced=np.equal(lists.origin, ABSENT),
        shortfalls=(
            *dropping.shortfalls(),
            *_too_few_brokers(draft, wanted, short),
        ),
    )


def _without_surplus(
    draft: Draft, dropping: ReplicaDrops, wanted: RowArray
) -> Reassignment:
    """
    Return the lists without the replicas to drop.

    Bands are as wide as the heaviest replica of a broker, and so depend on what is
    dropped: a small cluster chooses again by the bands of its choice, until it stays,
    and keeps the choice that is nearest to its own bands.
    """
    more = wanted - draft.state.num_replicas
    lists = unchanged(draft.state).without(_last_ones(draft.state, -more))
    bands = _bands_of(draft, _filled(lists, more))
    found: list[tuple[Worth, ShorterLists]] = []
    for _ in range(MOST_CHOICES):
        lists = _in_order(draft, dropping.run(*bands))
        if not dropping.is_exact:
            return lists
        bands = _bands_of(draft, _filled(lists, more))
        found.append((dropping.worth(*bands), dropping.lists))
        if not found[-1][0].largest or found[-1][0] in [one for one, _ in found[:-1]]:
            break
    dropping.lists = min(found, key=lambda one: one[0])[1]
    return _in_order(draft, dropping.dropped)


def _bands_of(draft: Draft, lists: Reassignment) -> tuple[Limits, Weights]:
    """Return the bands and the weights of replicas with other lists."""
    after = lists.after()
    same = replace(draft, state=after, weights=weigh(after))
    limits = limits_of(same)
    draft.notes = same.notes
    return limits, same.weights


def _last_ones(state: ClusterState, count: RowArray) -> BoolArray:
    """Return ``(R,)`` true for so many replicas at the end of each list."""
    first = state.replicas.start[1:] - np.maximum(count, 0)
    rows = np.arange(len(state.replicas))
    last: BoolArray = rows >= first[state.replicas.partition_idx]
    return last


def _filled(lists: Reassignment, more: RowArray) -> Reassignment:
    """Return lists with so many more copies, on placeholder brokers."""
    return lists.grown(*_missing(lists, np.maximum(more, 0)))


def _missing(lists: Reassignment, count: RowArray) -> tuple[RowArray, IndexArray]:
    """
    Return partitions and placeholder brokers of missing copies, by partition.

    The placeholders are the first brokers that a list does not name. A list that names
    all brokers gets no more.
    """
    num_brokers = lists.before.num_brokers
    of, brokers = lists.partition_idx.astype(np.int64), lists.broker_idx
    room = num_brokers - np.diff(lists.start)
    count = np.minimum(count, room)
    found_of, found = [], []
    for step in range(int(count.max(initial=0))):
        chosen = np.nonzero(count > step)[0]
        first = _first_free(of, brokers, len(count))[chosen]
        found_of.append(chosen)
        found.append(first)
        of = np.concatenate([of, chosen])
        brokers = np.concatenate([brokers, first]).astype(np.int32)
    none = np.zeros(0, dtype=np.int64)
    return np.concatenate([none, *found_of]), np.concatenate(
        [none.astype(np.int32), *found]
    ).astype(np.int32)


def _first_free(of: RowArray, brokers: IndexArray, count: int) -> IndexArray:
    """Return ``(P,)`` the first broker that each partition does not name."""
    order = np.lexsort((brokers, of))
    start = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(of, minlength=count), out=start[1:])
    # In sorted order, the first broker that differs from its rank marks the gap.
    rank = np.arange(len(of)) - start[of[order]]
    gap = first_true(np.not_equal(brokers[order], rank), start)
    free = np.where(gap == ABSENT, np.diff(start), gap - start[:-1])
    return free.astype(np.int32)


def _too_few_brokers(
    draft: Draft, wanted: RowArray, short: RowArray
) -> list[Shortfall]:
    live = int(draft.state.brokers.is_live.sum())
    return [
        Shortfall(
            what="bins",
            have=live,
            need=int(wanted[p]),
            group=int(p),
            level="broker",
            is_proven=True,
        )
        for p in np.nonzero(short > 0)[0]
    ]


def _led_beyond_capacity(draft: Draft, kept: Reassignment) -> BoolArray:
    """Return ``(P,)`` true where the new leader exceeds a capacity of its broker."""
    state, after = draft.state, kept.after()
    was_led, led = preferred_leaders(state), preferred_leaders(after)
    was = broker_loads(state, draft.weights, was_led)
    load = broker_loads(after, weigh(after), led)
    over = ((load > hard_capacities(draft)) & (load > was)).any(axis=1)
    changed = np.diff(kept.start) < state.num_replicas
    found: BoolArray = (
        changed & np.not_equal(led, was_led) & np.append(over, False)[led]
    )
    return found


def _in_order(draft: Draft, dropped: BoolArray) -> Reassignment:
    """Return the lists without dropped replicas, led by a replica that may lead."""
    state = draft.state
    replicas = state.replicas
    rows = np.arange(len(replicas), dtype=np.int64)
    loses = first_true(dropped, replicas.start) != ABSENT
    first = first_true(~dropped, replicas.start)
    successor = first_true(~dropped & can_lead(draft), replicas.start)
    # If no replica in sync may lead, one that has yet to catch up and may lead does.
    may_lead = draft.leads[replicas.broker_idx]
    later = first_true(~dropped & may_lead, replicas.start)
    successor = np.where(successor == ABSENT, later, successor)
    leading = np.where(loses & (successor != ABSENT), successor, first)
    # If the first live replica of a list stays, it remains the leader.
    live = state.brokers.is_live[replicas.broker_idx]
    led = first_true(live, replicas.start)
    stays = (led != ABSENT) & ~dropped[led]
    leading = np.where(stays, first, leading)
    comes_first = np.equal(rows, leading[replicas.partition_idx])
    origin = np.lexsort((rows, ~comes_first, replicas.partition_idx)).astype(np.int64)
    whole = Reassignment(
        before=state, broker_idx=replicas.broker_idx[origin], origin=origin
    )
    return whole.without(dropped[origin])
