"""
Which rule or goal pays for a move, and what is worse once it alone is undone.

The first reason that applies is given: another replication factor; what must leave its
broker or log dir; the rack rule, where the partition broke it; a threshold that the
source was over; a band that the source was above, or the target below (a new broker's
first). What remains is needed for the sake of other moves: undone alone it would push
a broker out of its band (`MAKES_ROOM`), or not even that (`WITH_OTHERS`).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from placement.core.model.problem import NO_LIMIT
from placement.draft.draft import Draft
from placement.explain.move_table import Moves
from placement.explain.rack_effects import RackCounts
from placement.model.cluster import BoolArray, BrokerState, IndexArray, RateArray
from placement.model.load import RESOURCES, Resource, WeightArray
from placement.model.reassignment import Reassignment
from placement.model.targets import Targets
from placement.operations.steps.evacuate import in_failed_dirs
from placement.rules.anti_affinity import APART
from placement.rules.colocation import is_gathered

NONE = -1
PART = 8192
"""Moves looked at together."""


class Reason(StrEnum):
    """Why a move is made; the first that applies."""

    NEW_FACTOR = "new-factor"
    BROKER_DEAD = "broker-dead"
    BROKER_LEAVES = "broker-leaves"
    LOG_DIR_OFFLINE = "log-dir-offline"
    BROKER_SET = "broker-set"
    TOPICS_APART = "topics-apart"
    TOPICS_TOGETHER = "topics-together"
    DEMOTED = "demoted"
    REPLICA_LEFT = "replica-left"
    RACK = "rack"
    OVER_THRESHOLD = "over-threshold"
    FILLS_NEW = "fills-new"
    OVER_BAND = "over-band"
    BELOW_BAND = "below-band"
    MAKES_ROOM = "makes-room"
    WITH_OTHERS = "with-others"


REASONS = tuple(Reason)


class Undone(IntEnum):
    """What is worse once a move alone is undone; the gravest."""

    NOTHING = 0
    NOT_EMPTY = 1
    RACK = 2
    OVER_CAPACITY = 3
    OUT_OF_BAND = 4
    OLD_FACTOR = 5
    STILL_LEADS = 6

    @property
    def word(self) -> str:
        """Its name in files."""
        return self.name.lower().replace("_", "-")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Standing:
    """
    The brokers before or after: loads, and the bands that they are held to.

    Parameters
    ----------
    load
        ``(B, R)`` loads.
    targets
        Targets and bands.
    """

    load: WeightArray
    targets: Targets

    def above(self, load: WeightArray, rows: IndexArray) -> RateArray:
        """Return ``(M, R)`` how far loads of brokers are above their bands."""
        return self._outside(load.astype(np.float64) - self.targets.upper[rows], rows)

    def below(self, load: WeightArray, rows: IndexArray) -> RateArray:
        """Return ``(M, R)`` how far loads of brokers are below their bands."""
        return self._outside(self.targets.lower[rows] - load, rows)

    @property
    def above_now(self) -> RateArray:
        """``(B, R)`` how far each broker is above its bands."""
        return self.above(self.load, np.arange(len(self.load), dtype=np.int32))

    @property
    def below_now(self) -> RateArray:
        """``(B, R)`` how far each broker is below its bands."""
        return self.below(self.load, np.arange(len(self.load), dtype=np.int32))

    def _outside(self, distance: RateArray, rows: IndexArray) -> RateArray:
        target = self.targets.target
        slack = np.where(target > 0, 1e-9 * np.maximum(target, 1.0), np.inf)
        unit = np.where(target > 0, target, 1.0)
        return np.where(distance > slack[rows], distance / unit[rows], 0.0)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Explained:
    """
    Why each move is made, a row each.

    Parameters
    ----------
    reason
        ``(M,)`` row of `REASONS`.
    resource
        ``(M,)`` column of `RESOURCES` that the reason is about, or -1.
    undone
        ``(M,)`` an `Undone`.
    undone_broker, undone_resource
        ``(M,)`` of which broker and resource, or -1.
    undone_outside
        ``(M,)`` how far out of its band, in targets, or over its capacity, as a
        fraction of it, that broker would be.
    """

    reason: WeightArray
    resource: WeightArray
    undone: WeightArray
    undone_broker: WeightArray
    undone_resource: WeightArray
    undone_outside: RateArray


@dataclass(frozen=True, slots=True, eq=False)
class _Case:
    """What is looked at for every move."""

    draft: Draft
    moves: Moves
    mends_rack: BoolArray
    breaks_rack_undone: BoolArray
    before: Standing
    after: Standing
    capacity: WeightArray
    is_balanced: BoolArray

    def part(self, rows: slice) -> Self:
        """Return the same about some of the moves."""
        return replace(
            self,
            moves=self.moves.part(rows),
            mends_rack=self.mends_rack[rows],
            breaks_rack_undone=self.breaks_rack_undone[rows],
        )

    @property
    def returned(self) -> WeightArray:
        """``(M, R)`` what the source carries again once a move is undone."""
        weight = self.moves.weight.copy()
        weight[:, 0] += self.moves.own
        return weight


def explain_moves(
    draft: Draft,
    reassignment: Reassignment,
    moves: Moves,
    *,
    before: Standing,
    after: Standing,
    capacity: WeightArray,
    balanced: tuple[Resource, ...],
) -> Explained:
    """
    Explain every move of a reassignment.

    Parameters
    ----------
    draft
        What was allowed.
    reassignment, moves
        What changes, and the same as rows.
    before, after
        How the brokers stand.
    capacity
        ``(B, R)`` hard capacities.
    balanced
        Resources whose bands count.

    Notes
    -----
    Takes time in proportion to the moves (times resources and racks).
    """
    racks = RackCounts(draft, reassignment, moves)
    case = _Case(
        draft=draft,
        moves=moves,
        mends_rack=racks.is_mended(),
        breaks_rack_undone=racks.is_broken_undone(),
        before=before,
        after=after,
        capacity=capacity,
        is_balanced=np.array([resource in balanced for resource in RESOURCES]),
    )
    undone, broker, undone_resource, outside = _by_part(case, _undo)
    reason, resource = _reasons(case)
    left = np.equal(reason, NONE)
    has_cause = left & np.not_equal(undone, Undone.NOTHING)
    reason[has_cause] = REASONS.index(Reason.MAKES_ROOM)
    resource[has_cause] = undone_resource[has_cause]
    reason[left & ~has_cause] = REASONS.index(Reason.WITH_OTHERS)
    return Explained(
        reason=reason,
        resource=resource,
        undone=undone,
        undone_broker=broker,
        undone_resource=undone_resource,
        undone_outside=outside,
    )


def _by_part(
    case: _Case, work: Callable[[_Case], tuple[npt.NDArray[Any], ...]]
) -> tuple[npt.NDArray[Any], ...]:
    """Work on a part of the moves after the other: arrays that caches hold."""
    starts = range(0, max(len(case.moves), 1), PART)
    parts = [work(case.part(slice(start, start + PART))) for start in starts]
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def _reasons(case: _Case) -> tuple[WeightArray, WeightArray]:
    """Return ``(M,)`` the first reason from before the move, and its resource."""
    reason, resource = _by_part(case, _by_bands)
    mends = case.moves.is_copy & case.mends_rack
    # What leaves no choice comes before bands, the gravest first.
    for name, applies in reversed([*_forced(case), (Reason.RACK, mends)]):
        reason[applies] = REASONS.index(name)
        resource[applies] = NONE
    return reason, resource


def _by_bands(case: _Case) -> tuple[WeightArray, WeightArray]:
    """Return ``(M,)`` the reason that loads give, and the resource it is about."""
    count = len(case.moves)
    reason, resource = np.full(count, NONE), np.full(count, NONE)
    brings = (case.moves.weight > 0) & case.is_balanced
    source, target = case.moves.source, case.moves.target
    over = _over(case.before.load, case.capacity)[source] * (case.moves.weight > 0)
    above = case.before.above_now[source] * brings
    below = case.before.below_now[target] * brings
    is_below = below.max(axis=1, initial=0.0) > 0
    for name, applies, about in (
        (Reason.BELOW_BAND, is_below, below),
        (Reason.OVER_BAND, above.max(axis=1, initial=0.0) > 0, above),
        (Reason.FILLS_NEW, is_below & case.draft.is_new[target], below),
        (Reason.OVER_THRESHOLD, over.max(axis=1, initial=0.0) > 0, over),
    ):
        reason[applies] = REASONS.index(name)
        resource[applies] = np.argmax(about[applies], axis=1)
    return reason, resource


def _forced(case: _Case) -> list[tuple[Reason, BoolArray]]:
    """Return what leaves no choice, gravest first."""
    draft, moves = case.draft, case.moves
    is_dead = np.equal(draft.state.brokers.state, BrokerState.DEAD)
    must = np.zeros(len(moves), dtype=np.bool_)
    if draft.decided is None:
        must = moves.is_copy & in_failed_dirs(draft)[moves.origin]
    leads = ~moves.is_copy & ~moves.is_drop
    return [
        (Reason.NEW_FACTOR, moves.is_resizing),
        (Reason.BROKER_DEAD, moves.is_copy & is_dead[moves.source]),
        (Reason.BROKER_LEAVES, moves.is_copy & draft.leaves[moves.source]),
        (Reason.LOG_DIR_OFFLINE, must),
        (Reason.BROKER_SET, moves.is_copy & _is_stray(case)),
        (Reason.TOPICS_APART, moves.is_copy & _is_kept_apart(case)),
        (
            Reason.TOPICS_TOGETHER,
            is_gathered(draft.state, draft.bundles)[moves.partition_idx],
        ),
        (Reason.REPLICA_LEFT, leads & ~moves.is_free),
        (Reason.DEMOTED, leads & draft.must_release[moves.source]),
    ]


def _is_stray(case: _Case) -> BoolArray:
    """Return ``(M,)`` true where a replica lies on another set than its topic's."""
    draft, moves = case.draft, case.moves
    if draft.pool_of_broker is None or draft.pool_of_partition is None:
        return np.zeros(len(moves), dtype=np.bool_)
    wanted = draft.pool_of_partition[moves.partition_idx]
    return np.not_equal(draft.pool_of_broker[moves.source], wanted)


def _is_kept_apart(case: _Case) -> BoolArray:
    """Return ``(M,)`` true where a replica lies on a broker of another side."""
    moves = case.moves
    found = np.zeros(len(moves), dtype=np.bool_)
    for table in case.draft.eligibility:
        if table.name == APART:
            row = table.partition_class[moves.partition_idx]
            found |= ~table.allowed[row, moves.source]
    return found


def _over(load: WeightArray, capacity: WeightArray) -> RateArray:
    """Return ``(M, R)`` how far loads are over capacities, as fractions of them."""
    over = np.where(capacity < NO_LIMIT, load - capacity, 0)
    return np.where(over > 0, over / np.maximum(capacity, 1), 0.0)


def _undo(case: _Case) -> tuple[WeightArray, WeightArray, WeightArray, RateArray]:
    """Return ``(M,)`` what is worse without each move, where, in what, and how far."""
    moves, after = case.moves, case.after
    count = len(moves)
    kind = np.zeros(count, dtype=np.int64)
    broker, resource = np.full(count, NONE), np.full(count, NONE)
    outside = np.zeros(count)
    again = after.load[moves.source] + case.returned
    gone = after.load[moves.target] - moves.weight
    over = _over(again, case.capacity[moves.source])
    over[(after.load > case.capacity)[moves.source]] = 0.0
    above = after.above(again, moves.source) * case.is_balanced
    below = after.below(gone, moves.target) * case.is_balanced
    above = np.maximum(above - after.above_now[moves.source], 0.0)
    below = np.maximum(below - after.below_now[moves.target], 0.0)
    if case.draft.old_may_be_low:
        below *= case.draft.is_new[moves.target][:, None]
    is_high = above.max(axis=1, initial=0.0) >= below.max(axis=1, initial=0.0)
    band = np.where(is_high[:, None], above, below)
    leaves = case.draft.leaves[moves.source] & moves.is_copy
    still_leads = case.draft.must_release[moves.source] & ~moves.is_copy
    ends = np.where(is_high, moves.source, moves.target)
    for what, applies, where, much in (
        (Undone.OUT_OF_BAND, band.max(axis=1, initial=0.0) > 0, ends, band),
        (Undone.OVER_CAPACITY, over.max(axis=1, initial=0.0) > 0, moves.source, over),
        (Undone.RACK, moves.is_copy & case.breaks_rack_undone, None, None),
        (Undone.STILL_LEADS, still_leads, moves.source, None),
        (Undone.NOT_EMPTY, leaves, moves.source, None),
    ):
        applies = applies & moves.is_free & ~moves.is_resizing  # noqa: PLW2901 - narrowed
        kind[applies] = what
        broker[applies] = NONE if where is None else where[applies]
        resource[applies] = NONE if much is None else np.argmax(much[applies], axis=1)
        outside[applies] = 0.0 if much is None else much[applies].max(axis=1)
    kind[moves.is_resizing] = Undone.OLD_FACTOR
    return kind, broker, resource, outside
