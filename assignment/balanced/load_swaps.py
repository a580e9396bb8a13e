"""Local search by single moves and swaps that reduce the largest load."""

from dataclasses import dataclass

import numpy as np

from assignment.balanced.partition_classes import Classes
from assignment.group import ABSENT, Group
from placement.array_types import BoolArray, IndexArray, RateArray, RowArray

MAX_PARTITIONS = 3_000
"""Largest number of partitions to search; beyond, heaviest first is good enough."""
MAX_STEPS = 500


@dataclass(slots=True)
class _State:
    """Incumbent of the local search."""

    group: Group
    may_read: BoolArray
    member_idx: IndexArray
    load: RateArray
    home_idx: IndexArray

    @property
    def use(self) -> RateArray:
        return self.load / self.group.members.capacity


@dataclass(frozen=True, slots=True)
class _Step:
    """Move of a partition to a member, and of another one back in exchange, if any."""

    use: float
    row: int
    member: int
    back: int


def improve(
    group: Group, classes: Classes, member_idx: IndexArray, *, limit: RateArray
) -> None:
    """
    Reduce the largest load as long as one move or swap does.

    Parameters
    ----------
    group, classes
        The group, and its partitions by the members that may read them.
    member_idx
        ``(P,)`` member of each partition; changed in place.
    limit
        ``(M,)`` upper limit of each load. Partitions leave their owners only while the
        busiest member is above its limit.
    """
    if group.num_partitions > MAX_PARTITIONS:
        return
    weight, members = group.partitions.weight, group.num_members
    load = np.bincount(member_idx + 1, weight, members + 1)[1:].astype(np.float64)
    state = _State(group, _readers(group, classes), member_idx, load, classes.owner_idx)
    for _ in range(MAX_STEPS):
        busiest = int(state.use.argmax())
        may_leave = _may_leave(state, is_over=bool(load[busiest] > limit[busiest]))
        step = _best_step(state, busiest, may_leave)
        if step is None:
            return
        _take(state, busiest, step)


def _readers(group: Group, classes: Classes) -> BoolArray:
    """Return ``(P, M)`` true where a member may read a partition."""
    may_read = np.zeros((classes.num_classes + 1, group.num_members), dtype=np.bool_)
    of_class = np.repeat(np.arange(classes.num_classes), np.diff(classes.start))
    may_read[of_class, classes.member_idx] = True
    # The last row is for partitions without readers.
    return may_read[classes.class_idx]


def _may_leave(state: _State, *, is_over: bool) -> BoolArray:
    """Return ``(P,)`` true for partitions that may leave their member."""
    if is_over:
        return np.not_equal(state.member_idx, ABSENT)
    found: BoolArray = np.not_equal(state.member_idx, state.home_idx)
    return found & np.not_equal(state.member_idx, ABSENT)


def _best_step(state: _State, busiest: int, may_leave: BoolArray) -> _Step | None:
    """Return the step that minimises the larger load of the two changed members."""
    now = float(state.use[busiest])
    best: _Step | None = None
    for row in np.nonzero(np.equal(state.member_idx, busiest) & may_leave)[0].tolist():
        for step in (
            _best_move(state, busiest, row),
            _best_swap(state, busiest, row, may_leave),
        ):
            if step is not None and step.use < (now if best is None else best.use):
                best = step
    # Gains within rounding errors could lead to an endless cycle of steps.
    return best if best is not None and best.use < now * (1 - 1e-9) else None


def _best_move(state: _State, busiest: int, row: int) -> _Step | None:
    capacity, weight = state.group.members.capacity, state.group.partitions.weight[row]
    after = (state.load + weight) / capacity
    after[~state.may_read[row]] = np.inf
    after[busiest] = np.inf
    member = int(after.argmin())
    left = (state.load[busiest] - weight) / capacity[busiest]
    return _Step(max(float(after[member]), float(left)), row, member, ABSENT)


def _best_swap(
    state: _State, busiest: int, row: int, may_leave: BoolArray
) -> _Step | None:
    weight = state.group.partitions.weight
    others: RowArray = np.nonzero(
        may_leave
        & state.may_read[:, busiest]
        & (weight < weight[row])
        & np.not_equal(state.member_idx, busiest)
    )[0]
    others = others[state.may_read[row, state.member_idx[others]]]
    if not len(others):
        return None
    gain = weight[row] - weight[others]
    member, capacity = state.member_idx[others], state.group.members.capacity
    theirs = (state.load[member] + gain) / capacity[member]
    ours = (state.load[busiest] - gain) / capacity[busiest]
    use = np.maximum(theirs, ours)
    at = int(use.argmin())
    return _Step(float(use[at]), row, int(member[at]), int(others[at]))


def _take(state: _State, busiest: int, step: _Step) -> None:
    weight = state.group.partitions.weight
    change = weight[step.row]
    state.member_idx[step.row] = step.member
    if step.back != ABSENT:
        state.member_idx[step.back] = busiest
        change = change - weight[step.back]
    state.load[busiest] -= change
    state.load[step.member] += change
