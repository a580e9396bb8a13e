"""
Reason of each move, and the consequence of undoing this move alone.

The first reason that applies is given: another replication factor; a replica that must
leave its broker or log dir; the rack rule, if the partition broke it; a threshold that
the source exceeded; a band that the source was above, or the target below (a new
broker's first). The remaining moves are needed for other moves: undone alone, such a
move would push a broker out of its band (`MAKES_ROOM`), or not even that
(`WITH_OTHERS`).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray, IndexArray, RateArray
from placement.core.model.problem import NO_LIMIT
from placement.draft.draft import Draft
from placement.explain.move_table import Moves
from placement.explain.rack_effects import RackCounts
from placement.model.cluster import BrokerState
from placement.model.load import RESOURCES, Resource, WeightArray
from placement.model.reassignment import Reassignment
from placement.model.targets import Targets
from placement.operations.steps.evacuate import in_failed_dirs
from placement.rules.anti_affinity import APART
from placement.rules.colocation import is_gathered

NONE = -1
PART = 8192
"""Number of moves that are processed together."""


class Reason(StrEnum):
    """Reason of a move; the first that applies."""

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


class Consequence(IntEnum):
    """The gravest consequence of undoing one move alone."""

    NOTHING = 0
    NOT_EMPTY = 1
    RACK = 2
    OVER_CAPACITY = 3
    OUT_OF_BAND = 4
    OLD_FACTOR = 5
    STILL_LEADS = 6

    @property
    def word(self) -> str:
        """Name of the consequence in files."""
        return self.name.lower().replace("_", "-")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Standing:
    """
    Loads and bands of the brokers before or after a plan.

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
        """Return ``(M, R)`` distance of loads above the brokers' bands, in targets."""
        return self._outside(load.astype(np.float64) - self.targets.upper[rows], rows)

    def below(self, load: WeightArray, rows: IndexArray) -> RateArray:
        """Return ``(M, R)`` distance of loads below the brokers' bands, in targets."""
        return self._outside(self.targets.lower[rows] - load, rows)

    @property
    def above_now(self) -> RateArray:
        """``(B, R)`` distance of each broker above its bands, in targets."""
        return self.above(self.load, np.arange(len(self.load), dtype=np.int32))

    @property
    def below_now(self) -> RateArray:
        """``(B, R)`` distance of each broker below its bands, in targets."""
        return self.below(self.load, np.arange(len(self.load), dtype=np.int32))

    def _outside(self, distance: RateArray, rows: IndexArray) -> RateArray:
        target = self.targets.target
        slack = np.where(target > 0, 1e-9 * np.maximum(target, 1.0), np.inf)
        unit = np.where(target > 0, target, 1.0)
        return np.where(distance > slack[rows], distance / unit[rows], 0.0)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Explained:
    """
    Reasons and consequences of moves, one row each.

    Parameters
    ----------
    reason
        ``(M,)`` row of `REASONS`.
    resource
        ``(M,)`` column of `RESOURCES` that the reason refers to, or -1.
    undone
        ``(M,)`` an `Consequence`.
    undone_broker, undone_resource
        ``(M,)`` broker and resource of the consequence, or -1.
    undone_outside
        ``(M,)`` distance of that broker from its band, in targets, or its excess over
        the capacity, as a fraction of the capacity.
    """

    reason: WeightArray
    resource: WeightArray
    undone: WeightArray
    undone_broker: WeightArray
    undone_resource: WeightArray
    undone_outside: RateArray


@dataclass(frozen=True, slots=True, eq=False)
class _Case:
    """Inputs for the reasons of all moves."""

    draft: Draft
    moves: Moves
    mends_rack: BoolArray
    breaks_rack_undone: BoolArray
    before: Standing
    after: Standing
    capacity: WeightArray
    is_balanced: BoolArray

    def part(self, rows: slice) -> Self:
        """Return the inputs of some of the moves."""
        return replace(
            self,
            moves=self.moves.part(rows),
            mends_rack=self.mends_rack[rows],
            breaks_rack_undone=self.breaks_rack_undone[rows],
        )

    @property
    def returned(self) -> WeightArray:
        """``(M, R)`` load that returns to the source if a move is undone."""
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
        Draft with the moves that the operation allows.
    reassignment, moves
        Replica lists before and after, and the moves between them.
    before, after
        Loads and bands of the brokers before and after.
    capacity
        ``(B, R)`` hard capacities.
    balanced
        Resources whose bands count.

    Notes
    -----
    Takes time proportional to the number of moves, times resources and racks.
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
    has_cause = left & np.not_equal(undone, Consequence.NOTHING)
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
    """Process the moves part by part, with arrays that fit into caches."""
    starts = range(0, max(len(case.moves), 1), PART)
    parts = [work(case.part(slice(start, start + PART))) for start in starts]
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def _reasons(case: _Case) -> tuple[WeightArray, WeightArray]:
    """Return ``(M,)`` the first reason from before the move, and its resource."""
    reason, resource = _by_part(case, _by_bands)
    mends = case.moves.is_copy & case.mends_rack
    # Forced moves come before bands, the gravest reason first.
    for name, applies in reversed([*_forced(case), (Reason.RACK, mends)]):
        reason[applies] = REASONS.index(name)
        resource[applies] = NONE
    return reason, resource


def _by_bands(case: _Case) -> tuple[WeightArray, WeightArray]:
    """Return ``(M,)`` the reason by loads, and the resource that it refers to."""
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
    """Return the reasons of forced moves, gravest first."""
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
    """Return ``(M,)`` true for replicas outside the broker set of their topic."""
    draft, moves = case.draft, case.moves
    if draft.pool_of_broker is None or draft.pool_of_partition is None:
        return np.zeros(len(moves), dtype=np.bool_)
    wanted = draft.pool_of_partition[moves.partition_idx]
    return np.not_equal(draft.pool_of_broker[moves.source], wanted)


def _is_kept_apart(case: _Case) -> BoolArray:
    """Return ``(M,)`` true for replicas on a broker of another side."""
    moves = case.moves
    found = np.zeros(len(moves), dtype=np.bool_)
    for table in case.draft.eligibility:
        if table.name == APART:
            row = table.partition_class[moves.partition_idx]
            found |= ~table.allowed[row, moves.source]
    return found


def _over(load: WeightArray, capacity: WeightArray) -> RateArray:
    """Return ``(M, R)`` excess of loads over capacities, as fractions of these."""
    over = np.where(capacity < NO_LIMIT, load - capacity, 0)
    return np.where(over > 0, over / np.maximum(capacity, 1), 0.0)


def _undo(case: _Case) -> tuple[WeightArray, WeightArray, WeightArray, RateArray]:
    """Return ``(M,)`` consequences of undoing: kind, broker, resource, amount."""
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
        (Consequence.OUT_OF_BAND, band.max(axis=1, initial=0.0) > 0, ends, band),
        (
            Consequence.OVER_CAPACITY,
            over.max(axis=1, initial=0.0) > 0,
            moves.source,
            over,
        ),
        (Consequence.RACK, moves.is_copy & case.breaks_rack_undone, None, None),
        (Consequence.STILL_LEADS, still_leads, moves.source, None),
        (Consequence.NOT_EMPTY, leaves, moves.source, None),
    ):
        applies = applies & moves.is_free & ~moves.is_resizing  # noqa: PLW2901 - narrowed
        kind[applies] = what
        broker[applies] = NONE if where is None else where[applies]
        resource[applies] = NONE if much is None else np.argmax(much[applies], axis=1)
        outside[applies] = 0.0 if much is None else much[applies].max(axis=1)
    kind[moves.is_resizing] = Consequence.OLD_FACTOR
    return kind, broker, resource, outside
