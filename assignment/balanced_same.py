"""
Equal weights, and all members reading the same topics: known at once.

Everything is done on whole columns; a million partitions take some milliseconds.
"""

import heapq
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from assignment.assignors.claims import sole_owners
from assignment.assignors.sticky import are_subscriptions_equal
from assignment.certificate import Certificate, bound_moved
from assignment.classes import racks_count
from assignment.group import ABSENT, Group, IndexArray, Rows
from assignment.outcome import Assignment
from placement.core.solution import Bounded, Proof

CountArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Owned:
    """What members own and read, each partition once."""

    rows: Rows
    owner_idx: IndexArray
    is_clean: bool
    """Whether that is all that they own."""


def balance_same(group: Group) -> tuple[Assignment, Certificate] | None:
    """
    Return who reads what and the proof; `None` where the group is not of this kind.

    Parameters
    ----------
    group
        All of its partitions weigh the same. If not all members read the same topics,
        or racks count, there is nothing to return.
    """
    if racks_count(group) or not are_subscriptions_equal(group):
        return None
    is_topic_read = np.zeros(len(group.topics), dtype=np.bool_)
    is_topic_read[group.subscribed.of(0)] = True
    is_read = is_topic_read[group.partitions.topic_idx]
    num_read = int(np.count_nonzero(is_read))
    owned = _owned(group, is_read)
    goal = _goals(group, owned.rows.counts, num_read)
    assignment = Assignment(_keep_and_deal(owned, goal, is_read))
    return assignment, _certificate(group, owned, assignment, goal)


def _owned(group: Group, is_read: npt.NDArray[np.bool_]) -> _Owned:
    owner_idx = sole_owners(group)
    is_owned = np.not_equal(owner_idx, ABSENT)
    is_clean = np.count_nonzero(is_owned) == len(group.owned.idx)
    if is_clean and not (is_owned & ~is_read).any():
        return _Owned(group.owned, owner_idx, is_clean=True)
    owner_idx[~is_read] = ABSENT
    rows, owner = group.owned.idx, group.owned.owner
    is_its = np.equal(owner_idx[rows], owner)
    counts = np.bincount(owner[is_its], minlength=group.num_members)
    start = np.concatenate([[0], np.cumsum(counts)])
    return _Owned(Rows(start, rows[is_its]), owner_idx, is_clean=False)


def _goals(group: Group, have: CountArray, num_read: int) -> CountArray:
    """Return ``(M,)`` how many partitions each member is to read."""
    capacity = group.members.capacity
    if (capacity == capacity[0]).all():
        low, extras = divmod(num_read, group.num_members)
        goal = np.full(group.num_members, low, dtype=np.int64)
        # Those that own most get the extras: so most can stay where it is.
        goal[np.argsort(-have, kind="stable")[:extras]] += 1
        return goal
    return share_out(num_read, [Fraction(c) for c in capacity.tolist()], have)


def share_out(num_items: int, capacity: list[Fraction], have: CountArray) -> CountArray:
    """
    Share items out so that the largest count over capacity is least.

    Parameters
    ----------
    num_items
        How many items there are.
    capacity
        Of each member, exact and positive.
    have
        ``(M,)`` what members have; of equals the one that has more than it is to get
        comes first.

    Notes
    -----
    Jefferson's method: one item after the other goes where the ratio is lowest with it.
    It never gives less than the share rounded down, so it starts from there.
    """
    total = sum(capacity)
    goal = [int(num_items * c / total) for c in capacity]

    def place(member: int) -> tuple[Fraction, bool, int]:
        ratio = (goal[member] + 1) / capacity[member]
        return ratio, bool(have[member] <= goal[member]), member

    heap = [place(member) for member in range(len(goal))]
    heapq.heapify(heap)
    for _ in range(num_items - sum(goal)):
        member = heapq.heappop(heap)[2]
        goal[member] += 1
        heapq.heappush(heap, place(member))
    return np.array(goal, dtype=np.int64)


def _keep_and_deal(
    owned: _Owned, goal: CountArray, is_read: npt.NDArray[np.bool_]
) -> IndexArray:
    """Let members keep the first of what they own, and deal the rest out in runs."""
    members = np.arange(len(goal), dtype=np.int32)
    rows, member_idx = owned.rows, owned.owner_idx
    have = rows.counts
    is_over = np.nonzero(have > goal)[0]
    starts, stops = rows.start[is_over] + goal[is_over], rows.start[is_over + 1]
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        member_idx[rows.idx[start:stop]] = ABSENT
    free = np.nonzero(np.equal(member_idx, ABSENT) & is_read)[0]
    member_idx[free] = np.repeat(members, np.maximum(goal - have, 0))
    return member_idx


def _certificate(
    group: Group, owned: _Owned, assignment: Assignment, goal: CountArray
) -> Certificate:
    # The closed form is exact: the value is its own bound, and the witness says why.
    value = float((goal * group.partitions.weight[0] / group.members.capacity).max())
    share = {"partitions": int(goal.sum()), "members": group.num_members}
    proof = Proof(kind="count", witness=share)
    moved = int(np.maximum(owned.rows.counts - goal, 0).sum())
    if owned.is_clean:
        counted = Bounded(value=moved, lower_bound=moved, proof=proof)
    else:
        counted = bound_moved(group, assignment, moved, proof)
    busiest = Bounded(value=value, lower_bound=value, proof=proof)
    return Certificate(busiest=busiest, moved=counted)
