"""Violations of the rack rule before a plan that cannot repair them."""

from dataclasses import dataclass

import numpy as np

from placement.array_types import BoolArray, IntArray
from placement.core.model.problem import Movability
from placement.draft.draft import Draft
from placement.draft.rule_tables import MOST_CELLS, Eligibility
from placement.model.cluster import ClusterState
from placement.model.rack_violations import Crowding, crowding, replicas_in_racks
from placement.model.targets import rack_limit

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
