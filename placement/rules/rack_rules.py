"""Rules about racks besides the rack spread, and where the spread is suspended."""

from dataclasses import dataclass

import numpy as np

from placement.array_types import BoolArray, IntArray
from placement.core.bounds.shortfalls import MAX_SHORTFALLS
from placement.core.model.problem import Movability
from placement.core.model.solution import Shortfall
from placement.draft.draft import Draft, Note
from placement.draft.rule_tables import MOST_CELLS, Eligibility
from placement.model.cluster import ABSENT, ClusterState
from placement.model.load import first_true
from placement.model.rack_violations import (
    Crowding,
    crowding,
    rack_broken,
    replicas_in_racks,
)
from placement.model.targets import rack_limit
from placement.rules.descriptor import RuleDescriptor, RuleOption
from placement.rules.pinning import keep_still


@dataclass(frozen=True, slots=True)
class WithinRack:
    """
    Replicas stay in their racks: each partition has as many per rack as before.

    If a partition has more replicas in one of its racks than in another, only replicas
    that must leave their broker move, and only inside their rack, because the core
    could exchange one rack for the other. If it could do so even then, no rack is open
    to the partition. Additional copies of a longer list may enter any rack, as the rack
    rule requires.

    If the rule is soft and relaxed, the rack rule applies to the chosen partitions
    instead.
    """

    name: str = "locality-scoped"

    def fill(self, draft: Draft) -> None:
        """Restrict each partition to its racks, with as many replicas each as now."""
        state = draft.state
        far = _let_go(draft)
        _say_what_stays_uneven(draft, far)
        counts = _replicas_per_rack(state)
        most = counts.max(axis=1, initial=0)
        is_even = np.equal(np.where(counts > 0, counts, most[:, None]), most[:, None])
        is_uneven = ~is_even.all(axis=1) & ~far
        keep_still(draft, is_uneven[state.replicas.partition_idx])
        must = (
            _replicas_per_rack(state, np.equal(draft.movability, Movability.MUST)) > 0
        )
        could_trade = (must.sum(axis=1) > 1) & (must & ~is_even).any(axis=1)
        must[could_trade] = False
        own = np.where(is_uneven[:, None], must, counts > 0)
        if draft.is_unplaced is not None:
            grows = first_true(draft.is_unplaced, state.replicas.start) != ABSENT
            keep_still(draft, grows[state.replicas.partition_idx])
            own[grows] = True
            in_rack = np.bincount(
                state.brokers.rack_idx[draft.holds], minlength=state.num_racks
            )
            limit = rack_limit(state.replication_factor, in_rack)
            if draft.settings.is_rack_strict:
                limit = np.minimum(limit, 1)
            most = np.where(grows, limit, most)
        own[far] = True
        held, partition_class = np.unique(own, axis=0, return_inverse=True)
        if held.shape[0] * state.num_brokers > MOST_CELLS:
            keep_still(draft, np.equal(draft.movability, Movability.MAY))
            message = "there are too many racks to move within them: nothing moves"
            draft.note(Note(what="left-alone", message=message))
            return
        allowed = held[:, state.brokers.rack_idx]
        draft.eligibility.append(Eligibility(partition_class.reshape(-1), allowed))
        draft.rack_cap = np.where(far, 0, most).astype(np.int64)


def _let_go(draft: Draft) -> BoolArray:
    """
    Return ``(P,)`` partitions that may change racks because the rule is relaxed.

    Only the replicas of these that must move, or that the relaxation names, may move.
    """
    eased = draft.settings.eased
    if eased is None or eased.far is None:
        return np.zeros(draft.state.num_partitions, dtype=np.bool_)
    stays = eased.far[draft.state.replicas.partition_idx]
    if eased.movers is not None:
        stays &= ~eased.movers
    keep_still(draft, stays)
    return eased.far


def rack_changes(before: ClusterState, after: ClusterState) -> IntArray:
    """Return ``(P,)`` replicas of each partition that changed their rack."""
    gained = _replicas_per_rack(after) - _replicas_per_rack(before)
    lost, won = np.maximum(-gained, 0).sum(axis=1), np.maximum(gained, 0).sum(axis=1)
    found: IntArray = np.minimum(lost, won).astype(np.int64)
    return found


def _say_what_stays_uneven(draft: Draft, far: BoolArray) -> None:
    """
    Report movable partitions that break the rack rule inside their racks.

    If the settings require at most one replica per rack, each is a proven shortfall.
    """
    state, settings = draft.state, draft.settings
    if "rack" in settings.lifted:
        return
    may = np.equal(draft.movability, Movability.MAY) & draft.is_there
    concerned = first_true(may, state.replicas.start) != ABSENT
    is_strict = settings.is_rack_strict and "rack" not in settings.soft
    broken = rack_broken(state, state.brokers.is_live)
    most = _replicas_per_rack(state).max(axis=1, initial=0)
    is_crowded = broken | (settings.is_rack_strict & (most > 1))
    stays = np.nonzero(concerned & is_crowded & ~far)[0]
    if len(stays):
        draft.note(
            Note(
                what="left-alone",
                message=f"{len(stays):,} partitions lie unevenly over racks, such as "
                f"{state.name_of(stays[0])}, and no replica may change its rack",
                have=float(len(stays)),
            )
        )
    if is_strict:
        draft.shortfalls += crowded(draft, stays)


def may_leave_racks(draft: Draft) -> BoolArray:
    """Return ``(P,)`` partitions whose replicas may change racks."""
    settings, count = draft.settings, draft.state.num_partitions
    if not any(isinstance(rule, WithinRack) for rule in settings.rules):
        return np.ones(count, dtype=np.bool_)
    if settings.eased is None or settings.eased.far is None:
        return np.zeros(count, dtype=np.bool_)
    return settings.eased.far


def crowded(draft: Draft, partitions: IntArray) -> list[Shortfall]:
    """Return shortfalls of partitions that share racks and cannot leave them."""
    return [_crowded(draft, p) for p in partitions[:MAX_SHORTFALLS].tolist()]


def _crowded(draft: Draft, p: int) -> Shortfall:
    state = draft.state
    start, stop = state.replicas.start[p : p + 2].tolist()
    racks = state.brokers.rack_idx[state.replicas.broker_idx[start:stop]]
    have = len(np.unique(racks))
    return Shortfall(
        what="spread",
        have=have,
        need=stop - start,
        group=p,
        level="rack",
        is_proven=True,
        message=f"{state.name_of(p)} has {stop - start} replicas in {have} racks, and "
        "no replica may change its rack",
    )


def _replicas_per_rack(
    state: ClusterState, chosen: BoolArray | slice = slice(None)
) -> np.ndarray[tuple[int, ...], np.dtype[np.int32]]:
    """Return ``(P, racks)`` replicas of each partition, counting `chosen` ones only."""
    counts = np.zeros((state.num_partitions, state.num_racks), dtype=np.int32)
    rack = state.brokers.rack_idx[state.replicas.broker_idx[chosen]]
    np.add.at(counts, (state.replicas.partition_idx[chosen], rack), 1)
    return counts


NO_RACK = 2**31 - 1
"""Number above the replicas of any rack."""


@dataclass(frozen=True, slots=True)
class RacksAsBefore:
    """
    Suspend the rack rule for partitions where only fixed replicas break it.

    The rule does not apply to *fixed* partitions, of which no replica may move, if they
    are no worse than before. Nor does it apply to partitions with one moving replica
    whose others break the rule among themselves, unless the operation repairs racks:
    this replica goes to a rack that holds the fewest of them, so that the violation
    does not grow.
    """

    name: str = "racks-as-before"

    def fill(self, draft: Draft) -> None:
        """Mark these partitions, and restrict the racks of their moving replicas."""
        if "rack" in draft.settings.lifted:
            return
        moving = np.not_equal(draft.movability, Movability.NEVER)
        num_moving = np.bincount(
            draft.state.replicas.partition_idx[moving],
            minlength=draft.state.num_partitions,
        )
        is_free = ~draft.is_left_alone
        if draft.rack_cap is not None:
            is_free &= draft.rack_cap <= 0
        _let_fixed_go(draft, is_free & (num_moving == 0))
        if not draft.repairs_racks:
            _let_one_mover_go(draft, is_free & (num_moving == 1), moving)


def _let_fixed_go(draft: Draft, fixed: BoolArray) -> None:
    """Mark fixed partitions that break the rule no more than before."""
    rows = _sharing(draft, fixed, np.ones(len(draft.movability), dtype=np.bool_))
    if not len(rows):
        return
    now = _crowding(draft, draft.state, rows)
    was = now
    if draft.decided is not None:
        was = _crowding(draft, draft.decided.before, rows)
    _mark(draft, rows[now.is_broken & ~now.is_worse_than(was)])


def _let_one_mover_go(draft: Draft, chosen: BoolArray, moving: BoolArray) -> None:
    """Mark partitions with one moving replica whose fixed replicas break the rule."""
    rows = _sharing(draft, chosen, ~moving)
    brokers = draft.state.brokers
    if not len(rows) or len(rows) * max(draft.state.num_racks, 1) > MOST_CELLS:
        return
    before = draft.state if draft.decided is None else draft.decided.before
    stays = replicas_in_racks(draft.state, rows, ~moving)
    in_rack = np.bincount(
        brokers.rack_idx[draft.holds], minlength=draft.state.num_racks
    )
    used = replicas_in_racks(
        draft.state, rows, ~moving & draft.holds[draft.state.replicas.broker_idx]
    )
    opened = np.where(used < in_rack, stays, NO_RACK)
    least = opened.min(axis=1, initial=NO_RACK)
    best = np.argmin(opened, axis=1)
    after = stays.copy()
    after[np.arange(len(rows)), best] += 1
    used[np.arange(len(rows)), best] += 1
    limit = _limits(draft, draft.state.num_replicas[rows], in_rack)
    now = Crowding.of(after, used, in_rack, limit, is_even=_is_even(draft))
    is_let_go = now.is_broken & (least < NO_RACK)
    is_let_go &= ~now.is_worse_than(_crowding(draft, before, rows))
    _mark(draft, rows[is_let_go])
    allowed = np.equal(opened, least[:, None])[is_let_go]
    _allow(draft, rows[is_let_go], allowed)


def _sharing(draft: Draft, chosen: BoolArray, counted: BoolArray) -> IntArray:
    """Return the chosen partitions with two counted replicas in one rack."""
    replicas, racks = draft.state.replicas, draft.state.brokers.rack_idx
    rows = np.nonzero(counted & chosen[replicas.partition_idx])[0]
    key = replicas.partition_idx[rows].astype(np.int64) * max(draft.state.num_racks, 1)
    key = np.sort(key + racks[replicas.broker_idx[rows]])
    twice = key[1:][np.equal(key[1:], key[:-1])]
    found: IntArray = np.unique(twice // max(draft.state.num_racks, 1))
    return found


def _is_even(draft: Draft) -> bool:
    return not draft.settings.is_rack_strict


def _crowding(draft: Draft, state: ClusterState, rows: IntArray) -> Crowding:
    return crowding(state, draft.holds, rows, is_strict=draft.settings.is_rack_strict)


def _limits(draft: Draft, factor: IntArray, in_rack: IntArray) -> IntArray:
    limit = rack_limit(factor, in_rack)
    return np.minimum(limit, 1) if draft.settings.is_rack_strict else limit


def _mark(draft: Draft, rows: IntArray) -> None:
    if not len(rows):
        return
    if draft.racks_as_before is None:
        draft.racks_as_before = np.zeros(draft.state.num_partitions, dtype=np.bool_)
    draft.racks_as_before[rows] = True


def _allow(draft: Draft, rows: IntArray, allowed: BoolArray) -> None:
    """Restrict the replicas of some partitions to some racks."""
    if not len(rows):
        return
    kinds, kind = np.unique(allowed, axis=0, return_inverse=True)
    partition_class = np.zeros(draft.state.num_partitions, dtype=np.int64)
    partition_class[rows] = 1 + kind.reshape(-1)
    everywhere = np.ones((1, draft.state.num_brokers), dtype=np.bool_)
    in_racks = kinds[:, draft.state.brokers.rack_idx]
    table = np.concatenate([everywhere, in_racks])
    draft.eligibility.append(Eligibility(partition_class, table, name="rack"))


RULES = (
    RuleDescriptor(
        name="locality-scoped",
        text="replicas stay in their racks",
        may_be_soft=True,
        rank=45,
        lift_rank=39,
        option=RuleOption("switch", "Replicas stay in their racks."),
        make=lambda _: [WithinRack()],
    ),
)
